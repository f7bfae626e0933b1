"""Memories of builds before the first release: each is converted to today's schema when it is first opened.

The file stays in its place and is rewritten in one transaction: its tables are moved aside, `schema.sql` makes today's,
and the rows come over as they are. So a process that is killed at any moment leaves the old memory or the new one, and
other processes wait for it as for any writer. Before that a verified copy is kept, for whoever goes back a version. A
file that may only be read is converted in a copy in memory. `store.database` is given `convert` where a memory is
opened, and imports nothing of it.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from threading import Lock

import apsw

from store.base.clock import Clock
from store.base.errors import MemorandaError, StorageError
from store.base.location import backup_folder
from store.base.runtime import FileStamp, read_file_stamp
from store.base.vocabulary import KIND_NUMBERS
from store.database import schema as database_schema
from store.database.connection import (
    configure_connection,
    explain_sqlite_error,
    guard_connection,
    open_for_reading,
)
from store.database.database import Database, TrustCheck
from store.database.files import create_private_file, sync_folder
from store.database.schema import (
    DERIVED_TABLES,
    SCHEMA_DIGESTS,
    SCHEMA_VERSION,
    required_objects,
    run_script,
    schema_digest,
    upgrade_schema,
)

# that SQLite keeps in memory of one file
MEGABYTES = 1024
# before the name of a table that was moved aside; no table of ours has a space in its name
_ASIDE = "earlier "
# the first version whose index and vectors are of passages, as today's
_PASSAGES = 11
# the first whose packed signs of vectors are as today's
_SIGNS = 18
_LISTED_COLUMNS = (
    "INSERT INTO backups(name, made_at, scheduled, step, sums, digest, verified_at)"
    " SELECT ?, ?, 0, coalesce(max(seq), 0), '{}', '', ? FROM history"
)
# of a killed process; whoever makes one holds the write lock, so nobody else is at it
_UNFINISHED = ".part"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name"

_copies: dict[
    tuple[str, FileStamp, FileStamp], tuple[str, apsw.Connection]
] = {}  # a copy exists as long as it is referenced
_making = Lock()


def convert_memory(database: Database, trust: TrustCheck | None) -> None:
    """Make the open file a memory of SCHEMA_VERSION, or show it as one where it may only be read; warn of either. The
    file as it was is kept in the folder of backups, unless `trust` is None: then it is a copy itself. Raise
    StorageError; then nothing was changed."""
    path = database.path
    if database.read_only:
        database.connection = _open_shown(database.connection, path, database.clock, database.look)
        says = f"{path} was written by an older Memoranda and may only be read; it is shown as it is now."
        step = "Let it be written (chmod u+w), and it is brought up to date."
    else:
        if not (kept := _bring_up_to_date(database.connection, path, database.clock, trust)):
            return
        says = f"{path} was written by an older Memoranda and was brought up to date."
        step = f"As it was it is kept in {os.path.join(backup_folder(path), kept)}."
    database.warnings.append(str(MemorandaError(says, step)))


# the rows ------------------------------------------------------------------------------------------------------------


def _bring_up_to_date(connection: apsw.Connection, path: str, clock: Clock, trust: TrustCheck | None) -> str:
    """Convert the file, all or nothing, outside of history; return the name of the copy that was kept, empty for none:
    another process may have converted it meanwhile."""
    kept = ""

    def keep_and_convert(connection: apsw.Connection, version: int, now: str) -> None:
        nonlocal kept
        if trust is not None:
            kept = _keep_backup(path, version, now, trust)
        _convert_rows(connection, version)
        if kept:
            connection.execute(_LISTED_COLUMNS, (kept, now, now))

    # tables come in any order; it cannot be set within a transaction
    connection.pragma("foreign_keys", 0)
    # a row that a disk changed comes along as it is
    connection.pragma("ignore_check_constraints", 1)
    try:
        upgrade_schema(connection, clock, convert=keep_and_convert)
    finally:
        connection.pragma("ignore_check_constraints", 0)
        connection.pragma("foreign_keys", 1)
    return kept


def _convert_rows(connection: apsw.Connection, version: int) -> None:
    """Convert a memory of an earlier version, within the caller's transaction and with foreign keys off. What is
    derived comes along where it is as today's, and is made from the records where it is not."""
    if schema_digest(connection) != SCHEMA_DIGESTS[SCHEMA_VERSION]:
        moved = _move_aside(connection)
        with open(database_schema.SCHEMA_FILE, encoding="utf-8") as schema:
            run_script(connection, schema.read())
        triggers = list(connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
        # they keep what is derived, which comes along or is made below
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        remade = DERIVED_TABLES if version < _PASSAGES else ("vector_blocks",) if version < _SIGNS else ()
        kept = (
            "documents",
            "chunks",
            "embedding_models",
            "embeddings",
        )  # of files and models, not of other tables
        for table in moved:
            _take_rows(connection, table, table not in remade or table in kept)
        if version < 4:
            begun = "SELECT session, min(at) FROM turns GROUP BY session"
            connection.execute(f"INSERT INTO sessions(id, started_at) {begun}")
        # the next indexing makes the signs again from the vectors
        if version < _SIGNS:
            backend = " AND value GLOB 'numpy *'" if version >= _PASSAGES else ""
            connection.execute(f"DELETE FROM meta WHERE key GLOB 'embedding.bits.*'{backend}")
        for _, sql in triggers:
            connection.execute(sql)
        if version < _PASSAGES:
            for kind in KIND_NUMBERS:
                connection.execute(f"INSERT INTO corpus SELECT * FROM corpus_{kind}")
        else:
            connection.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('rebuild')")
    connection.execute("INSERT OR IGNORE INTO meta(key, value) VALUES ('fts_enabled', '1')")


def _move_aside(connection: apsw.Connection) -> list[str]:
    """Drop all but the ordinary tables and what may be missing, give these tables another name, and return their
    names."""
    parts = [part for part in required_objects(connection) if part[3] and not part[1].startswith("sqlite_")]
    virtual = [name for kind, name, _, sql in parts if kind == "table" and sql.startswith("CREATE VIRTUAL ")]
    for wanted in ("trigger", "view", "index"):
        for kind, name, *_ in parts:
            if kind == wanted:
                connection.execute(f'DROP {kind} "{name}"')
    # corpus_words reads corpus_fts
    for name in sorted(virtual, reverse=True):
        connection.execute(f'DROP TABLE "{name}"')
    left = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    tables = [name for kind, name, *_ in parts if kind == "table" and name in left]
    for name in tables:
        connection.execute(f'ALTER TABLE "{name}" RENAME TO "{_ASIDE}{name}"')
    return tables


def _take_rows(connection: apsw.Connection, table: str, taken: bool) -> None:
    """Give a table the rows of the one that was moved aside, if they are `taken`, and its counter, and drop that."""
    aside = f"{_ASIDE}{table}"
    if taken:
        both = "SELECT name FROM pragma_table_info(?) WHERE name IN (SELECT name FROM pragma_table_info(?))"
        columns = ", ".join(name for (name,) in connection.execute(both, (table, aside)))
        connection.execute(f'INSERT OR REPLACE INTO {table}({columns}) SELECT {columns} FROM "{aside}"')
    connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
    connection.execute("UPDATE sqlite_sequence SET name = ? WHERE name = ?", (table, aside))
    connection.execute(f'DROP TABLE "{aside}"')


# the copy that is kept -----------------------------------------------------------------------------------------------


def _keep_backup(path: str, version: int, made_at: str, trust: TrustCheck) -> str:
    """Copy the memory at `path`, of schema `version`, into the folder of its backups; return the copy's name. The
    caller holds the write lock, and the copy is what was committed before. `trust` records it. Raise StorageError; then
    nothing is left of it."""
    folder = backup_folder(path)
    stem = os.path.basename(path).removesuffix(".db")
    name = f"{stem}-schema{version}-{made_at.replace(':', '')}.db"
    unfinished = os.path.join(folder, f"{stem}{_UNFINISHED}")
    try:
        _make_private_folder(folder, unfinished)
        try:
            _copy_database(path, unfinished)
            os.rename(unfinished, os.path.join(folder, name))
        except BaseException:
            os.unlink(unfinished)
            raise
        sync_folder(folder)
        trust.register_copy(os.path.join(folder, name))
    except apsw.Error as error:
        raise _refusal_error(path, explain_sqlite_error(error, unfinished).message) from None
    except OSError as error:
        raise _refusal_error(path, f"{folder}: {error.strerror}.") from None
    return name


def _refusal_error(path: str, reason: str) -> StorageError:
    return StorageError(
        f"{path} was written by an older Memoranda; before it is brought up to date a backup is made, and none could"
        f" be. {reason}",
        "Nothing was changed. Free some space there; until then `memoranda --look list facts` reads it.",
    )


def _make_private_folder(folder: str, unfinished: str) -> None:
    """Make the folder, and an empty file in it that only its owner reads; never through a link."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.islink(folder):
        raise OSError(0, "is a symbolic link", folder)
    if os.path.lexists(unfinished):
        os.unlink(unfinished)
    create_private_file(unfinished)


def _copy_database(path: str, target: str) -> None:
    """Copy all pages and compare every row of every table. Raise StorageError if they differ."""
    source = open_for_reading(path)
    try:
        guard_connection(source)
        copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            guard_connection(copy)
            # one moment, for the copy and for the comparison
            source.execute("BEGIN")
            with copy.backup("main", source, "main") as copying:
                copying.step()
            # one file
            copy.pragma("journal_mode", "delete")
            if problem := _find_difference(source, copy):
                raise _refusal_error(path, f"The copy is not what it was made of: {problem}.")
        finally:
            copy.close()
    finally:
        source.close()


def _find_difference(source: apsw.Connection, copy: apsw.Connection) -> str:
    if copy.execute("PRAGMA integrity_check(1)").get != "ok":
        return "SQLite finds damage in it"
    for (table,) in source.execute(_TABLES):
        rows = f'SELECT * FROM "{table}"'
        if any(one != other for one, other in zip_longest(source.execute(rows), copy.execute(rows))):
            return f"{table} differs"
    return ""


# a file that may only be read ---------------------------------------------------------------------------------------


def _open_shown(connection: apsw.Connection, path: str, clock: Clock, look: bool) -> apsw.Connection:
    """Open the converted copy of what this connection reads, and close the connection. Raise StorageError.

    The copy is made once in a process, shared by its connections, and made again for a connection that finds the file
    changed; open connections do not see what others write meanwhile. It is never written to a disk. Measured: 12 MB
    with 10,000 facts take 0.2 s.
    """
    try:
        with _making:
            state = (path, read_file_stamp(path), read_file_stamp(f"{path}-wal"))
            if state not in _copies:
                _copies[state] = _copy_rows(
                    path, f"file:/older-{os.getpid()}-{len(_copies)}?vfs=memdb", clock, look
                )
            name, _ = _copies[state]
        copy = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
        guard_connection(copy)
        configure_connection(copy)
        copy.pragma("query_only", 1)
        return copy
    except apsw.FullError:
        raise StorageError(
            f"{path} was written by an older Memoranda, may only be read, and is larger than {MEGABYTES:,} MB.",
            "Let it be written (chmod u+w), so that it can be brought up to date.",
        ) from None
    except apsw.Error as error:
        raise explain_sqlite_error(error, path) from None
    finally:
        connection.close()


def _copy_rows(path: str, name: str, clock: Clock, look: bool) -> tuple[str, apsw.Connection]:
    keeper = apsw.Connection(
        name, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    )
    try:
        file = open_for_reading(path, look)
        try:
            # a backup would copy the flag for a log, which needs a file
            file.execute("VACUUM INTO ?", (name,))
        finally:
            file.close()
        _bring_up_to_date(keeper, path, clock, None)
    except BaseException:
        keeper.close()
        raise
    return name, keeper
