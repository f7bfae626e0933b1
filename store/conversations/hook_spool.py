"""The spool: what a hook could not write in time is kept in a file beside the memory, and the next process imports it.

A line is redacted before it is written, private, and signed by this installation: lines from a checkout or an archive
are not trusted, whatever author they name, and are set aside. Nothing is read or written through a symbolic link.
Appending and taking lock the file itself, so that no line is lost between the two; each line has a key, so that a drain
that was killed imports nothing twice. Lines that cannot be read are set aside, and counted by `broken`.
"""

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from store.base.errors import Busy, InvalidInput, MemorandaError, Purged, StorageError
from store.base.installation import sign, signed
from store.database.database import Database
from store.database.values import clean_tree

FOLDER = "spool"
WAITING, BROKEN, LOCK, PART = ".jsonl", ".broken", ".lock", ".part"
TAKEN = ".taken"  # followed by a number: the files are imported in that order
PRIVATE = os.O_NOFOLLOW | os.O_CLOEXEC
SEAL = b"\t"  # separates a line from its signature: JSON writes none of its own


@dataclass(frozen=True, slots=True)
class Drained:
    """Result of a drain: `done` lines imported, `refused` because their text was purged, `broken` ones set aside;
    `trouble` is why the rest still waits, if it does."""

    done: int = 0
    refused: int = 0
    broken: int = 0
    trouble: str = ""


class Holding(Protocol):
    """Anything that can say whether a text contains the words to be removed."""

    def inside(self, value: object) -> bool: ...


Change = Callable[[str], str | None]  # a line → its replacement, None to delete it


def write(
    database: Database, act: str, arguments: Mapping[str, object], *, actor: str, key: str = ""
) -> list[int] | None:
    """Do an act of `ACTS` now and return its ids; None if the memory was busy for longer than the door waits and the
    act was put into the spool. Raise what the act raises, and StorageError when the spool cannot be written either."""
    try:
        return _perform(database, act, arguments, actor, key)
    except Busy:
        append(database.path, act, arguments, actor=actor, key=key)
        return None


def append(path: str, act: str, arguments: Mapping[str, object], *, actor: str, key: str = "") -> dict[str, int]:
    """Append an act for the next process, redacted, and synced to the disk on return; return how many secrets of each
    rule were cut out of it. Raise InvalidInput or StorageError."""
    if act not in ACTS:
        raise InvalidInput("There is no such act to leave for later.", f"Choose among: {', '.join(ACTS)}.")
    entry = {"act": act, "actor": actor, "key": key or os.urandom(16).hex(), "arguments": dict(arguments)}
    body = json.dumps(clean_tree(entry), ensure_ascii=True, separators=(",", ":"))
    line = _sealed(body.encode()) + b"\n"
    try:
        _folder(path)
        with _locked(_name(path, WAITING)) as handle:
            size = os.lseek(handle, 0, os.SEEK_END)
            torn = size and os.pread(handle, 1, size - 1) != b"\n"  # its writer was killed before it reported success
            _put(handle, (b"\n" if torn else b"") + line)
    except OSError as error:
        raise StorageError(
            f"The spool beside {path} cannot be written: {error.strerror}.", "Look at its folder, and at the disk."
        ) from None
    from store.redaction.redactor import markers

    before = markers(json.dumps(entry, ensure_ascii=True))
    found = {rule: number - before.get(rule, 0) for rule, number in markers(body).items()}
    return {rule: number for rule, number in found.items() if number > 0}


def waiting(path: str) -> bool:
    """Return whether there is something to import; reads one folder."""
    left = [name for name in _names(path) if not name.endswith((BROKEN, LOCK, PART))]
    return any(_plain(os.path.join(_where(path), name)) for name in left)


def broken(path: str) -> int:
    """Return how many lines were set aside because they cannot be read, or are not of this installation."""
    return sum(1 for _ in _lines(_name(path, BROKEN)))


def aside(path: str) -> str:
    """Return the path of those lines."""
    return _name(path, BROKEN)


