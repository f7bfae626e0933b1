"""Determine the table of a record: by the tree it is in, and where that is broken by its form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import apsw

from store.salvage.pages import INNER_INDEX, INNER_TABLE, LEAF_INDEX, LEAF_TABLE, PageReader, Value

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TIMES = re.compile(r"(.*_)?at")
CLASSES: dict[str, tuple[type, ...]] = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}


@dataclass(frozen=True)
class FoundColumn:
    name: str
    type: str
    required: bool  # NOT NULL, and without a default
    rowid: bool  # an alias of the rowid, which is not in the record


SEQUENCE = "sqlite_sequence"
COUNTERS = [FoundColumn("name", "TEXT", True, False), FoundColumn("seq", "INTEGER", True, False)]


@dataclass
class Shape:
    """A table: its columns, in the order of its records."""

    name: str
    columns: list[FoundColumn]
    trees: bool = True  # whether its rows are in a tree of rowids; else in one of keys
    roots: list[int] = field(default_factory=list)

    def fits(self, row: list[Value]) -> bool:
        """Return whether a record may be one of this table: as many values, each of its type, times that are times."""
        return len(row) == len(self.columns) and all(map(_fits, self.columns, row))

    def known(self, rowid: int, row: list[Value]) -> dict[str, Value] | None:
        """Return a record of this table's own tree by column name; None if it cannot be one. It may be older than the
        last columns."""
        if len(row) > len(self.columns):
            return None
        if not all(
            value is None or isinstance(value, CLASSES[column.type])
            for column, value in zip(self.columns, row, strict=False)
        ):
            return None
        return self.named(rowid, row)

    def named(self, rowid: int, row: list[Value]) -> dict[str, Value]:
        return {column.name: rowid if column.rowid else value for column, value in zip(self.columns, row, strict=False)}


def _fits(column: FoundColumn, value: Value) -> bool:
    if column.rowid or value is None:
        return value is None and not (column.required and not column.rowid)
    if not isinstance(value, CLASSES[column.type]):
        return False
    return not (TIMES.fullmatch(column.name) and isinstance(value, str) and not MOMENT.fullmatch(value))


def shape(connection: apsw.Connection, table: str) -> Shape:
    """Return the form of a table of this database. Without rowids its records begin with the key."""
    rows = list(connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,)))
    without = bool(
        connection.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,)).get
    )
    if without:
        rows.sort(key=lambda row: (not row[3], row[3]))  # the key's columns first, in order; then as declared
    alone = sum(bool(row[3]) for row in rows) == 1
    columns = [
        FoundColumn(name, kind, bool(notnull or key), bool(key and alone and not without and kind == "INTEGER"))
        for name, kind, notnull, key in rows
    ]
    return Shape(table, columns, not without)


def shapes(pages: PageReader, connection: apsw.Connection, wanted: list[str]) -> list[Shape]:
    """Return the wanted tables: as the file's own schema declares them, where it can be read, else as `connection`
    does. Then the counters of assigned numbers, and without a name all trees of tables that do not exist here, if they
    can be read. A tree whose name is damaged may be of any table, and is left out."""
    own: dict[str, Shape] = {}
    scratch = apsw.Connection(":memory:")
    others = Shape("", [])
    ours = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    for number in tree(pages, 1):
        for _, row in pages.records(number):
            if len(row) != 5 or not isinstance(row[3], int):
                continue
            if row[0] == "table" and row[1] in wanted:
                found = _laid(scratch, str(row[1]), str(row[4])) or shape(connection, str(row[1]))
            elif row[1] == SEQUENCE:
                found = Shape(SEQUENCE, COUNTERS)
            elif row[1] in ours or row[0] == "index" or _reads(scratch, str(row[4])):
                found = others
            else:
                continue
            found.roots.append(row[3])
            own[found.name] = found
    scratch.close()
    return [
        *(own.get(name) or shape(connection, name) for name in wanted),
        *(own[name] for name in (SEQUENCE, "") if name in own),
    ]


def _laid(scratch: apsw.Connection, name: str, sql: str) -> Shape | None:
    """Return the table that a line of the file's schema creates."""
    if not sql.startswith("CREATE TABLE "):
        return None
    try:
        scratch.execute(sql)
        found = shape(scratch, name)
    except apsw.Error:
        return None
    return found if found.columns and all(column.type in CLASSES for column in found.columns) else None


def _reads(scratch: apsw.Connection, sql: str) -> bool:
    """Return whether a line of the file's schema is valid."""
    try:
        scratch.execute(sql)
    except apsw.Error:
        return False
    return sql.startswith("CREATE ")


def tree(pages: PageReader, root: int) -> Iterator[int]:
    """Yield the pages of a tree that may hold records, in no particular order; what is broken below is left out."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        kind = pages.kind(number)
        if kind in (INNER_TABLE, INNER_INDEX):
            waiting += reversed(pages.children(number))
        if kind in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            yield number


def rows(pages: PageReader, tables: list[Shape]) -> Iterator[tuple[Shape, dict[str, Value]]]:
    """Yield every readable record of these tables: first those of their trees, then those on pages that no tree leads
    to any more, by their form."""
    seen: set[int] = set()
    for table in tables:
        kinds = {LEAF_TABLE} if table.trees else {LEAF_INDEX, INNER_INDEX}
        kinds = kinds if table.name else {LEAF_TABLE, LEAF_INDEX, INNER_INDEX}
        for root in table.roots:
            for number in tree(pages, root):
                if pages.kind(number) not in kinds or number in seen:
                    continue
                seen.add(number)
                for rowid, row in pages.records(number) if table.name else ():
                    named = table.known(rowid, row)
                    if named is not None:
                        yield table, named
    for number in range(2, len(pages) + 1):
        if number in seen or pages.kind(number) not in (LEAF_TABLE, LEAF_INDEX, INNER_INDEX):
            continue
        yield from _stray(pages, number, tables)


def _stray(pages: PageReader, number: int, tables: list[Shape]) -> Iterator[tuple[Shape, dict[str, Value]]]:
    by_rowid = pages.kind(number) == LEAF_TABLE
    found = list(pages.records(number))
    fitting = {
        at: sum(table.fits(row) for _, row in found)
        for at, table in enumerate(tables)
        if table.name and table.trees == by_rowid
    }
    best = max(fitting, key=lambda at: fitting[at], default=None)
    if best is not None and fitting[best]:
        yield from ((tables[best], tables[best].named(rowid, row)) for rowid, row in found if tables[best].fits(row))
