"""State of this installation, outside of every checkout: which memories belong to it, what a person allowed.

It is in the person's folder for state, private. A checkout, an archive or a share cannot write there, so what is found
there was written by this installation. Where that folder cannot be written, the state holds for this process alone, and
`trouble` gives the reason.
"""

import os
import sys
from hashlib import sha256

from store.base.errors import StorageError

KEY = "key"
MEMORIES = "memories"
TEAMS = "teams"
TEAM_PATH = "path"  # in the folder of a team: the memory that it is of
LARGEST = 1_000_000  # bytes of a file that is read
_here: dict[str, str] = {}  # what could not be written, for this process
_trouble: list[str] = []


class Known:
    """The entry of a memory: its `identity`, where it was (`path`, `inode`), and a step of its history with its
    `digest`; 0 and empty before the first."""

    __slots__ = ("digest", "identity", "inode", "path", "seq")

    def __init__(self, identity: str, path: str, inode: int, seq: int = 0, digest: str = "") -> None:
        self.identity = identity
        self.path = path
        self.inode = inode
        self.seq = seq
        self.digest = digest


def known(path: str) -> Known | None:
    """Return the entry of the memory at `path`; None where there is none that this installation made or adopted."""
    real = os.path.realpath(path)
    found = _known(_name(MEMORIES, real))
    return found if found is not None and found.path == real else None


def age(path: str) -> float:
    """Return the seconds since the entry of the memory at `path` was written."""
    import time

    try:
        return time.time() - os.stat(os.path.join(folder(), name_of(MEMORIES, path))).st_mtime
    except OSError:
        return 0.0


def memories() -> list[Known]:
    """List the entries of all memories, and of their copies."""
    found = (_known(name) for name in names(MEMORIES))
    return [one for one in found if one is not None]


def known_as(identity: str) -> list[Known]:
    """List all entries of an identity: a memory, and its copies."""
    return [one for one in memories() if one.identity == identity]


def know(memory: Known) -> bool:
    """Store the entry of a memory, by its place; return whether it is on the disk."""
    text = f"{memory.identity}\n{memory.inode}\n{memory.seq}\n{memory.digest}\n{memory.path}"
    return keep(name_of(MEMORIES, memory.path), text)


def unknow(path: str) -> None:
    """Delete the entry of the memory that was at `path`."""
    drop(name_of(MEMORIES, path))


def _known(name: str) -> Known | None:
    identity, *numbers = read(name).split("\n", 4)
    if len(numbers) != 4 or not (numbers[0].isdigit() and numbers[1].isdigit()):
        return None
    return Known(identity, numbers[3], int(numbers[0]), int(numbers[1]), numbers[2])


def team_folder(path: str) -> str:
    """Return the folder for what the memory at `path` shares with a team; it need not exist. A memory that was moved
    keeps its folder, a copy gets one of its own.

    It is here and not beside the memory: a checkout could bring one along that shares, believes or runs what its author
    wants."""
    real = os.path.realpath(path)
    place, ours = _name("", real), known(path)
    if ours is None or not ours.identity:
        return os.path.join(folder(), TEAMS, place)
    before = read(os.path.join(TEAMS, ours.identity, TEAM_PATH))
    copied = before not in ("", real) and os.path.lexists(before)
    return os.path.join(folder(), TEAMS, f"{ours.identity}-{place[:8]}" if copied else ours.identity)


def know_team(path: str) -> None:
    """Store whose the team's folder of the memory at `path` is."""
    name = os.path.join(TEAMS, os.path.basename(team_folder(path)), TEAM_PATH)
    if read(name) != (real := os.path.realpath(path)):
        keep(name, real)


def folder() -> str:
    """Return the folder for state, as `platformdirs.user_state_path("memoranda")` does, whose import costs a command 10
    ms of its 30."""
    if sys.platform == "darwin" or os.name == "nt":
        from platformdirs import user_state_path

        return str(user_state_path("memoranda", appauthor=False))
    root = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(os.path.expanduser(root), "memoranda")


def trouble() -> str:
    """Return why something could not be stored, or could not be now, in a sentence; empty if all can."""
    return _trouble[-1] if _trouble else closed()


def closed() -> str:
    """Return why nothing can be stored now, in a sentence; empty if it can."""
    there = folder()
    while not os.path.lexists(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    return "" if os.access(there, os.W_OK) and os.path.isdir(there) else f"{folder()} cannot be written."


def name_of(kind: str, path: str) -> str:
    """Return the name under which an entry of a `kind` is stored for the file at `path`."""
    return _name(kind, os.path.realpath(path))


def _name(kind: str, real: str) -> str:
    return os.path.join(kind, sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:32])


def read(name: str) -> str:
    """Return the text stored under a name; empty if there is none, or it is not this person's own private file."""
    try:
        handle = os.open(os.path.join(folder(), name), os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return _here.get(name, "")
    try:
        status = os.fstat(handle)
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return _here.get(name, "")
        return os.read(handle, LARGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return _here.get(name, "")
    finally:
        os.close(handle)


def names(kind: str) -> list[str]:
    """List the names under which entries of a kind are stored."""
    try:
        found = {os.path.join(kind, name) for name in os.listdir(os.path.join(folder(), kind)) if "." not in name}
    except OSError:
        found = set()
    return sorted(found | {name for name in _here if name.startswith(os.path.join(kind, ""))})


def keep(name: str, text: str, once: bool = False) -> bool:
    """Store a text under a name, whole or not at all; return whether it is on the disk. Where it is not, it holds for
    this process. What is stored `once` is never changed."""
    path = os.path.join(folder(), name)
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
                pass  # another process was first
            finally:
                os.unlink(part)
        else:
            os.replace(part, path)
    except OSError as error:
        _here[name] = text
        _trouble.append(f"{folder()} cannot be written: {error.strerror or type(error).__name__}.")
        return False
    _here.pop(name, None)
    return True


def drop(name: str) -> None:
    """Delete what is stored under a name."""
    _here.pop(name, None)
    try:
        os.unlink(os.path.join(folder(), name))
    except OSError:
        pass  # nothing was stored, or nothing can be changed there


def key() -> bytes:
    """Return this installation's own key, created at first use. Raise StorageError where it cannot be stored."""
    if not (found := read(KEY)):
        keep(KEY, os.urandom(32).hex(), once=True)
        found = read(KEY)
    if KEY in _here:
        raise StorageError(trouble(), "Name a folder that can be written in $XDG_STATE_HOME.")
    return bytes.fromhex(found)


def sign(data: bytes) -> str:
    """Return a signature of these bytes that only this installation can make: 64 hexadecimal digits. Raise
    StorageError."""
    import hmac

    return hmac.digest(key(), data, "sha256").hex()


def signed(data: bytes, seal: str) -> bool:
    """Return whether this installation signed these bytes. Raise StorageError."""
    import hmac

    return hmac.compare_digest(sign(data).encode(), seal.encode("utf-8", "replace"))
