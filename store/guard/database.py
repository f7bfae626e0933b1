"""The database of kept versions, one for a person: opened, locked, made, and deleted.

It lies beside the personal memory, private, and holds no text in clear. Who changes it, or another tool's file, holds
the lock: a look, a restore and a purge come one after the other, also of several processes.
"""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

import apsw

from store.base.errors import Busy, DamagedFile, MemorandaError, NewerFile, NotFound, StorageError, UnsafeFile
from store.base.location import personal_path
from store.config.configuration import Config
from store.database import connection as connections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from apsw import SQLiteValue

    from store.guard.sealing import Sealer  # it imports OpenSSL, and where nothing is kept nobody needs it

FILE, LOCK = "guard.db", "guard.lock"
APPLICATION, VERSION = 0x4D67_7264, 1
PATIENCE = 10.0  # seconds to wait for another process that holds the lock
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) STRICT;
-- `digest` and `path` are of the file's path, the second one sealed; `stamp` tells whether it must be read again;
-- `version` is what was read last, NULL where there is no such file; one that is `erased` has no content any more
CREATE TABLE files(
    id INTEGER PRIMARY KEY, tool TEXT NOT NULL, digest BLOB NOT NULL UNIQUE, path BLOB NOT NULL,
    stamp TEXT NOT NULL DEFAULT '', version INTEGER REFERENCES versions(id)
) STRICT;
CREATE TABLE versions(
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE, digest BLOB NOT NULL,
    size INTEGER NOT NULL, mode INTEGER NOT NULL, erased INTEGER NOT NULL DEFAULT 0, UNIQUE(file, digest)
) STRICT;
CREATE TABLE pieces(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, sealed BLOB NOT NULL) STRICT;
CREATE TABLE version_pieces(
    version INTEGER NOT NULL REFERENCES versions(id) ON DELETE CASCADE, place INTEGER NOT NULL,
    piece INTEGER NOT NULL REFERENCES pieces(id), PRIMARY KEY(version, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_pieces_by_piece ON version_pieces(piece);
-- times in milliseconds since 1970; `restores` is the moment that a restore puts back; one that is `pending` began
CREATE TABLE moments(
    id INTEGER PRIMARY KEY AUTOINCREMENT, tool TEXT NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    restores INTEGER, pending INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE changes(
    id INTEGER PRIMARY KEY, moment INTEGER NOT NULL REFERENCES moments(id) ON DELETE CASCADE,
    file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    before INTEGER REFERENCES versions(id), after INTEGER REFERENCES versions(id), at INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_moment ON changes(moment);
CREATE INDEX changes_by_file ON changes(file);
CREATE INDEX changes_by_before ON changes(before);
CREATE INDEX changes_by_after ON changes(after);
"""


class KeptVersions:
    """An open database of kept versions."""

    def __init__(self, path: str, connection: apsw.Connection, sealer: "Sealer") -> None:
        self.path = path
        self.connection = connection
        self.sealer = sealer

    def rows(self, sql: str, parameters: "tuple[SQLiteValue, ...]" = ()) -> "list[tuple[Any, ...]]":
        return list(self.connection.execute(sql, parameters))

    def row(self, sql: str, parameters: "tuple[SQLiteValue, ...]" = ()) -> "tuple[Any, ...] | None":
        return next(iter(self.rows(sql, parameters)), None)

    def get(self, key: str, default: int = 0) -> int:
        """Return a number of `meta`."""
        found = self.row("SELECT value FROM meta WHERE key = ?", (key,))
        return int(found[0]) if found else default

    def put(self, key: str, value: int | str | bytes) -> None:
        self.connection.execute(
            "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (key, value),
        )


def place() -> str:
    """Return where the database of this person is."""
    return os.path.join(os.path.dirname(personal_path()), FILE)


def there() -> bool:
    """Return whether anything was ever kept."""
    return os.path.lexists(place())


def nothing_kept() -> NotFound:
    return NotFound("Nothing is kept yet.", "memoranda guard takes the first look.")


@contextmanager
def opened(config: Config | None = None, *, locked: bool = False) -> Iterator[KeptVersions]:
    """Open the database to read it, `locked` to change it. With `config` it is locked too, and created where there is
    none. Raise NotFound where there is none, StorageError, UnsafeFile, Busy, DamagedFile, NewerFile."""
    path = place()
    if config is None and not os.path.lexists(path):
        raise nothing_kept()
    with _locked(path) if locked or config is not None else nullcontext():
        if config is not None:
            _create(path)
        connection = _connected(path)
        try:
            yield KeptVersions(path, connection, _sealer(connection, path, config))
        except apsw.Error as error:
            raise _explained(error, path) from None
        finally:
            connection.close()


def forget_all() -> int:
    """Delete the database and its key; return how many bytes it had. Raise NotFound, StorageError, Busy."""
    from store.guard.sealing import drop_key

    path = place()
    if not os.path.lexists(path):
        raise nothing_kept()
    with _locked(path):
        size, where = os.lstat(path).st_size, "file"
        with suppress(MemorandaError, apsw.Error):
            connection = _connected(path)
            where = str(connection.execute("SELECT value FROM meta WHERE key = 'key_in'").get or where)
            connection.close()
        drop_key(where, path)
        for end in ("", "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(path + end)
    return size


@contextmanager
def _locked(path: str) -> Iterator[None]:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = os.open(os.path.join(folder, LOCK), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Look at its permissions.") from None
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy("Another process is looking at the memory files right now.", "Try again.") from None
                time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _create(path: str) -> None:
    """Create the file, private, if there is none."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{path} cannot be made: {error.strerror}.", "Look at its folder.") from None


def _connected(path: str) -> apsw.Connection:
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
        raise UnsafeFile(f"{path} is not a plain file of yours.", "Move it away.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        os.chmod(path, 0o600)
    connections.utf8(path, "Name another folder in $XDG_DATA_HOME.")
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error as error:
        raise _explained(error, path) from None
    try:
        connection.set_busy_timeout(connections.BUSY_MS)
        connections.guard(connection)
        if _empty(connection):
            connection.pragma("auto_vacuum", 1)
        elif connection.pragma("application_id") != APPLICATION:
            raise _damaged(path)
        elif connection.pragma("user_version") > VERSION:
            raise NewerFile(f"{path} was written by a newer Memoranda.", "Upgrade this one.")
        connections.configure(connection)
        return connection
    except apsw.Error as error:
        connection.close()
        raise _explained(error, path) from None
    except MemorandaError:
        connection.close()
        raise


def _empty(connection: apsw.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_schema").get


def _sealer(connection: apsw.Connection, path: str, config: Config | None) -> "Sealer":
    """Return the sealer with the database's key; of a new one make both. A key that is to be elsewhere is moved."""
    from store.guard.sealing import Sealer, drop_key, find_key, new_key, store_key

    wanted = str(config["guard.key"]) if config is not None else ""
    if _empty(connection):
        if not wanted:
            raise nothing_kept()
        sealer = Sealer(new_key(wanted, path))
        with connection:
            connection.execute(SCHEMA)
            connection.pragma("application_id", APPLICATION)
            connection.pragma("user_version", VERSION)
            _note(connection, wanted, sealer)
        return sealer
    where, check = (
        connection.execute("SELECT value FROM meta WHERE key = ?", (name,)).get for name in ("key_in", "check")
    )
    key = find_key(str(where), path)
    sealer = Sealer(key)
    sealer.unseal(bytes(check), b"check")
    if wanted and wanted != where:
        store_key(wanted, path, key)
        with connection:
            _note(connection, wanted, sealer)
        drop_key(str(where), path)
    return sealer


def _note(connection: apsw.Connection, where: str, sealer: "Sealer") -> None:
    connection.execute(
        "INSERT OR REPLACE INTO meta(key, value) VALUES ('key_in', ?), ('check', ?)",
        (where, sealer.seal(b"", b"check")),
    )


def _explained(error: apsw.Error, path: str) -> MemorandaError:
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return _damaged(path)
    return connections.explain(error, path)


def _damaged(path: str) -> DamagedFile:
    return DamagedFile(
        f"{path} is damaged, or no database of kept versions.", "`memoranda guard off` deletes it and starts over."
    )
