"""Recoveries after a crash: how often SQLite recovered a log that a killed process, or a power cut, had left.

SQLite reports it through its log when the file is next opened; the first write of that process records it in `meta`.
"""

import os

import apsw

COUNT, LAST = "crashes.recovered", "crashes.last"
_MARK = " from WAL file "
_heard: dict[str, int] = {}  # the log's path → recoveries not yet recorded


def _listen(code: int, message: str) -> None:
    """Handle a message of SQLite's log; only recoveries are counted."""
    if code == apsw.SQLITE_NOTICE_RECOVER_WAL:
        path = message.partition(_MARK)[2]
        _heard[path] = _heard.get(path, 0) + 1


def listen() -> None:
    """Count recoveries in this process from now on."""
    apsw.config(apsw.SQLITE_CONFIG_LOG, _listen)


def take(path: str) -> int:
    """Return how many recoveries of the memory at `path` were reported, and reset the count; the caller records
    them."""
    return _heard.pop(_log(path), 0) if _heard else 0


def waiting(path: str) -> int:
    """Return how many recoveries of the memory at `path` are not yet recorded."""
    return _heard.get(_log(path), 0)


def _log(path: str) -> str:
    return f"{os.path.realpath(path)}-wal"
