"""Decide whether a file is ours, before anything in it is run or changed."""

import os

import apsw

from store.base import installation
from store.base.errors import NotOurs, StorageError
from store.base.installation import Known
from store.base.location import checkout_root
from store.database.connection import guard, reading

IDENTITY = "identity"  # in `meta`
LARGEST_COPY = 256 << 20  # bytes of a memory that is compared with another, both of them in memory meanwhile
_READ = f"SELECT value FROM meta WHERE key = '{IDENTITY}'"
_NEWEST = "SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1"
NOTE_SECONDS = 600  # age of the stored step from which on it is replaced
STEPS = (
    "`memoranda --look COMMAND` looks at it, read-only; `memoranda adopt --as-proposals` takes it as proposals;"
    " `memoranda adopt --whole` takes it as it is, if it is yours."
)


class Trust:
    """Check of the memory at `path` while it is opened, whose entry was `known` before."""

    __slots__ = ("known", "path")

    def __init__(self, path: str, known: Known | None = None) -> None:
        self.path = path
        self.known = known

    def admit(self, connection: apsw.Connection) -> None:
        """Raise NotOurs for a file that is not the one this installation knows at this place."""
        ours = self.known
        identity = identity_of(connection)
        if ours is None or identity != ours.identity:  # made since then, here or by another process
            ours = installation.known(self.path)
        if ours is None or identity != ours.identity:
            raise _another(self.path, identity)
        if not _descends(connection, ours):
            raise NotOurs(
                f"{self.path} is an older state of your memory than the one that was here, or one that somebody else"
                " went on from.",
                STEPS,
            )
        if (inode := _inode(self.path)) != ours.inode:
            if tracked(self.path) is not False:
                raise _another(self.path, identity)
            ours.inode = inode
            installation.know(ours)

    def born(self, connection: apsw.Connection) -> None:
        """Give a new file its identity, and store it before the file becomes visible."""
        remember(connection, self.path, os.urandom(16).hex())

    def made(self, path: str) -> None:
        """Record a copy of this memory that was made here, at the place that it will have."""
        made_of(self.path, path)


def remember(connection: apsw.Connection, path: str, identity: str = "") -> bool:
    """Store that the file is ours, with the newest step of its history; with an `identity` write that into it first.
    Return whether it is stored for longer than this process runs."""
    if identity:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (IDENTITY, identity))
    seq, digest = connection.execute(_NEWEST).get or (0, b"")
    found = Known(identity_of(connection), os.path.realpath(path), _inode(path), seq, bytes(digest).hex())
    return installation.know(found)


def note(connection: apsw.Connection, path: str) -> None:
    """Store the newest step of history, if the stored one is old: a file that lacks the stored step is refused."""
    ours = installation.known(path)
    if ours is None or (ours.seq and installation.age(ours.path) < NOTE_SECONDS):
        return
    try:
        seq, digest = connection.execute(_NEWEST).get or (0, b"")
    except apsw.Error:
        return  # it was damaged or deleted meanwhile: the stored step is kept
    if seq > ours.seq:
        ours.seq, ours.digest = seq, bytes(digest).hex()
        installation.know(ours)


def made_of(source: str, path: str) -> None:
    """Store that the file at `path` is ours, made here from the memory at `source`: a backup, a salvage. Do nothing for
    a file made from somebody else's memory."""
    ours = installation.known(source)
    if ours is not None:
        installation.know(Known(ours.identity, os.path.realpath(path), _inode(path)))


