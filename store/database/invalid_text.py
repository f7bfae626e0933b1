"""Read rows that hold text which is not UTF-8: SQLite stores any bytes, and a damaged or crafted file may hold some."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def rows(
    connection: apsw.Connection, sql: str, parameters: Sequence[object] | dict[str, object]
) -> "Iterator[tuple[Any, ...]]":
    """Run a query; every byte that is not UTF-8 becomes U+FFFD."""
    names = [f"c{number}" for number in range(_columns(connection, sql, parameters))]
    values = ", ".join(f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names)
    texts = ", ".join(f"typeof({name}) = 'text'" for name in names)
    wrapped = f"WITH r({', '.join(names)}) AS ({sql.strip().rstrip(';')}) SELECT {values}, {texts} FROM r"
    for row in connection.execute(wrapped, parameters):
        pairs = zip(row[: len(names)], row[len(names) :], strict=True)
        yield tuple(value.decode("utf-8", "replace") if text else value for value, text in pairs)


def _columns(connection: apsw.Connection, sql: str, parameters: Sequence[object] | dict[str, object]) -> int:
    """Return how many columns a query has, without running it."""
    number = 0

    def count(cursor: apsw.Cursor, *_: object) -> bool:
        nonlocal number
        number = len(cursor.get_description())
        return False

    cursor = connection.cursor()
    cursor.exec_trace = count
    with suppress(apsw.ExecTraceAbort):
        cursor.execute(sql, parameters)
    return number
