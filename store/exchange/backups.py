"""Backups: copies of the memory file in its `backup_folder`, each verified before it gets its name.

A copy is made by SQLite's own backup of one moment. It is then restored into a scratch store, opened in the ordinary
way, and compared row by row with that same moment. Checksums of its content are stored, so that a later check can
detect changes. Only SQLite opens the memory file: closing another handle would drop its locks.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest, sha256
from itertools import zip_longest
from shutil import copyfileobj, rmtree
from typing import Any

import apsw

from store.base.clock import DAY_MS, format_age, format_how_long_ago, to_ms
from store.base.errors import BrokenDocument, Conflict, DamagedFile, ForeignFile, NotFound, StorageError
from store.base.location import BACKUPS_FOLDER, backup_folder, list_backup_files
from store.base.runtime import IsCancelled, never_cancelled, read_file_size
from store.base.state_files import delete_known_memory, replace_whole_file
from store.conversion import convert_memory
from store.database.connection import explain_sqlite_error, open_connection, require_utf8_path
from store.database.database import Database
from store.database.files import create_private_file, is_database, is_plain_name
from store.database.schema import APPLICATION_ID, SCHEMA_VERSION
from store.database.values import Verbatim
from store.exchange.export_reader import is_export, newer_export_error, open_import_source
from store.exchange.export_schema import EXPORT_TABLES, export_columns
from store.exchange.exporter import (
    export_rows,
    export_section,
    note_export,
    open_snapshot,
    publish_file,
    taken_name_error,
)
from store.exchange.importer import Import
from store.trust.ownership import register_copy_of

# A scratch folder whose lock shows whether a process still uses it.
#
# The lock is on the folder, where SQLite has no lock; the system releases it when its process ends, in any way. So a
# later process recognises what a killed process left, and removes nothing of a running one. The files are in a folder
# inside: writers of a memory queue for a lock on its folder, and would wait for this one.

SCRATCH_ENDING = ".scratch"


@contextmanager
def scratch_folder(path: str) -> Iterator[str]:
    """Yield a private folder beside `path`, and remove it afterwards. Raise OSError."""
    with ExitStack() as at_end:
        while True:
            folder = f"{path}.{os.urandom(4).hex()}{SCRATCH_ENDING}"
            os.mkdir(folder, 0o700)
            at_end.callback(rmtree, folder, ignore_errors=True)
            # removed as abandoned before it is locked, it is made anew
            with suppress(FileNotFoundError):
                handle = os.open(folder, os.O_RDONLY)
                at_end.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.lexists(folder):
                break
        inner = os.path.join(folder, "work")
        os.mkdir(inner, 0o700)
        yield inner


def tidy_scratch_folders(folder: str) -> None:
    """Remove the scratch folders in `folder` that killed processes left."""
    try:
        left = [entry.path for entry in os.scandir(folder) if entry.name.endswith(SCRATCH_ENDING)]
    except OSError:
        return
    for path in left:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            # deleted meanwhile, or not ours
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(path, ignore_errors=True)
        except OSError:
            # in use by a process
            pass
        finally:
            os.close(handle)


# Where the backups are, whether one is due, and what a killed process left of one; importing this costs little.


def is_backup_due(database: Database) -> bool:
    """Tell whether a day has passed since the last backup, or since the memory was created."""
    last = database.value("SELECT max(made_at) FROM backups WHERE scheduled")
    since = last or database.get_meta("created_at")
    # abs: the clock may be set back
    return not since or abs(to_ms(database.clock()) - to_ms(since)) >= DAY_MS


def tidy_backups(database: Database) -> None:
    """Remove the unfinished backups that a killed process left, and move those that lie in a checkout out of it."""
    folder = backup_folder(database.path)
    before = os.path.join(os.path.dirname(os.path.abspath(database.path)), BACKUPS_FOLDER)
    for one in dict.fromkeys((folder, before)):
        if not os.path.islink(one):
            tidy_scratch_folders(one)
    if before != folder and os.path.isdir(before) and not os.path.islink(before) and not os.path.islink(folder):
        _move_backups(database, before, _make_backup_folder(database))


def _move_backups(database: Database, before: str, folder: str) -> None:
    """Move the backups of a folder to another one, each whole or not at all; what cannot be moved stays, and is found
    there."""
    # another memory may lie beside it, with backups of its own
    for path in list_backup_files(database.path):
        if os.path.dirname(path) != before:
            continue
        # no space, or another process moved it meanwhile
        with suppress(OSError):
            move_backup(database.path, path, os.path.join(folder, os.path.basename(path)))
    with suppress(OSError):
        os.rmdir(before)


def move_backup(memory: str, old: str, new: str) -> None:
    """Move a backup of the memory at a path, whole or not at all, to another disk too. Raise OSError."""
    with open(os.open(old, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source, replace_whole_file(new) as target:
        copyfileobj(source, target)
        made = os.fstat(source.fileno())
    os.utime(new, ns=(made.st_atime_ns, made.st_mtime_ns))
    register_copy_of(memory, new)
    os.unlink(old)
    delete_known_memory(old)


# Check an export: its checksums, and that all of it is there after a restore into a scratch store.


def find_export_problem(path: str, place: str) -> str:
    """Return what is wrong with the export at `path`, empty if nothing is; checked in a scratch store beside `place`.
    Raise NewerFile, UnsafeFile or StorageError."""
    name = os.path.basename(path)
    try:
        with (
            scratch_folder(place) as scratch,
            closing(Database(os.path.join(scratch, "memory.db"), "worker")) as database,
        ):
            return _compare_restored_export(database, path)
    except BrokenDocument as error:
        return error.message.removeprefix(f"{name} cannot be imported: ").rstrip(".")
    except OSError as error:
        raise StorageError(
            f"{path} cannot be looked at: {error.strerror}.", "Free some space beside it."
        ) from None


def _compare_restored_export(database: Database, path: str) -> str:
    """Import an export into an empty memory, and compare every row. Return what is wrong, empty if nothing is."""
    with Import(database, path) as coming:
        if coming.torn:
            return f"its history does not hold together ({coming.torn})"
        if coming.redacted:
            return "it holds what looks like a secret, which an import cuts"
        coming.apply_import()
    for table, rows in open_import_source(path).sections():
        there = export_rows(database.connection, table)
        for number, pairs in rows:
            text = next(there, None)
            if text is None or not _is_restored(dict(pairs), json.loads(text)):
                return f"{table}, row {number}, comes back as another"
        if next(there, None) is not None:
            return f"more of {table} comes back than there is in it"
    return ""


def _is_restored(row: dict[str, Any], back: dict[str, Any]) -> bool:
    """Tell whether a row was restored; columns that an older export lacks are not compared."""
    return all(name in back and back[name] == value for name, value in row.items())


# Checksums of a backup's content, so that a later check can detect changes.


def backup_checksums(path: str) -> tuple[dict[str, str], str]:
    """Return the checksum of each table, and that of the file. This process may have no connection to the file."""
    return dict(_table_checksums(path)), sha256_of_file(path)


def sha256_of_file(path: str) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def seal_backup(database: Database, path: str) -> None:
    """Store the checksums of a backup's current content: it was rewritten on purpose. Do nothing for one that is not
    listed."""
    sums, digest = backup_checksums(path)
    with database.write("agent", "backup") as write:
        write.execute(
            "UPDATE backups SET sums = ?, digest = ?, verified_at = ?, problem = '' WHERE name = ?",
            (Verbatim(json.dumps(sums)), Verbatim(digest), write.at, Verbatim(os.path.basename(path))),
        )


def _table_checksums(path: str) -> Iterator[tuple[str, str]]:
    """Yield (table, its checksum) of a file, with the file's own columns: it may be of an older schema."""
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.pragma("trusted_schema", 0)
        connection.pragma("cell_size_check", 1)
        if connection.pragma("application_id") != APPLICATION_ID:
            raise Conflict("it is a database of another program.")
        if connection.pragma("user_version") > SCHEMA_VERSION:
            raise newer_export_error(os.path.basename(path))
        for table in EXPORT_TABLES:
            if export_columns(connection, table):
                found = sha256()
                for piece in export_section(connection, table):
                    found.update(piece)
                yield table, found.hexdigest()


