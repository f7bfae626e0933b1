"""What a running process asks of itself and its files: file stamps, parts that are there or not, cancelling."""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar

from store.base.errors import Unsupported

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


# Whether a file is still the one that was read: cheap, without opening it.

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


def read_file_identity(path: str) -> tuple[int, int] | None:
    """Return the device and the inode of a file, which tell it from another file at its path; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def read_file_size(path: str) -> int | None:
    """Return the size of a file in bytes; None if it is missing or cannot be looked at."""
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def open_at_once(name: str, flags: int) -> int:
    """Open a file as the `opener` of `open`, without waiting for somebody who writes where it is a pipe."""
    return os.open(name, flags | os.O_NONBLOCK)


def read_plain_file(path: str, most: int, *, tail: bool = False) -> bytes:
    """Return the first bytes of a plain file, or the last with `tail`, at most so many; none where there is no such
    file, or it cannot be read."""
    with suppress(OSError, ValueError), open(path, "rb", opener=open_at_once) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode):
            file.seek(max(0, status.st_size - most) if tail else 0)
            return file.read(most)
    return b""


def stamp_of_status(status: os.stat_result) -> FileStamp:
    """Return the stamp of a file from the result of `os.stat`."""
    return status.st_mtime_ns, status.st_size, status.st_ino


# What the optional parts do for the rest. The core says in a class what it can use of a part, such as `SealedTexts`
# (store/purge/file_eraser.py); the part has one value of that class in its `PART`. Who can use it asks for it here, and
# goes on without it where the part is missing.

Kind = TypeVar("Kind")


class Part(NamedTuple):
    """What a part does for the core: a value of each class that the core asks it for."""

    extensions: tuple[object, ...] = ()


# by the name of a part; store/parts.py fills it
PART_LOADERS: dict[str, Callable[[], Part | None]] = {}


def require_part(name: str) -> Part:
    """Return a part by its name. Raise Unsupported if it is not installed."""
    if (part := PART_LOADERS[name]()) is None:
        raise Unsupported(
            f"The part `{name}` of Memoranda is not installed, and this needs it.",
            "Install Memoranda again, with all its parts: pip install --force-reinstall memoranda",
        )
    return part


def require_extension(name: str, kind: type[Kind]) -> Kind:
    """Return what a part does for the core, by its class. Raise Unsupported if the part is not installed."""
    return next(one for one in require_part(name).extensions if isinstance(one, kind))


def find_extension(name: str, kind: type[Kind]) -> Kind | None:
    """Return what a part does for the core, by its class; None if the part is not installed."""
    return require_extension(name, kind) if PART_LOADERS[name]() else None


def start_detached(variables: Mapping[str, str], module: str, *words: str) -> int:
    """Start a module of ours as a process that nobody waits for, nothing of which is read; return its number, 0 where
    none can be started."""
    nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    command = [sys.executable, "-P", "-m", module, *words]
    with suppress(OSError, ValueError):
        return os.posix_spawn(
            sys.executable, command, variables, file_actions=nothing, setsid=sys.platform == "linux"
        )
    return 0
