"""Recoveries after a crash: how often SQLite brought in a log that a killed process, or a power cut, had left.

SQLite says so through its log when the file is next opened; the first write of that process notes it in `meta`.
"""

import os

import apsw

COUNT, LAST = "crashes.recovered", "crashes.last"
_MARK = " from WAL file "
_heard: dict[str, int] = {}  # the log's path → recoveries that are not noted yet


def _listen(code: int, message: str) -> None:
    """What SQLite logs; only recoveries are of interest."""
    if code == apsw.SQLITE_NOTICE_RECOVER_WAL:
        path = message.partition(_MARK)[2]
        _heard[path] = _heard.get(path, 0) + 1


def listen() -> None:
    """Hear of recoveries in this process from now on."""
    apsw.config(apsw.SQLITE_CONFIG_LOG, _listen)


def take(path: str) -> int:
    """How many recoveries of the memory at `path` were heard of, which whoever asks notes now."""
    return _heard.pop(_log(path), 0) if _heard else 0


def waiting(path: str) -> int:
    """How many recoveries of the memory at `path` were heard of and are not noted yet."""
    return _heard.get(_log(path), 0)


def _log(path: str) -> str:
    return f"{os.path.realpath(path)}-wal"
