"""The section of a Markdown file that one memory writes: find it between its marks, and put another in its place.

A mark names the memory, so that a section copied from elsewhere is only text, and the version, so that an old copy of
the file is compared with what was written then. All other bytes of the file stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from store.base.errors import Conflict, InvalidInput, MemorandaError
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.documents.files import DocumentRoots, read_document_bytes

SECTION_HINT = "facts of this memory: edit, add and delete lines, and leave this mark"
_MARK = re.compile(r"<!-- memoranda ([0-9a-f]{8}) (?:(end)|(\d{1,9})\b).*-->[ \t]*")
# with another backtick on its line it is code inside a line
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_BOM = "\ufeff"
_LATER = "Nothing was changed."


class SectionFile(NamedTuple):
    """A text file, in parts: the text `before` the section, its `lines`, the text `after` it. `version` is that of the
    section, None where there is none; `first` is the number of its first line, from 1; `newline` ends the lines that
    are written."""

    before: str
    lines: tuple[str, ...]
    after: str
    version: int | None
    first: int
    newline: str
    bom: bool = False

    def with_section(self, name: str, version: int, lines: Iterable[str], more: Iterable[str] = ()) -> str:
        """Return the text with these lines as the section, and `more` of the person's own lines after it."""
        before, end = self.before, self.newline
        if self.version is None and before:
            before = before if before.endswith("\n") else before + end
            before += "" if before.endswith(end * 2) else end
        after = self.after
        if more := list(more):
            after = end.join(["", *more, ""]) + after
        marked = [
            f"<!-- memoranda {name} {version}: {SECTION_HINT} -->",
            *lines,
            f"<!-- memoranda {name} end -->",
        ]
        return (_BOM if self.bom else "") + before + end.join([*marked, ""]) + after

    def to_bytes(self, name: str) -> bytes:
        """Return the content of the file, with its section as it is."""
        if self.version is None:
            return ((_BOM if self.bom else "") + self.before + self.after).encode()
        return self.with_section(name, self.version, self.lines).encode()

    def own_lines(self) -> list[tuple[int, str]]:
        """List (number, text) of the lines outside of the section, without blank ones."""
        start = self.before.count("\n") + 1
        below = start + (0 if self.version is None else len(self.lines) + 2)
        parts = ((1, self.before), (below, self.after))
        return [
            (number, line.rstrip("\r"))
            for first, part in parts
            for number, line in enumerate(part.split("\n"), first)
            if line.strip()
        ]


def section_name(database: Database) -> str:
    """Return the name of this memory in its marks: eight hexadecimal digits."""
    return blake2b(database.get_meta("identity").encode(), digest_size=4, person=b"section").hexdigest()


def parse_section_file(raw: bytes, name: str) -> SectionFile:
    """Divide a file. Raise InvalidInput for what is not UTF-8 and for marks that do not match, and Conflict for
    unresolved conflicts of git."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("It is not UTF-8.", f"Save it as UTF-8. {_LATER}") from None
    if "\0" in text:
        raise InvalidInput("It is binary, not text.", _LATER)
    bom, text = text.startswith(_BOM), text.removeprefix(_BOM)
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    lines = text.split("\n")
    marks = list(_find_marks(lines, name))
    _refuse_conflicts(lines, [at + 1 for at, _ in marks])
    if not marks:
        return SectionFile(text, (), "", None, 0, newline, bom)
    if [version is None for _, version in marks] != [False, True]:
        raise InvalidInput(
            f"Its section begins or ends more or less than once: {_describe_marks(marks)}.",
            f"Leave one mark that begins it and one that ends it, or delete all for a new one. {_LATER}",
        )
    (start, version), (end, _) = marks
    before = "".join(f"{line}\n" for line in lines[:start])
    inside = tuple(line.rstrip("\r") for line in lines[start + 1 : end])
    return SectionFile(before, inside, "\n".join(lines[end + 1 :]), version, start + 2, newline, bom)


def blank_section(text: str, name: str) -> str:
    """Return a text with the lines of this memory's section blank, for an index that has the facts themselves. The
    numbers of the other lines stay."""
    if f"<!-- memoranda {name} " not in text:
        return text
    lines = text.split("\n")
    marks = list(_find_marks(lines, name))
    if [version is None for _, version in marks] != [False, True]:
        return text
    start, end = marks[0][0], marks[1][0]
    return "\n".join([*lines[:start], *[""] * (end + 1 - start), *lines[end + 1 :]])


def _find_marks(lines: list[str], name: str) -> Iterator[tuple[int, int | None]]:
    """Yield (index of the line, version) of this memory's marks; None for one that ends the section."""
    for at, line in enumerate(lines):
        if (match := _MARK.fullmatch(line.rstrip("\r"))) and match[1] == name:
            yield at, None if match[2] else int(match[3])


