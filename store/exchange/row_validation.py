"""Validate a row of a document and prepare it for storage: checked and redacted.

Wrong types, words outside a closed list, invalid times, numbers that SQLite cannot hold: each is refused with its
column. Every text of people or agents is redacted, as in `database.write`.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache

from store.base.errors import MemorandaError
from store.database.values import clean, clean_tree
from store.exchange.export_schema import MOMENT, ExportColumn
from store.records.fact_rows import text_hash
from store.redaction.redactor import markers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Convert = Callable[[Any], Any]

ANY = (1, 2**63 - 1)
BETWEEN = {
    ("facts", "importance"): (0.0, 1.0),
    ("turns", "number"): ANY,
    ("turns", "tokens"): (0, 2**63 - 1),
    ("summaries", "first"): ANY,
    ("summaries", "last"): ANY,
    ("history", "seq"): ANY,
}
MOST = {("facts", "fact"): 20_000}  # characters
_KINDS = {"texts": list, "list": list, "object": dict}
_cleaned = lru_cache(4096)(clean)  # origins, reasons and speakers repeat often


class Wrong(Exception):
    """What is wrong with a value; the caller adds its place."""


class ValidatedRows:
    """Convert the rows of one table of a document to rows of the current table, in its columns' order.

    `older`: the document is of an older schema, and may lack columns that were added later.
    """

    def __init__(self, table: str, columns: Sequence[ExportColumn], older: bool) -> None:
        self.table = table
        self.columns = columns
        self.names = tuple(column.name for column in columns)
        self._older = older
        self._converts = tuple(_convert(table, column) for column in columns)
        self._places = {name: place for place, name in enumerate(self.names)}
        self.redacted: dict[tuple[str, str, str], int] = {}
        """How many secrets were cut out of the texts, by table, column and rule."""

    def row(self, pairs: "list[tuple[str, Any]]") -> "list[Any]":
        """Return a row's values. Raise Wrong."""
        names = tuple([pair[0] for pair in pairs])
        if names != self.names:
            pairs = self._arranged(pairs)
        row: list[Any] = []
        for (name, value), convert in zip(pairs, self._converts, strict=True):
            try:
                row.append(convert(value))
            except Wrong as error:
                raise Wrong(f"{name} {error}") from None
        self._finish([value for _, value in pairs], row)
        return row

    def _arranged(self, pairs: "list[tuple[str, Any]]") -> "list[tuple[str, Any]]":
        """Return the values in the table's order; columns added after the document get what a migration gives them."""
        given: dict[str, Any] = {}
        for name, value in pairs:
            if name in given:
                raise Wrong(f"{name} is there twice" if name in self._places else "a name is there twice")
            given[name] = value
        for name in given:
            if name not in self._places:
                raise Wrong("it has a column that is not known")
        for column in self.columns:
            if column.name not in given:
                if not self._older or (column.default is None and not column.nullable):
                    raise Wrong(f"{column.name} is missing")
                given[column.name] = _default(column)
        return [(name, given[name]) for name in self.names]

    def _finish(self, raw: "list[Any]", row: "list[Any]") -> None:
        """Check what depends on more than one column."""
        for column, old, new in zip(self.columns, raw, row, strict=True):
            if column.kind == "TEXT" and old != new and isinstance(old, str):
                before = markers(old)
                for rule, number in markers(new).items():
                    if number > before.get(rule, 0):
                        place = self.table, column.name, rule
                        self.redacted[place] = self.redacted.get(place, 0) + number - before.get(rule, 0)
        if self.table == "facts":
            row[self._places["text_hash"]] = text_hash(row[self._places["fact"]])
        elif self.table == "history_row":
            places = self._places
            if row[places["before"]] != raw[places["before"]] or row[places["after"]] != raw[places["after"]]:
                # as a purge leaves it: the leaf is kept, so the chain still verifies
                row[places["salt"]], row[places["purged"]] = None, 1


