"""Prepare values for a statement: redact them, and remove what SQLite or UTF-8 cannot hold.

The rules of redaction are imported with the first text: a command that writes none takes a sixth less time.
"""

from __future__ import annotations

import json
from _thread import get_ident
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import apsw

from store.base.errors import InvalidInput, MemorandaError
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.redaction.allowlist import is_allowed_value
from store.redaction.redactor import count_markers, redact, redact_tree

# Read rows that hold text which is not UTF-8: SQLite stores any bytes, and a damaged or crafted file may hold some.

_NUMBER_TYPES, _TEXT_TYPE, _BLOB_TYPE = (
    (1, 2),
    3,
    4,
)  # SQLITE_INTEGER and SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB: APSW has no names


def repair_rows(
    connection: apsw.Connection, sql: str, parameters: Sequence[object] | dict[str, object]
) -> Iterator[tuple[Any, ...]]:
    """Run a query; every byte that is not UTF-8 becomes U+FFFD."""
    names = [f"c{number}" for number in range(_count_columns(connection, sql, parameters))]
    values = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    texts = ", ".join(f"typeof({name}) = 'text'" for name in names)
    wrapped = f"WITH r({', '.join(names)}) AS ({sql.strip().rstrip(';')}) SELECT {values}, {texts} FROM r"
    for row in connection.execute(wrapped, parameters):
        pairs = zip(row[: len(names)], row[len(names) :], strict=True)
        yield tuple(value.decode("utf-8", "replace") if text else value for value, text in pairs)


def _count_columns(connection: apsw.Connection, sql: str, parameters: Sequence[object] | dict[str, object]) -> int:
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


def repair_changeset(raw: bytes) -> bytes:
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
            columns, at = read_varint(raw, at + 1)
            at = raw.index(b"\0", at + columns) + 1
            parts.append(raw[start:at])
            continue
        update = raw[at] == apsw.SQLITE_UPDATE
        at += 2
        parts.append(raw[start:at])
        for _ in range(columns * (2 if update else 1)):
            value, at = _repair_value(raw, at)
            parts.append(value)
    return b"".join(parts)


def _repair_value(raw: bytes, at: int) -> tuple[bytes, int]:
    """Return one value of a changeset, its text repaired, and where the next begins."""
    kind, start = raw[at], at
    at += 1
    if kind in _NUMBER_TYPES:
        return raw[start : at + 8], at + 8
    # NULL, or a column that did not change
    if kind not in (_TEXT_TYPE, _BLOB_TYPE):
        return raw[start:at], at
    length, at = read_varint(raw, at)
    if kind == _BLOB_TYPE:
        return raw[start : at + length], at + length
    text = raw[at : at + length].decode("utf-8", "replace").encode()
    return raw[start : start + 1] + _write_varint(len(text)) + text, at + length


def read_varint(raw: bytes, at: int) -> tuple[int, int]:
    """Return the number of one to nine bytes at an offset, 7 bits a byte, the highest first; and where it ends."""
    number = 0
    for _ in range(8):
        byte = raw[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
    number = number << 8 | raw[at]
    return number - (1 << 64) if number >> 63 else number, at + 1


def _write_varint(number: int) -> bytes:
    """Return a number as bytes of 7 bits, the highest first."""
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(number & 0x7F | 0x80)
    return bytes(reversed(parts))


# Record each secret that was cut while writing: where its marker was written, and the rule.
#
# The redaction sees texts, not places; SQLite reports which rows a statement changed, and the marker names the rule.

# table, row, column, rule
RedactionPlace = tuple[str, int, str, str]

# documents are redacted before they are split into chunks, and read again when they change
LOGGED_TABLES = frozenset((*RECORDED_TABLES, *JOURNAL_TABLES, "chunks")) - {"history", "history_row"}


def execute_with_markers(
    connection: apsw.Connection, sql: str, parameters: Sequence[object], places: dict[RedactionPlace, int]
) -> apsw.Cursor:
    """Run a statement that writes markers, and add to `places` the number of markers of each rule in each place."""
    touched: dict[tuple[str, int], None] = {}

    def note(kind: int, database: str, table: str, row: int) -> None:
        if table in LOGGED_TABLES:
            touched[table, row] = None

    connection.set_update_hook(note)
    try:
        cursor = connection.execute(sql, parameters)
    finally:
        connection.set_update_hook(None)
    for table, row in touched:
        found = connection.execute(f"SELECT * FROM {table} WHERE rowid = ?", (row,))
        names = [column[0] for column in found.get_description()]
        for name, value in zip(names, found.fetchone() or (), strict=False):
            if isinstance(value, str):
                for rule, count in count_markers(value).items():
                    places[table, row, name, rule] = count
    return cursor


def store_redactions(
    connection: apsw.Connection, places: dict[RedactionPlace, int], at: str, actor: str, door: str
) -> None:
    """Store the places, inside the transaction that made them; a known place keeps its first time."""
    # a document that changed has new chunks
    if any(table == "chunks" for table, *_ in places):
        connection.execute("DELETE FROM redactions WHERE tbl = 'chunks' AND record NOT IN (SELECT id FROM chunks)")
    connection.executemany(
        "INSERT INTO redactions(at, rule, tbl, record, field, count, actor, door) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(tbl, record, field, rule) DO UPDATE SET count = excluded.count",
        [(at, rule, table, row, field, count, actor, door) for (table, row, field, rule), count in places.items()],
    )


class Verbatim(str):
    """Text that may be written unredacted: ids, words of a closed list, hashes, times. Never a person's words."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Json:
    """A JSON value for a TEXT column: redacted string by string, at any depth, before it is serialised."""

    value: object


# characters that a secret and the word that tells it from others take
MIN_SECRET_LENGTH = 6

SqlValue = int | float | str | bytes | Json | None


def clean_text(text: str) -> str:
    """Return text as it may be stored: redacted, and without what SQLite or UTF-8 cannot hold."""
    if len(text) < MIN_SECRET_LENGTH:
        return make_storable(text)
    return redact(make_storable(text), _is_allowed)


def clean_json(value: object) -> object:
    """Return a JSON value as it may be stored, redacted string by string. Raise InvalidInput or TypeError."""
    return redact_tree(value, _is_allowed)


def _is_allowed(rule: str, value: str) -> bool:
    """Return whether the person declared a match not secret, called only for matches of a rule; record the rule if
    not."""
    if is_allowed_value(rule, value):
        return True
    _cut_rules.setdefault(get_ident(), set()).add(rule)
    return False


_cut_rules: dict[int, set[str]] = {}
"""By thread, the rules that cut something since its last transaction."""


def take_cut_rules() -> set[str]:
    """Return the rules that cut something on this thread since the last call. A marker already in a text is no cut."""
    return _cut_rules.pop(get_ident(), set())


def make_storable(text: str) -> str:
    """Replace NUL, which ends a text early in SQLite's functions, and lone surrogates, which are not UTF-8, by
    U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "�")


def bind_value(value: SqlValue) -> int | float | str | bytes | None:
    """Return a parameter for SQLite: text redacted, JSON serialised. Raise InvalidInput."""
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Json):
        return _dump_json(value.value)
    return value


def dump_compact_json(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _dump_json(value: object) -> str:
    """Return a value as redacted JSON. Raise InvalidInput if it cannot be written as JSON."""
    if value == []:
        return "[]"
    try:
        text = json.dumps(clean_json(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except MemorandaError:
        raise
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "That value cannot be written as JSON.",
            "Use texts, finite numbers, lists and objects, not nested too deeply.",
        ) from None
    return make_storable(text)
