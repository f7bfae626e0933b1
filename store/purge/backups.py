"""The memory's own backups: remove from each what is removed from the memory.

A backup is never changed in place. A private copy is opened and cleaned, and replaces the backup only if something was
removed. After any failure or kill the backup is the old one or the new one; one that held nothing is unchanged byte for
byte.
"""

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import apsw

from store.base.errors import DiskFull, MemorandaError, StorageError
from store.base.location import BACKUPS
from store.conversion import convert
from store.database.database import Database
from store.database.values import Verbatim
from store.exchange.backups.backup import PAGES
from store.exchange.backups.due import tidy
from store.exchange.backups.manifest import seal
from store.exchange.exporter import put
from store.exchange.scratch_dir import Scratch
from store.purge.proof import prove

Clean = Callable[[Database], bool]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Result for the backups, by name: `rewritten`, `removed`, `unread` (could not be examined), and why the rest is
    `pending` (empty if none is)."""

    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    pending: str = ""


def backups_of(database: Database) -> list[str]:
    """List the backups of this memory that can be opened, sorted; those of other memories in the folder are omitted."""
    return [path for path, ours in _beside(database) if ours]


def _beside(database: Database) -> list[tuple[str, bool | None]]:
    """List (path, whether it is of this memory, None if unknown) for each file in the folder of backups."""
    folder = os.path.join(os.path.dirname(database.path), BACKUPS)
    birth = database.value("SELECT value FROM meta WHERE key = 'created_at'")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".db"))
    except OSError:
        return []
    found: list[tuple[str, bool | None]] = []
    for path in (os.path.join(folder, name) for name in names):
        try:
            found.append((path, _birth(path) == birth))
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.CantOpenError):
            found.append((path, None))
    return found


def in_backups(database: Database, clean: Clean, texts: Sequence[str] = ()) -> Cleaned:
    """Run `clean` on each backup of this memory; `clean` returns whether it removed something. Delete a damaged backup
    that holds one of `texts`, and copies left by a killed process."""
    tidy(database)
    rewritten, removed, unread, pending = list[str](), list[str](), list[str](), ""
    for path, ours in _beside(database):
        name = os.path.basename(path)
        if ours is False:
            continue  # of another memory in the same folder
        try:
            if ours and _rewritten(path, clean):
                rewritten.append(name)
                seal(database, path)
            if ours:
                continue
        except DiskFull:
            pending = f"The disk is too full to rewrite the backup {name}."
            continue
        except apsw.BusyError:
            pending = f"Another program is using the backup {name}."
            continue
        except (MemorandaError, apsw.Error):
            pass
        if ours and texts and any(one.found for one in prove(texts, [path])):
            os.unlink(path)
            with database.write("agent", "backup") as write:  # stop later purges from looking for it
                write.execute("DELETE FROM backups WHERE name = ?", (Verbatim(name),))
            removed.append(name)
        else:
            unread.append(name)
    return Cleaned(tuple(rewritten), tuple(removed), tuple(unread), pending)


def opened(path: str) -> apsw.Connection:
    """Open a backup for reading. Writing is allowed where permissions allow it: the journal of a process killed while
    writing must be rolled back first, and no log may be left beside the file."""
    writable = os.access(path, os.W_OK)
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY)


def _birth(path: str) -> str | None:
    """Return the creation time of the memory that this file is a backup of."""
    connection = opened(path)
    try:
        born: str | None = connection.execute("SELECT value FROM meta WHERE key = 'created_at'").get
        return born
    finally:
        connection.close()


def _rewritten(path: str, clean: Clean) -> bool:
    """Clean a copy of a backup and replace the backup if something was removed; return whether it was. Raise
    MemorandaError or apsw.Error."""
    try:
        times = os.stat(path)
        with Scratch(path) as folder:
            copy = os.path.join(folder, "memory.db")
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            _copy(path, copy)
            backup = Database(copy, "worker", create=False, convert=convert)
            try:
                if not clean(backup):
                    return False
                backup.connection.pragma("journal_mode", "delete")  # a backup is one file, without a log
            finally:
                backup.close()
            os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))  # the age of a backup is the time it was made
            put(copy, path, replace=True)
            for beside in (f"{path}-wal", f"{path}-shm", f"{path}-journal"):
                if os.path.lexists(beside):
                    os.unlink(beside)
            return True
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk that holds {path} is full.", "Free some space and try again.") from None
        raise StorageError(f"{path} cannot be rewritten: {error.strerror}.", "Look at its folder.") from None
    except apsw.FullError:
        raise DiskFull(f"The disk that holds {path} is full.", "Free some space and try again.") from None


def _copy(path: str, copy: str) -> None:
    source = opened(path)
    try:
        target = apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with target.backup("main", source, "main") as copying:
                while not copying.done:
                    copying.step(PAGES)
        finally:
            target.close()
    finally:
        source.close()
