"""Open a connection: its settings, and the files that are refused."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from shlex import quote
from typing import TYPE_CHECKING

import apsw

from store.base.errors import (
    Busy,
    DamagedFile,
    Defect,
    DiskFull,
    ForeignFile,
    MemorandaError,
    NewerFile,
    StorageError,
    UnsafeFile,
)
from store.database.files import prepare_file
from store.database.schema import APPLICATION_ID, SCHEMA_VERSION, check_schema, register_functions
from store.database.wal import count_recoveries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# older ones can corrupt a WAL file
OLDEST_SQLITE = (3, 51, 3)
DEFAULT_BUSY_MS = 10_000
# errors of SQLite caused by a disk or a file; any other is a defect of ours
DISK_ERRORS = (
    *(apsw.IOError, apsw.FullError, apsw.CorruptError, apsw.NotADBError),
    *(apsw.BusyError, apsw.CantOpenError, apsw.ReadOnlyError),
)
# the wait of a hook; after it, its line is put into the spool
HOOK_BUSY_MS = 300

CONNECTION_PRAGMAS = (
    ("foreign_keys", 1),
    ("recursive_triggers", 1),
    # FULL: with NORMAL a simulated power cut lost 150 acknowledged writes
    ("synchronous", 2),
    ("secure_delete", 1),
    ("trusted_schema", 0),
    ("cell_size_check", 1),
    ("mmap_size", 0),
    ("journal_size_limit", 1 << 23),
    ("temp_store", 2),
)


count_recoveries()


def open_connection(
    path: str,
    create: bool = True,
    patience: int = DEFAULT_BUSY_MS,
    look: bool = False,
    admit: Callable[[apsw.Connection], None] | None = None,
) -> tuple[apsw.Connection, bool, list[str]]:
    """Return (connection, whether it is read-only, warnings). The file may still be empty: see `steps`. Wait
    `patience` milliseconds for a busy file. With `look` nothing is written, not even beside it. `admit` checks a file
    that is not empty before anything in it is changed, and raises to refuse it.

    Raise UnsafeFile, ForeignFile or StorageError.
    """
    if tuple(int(part) for part in apsw.sqlite_lib_version().split(".")) < OLDEST_SQLITE:
        raise StorageError(
            f"SQLite {apsw.sqlite_lib_version()} can damage a memory.", "Upgrade it: pip install --upgrade apsw."
        )
    require_utf8_path(path, "Name another file with --db PATH.")
    warnings = prepare_file(path, create, look)
    only_read = look or has_no_wal(path)
    writable = os.access(path, os.W_OK) and not only_read
    try:
        connection = (
            open_for_reading(path, look) if only_read else apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        )
    except apsw.CantOpenError:
        raise StorageError(
            f"{path} cannot be opened.", "Look at its permissions and those of its folder."
        ) from None
    except apsw.Error as error:
        raise explain_sqlite_error(error, path) from None
    try:
        connection.set_busy_timeout(patience)
        guard_connection(connection)
        version = _check_version(connection, path)
        if admit is not None and version:
            admit(connection)
        if look:
            connection.pragma("query_only", 1)
        if version > SCHEMA_VERSION:
            connection.pragma("query_only", 1)
            return connection, True, [*warnings, str(newer_file_error(path))]
        if writable:
            _switch_to_wal(connection, path, patience)
        configure_connection(connection)
    except apsw.Error as error:
        connection.close()
        raise explain_sqlite_error(error, path, patience) from None
    except (MemorandaError, OSError):  # OSError: a module of ours could not be read, with too many open files
        connection.close()
        raise
    return connection, not writable, warnings


def require_utf8_path(path: str, step: str = "Name another file.") -> None:
    """Raise UnsafeFile for a name that SQLite cannot open; `step` is the advice."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UnsafeFile(f"The name {path} is not UTF-8, and SQLite opens no such file.", step) from None


def guard_connection(connection: apsw.Connection) -> None:
    """Set what must be set before anything of a file is read: its schema may call only our functions, its pages are
    checked."""
    register_functions(connection)
    connection.pragma("trusted_schema", 0)
    connection.pragma("cell_size_check", 1)


def configure_connection(connection: apsw.Connection) -> None:
    """Apply the settings of every connection."""
    for name, value in CONNECTION_PRAGMAS:
        connection.pragma(name, value)
    if sys.platform == "darwin":
        connection.pragma("fullfsync", 1)


def has_no_wal(path: str) -> bool:
    """Tell whether the file has no log and none can be created, because the folder is read-only. It is then read
    without a log."""
    return not os.access(os.path.dirname(path) or ".", os.W_OK) and not os.path.lexists(f"{path}-wal")


