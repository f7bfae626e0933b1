"""Decide whether a file is ours, before anything in it is run or changed."""

import os
from dataclasses import dataclass

import apsw

from store.base.errors import NotOurs, StorageError
from store.base.state_files import (
    MEMORIES_FOLDER,
    KnownMemory,
    delete_known_memory,
    find_known_memory,
    find_memories_by_identity,
    last_state_problem,
    save_known_memory,
    state_age,
    state_name_of,
    state_write_problem,
)
from store.database.change_capture import read_newest_step
from store.database.connection import guard_connection, open_for_reading
from store.git.checkout import is_tracked_by_git

# in `meta`
IDENTITY_KEY = "identity"
# bytes of a memory that is compared with another, both of them in memory meanwhile
MAX_COMPARED_BYTES = 256 << 20
_SELECT_IDENTITY = f"SELECT value FROM meta WHERE key = '{IDENTITY_KEY}'"
# age of the stored step from which on it is replaced
KNOWN_STEP_SECONDS = 600
ADOPT_ADVICE = (
    "`memoranda --look COMMAND` looks at it, read-only; `memoranda import --adopt --as-proposals` takes it as"
    " proposals; `memoranda import --adopt --whole` takes it as it is, if it is yours."
)


@dataclass(slots=True, eq=False, repr=False)
class Trust:
    """Check of the memory at `path` while it is opened, whose entry was `known` before."""

    path: str
    known: KnownMemory | None = None

    def admit(self, connection: apsw.Connection) -> None:
        """Raise NotOurs for a file that is not the one this installation knows at this place."""
        ours = self.known
        identity = read_identity(connection)
        # made since then, here or by another process
        if ours is None or identity != ours.identity:
            ours = find_known_memory(self.path)
        if ours is None or identity != ours.identity:
            ours = _find_entry_elsewhere(connection, self.path, identity)
        if ours is None:
            raise _not_ours_error(self.path, identity)
        if not _continues_from(connection, ours):
            raise NotOurs(
                f"{self.path} is an older state of your memory than the one that was here, or one that somebody else"
                " went on from.",
                ADOPT_ADVICE,
            )
        if (inode := _inode_of(self.path)) != ours.inode:
            if is_tracked_by_git(self.path) is not False:
                raise _not_ours_error(self.path, identity)
            ours.inode = inode
            save_known_memory(ours)

    def register_new_file(self, connection: apsw.Connection) -> None:
        """Give a new file its identity, and store it before the file becomes visible."""
        register_ownership(connection, self.path, os.urandom(16).hex())

    def register_copy(self, path: str) -> None:
        """Record a copy that this installation made of this memory, under the path where it will be."""
        register_copy_of(self.path, path)


def register_ownership(connection: apsw.Connection, path: str, identity: str = "") -> bool:
    """Store that the file is ours, with the newest step of its history; with an `identity` write that into it first.
    Return whether it is stored for longer than this process runs."""
    if identity:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (IDENTITY_KEY, identity))
    seq, digest = read_newest_step(connection)
    found = KnownMemory(
        read_identity(connection), os.path.realpath(path), _inode_of(path), seq, bytes(digest).hex()
    )
    return save_known_memory(found)


def update_known_step(connection: apsw.Connection, path: str) -> None:
    """Store the newest step of history, if the stored one is old: a file that lacks the stored step is refused."""
    ours = find_known_memory(path)
    if ours is None or (ours.seq and state_age(state_name_of(MEMORIES_FOLDER, ours.path)) < KNOWN_STEP_SECONDS):
        return
    try:
        seq, digest = read_newest_step(connection)
    except apsw.Error:
        # it was damaged or deleted meanwhile: the stored step is kept
        return
    if seq > ours.seq:
        ours.seq, ours.digest = seq, bytes(digest).hex()
        save_known_memory(ours)


def register_copy_of(source: str, path: str) -> None:
    """Store that the file at `path` is ours, made here from the memory at `source`: a backup, a salvage. Do nothing for
    a file made from somebody else's memory."""
    ours = find_known_memory(source)
    if ours is not None:
        save_known_memory(KnownMemory(ours.identity, os.path.realpath(path), _inode_of(path)))


