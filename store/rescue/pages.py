"""Read a database file as bytes (SQLite, fileformat2.html): its pages, and the records in them.

SQLite stops reading a tree at the first page it cannot read, and would write the log into a file it opens. Here nothing
is opened for writing, each page is read separately, and what is inconsistent is left out, cell by cell.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import apsw

from store.base.errors import StorageError
from store.database.values import read_varint
from store.upkeep.doctor import parse_wal

# bytes of a page of every memory, none of them reserved
PAGE_BYTES = 4096
LEAF_TABLE, LEAF_INDEX, INNER_TABLE, INNER_INDEX = 13, 10, 5, 2
# bytes of the longest record that SQLite makes
LONGEST_RECORD = 1 << 30
RecordValue = int | float | str | bytes | None


class PageReader:
    """The pages of a file and of the log beside it. Pages are numbered from 1; a missing one is empty.

    `logged` is whether the log counts; it may be another file's. Raise StorageError.
    """

    def __init__(self, path: str) -> None:
        self._file = _map_file(path)
        self._log = _map_file(f"{path}-wal")
        self.log = parse_wal(memoryview(self._log)) if self._log else None
        if self.log and self.log.page_size != PAGE_BYTES:
            self.log = None
        self.logged = self.log is not None

    def __len__(self) -> int:
        """Return how many pages there are, those only in the log included."""
        own = -(-len(self._file) // PAGE_BYTES)
        return max(own, max(self.log.pages, default=0)) if self.log and self.logged else own

    def read_page(self, number: int) -> bytes:
        """Return the bytes of a page; the log's version if the log counts."""
        if self.log and self.logged and number in self.log.pages:
            at = self.log.pages[number]
            return bytes(self._log[at : at + PAGE_BYTES])
        return bytes(self._file[(number - 1) * PAGE_BYTES : number * PAGE_BYTES]) if number > 0 else b""

    def page_kind(self, number: int) -> int:
        """Return the first byte of a page's tree header."""
        page = self.read_page(number)
        at = 100 if number == 1 else 0
        return page[at] if len(page) > at else 0

    def child_pages(self, number: int) -> list[int]:
        """Return the pages below an inner one, in order, as far as they are valid."""
        page = self.read_page(number)
        start = 100 if number == 1 else 0
        if len(page) < start + 12:
            return []
        found = [
            struct.unpack(">I", page[at : at + 4])[0]
            for at in self._cell_offsets(page, start)
            if at + 4 <= len(page)
        ]
        found.append(struct.unpack(">I", page[start + 8 : start + 12])[0])
        return [child for child in found if 1 < child <= len(self)]

    def read_records(self, number: int) -> Iterator[tuple[int, list[RecordValue]]]:
        """Yield (rowid, values) of each record on a leaf page, as far as it can be read; 0 for a rowid where a record
        has none."""
        kind = self.page_kind(number)
        if kind not in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            return
        page = self.read_page(number)
        for at in self._cell_offsets(page, 100 if number == 1 else 0):
            try:
                at += 4 if kind == INNER_INDEX else 0
                length, at = read_varint(page, at)
                rowid = 0
                if kind == LEAF_TABLE:
                    rowid, at = read_varint(page, at)
                yield rowid, decode_record(self._read_payload(page, at, length, kind == LEAF_TABLE))
            except (IndexError, ValueError, struct.error):
                continue

    def _cell_offsets(self, page: bytes, start: int) -> list[int]:
        """Return the offsets of the cells of a page, from its array of pointers."""
        count = struct.unpack(">H", page[start + 3 : start + 5])[0]
        first = start + (12 if page[start] in (INNER_TABLE, INNER_INDEX) else 8)
        count = min(count, (PAGE_BYTES - first) // 2)
        pointers = struct.unpack(f">{count}H", page[first : first + 2 * count].ljust(2 * count, b"\0"))
        return [at for at in pointers if first + 2 * count <= at < len(page)]

    def _read_payload(self, page: bytes, at: int, length: int, table: bool) -> bytes:
        """Return a record's bytes, with those on its overflow pages. Raise ValueError if some are missing."""
        if not 0 < length < LONGEST_RECORD:
            raise ValueError(length)
        usable = PAGE_BYTES
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
            over = self.read_page(following)
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


INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def decode_record(record: bytes) -> list[RecordValue]:
    """Return a record's values. Raise ValueError or IndexError for invalid bytes; UnicodeDecodeError is a
    ValueError."""
    end, at = read_varint(record, 0)
    if not at <= end <= len(record):
        raise ValueError(end)
    place, found = end, list[RecordValue]()
    while at < end:
        kind, at = read_varint(record, at)
        if kind >= 12:
            size = (kind - 12) // 2
            raw = record[place : place + size]
            if len(raw) != size:
                raise ValueError(size)
            found.append(raw.decode() if kind % 2 else raw)
        elif kind in INTEGER_SIZES:
            size = INTEGER_SIZES[kind]
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


def _map_file(path: str) -> mmap.mmap | bytes:
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


# Determine the table of a record: by the tree it is in, and where that is broken by its form.

TIME_TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TIME_COLUMN = re.compile(r"(.*_)?at")
COLUMN_CLASSES: dict[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "TEXT": (str,),
    "BLOB": (bytes,),
    "REAL": (float, int),
}


class FoundColumn(NamedTuple):
    name: str
    type: str
    # NOT NULL, and without a default
    required: bool
    # an alias of the rowid, which is not in the record
    rowid: bool


SEQUENCE_TABLE = "sqlite_sequence"
SEQUENCE_COLUMNS = [FoundColumn("name", "TEXT", True, False), FoundColumn("seq", "INTEGER", True, False)]


@dataclass
class TableShape:
    """A table: its columns, in the order of its records."""

    name: str
    columns: list[FoundColumn]
    # whether its rows are in a tree of rowids; else in one of keys
    trees: bool = True
    roots: list[int] = field(default_factory=list)

    def can_hold(self, row: list[RecordValue]) -> bool:
        """Tell whether a record may be of this table: as many values, each of its type, and times that are times."""
        return len(row) == len(self.columns) and all(map(_value_fits, self.columns, row))

    def read_own_record(self, rowid: int, row: list[RecordValue]) -> dict[str, RecordValue] | None:
        """Return a record of this table's own tree by column name; None if it cannot be one. It may be older than the
        last columns."""
        if len(row) > len(self.columns):
            return None
        if not all(
            value is None or isinstance(value, COLUMN_CLASSES[column.type])
            for column, value in zip(self.columns, row, strict=False)
        ):
            return None
        return self.name_values(rowid, row)

    def name_values(self, rowid: int, row: list[RecordValue]) -> dict[str, RecordValue]:
        """Return the values of a record by column name."""
        return {
            column.name: rowid if column.rowid else value for column, value in zip(self.columns, row, strict=False)
        }


def _value_fits(column: FoundColumn, value: RecordValue) -> bool:
    """Tell whether a value may be in a column."""
    if column.rowid or value is None:
        return value is None and not (column.required and not column.rowid)
    if not isinstance(value, COLUMN_CLASSES[column.type]):
        return False
    return not (TIME_COLUMN.fullmatch(column.name) and isinstance(value, str) and not TIME_TEXT.fullmatch(value))


def table_shape(connection: apsw.Connection, table: str) -> TableShape:
    """Return the form of a table of this database. Without rowids its records begin with the key."""
    rows = list(connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,)))
    without = bool(
        connection.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,)).get
    )
    if without:
        # the key's columns first, in order; then as declared
        rows.sort(key=lambda row: (not row[3], row[3]))
    alone = sum(bool(row[3]) for row in rows) == 1
    columns = [
        FoundColumn(name, kind, bool(notnull or key), bool(key and alone and not without and kind == "INTEGER"))
        for name, kind, notnull, key in rows
    ]
    return TableShape(table, columns, not without)