def sqlite_uri(path: str) -> str:
    """Return a path as a `file:` address of SQLite, with the characters escaped that would end the path or begin an
    escape.

    Without urllib.parse, whose imports took a third of a command's time.
    """
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def open_for_reading(path: str, look: bool = False) -> apsw.Connection:
    """Open a connection that writes nothing, nor beside a file whose folder is read-only, or that is only looked at and
    has no log."""
    require_utf8_path(path, "Name another file with --db PATH.")
    still = has_no_wal(path) or (look and not any(map(os.path.lexists, (f"{path}-wal", f"{path}-journal"))))
    options = "?mode=ro&immutable=1" if still else "?mode=ro"
    return apsw.Connection(sqlite_uri(path) + options, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _check_version(connection: apsw.Connection, path: str) -> int:
    """Return the schema version of a file after checking its structure. Raise ForeignFile."""
    version = _read_version(connection, path)
    while version <= SCHEMA_VERSION:
        try:
            check_schema(connection, path, version)
            break
        except ForeignFile:
            now = _read_version(connection, path)
            if now == version:
                raise
            # another process converted it between the two reads
            version = now
        except (apsw.NotADBError, apsw.CorruptError):
            raise damaged_file_error(path, "is damaged: SQLite cannot read it.") from None
    return version


def _read_version(connection: apsw.Connection, path: str) -> int:
    """Return the file's schema version; 0 for an empty one. Raise ForeignFile for a file that is not a memory."""
    try:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        version: int = connection.pragma("user_version")
        # last: another process may be creating the memory, in one transaction, between these reads
        application = connection.pragma("application_id")
    except (apsw.NotADBError, apsw.CorruptError):
        raise damaged_file_error(path, "is not a memory, or no longer readable as one.") from None
    if application == APPLICATION_ID or (application == 0 and version == 0 and tables == 0):
        return version
    raise ForeignFile(
        f"{path} is a database of another program.", "Nothing was changed; name another file with --db PATH."
    )


def _switch_to_wal(connection: apsw.Connection, path: str, patience: int) -> None:
    """Switch to WAL. The switch itself does not wait for a busy file, and several processes may open a new one."""
    deadline = time.monotonic() + patience / 1000
    while True:
        try:
            mode = connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            mode = ""
        if mode == "wal":
            return
        if mode or time.monotonic() > deadline:
            raise Busy(
                f"{path} cannot be opened for several programs at once.",
                "Close what holds it, or use a local disk.",
            )
        time.sleep(0.005)


def damaged_file_error(path: str, says: str) -> DamagedFile:
    return DamagedFile(
        f"{path} {says}",
        "Nothing was changed. Keep it as it is:"
        f" `memoranda health --salvage {quote(path)}` writes what can be read of a memory to a new file.",
    )


def newer_file_error(path: str) -> NewerFile:
    """Return the error for a file of a newer version."""
    return NewerFile(
        f"{path} was written by a newer Memoranda; it can be read here and not changed.",
        "Upgrade this one: pip install --upgrade memoranda.",
    )


def _is_disk_full(path: str) -> bool:
    """Return whether the disk is full: SQLite reports an I/O error when the shared memory file cannot grow."""
    try:
        disk = os.statvfs(os.path.dirname(path))
    except (OSError, AttributeError):
        return False
    return disk.f_bavail * disk.f_frsize < 1 << 16


def to_memoranda_error(error: BaseException, path: str) -> MemorandaError:
    """Return an error that can be shown: an error of ours unchanged, an error of the disk or the file explained,
    any other as a defect."""
    if isinstance(error, MemorandaError):
        return error
    return explain_sqlite_error(error, path) if isinstance(error, DISK_ERRORS) else Defect(error)


def explain_sqlite_error(
    error: apsw.Error | UnicodeDecodeError, path: str, patience: int = DEFAULT_BUSY_MS
) -> MemorandaError:
    """Return an error of ours for an error of SQLite, with its cause and the next step; a busy file was waited for
    `patience` milliseconds. UnicodeDecodeError means that a text in the file is not UTF-8, which SQLite does
    not check."""
    if isinstance(error, UnicodeDecodeError):
        return damaged_file_error(path, "is damaged: it holds text that is not UTF-8.")
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and _is_disk_full(path)):
        return DiskFull(f"The disk that holds {path} is full; nothing was lost.", "Free some space and try again.")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Busy(
            f"Another program kept {path} busy for {patience / 1000:g} seconds.",
            "Close it, or try again in a moment.",
        )
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError | apsw.CantOpenError):
        return StorageError(f"{path} cannot be written.", "Look at its permissions and those of its folder.")
    if isinstance(error, apsw.CorruptError) and getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB:
        return ForeignFile(
            f"The search index in {path} is damaged.", "memoranda health --index rebuild makes it again."
        )
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return damaged_file_error(path, "is damaged: SQLite cannot read it.")
    if isinstance(error, apsw.InterruptError):
        return StorageError("The change was interrupted; nothing was changed.", "Try again.")
    if isinstance(error, apsw.IOError):
        return StorageError(
            f"The disk that holds {path} failed.", "Look at the system's log; nothing was changed."
        )
    # an SQLite message can quote a value (`CHECK constraint failed: …` names columns only, a syntax error quotes)
    return StorageError(
        f"SQLite refused: {type(error).__name__}.", "This is a bug in Memoranda: please report it."
    )


# Bind many integers as one parameter of a statement.


def bind_integers(values: NDArray[np.int64] | Iterable[int]) -> object:
    """Return `values` for `carray(?)`, a table with one row for each; none give a table without rows.

    `apsw.carray` itself raises ValueError for none, and `carray(NULL)` has no rows.
    """
    import numpy as np

    array = np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), np.int64)
    return apsw.carray(array, flags=apsw.SQLITE_CARRAY_INT64) if array.size else None  # noqa: TID251