def drain(database: Database) -> Drained:
    """Import what waits, in the order in which it was written, each line once; nothing if another process is
    importing."""
    if database.read_only or not waiting(database.path):
        return Drained()
    with _alone(database.path) as mine:
        if not mine:
            return Drained()
        _take(database.path)
        total = Drained()
        for name in _taken(database.path):
            total = _bring_in(database, name, total)
            if total.trouble:
                break
            os.unlink(name)
        return total


def lines(path: str) -> Iterator[str]:
    """Yield the lines of the spool as they are, also those set aside."""
    for name in _names(path):
        yield from (_text(_body(line)) for line in _lines(os.path.join(_where(path), name)))


def holding(path: str, words: Holding) -> int:
    """Count the lines that contain these words."""
    return sum(map(words.inside, lines(path)))


def drop(path: str, words: Holding) -> int:
    """Remove the lines that contain these words from the spool; return how many. Raise as `change` does."""
    return change(path, lambda line: None if words.inside(line) else line)


def change(path: str, become: Change) -> int:
    """Replace or delete each line; return how many changed. Raise StorageError when another process holds the spool."""
    if all(become(line) == line for line in lines(path)):
        return 0
    changed = 0
    with _alone(path) as mine:
        if not mine:
            raise StorageError("Another process is reading the spool right now.", "Try again in a moment.")
        _take(path)
        for name in [*_taken(path), _name(path, BROKEN)]:
            before = [(line, _text(_body(line))) for line in _lines(name)]
            after = [(line, text, become(text)) for line, text in before]
            changed += sum(text != new for _, text, new in after)
            if any(text != new for _, text, new in after):
                kept = [line if new == text else _as(line, new) for line, text, new in after if new is not None]
                _replace(name, kept)
    return changed


def take_over(path: str) -> int:
    """Sign the waiting lines that this installation has not signed, for a person who took over the memory with them;
    return how many. Raise StorageError."""
    taken = 0
    with _alone(path) as mine:
        if mine and waiting(path):
            _take(path)
            for name in _taken(path):
                left = list(_lines(name))
                taken += sum(not _own(line) for line in left)
                _replace(name, [line if _own(line) else _sealed(_body(line)) for line in left])
    return taken


# importing


def _bring_in(database: Database, name: str, total: Drained) -> Drained:
    door, database.door = database.door, "hook"  # who left them, not who found them
    done, refused, aside = total.done, total.refused, list[bytes]()
    try:
        for line in _lines(name):
            try:
                if not _own(line):
                    aside.append(line)
                    continue
                entry = json.loads(_body(line))
                _perform(database, entry["act"], entry["arguments"], entry["actor"], entry["key"])
                done += 1
            except StorageError as error:
                return Drained(done, refused, total.broken, str(error))
            except Purged:
                refused += 1
            except (MemorandaError, ValueError, TypeError, KeyError, AttributeError):
                aside.append(line)
        if aside:
            with _locked(_name(database.path, BROKEN)) as handle:
                os.lseek(handle, 0, os.SEEK_END)
                _put(handle, b"".join(line + b"\n" for line in aside))
    finally:
        database.door = door
    return Drained(done, refused, total.broken + len(aside))


