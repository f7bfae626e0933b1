"""Backups: copies of the memory file in `backups` beside it, each verified before it gets its name.

A copy is made by SQLite's own backup of one moment. It is then restored into a scratch store, opened in the ordinary
way, and compared row by row with that same moment. Checksums of its content are stored, so that a later check can
detect changes. Only SQLite opens the memory file: closing another handle would drop its locks.
"""

import json
import os

import apsw

from store.base.cancelling import Cancelled, never
from store.base.clock import DAY_MS, ago, how_long_ago, to_ms
from store.base.errors import Conflict, DamagedFile, ForeignFile, NotFound, StorageError
from store.base.installation import unknow
from store.conversion import convert
from store.database.connection import connect, explain, utf8
from store.database.database import Database
from store.database.files import is_database, plain_name
from store.database.schema.version import APPLICATION_ID
from store.database.values import Verbatim
from store.exchange import noted_exports
from store.exchange.backups import export_check
from store.exchange.backups.due import folder_of, tidy
from store.exchange.backups.manifest import contents
from store.exchange.backups.retention import kept
from store.exchange.export_reader import is_document
from store.exchange.export_schema import TABLES
from store.exchange.exporter import moment, put, section_of
from store.exchange.scratch_dir import Scratch
from store.trust.ownership import made_of

LATE_DAYS = 3  # from which on a warning is shown
PAGES = 512  # that are copied before other connections continue
COLUMNS = "name, made_at, scheduled, step, verified_at, problem"


class Backup:
    """One backup in the folder: `step` is the newest of history in it, `size` its bytes (None: the file is missing),
    `verified_at` when it was last checked, and `problem` the result, empty if it was whole."""

    __slots__ = ("made_at", "name", "path", "problem", "scheduled", "size", "step", "verified_at")

    def __init__(
        self, folder: str, name: str, made_at: str, scheduled: int, step: int, verified_at: str | None, problem: str
    ) -> None:
        self.name = name
        self.path = os.path.join(folder, name)
        self.made_at = made_at
        self.scheduled = bool(scheduled)
        self.step = step
        self.verified_at = verified_at
        self.size = _size(self.path)
        self.problem = problem if self.size is not None else "its file is gone"

    def as_dict(self) -> dict[str, object]:
        names = ("name", "path", "made_at", "scheduled", "step", "size", "verified_at", "problem")
        return {name: getattr(self, name) for name in names}


def backups(database: Database) -> list[Backup]:
    """List the backups of this memory, newest first. Names in the memory that lead out of the folder are ignored:
    Memoranda did not write them."""
    rows = database.rows(f"SELECT {COLUMNS} FROM backups ORDER BY made_at DESC, name DESC")
    return [Backup(folder_of(database), *row) for row in rows if plain_name(row[0])]


# make


def make(database: Database, scheduled: bool = False, cancelled: Cancelled = never) -> Backup | None:
    """Make and verify a backup; return None if it was `cancelled`, and then leave nothing behind. Raise StorageError or
    UnsafeFile."""
    database.refuse_unwritable()
    folder = _folder(database)
    tidy(database)
    made_at = database.clock()
    stem = os.path.basename(database.path).removesuffix(".db")
    name = f"{stem}-{made_at.replace(':', '')}.db"
    path = os.path.join(folder, name)
    step = _copy(database, path, False, cancelled)
    if step is None:
        return None
    sums, digest = contents(path)
    with database.write("agent", "backup") as write:
        write.insert(
            "backups",
            name=Verbatim(name),
            made_at=Verbatim(made_at),
            scheduled=int(scheduled),
            step=step,
            sums=Verbatim(json.dumps(sums)),
            digest=Verbatim(digest),
            verified_at=Verbatim(made_at),
        )
    expire(database)
    return Backup(folder, name, made_at, scheduled, step, made_at, "")


def save(database: Database, path: str, replace: bool = False) -> int:
    """Make a backup elsewhere, verified like the others and not listed with them, and note its path; return its size
    in bytes. Raise Conflict or StorageError."""
    utf8(path)
    if not replace and os.path.lexists(path):
        raise Conflict(f"{path} is there already.", "Name another file, or say --yes to replace it.")
    if os.path.exists(path) and os.path.samefile(path, database.path):
        raise Conflict("That is the memory itself.", "Name another file.")
    _copy(database, os.path.abspath(path), replace, never)
    noted_exports.note(database, path)
    return _size(path) or 0


