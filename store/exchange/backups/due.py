"""Where the backups are, whether one is due, and what a killed process left of one; importing this costs little."""

import os

from store.base.clock import DAY_MS, to_ms
from store.base.location import BACKUPS
from store.database.database import Database
from store.exchange import scratch_dir


def folder_of(database: Database) -> str:
    """Return the folder of a memory's backups, beside its file; it may not exist."""
    return os.path.join(os.path.dirname(os.path.abspath(database.path)), BACKUPS)


def due(database: Database) -> bool:
    """Return whether a day has passed since the last backup, or since the memory was created."""
    last = database.value("SELECT max(made_at) FROM backups WHERE scheduled")
    since = last or database.value("SELECT value FROM meta WHERE key = 'created_at'")
    return since is None or abs(to_ms(database.clock()) - to_ms(since)) >= DAY_MS  # abs: the clock may be set back


def tidy(database: Database) -> None:
    """Remove what a killed process left unfinished."""
    if not os.path.islink(folder_of(database)):
        scratch_dir.tidy(folder_of(database))