def _perform(database: Database, act: str, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    return ACTS[act](database, arguments, actor, key)


def _remember(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    from store.records.facts import Facts

    return [Facts(database).remember(actor=actor, key=key, **arguments)[0]]


def _decide(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    from store.records.decisions import Decisions

    return [Decisions(database).decide(actor=actor, key=key, **arguments)]


def _event(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    from store.records.timeline.events import Events

    return [Events(database).log(actor=actor, key=key, **arguments)]


def _turns(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    from store.conversations.turns import NewTurn, Turns

    turns = [NewTurn(**turn) for turn in arguments["turns"]]
    return Turns(database).add(arguments["session"], turns, actor, key=key)


# what may be spooled, each with the arguments of the function it calls
ACTS: dict[str, Callable[[Database, Mapping[str, Any], str, str], list[int]]] = {
    "remember": _remember,
    "decide": _decide,
    "event": _event,
    "turns": _turns,
}


# lines


def _sealed(body: bytes) -> bytes:
    """Return a line signed by this installation. Raise StorageError."""
    return body + SEAL + sign(body).encode()


def _body(line: bytes) -> bytes:
    """Return a line without its signature."""
    body, seal, digits = line.rpartition(SEAL)
    return body if seal and len(digits) == 64 else line


def _own(line: bytes) -> bool:
    """Return whether this installation signed the line."""
    body, seal, digits = line.rpartition(SEAL)
    return bool(seal) and signed(body, digits.decode("ascii", "replace"))


def _as(line: bytes, text: str) -> bytes:
    """Return another text in place of a line's, signed if the line was."""
    return _sealed(text.encode()) if _own(line) else text.encode()


# files


def _where(path: str) -> str:
    return os.path.join(os.path.dirname(path), FOLDER)


def _name(path: str, ending: str) -> str:
    """Return the path of a spool file of the memory at `path`: other memories in the same folder have their own."""
    return os.path.join(_where(path), os.path.basename(path) + ending)


def _names(path: str) -> list[str]:
    """Return the names of the spool's files."""
    start = os.path.basename(path) + "."
    try:
        if os.path.islink(_where(path)):
            return []
        return [name for name in os.listdir(_where(path)) if name.startswith(start)]
    except OSError:
        return []


def _taken(path: str) -> list[str]:
    """Return the files being imported, the oldest first."""
    start = os.path.basename(path) + TAKEN
    numbered = sorted((int(name[len(start) :]), name) for name in _names(path) if name[len(start) :].isdigit())
    return [os.path.join(_where(path), name) for _, name in numbered]


def _folder(path: str) -> None:
    folder = _where(path)
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, "it is a symbolic link")
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)


def _take(path: str) -> None:
    """Rename the file of waiting lines, so that nothing more is appended to it."""
    for left in _names(path):
        if left.endswith(PART):  # of a process that was killed
            os.unlink(os.path.join(_where(path), left))
    name = _name(path, WAITING)
    if not _plain(name):
        return
    older = [int(taken.rpartition(TAKEN)[2]) for taken in _taken(path)]
    with _locked(name):
        os.rename(name, _name(path, f"{TAKEN}{max(older, default=0) + 1}"))


def _lines(name: str) -> Iterator[bytes]:
    if not _plain(name):
        return
    with open(os.open(name, os.O_RDONLY | PRIVATE), "rb") as file:
        for line in file:
            if line.strip():
                yield line.rstrip(b"\n")


def _plain(name: str) -> bool:
    """Return whether there is a plain file of this name: a link is not followed, and a pipe would block for ever."""
    try:
        return stat.S_ISREG(os.lstat(name).st_mode) and not os.path.islink(os.path.dirname(name))
    except FileNotFoundError:
        return False


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _replace(name: str, lines: list[bytes]) -> None:
    """Replace the lines of a file, whole or not at all."""
    part = name + PART
    handle = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | PRIVATE, 0o600)
    try:
        _put(handle, b"".join(line + b"\n" for line in lines))
    finally:
        os.close(handle)
    os.replace(part, name)


def _put(handle: int, raw: bytes) -> None:
    """Write all of it, and sync it to the disk."""
    if os.write(handle, raw) != len(raw):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


@contextmanager
def _locked(name: str) -> Iterator[int]:
    """Open a file for appending, under a lock: no other process writes or renames it meanwhile."""
    while True:
        handle = os.open(name, os.O_CREAT | os.O_RDWR | PRIVATE, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            same = os.fstat(handle).st_ino == os.stat(name).st_ino
        except FileNotFoundError:
            same = False
        if same:
            break
        os.close(handle)  # another process took it while this one waited
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Yield whether this process holds the lock of the spool; the lock of a killed process is released by the
    system."""
    handle = os.open(_name(path, LOCK), os.O_CREAT | os.O_RDWR | PRIVATE, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    else:
        yield True
    finally:
        os.close(handle)
