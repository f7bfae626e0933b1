"""Tombstones: a purged text is recognised by a keyed hash of it, so that it cannot return unnoticed.

Those of words and of beginnings, which are shorter, are made by `store/database/erasure/purged_words.py`.

The key is random and stays in the memory: elsewhere the hash reveals nothing. Texts that differ only in capitals,
spaces or final punctuation are the same.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256

from store.base.errors import Purged
from store.database.database import Database, Transaction
from store.database.erasure.purge_state import key_of, made_key
from store.database.values import Verbatim

TIMES = "purge.times"


def normal(text: str) -> str:
    """Return the normal form of a text: without capitals, extra spaces and final punctuation."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text)
    words = " ".join(text.casefold().split())
    return words.rstrip(".!;, ") or words


def add_tombstones(write: Transaction, texts: Iterable[str]) -> None:
    """Add a tombstone for each of these texts; the first one creates the key."""
    key = made_key(write)
    for text in texts:
        write.execute(
            "INSERT INTO tombstones(hash, at) VALUES (?, ?) ON CONFLICT(hash) DO UPDATE SET at = excluded.at",
            (_hash(key, text), Verbatim(write.at)),
        )


def cut_out(write: Transaction) -> None:
    """Record that a text is removed from this memory for good."""
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, '1') ON CONFLICT(key) DO UPDATE SET value = value + 1",
        (Verbatim(TIMES),),
    )


def times(database: Database) -> int:
    """Return how often texts were removed for good: when it grows, what was read before may contain one of them."""
    return int(database.value("SELECT value FROM meta WHERE key = ?", (TIMES,)) or 0)


def purged_at(database: Database, text: str) -> str | None:
    """Return when this text was purged; None if it never was."""
    key = key_of(database)
    if key is None:
        return None
    found: str | None = database.value("SELECT at FROM tombstones WHERE hash = ?", (_hash(key, text),))
    return found


Tombstones = Callable[[str], bool]


def buried(database: Database) -> Tombstones:
    """Return a function that tests whether a text has a tombstone here, for many texts."""
    key = key_of(database)
    hashes = {found for (found,) in database.rows("SELECT hash FROM tombstones")}
    return lambda text: key is not None and _hash(key, text) in hashes


def refuse(write: Transaction, text: str, again: bool) -> None:
    """Check a text before it is written: pass one that was never purged, or, with `again`, one that a person wants
    back, and delete its tombstone. Raise Purged."""
    at = purged_at(write.database, text)
    if at is None:
        return
    if not again:
        raise Purged(f"That text was purged on {at[:10]}, and so was not kept.", "Say --yes to keep it all the same.")
    key = key_of(write.database)
    assert key is not None
    write.execute("DELETE FROM tombstones WHERE hash = ?", (_hash(key, text),))
    from store.database.erasure import purged_words

    purged_words.dig_up(write, text)


def keyed(write: Transaction, text: str) -> str:
    """Return 32 hexadecimal digits that identify a text in this memory, and reveal nothing elsewhere. The text is
    hashed as written: apply `normal` first where that is wanted."""
    key = made_key(write)
    inner: bytes = sha256(key + text.encode("utf-8", "surrogatepass")).digest()
    digest: str = sha256(key + inner).hexdigest()
    return digest[:32]


def decision_text(title: str, chosen: str) -> str:
    """Return the text that identifies a decision."""
    return f"{title}\n{chosen}"


def _hash(key: bytes, text: str) -> bytes:
    inner: bytes = sha256(key + normal(text).encode("utf-8", "replace")).digest()
    outer: bytes = sha256(key + inner).digest()
    return outer
