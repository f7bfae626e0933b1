"""Make a new memory of `schema.sql` at once, and take one of an earlier release to this version step by step.

`schema.sql` is always the whole schema of today. A change of it after a release also adds a step here, which does the
same to a file that has its rows already. Files from before the first release are converted (`store.conversion`).
"""

import os
from collections.abc import Callable

import apsw

from store.base.clock import Clock
from store.database.schema.version import APPLICATION_ID, SCHEMA_VERSION
from store.database.sql_functions import register

SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")
STEPS: dict[int, str] = {}
"""SQL by the version that it leads to, from the one before. A step that was released is never changed."""


def lead_from(version: int) -> bool:
    """Return whether `bring_up_to_date` can make today's memory of a file of this version; 0 is an empty one."""
    return version == 0 or all(number in STEPS for number in range(version + 1, SCHEMA_VERSION + 1))


def bring_up_to_date(
    connection: apsw.Connection,
    clock: Clock,
    born: Callable[[apsw.Connection], None] | None = None,
    convert: Callable[[apsw.Connection, int, str], None] | None = None,
) -> None:
    """Make the file a memory of SCHEMA_VERSION, all or nothing, outside of history. `born` is called for a new one, at
    the end of the transaction; `convert` (with the version and the time) where no steps lead from the file's version.

    Several processes may open a file at once: each waits for the write lock and then reads the version again, so one of
    them does the work and the others find it done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version, now = connection.pragma("user_version"), clock()
        if version == 0:
            make(connection, now)
            if born is not None:
                born(connection)
        elif version < SCHEMA_VERSION:
            if convert is not None and not lead_from(version):
                convert(connection, version, now)
            else:
                for number in range(version + 1, SCHEMA_VERSION + 1):
                    run(connection, STEPS[number])
            stamp(connection)
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")
        raise


def make(connection: apsw.Connection, now: str) -> None:
    """Make an empty file a memory, within the caller's transaction."""
    with open(SCHEMA, encoding="utf-8") as schema:
        run(connection, schema.read())
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute("INSERT INTO meta(key, value) VALUES ('created_at', ?)", (now,))
    stamp(connection)


def stamp(connection: apsw.Connection) -> None:
    """Write the version into the head of the file, where opening reads it, and into `meta`, where anybody does."""
    connection.pragma("user_version", SCHEMA_VERSION)
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))


def run(connection: apsw.Connection, script: str) -> None:
    """Run a script to its end: it stops at the first statement that returns a row."""
    register(connection)
    for _ in connection.execute(script):
        pass
