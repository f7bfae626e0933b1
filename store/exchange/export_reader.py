"""Read an export: line by line, in bounded memory, from JSON, gzip or a memory file such as a backup.

Nothing is trusted: a document may be cut, changed, hostile, or of another version. An error names its section and row,
never the text there.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from shlex import quote
from sys import float_info
from typing import Any, BinaryIO

import apsw

from store.base.errors import (
    BrokenDocument,
    MemorandaError,
    NewerFile,
    NotFound,
    NotOurs,
    StorageError,
    UnsafeFile,
)
from store.base.state_files import is_own_signature
from store.database.connection import guard_connection
from store.database.files import SQLITE_HEADER
from store.database.schema import APPLICATION_ID, SCHEMA_VERSION
from store.database.values import clean_json, clean_text, dump_compact_json
from store.exchange.export_schema import (
    EXPORT_FORMAT,
    EXPORT_SEAL,
    EXPORT_TABLES,
    EXPORT_VERSION,
    MOMENT_PATTERN,
    ExportColumn,
    export_columns,
    list_key_columns,
)
from store.exchange.exporter import MARKDOWN_TITLE, open_snapshot
from store.records.facts import text_hash
from store.redaction.redactor import count_markers
from store.trust.ownership import Trust, require_trust

Pairs = list[tuple[str, Any]]

# first bytes of a compressed file
GZIP_START = b"\x1f\x8b"
# bytes of one row
MAX_ROW_BYTES = 64 << 20
_SECTION_START = re.compile(r'"([a-z_]{1,64})":\s*\[')
_OTHER_IMPORTS = (
    "What another tool keeps: memoranda import SOURCE PATH; a conversation: memoranda import --conversations FILE."
)
_NOTHING_CHANGED = "Nothing was changed."
DAMAGE_ERRORS = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)


def open_import_source(path: str) -> ExportDocument | MemoryFile:
    """Open the document or the memory file at `path`. Raise NotFound, UnsafeFile, StorageError or BrokenDocument."""
    try:
        if not os.path.isfile(path):
            if os.path.lexists(path):
                raise UnsafeFile(f"{path} is not a plain file.", "Name an export, or a backup.")
            raise NotFound(f"There is no file {path}.", "Name an export, or a backup.")
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Look at its permissions.") from None
    if start == SQLITE_HEADER:
        return MemoryFile(path)
    return ExportDocument(path, compressed=start[:2] == GZIP_START)


def is_export(path: str) -> bool:
    """Tell whether a file begins like an export, compressed or not. Do not call it for a file that SQLite has open
    in this process."""
    try:
        with open(path, "rb") as file:
            start = file.read(2)
            return start[:1] == b"{" or start == GZIP_START
    except OSError:
        return False


class ImportSource:
    """A file to be imported: its path, its name in errors, and, once `sections` was read, its schema and sequence."""

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        self.path = path
        self.schema = 0
        self.sequence: dict[str, int] = {}
        self.own = False
        """Whether this installation wrote it, and nobody changed it since."""

    def error(self, says: str) -> BrokenDocument:
        """Return the error that says why this file cannot be imported."""
        return BrokenDocument(f"{self.name} cannot be imported: {says}.", _NOTHING_CHANGED)


class ExportDocument(ImportSource):
    """An export being read. Read all of `sections` first; then `schema` and `sequence` are known, and the checksums are
    verified."""

    def __init__(self, path: str, compressed: bool) -> None:
        super().__init__(path)
        self._compressed = compressed
        self._line = 0
        self._where = "its first line"

    def sections(self) -> Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]:
        """Yield (table, its rows) in the document's order; a row is (its number from 1, its names and values). Each
        table's rows must be read before the next table."""
        with open(self.path, "rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if self._compressed else raw
            yield from self._read_sections(stream)  # type: ignore[arg-type]  # all that is read of it is lines

    def _next_line(self, file: BinaryIO) -> bytes:
        """Return the next line, with its end; empty after the last."""
        try:
            return file.readline(MAX_ROW_BYTES)
        except (EOFError, zlib.error):
            raise self.error(f"the gzip file breaks off or is damaged after {self._where}") from None
        except OSError as error:
            # gzip.BadGzipFile: a checksum, or a second header
            if self._compressed and error.errno is None:
                raise self.error(f"the gzip file is damaged after {self._where}") from None
            raise StorageError(f"{self.path} cannot be read: {error.strerror}.", _NOTHING_CHANGED) from None

    def _read_sections(self, file: BinaryIO) -> Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]:
        """Yield each table with its rows, and verify the checksums at the end."""
        whole, found = sha256(), dict[str, str]()

        def lines() -> Iterator[bytes]:
            """Yield every line up to the last checksum's, with its end."""
            counts = True
            while line := self._next_line(file):
                self._line += 1
                if len(line) >= MAX_ROW_BYTES:
                    raise self.error(f"line {self._line} is longer than {MAX_ROW_BYTES >> 20} MiB")
                counts = counts and not line.startswith(b'"checksum":')
                if counts:
                    whole.update(line)
                yield line
            raise self.error(f"it ends after {self._where}")

        rest = lines()
        version = self._read_head(rest)
        more = True
        while more:
            text = self._decode_line(next(rest))
            opens = _SECTION_START.fullmatch(text)
            if not opens:
                raise self.error(f"line {self._line} is not the beginning of a table")
            table = opens[1]
            if table not in EXPORT_TABLES or table in found:
                raise self.error(f"line {self._line} begins a table that is not expected there")
            section = sha256()
            state = _SectionEnd()
            self._where = f"the beginning of {table}"
            yield table, self._read_rows(table, rest, section, state)
            if not state.closed:
                raise RuntimeError("a section's rows were not read")
            found[table] = section.hexdigest()
            more = state.more
        self._read_tail(rest, version, found, whole)
        # to the very end, where gzip has a checksum of its own
        while line := self._next_line(file):
            if line.strip():
                raise self.error("something follows its end")

    def _read_head(self, rest: Iterator[bytes]) -> int:
        """Read the first two lines; return the document's version. Raise NewerFile or BrokenDocument."""
        first = self._decode_line(next(rest))
        try:
            head = self._parse_json(first.rstrip(",") + "}")
        except BrokenDocument:
            head = None
        if first.startswith(MARKDOWN_TITLE):
            raise BrokenDocument(
                f"{self.name} is an export as Markdown, for people, which cannot be imported.",
                "Export the other memory as JSON: memoranda export FILE.json.gz",
            )
        if not isinstance(head, dict) or head.get("format") != EXPORT_FORMAT:
            broken = self.error("it is not an export of Memoranda, or was rewritten by another program")
            raise BrokenDocument(broken.message, f"{_NOTHING_CHANGED} {_OTHER_IMPORTS}")
        version, schema = head.get("version"), head.get("schema")
        if type(version) is not int or type(schema) is not int or version < 1 or schema < 1:
            raise self.error("its first line names no version")
        if version > EXPORT_VERSION or schema > SCHEMA_VERSION:
            raise newer_export_error(self.name)
        self.schema = schema
        if self._decode_line(next(rest)).replace(" ", "") != '"tables":{':
            raise self.error("line 2 is not the beginning of the tables")
        return version

    def _read_rows(
        self, table: str, rest: Iterator[bytes], section: Any, state: _SectionEnd
    ) -> Iterator[tuple[int, Pairs]]:
        """Yield the number and the pairs of each row of a table. Raise BrokenDocument."""
        number, more = 0, True
        for line in rest:
            stripped = line.strip()
            if stripped in (b"]", b"],"):
                if more and number:
                    raise self.error(f"{table}, row {number}: a comma and no row behind it")
                state.closed, state.more = True, stripped == b"],"
                return
            section.update(line)
            if not stripped:
                continue
            number += 1
            self._where = f"{table}, row {number}"
            if not more:
                raise self.error(f"{self._where}: no comma stands before it")
            more = stripped.endswith(b",")
            pairs = self._parse_json(self._decode_line(line).rstrip(","), self._where)
            if not isinstance(pairs, list) or not all(type(pair) is tuple for pair in pairs):
                raise self.error(f"{self._where} is not an object")
            yield number, pairs

    def _read_tail(self, rest: Iterator[bytes], version: int, found: dict[str, str], whole: Any) -> None:
        """Read what follows the tables, and compare the checksums."""
        self._where = "the tables"
        text = ""
        for line in rest:
            text += self._decode_line(line)
            if text.endswith("}") and line.strip() == b"}":
                break
            if len(text) > MAX_ROW_BYTES:
                raise self.error("what follows the tables has no end")
        if not text.startswith("},"):
            raise self.error(f"line {self._line}: the tables are not closed")
        tail = self._parse_json("{" + text[2:], "what follows the tables", plain=True)
        sequence = tail.get("sequence")
        whole_numbers = isinstance(sequence, dict) and all(map(_is_counter, sequence.values()))
        if not whole_numbers:
            raise self.error("its sequence is not one of whole numbers")
        self.sequence = {name: last for name, last in sequence.items() if name in EXPORT_TABLES}
        if version == 1:
            return
        sums = tail.get("checksums")
        for table, digest in found.items():
            if not isinstance(sums, dict) or sums.get(table) != digest:
                raise self.error(f"the checksum of {table} is another, so it was changed since it was written")
        if set(sums or ()) != set(found):
            raise self.error("a table is missing")
        if tail.get("checksum") != whole.hexdigest():
            raise self.error("its checksum is another, so it was changed since it was written")
        with suppress(StorageError):
            self.own = is_own_signature(EXPORT_SEAL + whole.digest(), str(tail.get("seal")))

    def _decode_line(self, line: bytes) -> str:
        """Decode a line, without spaces around it. Raise BrokenDocument."""
        try:
            return line.decode().strip()
        except UnicodeDecodeError:
            raise self.error(f"line {self._line} is not UTF-8") from None

    def _parse_json(self, text: str, where: str = "", plain: bool = False) -> Any:
        """Parse JSON: an object as a list of pairs, or with `plain` as a dict. Raise BrokenDocument."""
        where = where or f"line {self._line}"
        try:
            found = (_OBJECT_DECODER if plain or not self.schema else _PAIRS_DECODER).decode(text)
            # an unpaired surrogate can only come as an escape
            if "\\ud" in text or "\\uD" in text:
                json.dumps(found, ensure_ascii=False).encode()
            return found
        except UnicodeEncodeError:
            raise self.error(f"{where} holds half of a character, which is not text") from None
        except _InvalidJson as error:
            raise self.error(f"{where}: {error}") from None
        except RecursionError:
            raise self.error(f"{where} is nested too deeply") from None
        except ValueError:  # not JSON, or a number of thousands of digits
            raise self.error(f"{where} is not JSON, or only a part of a row") from None


