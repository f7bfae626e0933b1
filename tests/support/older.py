"""Convert a memory of the current version to that of an older one."""

import os

import apsw

from store.database.schema import migrations
from store.database.schema.tables import JOURNAL, OPERATIONAL, PACKED, RECORDED
from store.database.schema.version import APPLICATION_ID


def older(path: str, version: int) -> None:
    """Replace a memory by one of schema `version` with the same content, as far as that schema can hold it. That
    version's triggers fill its search index."""
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
    os.chmod(made, 0o600)  # the mode in every version
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.unlink(name)
    os.rename(made, path)
