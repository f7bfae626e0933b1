"""The write-ahead log: the queue of writers, how the log is emptied, and recoveries after a crash.

The queue of writers: first come, first served, across processes.

SQLite has one writer at a time and no queue: each polls, and one that has waited long polls rarely. So writers queue
for a lock on the memory's folder, which the system grants in order and releases when its holder ends (when a waiting
process ends, those behind it queue again). The holder writes, and releases the lock as soon as the transaction is
committed: the next is woken, and asks SQLite once. The queue is only for fairness: where there can be none, or it does
not move, SQLite's own lock decides as before.
"""

import os
import time
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic, sleep

import apsw

from store.base.runtime import read_file_size

# Recoveries after a crash: how often SQLite recovered a log that a killed process, or a power cut, had left.
#
# SQLite reports it through its log when the file is next opened; the first write of that process records it in `meta`.

CRASH_COUNT_KEY, LAST_CRASH_KEY = "crashes.recovered", "crashes.last"
_RECOVERY_TEXT = " from WAL file "
# the log's path → recoveries not yet recorded
_recoveries: dict[str, int] = {}


def _count_recovery(code: int, message: str) -> None:
    """Handle a message of SQLite's log; only recoveries are counted."""
    if code == apsw.SQLITE_NOTICE_RECOVER_WAL:
        path = message.partition(_RECOVERY_TEXT)[2]
        _recoveries[path] = _recoveries.get(path, 0) + 1


def count_recoveries() -> None:
    """Count recoveries in this process from now on."""
    apsw.config(apsw.SQLITE_CONFIG_LOG, _count_recovery)


def take_recoveries(path: str) -> int:
    """Return how many recoveries of the memory at `path` were reported, and reset the count; the caller records
    them."""
    return _recoveries.pop(_wal_path(path), 0) if _recoveries else 0


def unrecorded_recoveries(path: str) -> int:
    """Return how many recoveries of the memory at `path` are not recorded yet."""
    return _recoveries.get(_wal_path(path), 0)


def _wal_path(path: str) -> str:
    """Return the real path of the log of a memory."""
    return f"{os.path.realpath(path)}-wal"


# Limit the length of the write-ahead log: empty it where readers allow it, and slow writers where one does not.
#
# SQLite writes the log from its start again once no reader needs its content. A reader that keeps a transaction
# open, or readers that overlap without a gap, prevent that, and the log grows with every write.

MEBIBYTE = 1 << 20
# from here on the log is written into the file after a commit; a remembered fact changes 25 pages
WAL_PAGES = 256
# from here on writers try to empty it; normally it stays at some 1 MB
LONG_WAL_BYTES = 16 * MEBIBYTE
# from here on writers are slowed, and a warning is shown
HELD_WAL_BYTES = 64 * MEBIBYTE
# how long a writer that empties the log makes others wait for readers, and how often one process tries
WAL_WAIT_MS, WAL_REST_SECONDS = 20, 2.0
MAX_SLOWDOWN_SECONDS = 1.0


def wal_length(path: str) -> int:
    """Return the bytes of the log beside the memory at `path`; 0 if there is none."""
    return read_file_size(f"{path}-wal") or 0


def held_wal_warning(path: str) -> str:
    """Return a warning while a reader keeps the log from being emptied; else empty."""
    size = wal_length(path)
    if size <= HELD_WAL_BYTES:
        return ""
    return (
        f"The log {path}-wal has grown to {size / 1e6:,.0f} MB, for a program that has this memory open has been"
        " reading an old state of it: close that program, or wait for it. Writing is slowed meanwhile; nothing is lost."
    )


@dataclass(slots=True, eq=False, repr=False)
class WalRelief:
    """Handling of a long log by one connection, before it writes."""

    _again: float = field(init=False, default=0.0)

    def relieve(self, connection: apsw.Connection, path: str, patience: int, pages: int) -> None:
        """Empty the log if it is long and no reader prevents it, else wait if it is very long: at most a tenth of the
        writer's `patience` in milliseconds, and 1 s. `pages` is its length after the connection's last commit."""
        # no `stat` without need: a write took 8 % longer after one (Linux 6.18)
        if pages < WAL_PAGES:
            return
        size = wal_length(path)
        if size <= LONG_WAL_BYTES:
            return
        now = monotonic()
        if now >= self._again:
            self._again = now + WAL_REST_SECONDS
            if truncate_wal(connection, WAL_WAIT_MS, patience):
                return
        if size > HELD_WAL_BYTES:
            sleep(min(MAX_SLOWDOWN_SECONDS, patience / 10_000, (size - HELD_WAL_BYTES) / HELD_WAL_BYTES))