def _is_counter(value: object) -> bool:
    """Tell whether a value is a whole number that SQLite can hold, not below zero."""
    return type(value) is int and 0 <= value < 2**63


@dataclass(slots=True, eq=False)
class _SectionEnd:
    """The end of a table: whether it was reached, and whether another table follows."""

    closed: bool = False
    more: bool = False


class _InvalidJson(ValueError):
    """A word that JSON does not have, or a duplicate name."""


def _refuse_json_constant(word: str) -> float:
    """Raise an error for NaN or Infinity, which JSON does not have."""
    raise _InvalidJson(f"{word} is not a number")


def _unique_object(pairs: Pairs) -> dict[str, Any]:
    """Return the pairs of an object as a dict. Raise an error for a name that is there twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _InvalidJson("a name is there twice")
    return found


_PAIRS_DECODER = json.JSONDecoder(object_pairs_hook=list, parse_constant=_refuse_json_constant)
_OBJECT_DECODER = json.JSONDecoder(object_pairs_hook=_unique_object, parse_constant=_refuse_json_constant)


class MemoryFile(ImportSource):
    """A memory file as a source: a backup, or the file of another project. It is only read."""

    def sections(self) -> Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]:
        """Yield as `Document.sections` does, from one moment of the file."""
        try:
            connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
        except apsw.Error:
            raise self.error("SQLite cannot open it") from None
        try:
            guard_connection(connection)
            if connection.pragma("application_id") != APPLICATION_ID:
                raise self.error("it is a database of another program")
            with suppress(NotOurs):
                Trust(self.path, require_trust(self.path)).admit(connection)
                self.own = True
            self.schema = connection.pragma("user_version")
            if self.schema > SCHEMA_VERSION:
                raise newer_export_error(self.name)
            with open_snapshot(connection) as still:
                for table in EXPORT_TABLES:
                    yield table, self._read_table(still, table)
                counters = still.execute("SELECT name, seq FROM sqlite_sequence")
                self.sequence = {name: last for name, last in counters if name in EXPORT_TABLES}
        except DAMAGE_ERRORS:
            raise self._damage_error() from None
        except apsw.BusyError:
            raise self.error("another program keeps it busy") from None
        finally:
            connection.close()

    def _read_table(self, connection: apsw.Connection, table: str) -> Iterator[tuple[int, Pairs]]:
        """Yield the number and the pairs of each row of a table. Raise BrokenDocument."""
        # the caller reads these rows, and would take an error for one of its own file
        try:
            columns = export_columns(connection, table)
            if not columns:
                # an older schema had no such table
                return
            names = [column.name for column in columns]
            rows = connection.execute(
                f"SELECT {', '.join(names)} FROM {table} ORDER BY {list_key_columns(columns)}"
            )
            for number, row in enumerate(rows, start=1):
                plain = (value.hex() if isinstance(value, bytes) else value for value in row)
                yield number, list(zip(names, plain, strict=True))
        except DAMAGE_ERRORS:
            raise self._damage_error() from None

    def _damage_error(self) -> BrokenDocument:
        """Return the error for a damaged file."""
        return BrokenDocument(
            f"{self.name} cannot be imported: it is damaged.",
            f"{_NOTHING_CHANGED} `memoranda health --salvage {quote(self.path)}` writes what can be read of it to a new"
            " file.",
        )


def newer_export_error(name: str) -> NewerFile:
    """Return the error for a file that a newer Memoranda wrote."""
    return NewerFile(
        f"{name} was written by a newer Memoranda, and cannot be imported here.",
        "Upgrade this one: pip install --upgrade memoranda.",
    )


# Validate a row of a document and prepare it for storage: checked and redacted.
#
# Wrong types, words outside a closed list, invalid times, numbers that SQLite cannot hold: each is refused with its
# column. Every text of people or agents is redacted, as in `database.write`.

Convert = Callable[[Any], Any]

POSITIVE_RANGE = (1, 2**63 - 1)
USUAL_RANGES: dict[str, tuple[float, float]] = {
    "INTEGER": (-(2**63), 2**63 - 1),
    "REAL": (-float_info.max, float_info.max),
}
NUMBER_RANGES = {
    ("facts", "importance"): (0.0, 1.0),
    ("turns", "number"): POSITIVE_RANGE,
    ("turns", "tokens"): (0, 2**63 - 1),
    ("summaries", "first"): POSITIVE_RANGE,
    ("summaries", "last"): POSITIVE_RANGE,
    ("history", "seq"): POSITIVE_RANGE,
}
# characters
LONGEST_TEXTS = {("facts", "fact"): 20_000}
_JSON_TYPES = {"texts": list, "list": list, "object": dict}
# origins, reasons and speakers repeat often
_clean_cached = lru_cache(4096)(clean_text)


class InvalidValue(Exception):
    """What is wrong with a value; the caller adds its place."""


class RowValidator:
    """Convert the rows of one table of a document to rows of the current table, in its columns' order.

    `older`: the document is of an older schema, and may lack columns that were added later.
    """

    def __init__(self, table: str, columns: Sequence[ExportColumn], older: bool) -> None:
        self.table = table
        self.columns = columns
        self.names = tuple(column.name for column in columns)
        self._older = older
        self._converts = tuple(_make_converter(table, column) for column in columns)
        self._places = {name: place for place, name in enumerate(self.names)}
        self.redacted: dict[tuple[str, str, str], int] = {}
        """How many secrets were cut out of the texts, by table, column and rule."""

    def validate_row(self, pairs: list[tuple[str, Any]]) -> list[Any]:
        """Check a row, and return its values in the order of the columns. Raise InvalidValue."""
        names = tuple([pair[0] for pair in pairs])
        if names != self.names:
            pairs = self._arrange_values(pairs)
        row: list[Any] = []
        for (name, value), convert in zip(pairs, self._converts, strict=True):
            try:
                row.append(convert(value))
            except InvalidValue as error:
                raise InvalidValue(f"{name} {error}") from None
        self._check_row([value for _, value in pairs], row)
        return row

    def _arrange_values(self, pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return the values in the table's order; columns added after the document get what a migration gives them."""
        given: dict[str, Any] = {}
        for name, value in pairs:
            if name in given:
                raise InvalidValue(f"{name} is there twice" if name in self._places else "a name is there twice")
            given[name] = value
        for name in given:
            if name not in self._places:
                raise InvalidValue("it has a column that is not known")
        for column in self.columns:
            if column.name not in given:
                if not self._older or (column.default is None and not column.nullable):
                    raise InvalidValue(f"{column.name} is missing")
                given[column.name] = _default_value(column)
        return [(name, given[name]) for name in self.names]

    def _check_row(self, raw: list[Any], row: list[Any]) -> None:
        """Check what depends on more than one column."""
        for column, old, new in zip(self.columns, raw, row, strict=True):
            if column.kind == "TEXT" and old != new and isinstance(old, str):
                before = count_markers(old)
                for rule, number in count_markers(new).items():
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


