"""Read a source line by line: remember how far it was read, and detect that the file was replaced."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO

from store.base.errors import StorageError
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean

ENDS = 4096  # bytes of the beginning and of the end of the part read, which identify a file
LONGEST = 32 << 20  # bytes of one line


@dataclass(slots=True)
class SourceOffset:
    """Position up to which a source was read: `offset` in bytes, `line` counted from 1; 0 and 0 at its beginning."""

    offset: int = 0
    line: int = 0


@dataclass(slots=True)
class Raw:
    """One line, without its end: `number` counts from 1, `after` is the offset behind it. `whole` is false for the last
    one of a file that may still be written, `long` for one longer than LONGEST, whose text is dropped."""

    number: int
    after: int
    data: bytes
    whole: bool = True
    long: bool = False


def lines(file: BinaryIO, place: SourceOffset) -> Iterator[Raw]:
    """Yield the lines of a source from a position on, one at a time in memory."""
    number, offset = place.line, place.offset
    while data := file.readline(LONGEST):
        number += 1
        offset += len(data)
        long = False
        while not data.endswith(b"\n") and (more := file.readline(LONGEST)):
            long = True
            offset += len(more)
            data = more
        yield Raw(number, offset, b"" if long else data.rstrip(b"\r\n"), data.endswith(b"\n"), long)


def opened(path: str) -> BinaryIO:
    """Open a plain file for reading. Raise StorageError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would block for ever
        file = os.fdopen(handle, "rb", buffering=1 << 18)
        if not os.path.isfile(path):
            file.close()
            raise StorageError(f"{path} is not a plain file.", "Name a file, a folder of transcripts, or - .")
        return file
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Look at its name and permissions.") from None


def name(path: str) -> str:
    """Return a path as text, with the bytes of a name that is not UTF-8 escaped."""
    return clean(os.fsencode(path).decode("utf-8", "backslashreplace"))


def resume(database: Database, path: str, file: BinaryIO) -> tuple[SourceOffset, bool]:
    """Return (where to continue, whether the file was replaced: rotated, truncated or rewritten). The file is
    positioned there."""
    row = database.row("SELECT size, lines, mark FROM sources WHERE path = ?", (name(path),))
    if row is None:
        return SourceOffset(), False
    size, number, mark = row
    if os.fstat(file.fileno()).st_size < size or mark != _mark(file, size):
        file.seek(0)
        return SourceOffset(), True
    file.seek(size)
    return SourceOffset(size, number), False


def remember(write: Transaction, path: str, file: BinaryIO, place: SourceOffset) -> None:
    """Store how far a file was read, in the transaction that stores what was read."""
    here = file.tell()
    mark = _mark(file, place.offset)
    file.seek(here)
    write.execute(
        "INSERT INTO sources(path, size, lines, mark, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT(path) DO UPDATE SET"
        " size = excluded.size, lines = excluded.lines, mark = excluded.mark, at = excluded.at",
        (name(path), place.offset, place.line, mark, Verbatim(write.at)),
    )


def looked(database: Database, path: str, size: int) -> None:
    """Store the size of a file when it was last checked, whether or not it could be read."""
    here = name(path)
    if database.value("SELECT 1 FROM sources WHERE path = ? AND (size = ? OR looked = ?)", (here, size, size)):
        return
    with database.write("agent", "ingest") as write:
        write.execute(
            "INSERT INTO sources(path, size, lines, looked, mark, at) VALUES (?, 0, 0, ?, ?, ?)"
            " ON CONFLICT(path) DO UPDATE SET looked = excluded.looked",
            (here, size, sha256(b"\0").digest()[:16], Verbatim(write.at)),
        )


def _mark(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    first = file.read(min(ENDS, size))
    file.seek(max(0, size - ENDS))
    last = file.read(min(ENDS, size))
    digest: bytes = sha256(first + b"\0" + last).digest()[:16]
    return digest
