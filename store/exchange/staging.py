"""A document's rows beside the memory: checked, redacted, in a private scratch database.

Nothing is decided before a whole document is staged, its references resolve and its checksums are right. The scratch
file is private, unlinked as soon as it is open (a killed process leaves nothing), and of any size.
"""

import os
from collections.abc import Iterator
from hashlib import sha256

import apsw

from store.base.errors import StorageError
from store.database.connection import explain
from store.database.database import Database
from store.database.schema.version import SCHEMA_VERSION
from store.database.writing.change_capture import framed
from store.exchange.export_reader import Document, MemoryFile
from store.exchange.export_schema import TABLES, ExportColumn, columns_of
from store.exchange.row_validation import ValidatedRows, Wrong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "staged"
# what must be unique in a table, besides its primary key
ALONE = {"commits": ("sha",), "turns": ("session", "number"), "summaries": ("session", "first")}


class Staged:
    """A document's rows, attached to a memory's connection as `staged`; to be closed."""

    def __init__(self, database: Database, source: Document | MemoryFile) -> None:
        """Read all of it. Raise BrokenDocument, NewerFile or StorageError."""
        self.database = database
        self.source = source
        self.columns: dict[str, tuple[ExportColumn, ...]] = {
            table: columns_of(database.connection, table) for table in TABLES
        }
        self.redacted: dict[tuple[str, str, str], int] = {}  # by table, column and rule
        self.ahead: dict[str, int] = {}
        """How many rows of a table have a time in the future."""
        self.torn = ""
        """Where the document's history is inconsistent; empty if it is not."""
        self._chain = _Chain()
        self._connection = database.connection
        try:
            self._attach()
            self._prepare()
            self._fill()
            for table in TABLES:
                self._alone(table)
            self._whole()
        except apsw.Error as error:
            self.close()
            raise explain(error, database.path) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Detach the scratch database. An error of the disk here was reported before, or comes after all is done."""
        try:
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
            self._let_go()
        except apsw.Error:
            pass  # the file has no name any more, and the next import detaches it first

    def _let_go(self) -> None:
        if self._connection.execute("SELECT 1 FROM pragma_database_list WHERE name = ?", (NAME,)).get:
            self._connection.execute(f"DETACH {NAME}")

    def count(self, table: str) -> int:
        found: int = self.database.value(f"SELECT count(*) FROM {NAME}.{table}")
        return found

    def _attach(self) -> None:
        path = os.path.join(os.path.dirname(self.database.path), f".import-{os.urandom(6).hex()}")
        self._let_go()
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
            try:
                self._connection.execute(f"ATTACH ? AS {NAME}", (path,))
                self._connection.execute(f"SELECT 1 FROM {NAME}.sqlite_schema").fetchall()  # this opens it
            finally:
                os.unlink(path)
        except OSError as error:
            folder = os.path.dirname(path)
            raise StorageError(
                f"Nothing can be written to {folder}: {error.strerror}.", "Nothing was changed."
            ) from None

    def _prepare(self) -> None:
        self._connection.execute(f"PRAGMA {NAME}.journal_mode = OFF")
        self._connection.execute(f"PRAGMA {NAME}.synchronous = OFF")
        self._connection.execute(f"CREATE TABLE {NAME}.sequence(name TEXT PRIMARY KEY, seq INTEGER)")

    def _fill(self) -> None:
        connection = self._connection
        for table, columns in self.columns.items():
            names = ", ".join(f"{column.name} {column.kind}" for column in columns)
            connection.execute(f"CREATE TABLE {NAME}.{table}(line INTEGER PRIMARY KEY, {names})")
        connection.execute("BEGIN")
        for table, rows in self.source.sections():
            columns = self.columns[table]
            marks = ", ".join("?" * (len(columns) + 1))
            connection.executemany(f"INSERT INTO {NAME}.{table} VALUES ({marks})", self._checked(table, rows))
            if table in ("history", "history_row"):
                self._index(table)
        connection.executemany(f"INSERT INTO {NAME}.sequence VALUES (?, ?)", self.source.sequence.items())
        connection.execute("COMMIT")

    def _checked(self, table: str, rows: "Iterator[tuple[int, Any]]") -> "Iterator[list[Any]]":
        check = ValidatedRows(table, self.columns[table], 0 < self.source.schema < SCHEMA_VERSION)
        moments = [place for place, column in enumerate(check.columns) if column.moment]
        now = self.database.clock()
        ahead = 0
        for number, pairs in rows:
            try:
                row = check.row(pairs)
            except Wrong as error:
                raise self.source.broken(f"{table}, row {number}: {error}") from None
            if table in ("history", "history_row") and not self.torn:
                self.torn = self._chain.follow(self._connection, table, check.names, pairs, row)
            if any(row[place] is not None and row[place] > now for place in moments):
                ahead += 1
            yield [number, *row]
        self.redacted.update(check.redacted)
        if ahead:
            self.ahead[table] = ahead

    def _index(self, table: str) -> None:
        """Create the index of a table's key. Raise BrokenDocument where two rows have the same."""
        keys = [column.name for column in sorted(self.columns[table], key=lambda column: column.key) if column.key]
        for names in (keys, ALONE.get(table)):
            if not names:
                continue
            listed = ", ".join(names)
            twice = self._connection.execute(
                f"SELECT max(line) FROM {NAME}.{table} GROUP BY {listed} HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
            ).get
            if twice is not None:
                raise self.source.broken(f"{table}, row {twice}: another row has the same {' and '.join(names)}")
            self._connection.execute(f"CREATE UNIQUE INDEX {NAME}.{table}_{names[0]} ON {table}({listed})")

    def _alone(self, table: str) -> None:
        if table not in ("history", "history_row"):
            self._index(table)

    def _whole(self) -> None:
        """Raise BrokenDocument where a row refers to one that does not exist; record a history that breaks off."""
        for table in TABLES:
            for column, parent in self.database.rows(
                'SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)
            ):
                if parent not in TABLES:
                    continue
                key = next(other.name for other in self.columns[parent] if other.key == 1)
                line = self.database.value(
                    f"SELECT min(line) FROM {NAME}.{table} AS c WHERE {column} IS NOT NULL"
                    f" AND NOT EXISTS (SELECT 1 FROM {NAME}.{parent} AS p WHERE p.{key} = c.{column})"
                )
                if line is not None:
                    raise self.source.broken(f"{table}, row {line}: {column} refers to a row that is not there")
        self.torn = self.torn or self._chain.end(self._connection) or whole_history(self._connection)
        for table in TABLES:
            key = next((column.name for column in self.columns[table] if column.name in ("id", "seq")), "")
            if not key:
                continue
            highest = self.database.value(f"SELECT max({key}) FROM {NAME}.{table}") or 0
            if highest > (self.source.sequence.get(table) or 0) and table in self.source.sequence:
                raise self.source.broken(f"the sequence of {table} is behind its rows")