def _default_value(column: ExportColumn) -> Any:
    """Return the value that a migration gives a column that an older document lacks."""
    if column.default is None or column.default.upper() == "NULL":
        return None
    return column.default[1:-1] if column.default.startswith("'") else json.loads(column.default)


def _make_converter(table: str, column: ExportColumn) -> Convert:
    """Return the function that checks and converts the values of a column."""
    check = _plain_converter(table, column)
    if not column.nullable:
        return check
    return lambda value: None if value is None else check(value)


def _plain_converter(table: str, column: ExportColumn) -> Convert:
    """Return the function that checks and converts a column's values that are not NULL."""
    place = (table, column.name)
    if column.kind in USUAL_RANGES:
        low, high = NUMBER_RANGES.get(place, POSITIVE_RANGE if column.name == "id" else USUAL_RANGES[column.kind])
        return lambda value: _check_number(value, column, low, high)
    if column.kind == "BLOB":
        return _parse_blob
    if column.words:
        words = frozenset(column.words)
        return lambda value: _check_word(value, words)
    if column.json:
        return lambda value: _check_json(value, column.json)
    if column.pattern:
        match = re.compile(column.pattern, re.ASCII).fullmatch
        return lambda value: _check_pattern(value, match, column.pattern == MOMENT_PATTERN)
    most = LONGEST_TEXTS.get(place, 0)
    return lambda value: _check_text(value, most)