def _copy(database: Database, path: str, replace: bool, cancelled: Cancelled) -> int | None:
    """Copy the memory as it is at one moment to `path`, verify the copy, and give it its name; return the newest step
    in it."""
    connection, *_ = connect(database.path, create=False)
    try:
        with Scratch(path) as folder, moment(connection) as source:
            step: int = source.execute("SELECT coalesce(max(seq), 0) FROM history").get
            copy = os.path.join(folder, "copy.db")
            _private(copy)
            if not _pages(source, copy, cancelled):
                return None
            with _Restored(copy, folder) as restored:
                problem = _examined(restored)
                for table in TABLES:
                    problem = problem or _compared(source, restored.connection, table)
                    if cancelled():
                        return None
            if problem:
                raise StorageError(
                    f"The copy is not what it was made of: {problem}.", "Look at the disk; none was kept."
                )
            put(copy, path, replace)
        made_of(database.path, path)
        return step
    except apsw.Error as error:
        raise explain(error, path) from None
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}.", "Free some space, or name another."
        ) from None
    finally:
        connection.close()


def _private(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))


def _pages(source: apsw.Connection, path: str, cancelled: Cancelled = never) -> bool:
    """Copy all pages of a database into an empty file; return False if it was cancelled."""
    target = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        copying = target.backup("main", source, "main")
        try:
            while not copying.done:
                if cancelled():
                    return False
                copying.step(PAGES)
        finally:
            copying.close(True)  # an error here follows an earlier one
        target.pragma("journal_mode", "delete")  # one file, without others beside it
        return True
    finally:
        target.close()


