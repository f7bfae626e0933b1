"""Whether a file is still the one that was read: cheap, without opening it."""

import os

Stamp = tuple[int, int, int]
NO_FILE: Stamp = (0, 0, 0)


def file_stamp(path: str) -> Stamp:
    """Return (time of the last change in nanoseconds, size in bytes, inode) of a file; NO_FILE where it cannot be
    looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return NO_FILE
    return stamp_of(status)


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino
