"""Limit the length of the write-ahead log: empty it where readers allow it, and slow writers where one does not.

SQLite writes the log from its start again once no reader needs its content. A reader that keeps a transaction open, or
readers that overlap without a gap, prevent that, and the log grows with every write.
"""

import os
from time import monotonic, sleep

import apsw

MB = 1 << 20
PAGES = 256  # from here on the log is written into the file after a commit; a remembered fact changes 25 pages
LONG = 16 * MB  # from here on writers try to empty it; normally it stays at some 1 MB
HELD = 64 * MB  # from here on writers are slowed, and a warning is shown
# how long a writer that empties the log makes others wait for readers, and how often one process tries
WAIT_MS, REST_SECONDS = 20, 2.0
SLOWEST_SECONDS = 1.0


def length(path: str) -> int:
    """Return the bytes of the log beside the memory at `path`; 0 if there is none."""
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return 0


def held(path: str) -> str:
    """Return a warning while a reader keeps the log from being emptied; else empty."""
    size = length(path)
    if size <= HELD:
        return ""
    return (
        f"The log {path}-wal has grown to {size / 1e6:,.0f} MB, for a program that has this memory open has been"
        " reading an old state of it: close that program, or wait for it. Writing is slowed meanwhile; nothing is lost."
    )


class Relief:
    """Handling of a long log by one connection, before it writes."""

    __slots__ = ("_again",)

    def __init__(self) -> None:
        self._again = 0.0

    def give(self, connection: apsw.Connection, path: str, patience: int, pages: int) -> None:
        """Empty the log if it is long and no reader prevents it, else wait if it is very long: at most a tenth of the
        writer's `patience` in milliseconds, and 1 s. `pages` is its length after the connection's last commit."""
        # no `stat` without need: a write took 8 % longer after one (Linux 6.18)
        if pages < PAGES:
            return
        size = length(path)
        if size <= LONG:
            return
        now = monotonic()
        if now >= self._again:
            self._again = now + REST_SECONDS
            if empty(connection, WAIT_MS, patience):
                return
        if size > HELD:
            sleep(min(SLOWEST_SECONDS, patience / 10_000, (size - HELD) / HELD))


def bring_in(connection: apsw.Connection, schema: str) -> None:
    """Write into the file what no reader needs, without waiting; the rest is left for the next writer."""
    try:
        connection.wal_checkpoint(schema, apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.Error:  # the commit is valid whatever happens here: SQLite tries again by itself too
        pass


def empty(connection: apsw.Connection, wait: int, patience: int) -> bool:
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