def table_shapes(pages: PageReader, connection: apsw.Connection, wanted: list[str]) -> list[TableShape]:
    """Return the wanted tables: as the file's own schema declares them, where it can be read, else as `connection`
    does. Then the counters of assigned numbers, and without a name all trees of tables that do not exist here, if they
    can be read. A tree whose name is damaged may be of any table, and is left out."""
    own: dict[str, TableShape] = {}
    scratch = apsw.Connection(":memory:")
    others = TableShape("", [])
    ours = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    for number in tree_pages(pages, 1):
        for _, row in pages.read_records(number):
            if len(row) != 5 or not isinstance(row[3], int):
                continue
            if row[0] == "table" and row[1] in wanted:
                found = _declared_shape(scratch, str(row[1]), str(row[4])) or table_shape(connection, str(row[1]))
            elif row[1] == SEQUENCE_TABLE:
                found = TableShape(SEQUENCE_TABLE, SEQUENCE_COLUMNS)
            elif row[1] in ours or row[0] == "index" or _is_valid_sql(scratch, str(row[4])):
                found = others
            else:
                continue
            found.roots.append(row[3])
            own[found.name] = found
    scratch.close()
    return [
        *(own.get(name) or table_shape(connection, name) for name in wanted),
        *(own[name] for name in (SEQUENCE_TABLE, "") if name in own),
    ]


