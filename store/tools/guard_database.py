"""The files that guard keeps versions of, and the database of those versions, one for a person.

Guarded are the files in which the tools that were found keep what they remember. Not guarded are conversations (Codex,
Gemini CLI and OpenCode keep little else, and their own instruction file of the person is guarded), search indexes,
vectors, files of a project, which git keeps, and a person's own notes, unless `guard.paths` names them. A file is read
through no link, and without changing a byte or a time of it.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from store.base import state_files
from store.base.clock import DAY_MS
from store.base.errors import Busy, DamagedFile, MemorandaError, NewerFile, NotFound, StorageError, UnsafeFile
from store.base.vocabulary import SOURCE_NAMES
from store.config.configuration import Config
from store.database.connection import (
    DEFAULT_BUSY_MS,
    configure_connection,
    explain_sqlite_error,
    guard_connection,
    require_utf8_path,
)
from store.documents.files import Unreadable, decode_text
from store.purge.file_eraser import guard_path
from store.tools import source
from store.tools.agent_readers import claude_projects_folder
from store.tools.source import CannotUse, Machine, Troubles
from store.tools.source_import import SOURCES_BY_NAME, get_source

if TYPE_CHECKING:
    from apsw import SQLiteValue


OWN_TOOL = "own"
DATABASE_ENDINGS = (".db", ".sqlite")
GUARDED_SUFFIX = ".md"
# what the name of a folder for a copy begins with
GUARD_COPY_PREFIX = "memoranda-guard-"
# after which such a folder was left by a process that was killed
COPY_EXPIRY_SECONDS = 3_600
# bytes
LARGEST_GUARDED_DATABASE = 200 << 20
# of a file of JSON lines
LARGEST_GUARDED_FILE = 50 << 20


class GuardedFile(NamedTuple):
    """A file that is guarded, by the tool that keeps it; a `database` is of SQLite."""

    tool: str
    path: str

    @property
    def is_database(self) -> bool:
        """Tell whether the file is a database of SQLite."""
        return self.path.endswith(DATABASE_ENDINGS)


def guarded_tool_title(tool: str) -> str:
    """Return the title of a tool whose files are guarded, for a sentence."""
    return "your own folders" if tool == OWN_TOOL else get_source(tool).title


def list_guarded_files(
    machine: Machine, extra: Sequence[str] = (), troubles: Troubles | None = None
) -> list[GuardedFile]:
    """List the files that are there now, each once; `extra` are files and folders of the person. What cannot be read
    or is left out is noted."""
    found: dict[str, GuardedFile] = {}
    for tool, places in _guarded_places(machine, extra):
        for path in _files_in(tool, places, [] if troubles is None else troubles):
            found.setdefault(path, GuardedFile(tool, path))
    return list(found.values())


def list_watched_folders(machine: Machine, extra: Sequence[str] = ()) -> list[str]:
    """List the folders in which a guarded file may be changed, made or removed."""
    found = set[str]()
    for _, places in _guarded_places(machine, extra):
        for place in places:
            found.add(nearest_folder(os.path.dirname(place)))
            if os.path.isdir(place):
                for folder, inner, _ in os.walk(os.path.realpath(place)):
                    inner[:] = [name for name in inner if not name.startswith(".")]
                    found.add(folder)
    # folders with a dot are watched where something lies in them
    found |= {os.path.dirname(one.path) for one in list_guarded_files(machine, extra)}
    base = os.path.join(claude_projects_folder(machine), "")
    return sorted(
        found | {path for path in (os.path.dirname(base), *source.list_folders(base)) if os.path.isdir(path)}
    )


def _guarded_places(machine: Machine, extra: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each tool with files, and folders of Markdown, whether they exist or not."""
    for tool in SOURCE_NAMES:
        kept = get_source(tool)
        yield tool, kept.guarded(machine)
    yield OWN_TOOL, [os.path.join(machine.home, path.removeprefix("~/")) for path in extra]