def require(path: str) -> Known | None:
    """Return the entry of the memory at `path`, if it is ours; None for one that does not exist yet, and for a file
    that is no memory, which the caller reports when it opens it. One that was moved or copied gets an entry for its new
    place. Raise NotOurs for any other."""
    if (ours := installation.known(path)) is not None:
        return ours  # `Trust.admit` does the rest
    try:
        if os.path.getsize(path) == 0:
            return None
        connection = reading(path, look=True)
    except (OSError, apsw.Error):
        return None
    try:
        guard(connection)
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get:
            return None
        identity = identity_of(connection)
        if (ours := installation.known(path)) is not None:  # made by another process between the two reads
            return ours
        for other in installation.known_as(identity) if identity else ():
            if (
                (_moved(other, path) or _copied(other, path))
                and _descends(connection, other)
                and tracked(path) is False
            ):
                here = Known(identity, os.path.realpath(path), _inode(path), other.seq, other.digest)
                installation.know(here)
                if not os.path.lexists(other.path):
                    installation.unknow(other.path)
                return here
    except apsw.Error:
        return None
    finally:
        connection.close()
    raise _another(path, identity)


def require_room(path: str) -> None:
    """Raise StorageError where a memory made at `path` could not be told from somebody else's later: before anything of
    it is made."""
    if trouble := installation.closed():
        raise StorageError(
            f"{path} is not made: {trouble} No later command could tell that it is yours.",
            "Name a folder that can be written in $XDG_STATE_HOME.",
        )


def ours(path: str) -> bool:
    """Return whether the memory at `path` is not somebody else's, as far as is known before it is opened."""
    try:
        require(path)
    except NotOurs:
        return False
    return True


def tracked(path: str) -> bool | None:
    """Return whether git tracks the file: then whoever can push can write it. None where git cannot tell."""
    root = checkout_root(os.path.dirname(os.path.abspath(path)))
    if root is None:
        return False
    from store.base.cancelling import never
    from store.git.process import GitError, run

    try:
        with run(root, "ls-files", "-z", "--", os.path.realpath(path)) as child:
            found = b"".join(child.chunks(never))
            child.check()
            return bool(found)
    except GitError:
        return None


def same_pages(one: str, other: str) -> bool:
    """Return whether two files are equal, page by page, their logs included."""
    try:
        if max(os.path.getsize(one), os.path.getsize(other)) > LARGEST_COPY:
            return False
        return _pages(one) == _pages(other)
    except (OSError, apsw.Error):
        return False


def _pages(path: str) -> bytes:
    connection = reading(path, look=True)
    try:
        guard(connection)
        return connection.serialize("main")
    finally:
        connection.close()


def _another(path: str, identity: str) -> NotOurs:
    """Return why a file is not ours, as far as is known."""
    if trouble := installation.trouble():
        return NotOurs(
            f"There is no telling whether {path} is yours: {trouble}",
            "Name a folder that can be written in $XDG_STATE_HOME, then: memoranda adopt.",
        )
    in_git = tracked(path)
    if in_git:
        return NotOurs(f"{path} is not yours: git tracks it, so it came with the checkout.", STEPS)
    if in_git is None:
        return NotOurs(f"{path} may have come with the checkout: git cannot say whether it tracks it.", STEPS)
    if not identity:
        return NotOurs(
            f"{path} was made by an earlier version of Memoranda, or it came in an archive.",
            f"If you made it: memoranda adopt --yes. If it came: {STEPS}",
            unmarked=True,
        )
    return NotOurs(
        f"{path} was not made by this installation: it came in an archive, with a copy or from another machine.", STEPS
    )


def identity_of(connection: apsw.Connection) -> str:
    """Return the identity in a file; empty for one from before identities existed."""
    found = connection.execute(_READ).get
    return found if isinstance(found, str) else ""


def _descends(connection: apsw.Connection, known: Known) -> bool:
    """Return whether a file's history continues from the stored step."""
    if not known.seq:
        return True
    found = connection.execute("SELECT digest FROM history WHERE seq = ?", (known.seq,)).get
    return isinstance(found, bytes) and found.hex() == known.digest


def _moved(known: Known, path: str) -> bool:
    return _inode(path) == known.inode and not os.path.lexists(known.path)


def _copied(known: Known, path: str) -> bool:
    return os.path.isfile(known.path) and same_pages(known.path, path)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
