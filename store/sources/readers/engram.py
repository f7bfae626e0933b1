"""Engram: a SQLite database, `~/.engram/engram.db`; its export as JSON; and the chunks it writes into a project,
`.engram/chunks/*.jsonl.gz`. Times are UTC without an offset.

What is deleted, or replaced by a judged relation `supersedes`, is left out.
"""

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping

from store.sources.files import LARGEST_DOCUMENT, existing, files_below, read_bytes, read_json, text_of
from store.sources.moments import utc
from store.sources.source import Found, FoundDecision, FoundMemory, FoundTurn, Machine, Source, Trouble
from store.sources.sqlite_copy import opened

FILE = "engram.db"
DOMAINS = {"preference": "preferences", "decision": "decisions"}
_PART = re.compile(r"^\*\*(?P<name>[A-Z]\w+)\*\*:\s*(?P<text>.*?)(?=^\*\*[A-Z]\w+\*\*:|\Z)", re.MULTILINE | re.DOTALL)
_OBSERVATION = "id session_id type title content project scope created_at deleted_at sync_id pinned"

Row = Mapping[str, object]


def detect(machine: Machine) -> list[str]:
    base = machine.environment.get("ENGRAM_DATA_DIR") or os.path.join(machine.home, ".engram")
    inner = os.path.join(machine.project, ".engram", "chunks") if machine.project else ""
    return existing(os.path.join(base, FILE), inner)


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if os.path.isdir(path):
        if os.path.isfile(file := os.path.join(path, FILE)):
            yield from _database(file, troubles)
        for chunk in files_below(path, ".jsonl.gz", troubles):
            yield from _chunk(chunk, troubles)
    elif path.endswith(".json"):
        value = read_json(path, troubles)
        if isinstance(value, dict):
            yield from _document(path, value)
        elif value is not None:
            troubles.append(Trouble(path, 0, "it is not an export of Engram"))
    elif path.endswith(".gz"):
        yield from _chunk(path, troubles)
    else:
        yield from _database(path, troubles)


def _database(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    with opened(path, troubles) as database:
        if database is None:
            return
        replaced = {
            str(row["target_id"])
            for row in database.rows("memory_relations", "target_id relation judgment_status")
            if row["relation"] == "supersedes" and row["judgment_status"] == "judged"
        }
        sessions = {str(row["id"]): row for row in database.rows("sessions", "id project directory started_at summary")}
        yield from _memories(path, database.rows("observations", _OBSERVATION, "id"), sessions, replaced)
        yield from _turns(
            path, database.rows("user_prompts", "id session_id content project created_at", "id"), sessions
        )


def _chunk(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    packed = read_bytes(path, troubles, LARGEST_DOCUMENT)
    if packed is None:
        return
    try:
        unpacker = zlib.decompressobj(31)
        text = unpacker.decompress(packed, LARGEST_DOCUMENT)
        if unpacker.unconsumed_tail:
            raise gzip.BadGzipFile("it is too long")
        lines = text.decode("utf-8", "replace").splitlines()
    except (OSError, EOFError, zlib.error):
        troubles.append(Trouble(path, 0, "it cannot be unpacked"))
        return
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            troubles.append(Trouble(path, number, "it is not JSON"))
            continue
        if isinstance(value, dict):
            yield from _document(path, value)


def _document(path: str, value: dict[str, object]) -> Iterator[Found]:
    sessions = {str(row.get("id")): row for row in _listed(value.get("sessions"))}
    replaced = {
        str(row.get("target_id"))
        for row in _listed(value.get("relations"))
        if row.get("relation") == "supersedes" and row.get("judgment_status") == "judged"
    }
    yield from _memories(path, _listed(value.get("observations")), sessions, replaced)
    yield from _turns(path, _listed(value.get("prompts")), sessions)


def _listed(value: object) -> list[Row]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _memories(path: str, rows: Iterable[Row], sessions: Mapping[str, Row], replaced: set[str]) -> Iterator[FoundMemory]:
    for place, row in enumerate(rows, 1):
        content, name = text_of(row.get("content")), row.get("id")
        if not content or row.get("deleted_at") or str(row.get("sync_id")) in replaced:
            continue
        number = name if isinstance(name, int) and name > 0 else place
        kind, session = str(row.get("type") or ""), str(row.get("session_id") or "")
        title = text_of(row.get("title"))
        decision = _decision(content) if kind == "decision" and title else None
        about = sessions.get(session, {})
        yield FoundMemory(
            text=title if decision else content,
            path=path,
            line=number,
            place=f"observation {number}",
            id=text_of(row.get("sync_id")) or str(number),
            session=session,
            project=_project(row, about),
            created=utc(row.get("created_at")),
            domain="personal" if row.get("scope") == "personal" else DOMAINS.get(kind, "general"),
            pinned=bool(row.get("pinned")),
            decision=decision,
        )


def _project(row: Row, session: Row) -> str:
    """Return the folder of a session; of one that has none, as of what is saved by hand, the name of the project."""
    return text_of(session.get("directory")) or text_of(row.get("project")) or text_of(session.get("project"))


def _decision(content: str) -> FoundDecision:
    parts = {part["name"]: part["text"].strip() for part in _PART.finditer(content)}
    if not parts.get("What"):
        return FoundDecision(content)
    rest = [parts.pop("Why", ""), *(f"{name}: {text}" for name, text in parts.items() if name != "What" and text)]
    return FoundDecision(parts["What"], (), "\n".join(filter(None, rest)))


def _turns(path: str, prompts: Iterable[Row], sessions: Mapping[str, Row]) -> Iterator[FoundTurn]:
    for place, row in enumerate(prompts, 1):
        if text := text_of(row.get("content")):
            session, name = str(row.get("session_id") or "engram"), row.get("id")
            number = name if isinstance(name, int) and name > 0 else place
            cwd = _project(row, sessions.get(session, {}))
            at = utc(row.get("created_at"))
            yield FoundTurn(session, "user", text, path, number, at, f"prompt/{name}", cwd)
    for place, (session, row) in enumerate(sessions.items(), 1):
        if text := text_of(row.get("summary")):
            at, cwd = utc(row.get("ended_at") or row.get("started_at")), _project({}, row)
            yield FoundTurn(session, "assistant", text, path, place, at, "summary", cwd)


ENGRAM = Source("engram", "Engram", detect, read)
