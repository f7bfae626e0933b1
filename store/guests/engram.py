"""Observations in the database of Engram: read from a copy, and changed a column at a time in a transaction of SQLite,
so that the program may have it open. Its own triggers keep its search index."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import apsw

from store.guests.guest_text import GuestText, NotEditable, named
from store.sources import sqlite_copy
from store.sources.source import Trouble

TOOL = "engram"
TEXT, DELETED = "content", "deleted_at"
COLUMNS = {"id", "type", "title", TEXT, DELETED}
LOCKED = "it is locked: its tool is at work"
CHANGED = "it was changed meanwhile"
UNKNOWN = "its tables are not those that are known of Engram"
_VALUE = r"(?:'delete'|(?:new|old)\.\w+)"
_INDEX = rf"INSERT INTO observations_fts\s?\([\w, ]+\) VALUES \({_VALUE}(?:, ?{_VALUE})*\);"
_TRIGGER = re.compile(
    rf"CREATE TRIGGER \w+ AFTER (?:INSERT|DELETE|UPDATE) ON observations BEGIN (?:{_INDEX} )+END", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One column of one row, what it is `before` and what it is to be `after`."""

    row: int
    column: str
    before: str | None
    after: str | None


def read(path: str, troubles: list[Trouble]) -> list[GuestText]:
    """Return the observations that are not deleted."""
    with sqlite_copy.opened(path, troubles) as database:
        return named(_texts(path, database)) if database is not None else []


def _texts(path: str, database: sqlite_copy.CopiedDatabase) -> Iterator[GuestText]:
    for row in database.rows("observations", f"id type title {TEXT} {DELETED}", "id"):
        number, text = row["id"], row[TEXT]
        if isinstance(number, int) and isinstance(text, str) and text.strip() and not row[DELETED]:
            yield GuestText(TOOL, path, number, text, str(row["title"] or ""), str(row["type"] or ""))


def write(path: str, cells: tuple[Cell, ...]) -> None:
    """Change these columns, all or none. Raise NotEditable where one is not what it was, the database is locked, or its
    tables are unknown: nothing is changed then."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    try:
        with closing(apsw.Connection(path, flags=flags)) as connection:
            connection.set_busy_timeout(0)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.execute("BEGIN IMMEDIATE")
            try:
                _known(connection)
                for one in cells:
                    _update(connection, one)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
    except (apsw.BusyError, apsw.LockedError):
        raise NotEditable(LOCKED) from None
    except apsw.Error as error:
        raise NotEditable(sqlite_copy.why(error)) from None


def _update(connection: apsw.Connection, one: Cell) -> None:
    found = connection.execute(f'SELECT "{one.column}" FROM observations WHERE id = ?', (one.row,)).fetchall()
    if found != [(one.before,)]:
        raise NotEditable(CHANGED)
    connection.execute(f'UPDATE observations SET "{one.column}" = ? WHERE id = ?', (one.after, one.row))


def _known(connection: apsw.Connection) -> None:
    """Raise NotEditable unless the observations are an ordinary table with the known columns, and its triggers do
    nothing but keep its index."""
    kind = connection.execute("SELECT type, sql FROM sqlite_schema WHERE name = 'observations'").fetchall()
    columns = {row[1] for row in connection.execute("PRAGMA table_info(observations)")}
    triggers = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'observations' COLLATE NOCASE"
    ).fetchall()
    plain = len(kind) == 1 and kind[0][0] == "table" and "VIRTUAL" not in str(kind[0][1]).upper()
    indexing = all(_TRIGGER.fullmatch(" ".join(str(sql).split())) for (sql,) in triggers)
    if not (plain and indexing and columns >= COLUMNS):
        raise NotEditable(UNKNOWN)


def undoing(before: bytes, after: bytes) -> tuple[Cell, ...]:
    """Return what takes the change between two versions of a database back."""
    were, are = _values(before), _values(after)
    return tuple(
        Cell(row, column, are[row][place], were[row][place])
        for row in were.keys() & are.keys()
        for place, column in enumerate((TEXT, DELETED))
        if were[row][place] != are[row][place]
    )


def _values(raw: bytes) -> dict[int, tuple[str | None, str | None]]:
    with closing(apsw.Connection(":memory:")) as connection:
        connection.deserialize("main", raw[:18] + b"\1\1" + raw[20:])  # its log is folded in
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        rows = connection.execute(f"SELECT id, {TEXT}, {DELETED} FROM observations")
        return {row: (text, deleted) for row, text, deleted in rows}
