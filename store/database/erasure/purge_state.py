"""State of the purges of a memory: the key of their digests, which is random, of this memory alone, and never leaves
it, and a note while one is not finished."""

import os

from store.database.database import Database, Transaction
from store.database.values import Verbatim

KEY = "purge.key"
KEY_BYTES = 32
NOTE = "purge.pending"


def pending(database: Database) -> bool:
    """Return whether a purge is not finished; reads one row."""
    return database.value("SELECT 1 FROM meta WHERE key = ?", (NOTE,)) is not None


def made_key(write: Transaction) -> bytes:
    """Return the key of this memory, created at first need."""
    key = key_of(write.database)
    if key is None:
        key = os.urandom(KEY_BYTES)
        write.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (Verbatim(KEY), Verbatim(key.hex())))
    return key


def key_of(database: Database) -> bytes | None:
    """Return the key of this memory; None while nothing was purged."""
    value = database.value("SELECT value FROM meta WHERE key = ?", (KEY,))
    return bytes.fromhex(value) if value else None
