"""The backup that precedes a schema step: a verified copy of the file as it was, for whoever goes back a version."""

import os
from itertools import zip_longest

import apsw

from store.base.errors import StorageError
from store.base.location import BACKUPS
from store.database.connection import explain, guard, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_UNFINISHED = ".part"  # of a killed process; whoever makes one holds the write lock, so nobody else is at it
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name"


def keep(path: str, version: int, made_at: str, made: "Callable[[str], None]") -> str:
    """Copy the memory at `path`, of schema `version`, into the folder of its backups; return the copy's name. The
    caller holds the write lock, and the copy is what was committed before. `made` is called with its path. Raise
    StorageError; then nothing is left of it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(path)), BACKUPS)
    stem = os.path.basename(path).removesuffix(".db")
    name = f"{stem}-schema{version}-{made_at.replace(':', '')}.db"
    unfinished = os.path.join(folder, f"{stem}{_UNFINISHED}")
    try:
        _private(folder, unfinished)
        try:
            _copy(path, unfinished)
            os.rename(unfinished, os.path.join(folder, name))
        except BaseException:
            os.unlink(unfinished)
            raise
        _durable(folder)
        made(os.path.join(folder, name))
    except apsw.Error as error:
        raise _refused(path, explain(error, unfinished).message) from None
    except OSError as error:
        raise _refused(path, f"{folder}: {error.strerror}.") from None
    return name


def _refused(path: str, reason: str) -> StorageError:
    return StorageError(
        f"{path} was written by an older Memoranda; before it is brought up to date a backup is made, and none could"
        f" be. {reason}",
        "Nothing was changed. Free some space there; until then `memoranda --look facts` reads it.",
    )


def _private(folder: str, unfinished: str) -> None:
    """Make the folder, and an empty file in it that only its owner reads; never through a link."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.islink(folder):
        raise OSError(0, "is a symbolic link", folder)
    if os.path.lexists(unfinished):
        os.unlink(unfinished)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))


def _copy(path: str, target: str) -> None:
    """Copy all pages and compare every row of every table. Raise StorageError if they differ."""
    source = reading(path)
    try:
        guard(source)
        copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            guard(copy)
            source.execute("BEGIN")  # one moment, for the copy and for the comparison
            with copy.backup("main", source, "main") as copying:
                copying.step()
            copy.pragma("journal_mode", "delete")  # one file
            if problem := _differs(source, copy):
                raise _refused(path, f"The copy is not what it was made of: {problem}.")
        finally:
            copy.close()
    finally:
        source.close()


def _differs(source: apsw.Connection, copy: apsw.Connection) -> str:
    if copy.execute("PRAGMA integrity_check(1)").get != "ok":
        return "SQLite finds damage in it"
    for (table,) in source.execute(_TABLES):
        rows = f'SELECT * FROM "{table}"'
        if any(one != other for one, other in zip_longest(source.execute(rows), copy.execute(rows))):
            return f"{table} differs"
    return ""


def _durable(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
