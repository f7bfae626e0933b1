"""A memory as an older version left it, made of one of today."""

import os

import apsw

from store.database import migrations
from store.database.tables import JOURNAL, OPERATIONAL, PACKED, RECORDED
from store.database.version import APPLICATION_ID


def older(path: str, version: int) -> None:
    """Put in the place of a memory one of schema `version` that holds what it holds, as far as that has a place for it.
    The triggers of that version fill its search index."""
    made = f"{path}.older"
    connection = apsw.Connection(made)
    connection.pragma("application_id", APPLICATION_ID)
    for number, script in migrations.migrations():
        if number <= version:
            with open(script, encoding="utf-8") as sql:
                connection.execute(sql.read())
    connection.pragma("user_version", version)
    connection.execute("ATTACH ? AS today", (path,))
    for table in (*JOURNAL, *RECORDED, *PACKED, *OPERATIONAL):
        names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
        if names:
            connection.execute(f"INSERT OR REPLACE INTO main.{table} SELECT {', '.join(names)} FROM today.{table}")
    connection.execute("DETACH today")
    connection.pragma("journal_mode", "wal")
    connection.close()
    os.chmod(made, 0o600)  # as every version made it
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.unlink(name)
    os.rename(made, path)
