"""Counts of how often records were opened, by people and by agents: operational, of this machine, without history.

A person opens a record in the application or with `show`; an agent by being sent it, or by continuing from a
checkpoint.
"""

from collections.abc import Iterable

from store.database.database import Database, Transaction
from store.database.values import Verbatim

SINCE = "openings.since"  # when the first was counted


def count(write: Transaction, keys: Iterable[int]) -> None:
    """Count one opening of each of these records (store/base/record_keys.py), inside a transaction."""
    write.execute("INSERT OR IGNORE INTO meta(key, value) VALUES (?, ?)", (Verbatim(SINCE), Verbatim(write.at)))
    for key in keys:
        write.execute(
            "INSERT INTO accesses(key, count, at) VALUES (?, 1, ?)"
            " ON CONFLICT(key) DO UPDATE SET count = count + 1, at = excluded.at",
            (key, Verbatim(write.at)),
        )


def counted_since(database: Database) -> str:
    """Return when the first opening was counted; empty where none was: it is then unknown which records nobody
    opened."""
    found: str | None = database.value("SELECT value FROM meta WHERE key = ?", (SINCE,))
    return found or ""