class _Chain:
    """Verify the digests of a document's history, step by step and row by row, and compute those of the stored rows,
    which differ only where a word of a step's own line was redacted."""

    def __init__(self) -> None:
        self._read = self._made = b""
        self._seq = 0  # the step whose rows are being read
        self._leaves = sha256()
        self._count = 0

    def follow(
        self, connection: apsw.Connection, table: str, names: "tuple[str, ...]", pairs: "Any", row: "list[Any]"
    ) -> str:
        """Check one row; return what does not fit, else an empty text."""
        raw = dict(pairs)
        kept = dict(zip(names, row, strict=True))
        return self._step(names, raw, kept, row) if table == "history" else self._row(connection, raw, kept)

    def _step(self, names: "tuple[str, ...]", raw: "dict[str, Any]", kept: "dict[str, Any]", row: "list[Any]") -> str:
        digests = []
        for previous, step in ((self._read, raw), (self._made, kept)):
            head = [step[name] for name in ("seq", "at", "actor", "door", "reason", "undoes", "changes")]
            try:
                digests.append(sha256(previous + framed(*head) + kept["rows_root"]).digest())
            except UnicodeEncodeError:  # an unpaired surrogate
                return f"step {kept['seq']}"
        self._read, self._made = digests
        row[names.index("digest")] = self._made
        return "" if digests[0] == kept["digest"] else f"step {kept['seq']}"

    def _row(self, connection: apsw.Connection, raw: "dict[str, Any]", kept: "dict[str, Any]") -> str:
        if kept["seq"] != self._seq:
            if torn := self.end(connection):
                return torn
            self._seq, self._leaves, self._count = kept["seq"], sha256(), 0
        self._leaves.update(kept["leaf"])
        self._count += 1
        if raw["salt"] is None:  # purged
            return ""
        words = [raw[name] for name in ("tbl", "pk", "op", "indirect", "before", "after")]
        try:
            same = sha256(bytes.fromhex(raw["salt"]) + framed(*words)).digest() == kept["leaf"]
        except UnicodeEncodeError:
            same = False
        return "" if same else f"row {kept['n']} of step {self._seq}"

    def end(self, connection: apsw.Connection) -> str:
        """Compare the rows of the finished step with its header; return what differs, else an empty text."""
        if self._seq:
            stored = connection.execute(
                f"SELECT rows_root, changes FROM {NAME}.history WHERE seq = ?", (self._seq,)
            ).get
            if stored is None or stored[0] != self._leaves.digest() or stored[1] != self._count:
                return f"the rows of step {self._seq}"
        return ""


def whole_history(connection: apsw.Connection) -> str:
    """Return the first step of the staged history that has lost all its rows; an empty text if none has."""
    lost = connection.execute(
        f"SELECT seq FROM {NAME}.history AS h WHERE changes > 0"
        f" AND NOT EXISTS (SELECT 1 FROM {NAME}.history_row AS r WHERE r.seq = h.seq) ORDER BY seq LIMIT 1"
    ).get
    return f"the rows of step {lost}" if lost is not None else ""