# Select the scheduled backups to keep: the newest of each of the last days, weeks and months that have one.

DAILY_BACKUPS, WEEKLY_BACKUPS, MONTHLY_BACKUPS = 7, 4, 12


def backups_to_keep(
    moments: Iterable[str],
    daily: int = DAILY_BACKUPS,
    weekly: int = WEEKLY_BACKUPS,
    monthly: int = MONTHLY_BACKUPS,
) -> set[str]:
    """Return the backups to keep: the newest of each of the last days, weeks and months that have one. Days, weeks
    and months without one do not count, so a machine that was off for a month loses none when it starts."""
    newest_first = sorted(set(moments), reverse=True)
    found: set[str] = set()
    periods: list[tuple[int, Callable[[str], object]]] = [
        (daily, lambda moment: moment[:10]),
        (weekly, lambda moment: datetime.fromisoformat(moment).isocalendar()[:2]),
        (monthly, lambda moment: moment[:7]),
    ]
    for most, period in periods:
        seen: dict[object, str] = {}
        for moment in newest_first:
            seen.setdefault(period(moment), moment)
        found.update(list(seen.values())[:most])
    return found


# from which on a warning is shown
LATE_BACKUP_DAYS = 3
# that are copied before other connections continue
PAGES_AT_ONCE = 512
BACKUP_COLUMNS = "name, made_at, scheduled, step, verified_at, problem"