def _check_number(value: Any, column: ExportColumn, low: float, high: float) -> int | float:
    """Return a number within limits, a whole one for INTEGER. Raise InvalidValue."""
    whole = column.kind == "INTEGER"
    if type(value) is not int and (whole or type(value) is not float):
        raise InvalidValue("is not a whole number" if whole else "is not a number")
    if column.words and value not in column.words:
        raise InvalidValue(f"is none of {', '.join(map(str, column.words))}")
    if not low <= value <= high:
        raise InvalidValue("is a number that cannot be there")
    return value if whole else float(value)


def _parse_blob(value: Any) -> bytes:
    """Return bytes from hexadecimal digits in lower case. Raise InvalidValue."""
    try:
        if type(value) is str and value == value.lower():
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise InvalidValue("is not in hexadecimal")


def _check_word(value: Any, words: frozenset[Any]) -> str:
    """Return a word of a closed list. Raise InvalidValue."""
    if type(value) is not str or value not in words:
        raise InvalidValue(f"is none of {', '.join(sorted(words))}")
    return value


def _check_pattern(value: Any, match: Callable[[str], Any], moment: bool) -> str:
    """Return a text that matches a pattern, and is a real time if it is a moment. Raise InvalidValue."""
    if type(value) is not str or not match(value):
        raise InvalidValue("is not a time in UTC with milliseconds" if moment else "has not the form it must have")
    if moment:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise InvalidValue("is a time that does not exist") from None
    return value


