"""The spool: what a hook could not write in time is kept in a file beside the memory, and the next process imports it.

A line is redacted before it is written, private, and signed by this installation: lines from a checkout or an archive
are not trusted, whatever author they name, and are set aside. Nothing is read or written through a symbolic link.
Appending and taking lock the file itself, so that no line is lost between the two; each line has a key, so that a drain
that was killed imports nothing twice. Lines that cannot be read are set aside, and counted by `count_broken_lines`.
"""

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from store.base.errors import InvalidInput, MemorandaError, Purged, StorageError
from store.base.state_files import is_own_signature, sign_bytes
from store.conversations.turns import NewTurn, Turns
from store.database.database import Database
from store.database.values import clean_json
from store.records.decisions import Decisions
from store.records.facts import Facts
from store.records.workflow import Events
from store.redaction.redactor import count_markers

SPOOL_FOLDER = "spool"
WAITING_SUFFIX, BROKEN_SUFFIX, LOCK_SUFFIX, PART_SUFFIX = ".jsonl", ".broken", ".lock", ".part"
# followed by a number: the files are imported in that order
TAKEN_SUFFIX = ".taken"
OPEN_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
# separates a line from its signature: JSON writes none of its own
SEAL_MARK = b"\t"


class DrainResult(NamedTuple):
    """Result of a drain: `done` lines imported, `refused` because their text was purged, `broken` ones set aside;
    `trouble` is why the rest still waits, if it does."""

    done: int = 0
    refused: int = 0
    broken: int = 0
    trouble: str = ""


class WordMatcher(Protocol):
    """Anything that can say whether a text contains the words to be removed."""

    def occur_in(self, value: object) -> bool: ...


# a line → its replacement, None to delete it
ReplaceLine = Callable[[str], str | None]


def append_act(
    path: str, act: str, arguments: Mapping[str, object], *, actor: str, key: str = ""
) -> dict[str, int]:
    """Append an act for the next process, redacted, and synced to the disk on return; return how many secrets of each
    rule were cut out of it. Raise InvalidInput or StorageError."""
    if act not in SPOOL_ACTS:
        raise InvalidInput("There is no such act to leave for later.", f"Choose among: {', '.join(SPOOL_ACTS)}.")
    entry = {"act": act, "actor": actor, "key": key or os.urandom(16).hex(), "arguments": dict(arguments)}
    body = json.dumps(clean_json(entry), ensure_ascii=True, separators=(",", ":"))
    line = _sign_line(body.encode()) + b"\n"
    try:
        _make_folder(path)
        with _lock_file(_spool_path(path, WAITING_SUFFIX)) as handle:
            size = os.lseek(handle, 0, os.SEEK_END)
            torn = (
                size and os.pread(handle, 1, size - 1) != b"\n"
            )  # its writer was killed before it reported success
            _write_synced(handle, (b"\n" if torn else b"") + line)
    except OSError as error:
        raise StorageError(
            f"The spool beside {path} cannot be written: {error.strerror}.",
            "Look at its folder, and at the disk.",
        ) from None
    before = count_markers(json.dumps(entry, ensure_ascii=True))
    found = {rule: number - before.get(rule, 0) for rule, number in count_markers(body).items()}
    return {rule: number for rule, number in found.items() if number > 0}


def has_waiting_lines(path: str) -> bool:
    """Return whether there is something to import; reads one folder."""
    left = [name for name in _spool_names(path) if not name.endswith((BROKEN_SUFFIX, LOCK_SUFFIX, PART_SUFFIX))]
    return any(_is_plain_file(os.path.join(_spool_folder(path), name)) for name in left)


def count_broken_lines(path: str) -> int:
    """Return how many lines were set aside because they cannot be read, or are not of this installation."""
    return sum(1 for _ in _read_lines(_spool_path(path, BROKEN_SUFFIX)))


def broken_lines_path(path: str) -> str:
    """Return the path of the file with the lines that were set aside."""
    return _spool_path(path, BROKEN_SUFFIX)


def drain_spool(database: Database) -> DrainResult:
    """Import what waits, in the order in which it was written, each line once; nothing if another process is
    importing."""
    if database.read_only or not has_waiting_lines(database.path):
        return DrainResult()
    with _lock_spool(database.path) as mine:
        if not mine:
            return DrainResult()
        _take_waiting(database.path)
        total = DrainResult()
        for name in _taken_files(database.path):
            total = _import_file(database, name, total)
            if total.trouble:
                break
            os.unlink(name)
        return total


