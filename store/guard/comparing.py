"""What a person sees of a change: lines with their numbers, and no secret."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from store.documents.paths import Unreadable, decoded
from store.guard import files, versions
from store.guard.database import KeptVersions
from store.guard.files import Guarded
from store.redaction import MARKER
from store.redaction.redactor import findings
from store.sources import registry
from store.sources.source import FoundMemory

CONTEXT = 3  # lines around a change
ERASED = "(this version was erased with what was purged)"
LONGEST = 20_000  # lines that are compared line by line


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference: its `sign` ("-", "+", " " or "…" for lines left out), the number that it has `before`, 0
    where it was not there, and its text."""

    sign: str
    before: int
    text: str


def lines_of(kept: KeptVersions, file: Guarded, version: int | None) -> list[str]:
    """Return the lines of a version without secrets; of a database those of its memories. None for no file."""
    if version is None:
        return []
    return [ERASED] if versions.erased(kept, version) else lines_in(file, versions.content(kept, version))


def lines_in(file: Guarded, raw: bytes) -> list[str]:
    """Return the lines of some content of a file, as `lines_of` does."""
    if file.database:
        return _without_secrets("\n".join(_memories(file, raw)))
    try:
        return _without_secrets(decoded(raw)[0])
    except Unreadable:
        return [f"{len(raw):,} bytes that are no text"]


def difference(before: Sequence[str], after: Sequence[str], context: int = CONTEXT) -> list[DiffLine]:
    """Return what differs, with `context` lines around it."""
    found: list[DiffLine] = []
    if max(len(before), len(after)) > LONGEST:
        kept, new = set(before), set(after)
        found = [DiffLine("-", number, line) for number, line in enumerate(before, 1) if line not in new]
        return [*found, *(DiffLine("+", 0, line) for line in after if line not in kept)]
    last = 0
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(context):
        if group[0][1] > last:
            found.append(DiffLine("…", 0, ""))
        last = group[-1][2]
        for kind, first, end, start, stop in group:
            if kind == "equal":
                found += [DiffLine(" ", number + 1, before[number]) for number in range(first, end)]
                continue
            found += [DiffLine("-", number + 1, before[number]) for number in range(first, end)]
            found += [DiffLine("+", 0, line) for line in after[start:stop]]
    if found and last < len(before):
        found.append(DiffLine("…", 0, ""))
    return found


def _without_secrets(text: str) -> list[str]:
    """Return the lines of a text with each secret replaced; there are as many as before."""
    parts, last = [], 0
    for cut in findings(text):
        parts += [text[last : cut.start], f"{MARKER}{cut.label}]", "\n" * text.count("\n", cut.start, cut.end)]
        last = cut.end
    lines = "".join([*parts, text[last:]]).split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _memories(file: Guarded, raw: bytes) -> Iterator[str]:
    """Yield the lines of the memories in a database, as the tool's reader reads them."""
    folder = tempfile.mkdtemp(prefix=files.SCRATCH)
    try:
        path = os.path.join(folder, os.path.basename(file.path))
        with open(path, "xb") as copy:
            copy.write(raw)
        for one in registry.reader(file.tool).read(path, []):
            if isinstance(one, FoundMemory):
                chosen = f"\n{one.decision.chosen}" if one.decision else ""
                yield from f"{one.id or one.line}: {one.text}{chosen}".split("\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
