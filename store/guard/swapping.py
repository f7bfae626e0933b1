"""Put bytes where a guarded file is, if it still has those that a person was shown: the last step of a restore."""

import os
from contextlib import closing
from hashlib import sha256

import apsw

from store.base.errors import Conflict
from store.documents import atomic_write
from store.documents.paths import Root, Unreadable
from store.guard.files import LARGEST_LINES, Guarded

LOCKED = "it is locked: its tool is at work"
AGAIN = "Nothing of it was changed. Look again: memoranda guard"
BESIDE = ("-wal", "-journal")


def swap(file: Guarded, shown: bytes | None, wanted: bytes | None, mode: int) -> None:
    """Replace the content `shown` of a file by the one that is `wanted`; None is no file. Raise Conflict where it has
    another one by now, or cannot be written; it is then unchanged."""
    folder, name = os.path.split(file.path)
    try:
        if os.path.realpath(folder) != folder:
            raise Unreadable("a folder on the way to it is a symbolic link now")
        if file.database and shown is not None and wanted is not None and _opens(file.path):
            _into_database(file, shown, wanted)
            return
        if file.database and (left := [end for end in BESIDE if os.path.lexists(file.path + end)]):
            raise Unreadable(f"its {left[0]} is still there, and belongs to other content")
        place = Root(folder, (name,), file.path)
        if wanted is None and shown is not None:
            atomic_write.remove(place, sha256(shown).digest(), LARGEST_LINES)
        elif shown is None and wanted is not None:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            atomic_write.create(place, wanted, mode)
        elif shown is not None and wanted is not None:
            atomic_write.replace(place, sha256(shown).digest(), wanted, max(LARGEST_LINES, len(shown)))
    except OSError as error:
        raise refused(file, (error.strerror or type(error).__name__).lower()) from None
    except Unreadable as error:
        raise refused(file, str(error)) from None


def refused(file: Guarded, why: str) -> Conflict:
    return Conflict(f"{file.path} was not changed: {why}.", AGAIN)


def _opens(path: str) -> bool:
    """Return whether SQLite can read it: a damaged one is replaced as any other file is."""
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        try:
            connection.pragma("schema_version")
        except (apsw.NotADBError, apsw.CorruptError):
            return False
        except apsw.Error:
            pass  # locked, which is told below
    return True


def _into_database(file: Guarded, shown: bytes, wanted: bytes) -> None:
    """Copy the pages of a kept version into a database, in one transaction of SQLite: programs that have it open see
    the one or the other. Raise Unreadable."""
    try:
        with (
            closing(apsw.Connection(file.path, flags=apsw.SQLITE_OPEN_READWRITE)) as target,
            closing(apsw.Connection(":memory:")) as source,
        ):
            target.set_busy_timeout(0)
            source.deserialize("main", wanted[:18] + b"\1\1" + wanted[20:])  # its log is folded in
            target.execute("BEGIN EXCLUSIVE")
            found = target.serialize("main")  # not by a handle of ours: closing one would drop SQLite's locks
            target.execute("ROLLBACK")
            if found != shown:
                raise Unreadable(atomic_write.CHANGED)
            with target.backup("main", source, "main") as copying:
                copying.step()
                if not copying.done:
                    raise Unreadable(LOCKED)
    except (apsw.BusyError, apsw.LockedError):
        raise Unreadable(LOCKED) from None
    except apsw.Error as error:
        raise Unreadable(f"SQLite refused ({type(error).__name__})") from None