def checkpoint_passively(connection: apsw.Connection, schema: str) -> None:
    """Write into the file what no reader needs, without waiting; the rest is left for the next writer."""
    try:
        connection.wal_checkpoint(schema, apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.Error:  # the commit is valid whatever happens here: SQLite tries again by itself too
        pass


def truncate_wal(connection: apsw.Connection, wait: int, patience: int) -> bool:
    """Write the log into the file and truncate it; return False where a reader of any process, or a writer, held it for
    `wait` milliseconds. Raise apsw.Error."""
    connection.set_busy_timeout(wait)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(patience)
    return True


try:
    import fcntl
except ImportError:  # Windows: SQLite's lock alone
    fcntl = None  # type: ignore[assignment]

# between two attempts of the first in the queue, while a process outside it writes
FIRST_RETRY_SECONDS = 0.0005
# between two attempts of a process without a queue
UNQUEUED_RETRY_SECONDS = 0.005
# Longer than twenty writers take on a busy machine. A holder stopped in the queue costs a writer this much.
MAX_QUEUE_SECONDS = 2.0
# of a writer's patience, at most
MAX_QUEUE_SHARE = 0.8


class WriterTurn:
    """The turn of one connection to write."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._line: int | None = None
        # in the log after the last commit; before the first it may be long
        self.log_pages = WAL_PAGES
        connection.set_wal_hook(self._handle_commit)

    def begin(self, connection: apsw.Connection, path: str, patience: int) -> None:
        """Begin a write transaction, after earlier writers in the queue; wait `patience` milliseconds at most. Raise
        apsw.BusyError."""
        deadline = time.monotonic() + patience / 1000
        connection.set_busy_timeout(0)
        try:
            self._line = _enter_queue(path, min(MAX_QUEUE_SECONDS, MAX_QUEUE_SHARE * patience / 1000))
            pause = UNQUEUED_RETRY_SECONDS if self._line is None else FIRST_RETRY_SECONDS
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except apsw.BusyError:
                    if time.monotonic() > deadline:
                        raise
                time.sleep(pause)
        except BaseException:
            self.release_turn()
            raise
        finally:
            connection.set_busy_timeout(patience)

    def release_turn(self) -> None:
        """Let the next writer in the queue write."""
        if self._line is not None:
            os.close(self._line)
            self._line = None

    def _handle_commit(self, connection: apsw.Connection, schema: str, pages: int) -> int:
        """Called by SQLite after a commit: others write while the log, of so many pages, is written into the file."""
        self.release_turn()
        self.log_pages = pages
        if pages >= WAL_PAGES:
            checkpoint_passively(connection, schema)
        return apsw.SQLITE_OK


def _enter_queue(path: str, seconds: float) -> int | None:
    """Return the handle that holds the queue's lock; None if there is no queue, or it did not move."""
    if fcntl is None:
        return None
    try:
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        # in a folder that others can enter they could block us
        if os.fstat(handle).st_mode & 0o077:
            os.close(handle)
            return None
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _wait_in_queue(handle, seconds)
    except OSError:  # a file system without such locks
        os.close(handle)
        return None
    return handle


def _wait_in_queue(handle: int, seconds: float) -> int | None:
    """Wait in the queue, on a thread that may be abandoned: nothing else ends a wait for a lock."""
    # `ours`: who owns the handle, once one of the two has it
    ours, arrived = Lock(), Lock()
    arrived.acquire()

    def wait() -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass
        if ours.acquire(blocking=False):
            arrived.release()
        else:
            os.close(handle)

    Thread(target=wait, name="queue of writers", daemon=True).start()
    if arrived.acquire(timeout=seconds) or not ours.acquire(blocking=False):
        return handle
    return None