@dataclass(slots=True, eq=False)
class Backup:
    """One backup in the folder: `step` is the newest of history in it, `size` its bytes (None: the file is missing),
    `verified_at` when it was last checked, and `problem` the result, empty if it was whole."""

    name: str
    path: str
    made_at: str
    scheduled: bool
    step: int
    size: int | None
    verified_at: str | None
    problem: str


def _describe_backup(
    folder: str, name: str, made_at: str, scheduled: int, step: int, verified_at: str | None, problem: str
) -> Backup:
    """Return a backup as its row of the list and its file tell."""
    path = os.path.join(folder, name)
    size = read_file_size(path)
    problem = problem if size is not None else "its file is gone"
    return Backup(name, path, made_at, bool(scheduled), step, size, verified_at, problem)


def find_backups(database: Database) -> list[Backup]:
    """List the backups of this memory, newest first. Names in the memory that lead out of the folder are ignored:
    Memoranda did not write them."""
    if not database.read_only:
        tidy_backups(database)
    rows = database.rows(f"SELECT {BACKUP_COLUMNS} FROM backups ORDER BY made_at DESC, name DESC")
    places = {os.path.basename(path): os.path.dirname(path) for path in list_backup_files(database.path)}
    usual = backup_folder(database.path)
    return [_describe_backup(places.get(row[0], usual), *row) for row in rows if is_plain_name(row[0])]


# make


def make_backup(
    database: Database, scheduled: bool = False, cancelled: IsCancelled = never_cancelled
) -> Backup | None:
    """Make and verify a backup; return None if it was `cancelled`, and then leave nothing behind. Raise StorageError or
    UnsafeFile."""
    database.refuse_unwritable()
    folder = _make_backup_folder(database)
    tidy_backups(database)
    made_at = database.clock()
    stem = os.path.basename(database.path).removesuffix(".db")
    name = f"{stem}-{made_at.replace(':', '')}.db"
    path = os.path.join(folder, name)
    step = copy_memory(database, path, False, cancelled)
    if step is None:
        return None
    sums, digest = backup_checksums(path)
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
    expire_backups(database)
    return _describe_backup(folder, name, made_at, scheduled, step, made_at, "")


def save_backup_as(database: Database, path: str, replace: bool = False) -> int:
    """Make a verified backup elsewhere, which is not listed with the others, and note its path. Return its size in
    bytes. Raise Conflict or StorageError."""
    require_utf8_path(path)
    if not replace and os.path.lexists(path):
        raise taken_name_error(path)
    if os.path.exists(path) and os.path.samefile(path, database.path):
        raise Conflict("That is the memory itself.", "Name another file.")
    copy_memory(database, os.path.abspath(path), replace)
    note_export(database, path)
    return read_file_size(path) or 0


def copy_memory(
    database: Database, path: str, replace: bool = False, cancelled: IsCancelled = never_cancelled
) -> int | None:
    """Copy the memory as it is at one moment to `path`, compare the copy row by row, and give it its name; return the
    newest step in it, None if it was cancelled. Raise StorageError."""
    connection, *_ = open_connection(database.path, create=False)
    try:
        with scratch_folder(path) as folder, open_snapshot(connection) as source:
            step: int = source.execute("SELECT coalesce(max(seq), 0) FROM history").get
            copy = os.path.join(folder, "copy.db")
            if not copy_pages(source, copy, cancelled):
                return None
            with _restored_backup(copy, folder) as restored:
                problem = _find_damage(restored)
                for table in EXPORT_TABLES:
                    problem = problem or _compare_table(source, restored.connection, table)
                    if cancelled():
                        return None
            if problem:
                raise StorageError(
                    f"The copy is not what it was made of: {problem}.", "Look at the disk; none was kept."
                )
            publish_file(copy, path, replace)
        register_copy_of(database.path, path)
        return step
    except apsw.Error as error:
        raise explain_sqlite_error(error, path) from None
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}.", "Free some space, or name another."
        ) from None
    finally:
        connection.close()


