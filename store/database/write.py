"""The one door through which a memory is written.

`with database.write(actor, reason) as write:` is one immediate transaction: the work, its redaction, its history.
Whoever holds a `Write` cannot forget any of the three.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

import apsw

from store.clock import Clock, utc_now
from store.database import capture
from store.database.connection import SCHEMA_VERSION, connect, explain, newer
from store.database.tables import RECORDED
from store.errors import InvalidInput, MemorandaError, StorageError, ThePast
from store.redaction import redact, redact_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any, TypeVar

    Read = TypeVar("Read")


class Verbatim(str):
    """Text that may reach the disk unredacted: ids, words of a closed list, hashes, times. Never a person's words."""

    __slots__ = ()


class Json:
    """A JSON value for a TEXT column: redacted string by string, at any depth, before it is written out."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


Value = int | float | str | bytes | Json | None


def clean(text: str) -> str:
    """Text as it may be stored: redacted, and free of what SQLite or UTF-8 cannot hold."""
    return redact(_storable(text))


def _storable(text: str) -> str:
    """NUL ends a text early in SQLite's functions, and a lone surrogate is not UTF-8: both become U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "�")


def _identity(path: str) -> tuple[int, int] | None:
    """Which file a name means now; None when there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _keys(rows: "Iterator[tuple[int]]") -> "array[int]":
    """The rows' one column. APSW gives the GIL up at every row, so another thread's key waits for no page of them;
    SQLite packing all into one value would be twice as fast and takes 30 MB at a million."""
    from itertools import chain, islice

    from store.database.order import CHUNK, packed

    column = chain.from_iterable(rows)
    return packed(iter(lambda: tuple(islice(column, CHUNK)), ()))


def _text(value: object) -> object:
    return _storable(value) if isinstance(value, str) else value


class Database:
    """One connection to a memory, for one thread at a time.

    `door` is the front door it was opened by (vocabulary.DOORS); `read_only` files answer reads and refuse writes.
    """

    __slots__ = (
        "_file",
        "_writing",
        "clock",
        "connection",
        "door",
        "last_step",
        "moment",
        "path",
        "read_only",
        "warnings",
    )

    def __init__(self, path: str, door: str, clock: Clock = utc_now, create: bool = True) -> None:
        self.path = path
        self.door = door
        self.clock = clock
        self._writing = False
        self.last_step: int | None = None  # the step of history that was last made here
        self.moment = ""  # of the past that is shown here, in words; empty is now (store/past.py)
        self.connection, self.read_only, self.warnings = connect(path, create)
        self._file = _identity(path)
        try:
            if not self.read_only and self.connection.pragma("user_version") < SCHEMA_VERSION:
                from store.database.migrations import migrate

                migrate(self.connection, clock)
        except apsw.Error as error:
            self.connection.close()
            raise explain(error, path) from None

    def rows(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> "list[tuple[Any, ...]]":
        """Every row of a query, read to its end: a reader never keeps a transaction open."""
        return self._read(list, sql, parameters)

    def keys(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> "array[int]":
        """The one column of a query, whole numbers all, in its order, as an array: 4 bytes a row (8 if a number needs
        them), where a list of rows takes 90. To be read on a thread that is not the screen's."""
        return self._read(_keys, sql, parameters)

    def _read(
        self,
        take: "Callable[[Iterator[tuple[Any, ...]]], Read]",
        sql: str,
        parameters: Sequence[object] | dict[str, object],
    ) -> "Read":
        try:
            return take(self.connection.execute(sql, parameters))
        except UnicodeEncodeError:  # bytes of a command line that are no text: look for what would be stored of them
            if isinstance(parameters, dict):
                return self._read(take, sql, {name: _text(value) for name, value in parameters.items()})
            return self._read(take, sql, [_text(value) for value in parameters])
        except apsw.InterruptError:
            raise
        except apsw.Error as error:
            raise explain(error, self.path) from None

    def row(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> "tuple[Any, ...] | None":
        """The first row of a query, or None."""
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def value(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> "Any":
        """The first column of the first row; None if there is none."""
        row = self.row(sql, parameters)
        return row[0] if row else None

    def write(self, actor: str, reason: str) -> "Write":
        """One transaction by `actor` (an origin: user, agent, import:x …) because of `reason` (a verb, no text)."""
        return Write(self, actor, reason)

    def changed(self) -> int:
        """A number that changes when another connection has written."""
        version: int = self.connection.pragma("data_version")
        return version

    def interrupt(self) -> None:
        """Stop the query that another thread is running here."""
        self.connection.interrupt()

    def close(self) -> None:
        self.connection.close()


class Write:
    """A transaction under way. `at` is its moment, `seq` the step of history it became (None if nothing recorded)."""

    __slots__ = ("_connection", "_session", "actor", "at", "database", "reason", "seq", "undoes")

    def __init__(self, database: Database, actor: str, reason: str) -> None:
        self.database = database
        self.actor = clean(actor)
        self.reason = reason
        self.seq: int | None = None
        self.undoes: int | None = None
        self.at = ""
        self._connection = database.connection
        self._session: Any = None

    def __enter__(self) -> "Write":
        database = self.database
        if database.moment:
            raise ThePast(database.moment)
        if database.read_only:
            if self._connection.pragma("query_only"):
                raise newer(database.path)
            raise StorageError(f"{database.path} may only be read.", "Look at its permissions.")
        if database._writing:
            raise RuntimeError("a write inside a write: pass the Write along instead")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise explain(error, database.path) from None
        if _identity(database.path) != database._file:  # what is written to a deleted file is lost without a word
            self._connection.execute("ROLLBACK")
            raise StorageError(
                f"{database.path} was deleted, moved or replaced while it was open here.",
                "Nothing was changed; close Memoranda and open it again.",
            )
        try:
            self.at = database.clock()
            # a new session for each transaction: one kept across swallows the changes of other processes
            self._session = apsw.Session(self._connection, "main")
            for table in RECORDED:
                self._session.attach(table)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        database._writing = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
        except BaseException as late:
            error = late
            if not isinstance(late, apsw.Error):
                raise
        finally:
            self._session.close()
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
            self.database._writing = False
        if isinstance(error, apsw.Error):
            raise explain(error, self.database.path) from None

    def _commit(self) -> None:
        changeset = self._session.changeset()
        if changeset or self.undoes is not None:
            header = capture.Header(self.at, self.actor, self.database.door, clean(self.reason), self.undoes)
            self.seq = capture.append(self._connection, changeset, header)
        self._connection.execute("COMMIT")
        if self.seq is not None:
            self.database.last_step = self.seq

    def execute(self, sql: str, parameters: Sequence[Value] | None = None) -> "apsw.Cursor":
        """Run one statement; every `str` among the parameters is redacted, unless it is Verbatim."""
        return self._connection.execute(sql, None if parameters is None else tuple(map(_bind, parameters)))

    def rows(self, sql: str, parameters: Sequence[Value] | None = None) -> "Iterator[tuple[Any, ...]]":
        """`execute`, as its rows."""
        return iter(self.execute(sql, parameters))

    def insert(self, table: str, **columns: Value) -> int:
        """Insert one row and return its id. Table and column names are ours, never a person's."""
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        self.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", tuple(columns.values()))
        return self._connection.last_insert_rowid()

    def apply(self, changeset: bytes, conflict: "Callable[[int, apsw.TableChange], int]") -> None:
        """Apply a changeset to the recorded tables, as part of this transaction, which must be abandoned if it fails;
        see `history`."""
        # a long apply holds the GIL; giving it up every 20,000 steps keeps a screen alive (stalls of 9.8 s → 10 ms)
        self._connection.set_progress_handler(_breathe, 20_000)
        try:
            apsw.Changeset.apply(
                changeset,
                self._connection,
                conflict=conflict,
                # within a savepoint FTS5 writes its index out at each row: 10,000 rows took six times as long
                flags=apsw.SQLITE_CHANGESETAPPLY_FKNOACTION | apsw.SQLITE_CHANGESETAPPLY_NOSAVEPOINT,
            )
        finally:
            self._connection.set_progress_handler(None)


def _breathe() -> bool:
    """Let another thread have the GIL; false tells SQLite to go on."""
    time.sleep(0)
    return False


def _bind(value: Value) -> int | float | str | bytes | None:
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Json):
        return _dump(value.value)
    return value


def _dump(value: object) -> str:
    if value == []:
        return "[]"
    import json  # 6 ms with the `re` it needs: most facts have neither tags nor evidence

    try:
        text = json.dumps(redact_tree(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except MemorandaError:
        raise
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "That value cannot be written as JSON.",
            "Use texts, finite numbers, lists and objects, not nested too deeply.",
        ) from None
    return _storable(text)