def _declared_shape(scratch: apsw.Connection, name: str, sql: str) -> TableShape | None:
    """Return the table that a line of the file's schema creates."""
    if not sql.startswith("CREATE TABLE "):
        return None
    try:
        scratch.execute(sql)
        found = table_shape(scratch, name)
    except apsw.Error:
        return None
    return found if found.columns and all(column.type in COLUMN_CLASSES for column in found.columns) else None


def _is_valid_sql(scratch: apsw.Connection, sql: str) -> bool:
    """Tell whether a line of the file's schema is valid."""
    try:
        scratch.execute(sql)
    except apsw.Error:
        return False
    return sql.startswith("CREATE ")


def tree_pages(pages: PageReader, root: int) -> Iterator[int]:
    """Yield the pages of a tree that may hold records, in no particular order; what is broken below is left out."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        kind = pages.page_kind(number)
        if kind in (INNER_TABLE, INNER_INDEX):
            waiting += reversed(pages.child_pages(number))
        if kind in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            yield number


def read_table_records(
    pages: PageReader, tables: list[TableShape]
) -> Iterator[tuple[TableShape, dict[str, RecordValue]]]:
    """Yield every readable record of these tables: first those of their trees, then those on pages that no tree leads
    to any more, by their form."""
    seen: set[int] = set()
    for table in tables:
        kinds = {LEAF_TABLE} if table.trees else {LEAF_INDEX, INNER_INDEX}
        kinds = kinds if table.name else {LEAF_TABLE, LEAF_INDEX, INNER_INDEX}
        for root in table.roots:
            for number in tree_pages(pages, root):
                if pages.page_kind(number) not in kinds or number in seen:
                    continue
                seen.add(number)
                for rowid, row in pages.read_records(number) if table.name else ():
                    named = table.read_own_record(rowid, row)
                    if named is not None:
                        yield table, named
    for number in range(2, len(pages) + 1):
        if number in seen or pages.page_kind(number) not in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            continue
        yield from _stray_records(pages, number, tables)


def _stray_records(
    pages: PageReader, number: int, tables: list[TableShape]
) -> Iterator[tuple[TableShape, dict[str, RecordValue]]]:
    """Yield the records of a page that no tree leads to, as rows of the table that most of them fit."""
    by_rowid = pages.page_kind(number) == LEAF_TABLE
    found = list(pages.read_records(number))
    fitting = {
        at: sum(table.can_hold(row) for _, row in found)
        for at, table in enumerate(tables)
        if table.name and table.trees == by_rowid
    }
    best = max(fitting, key=lambda at: fitting[at], default=None)
    if best is not None and fitting[best]:
        yield from (
            (tables[best], tables[best].name_values(rowid, row))
            for rowid, row in found
            if tables[best].can_hold(row)
        )
