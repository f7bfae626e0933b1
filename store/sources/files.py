"""Read files of other tools: regular ones of a limited size, through no symbolic link, and nothing is written."""

import errno
import json
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from store.sources.source import Trouble

LARGEST = 16_000_000  # bytes of a Markdown file, which is read whole
LARGEST_DOCUMENT = 512 << 20  # bytes of a JSON document, which is read whole
LONGEST = 32 << 20  # bytes of a line
DEEPEST = 32  # folders
SKIPPED = frozenset(("node_modules", "__pycache__", "venv"))


def fail(troubles: list[Trouble], path: str, error: OSError) -> None:
    """Note once that a file or folder cannot be read, and why."""
    link = error.errno in (errno.ELOOP, errno.EMLINK)
    why = "symbolic links are not followed" if link else (error.strerror or "it cannot be read").lower()
    if (trouble := Trouble(path, 0, why)) not in troubles:
        troubles.append(trouble)


def untouched(path: str, flags: int) -> int:
    """Open a file to read it, without a trace of that in its times where the system allows it: only its owner may. A
    pipe is opened at once, and not when somebody writes to it."""
    flags |= os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


def opened(path: str, troubles: list[Trouble], buffering: int = -1) -> BinaryIO | None:
    """Open a plain file; None, with a trouble, for anything else."""
    try:
        handle = untouched(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        fail(troubles, path, error)
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        troubles.append(Trouble(path, 0, "it is not a plain file"))
        return None
    return os.fdopen(handle, "rb", buffering=buffering)


def read_bytes(path: str, troubles: list[Trouble], largest: int = LARGEST) -> bytes | None:
    """Return a file's bytes; None, with a trouble, where it cannot be read."""
    file = opened(path, troubles)
    if file is None:
        return None
    with file:
        if os.fstat(file.fileno()).st_size > largest:
            troubles.append(Trouble(path, 0, f"it is longer than {largest:,} bytes"))
            return None
        try:
            return file.read(largest + 1)
        except OSError as error:
            fail(troubles, path, error)
            return None


def read_text(path: str, troubles: list[Trouble], largest: int = LARGEST) -> str | None:
    """Return a file's text with `\\n` at the ends of lines and without a mark of its encoding. Bytes that are not UTF-8
    are replaced, and reported."""
    raw = read_bytes(path, troubles, largest)
    if raw is None:
        return None
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        troubles.append(Trouble(path, 0, "a part of it is not UTF-8"))
        text = raw.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: str, troubles: list[Trouble]) -> object:
    """Return a JSON document; None, with a trouble, where it is none."""
    raw = read_bytes(path, troubles, LARGEST_DOCUMENT)
    if raw is None:
        return None
    try:
        value: object = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        troubles.append(Trouble(path, 0, "it is not JSON"))
        return None
    return value


def json_lines(path: str, troubles: list[Trouble]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (number, object) of the lines of a file, one at a time in memory. The last line, if it has no end and is no
    JSON, is still being written and is no trouble."""
    file = opened(path, troubles, 1 << 18)
    if file is None:
        return
    with file:
        number = 0
        while line := file.readline(LONGEST):
            number += 1
            whole = line.endswith(b"\n")
            if len(line) == LONGEST and not whole:
                more = line
                while more and not more.endswith(b"\n"):
                    more = file.readline(LONGEST)
                troubles.append(Trouble(path, number, "it is too long"))
                continue
            if not line.strip():
                continue
            try:
                value = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                if whole:
                    troubles.append(Trouble(path, number, "it is not JSON"))
                continue
            if isinstance(value, dict):
                yield number, value
            else:
                troubles.append(Trouble(path, number, "it is not an object"))


def files_below(folder: str, suffix: str, troubles: list[Trouble], skipped: frozenset[str] = SKIPPED) -> Iterator[str]:
    """Yield the plain files of a folder and those below whose name ends so, in order; nothing hidden, no links. A
    folder that cannot be read is a trouble; one that is not there is none."""

    def unread(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            fail(troubles, error.filename, error)

    for place, folders, names in os.walk(folder, onerror=unread):
        deep = place.count(os.sep) - folder.count(os.sep)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in skipped and deep < DEEPEST
        )
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(suffix) and not name.startswith(".") and not os.path.islink(path):
                yield path


def modified(path: str) -> str:
    """Return when a file was last changed; empty if it is gone."""
    from store.base.clock import from_ms

    try:
        return from_ms(os.stat(path).st_mtime_ns // 1_000_000)
    except OSError:
        return ""


def existing(*paths: str) -> list[str]:
    """Return those of these paths that exist, or may do so in a folder that cannot be read, each once."""
    return list(dict.fromkeys(path for path in paths if path and _may_exist(path)))


def _may_exist(path: str) -> bool:
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def text_of(value: object) -> str:
    """Return a text of a document of another tool, stripped; empty for what is none."""
    return value.strip() if isinstance(value, str) else ""


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list, which may be JSON inside a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    several = value if isinstance(value, list) else ()
    return tuple(one.strip() for one in several if isinstance(one, str) and one.strip())