def read_spool_lines(path: str) -> Iterator[str]:
    """Yield the lines of the spool as they are, including the lines that were set aside."""
    for name in _spool_names(path):
        yield from (
            _decode_line(_line_body(line)) for line in _read_lines(os.path.join(_spool_folder(path), name))
        )


def count_matching_lines(path: str, words: WordMatcher) -> int:
    """Count the lines that contain these words."""
    return sum(map(words.occur_in, read_spool_lines(path)))


def drop_matching_lines(path: str, words: WordMatcher) -> int:
    """Remove the lines that contain these words from the spool; return how many. Raise StorageError when another
    process holds the spool."""
    return replace_spool_lines(path, lambda line: None if words.occur_in(line) else line)


def replace_spool_lines(path: str, become: ReplaceLine) -> int:
    """Replace or delete each line; return how many changed. Raise StorageError when another process holds the spool."""
    if all(become(line) == line for line in read_spool_lines(path)):
        return 0
    changed = 0
    with _lock_spool(path) as mine:
        if not mine:
            raise StorageError("Another process is reading the spool right now.", "Try again in a moment.")
        _take_waiting(path)
        for name in [*_taken_files(path), _spool_path(path, BROKEN_SUFFIX)]:
            before = [(line, _decode_line(_line_body(line))) for line in _read_lines(name)]
            after = [(line, text, become(text)) for line, text in before]
            changed += sum(text != new for _, text, new in after)
            if any(text != new for _, text, new in after):
                kept = [
                    line if new == text else _sign_line(new.encode()) if _is_own_line(line) else new.encode()
                    for line, text, new in after
                    if new is not None
                ]
                _replace_lines(name, kept)
    return changed


def sign_waiting_lines(path: str) -> int:
    """Sign the waiting lines that this installation has not signed, for a person who took over the memory with them;
    return how many. Raise StorageError."""
    taken = 0
    with _lock_spool(path) as mine:
        if mine and has_waiting_lines(path):
            _take_waiting(path)
            for name in _taken_files(path):
                left = list(_read_lines(name))
                taken += sum(not _is_own_line(line) for line in left)
                _replace_lines(
                    name, [line if _is_own_line(line) else _sign_line(_line_body(line)) for line in left]
                )
    return taken


# importing


def _import_file(database: Database, name: str, total: DrainResult) -> DrainResult:
    """Import the lines of a taken file; return the total."""
    # who left them, not who found them
    door, database.door = database.door, "hook"
    done, refused, aside = total.done, total.refused, list[bytes]()
    try:
        for line in _read_lines(name):
            try:
                if not _is_own_line(line):
                    aside.append(line)
                    continue
                entry = json.loads(_line_body(line))
                SPOOL_ACTS[entry["act"]](database, entry["arguments"], entry["actor"], entry["key"])
                done += 1
            except StorageError as error:
                return DrainResult(done, refused, total.broken, str(error))
            except Purged:
                refused += 1
            except (MemorandaError, ValueError, TypeError, KeyError, AttributeError):
                aside.append(line)
        if aside:
            with _lock_file(_spool_path(database.path, BROKEN_SUFFIX)) as handle:
                os.lseek(handle, 0, os.SEEK_END)
                _write_synced(handle, b"".join(line + b"\n" for line in aside))
    finally:
        database.door = door
    return DrainResult(done, refused, total.broken + len(aside))


