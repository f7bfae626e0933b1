"""Snapshots: the last messages of a session that was cleared, as a Markdown file beside the project's notes.

`memory/snapshots/<slug>.md`: private, written whole or not at all, and never over an existing file. A `.gitignore`
beside them keeps them out of git, unless somebody wants them there.
"""

import errno
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from store.base.clock import local_time
from store.base.errors import StorageError
from store.base.models import Turn
from store.base.vocabulary import PERSON
from store.text.folding import normalize
from store.text.one_line import one_line
from store.text.vocabulary import stop_words

MESSAGES = 15
FOLDER = "snapshots"  # in that of the logs
WORDS, LONGEST = 6, 48  # of a slug: words, characters
MOST = 1_000  # snapshots of one slug
IGNORE = ".gitignore"
IGNORED = b"# Conversations are private. To let git see them: memoranda config snapshots.in_git true\n*\n"
PART = ".snapshot-"  # prefix of a file being written, beside the memory
STALE_SECONDS = 60
# this file system has no hard links, or none from the other one
NO_LINKS = (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=-)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def slug(turns: Sequence[Turn], day: str) -> str:
    """Return the name of a snapshot: its day, and the first distinctive words of its turns."""
    return named(next((turn.text for turn in turns if turn.role == PERSON), turns[0].text if turns else ""), day)


def named(topic: str, day: str) -> str:
    """Return a file name from a day and the first distinctive words of a text."""
    words = re.findall(r"[a-z0-9]+", normalize(re.sub(r"```.*?(?:```|\Z)|https?://\S+", " ", topic, flags=re.DOTALL)))
    stop = stop_words("slug")
    name = day
    for word in [word for word in words if word not in stop][:WORDS] or ["session"]:
        if len(name) + len(word) < LONGEST:
            name += f"-{word}"
    return name


def text(session: str, title: str, turns: Sequence[Turn], total: int, now: str) -> str:
    """Return a snapshot's Markdown. Every line of a turn is indented, so that none looks like a heading of ours; with
    spaces alone, since a purge matches a text with any spaces in it."""
    lines = [
        f"# {one_line(title)}",
        "",
        f"The last {len(turns)} of {total:,} messages of session `{one_line(session)}`, cleared on {local_time(now)}.",
    ]
    for turn in turns:
        lines += ["", f"## {one_line(turn.speaker) or turn.role}, {local_time(turn.at)} [{turn.citation}]", ""]
        lines += [f"    {_CONTROL.sub('', line)}".rstrip() for line in turn.text.splitlines()]
    return "\n".join(lines) + "\n"


def write(base: str, logs: tuple[str, ...], name: str, content: str, memory: str, in_git: bool = False) -> str:
    """Write a snapshot below the folder of the `logs`, which is below `base`; return its path. It is first written
    beside the file `memory`, where a proof reads it and `tidy` removes it. The folder is ignored by git, unless it is
    to be `in_git`. Raise StorageError, and then leave nothing behind."""
    try:
        folder = opened_folder(base, (*logs, FOLDER))
        try:
            ignore(folder, in_git or _asked_for(base, logs), IGNORED)
            return os.path.join(base, *logs, FOLDER, _put(folder, name, content.encode("utf-8", "replace"), memory))
        finally:
            os.close(folder)
    except OSError as error:
        where = os.path.join(base, *logs, FOLDER)
        raise StorageError(
            f"The snapshot cannot be written to {where}: {error.strerror}.", "Look at that folder; nothing was cleared."
        ) from None


def opened_folder(base: str, steps: tuple[str, ...]) -> int:
    """Return a handle on a folder below `base`, created private where it is missing; follow no link. Raise OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(base, flags)
    for step in steps:
        try:
            os.mkdir(step, 0o700, dir_fd=handle)
        except FileExistsError:
            pass
        try:
            below = os.open(step, flags | os.O_NOFOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def ignore(folder: int, in_git: bool, rule: bytes) -> None:
    """Write our rule for git into the folder, or remove it; where there are rules of others they are left alone."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    if not in_git:
        with suppress(FileExistsError):
            _written(IGNORE, folder, rule)
        return
    try:
        handle = os.open(IGNORE, os.O_RDONLY | os.O_NONBLOCK | flags, dir_fd=folder)
    except OSError:  # missing, or a link
        return
    try:
        ours = os.read(handle, len(rule) + 1) == rule
    finally:
        os.close(handle)
    if ours:
        os.unlink(IGNORE, dir_fd=folder)


def _asked_for(base: str, logs: tuple[str, ...]) -> bool:
    """Return whether a person's own rule lets git see the folder: a rule inside it would override theirs."""
    for place in (base, os.path.join(base, *logs)):
        with suppress(OSError, UnicodeDecodeError), open(os.path.join(place, IGNORE), encoding="utf-8") as file:
            if any(line.startswith("!") and FOLDER in line for line in file):
                return True
    return False


def tidy(memory: str) -> None:
    """Remove what killed processes left partly written beside the file `memory`; not what is being written now."""
    folder, name = os.path.split(memory)
    for left in os.listdir(folder):
        path = os.path.join(folder, left)
        with suppress(FileNotFoundError):
            if left.startswith(f"{name}{PART}") and time.time() - os.stat(path).st_mtime > STALE_SECONDS:
                os.unlink(path)


def rename_without_words(path: str) -> str:
    """Rename the snapshot at `path`, of which something was cut, so that its name does not contain it; return the new
    path."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != FOLDER or not (day := _DAY.match(name)):
        return path
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        final = _first_free(f"{day[0]}-session", lambda free: _link(path, free, handle))
        os.unlink(path)
        return os.path.join(folder, final)
    finally:
        os.close(handle)


def _put(folder: int, name: str, raw: bytes, memory: str) -> str:
    """Write a new file, under the first free name; return that name."""
    part = f"{memory}{PART}{os.urandom(4).hex()}"
    try:
        _written(part, None, raw)
        try:
            return _first_free(name, lambda free: _link(part, free, folder))
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return _first_free(name, lambda free: _written(free, folder, raw))
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _first_free(name: str, make: Callable[[str], None]) -> str:
    for number in range(1, MOST):
        final = f"{name}.md" if number == 1 else f"{name}-{number}.md"
        try:
            make(final)
        except FileExistsError:
            continue
        return final
    raise FileExistsError(17, "there are too many of that name")


def _link(path: str, name: str, folder: int) -> None:
    os.link(path, name, dst_dir_fd=folder, follow_symlinks=False)
    os.fsync(folder)


def _written(name: str, folder: int | None, raw: bytes) -> None:
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise
