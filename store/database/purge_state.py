"""What a memory keeps of its purges: the key of their digests, which is random, of this memory alone, and never leaves
it, and a note while one is not finished."""

import os

from store.database.database import Database, Transaction
from store.database.values import Verbatim

KEY = "purge.key"
KEY_BYTES = 32
NOTE = "purge.pending"


def pending(database: Database) -> bool:
    """Whether a purge is not finished: one look at one row."""
    return database.value("SELECT 1 FROM meta WHERE key = ?", (NOTE,)) is not None


def made_key(write: Transaction) -> bytes:
    """The key of this memory, made when it is needed first."""
    key = key_of(write.database)
    if key is None:
        key = os.urandom(KEY_BYTES)
        write.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (Verbatim(KEY), Verbatim(key.hex())))
    return key


def key_of(database: Database) -> bytes | None:
    """The key of this memory; None while nothing was purged."""
    value = database.value("SELECT value FROM meta WHERE key = ?", (KEY,))
    return bytes.fromhex(value) if value else None
