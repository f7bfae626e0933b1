"""Read a database file as bytes (SQLite, fileformat2.html): its pages, and the records in them.

SQLite stops reading a tree at the first page it cannot read, and would write the log into a file it opens. Here nothing
is opened for writing, each page is read separately, and what is inconsistent is left out, cell by cell.
"""

import mmap
import os
import struct
from collections.abc import Iterator

from store.base.errors import StorageError
from store.health import wal

PAGE = 4096  # bytes of a page of every memory, none of them reserved
LEAF_TABLE, LEAF_INDEX, INNER_TABLE, INNER_INDEX = 13, 10, 5, 2
MOST = 1 << 30  # bytes of the longest record that SQLite makes
Value = int | float | str | bytes | None


class PageReader:
    """The pages of a file and of the log beside it. Pages are numbered from 1; a missing one is empty.

    `logged` is whether the log counts; it may be another file's. Raise StorageError.
    """

    def __init__(self, path: str) -> None:
        self._file = _mapped(path)
        self._log = _mapped(f"{path}-wal")
        self.log = wal.read(memoryview(self._log)) if self._log else None
        if self.log and self.log.page_size != PAGE:
            self.log = None
        self.logged = self.log is not None

    def __len__(self) -> int:
        """Return how many pages there are, those only in the log included."""
        own = -(-len(self._file) // PAGE)
        return max(own, max(self.log.pages, default=0)) if self.log and self.logged else own

    def page(self, number: int) -> bytes:
        if self.log and self.logged and number in self.log.pages:
            at = self.log.pages[number]
            return bytes(self._log[at : at + PAGE])
        return bytes(self._file[(number - 1) * PAGE : number * PAGE]) if number > 0 else b""

    def kind(self, number: int) -> int:
        """Return the first byte of a page's tree header."""
        page = self.page(number)
        at = 100 if number == 1 else 0
        return page[at] if len(page) > at else 0

    def children(self, number: int) -> list[int]:
        """Return the pages below an inner one, in order, as far as they are valid."""
        page = self.page(number)
        start = 100 if number == 1 else 0
        if len(page) < start + 12:
            return []
        found = [struct.unpack(">I", page[at : at + 4])[0] for at in self._cells(page, start) if at + 4 <= len(page)]
        found.append(struct.unpack(">I", page[start + 8 : start + 12])[0])
        return [child for child in found if 1 < child <= len(self)]

    def records(self, number: int) -> Iterator[tuple[int, list[Value]]]:
        """Yield (rowid, values) of each record on a leaf page, as far as it can be read; 0 for a rowid where a record
        has none."""
        kind = self.kind(number)
        if kind not in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            return
        page = self.page(number)
        for at in self._cells(page, 100 if number == 1 else 0):
            try:
                at += 4 if kind == INNER_INDEX else 0
                length, at = varint(page, at)
                rowid = 0
                if kind == LEAF_TABLE:
                    rowid, at = varint(page, at)
                yield rowid, values(self._payload(page, at, length, kind == LEAF_TABLE))
            except (IndexError, ValueError, struct.error):
                continue

    def _cells(self, page: bytes, start: int) -> list[int]:
        """Return the offsets of the cells of a page, from its array of pointers."""
        count = struct.unpack(">H", page[start + 3 : start + 5])[0]
        first = start + (12 if page[start] in (INNER_TABLE, INNER_INDEX) else 8)
        count = min(count, (PAGE - first) // 2)
        pointers = struct.unpack(f">{count}H", page[first : first + 2 * count].ljust(2 * count, b"\0"))
        return [at for at in pointers if first + 2 * count <= at < len(page)]

    def _payload(self, page: bytes, at: int, length: int, table: bool) -> bytes:
        """Return a record's bytes, with those on its overflow pages. Raise ValueError if some are missing."""
        if not 0 < length < MOST:
            raise ValueError(length)
        usable = PAGE
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            local = length
        else:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (length - least) % (usable - 4)
            local = local if local <= most else least
        parts = [page[at : at + local]]
        left = length - local
        following = struct.unpack(">I", page[at + local : at + local + 4])[0] if left else 0
        seen = 0
        while left > 0:
            over = self.page(following)
            seen += 1
            if len(over) < 4 or seen > len(self):
                raise ValueError(following)
            parts.append(over[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = struct.unpack(">I", over[:4])[0]
        whole = b"".join(parts)
        if len(whole) != length:
            raise ValueError(length)
        return whole


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return (a number of one to nine bytes, the offset after it)."""
    number = 0
    for _ in range(8):
        byte = data[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
    number = number << 8 | data[at]
    return number - (1 << 64) if number >> 63 else number, at + 1


SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def values(record: bytes) -> list[Value]:
    """Return a record's values. Raise ValueError or IndexError for invalid bytes; UnicodeDecodeError is a
    ValueError."""
    end, at = varint(record, 0)
    if not at <= end <= len(record):
        raise ValueError(end)
    place, found = end, list[Value]()
    while at < end:
        kind, at = varint(record, at)
        if kind >= 12:
            size = (kind - 12) // 2
            raw = record[place : place + size]
            if len(raw) != size:
                raise ValueError(size)
            found.append(raw.decode() if kind % 2 else raw)
        elif kind in SIZES:
            size = SIZES[kind]
            found.append(int.from_bytes(record[place : place + size], "big", signed=True))
        elif kind == 7:
            size = 8
            found.append(struct.unpack(">d", record[place : place + 8])[0])
        elif kind in (0, 8, 9):
            size = 0
            found.append({0: None, 8: 0, 9: 1}[kind])
        else:
            raise ValueError(kind)
        place += size
    if place != len(record) or at != end:
        raise ValueError(place)
    return found


def _mapped(path: str) -> "mmap.mmap | bytes":
    """Map a file's bytes, without reading them. Not through a link; empty if it is missing or empty."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            return mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if os.fstat(handle).st_size else b""
        finally:
            os.close(handle)
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a plain file"
        raise StorageError(
            f"{path} cannot be read: {reason}.", "Copy it to another disk, and salvage the copy."
        ) from None
