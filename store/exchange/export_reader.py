"""Read an export: line by line, in bounded memory, from JSON, gzip or a memory file such as a backup.

Nothing is trusted: a document may be cut, changed, hostile, or of another version. An error names its section and row,
never the text there.
"""

import json
import os
import re
import zlib
from collections.abc import Iterator
from shlex import quote

import apsw

from store.base.errors import BrokenDocument, NewerFile, NotFound, StorageError, UnsafeFile
from store.database.connection import guard
from store.database.files import SQLITE
from store.database.schema.version import APPLICATION_ID, SCHEMA_VERSION
from store.exchange.export_schema import FORMAT, TABLES, VERSION, columns_of
from store.exchange.exporter import moment
from store.exchange.markdown_export import TITLE as MARKDOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    Pairs = list[tuple[str, Any]]

GZIP = b"\x1f\x8b"  # first bytes of a compressed file
MAX_LINE = 64 << 20  # bytes of one row
_OPENS = re.compile(r'"([a-z_]{1,64})":\s*\[')
_OTHERS = "What another tool keeps: memoranda import SOURCE PATH; a conversation: memoranda ingest FILE."
_NOTHING = "Nothing was changed."
DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)


def open_source(path: str) -> "Document | MemoryFile":
    """Open the document or the memory file at `path`. Raise NotFound, UnsafeFile, StorageError or BrokenDocument."""
    name = os.path.basename(path)
    try:
        if not os.path.isfile(path):
            if os.path.lexists(path):
                raise UnsafeFile(f"{path} is not a plain file.", "Name an export, or a backup.")
            raise NotFound(f"There is no file {path}.", "Name an export, or a backup.")
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Look at its permissions.") from None
    if start == SQLITE:
        return MemoryFile(path, name)
    return Document(path, name, compressed=start[:2] == GZIP)


def is_document(path: str) -> bool:
    """Return whether a file begins like an export, compressed or not; not to be called for a file that SQLite has open
    here."""
    try:
        with open(path, "rb") as file:
            start = file.read(2)
            return start[:1] == b"{" or start == GZIP
    except OSError:
        return False


