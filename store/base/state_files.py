"""State of this installation, outside of every checkout: which memories belong to it, what a person allowed.

It is in the person's folder for state, private. A checkout, an archive or a share cannot write there, so what is found
there was written by this installation. Where that folder cannot be written, the state holds for this process alone, and
`last_state_problem` gives the reason.
"""

import hmac
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO

from store.base.errors import StorageError
from store.base.location import platform_folder

INSTALLATION_KEY = "key"
MEMORIES_FOLDER = "memories"
TEAMS_FOLDER = "teams"
# in the folder of a team: the memory that it is of
TEAM_PATH_FILE = "path"
# bytes of a file that is read
MAX_STATE_BYTES = 1_000_000
# what could not be written, for this process
_state_in_process: dict[str, str] = {}
# by name, why
_write_problems: dict[str, str] = {}


@dataclass(slots=True, eq=False, repr=False)
class KnownMemory:
    """The entry of a memory: its `identity`, where it was (`path`, `inode`), and a step of its history with its
    `digest`; 0 and empty before the first."""

    identity: str
    path: str
    inode: int
    seq: int = 0
    digest: str = ""


def find_known_memory(path: str) -> KnownMemory | None:
    """Return the entry of the memory at `path`; None unless this installation made or adopted it."""
    real = os.path.realpath(path)
    found = _read_known_memory(_hash_state_name(MEMORIES_FOLDER, real))
    return found if found is not None and found.path == real else None


def list_known_memories() -> list[KnownMemory]:
    """List the entries of all memories, and of their copies."""
    found = (_read_known_memory(name) for name in list_state_names(MEMORIES_FOLDER))
    return [one for one in found if one is not None]


def find_memories_by_identity(identity: str) -> list[KnownMemory]:
    """List all entries of an identity: a memory, and its copies."""
    return [one for one in list_known_memories() if one.identity == identity]


def save_known_memory(memory: KnownMemory) -> bool:
    """Store the entry of a memory under its path; return whether it is on the disk. That of another memory, which was
    there before and may have been moved, is kept under another name."""
    before = find_known_memory(memory.path)
    if before is not None and before.identity != memory.identity:
        _write_known_memory(_hash_state_name(MEMORIES_FOLDER, f"{before.path}\0{before.identity}"), before)
    return _write_known_memory(state_name_of(MEMORIES_FOLDER, memory.path), memory)


def _write_known_memory(name: str, memory: KnownMemory) -> bool:
    text = f"{memory.identity}\n{memory.inode}\n{memory.seq}\n{memory.digest}\n{memory.path}"
    return write_state(name, text)


def delete_known_memory(path: str) -> None:
    """Delete the entry of the memory that was at `path`."""
    delete_state(state_name_of(MEMORIES_FOLDER, path))


def _read_known_memory(name: str) -> KnownMemory | None:
    """Return the entry that is stored under a name; None if there is none or it is not valid."""
    identity, *numbers = read_state(name).split("\n", 4)
    if len(numbers) != 4 or not (numbers[0].isdigit() and numbers[1].isdigit()):
        return None
    return KnownMemory(identity, numbers[3], int(numbers[0]), int(numbers[1]), numbers[2])


def team_folder(path: str) -> str:
    """Return the folder for what the memory at `path` shares with a team; it need not exist. A memory that was moved
    keeps its folder, a copy gets one of its own.

    It is here and not beside the memory: a checkout could bring one along that shares, believes or runs what its author
    wants."""
    real = os.path.realpath(path)
    place, ours = _hash_state_name("", real), find_known_memory(path)
    if ours is None or not ours.identity:
        return os.path.join(state_folder(), TEAMS_FOLDER, place)
    before = read_state(os.path.join(TEAMS_FOLDER, ours.identity, TEAM_PATH_FILE))
    copied = before not in ("", real) and os.path.lexists(before)
    return os.path.join(state_folder(), TEAMS_FOLDER, f"{ours.identity}-{place[:8]}" if copied else ours.identity)


def save_team_path(path: str) -> None:
    """Store which memory the team's folder of the memory at `path` belongs to."""
    name = os.path.join(TEAMS_FOLDER, os.path.basename(team_folder(path)), TEAM_PATH_FILE)
    if read_state(name) != (real := os.path.realpath(path)):
        write_state(name, real)


def state_folder() -> str:
    """Return the folder for the state of this installation; it need not exist."""
    root = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.join(os.path.expanduser("~"), ".local", "state")
    return platform_folder("state") or os.path.join(os.path.expanduser(root), "memoranda")


