"""Connections and write transactions.

`with database.write(actor, reason) as write:` is one immediate transaction: the work, its redaction, its history. A
`Transaction` always does all three.
"""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from itertools import chain, islice
from types import TracebackType
from typing import Any, Protocol, TypeVar

import apsw

from store.base.clock import Clock, from_ms, to_ms, utc_now
from store.base.errors import MemorandaError, NotOurs, PastIsReadOnly, StorageError
from store.base.runtime import read_file_identity
from store.base.vocabulary import KIND_BY_TABLE, KIND_NUMBERS, pack_key
from store.database import wal
from store.database.change_capture import StepHeader, append_step
from store.database.connection import (
    DEFAULT_BUSY_MS,
    HOOK_BUSY_MS,
    explain_sqlite_error,
    newer_file_error,
    open_connection,
)
from store.database.schema import RECORDED_TABLES, SCHEMA_VERSION, can_upgrade_from, upgrade_schema
from store.database.values import (
    RedactionPlace,
    SqlValue,
    Verbatim,
    bind_value,
    clean_text,
    execute_with_markers,
    make_storable,
    repair_rows,
    store_redactions,
    take_cut_rules,
)
from store.database.wal import (
    CRASH_COUNT_KEY,
    LAST_CRASH_KEY,
    WalRelief,
    WriterTurn,
    take_recoveries,
    truncate_wal,
)
from store.git.checkout import CheckoutPlace
from store.redaction import REDACTION_MARKER

# whose inserts are noted with the checkout in which they were made
PLACED_TABLES = ("facts", "decisions", "tasks", "proposals", "iterations", "events", "turns")
# the checkout in which a record was made, by its key
MADE_IN_SQL = "made_in JOIN checkouts ON checkouts.id = made_in.checkout"
_LOST_COMMIT = (
    f"SELECT 1 FROM {MADE_IN_SQL} JOIN commits ON made_in.key = commits.id * 16 + {KIND_NUMBERS['commit']}"
    " WHERE branch = ? AND NOT reachable LIMIT 1"
)

# The order of a long list: only the keys of its rows, packed.

# keys that are read before other threads get the GIL
KEYS_PER_CHUNK = 4096


def pack_integers(chunks: Iterable[Iterable[int]]) -> array[int]:
    """Pack integers in one array: 4 bytes each, 8 if one of them needs those.

    It is allocated in one piece of the right size, and freed whole: one that grew would leave gaps of its earlier
    sizes.
    """
    parts = []
    for chunk in chunks:
        numbers = list(chunk)
        try:
            parts.append(array("I", numbers))
        except OverflowError:
            parts.append(array("q", numbers))
        time.sleep(0)
    code = "q" if any(part.typecode == "q" for part in parts) else "I"
    place = sum(map(len, parts))
    whole = array(code, [0]) * place
    while parts:
        part = parts.pop()
        place -= len(part)
        whole[place : place + len(part)] = part if part.typecode == code else array(code, part)
    return whole


Read = TypeVar("Read")


class TrustCheck(Protocol):
    """Decide whether a file may be opened (`admit` raises NotOurs), and record a new one, and a copy of it."""

    def admit(self, connection: apsw.Connection) -> None: ...

    def register_new_file(self, connection: apsw.Connection) -> None: ...

    def register_copy(self, path: str) -> None: ...


Convert = Callable[["Database", TrustCheck | None], None]


# wait for readers when the log is emptied
WAL_READER_WAIT_MS = 250


def _pack_column(rows: Iterator[tuple[int]]) -> array[int]:
    """Yield the rows' one column. APSW releases the GIL at every row, so another thread's key press does not wait for a
    page of them; packing all into one value in SQLite would be twice as fast and takes 30 MB at a million."""
    column = chain.from_iterable(rows)
    return pack_integers(iter(lambda: tuple(islice(column, KEYS_PER_CHUNK)), ()))


def _storable_parameter(value: object) -> object:
    """Return a parameter as it would be stored: a text that SQLite cannot hold is repaired."""
    return make_storable(value) if isinstance(value, str) else value