class Document:
    """An export being read. Read all of `sections` first; then `schema` and `sequence` are known, and the checksums are
    verified."""

    def __init__(self, path: str, name: str, compressed: bool) -> None:
        self.name = name
        self.path = path
        self.schema = 0
        self.sequence: dict[str, int] = {}
        self._compressed = compressed
        self._line = 0
        self._where = "its first line"

    def sections(self) -> "Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]":
        """Yield (table, its rows) in the document's order; a row is (its number from 1, its names and values). Each
        table's rows must be read before the next table."""
        with open(self.path, "rb") as raw:
            yield from self._sections(self._open(raw))

    def broken(self, says: str) -> BrokenDocument:
        return BrokenDocument(f"{self.name} cannot be imported: {says}.", _NOTHING)

    def _line_of(self, file: "BinaryIO") -> bytes:
        """Return the next line, with its end; empty after the last."""
        try:
            return file.readline(MAX_LINE)
        except (EOFError, zlib.error):
            raise self.broken(f"the gzip file breaks off or is damaged after {self._where}") from None
        except OSError as error:
            if self._compressed and error.errno is None:  # gzip.BadGzipFile: a checksum, or a second header
                raise self.broken(f"the gzip file is damaged after {self._where}") from None
            raise StorageError(f"{self.path} cannot be read: {error.strerror}.", _NOTHING) from None

    def _open(self, raw: "BinaryIO") -> "BinaryIO":
        if not self._compressed:
            return raw
        import gzip

        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]

    def _sections(self, file: "BinaryIO") -> "Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]":
        from hashlib import sha256

        whole, found = sha256(), dict[str, str]()

        def lines() -> Iterator[bytes]:
            """Yield every line up to the last checksum's, with its end."""
            counts = True
            while line := self._line_of(file):
                self._line += 1
                if len(line) >= MAX_LINE:
                    raise self.broken(f"line {self._line} is longer than {MAX_LINE >> 20} MiB")
                counts = counts and not line.startswith(b'"checksum":')
                if counts:
                    whole.update(line)
                yield line
            raise self.broken(f"it ends after {self._where}")

        rest = lines()
        version = self._head(rest)
        more = True
        while more:
            text = self._text(next(rest))
            opens = _OPENS.fullmatch(text)
            if not opens:
                raise self.broken(f"line {self._line} is not the beginning of a table")
            table = opens[1]
            if table not in TABLES or table in found:
                raise self.broken(f"line {self._line} begins a table that is not expected there")
            section = sha256()
            state = _Section()
            self._where = f"the beginning of {table}"
            yield table, self._rows(table, rest, section, state)
            if not state.closed:
                raise RuntimeError("a section's rows were not read")
            found[table] = section.hexdigest()
            more = state.more
        self._tail(rest, version, found, whole)
        while line := self._line_of(file):  # to the very end, where gzip has a checksum of its own
            if line.strip():
                raise self.broken("something follows its end")

    def _head(self, rest: Iterator[bytes]) -> int:
        """Read the first two lines; return the document's version. Raise NewerFile or BrokenDocument."""
        first = self._text(next(rest))
        try:
            head = self._json(first.rstrip(",") + "}")
        except BrokenDocument:
            head = None
        if first.startswith(MARKDOWN):
            raise BrokenDocument(
                f"{self.name} is an export as Markdown, for people, which cannot be imported.",
                "Export the other memory as JSON: memoranda export FILE.json.gz",
            )
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            broken = self.broken("it is not an export of Memoranda, or was rewritten by another program")
            raise BrokenDocument(broken.message, f"{_NOTHING} {_OTHERS}")
        version, schema = head.get("version"), head.get("schema")
        if type(version) is not int or type(schema) is not int or version < 1 or schema < 1:
            raise self.broken("its first line names no version")
        if version > VERSION or schema > SCHEMA_VERSION:
            raise newer(self.name)
        self.schema = schema
        if self._text(next(rest)).replace(" ", "") != '"tables":{':
            raise self.broken("line 2 is not the beginning of the tables")
        return version

    def _rows(
        self, table: str, rest: Iterator[bytes], section: "Any", state: "_Section"
    ) -> "Iterator[tuple[int, Pairs]]":
        number, more = 0, True
        for line in rest:
            stripped = line.strip()
            if stripped in (b"]", b"],"):
                if more and number:
                    raise self.broken(f"{table}, row {number}: a comma and no row behind it")
                state.closed, state.more = True, stripped == b"],"
                return
            section.update(line)
            if not stripped:
                continue
            number += 1
            self._where = f"{table}, row {number}"
            if not more:
                raise self.broken(f"{self._where}: no comma stands before it")
            more = stripped.endswith(b",")
            pairs = self._json(self._text(line).rstrip(","), self._where)
            if not isinstance(pairs, list) or not all(type(pair) is tuple for pair in pairs):
                raise self.broken(f"{self._where} is not an object")
            yield number, pairs

    def _tail(self, rest: Iterator[bytes], version: int, found: dict[str, str], whole: "Any") -> None:
        """Read what follows the tables, and compare the checksums."""
        self._where = "the tables"
        text = ""
        for line in rest:
            text += self._text(line)
            if text.endswith("}") and line.strip() == b"}":
                break
            if len(text) > MAX_LINE:
                raise self.broken("what follows the tables has no end")
        if not text.startswith("},"):
            raise self.broken(f"line {self._line}: the tables are not closed")
        tail = self._json("{" + text[2:], "what follows the tables", plain=True)
        sequence = tail.get("sequence")
        whole_numbers = isinstance(sequence, dict) and all(map(_counter, sequence.values()))
        if not whole_numbers:
            raise self.broken("its sequence is not one of whole numbers")
        self.sequence = {name: last for name, last in sequence.items() if name in TABLES}
        if version == 1:
            return
        sums = tail.get("checksums")
        for table, digest in found.items():
            if not isinstance(sums, dict) or sums.get(table) != digest:
                raise self.broken(f"the checksum of {table} is another, so it was changed since it was written")
        if set(sums or ()) != set(found):
            raise self.broken("a table is missing")
        if tail.get("checksum") != whole.hexdigest():
            raise self.broken("its checksum is another, so it was changed since it was written")

    def _text(self, line: bytes) -> str:
        try:
            return line.decode().strip()
        except UnicodeDecodeError:
            raise self.broken(f"line {self._line} is not UTF-8") from None

    def _json(self, text: str, where: str = "", plain: bool = False) -> "Any":
        where = where or f"line {self._line}"
        try:
            found = (_PLAIN if plain or not self.schema else _PAIRS).decode(text)
            if "\\ud" in text or "\\uD" in text:  # an unpaired surrogate can only come as an escape
                json.dumps(found, ensure_ascii=False).encode()
            return found
        except UnicodeEncodeError:
            raise self.broken(f"{where} holds half of a character, which is not text") from None
        except _Unread as error:
            raise self.broken(f"{where}: {error}") from None
        except RecursionError:
            raise self.broken(f"{where} is nested too deeply") from None
        except ValueError:  # not JSON, or a number of thousands of digits
            raise self.broken(f"{where} is not JSON, or only a part of a row") from None


