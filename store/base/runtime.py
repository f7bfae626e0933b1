"""What a running process asks of itself and its files: file stamps, parts that are switched off, cancelling.

Whether a file is still the one that was read: cheap, without opening it.
"""

import os
from collections.abc import Callable

# Ask whoever waits for a long piece of work whether it is still wanted.

# called again and again while the work runs; once it returns True the work ends
IsCancelled = Callable[[], bool]


def never_cancelled() -> bool:
    """Return False: the work is not cancelled."""
    return False


# Parts that can be switched off by hand, to test what replaces them.

DISABLED_PARTS_VARIABLE = "MEMORANDA_WITHOUT"


def is_part_disabled(name: str) -> bool:
    """Return whether `name` is switched off: `MEMORANDA_WITHOUT=vec0,model` names parts, separated by commas.

    `vec0` is the vector extension of SQLite, `model` every model that makes vectors, `agent` the one that the agent
    uses.
    """
    return name in [part.strip() for part in os.environ.get(DISABLED_PARTS_VARIABLE, "").split(",")]


FileStamp = tuple[int, int, int]
NO_FILE_STAMP: FileStamp = (0, 0, 0)


def read_file_stamp(path: str) -> FileStamp:
    """Return the time of a file's last change in nanoseconds, its size in bytes and its inode; NO_FILE_STAMP if it
    cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return NO_FILE_STAMP
    return stamp_of_status(status)


def stamp_of_status(status: os.stat_result) -> FileStamp:
    """Return the stamp of a file from the result of `os.stat`."""
    return status.st_mtime_ns, status.st_size, status.st_ino
