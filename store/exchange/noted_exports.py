"""Where this memory was exported to: the paths, without content, so that a purge and its proof look there too."""

import json
import os
from contextlib import suppress

from store.base.errors import MemorandaError
from store.database.database import Database, Transaction
from store.database.values import Verbatim

NOTE = "exports"


def note(database: Database, path: str) -> None:
    """Note an export that was written; nothing where the memory cannot be written to."""
    path = os.path.abspath(path)
    with suppress(MemorandaError), database.write("agent", "export") as write:
        _put(write, [*(one for one in noted(database) if one != path), path])


def drop_deleted(write: Transaction) -> None:
    """Drop the exports that were deleted from the note, as a name may hold words that are purged. One whose folder is
    not there is kept: its disk may come back."""
    paths = noted(write.database)
    kept = [path for path in paths if os.path.lexists(path) or not os.path.isdir(os.path.dirname(path))]
    if kept != paths:
        _put(write, kept)


def noted(database: Database) -> list[str]:
    """List the noted paths, of files and folders, oldest first."""
    return list(map(str, json.loads(database.value("SELECT value FROM meta WHERE key = ?", (NOTE,)) or "[]")))


def _put(write: Transaction, paths: list[str]) -> None:
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
        (Verbatim(NOTE), Verbatim(json.dumps(paths))),
    )
