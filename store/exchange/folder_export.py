"""The active facts and decisions as a folder of Markdown files, one each: in the form of Claude Code's own memory, or
as an OKF bundle of version 0.2. Both are read by `import`."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from store.base.errors import Conflict, StorageError
from store.base.vocabulary import EXPORT_FORMS, PERSON
from store.database.connection import explain
from store.database.database import Database
from store.exchange import noted_exports
from store.exchange.exporter import moment
from store.text.folding import normalize

CLAUDE_CODE, OKF = EXPORT_FORMS
TYPES = {"personal": "user", "preferences": "feedback", "work": "reference"}  # of Claude Code; `project` for the rest
OKF_VERSION = "0.2"
LONGEST_NAME, LONGEST_HOOK = 48, 100  # characters
_TAG = re.compile(r"(?<!\S)#(?=\S)")
_LINK = re.compile(r"[\[\]()]")


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """A fact, or a decision with its `chosen`; `verified` is when a person said or confirmed it, else empty."""

    citation: str
    text: str
    domain: str
    created: str
    verified: str
    tags: tuple[str, ...] = ()
    chosen: str = ""
    alternatives: tuple[str, ...] = ()
    rationale: str = ""

    @property
    def name(self) -> str:
        """A name for its file: the first words, and the citation, which is unique."""
        words = re.sub(r"[^a-z0-9]+", "-", normalize(self.text))[:LONGEST_NAME].strip("-") or "record"
        return f"{words}-{self.citation.replace('#', '').lower()}"


def write(database: Database, folder: str, form: str) -> int:
    """Write a new folder and note its path; return how many records it holds. Facts of a session and `self_correction`
    stay here. Raise Conflict if the folder holds something already, StorageError."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Conflict(f"{folder} is there already.", "Name a new folder, or an empty one.")
    try:
        with moment(database.connection) as connection:
            records = [*_facts(connection), *_decisions(connection)]
    except apsw.Error as error:
        raise explain(error, database.path) from None
    files = dict(_claude_code(records) if form == CLAUDE_CODE else _okf(records))
    above = os.path.dirname(os.path.abspath(folder))
    try:
        os.makedirs(above, exist_ok=True)
        made = tempfile.mkdtemp(prefix=".memoranda-export-", dir=above)
        try:
            for name, text in files.items():
                path = os.path.join(made, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                    file.write(text)
            os.rename(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Look at its permissions.") from None
    noted_exports.note(database, folder)
    return len(records)


def _facts(connection: apsw.Connection) -> Iterator[ExportedRecord]:
    for number, text, domain, created, confirmed, origin, tags in connection.execute(
        "SELECT id, fact, domain, created_at, last_confirmed_at, origin, tags FROM facts"
        " WHERE status = 'active' AND scope <> 'session' AND domain <> 'self_correction' ORDER BY id"
    ):
        verified = str(confirmed) if origin == PERSON else ""
        yield ExportedRecord(
            f"F#{number}", str(text), str(domain), str(created), verified, tuple(json.loads(str(tags)))
        )


def _decisions(connection: apsw.Connection) -> Iterator[ExportedRecord]:
    for number, title, chosen, alternatives, rationale, decided, confirmed, origin in connection.execute(
        "SELECT id, title, chosen, alternatives, rationale, decided_at, confirmed_at, origin FROM decisions"
        " WHERE status = 'active' ORDER BY id"
    ):
        verified = str(confirmed) if confirmed else str(decided) if origin == PERSON else ""
        yield ExportedRecord(
            f"D#{number}",
            str(title),
            "decisions",
            str(decided),
            verified,
            chosen=str(chosen),
            alternatives=tuple(json.loads(str(alternatives))),
            rationale=str(rationale),
        )


def _claude_code(records: list[ExportedRecord]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the files of a `memory` folder, and of their index."""
    index = ["# Memory Index", ""]
    for one in records:
        kind = TYPES.get(one.domain, "project")
        name = f"{kind}_{one.name}.md"
        body = one.text
        if one.chosen:
            parts = [one.chosen, *(f"Rejected: {other}" for other in one.alternatives)]
            body = "\n\n".join(parts)
            if one.rationale:
                body = f"{body}\n\n**Why:** {_flat(one.rationale)}"
        head = f"name: {one.name}\ndescription: {_quoted(one.text)}\nmetadata:\n  node_type: memory\n  type: {kind}\n"
        yield name, f"---\n{head}---\n\n{body}\n"
        index.append(f"- [{_title(one.text)}]({name})")
    yield "MEMORY.md", "\n".join(index) + "\n"


def _okf(records: list[ExportedRecord]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the concepts of a bundle, and of its indexes."""
    listed: dict[str, list[str]] = {"facts": [], "decisions": []}
    for one in records:
        folder = "decisions" if one.chosen else "facts"
        title = one.text if one.chosen else _title(one.text)
        head = [f"title: {_quoted(title)}", f"type: {folder[:-1]}", "status: stable"]
        if one.tags:
            head.append(f"tags: {json.dumps(list(one.tags), ensure_ascii=False)}")
        head.append(f"created: {_quoted(_offset(one.created))}")
        if one.verified:
            head += ["verified:", "- by: human:owner", f"  at: {_quoted(_offset(one.verified))}"]
        if one.chosen:
            lines = [
                f"- [decision] {_observed(_flat(one.chosen))}",
                *(f"- [alternative] {_observed(_flat(other))}" for other in one.alternatives),
                *([f"- [rationale] {_observed(_flat(one.rationale))}"] if one.rationale else []),
            ]
        else:
            lines = [f"- [{one.domain}] {_observed(one.text)}"]
        yield f"{folder}/{one.name}.md", "---\n" + "\n".join(head) + "\n---\n\n" + "\n".join(lines) + "\n"
        listed[folder].append(f"- [{_title(one.text)}]({one.name}.md)")
    for folder, lines in listed.items():
        if lines:
            yield f"{folder}/index.md", f"# {folder}\n\n" + "\n".join(lines) + "\n"
    links = "\n".join(f"- [{folder}]({folder}/index.md)" for folder, lines in listed.items() if lines)
    yield "index.md", f'---\nokf_version: "{OKF_VERSION}"\n---\n\n# Memory\n\n{links}\n'


def _quoted(text: str) -> str:
    """Return a text as a scalar of YAML, on one line."""
    return json.dumps(_flat(text), ensure_ascii=False)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _observed(text: str) -> str:
    """Return a text as one observation: further lines are indented, and no word is a tag."""
    first, *rest = _TAG.sub(r"\\#", text).split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


def _title(text: str) -> str:
    plain = _LINK.sub(" ", _flat(text))
    return plain if len(plain) <= LONGEST_HOOK else plain[: LONGEST_HOOK - 1].rsplit(None, 1)[0] + "…"


def _offset(moment: str) -> str:
    return moment.removesuffix("Z") + "+00:00"