class Database:
    """One connection to a memory, for one thread at a time.

    `door` is the door it was opened by (vocabulary.DOORS); `read_only` files can be read and refuse writes. With `look`
    the file belongs to somebody else, and nothing is written to it or beside it; `trust` decides whether a file may be
    opened, and records a new one; `convert` converts one of an earlier build, or shows one that may only be read.
    """

    def __init__(
        self,
        path: str,
        door: str,
        clock: Clock = utc_now,
        create: bool = True,
        look: bool = False,
        trust: TrustCheck | None = None,
        convert: Convert | None = None,
    ) -> None:
        self.path = path
        self.door = door
        self.look = look
        self.clock = clock
        # the step that further writes belong to
        self._joined: Transaction | None = None
        self._writing = False
        self.cut: dict[
            RedactionPlace, int
        ] = {}  # what the transactions of this connection cut, until it is reported
        # what the readers of this connection keep between calls, by name
        self.caches: dict[str, Any] = {}
        # the newest step of history of this connection
        self.last_step: int | None = None
        # the person's own memory, once it is asked for (store/personal/memory.py)
        self.beside: Database | None = None
        # the checkout in which it is used, of its project
        self.here: CheckoutPlace | None = None
        # the moment of the past that is shown, in words; empty for now (store/upkeep/as_of.py)
        self.moment = ""
        self.patience = HOOK_BUSY_MS if door == "hook" else DEFAULT_BUSY_MS
        admit = None if trust is None else trust.admit
        self.connection, self.read_only, self.warnings = open_connection(path, create, self.patience, look, admit)
        try:
            if look:
                whose = f"You are looking at {path}, which may be anybody's"
                self.warnings.append(f"{whose}: nothing of it is changed or run.")
            elif held := wal.held_wal_warning(path):
                self.warnings.append(held)
            self._relief = WalRelief()
            self._file = read_file_identity(path)
            if (version := self.connection.pragma("user_version")) < SCHEMA_VERSION:
                if can_upgrade_from(version) and not self.read_only:
                    upgrade_schema(self.connection, clock, None if trust is None else trust.register_new_file)
                elif convert is not None:
                    convert(self, trust)
                else:
                    step = "Any command that opens it, as `memoranda list`, brings it up to date."
                    raise StorageError(f"{path} was written by an older Memoranda.", step)
                if trust is not None and not self.read_only:
                    # another process may have created the file meanwhile
                    trust.admit(self.connection)
        except BaseException as error:
            self.connection.close()
            if not isinstance(error, (apsw.Error, UnicodeDecodeError)):
                raise
            raise explain_sqlite_error(error, path) from None
        self._turn = WriterTurn(self.connection)

    def rows(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[tuple[Any, ...]]:
        """Return every row of a query, read to its end: no read transaction is left open."""
        return self._run_query(list, sql, parameters)

    def column(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Any]:
        """Return the one column of a query, in its order."""
        return self._run_query(lambda rows: [value for (value,) in rows], sql, parameters)

    def keys(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> array[int]:
        """Return the one column of a query, integers, in its order, as an array: 4 bytes a row (8 if a number needs
        them), where a list of rows takes 90. Not to be called on the thread of the screen."""
        return self._run_query(_pack_column, sql, parameters)

    def _run_query(
        self,
        take: Callable[[Iterator[tuple[Any, ...]]], Read],
        sql: str,
        parameters: Sequence[object] | dict[str, object],
    ) -> Read:
        """Run a query and return what `take` makes of its rows; text that is not UTF-8 is repaired. Raise
        MemorandaError."""
        try:
            return take(self.connection.execute(sql, parameters))
        except (
            UnicodeEncodeError
        ):  # bytes of a command line that are not text: look for what would be stored of them
            if isinstance(parameters, dict):
                return self._run_query(
                    take, sql, {name: _storable_parameter(value) for name, value in parameters.items()}
                )
            return self._run_query(take, sql, [_storable_parameter(value) for value in parameters])
        except UnicodeDecodeError:
            try:
                return take(repair_rows(self.connection, sql, parameters))
            except UnicodeDecodeError as error:  # in a function of ours
                raise explain_sqlite_error(error, self.path) from None
        except apsw.InterruptError:
            raise
        except apsw.Error as error:
            raise explain_sqlite_error(error, self.path) from None

    def row(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def value(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self.row(sql, parameters)
        return row[0] if row else None

    def number(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> int:
        """Return the number in the first column of the first row; 0 if there is none."""
        return int(self.value(sql, parameters) or 0)

    def newest_step(self) -> int:
        """Return the number of the newest step of history; 0 before the first."""
        return self.number("SELECT max(seq) FROM history")

    def get_meta(self, key: str) -> str:
        """Return a value of the table `meta`; empty if it is not set."""
        return str(self.value("SELECT value FROM meta WHERE key = ?", (key,)) or "")

    def get_count(self, key: str) -> int:
        """Return a count of the table `meta`; 0 if it is not set."""
        return int(self.get_meta(key) or 0)

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Read everything inside at one moment, whatever is written meanwhile. Keep it short: an open reader keeps the
        log from being emptied."""
        own, end = self.connection.get_autocommit(), "ROLLBACK"
        if own:
            self.connection.execute("BEGIN")
        try:
            yield
            # what this connection made for itself, a view of packed history for example, is kept
            end = "COMMIT"
        finally:
            # a failing disk ends it
            if own and not self.connection.get_autocommit():
                self.connection.execute(end)

    def write(self, actor: str, reason: str, key: str = "") -> AbstractContextManager[Transaction]:
        """Begin a transaction by `actor` (an origin: user, agent, import:x …) because of `reason` (a verb, no text), or
        join the one of a `step`. A writer that may retry gives a `key`; see `Transaction.earlier_answer`."""
        if self._joined is None:
            return Transaction(self, actor, reason, key)
        if key:
            raise RuntimeError("what has a key is a step of its own")
        # SQLite took it back itself: the disk was full
        if self.connection.get_autocommit():
            raise StorageError("Several changes were to be one, and the first failed.", "Nothing was changed.")
        return nullcontext(self._joined)

    @contextmanager
    def step(self, actor: str, reason: str) -> Iterator[None]:
        """Make one step of history of all that is written inside, by however many functions; if one of them fails,
        nothing is changed. Inside of another step it is a part of that."""
        if self._joined is not None:
            yield
            return
        with Transaction(self, actor, reason) as self._joined:
            try:
                yield
            finally:
                self._joined = None

    def delete_before(self, table: str, column: str, moment: str, reason: str) -> int:
        """Delete the rows whose `column` is before a moment; return how many. Write nothing where there is none."""
        where = f"FROM {table} WHERE {column} < ?"
        if not self.value(f"SELECT 1 {where} LIMIT 1", (moment,)):
            return 0
        with self.write("agent", reason) as write:
            write.execute(f"DELETE {where}", (Verbatim(moment),))
            return write.changed_rows()

    def refuse_unwritable(self) -> None:
        """Raise NotOurs, NewerFile or StorageError if this file is read-only."""
        if self.look:
            raise NotOurs(
                f"{self.path} is only looked at: nothing in it can be changed.",
                "`memoranda import --adopt` takes it, whole or as proposals.",
            )
        if self.read_only:
            if self.connection.pragma("user_version") > SCHEMA_VERSION:
                raise newer_file_error(self.path)
            raise StorageError(f"{self.path} may only be read.", "Look at its permissions and its folder's.")

    def branch_note(self, branch: str) -> str:
        """Return what to say of a record that was made on a branch: nothing if it is the current one, or was merged and
        removed."""
        if self.here is None or not branch or branch == self.here.branch:
            return ""
        if self.here.has_branch(branch):
            return f"on {branch}"
        return f"on {branch}, removed unmerged" if self.value(_LOST_COMMIT, (branch,)) else ""

    def data_version(self) -> int:
        """Return a number that changes when another connection has written, here or in the person's own memory."""
        version: int = self.connection.pragma("data_version")
        return version if self.beside is None else version + self.beside.data_version()

    def is_replaced(self) -> bool:
        """Return whether the file that is open here was deleted, moved or replaced."""
        return read_file_identity(self.path) != self._file

    def checkpoint_wal(self) -> bool:
        """Write the log into the file and truncate it; return False while a reader of any process holds it."""
        try:
            return truncate_wal(self.connection, WAL_READER_WAIT_MS, self.patience)
        except apsw.Error as error:
            raise explain_sqlite_error(error, self.path) from None

    def vacuum(self) -> None:
        """Rewrite the whole file, so that it contains only what is stored. Raise StorageError."""
        try:
            self.connection.execute("VACUUM")
        except apsw.Error as error:
            raise explain_sqlite_error(error, self.path, self.patience) from None
        self.checkpoint_wal()

    def interrupt(self) -> None:
        """Interrupt the query that another thread is running here."""
        self.connection.interrupt()
        if (other := self.beside) is not None:
            other.interrupt()

    def keep_wal(self) -> None:
        """Leave the log beside the file when this connection is closed as the last: to write it into the file takes two
        flushes of the disk, and another two to begin a new one. The next program that closes the memory does it."""
        self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def close(self) -> None:
        if self.beside is not None:
            self.beside.close()
            self.beside = None
        self.connection.close()


class Transaction:
    """An open transaction. `at` is its time, `seq` its step of history (None if nothing was recorded)."""

    def __init__(self, database: Database, actor: str, reason: str, key: str = "") -> None:
        self.database = database
        self.actor = clean_text(actor)
        self.reason = reason
        self.seq: int | None = None
        self.undoes: int | None = None
        # records, by table and key, of which history may hold no text
        self.purged: set[tuple[str, str]] = set()
        self._key = Verbatim(sha256(key.encode("utf-8", "replace")).hexdigest()) if key else None
        self.at = Verbatim()
        self._connection = database.connection
        self._session: Any = None
        self._adopts = False
        self._cuts: dict[RedactionPlace, int] = {}
        self._discards = False

    def __enter__(self) -> Transaction:
        database = self.database
        if database.moment:
            raise PastIsReadOnly(database.moment)
        database.refuse_unwritable()
        if database._writing:
            raise RuntimeError("a write inside a write: pass the Write along instead")
        try:
            turn = database._turn
            database._relief.relieve(self._connection, database.path, database.patience, turn.log_pages)
            turn.begin(self._connection, database.path, database.patience)
        except apsw.Error as error:
            raise explain_sqlite_error(error, database.path, database.patience) from None
        # writes to a deleted file would be lost silently
        if database.is_replaced():
            self._connection.execute("ROLLBACK")
            database._turn.release_turn()
            raise StorageError(
                f"{database.path} was deleted, moved or replaced while it was open here.",
                "Nothing was changed; close Memoranda and open it again.",
            )
        try:
            self.at = Verbatim(database.clock())
            # a new session for each transaction: one kept for several misses the changes of other processes
            self._session = apsw.Session(self._connection, "main")
            for table in RECORDED_TABLES:
                self._session.attach(table)
        except BaseException:
            self._connection.execute("ROLLBACK")
            database._turn.release_turn()
            raise
        database._writing = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None and not self._discards:
                self._commit_step()
        except BaseException as late:
            error = late
            if not isinstance(late, (apsw.Error, UnicodeDecodeError)):
                raise
        finally:
            self._session.close()
            if not self._connection.get_autocommit():
                self._connection.execute("ROLLBACK")
            self.database._turn.release_turn()
            self.database._writing = False
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise explain_sqlite_error(error, self.database.path, self.database.patience) from None

    def discard(self) -> None:
        """Roll back at the end: for what SQLite calls a write and changes nothing, so that no byte is written."""
        self._discards = True

    def adopt_history(self) -> None:
        """Record no history from here on, as the rows bring their own: an import into a memory without history."""
        if self.execute("SELECT 1 FROM history LIMIT 1").get is not None:
            raise RuntimeError("history can only be adopted by a memory that has none")
        self._session.enabled = False
        self._adopts = True

    def _commit_step(self) -> None:
        """Commit, with the step of history, the recoveries and the cuts that belong to it."""
        changeset = b"" if self._adopts else self._session.changeset()
        if changeset or self.undoes is not None:
            header = StepHeader(self.at, self.actor, self.database.door, clean_text(self.reason), self.undoes)
            known = self.database.caches.setdefault("columns", {})
            self.seq = append_step(self._connection, changeset, header, self.purged, known)
        if recovered := take_recoveries(self.database.path):
            self.add_to_count(CRASH_COUNT_KEY, recovered)
            self.set_meta(LAST_CRASH_KEY, self.at)
        if self._cuts:
            store_redactions(self._connection, self._cuts, self.at, self.actor, self.database.door)
        self._connection.execute("COMMIT")
        if rules := take_cut_rules():
            self.database.cut.update({place: number for place, number in self._cuts.items() if place[3] in rules})
        if self.seq is not None:
            self.database.last_step = self.seq

    def execute(self, sql: str, parameters: Sequence[SqlValue] | None = None) -> apsw.Cursor:
        """Run one statement; every `str` among the parameters is redacted, unless it is Verbatim."""
        if parameters is None:
            return self._connection.execute(sql)
        bound = tuple(map(bind_value, parameters))
        for value in bound:
            if value.__class__ is str and REDACTION_MARKER in value:
                return execute_with_markers(self._connection, sql, bound, self._cuts)
        return self._connection.execute(sql, bound)

    def rows(self, sql: str, parameters: Sequence[SqlValue] | None = None) -> Iterator[tuple[Any, ...]]:
        """Run `execute` and return the rows."""
        return iter(self.execute(sql, parameters))

    def first(self, sql: str, parameters: Sequence[SqlValue] | None = None) -> Any:
        """Run `execute` and return the first row, or its value where it has one; None without a row."""
        return self.execute(sql, parameters).get

    def column(self, sql: str, parameters: Sequence[SqlValue] | None = None) -> list[Any]:
        """Run `execute` and return the one column of the rows."""
        return [value for (value,) in self.execute(sql, parameters)]

    def insert(self, table: str, **columns: SqlValue) -> int:
        """Insert one row and return its id. Table and column names are ours, never a person's."""
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        self.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", tuple(columns.values()))
        number = self._connection.last_insert_rowid()
        if table in PLACED_TABLES:
            self.note_checkout(KIND_BY_TABLE[table], number)
        return number

    def note_checkout(self, kind: str, number: int) -> None:
        """Note on which branch, in which worktree and folder a record is made; outside of a checkout nothing."""
        here = self.database.here
        place = (here.branch, here.worktree, here.folder) if here is not None else ()
        if any(place):
            self.execute("INSERT OR IGNORE INTO checkouts(branch, worktree, folder) VALUES (?, ?, ?)", place)
            find = "SELECT id FROM checkouts WHERE (branch, worktree, folder) = (?, ?, ?)"
            self.execute(f"INSERT OR REPLACE INTO made_in VALUES ({pack_key(kind, number)}, ({find}))", place)

    def set_meta(self, key: str, value: str) -> None:
        """Store a value in the table `meta`; delete the key if the value is empty."""
        if value:
            sql = "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2"
            self.execute(sql, (Verbatim(key), Verbatim(value)))
        else:
            self.execute("DELETE FROM meta WHERE key = ?", (Verbatim(key),))

    def add_to_count(self, key: str, more: int = 1) -> None:
        """Add to a count in the table `meta`."""
        if more:
            sql = "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = value + ?2"
            self.execute(sql, (Verbatim(key), more))

    def changed_rows(self) -> int:
        """Return how many rows the last statement changed."""
        return self._connection.changes()

    def execute_unrecorded(self, sql: str, parameters: Sequence[SqlValue] = ()) -> apsw.Cursor:
        """Run a statement without recording it: for a purge, which rewrites its history as well."""
        self._session.enabled = False
        try:
            return self.execute(sql, parameters)
        finally:
            self._session.enabled = True

    def stop_recording(self) -> None:
        """Record no history of what follows: for a text that must be removed from it too."""
        self._session.enabled = False

    @property
    def earlier_answer(self) -> str | None:
        """Return the result of an earlier write with this key, in which case nothing may be written now; else None."""
        if self._key is None:
            return None
        found: str | None = self.execute("SELECT answer FROM answers WHERE key = ?", (self._key,)).get
        return found

    def store_answer(self, *ids: int) -> None:
        """Store the result of this write, the ids that it made, for a retry with its key."""
        if self._key is not None:
            self.insert("answers", key=self._key, answer=Verbatim(" ".join(map(str, ids))), at=self.at)

    def execute_verbatim(self, sql: str, held: str) -> apsw.Cursor:
        """Run one statement on text from history: it was redacted when it was written, and is not again."""
        return self._connection.execute(sql, (held,))


# The `worker` lease: background work is done by the process that holds it, and a killed holder is soon replaced.
#
# A lease is a row that expires. Its holder renews it inside the transactions in which it works, so a holder that was
# paused and replaced cannot overwrite the work of its successor.

LEASE_MS = 5_000


class LeaseLost(MemorandaError):
    """Another process took over the work."""

    code = "lease-lost"


class Lease:
    """A claim on the work called `name`, by this object alone."""

    def __init__(self, database: Database, name: str = "worker") -> None:
        self._database = database
        self._name = name
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"

    def acquire(self) -> bool:
        """Take the lease if it is free or has expired; return whether it is held."""
        with self._database.write("agent", "lease") as write:
            return self._claim_lease(write)

    def renew(self, write: Transaction) -> None:
        """Extend the lease, in the transaction that does the work. Raise LeaseLost."""
        if not self._claim_lease(write):
            raise LeaseLost("Another process took this work over.")

    def release(self) -> None:
        """Release the lease at once."""
        with self._database.write("agent", "lease") as write:
            mine = (Verbatim(self._name), Verbatim(self._holder))
            write.execute("DELETE FROM leases WHERE name = ? AND holder = ?", mine)

    def _claim_lease(self, write: Transaction) -> bool:
        """Take or extend the lease, in an open transaction; return whether it is held."""
        now = to_ms(write.at)
        row = write.first("SELECT holder, expires_at FROM leases WHERE name = ?", (Verbatim(self._name),))
        if row and row[0] != self._holder:
            left = to_ms(row[1]) - now
            # more time left than a lease can have: the clock was set back, and that holder ended long ago
            if 0 < left <= LEASE_MS:
                return False
        write.execute(
            "INSERT INTO leases(name, holder, expires_at) VALUES (?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at",
            (Verbatim(self._name), Verbatim(self._holder), Verbatim(from_ms(now + LEASE_MS))),
        )
        return True
