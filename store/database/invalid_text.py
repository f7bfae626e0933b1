"""Read rows that hold text which is not UTF-8: SQLite stores any bytes, and a damaged or crafted file may hold some."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import apsw

_NUMBERS, _TEXT, _BLOB = (1, 2), 3, 4  # SQLITE_INTEGER and SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB: APSW has no names

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


def changeset(raw: bytes) -> bytes:
    """Return a changeset of SQLite's session extension in which every byte of a text that is not UTF-8 is U+FFFD.

    The form is that of the extension's documentation: a table is `T`, the number of its columns, a byte for each, and
    its name up to NUL; a change is its operation, a byte, and its values, before and after. A value is a byte for its
    type, then 8 bytes of a number, or the length and the bytes of a text or a BLOB.
    """
    parts: list[bytes] = []
    at = columns = 0
    while at < len(raw):
        start = at
        if raw[at : at + 1] == b"T":
            columns, at = _length(raw, at + 1)
            at = raw.index(b"\0", at + columns) + 1
            parts.append(raw[start:at])
            continue
        update = raw[at] == apsw.SQLITE_UPDATE
        at += 2
        parts.append(raw[start:at])
        for _ in range(columns * (2 if update else 1)):
            value, at = _value(raw, at)
            parts.append(value)
    return b"".join(parts)


def _value(raw: bytes, at: int) -> tuple[bytes, int]:
    """Return one value of a changeset, its text repaired, and where the next begins."""
    kind, start = raw[at], at
    at += 1
    if kind in _NUMBERS:
        return raw[start : at + 8], at + 8
    if kind not in (_TEXT, _BLOB):  # NULL, or a column that did not change
        return raw[start:at], at
    length, at = _length(raw, at)
    if kind == _BLOB:
        return raw[start : at + length], at + length
    text = raw[at : at + length].decode("utf-8", "replace").encode()
    return raw[start : start + 1] + _varint(len(text)) + text, at + length


def _length(raw: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, 7 bits a byte, the highest first; and where it ends."""
    number = 0
    while True:
        byte = raw[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at


def _varint(number: int) -> bytes:
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(number & 0x7F | 0x80)
    return bytes(reversed(parts))