def _describe_marks(marks: list[tuple[int, int | None]]) -> str:
    """Say which lines begin and end a section."""
    return ", ".join(f"line {at + 1} {'ends' if version is None else 'begins'} it" for at, version in marks)


def _refuse_conflicts(lines: list[str], marks: list[int]) -> None:
    """Raise Conflict where git left both sides of a conflict; an example in a block of code outside of the section is
    none. `marks` are the numbers of the lines that begin and end the section."""
    opened = [at for at, line in enumerate(lines, 1) if line.startswith("<<<<<<< ")]
    closed = [at for at, line in enumerate(lines, 1) if line.startswith(">>>>>>> ")]
    section = range(marks[0], marks[-1] + 1) if marks else ()
    is_conflict = opened and closed and opened[0] < closed[-1]
    if is_conflict and not _code_lines(lines).difference(section).issuperset([*opened, *closed]):
        raise Conflict(
            f"It has conflict markers of git from line {opened[0]} to line {closed[-1]}.",
            f"Resolve them, then sync again. {_LATER}",
        )


def _code_lines(lines: list[str]) -> set[int]:
    """Return the numbers of the lines in blocks of code that are closed."""
    found, at = set[int](), 0
    while at < len(lines):
        if fence := open_fence(lines[at]):
            end = close_fence(lines, at, fence)
            if end is None:
                break
            found.update(range(at + 1, end + 1))
            at = end
        at += 1
    return found


def open_fence(line: str) -> str:
    """Return the mark that opens a block of code on this line; empty if none does."""
    match = _FENCE.match(line)
    return match[1] if match else ""


def close_fence(lines: Sequence[str], at: int, fence: str) -> int | None:
    """Return the index of the line that closes the block of code opened at `at`; None if none does."""
    for place in range(at + 1, len(lines)):
        line = lines[place].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return place
    return None


# The lines of a synced file outside of its section: a person's own text, in agents' contexts once it was accepted.
#
# A line is accepted by its digest, so that one that was changed is not, wherever it stands.

NumberedLine = tuple[int, str]


def digest_own_line(name: str, text: str) -> str:
    """Return 32 hexadecimal digits that identify a line in the files of the memory whose sections have this name."""
    return blake2b(
        " ".join(text.split()).encode("utf-8", "replace"), digest_size=16, key=name.encode()
    ).hexdigest()


def list_synced_paths(database: Database) -> list[str]:
    """Return the paths of the files that are kept in sync."""
    return database.column("SELECT path FROM synced_files")


def accepted_digests(database: Database, path: str) -> frozenset[str]:
    """Return the digests of the lines that a person accepted of a file; none where it is not kept in sync."""
    row = database.value("SELECT own FROM synced_files WHERE path = ?", (path,))
    return frozenset(json.loads(row or "[]"))


def split_accepted(
    name: str, file: SectionFile, accepted: Collection[str]
) -> tuple[list[NumberedLine], list[NumberedLine]]:
    """Split the lines outside of a file's section, in the memory of this name, into the accepted lines and the
    others."""
    lines = [(digest_own_line(name, line[1]) in accepted, line) for line in file.own_lines()]
    return [line for yes, line in lines if yes], [line for yes, line in lines if not yes]


def read_accepted_lines(
    database: Database, places: DocumentRoots, path: str, accepted: Collection[str]
) -> list[NumberedLine]:
    """Return the accepted lines of a file as it is on the disk; none where it cannot be read."""
    name = section_name(database)
    try:
        return split_accepted(
            name, parse_section_file(read_document_bytes(places.find_document(path))[0], name), accepted
        )[0]
    except (FileNotFoundError, MemorandaError):
        return []


def accept_lines(write: Transaction, path: str, lines: Iterable[str]) -> None:
    """Accept these lines, and no others, as the person's own text of a file."""
    name = section_name(write.database)
    digests = sorted({digest_own_line(name, line) for line in lines})
    write.execute(
        "UPDATE synced_files SET own = ? WHERE path = ?", (Verbatim(json.dumps(digests)), Verbatim(path))
    )