def _files_in(tool: str, places: Sequence[str], troubles: Troubles) -> Iterator[str]:
    """Yield the files of these places, in folders those that are read of the tool. What a person chose as a place may
    be reached through a link, nothing below it is: the path is that of the place behind it."""
    for place in places:
        if os.path.isdir(place):
            kept, folder = SOURCES_BY_NAME.get(tool), os.path.realpath(place)
            yield from kept.files(folder, troubles) if kept else source.find_files(folder, ".md", troubles)
        elif os.path.isfile(place) and not os.path.islink(place):
            yield os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))


def nearest_folder(folder: str) -> str:
    """Return the folder, or the nearest above it that exists."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return os.path.realpath(folder)


# reading


class PresentFile(NamedTuple):
    """A file: its bytes, its mode, and the stamp by which it is known to be the same."""

    raw: bytes
    mode: int
    stamp: str


def stamp_guarded_file(file: GuardedFile) -> str:
    """Return the stamp of a file; empty if there is none. Raise CannotUse if it cannot be told."""
    try:
        found = source.file_stamps(file.path, source.DATABASE_PARTS if file.is_database else ("",))
    except OSError as error:
        raise CannotUse((error.strerror or "it cannot be looked at").lower()) from None
    return ", ".join(found.values()) if "" in found else ""


def read_guarded_file(file: GuardedFile) -> PresentFile | None:
    """Read a file. Return None if there is none. Raise CannotUse."""
    before = stamp_guarded_file(file)
    if not before:
        return None
    troubles, largest = (
        Troubles(),
        source.LARGEST_TEXT_FILE if file.path.endswith(".md") else LARGEST_GUARDED_FILE,
    )
    in_database = file.is_database
    raw = _database_image(file.path) if in_database else source.read_file_bytes(file.path, troubles, largest)
    if raw is None:
        raise CannotUse(troubles[0].why)
    mode = stat.S_IMODE(os.lstat(file.path).st_mode)
    if stamp_guarded_file(file) != before:
        raise CannotUse("it is being written")
    return PresentFile(raw, mode, before)


def _database_image(path: str) -> bytes:
    """Return a database with its log folded in, from a copy. Raise NotNow."""
    with tempfile.TemporaryDirectory(prefix=GUARD_COPY_PREFIX, ignore_cleanup_errors=True) as folder:
        try:
            copy = source.copy_database(path, folder, LARGEST_GUARDED_DATABASE)
            # damaged: as it is, it is a version too
            with suppress(apsw.NotADBError, apsw.CorruptError), closing(apsw.Connection(copy)) as connection:
                connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
                # what is no database is noticed at the first reading
                connection.pragma("schema_version")
                return connection.serialize("main")
            with open(copy, "rb") as file:
                return file.read()
        except (CannotUse, apsw.Error, OSError) as error:
            raise CannotUse(source.describe_read_error(error)) from None


def open_image(raw: bytes) -> apsw.Connection:
    """Open a database that `_database_image` returned, in memory."""
    connection = apsw.Connection(":memory:")
    # its log is folded in
    connection.deserialize("main", raw[:18] + b"\1\1" + raw[20:])
    return connection


def tidy_guard_copies() -> None:
    """Delete copies of databases that a killed process left behind."""
    before = time.time() - COPY_EXPIRY_SECONDS
    for prefix in (GUARD_COPY_PREFIX, source.COPY_FOLDER_PREFIX):
        for path in source.list_folders(os.path.join(tempfile.gettempdir(), prefix)):
            # another process may delete it
            with suppress(OSError):
                about = os.lstat(path)
                if about.st_uid == os.getuid() and about.st_mtime < before:
                    shutil.rmtree(path, ignore_errors=True)


# Encryption of what is kept: AES-256-GCM of the library `cryptography`, with a key that lies apart from the
# database.

KEY_IN_FILE, KEY_IN_KEYRING = "file", "keyring"
KEY_PLACES = (KEY_IN_FILE, KEY_IN_KEYRING)
# of the file, and of the service in the keyring
KEY_NAME = "guard-key"
GUARD_KEY_BYTES, NONCE_BYTES = 32, 12
START_OVER = "What was kept cannot be read without it; `memoranda files keep --off` starts over."


class Sealer:
    """Seals and opens bytes with one key."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(_derive_key(key, b"content"))
        self._names = _derive_key(key, b"names")

    def digest(self, content: bytes) -> bytes:
        """Return the digest by which this content is found again: 32 bytes."""
        return hmac.digest(self._names, content, "sha256")

    def seal(self, content: bytes, about: bytes) -> bytes:
        """Return the content packed and encrypted; it opens only with the same `about`."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, zlib.compress(content), about)

    def unseal(self, sealed: bytes, about: bytes) -> bytes:
        """Return the content. Raise StorageError where the key or `about` is another, or a byte was changed."""
        try:
            return zlib.decompress(self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], about))
        except (InvalidTag, ValueError, zlib.error):
            raise StorageError(
                "A kept version cannot be opened: the key is another one, or it is damaged."
            ) from None


def _derive_key(key: bytes, purpose: bytes) -> bytes:
    """Derive a key for one purpose from the stored key."""
    return HKDF(SHA256(), GUARD_KEY_BYTES, salt=None, info=b"memoranda guard " + purpose).derive(key)


def read_guard_key(place: str, database: str) -> bytes:
    """Return the key of a database. Raise StorageError where it is gone."""
    if place == KEY_IN_KEYRING:
        where, stored = "the system's keyring", _load_keyring().get_password(KEY_NAME, database)
    else:
        name = _key_file(database)
        where, stored = os.path.join(state_files.state_folder(), name), state_files.read_state(name)
    try:
        found = bytes.fromhex(stored or "")
    except ValueError:
        found = b""
    if len(found) != GUARD_KEY_BYTES:
        raise StorageError(f"The key of the kept versions is not in {where}.", START_OVER)
    return found


def delete_guard_key(place: str, database: str) -> None:
    """Delete the key: what it sealed is lost for good."""
    if place == KEY_IN_FILE:
        state_files.delete_state(_key_file(database))
        return
    import keyring.errors

    # it may not be there
    with suppress(keyring.errors.PasswordDeleteError):
        _load_keyring().delete_password(KEY_NAME, database)


def store_guard_key(place: str, database: str, key: bytes) -> None:
    """Store the key of a database in a place of KEY_PLACES. Raise StorageError."""
    if place == KEY_IN_KEYRING:
        ring = _load_keyring()
        try:
            ring.set_password(KEY_NAME, database, key.hex())
            stored = ring.get_password(KEY_NAME, database)
        except Exception as error:  # a backend's own: no service on the bus, a prompt that was dismissed
            raise _keyring_error(type(error).__name__) from None
        if stored != key.hex():
            raise _keyring_error("it did not keep it")
    elif not state_files.write_state(_key_file(database), key.hex()):
        # it would hold for this process alone
        state_files.delete_state(_key_file(database))
        raise state_files.state_folder_error()


def _keyring_error(why: str) -> StorageError:
    """Return the error for a keyring that does not take the key."""
    return StorageError(
        f"The system's keyring did not take the key ({why}).",
        "memoranda config guard.key file keeps it in a file.",
    )


def _key_file(database: str) -> str:
    """Return the name of the private file for the key of a database."""
    return state_files.state_name_of(KEY_NAME, database)


def _load_keyring() -> ModuleType:
    """Return the library keyring. Raise StorageError if it is not installed."""
    try:
        import keyring
    except ImportError:
        raise StorageError(
            "guard.key is keyring, and the library keyring is not installed.",
            "pip install 'memoranda[keyring]', or: memoranda config guard.key file",
        ) from None
    return keyring


# The database of kept versions, one for a person: opened, locked, made, and deleted.

GUARD_LOCK = "guard.lock"
# bytes; a database changes in few of them
PIECE_BYTES = 1 << 18
# what changed so recently is never dropped for its size
UNPRUNED_MS = DAY_MS
# of a file that lines are put into and that is gone
NEW_FILE_MODE = 0o600
GUARD_APPLICATION_ID, GUARD_VERSION = 0x4D67_7264, 1
# seconds to wait for another process that holds the lock
LOCK_SECONDS = 10.0
GUARD_SCHEMA = """
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
    """An open database of kept versions: files, each with its versions in pieces that are stored once."""

    def __init__(self, path: str, connection: apsw.Connection, sealer: Sealer) -> None:
        self.path = path
        self.connection = connection
        self.sealer = sealer

    def query(self, sql: str, parameters: tuple[SQLiteValue, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return list(self.connection.execute(sql, parameters))

    def query_one(self, sql: str, parameters: tuple[SQLiteValue, ...] = ()) -> Any:
        """Return the value of a query of one row and column, the row if it has several; None without one."""
        return self.connection.execute(sql, parameters).get

    def get_number(self, key: str) -> int:
        """Return a number of `meta`; 0 without it."""
        return int(self.query_one("SELECT value FROM meta WHERE key = ?", (key,)) or 0)

    def set_value(self, key: str, value: int | str | bytes) -> None:
        """Store a value of `meta`."""
        self.connection.execute(
            "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def file_number(self, tool: str, path: str) -> int:
        """Return the number of a file; it is new if the file was never seen."""
        name = path.encode("utf-8", "surrogateescape")
        digest = self.sealer.digest(name)
        found: int = self.query_one("SELECT id FROM files WHERE digest = ?", (digest,)) or self.query_one(
            "INSERT INTO files(tool, digest, path) VALUES (?, ?, ?) RETURNING id",
            (tool, digest, self.sealer.seal(name, digest)),
        )
        return found

    def unseal_file(self, tool: str, digest: bytes, sealed: bytes) -> GuardedFile:
        """Return the file of a row of `files`."""
        return GuardedFile(tool, self.sealer.unseal(sealed, digest).decode("utf-8", "surrogateescape"))

    def keep_version(self, file: int, raw: bytes, mode: int) -> int:
        """Store a version of a file, unless it is kept already; return its number."""
        digest = self.sealer.digest(raw)
        version: int = self.query_one("SELECT id FROM versions WHERE file = ? AND digest = ?", (file, digest))
        if version:
            return version
        version = self.query_one(
            "INSERT INTO versions(file, digest, size, mode) VALUES (?, ?, ?, ?) RETURNING id",
            (file, digest, len(raw), mode),
        )
        self.connection.executemany(
            "INSERT INTO version_pieces(version, place, piece) VALUES (?, ?, ?)",
            [
                (version, at // PIECE_BYTES, self._store_piece(raw[at : at + PIECE_BYTES]))
                for at in range(0, len(raw), PIECE_BYTES)
            ],
        )
        return version

    def _store_piece(self, part: bytes) -> int:
        """Store a piece unless it is stored already; return its number."""
        digest = self.sealer.digest(part)
        found: int = self.query_one("SELECT id FROM pieces WHERE digest = ?", (digest,)) or self.query_one(
            "INSERT INTO pieces(digest, sealed) VALUES (?, ?) RETURNING id",
            (digest, self.sealer.seal(part, digest)),
        )
        return found

    def keep_present(self, number: int, found: PresentFile) -> int:
        """Keep what a file has now, and note its version and its stamp; return the version."""
        version = self.keep_version(number, found.raw, found.mode)
        self.note_version(number, version, found.stamp)
        return version

    def note_version(self, number: int, version: int | None, stamp: str) -> None:
        """Note the version and the stamp that a file has now."""
        self.connection.execute("UPDATE files SET version = ?, stamp = ? WHERE id = ?", (version, stamp, number))

    def current_version(self, number: int) -> int | None:
        """Return the version that a file had at the last look; None for no file."""
        found: int | None = self.query_one("SELECT version FROM files WHERE id = ?", (number,))
        return found

    def erase_version(self, version: int) -> None:
        """Erase the content of a version: it is still told that there was one."""
        digest = os.urandom(32)
        self.connection.execute(
            "UPDATE versions SET erased = 1, size = 0, digest = ? WHERE id = ?", (digest, version)
        )
        self.connection.execute("DELETE FROM version_pieces WHERE version = ?", (version,))

    def replace_version(self, file: int, version: int, raw: bytes) -> None:
        """Let a version of a file have another content, everywhere that it is told of."""
        other = self.keep_version(file, raw, self.version_mode(version))
        for table, column in (("files", "version"), ("changes", "before"), ("changes", "after")):
            self.connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (other, version))

    def version_mode(self, version: int | None) -> int:
        """Return the mode of a version; that of a new file if it is unknown."""
        found: int | None = self.query_one("SELECT mode FROM versions WHERE id = ?", (version,))
        return NEW_FILE_MODE if found is None else found

    def version_content(self, version: int) -> bytes:
        """Return the bytes of a version. Raise NotFound where they were erased, StorageError where they cannot be
        opened."""
        if self.is_version_erased(version):
            raise NotFound(
                "That version was erased, for what was purged from it.", "Another moment may have what you need."
            )
        return b"".join(
            self.sealer.unseal(sealed, digest)
            for digest, sealed in self.query(
                "SELECT p.digest, p.sealed FROM version_pieces v JOIN pieces p ON p.id = v.piece WHERE v.version = ?"
                " ORDER BY v.place",
                (version,),
            )
        )

    def is_version_erased(self, version: int) -> bool:
        """Tell whether the content of a version was erased."""
        return self.query_one("SELECT 1 FROM versions WHERE id = ? AND erased", (version,)) is not None

    def is_same_content(self, version: int | None, raw: bytes | None) -> bool:
        """Tell whether a version has these bytes; None stands for no file."""
        if version is None or raw is None:
            return version is None and raw is None
        digest = self.query_one("SELECT digest FROM versions WHERE id = ?", (version,))
        return bool(digest == self.sealer.digest(raw))

    def count_bytes(self) -> int:
        """Return how many bytes are kept, as they are stored."""
        return int(self.query_one("SELECT coalesce(sum(length(sealed)), 0) FROM pieces"))

    def prune_versions(self, days: int, most: int, now: int) -> int:
        """Drop moments older than `days` (0: none), then the oldest until `most` bytes are kept, never one of the last
        day; return how many went. What is there now is always kept."""
        gone = self._drop_moments("last_at < ?", now - days * DAY_MS) if days else 0
        self.sweep_versions()
        while self.count_bytes() > most and (
            oldest := self.query_one(
                "SELECT id FROM moments WHERE NOT pending AND last_at < ? ORDER BY last_at, id LIMIT 1",
                (now - UNPRUNED_MS,),
            )
        ):
            gone += self._drop_moments("id = ?", oldest)
            self.sweep_versions()
        return gone

    def _drop_moments(self, where: str, value: int) -> int:
        """Delete the moments that meet a condition; return how many."""
        self.connection.execute(f"DELETE FROM moments WHERE NOT pending AND {where}", (value,))
        return self.connection.changes()

    def sweep_versions(self) -> None:
        """Delete versions that no moment and no present file needs, and what only they needed."""
        self.connection.execute(
            "DELETE FROM versions WHERE id NOT IN (SELECT version FROM files WHERE version IS NOT NULL"
            " UNION SELECT before FROM changes WHERE before IS NOT NULL"
            " UNION SELECT after FROM changes WHERE after IS NOT NULL)"
        )
        self.connection.execute("DELETE FROM pieces WHERE id NOT IN (SELECT piece FROM version_pieces)")
        self.connection.execute("DELETE FROM files WHERE version IS NULL AND id NOT IN (SELECT file FROM changes)")


def nothing_kept_error() -> NotFound:
    """Return the error for a person of whom nothing is kept yet."""
    return NotFound("Nothing is kept yet.", "memoranda files keep takes the first look.")


@contextmanager
def open_guard(config: Config | None = None, *, locked: bool = False) -> Iterator[KeptVersions]:
    """Open the database to read it, `locked` to change it. With `config` it is locked too, and created where there is
    none. Raise NotFound where there is none, StorageError, UnsafeFile, Busy, DamagedFile, NewerFile."""
    path = guard_path()
    if config is None and not os.path.lexists(path):
        raise nothing_kept_error()
    with _hold_lock(path) if locked or config is not None else nullcontext():
        if config is not None:
            _create_file(path)
        connection = _connect(path)
        try:
            yield KeptVersions(path, connection, _open_sealer(connection, path, config))
        except apsw.Error as error:
            raise _explain_error(error, path) from None
        finally:
            connection.close()


def delete_guard() -> int:
    """Delete the database and its key; return how many bytes it had. Raise NotFound, StorageError, Busy."""
    path = guard_path()
    if not os.path.lexists(path):
        raise nothing_kept_error()
    with _hold_lock(path):
        size, where = os.lstat(path).st_size, "file"
        with suppress(MemorandaError, apsw.Error), closing(_connect(path)) as connection:
            where = str(connection.execute("SELECT value FROM meta WHERE key = 'key_in'").get or where)
        delete_guard_key(where, path)
        for end in ("", "-journal"):
            with suppress(FileNotFoundError):
                os.unlink(path + end)
    return size


@contextmanager
def _hold_lock(path: str) -> Iterator[None]:
    """Hold the lock of the database. Raise Busy if another process holds it for long, StorageError."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = os.open(
            os.path.join(folder, GUARD_LOCK), os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}.", "Look at its permissions.") from None
    try:
        deadline = time.monotonic() + LOCK_SECONDS
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


def _create_file(path: str) -> None:
    """Create the file, private, if there is none."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(f"{path} cannot be made: {error.strerror}.", "Look at its folder.") from None


def _connect(path: str) -> apsw.Connection:
    """Connect to the database, and check that it is ours. Raise UnsafeFile, DamagedFile, NewerFile or
    StorageError."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
        raise UnsafeFile(f"{path} is not a plain file of yours.", "Move it away.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        os.chmod(path, 0o600)
    require_utf8_path(path, "Name another folder in $XDG_DATA_HOME.")
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error as error:
        raise _explain_error(error, path) from None
    try:
        connection.set_busy_timeout(DEFAULT_BUSY_MS)
        guard_connection(connection)
        if _is_empty(connection):
            connection.pragma("auto_vacuum", 1)
        elif connection.pragma("application_id") != GUARD_APPLICATION_ID:
            raise _damage_error(path)
        elif connection.pragma("user_version") > GUARD_VERSION:
            raise NewerFile(f"{path} was written by a newer Memoranda.", "Upgrade this one.")
        configure_connection(connection)
        return connection
    except apsw.Error as error:
        connection.close()
        raise _explain_error(error, path) from None
    except MemorandaError:
        connection.close()
        raise


def _is_empty(connection: apsw.Connection) -> bool:
    """Tell whether a database has no tables yet."""
    return not connection.execute("SELECT count(*) FROM sqlite_schema").get


def _open_sealer(connection: apsw.Connection, path: str, config: Config | None) -> Sealer:
    """Return the sealer with the database's key; of a new one make both. A key that is to be elsewhere is moved."""
    wanted = str(config["guard.key"]) if config is not None else ""
    if _is_empty(connection):
        if not wanted:
            raise nothing_kept_error()
        key = os.urandom(GUARD_KEY_BYTES)
        store_guard_key(wanted, path, key)
        sealer = Sealer(key)
        with connection:
            connection.execute(GUARD_SCHEMA)
            connection.pragma("application_id", GUARD_APPLICATION_ID)
            connection.pragma("user_version", GUARD_VERSION)
            _store_key_place(connection, wanted, sealer)
        return sealer
    where, check = (
        connection.execute("SELECT value FROM meta WHERE key = ?", (name,)).get for name in ("key_in", "check")
    )
    key = read_guard_key(str(where), path)
    sealer = Sealer(key)
    sealer.unseal(bytes(check), b"check")
    if wanted and wanted != where:
        store_guard_key(wanted, path, key)
        with connection:
            _store_key_place(connection, wanted, sealer)
        delete_guard_key(str(where), path)
    return sealer


def _store_key_place(connection: apsw.Connection, where: str, sealer: Sealer) -> None:
    """Note where the key is, with a text that checks it."""
    connection.execute(
        "INSERT OR REPLACE INTO meta(key, value) VALUES ('key_in', ?), ('check', ?)",
        (where, sealer.seal(b"", b"check")),
    )


def _explain_error(error: apsw.Error, path: str) -> MemorandaError:
    """Return the error of SQLite as ours."""
    if isinstance(error, apsw.NotADBError | apsw.CorruptError):
        return _damage_error(path)
    return explain_sqlite_error(error, path)


def _damage_error(path: str) -> DamagedFile:
    """Return the error for a damaged database."""
    return DamagedFile(
        f"{path} is damaged, or no database of kept versions.",
        "`memoranda files keep --off` deletes it and starts over.",
    )


# Words that are purged, in what is kept: find them, and cut them out of each version. The tool's own files stay.


class KeptContent(NamedTuple):
    """A version: of which file, its number, its bytes, and whether it is what was there at the last look."""

    number: int
    file: GuardedFile
    version: int
    raw: bytes
    now: bool

    @property
    def text(self) -> str | None:
        """Its text; None for what is no Markdown in UTF-8, which cannot be cut."""
        if not self.file.path.endswith(GUARDED_SUFFIX):
            return None
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            return None

    @property
    def readable_text(self) -> str:
        """What can be read of it, to look for words in it."""
        try:
            return decode_text(self.raw)[0]
        except Unreadable:
            return self.raw.decode("utf-8", "replace")


def kept_contents(kept: KeptVersions) -> Iterator[KeptContent]:
    """Yield every version, one at a time. Raise StorageError where one cannot be opened."""
    rows = kept.query(
        "SELECT f.id, f.tool, f.digest, f.path, v.id, v.id IS f.version FROM versions v JOIN files f ON f.id = v.file"
        " WHERE NOT v.erased ORDER BY f.id, v.id"
    )
    for number, tool, digest, sealed, version, now in rows:
        file = kept.unseal_file(tool, digest, sealed)
        yield KeptContent(number, file, version, kept.version_content(version), bool(now))


def cut_from_versions(
    kept: KeptVersions,
    paths: Collection[str],
    holds: Callable[[KeptContent], bool],
    named: Callable[[str], bool],
    without: Callable[[str], str],
) -> None:
    """Cut words out of the versions of these files that hold them: out of a text what `without` leaves out; any other
    version is erased, and a file that is `named` so is forgotten."""
    with kept.connection:
        for one in kept_contents(kept):
            if one.file.path not in paths or not holds(one):
                continue
            if named(one.file.path):
                kept.connection.execute("UPDATE files SET version = NULL WHERE id = ?", (one.number,))
                kept.connection.execute("DELETE FROM changes WHERE file = ?", (one.number,))
            elif (text := one.text) is None:
                kept.erase_version(one.version)
            else:
                kept.replace_version(one.number, one.version, without(text).encode())
        kept.connection.execute("DELETE FROM moments WHERE id NOT IN (SELECT moment FROM changes)")
        kept.sweep_versions()
    kept.connection.execute("VACUUM")
