"""The memory's own backups: what is taken out of the memory is taken out of each of them too.

A backup is never changed where it lies. A private copy of it is opened and cleaned, and takes the backup's place only
if there was something to take out: whatever fails, and whenever the process is killed, the backup is the old one or the
new one, and one that held nothing keeps every byte.
"""

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import apsw

from store.base.errors import DiskFull, MemorandaError, StorageError
from store.database.database import Database
from store.database.values import Verbatim
from store.exchange.backup import FOLDER, PAGES, tidy
from store.exchange.backup_manifest import seal
from store.exchange.exporter import put
from store.exchange.scratch_dir import Scratch
from store.purge.proof import prove

Clean = Callable[[Database], bool]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of the backups, by name: those `rewritten`, those `removed`, those `unread` because they cannot be
    looked at, and why the rest is `pending`, empty if none is."""

    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    pending: str = ""


def backups_of(database: Database) -> list[str]:
    """The backups of this memory beside it, Memoranda's own, that can be opened at all; sorted. Other memories' in the
    same folder are not among them."""
    return [path for path, ours in _beside(database) if ours]


def _beside(database: Database) -> list[tuple[str, bool | None]]:
    """(path, whether it is of this memory; None if that cannot be told) of each file in the folder of backups."""
    folder = os.path.join(os.path.dirname(database.path), FOLDER)
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
    """Have `clean` take out of each backup of this memory what was taken out of it; true where there was something.
    One that is damaged and holds one of these texts goes, and so do copies that a killed process left."""
    tidy(database)
    rewritten, removed, unread, pending = list[str](), list[str](), list[str](), ""
    for path, ours in _beside(database):
        name = os.path.basename(path)
        if ours is False:
            continue  # another memory's, in the same folder
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
            with database.write("agent", "backup") as write:  # nobody is to look for it
                write.execute("DELETE FROM backups WHERE name = ?", (Verbatim(name),))
            removed.append(name)
        else:
            unread.append(name)
    return Cleaned(tuple(rewritten), tuple(removed), tuple(unread), pending)


def opened(path: str) -> apsw.Connection:
    """A connection to read a backup by. It may write where that is allowed: one that was being written when its process
    was killed has a journal beside it, which is to be rolled back first, and no log is left beside it."""
    writable = os.access(path, os.W_OK)
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY)


def _birth(path: str) -> str | None:
    """When the memory began of which this file is a backup."""
    connection = opened(path)
    try:
        born: str | None = connection.execute("SELECT value FROM meta WHERE key = 'created_at'").get
        return born
    finally:
        connection.close()


def _rewritten(path: str, clean: Clean) -> bool:
    """Clean a copy of a backup, and put it in the backup's place if there was something to take out. Raises
    MemorandaError, apsw.Error."""
    try:
        times = os.stat(path)
        with Scratch(path) as folder:
            copy = os.path.join(folder, "memory.db")
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            _copy(path, copy)
            backup = Database(copy, "worker", create=False)
            try:
                if not clean(backup):
                    return False
                backup.connection.pragma("journal_mode", "delete")  # as a backup is left: one file, without a log
            finally:
                backup.close()
            os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))  # its age is when it was taken
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