class _Restored:
    """A backup restored into a store of its own below `folder`, while it is checked."""

    def __init__(self, path: str, folder: str) -> None:
        self._source = path
        self._path = os.path.join(folder, "memory.db")

    def __enter__(self) -> Database:
        _private(self._path)
        source = apsw.Connection(self._source, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _pages(source, self._path)
        finally:
            source.close()
        self._database = Database(self._path, "worker", create=False, convert=convert)
        return self._database

    def __exit__(self, *error: object) -> None:
        self._database.close()


def _examined(database: Database) -> str:
    """Return what SQLite finds wrong with a restored store; empty if nothing."""
    messages = [row[0] for row in database.rows("PRAGMA integrity_check(1)")]
    if messages != ["ok"]:
        return "SQLite finds damage in it"
    return "a record refers to one that is not there" if database.rows("PRAGMA foreign_key_check") else ""


def _compared(one: apsw.Connection, other: apsw.Connection, table: str) -> str:
    """Compare a table row by row; return its name if it differs, empty if not."""
    from itertools import zip_longest

    same = all(ours == theirs for ours, theirs in zip_longest(section_of(one, table), section_of(other, table)))
    return "" if same else f"{table} differs"


# check


def verify(database: Database, path: str | None = None) -> tuple[str, str]:
    """Restore a backup (the newest, unless one is named) into a scratch store, and compare it row by row with what it
    was made of; return (its path, what is wrong with it, empty if it is whole). The result is stored. An export is
    checked in the same way. Raise NotFound, NewerFile, and InvalidInput for a file that cannot be checked."""
    known = backups(database)
    if path is None:
        if not known:
            raise NotFound("There is no backup yet.", "memoranda backup makes one.")
        path = known[0].path
    elif os.path.dirname(path) == "" and not os.path.lexists(path):
        path = os.path.join(folder_of(database), path)
    listed = next((one for one in known if os.path.realpath(one.path) == os.path.realpath(path)), None)
    if listed is None and not os.path.lexists(path):
        raise NotFound(f"There is no file {path}.", "memoranda backups lists what there is.")
    if os.path.exists(path) and os.path.samefile(path, database.path):
        raise Conflict("That is the memory itself.", "memoranda doctor looks at that.")
    tidy(database)
    place = path if database.read_only else os.path.join(_folder(database), os.path.basename(path))
    if is_document(path):
        return path, export_check.problem(path, place)
    problem = _problem(path, place, *_made_of(database, listed))
    if listed is not None and not database.read_only:
        with database.write("agent", "backup") as write:
            write.execute(
                "UPDATE backups SET verified_at = ?, problem = ? WHERE name = ?",
                (Verbatim(write.at), problem, Verbatim(listed.name)),
            )
    return path, problem


def step_of(database: Database, path: str) -> int:
    """Return the step of this memory's history at which a backup was made: restoring it means going back to that step.
    Raise Conflict for a file whose history is not the beginning of this memory's, DamagedFile for one that cannot be
    read."""
    foreign = Conflict(f"{os.path.basename(path)} is not a backup of this memory.", "memoranda import brings it in.")
    if not os.path.isfile(path) or os.path.samefile(path, database.path):
        raise NotFound(f"There is no backup {path}.", "memoranda backups lists what there is.")
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            last = connection.execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get or (0, None)
            known = connection.pragma("application_id") == APPLICATION_ID
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        if is_database(path):
            raise explain(error, path) from None
        raise foreign from None
    except apsw.Error:
        raise foreign from None
    here = database.value("SELECT digest FROM history WHERE seq = ?", (last[0],))
    if not known or here != last[1]:
        raise foreign
    step: int = last[0]
    return step


def _made_of(database: Database, listed: Backup | None) -> tuple[dict[str, str], str]:
    """Return `contents` from when it was made; empty for a file that is not listed."""
    if listed is None:
        return {}, ""
    row = database.row("SELECT sums, digest FROM backups WHERE name = ?", (listed.name,))
    return (json.loads(row[0]), row[1]) if row else ({}, "")


def _problem(path: str, place: str, sums: dict[str, str], digest: str) -> str:
    """Return what is wrong with a backup, restored beside `place`, where later runs find what an interrupted one
    left."""
    if not os.path.lexists(path):
        return "its file is gone"
    try:
        found, bytes_now = contents(path)
        for table in sums:
            if found.get(table) != sums[table]:
                return f"{table} differs from what it was made of"
        if digest and digest != bytes_now:
            return "its bytes are not those that were written, although every record is"
        with Scratch(place) as folder, _Restored(path, folder) as restored:
            return _examined(restored)
    except (Conflict, DamagedFile, ForeignFile) as error:
        return error.message.rpartition("is damaged: ")[2].rstrip(".")
    except (apsw.CorruptError, apsw.NotADBError):
        return "SQLite cannot read it"
    except (apsw.IOError, apsw.CantOpenError, apsw.FullError) as error:  # which says nothing about the backup
        raise explain(error, path) from None
    except apsw.Error as error:
        return f"SQLite cannot read it ({type(error).__name__})"
    except OSError as error:
        raise StorageError(f"{path} cannot be looked at: {error.strerror}.", "Free some space beside it.") from None


# scheduled


def backup_status(database: Database, now: str) -> tuple[str, str, str]:
    """Return the state of the backups: (ok, note or wrong; a sentence; three words, empty if all is well)."""
    found = backups(database)
    if not found:
        return "note", "There is no backup yet; the first is made a day after the memory was.", ""
    newest = found[0]
    for one in found:
        if one.problem and (one.size is not None or one is newest):  # a missing older one was removed by somebody
            return "wrong", f"{one.name} is damaged: {one.problem}.", "backup damaged"
    made = f"made {how_long_ago(now, newest.made_at)}"
    many = f"{len(found)} backups; the newest was {made}" if len(found) > 1 else f"One backup, {made}"
    if to_ms(now) - to_ms(newest.made_at) >= LATE_DAYS * DAY_MS:
        return "note", f"{many}.", f"backup {ago(now, newest.made_at)} old"
    looked = how_long_ago(now, newest.verified_at or newest.made_at)
    return "ok", f"{many}, and was intact when it was checked, {looked}.", ""


def expire(database: Database) -> int:
    """Remove the scheduled backups that no day, week or month needs any more, and list entries whose files are missing;
    return how many. Raise StorageError."""
    _folder(database)  # never through a link
    found = backups(database)
    stay = kept(one.made_at for one in found if one.scheduled and one.size is not None)
    gone = [one for one in found if one.size is None or (one.scheduled and one.made_at not in stay)]
    for one in gone:
        try:
            os.unlink(one.path)
            unknow(one.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StorageError(f"{one.path} cannot be removed: {error.strerror}.", "Look at its folder.") from None
    if gone:
        with database.write("agent", "backup") as write:
            for one in gone:
                write.execute("DELETE FROM backups WHERE name = ?", (Verbatim(one.name),))
    return len(gone)


def _folder(database: Database) -> str:
    """Return the folder, private, created if it is missing."""
    folder = folder_of(database)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.islink(folder):
            raise StorageError(f"{folder} is a symbolic link.", "Move it away: backups are never written through one.")
        os.chmod(folder, 0o700)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}.", "Look at the folder above it.") from None
    return folder


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None
