"""The queue of writers: first come, first served, across processes.

SQLite has one writer at a time and no queue: each polls, and one that has waited long polls rarely. So writers queue
for a lock on the memory's folder, which the system grants in order and releases when its holder ends (when a waiting
process ends, those behind it queue again). The holder writes, and releases the lock as soon as the transaction is
committed: the next is woken, and asks SQLite once. The queue is only for fairness: where there can be none, or it does
not move, SQLite's own lock decides as before.
"""

import os
import time

import apsw

from store.database.writing import wal

try:
    import fcntl
except ImportError:  # Windows: SQLite's lock alone
    fcntl = None  # type: ignore[assignment]

LOOK_SECONDS = 0.0005  # between two attempts of the first in the queue, while a process outside it writes
BEHIND_SECONDS = 0.005  # between two attempts of a process without a queue
# Longer than twenty writers take on a busy machine. A holder stopped in the queue costs a writer this much.
LINE_SECONDS = 2.0
LINE_SHARE = 0.8  # of a writer's patience, at most


class WriterTurn:
    """The turn of one connection to write."""

    __slots__ = ("_line", "log_pages")

    def __init__(self, connection: apsw.Connection) -> None:
        self._line: int | None = None
        self.log_pages = wal.PAGES  # in the log after the last commit; before the first it may be long
        connection.set_wal_hook(self._committed)

    def begin(self, connection: apsw.Connection, path: str, patience: int) -> None:
        """Begin a write transaction, after earlier writers in the queue; wait `patience` milliseconds at most. Raise
        apsw.BusyError."""
        deadline = time.monotonic() + patience / 1000
        connection.set_busy_timeout(0)
        try:
            self._line = _enter(path, min(LINE_SECONDS, LINE_SHARE * patience / 1000))
            pause = BEHIND_SECONDS if self._line is None else LOOK_SECONDS
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except apsw.BusyError:
                    if time.monotonic() > deadline:
                        raise
                time.sleep(pause)
        except BaseException:
            self.end()
            raise
        finally:
            connection.set_busy_timeout(patience)

    def end(self) -> None:
        """Let the next one write."""
        if self._line is not None:
            os.close(self._line)
            self._line = None

    def _committed(self, connection: apsw.Connection, schema: str, pages: int) -> int:
        """Called by SQLite after a commit: others write while the log, of so many pages, is written into the file."""
        self.end()
        self.log_pages = pages
        if pages >= wal.PAGES:
            wal.bring_in(connection, schema)
        return apsw.SQLITE_OK


def _enter(path: str, seconds: float) -> int | None:
    """Return the handle that holds the queue's lock; None if there is no queue, or it did not move."""
    if fcntl is None:
        return None
    try:
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        if os.fstat(handle).st_mode & 0o077:  # in a folder that others can enter they could block us
            os.close(handle)
            return None
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _wait(handle, seconds)
    except OSError:  # a file system without such locks
        os.close(handle)
        return None
    return handle


def _wait(handle: int, seconds: float) -> int | None:
    """Wait in the queue, on a thread that may be abandoned: nothing else ends a wait for a lock."""
    from threading import Lock, Thread

    ours, arrived = Lock(), Lock()  # `ours`: who owns the handle, once one of the two has it
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
