"""The lines of a synced file outside of its section: a person's own text, in agents' contexts once it was accepted.

A line is accepted by its digest, so that one that was changed is not, wherever it stands.
"""

import json
from collections.abc import Iterable

from store.base.errors import MemorandaError
from store.base.hashing import blake2b
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.documents.managed_section import SectionFile, parse, section_name
from store.documents.paths import DocumentRoots, read_bytes

NumberedLine = tuple[int, str]


def line_digest(name: str, text: str) -> str:
    """Return 32 hexadecimal digits that identify a line in the files of the memory whose sections have this name."""
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=16, key=name.encode()).hexdigest()


def read_file(database: Database, places: DocumentRoots, path: str) -> SectionFile:
    """Return a synced file as it is on the disk. Raise FileNotFoundError or MemorandaError."""
    raw, _ = read_bytes(places.named(path))
    return parse(raw, section_name(database))


def parted(database: Database, file: SectionFile, path: str) -> tuple[list[NumberedLine], list[NumberedLine]]:
    """Return the lines outside of the section of a file: those that a person accepted, and the others."""
    row = database.value("SELECT own FROM synced_files WHERE path = ?", (path,))
    accepted, name = set(json.loads(row or "[]")), section_name(database)
    lines = file.own_lines()
    yes = [line for line in lines if line_digest(name, line[1]) in accepted]
    return yes, [line for line in lines if line not in yes]


def accepted_text(database: Database, places: DocumentRoots, path: str) -> list[NumberedLine]:
    """Return the accepted lines of a synced file; none where it is not kept in sync, or cannot be read."""
    if database.value("SELECT 1 FROM synced_files WHERE path = ? AND own <> '[]'", (path,)) is None:
        return []
    try:
        return parted(database, read_file(database, places, path), path)[0]
    except (FileNotFoundError, MemorandaError):
        return []


def accept(write: Transaction, path: str, lines: Iterable[str]) -> None:
    """Accept these lines, and no others, as the person's own text of a file."""
    name = section_name(write.database)
    digests = sorted({line_digest(name, line) for line in lines})
    write.execute("UPDATE synced_files SET own = ? WHERE path = ?", (Verbatim(json.dumps(digests)), Verbatim(path)))