def _check_text(value: Any, most: int) -> str:
    """Return a text, redacted. Raise InvalidValue if it is too long."""
    if type(value) is not str:
        raise InvalidValue("is not a text")
    if most and len(value) > most:
        raise InvalidValue(f"has more than {most:,} characters")
    return _clean_cached(value) if len(value) < 200 else clean_text(value)


def _check_json(value: Any, kind: str) -> str:
    """Return a text of JSON of this type, redacted. Raise InvalidValue."""
    if type(value) is not str:
        raise InvalidValue("is not a text")
    if value == "[]" and kind in ("texts", "list"):
        return value
    try:
        tree = _OBJECT_DECODER.decode(value)
        if "\\" in value:
            json.dumps(tree, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidValue("holds half of a character, which is not text") from None
    except RecursionError:
        raise InvalidValue("is nested too deeply") from None
    except ValueError:
        raise InvalidValue("is not JSON") from None
    if kind in _JSON_TYPES and type(tree) is not _JSON_TYPES[kind]:
        raise InvalidValue("is not a list" if _JSON_TYPES[kind] is list else "is not an object")
    if kind == "texts" and not all(type(item) is str for item in tree):
        raise InvalidValue("is not a list of texts")
    if kind == "object" and "\\" not in value and clean_text(value) == value:
        # of our own columns, none of which is named like a credential: five times as fast
        return value
    try:
        redacted = clean_json(tree)
    except MemorandaError:
        raise InvalidValue("is nested too deeply") from None
    return value if redacted == tree else clean_text(dump_compact_json(redacted))
