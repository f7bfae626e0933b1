"""A reserve of 128 KiB beside a memory, freed when the disk is full, so that forgetting still works.

SQLite needs space to delete: the pages it changes are written to the log first.
"""

import os
import stat
from collections.abc import Callable

from store.base.errors import DiskFull

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Result = TypeVar("Result")

SIZE = 128 << 10
# for each byte one that is in no UTF-8 text: a purged word of three letters was among random ones once in twenty times
WORDLESS = ((b"\xc0\xc1" + bytes(range(0xF5, 0x100))) * 20)[:256]
SPARE = 8 * SIZE  # free space that must remain once it is made


def path_of(path: str) -> str:
    """Return the path of the ballast of the memory at `path`."""
    return f"{path}-ballast"


def keep(path: str) -> bool:
    """Create the ballast unless it exists, or the disk has little space; return whether it exists now."""
    ballast = path_of(path)
    if os.path.lexists(ballast):
        return True
    try:
        disk = os.statvfs(os.path.dirname(ballast) or ".")
        if disk.f_bavail * disk.f_frsize < SIZE + SPARE:
            return False
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        handle = os.open(ballast, flags, 0o600)
    except FileExistsError:
        return True
    except OSError:
        return False
    try:
        # random: a compressing file system would reserve no space for a file of zeros
        whole = os.write(handle, os.urandom(SIZE).translate(WORDLESS)) == SIZE
    except OSError:
        whole = False
    finally:
        os.close(handle)
    if not whole:
        free(path)
    return whole


def renew(path: str) -> None:
    """Replace the ballast, as one that an older version wrote may hold a short word by chance."""
    if free(path):
        keep(path)


def missing(path: str) -> str:
    """Return why the ballast of the memory at `path` is missing, in a sentence; empty if it exists."""
    ballast = path_of(path)
    try:
        status = os.lstat(ballast)
        if stat.S_ISREG(status.st_mode) and status.st_size == SIZE:
            return ""
        return f"{ballast} is not the file that Memoranda keeps there."
    except OSError:
        pass
    folder = os.path.dirname(ballast) or "."
    try:
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < SIZE + SPARE:
            return "It is missing because the disk is nearly full: forgetting and purging may fail."
    except OSError:
        return "It is missing, and the free space is not known."
    if not os.access(folder, os.W_OK):
        return f"It is missing because {folder} cannot be written."
    return "It is missing: it was used up on a full disk, or removed."


def free(path: str) -> bool:
    """Delete the ballast; return whether there was one."""
    try:
        os.unlink(path_of(path))
    except OSError:
        return False
    return True


def with_room(path: str, work: "Callable[[], Result]") -> "Result":
    """Run work that only deletes; on a full disk once more, with the space of the ballast. Raise DiskFull."""
    try:
        return work()
    except DiskFull:
        if not free(path):
            raise
        return work()
