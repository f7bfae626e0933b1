"""Make memories of earlier builds: their schemas were made by numbered steps, which are kept as samples."""

import os
from pathlib import Path

import apsw

from store.database import schema

STEPS = sorted((Path(__file__).parents[1] / "earlier_builds" / "steps").iterdir())
VERSIONS = range(1, len(STEPS) + 1)  # of the schema; the last build that made memories so was of the last


def begun(path: str, version: int) -> apsw.Connection:
    """Return an empty memory of schema `version`, as its build made it."""
    connection = apsw.Connection(path)
    connection.pragma("synchronous", 0)
    for step in STEPS[:version]:
        schema.run_script(connection, step.read_text(encoding="utf-8"))
    connection.pragma("application_id", schema.APPLICATION_ID)
    connection.pragma("user_version", version)
    return connection


def older(path: str, version: int) -> None:
    """Replace a memory by one of schema `version` with the same content, as far as that schema can hold it. That
    version's triggers fill its search index."""
    made = f"{path}.older"
    connection = begun(made, version)
    connection.execute("ATTACH ? AS today", (path,))
    for table in (*schema.JOURNAL_TABLES, *schema.RECORDED_TABLES, *schema.PACKED_TABLES, *schema.OPERATIONAL_TABLES):
        names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
        if names:
            connection.execute(f"INSERT OR REPLACE INTO main.{table} SELECT {', '.join(names)} FROM today.{table}")
    connection.execute("DELETE FROM main.meta WHERE key IN ('schema_version', 'fts_enabled')")  # keys of today's
    connection.execute("DETACH today")
    connection.pragma("journal_mode", "wal")
    connection.close()
    os.chmod(made, 0o600)  # the mode in every version
    for name in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.unlink(name)
    os.rename(made, path)
