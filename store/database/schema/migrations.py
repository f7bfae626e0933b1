"""Numbered schema files, applied in one immediate transaction, outside of history."""

import os
import re

import apsw

from store.base.clock import Clock
from store.database.schema.version import APPLICATION_ID, SCHEMA_VERSION
from store.database.sql_functions import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = os.path.dirname(__file__)
_LISTED = (
    "INSERT INTO backups(name, made_at, scheduled, step, sums, digest, verified_at)"
    " SELECT ?, ?, 0, coalesce(max(seq), 0), '{}', '', ? FROM history"
)


def migrations() -> list[tuple[int, str]]:
    """List (number, path of its SQL) of every schema file, in order."""
    found = [(int(match[1]), os.path.join(FOLDER, name)) for name in os.listdir(FOLDER) if (match := _name(name))]
    return sorted(found)


def _name(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"(\d{4})_\w+\.sql", name)


def migrate(
    connection: apsw.Connection,
    clock: Clock,
    born: "Callable[[apsw.Connection], None] | None" = None,
    keep: "Callable[[int, str], str] | None" = None,
) -> None:
    """Migrate the file to SCHEMA_VERSION, all or nothing. `born` is called for a new one, at the end of the
    transaction; `keep` for one of an older version (that version, now), before anything is changed: it makes a backup
    and returns its name, which is listed with the others.

    Several processes may open a new file at once: each waits for the write lock and then reads the version again, so
    one of them migrates and the others find it done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        now = clock()
        kept = keep(version, now) if keep is not None and 0 < version < SCHEMA_VERSION else None
        run(connection, version, SCHEMA_VERSION)
        if kept is not None:
            connection.execute(_LISTED, (kept, now, now))
        if version == 0:
            connection.pragma("application_id", APPLICATION_ID)
            connection.execute("INSERT INTO meta(key, value) VALUES ('created_at', ?)", (now,))
            if born is not None:
                born(connection)
        if version < SCHEMA_VERSION:
            connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
        raise


def run(connection: apsw.Connection, version: int, until: int) -> None:
    """Run the numbered scripts that lead from one schema version to another."""
    register(connection)
    for number, path in migrations():
        if version < number <= until:
            with open(path, encoding="utf-8") as script:
                for _ in connection.execute(script.read()):
                    pass  # exhausted: a script stops at the first statement that returns a row
