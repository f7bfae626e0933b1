"""Read a SQLite database of another program without touching it: its files are copied, and the copy is opened, so that
its log is read and not folded in."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from store.sources.files import untouched
from store.sources.source import Trouble

PARTS = ("", "-wal", "-journal")
SCRATCH = "memoranda-source-"  # what the name of a folder for a copy begins with
TRIES = 3  # to copy a database that nobody writes meanwhile
LARGEST = 8 << 30  # bytes


class UnreadableDatabase(Exception):
    """A database cannot be read; the message says why, in a few words."""


class CopiedDatabase:
    """A copy of a database: its tables by name, columns that are missing read as None."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.asked: set[str] = set()
        self.tables = {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if isinstance(name, str)
        }

    def rows(self, table: str, columns: str, order: str = "rowid") -> Iterator[dict[str, object]]:
        """Yield the rows of a table, with its rowid as `rowid`; nothing if there is no such table. `order` names one of
        the columns."""
        self.asked.add(table)
        if table not in self.tables:
            return
        here = {row[1] for row in self._connection.execute(f"PRAGMA table_info({_quoted(table)})")}
        wanted = columns.split()
        named = ", ".join(_quoted(name) if name in here else "NULL" for name in wanted)
        by = _quoted(order) if order in here else "rowid"
        for row in self._connection.execute(f"SELECT rowid, {named} FROM {_quoted(table)} ORDER BY {by}, rowid"):
            yield dict(zip(("rowid", *wanted), row, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(path: str, troubles: list[Trouble]) -> Iterator[CopiedDatabase | None]:
    """Open a copy of the database at a path; None, with a trouble, where that cannot be done. What goes wrong while it
    is read is a trouble too, and ends the reading."""
    folder = tempfile.mkdtemp(prefix=SCRATCH)
    connection = None
    try:
        try:
            copy = copied(path, folder)
            connection = apsw.Connection(copy)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
            database = CopiedDatabase(connection)
        except (UnreadableDatabase, apsw.Error, OSError) as error:
            troubles.append(Trouble(path, 0, why(error)))
            yield None
            return
        try:
            yield database
            if not database.asked & database.tables:
                troubles.append(Trouble(path, 0, "it has none of the tables that are known of this tool"))
        except apsw.Error as error:
            troubles.append(Trouble(path, 0, why(error)))
    finally:
        if connection is not None:
            connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def why(error: Exception) -> str:
    """Return why a database could not be read, in a few words."""
    if isinstance(error, apsw.NotADBError):
        return "it is not an SQLite database"
    if isinstance(error, apsw.CorruptError):
        return "it is damaged, and was read as far as it goes"
    if isinstance(error, UnreadableDatabase):
        return str(error)
    if isinstance(error, OSError):
        return (error.strerror or "it cannot be read").lower()
    return "SQLite cannot read it"


def copied(path: str, folder: str, largest: int = LARGEST) -> str:
    """Copy a database and its log, as they were at one moment; return the copy's path. Raise UnreadableDatabase or
    OSError."""
    if not os.path.isfile(path):
        raise UnreadableDatabase("it is not a plain file")
    copy = os.path.join(folder, "copy.db")
    for _ in range(TRIES):
        before = _stamps(path)
        if sum(size for _, size in before.values()) > largest:
            raise UnreadableDatabase(f"it is larger than {largest >> 20:,} MB")
        for part in PARTS:
            if os.path.lexists(copy + part):
                os.unlink(copy + part)
            if part in before:
                with open(path + part, "rb", opener=untouched) as source, open(copy + part, "xb") as target:
                    if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
                        raise UnreadableDatabase("a part of it is not a plain file")
                    shutil.copyfileobj(source, target, 1 << 20)
        if _stamps(path) == before:
            return copy
    raise UnreadableDatabase("another program is writing it right now")


def _stamps(path: str) -> dict[str, tuple[int, int]]:
    found = {}
    for part in PARTS:
        try:
            about = os.stat(path + part)
        except OSError:
            continue
        found[part] = (about.st_mtime_ns, about.st_size)
    return found