def copy_pages(source: apsw.Connection, path: str, cancelled: IsCancelled = never_cancelled) -> bool:
    """Copy all pages of a database into a new private file; return False if it was cancelled. Raise OSError."""
    create_private_file(path)
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as target:
        copying = target.backup("main", source, "main")
        try:
            while not copying.done:
                if cancelled():
                    return False
                copying.step(PAGES_AT_ONCE)
        finally:
            # an error here follows an earlier one
            copying.close(True)
        # one file, without others beside it
        target.pragma("journal_mode", "delete")
        return True


@contextmanager
def _restored_backup(path: str, folder: str) -> Iterator[Database]:
    """Yield a backup restored into a store of its own below `folder`, while it is checked."""
    store = os.path.join(folder, "memory.db")
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as source:
        copy_pages(source, store)
    with closing(Database(store, "worker", create=False, convert=convert_memory)) as database:
        yield database


def _find_damage(database: Database) -> str:
    """Return what SQLite finds wrong with a restored store; empty if nothing."""
    messages = [row[0] for row in database.rows("PRAGMA integrity_check(1)")]
    if messages != ["ok"]:
        return "SQLite finds damage in it"
    return "a record refers to one that is not there" if database.rows("PRAGMA foreign_key_check") else ""


def _compare_table(one: apsw.Connection, other: apsw.Connection, table: str) -> str:
    """Compare a table row by row. Return a sentence if it differs, else an empty text."""
    same = all(
        ours == theirs for ours, theirs in zip_longest(export_section(one, table), export_section(other, table))
    )
    return "" if same else f"{table} differs"


# check


def verify_backup(database: Database, path: str | None = None) -> tuple[str, str]:
    """Restore a backup (the newest, unless one is named) into a scratch store, and compare it row by row with what it
    was made of; return (its path, what is wrong with it, empty if it is whole). The result is stored. An export is
    checked in the same way. Raise NotFound, NewerFile, and InvalidInput for a file that cannot be checked."""
    known = find_backups(database)
    if path is None:
        if not known:
            raise NotFound("There is no backup yet.", "memoranda backup makes one.")
        path = known[0].path
    elif os.path.dirname(path) == "" and not os.path.lexists(path):
        path = os.path.join(backup_folder(database.path), path)
    listed = next((one for one in known if os.path.realpath(one.path) == os.path.realpath(path)), None)
    if listed is None and not os.path.lexists(path):
        raise NotFound(f"There is no file {path}.", "memoranda list backups lists what there is.")
    if os.path.exists(path) and os.path.samefile(path, database.path):
        raise Conflict("That is the memory itself.", "memoranda health --check looks at that.")
    tidy_backups(database)
    place = path if database.read_only else os.path.join(_make_backup_folder(database), os.path.basename(path))
    if is_export(path):
        return path, find_export_problem(path, place)
    problem = _backup_problem(path, place, *_recorded_checksums(database, listed))
    if listed is not None and not database.read_only:
        with database.write("agent", "backup") as write:
            write.execute(
                "UPDATE backups SET verified_at = ?, problem = ? WHERE name = ?",
                (write.at, problem, Verbatim(listed.name)),
            )
    return path, problem


def find_backup_step(database: Database, path: str) -> int:
    """Return the step of this memory's history at which a backup was made: restoring it means going back to that step.
    Raise Conflict for a file whose history is not the beginning of this memory's, DamagedFile for one that cannot be
    read."""
    foreign = Conflict(
        f"{os.path.basename(path)} is not a backup of this memory.", "memoranda import brings it in."
    )
    if not os.path.isfile(path) or os.path.samefile(path, database.path):
        raise NotFound(f"There is no backup {path}.", "memoranda list backups lists what there is.")
    try:
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            last = connection.execute("SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").get or (
                0,
                None,
            )
            known = connection.pragma("application_id") == APPLICATION_ID
    except (apsw.CorruptError, apsw.NotADBError) as error:
        if is_database(path):
            raise explain_sqlite_error(error, path) from None
        raise foreign from None
    except apsw.Error:
        raise foreign from None
    here = database.value("SELECT digest FROM history WHERE seq = ?", (last[0],))
    if not known or here != last[1]:
        raise foreign
    step: int = last[0]
    return step