def _remember(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    return [Facts(database).remember(actor=actor, key=key, **arguments)[0]]


def _decide(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    return [Decisions(database).decide(actor=actor, key=key, **arguments)]


def _log_event(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    return [Events(database).log(actor=actor, key=key, **arguments)]


def _add_turns(database: Database, arguments: Mapping[str, Any], actor: str, key: str) -> list[int]:
    turns = [NewTurn(**turn) for turn in arguments["turns"]]
    return Turns(database).add_turns(arguments["session"], turns, actor, key=key)


# what may be spooled, each with the arguments of the function it calls
SPOOL_ACTS: dict[str, Callable[[Database, Mapping[str, Any], str, str], list[int]]] = {
    "remember": _remember,
    "decide": _decide,
    "event": _log_event,
    "turns": _add_turns,
}


# lines


def _sign_line(body: bytes) -> bytes:
    """Return a line signed by this installation. Raise StorageError."""
    return body + SEAL_MARK + sign_bytes(body).encode()


def _line_body(line: bytes) -> bytes:
    """Return a line without its signature."""
    body, seal, digits = line.rpartition(SEAL_MARK)
    return body if seal and len(digits) == 64 else line


def _is_own_line(line: bytes) -> bool:
    """Return whether this installation signed the line."""
    body, seal, digits = line.rpartition(SEAL_MARK)
    return bool(seal) and is_own_signature(body, digits.decode("ascii", "replace"))


# files


def _spool_folder(path: str) -> str:
    """Return the folder of the spool of the memory at `path`."""
    return os.path.join(os.path.dirname(path), SPOOL_FOLDER)


def _spool_path(path: str, ending: str) -> str:
    """Return the path of a spool file of the memory at `path`: other memories in the same folder have their own."""
    return os.path.join(_spool_folder(path), os.path.basename(path) + ending)


def _spool_names(path: str) -> list[str]:
    """Return the names of the spool's files."""
    start = os.path.basename(path) + "."
    try:
        if os.path.islink(_spool_folder(path)):
            return []
        return [name for name in os.listdir(_spool_folder(path)) if name.startswith(start)]
    except OSError:
        return []


def _taken_files(path: str) -> list[str]:
    """Return the files being imported, the oldest first."""
    start = os.path.basename(path) + TAKEN_SUFFIX
    numbered = sorted(
        (int(name[len(start) :]), name) for name in _spool_names(path) if name[len(start) :].isdigit()
    )
    return [os.path.join(_spool_folder(path), name) for _, name in numbered]


def _make_folder(path: str) -> None:
    """Create the private folder of the spool. Raise OSError if it is a link."""
    folder = _spool_folder(path)
    if os.path.islink(folder):
        raise OSError(errno.ELOOP, "it is a symbolic link")
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)


def _take_waiting(path: str) -> None:
    """Rename the file of waiting lines, so that nothing more is appended to it."""
    for left in _spool_names(path):
        # of a process that was killed
        if left.endswith(PART_SUFFIX):
            os.unlink(os.path.join(_spool_folder(path), left))
    name = _spool_path(path, WAITING_SUFFIX)
    if not _is_plain_file(name):
        return
    older = [int(taken.rpartition(TAKEN_SUFFIX)[2]) for taken in _taken_files(path)]
    with _lock_file(name):
        os.rename(name, _spool_path(path, f"{TAKEN_SUFFIX}{max(older, default=0) + 1}"))


def _read_lines(name: str) -> Iterator[bytes]:
    """Yield the lines of a plain file that are not blank."""
    if not _is_plain_file(name):
        return
    with open(os.open(name, os.O_RDONLY | OPEN_FLAGS), "rb") as file:
        for line in file:
            if line.strip():
                yield line.rstrip(b"\n")


def _is_plain_file(name: str) -> bool:
    """Return whether there is a plain file of this name: a link is not followed, and a pipe would block for ever."""
    try:
        return stat.S_ISREG(os.lstat(name).st_mode) and not os.path.islink(os.path.dirname(name))
    except FileNotFoundError:
        return False


def _decode_line(line: bytes) -> str:
    """Return a line as text."""
    return line.decode("utf-8", "replace")


def _replace_lines(name: str, lines: list[bytes]) -> None:
    """Replace the lines of a file, whole or not at all."""
    part = name + PART_SUFFIX
    handle = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | OPEN_FLAGS, 0o600)
    try:
        _write_synced(handle, b"".join(line + b"\n" for line in lines))
    finally:
        os.close(handle)
    os.replace(part, name)


def _write_synced(handle: int, raw: bytes) -> None:
    """Write all of it, and sync it to the disk."""
    if os.write(handle, raw) != len(raw):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


@contextmanager
def _lock_file(name: str) -> Iterator[int]:
    """Open a file for appending, under a lock: no other process writes or renames it meanwhile."""
    while True:
        handle = os.open(name, os.O_CREAT | os.O_RDWR | OPEN_FLAGS, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            same = os.fstat(handle).st_ino == os.stat(name).st_ino
        except FileNotFoundError:
            same = False
        if same:
            break
        # another process took it while this one waited
        os.close(handle)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _lock_spool(path: str) -> Iterator[bool]:
    """Yield whether this process holds the lock of the spool; the lock of a killed process is released by the
    system."""
    handle = os.open(_spool_path(path, LOCK_SUFFIX), os.O_CREAT | os.O_RDWR | OPEN_FLAGS, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    else:
        yield True
    finally:
        os.close(handle)