def _default(column: ExportColumn) -> "Any":
    if column.default is None or column.default.upper() == "NULL":
        return None
    return column.default[1:-1] if column.default.startswith("'") else json.loads(column.default)


def _convert(table: str, column: ExportColumn) -> "Convert":
    check = _plain(table, column)
    if not column.nullable:
        return check
    return lambda value: None if value is None else check(value)


def _plain(table: str, column: ExportColumn) -> "Convert":
    place = (table, column.name)
    if column.kind == "INTEGER":
        low, high = BETWEEN.get(place, (1 if column.name == "id" else -(2**63), 2**63 - 1))
        return lambda value: _integer(value, column.words, low, high)
    if column.kind == "REAL":
        low, high = BETWEEN.get(place, (-math.inf, math.inf))
        return lambda value: _real(value, low, high)
    if column.kind == "BLOB":
        return _blob
    if column.words:
        words = frozenset(column.words)
        return lambda value: _word(value, words)
    if column.json:
        return lambda value: _json(value, column.json)
    if column.pattern:
        match = re.compile(column.pattern, re.ASCII).fullmatch
        return lambda value: _formed(value, match, column.pattern == MOMENT)
    most = MOST.get(place, 0)
    return lambda value: _text(value, most)


def _integer(value: "Any", words: "tuple[Any, ...]", low: float, high: float) -> int:
    if type(value) is not int:
        raise Wrong("is not a whole number")
    if words and value not in words:
        raise Wrong(f"is none of {', '.join(map(str, words))}")
    if not low <= value <= high:
        raise Wrong("is a number that cannot be there")
    return value


def _real(value: "Any", low: float, high: float) -> float:
    if type(value) is not float and type(value) is not int:
        raise Wrong("is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise Wrong("is a number that cannot be there") from None
    if not (math.isfinite(number) and low <= number <= high):
        raise Wrong("is a number that cannot be there")
    return number


def _blob(value: "Any") -> bytes:
    try:
        if type(value) is str and value == value.lower():
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise Wrong("is not in hexadecimal")


def _word(value: "Any", words: "frozenset[Any]") -> str:
    if type(value) is not str or value not in words:
        raise Wrong(f"is none of {', '.join(sorted(words))}")
    return value


def _formed(value: "Any", match: "Callable[[str], Any]", moment: bool) -> str:
    if type(value) is not str or not match(value):
        raise Wrong("is not a time in UTC with milliseconds" if moment else "has not the form it must have")
    if moment:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise Wrong("is a time that does not exist") from None
    return value


def _text(value: "Any", most: int) -> str:
    if type(value) is not str:
        raise Wrong("is not a text")
    if most and len(value) > most:
        raise Wrong(f"has more than {most:,} characters")
    return _cleaned(value) if len(value) < 200 else clean(value)


def _json(value: "Any", kind: str) -> str:
    if type(value) is not str:
        raise Wrong("is not a text")
    if value == "[]" and kind in ("texts", "list"):
        return value
    try:
        tree = json.loads(value, parse_constant=_constant, object_pairs_hook=_unique)
        if "\\" in value:
            json.dumps(tree, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Wrong("holds half of a character, which is not text") from None
    except RecursionError:
        raise Wrong("is nested too deeply") from None
    except ValueError:
        raise Wrong("is not JSON") from None
    if kind in _KINDS and type(tree) is not _KINDS[kind]:
        raise Wrong("is not a list" if _KINDS[kind] is list else "is not an object")
    if kind == "texts" and not all(type(item) is str for item in tree):
        raise Wrong("is not a list of texts")
    if kind == "object" and "\\" not in value and clean(value) == value:
        return value  # of our own columns, none of which is named like a credential: five times as fast
    try:
        redacted = clean_tree(tree)
    except MemorandaError:
        raise Wrong("is nested too deeply") from None
    return value if redacted == tree else clean(json.dumps(redacted, ensure_ascii=False, separators=(",", ":")))


def _constant(word: str) -> float:
    raise ValueError(word)


def _unique(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("twice")
    return found
