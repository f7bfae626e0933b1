"""The lines of a synced file outside of its section: a person's own text, in agents' contexts once it was accepted.

A line is accepted by its digest, so that one that was changed is not, wherever it stands.
"""

import json
from collections.abc import Collection, Iterable
from hashlib import blake2b

from store.base.errors import MemorandaError
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.documents.managed_section import SectionFile, parse, section_name
from store.documents.paths import DocumentRoots, read_bytes

NumberedLine = tuple[int, str]


def line_digest(name: str, text: str) -> str:
    """Return 32 hexadecimal digits that identify a line in the files of the memory whose sections have this name."""
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=16, key=name.encode()).hexdigest()


def accepted_in(database: Database, path: str) -> frozenset[str]:
    """Return the digests of the lines that a person accepted of a file; none where it is not kept in sync."""
    row = database.value("SELECT own FROM synced_files WHERE path = ?", (path,))
    return frozenset(json.loads(row or "[]"))


def parted(name: str, file: SectionFile, accepted: Collection[str]) -> tuple[list[NumberedLine], list[NumberedLine]]:
    """Return the lines outside of the section of a file, in the memory of this name: those that were accepted, and the
    others."""
    lines = [(line_digest(name, line[1]) in accepted, line) for line in file.own_lines()]
    return [line for yes, line in lines if yes], [line for yes, line in lines if not yes]


def accepted_text(
    database: Database, places: DocumentRoots, path: str, accepted: Collection[str]
) -> list[NumberedLine]:
    """Return the accepted lines of a file as it is on the disk; none where it cannot be read."""
    name = section_name(database)
    try:
        return parted(name, parse(read_bytes(places.named(path))[0], name), accepted)[0]
    except (FileNotFoundError, MemorandaError):
        return []


def accept(write: Transaction, path: str, lines: Iterable[str]) -> None:
    """Accept these lines, and no others, as the person's own text of a file."""
    name = section_name(write.database)
    digests = sorted({line_digest(name, line) for line in lines})
    write.execute("UPDATE synced_files SET own = ? WHERE path = ?", (Verbatim(json.dumps(digests)), Verbatim(path)))