def require_trust(path: str) -> KnownMemory | None:
    """Return the entry of the memory at `path` if it is ours; None if it does not exist yet, and for a file that
    is no memory, which the caller reports when it opens it. A memory that was moved or copied gets an entry for
    its new place. Raise NotOurs for any other memory."""
    if (ours := find_known_memory(path)) is not None:
        # `Trust.admit` does the rest
        return ours
    try:
        if os.path.getsize(path) == 0:
            return None
        connection = open_for_reading(path, look=True)
    except (OSError, apsw.Error):
        return None
    try:
        guard_connection(connection)
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get:
            return None
        identity = read_identity(connection)
        # made by another process between the two reads
        if (ours := find_known_memory(path)) is not None:
            return ours
        if (ours := _find_entry_elsewhere(connection, path, identity)) is not None:
            return ours
    except apsw.Error:
        return None
    finally:
        connection.close()
    raise _not_ours_error(path, identity)


def _find_entry_elsewhere(connection: apsw.Connection, path: str, identity: str) -> KnownMemory | None:
    """Return the entry of a memory that was moved or copied to `path`, stored for its new place; None if it was not."""
    for other in find_memories_by_identity(identity) if identity else ():
        if (
            (_is_moved_file(other, path) or _is_copied_file(other, path))
            and _continues_from(connection, other)
            and is_tracked_by_git(path) is False
        ):
            here = KnownMemory(identity, os.path.realpath(path), _inode_of(path), other.seq, other.digest)
            save_known_memory(here)
            if not os.path.lexists(other.path):
                delete_known_memory(other.path)
            return here
    return None


def require_writable_state(path: str) -> None:
    """Raise StorageError where a memory made at `path` could not be told from somebody else's later: before anything of
    it is made."""
    if trouble := state_write_problem():
        raise StorageError(
            f"{path} is not made: {trouble} No later command could tell that it is yours.",
            "Name a folder that can be written in $XDG_STATE_HOME.",
        )


def is_own_memory(path: str) -> bool:
    """Return whether the memory at `path` is not somebody else's, as far as is known before it is opened."""
    try:
        require_trust(path)
    except NotOurs:
        return False
    return True


def has_same_pages(one: str, other: str) -> bool:
    """Return whether two files are equal, page by page, their logs included."""
    try:
        if max(os.path.getsize(one), os.path.getsize(other)) > MAX_COMPARED_BYTES:
            return False
        return _read_pages(one) == _read_pages(other)
    except (OSError, apsw.Error):
        return False


def _read_pages(path: str) -> bytes:
    """Return all pages of a file, with what its log holds."""
    connection = open_for_reading(path, look=True)
    try:
        guard_connection(connection)
        return connection.serialize("main")
    finally:
        connection.close()


def _not_ours_error(path: str, identity: str) -> NotOurs:
    """Return why a file is not ours, as far as is known."""
    if trouble := last_state_problem():
        return NotOurs(
            f"There is no telling whether {path} is yours: {trouble}",
            "Name a folder that can be written in $XDG_STATE_HOME, then: memoranda import --adopt.",
        )
    in_git = is_tracked_by_git(path)
    if in_git:
        return NotOurs(f"{path} is not yours: git tracks it, so it came with the checkout.", ADOPT_ADVICE)
    if in_git is None:
        return NotOurs(
            f"{path} may have come with the checkout: git cannot say whether it tracks it.", ADOPT_ADVICE
        )
    if not identity:
        return NotOurs(
            f"{path} was made by an earlier version of Memoranda, or it came in an archive.",
            f"If you made it: memoranda import --adopt --yes. If it came: {ADOPT_ADVICE}",
            unmarked=True,
        )
    return NotOurs(
        f"{path} was not made by this installation: it came in an archive, with a copy or from another machine.",
        ADOPT_ADVICE,
    )


def read_identity(connection: apsw.Connection) -> str:
    """Return the identity in a file; empty if the file is from before identities existed."""
    found = connection.execute(_SELECT_IDENTITY).get
    return found if isinstance(found, str) else ""


def _continues_from(connection: apsw.Connection, known: KnownMemory) -> bool:
    """Return whether a file's history continues from the stored step."""
    if not known.seq:
        return True
    found = connection.execute("SELECT digest FROM history WHERE seq = ?", (known.seq,)).get
    return isinstance(found, bytes) and found.hex() == known.digest


def _is_moved_file(known: KnownMemory, path: str) -> bool:
    """Tell whether the file at `path` is a known memory that was moved: its inode, and that is not at the old place."""
    return _inode_of(path) == known.inode != _inode_of(known.path)


def _is_copied_file(known: KnownMemory, path: str) -> bool:
    """Tell whether the file at `path` is a copy of a known memory, equal page by page."""
    return os.path.isfile(known.path) and has_same_pages(known.path, path)


def _inode_of(path: str) -> int:
    """Return the inode of a file; 0 if it cannot be read."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