def last_state_problem() -> str:
    """Return why something could not be stored, or why nothing can be stored now, in a sentence; empty if neither
    applies."""
    return next(reversed(_write_problems.values()), "") or state_write_problem()


def state_write_problem() -> str:
    """Return why nothing can be stored now, in a sentence; empty if it can."""
    there = state_folder()
    while not os.path.lexists(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    return "" if os.access(there, os.W_OK) and os.path.isdir(there) else f"{state_folder()} cannot be written."


def state_name_of(kind: str, path: str) -> str:
    """Return the name under which an entry of a `kind` is stored for the file at `path`."""
    return _hash_state_name(kind, os.path.realpath(path))


def _hash_state_name(kind: str, real: str) -> str:
    return os.path.join(kind, sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:32])


def read_state(name: str) -> str:
    """Return the text stored under a name; empty if there is none, or it is not this person's own private file."""
    try:
        handle = os.open(
            os.path.join(state_folder(), name), os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        )
    except OSError:
        return _state_in_process.get(name, "")
    try:
        status = os.fstat(handle)
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return _state_in_process.get(name, "")
        return os.read(handle, min(status.st_size, MAX_STATE_BYTES)).decode("utf-8", "surrogateescape")
    except OSError:
        return _state_in_process.get(name, "")
    finally:
        os.close(handle)


def state_age(name: str) -> float:
    """Return the seconds since what is stored under a name was written; 0 if nothing is."""
    try:
        return time.time() - os.stat(os.path.join(state_folder(), name)).st_mtime
    except OSError:
        return 0.0


def list_state_names(kind: str) -> list[str]:
    """List the names under which entries of a kind are stored."""
    try:
        found = {
            os.path.join(kind, name) for name in os.listdir(os.path.join(state_folder(), kind)) if "." not in name
        }
    except OSError:
        found = set()
    return sorted(found | {name for name in _state_in_process if name.startswith(os.path.join(kind, ""))})


def write_state(name: str, text: str, once: bool = False) -> bool:
    """Store a text under a name, whole or not at all; return whether it is on the disk. Where it is not, it holds for
    this process. What is stored `once` is never changed."""
    path = os.path.join(state_folder(), name)
    part = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(handle, text.encode("utf-8", "surrogateescape"))
            os.fsync(handle)
        finally:
            os.close(handle)
        if once:
            try:
                os.link(part, path)
            except FileExistsError:
                # another process was first
                pass
            finally:
                os.unlink(part)
        else:
            os.replace(part, path)
    except OSError as error:
        _state_in_process[name] = text
        _write_problems[name] = f"{state_folder()} cannot be written: {error.strerror or type(error).__name__}."
        return False
    _state_in_process.pop(name, None)
    _write_problems.pop(name, None)
    return True


@contextmanager
def replace_whole_file(path: str) -> Iterator[BinaryIO]:
    """Yield a private file beside `path` to write to; at its end it is synced and takes that name, or nothing of it is
    left. Whoever reads the file meanwhile has the old one. Raise OSError."""
    part = f"{path}.{os.urandom(4).hex()}.part"
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def delete_state(name: str) -> None:
    """Delete what is stored under a name."""
    _state_in_process.pop(name, None)
    _write_problems.pop(name, None)
    try:
        os.unlink(os.path.join(state_folder(), name))
    except OSError:
        # nothing was stored, or nothing can be changed there
        pass


def state_folder_error() -> StorageError:
    """Return the error for the last state that could not be stored."""
    return StorageError(last_state_problem(), "Name a folder that can be written in $XDG_STATE_HOME.")


def load_installation_key() -> bytes:
    """Return this installation's own key, created at first use. Raise StorageError where it cannot be stored."""
    if not (found := read_state(INSTALLATION_KEY)):
        write_state(INSTALLATION_KEY, os.urandom(32).hex(), once=True)
        found = read_state(INSTALLATION_KEY)
    if INSTALLATION_KEY in _state_in_process:
        raise state_folder_error()
    return bytes.fromhex(found)


def sign_bytes(data: bytes) -> str:
    """Return a signature of these bytes that only this installation can make: 64 hexadecimal digits. Raise
    StorageError."""
    return hmac.digest(load_installation_key(), data, "sha256").hex()


def is_own_signature(data: bytes, seal: str) -> bool:
    """Return whether this installation signed these bytes. Raise StorageError."""
    return hmac.compare_digest(sign_bytes(data).encode(), seal.encode("utf-8", "replace"))