def _recorded_checksums(database: Database, listed: Backup | None) -> tuple[dict[str, str], str]:
    """Return the checksums that were stored when a backup was made; empty for a file that is not listed."""
    if listed is None:
        return {}, ""
    row = database.row("SELECT sums, digest FROM backups WHERE name = ?", (listed.name,))
    return (json.loads(row[0]), row[1]) if row else ({}, "")


def _backup_problem(path: str, place: str, sums: dict[str, str], digest: str) -> str:
    """Return what is wrong with a backup, restored beside `place`, where later runs find what an interrupted one
    left."""
    if not os.path.lexists(path):
        return "its file is gone"
    try:
        found, bytes_now = backup_checksums(path)
        for table in sums:
            if found.get(table) != sums[table]:
                return f"{table} differs from what it was made of"
        if digest and digest != bytes_now:
            return "its bytes are not those that were written, although every record is"
        with scratch_folder(place) as folder, _restored_backup(path, folder) as restored:
            return _find_damage(restored)
    except (Conflict, DamagedFile, ForeignFile) as error:
        return error.message.rpartition("is damaged: ")[2].rstrip(".")
    except (apsw.CorruptError, apsw.NotADBError):
        return "SQLite cannot read it"
    except (apsw.IOError, apsw.CantOpenError, apsw.FullError) as error:  # which says nothing about the backup
        raise explain_sqlite_error(error, path) from None
    except apsw.Error as error:
        return f"SQLite cannot read it ({type(error).__name__})"
    except OSError as error:
        raise StorageError(
            f"{path} cannot be looked at: {error.strerror}.", "Free some space beside it."
        ) from None


# scheduled


def backup_status(database: Database, now: str) -> tuple[str, str, str]:
    """Return the state of the backups: (ok, note or wrong; a sentence; three words, empty if all is well)."""
    found = find_backups(database)
    if not found:
        return "note", "There is no backup yet; the first is made a day after the memory was.", ""
    newest = found[0]
    for one in found:
        # a missing older one was removed by somebody
        if one.problem and (one.size is not None or one is newest):
            return "wrong", f"{one.name} is damaged: {one.problem}.", "backup damaged"
    made = f"made {format_how_long_ago(now, newest.made_at)}"
    many = f"{len(found)} backups; the newest was {made}" if len(found) > 1 else f"One backup, {made}"
    if to_ms(now) - to_ms(newest.made_at) >= LATE_BACKUP_DAYS * DAY_MS:
        return "note", f"{many}.", f"backup {format_age(now, newest.made_at)} old"
    looked = format_how_long_ago(now, newest.verified_at or newest.made_at)
    return "ok", f"{many}, and was intact when it was checked, {looked}.", ""


def expire_backups(database: Database) -> int:
    """Remove the scheduled backups that no day, week or month needs any more, and list entries whose files are missing;
    return how many. Raise StorageError."""
    # never through a link
    _make_backup_folder(database)
    found = find_backups(database)
    stay = backups_to_keep(one.made_at for one in found if one.scheduled and one.size is not None)
    gone = [one for one in found if one.size is None or (one.scheduled and one.made_at not in stay)]
    for one in gone:
        try:
            os.unlink(one.path)
            delete_known_memory(one.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StorageError(f"{one.path} cannot be removed: {error.strerror}.", "Look at its folder.") from None
    if gone:
        with database.write("agent", "backup") as write:
            for one in gone:
                write.execute("DELETE FROM backups WHERE name = ?", (Verbatim(one.name),))
    return len(gone)


def _make_backup_folder(database: Database) -> str:
    """Return the folder of the backups; create it, private, if it is missing. Raise StorageError."""
    folder = backup_folder(database.path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.islink(folder):
            raise StorageError(
                f"{folder} is a symbolic link.", "Move it away: backups are never written through one."
            )
        os.chmod(folder, 0o700)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}.", "Look at the folder above it.") from None
    return folder