def _counter(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


class _Section:
    """The end of a table: whether it was reached, and whether another table follows."""

    __slots__ = ("closed", "more")

    def __init__(self) -> None:
        self.closed = self.more = False


class _Unread(Exception):
    """A word that JSON does not have, or a duplicate name."""


def _constant(word: str) -> float:
    raise _Unread(f"{word} is not a number")


def _unique(pairs: "Pairs") -> "dict[str, Any]":
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unread("a name is there twice")
    return found


_PAIRS = json.JSONDecoder(object_pairs_hook=list, parse_constant=_constant)
_PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


class MemoryFile:
    """A memory file as a source: a backup, or the file of another project. It is only read."""

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self.path = path
        self.schema = 0
        self.sequence: dict[str, int] = {}

    def broken(self, says: str) -> BrokenDocument:
        return BrokenDocument(f"{self.name} cannot be imported: {says}.", _NOTHING)

    def sections(self) -> "Iterator[tuple[str, Iterator[tuple[int, Pairs]]]]":
        """Yield as `Document.sections` does, from one moment of the file."""
        try:
            connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
        except apsw.Error:
            raise self.broken("SQLite cannot open it") from None
        try:
            guard(connection)
            if connection.pragma("application_id") != APPLICATION_ID:
                raise self.broken("it is a database of another program")
            self.schema = connection.pragma("user_version")
            if self.schema > SCHEMA_VERSION:
                raise newer(self.name)
            with moment(connection) as still:
                for table in TABLES:
                    yield table, self._rows(still, table)
                counters = still.execute("SELECT name, seq FROM sqlite_sequence")
                self.sequence = {name: last for name, last in counters if name in TABLES}
        except DAMAGE:
            raise self._damaged() from None
        except apsw.BusyError:
            raise self.broken("another program keeps it busy") from None
        finally:
            connection.close()

    def _rows(self, connection: apsw.Connection, table: str) -> "Iterator[tuple[int, Pairs]]":
        try:  # the caller reads these rows, and would take an error for one of its own file
            columns = columns_of(connection, table)
            if not columns:
                return  # an older schema had no such table
            names = [column.name for column in columns]
            keys = ", ".join(column.name for column in sorted(columns, key=lambda column: column.key) if column.key)
            rows = connection.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {keys}")
            for number, row in enumerate(rows, start=1):
                plain = (value.hex() if isinstance(value, bytes) else value for value in row)
                yield number, list(zip(names, plain, strict=True))
        except DAMAGE:
            raise self._damaged() from None

    def _damaged(self) -> BrokenDocument:
        return BrokenDocument(
            f"{self.name} cannot be imported: it is damaged.",
            f"{_NOTHING} `memoranda salvage {quote(self.path)}` writes what can be read of it to a new file.",
        )


def newer(name: str) -> NewerFile:
    return NewerFile(
        f"{name} was written by a newer Memoranda, and cannot be imported here.",
        "Upgrade this one: pip install --upgrade memoranda.",
    )
