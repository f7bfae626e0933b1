"""Whether a file is still the one that was read: cheap, without opening it."""

import os

NO_FILE = (0, 0, 0)


def file_stamp(path: str) -> tuple[int, int, int]:
    """Return (time of the last change in nanoseconds, size in bytes, inode) of a file; NO_FILE where it cannot be
    looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return NO_FILE
    return status.st_mtime_ns, status.st_size, status.st_ino
