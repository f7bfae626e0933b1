"""Tombstones: that a text was purged is known by a keyed hash of it, so that it cannot come back unseen.

Those of words and of beginnings, which are shorter, are made by `store/database/purged_words.py`.

The key is random and stays in the memory: the hash tells nothing to whoever finds it elsewhere. What differs only in
capitals, spaces or final punctuation is the same text.
"""

from collections.abc import Callable, Iterable

from store.base.errors import Purged
from store.base.hashing import sha256
from store.database.database import Database, Transaction
from store.database.purge_state import key_of, made_key
from store.database.values import Verbatim

TIMES = "purge.times"


def normal(text: str) -> str:
    """What the ways of writing one text have in common: capitals, spaces and final punctuation left out."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text)
    words = " ".join(text.casefold().split())
    return words.rstrip(".!;, ") or words


def add_tombstones(write: Transaction, texts: Iterable[str]) -> None:
    """Leave a tombstone for each of these texts; the first makes the key."""
    key = made_key(write)
    for text in texts:
        write.execute(
            "INSERT INTO tombstones(hash, at) VALUES (?, ?) ON CONFLICT(hash) DO UPDATE SET at = excluded.at",
            (_hash(key, text), Verbatim(write.at)),
        )


def cut_out(write: Transaction) -> None:
    """Note that a text is taken out of this memory for good."""
    write.execute(
        "INSERT INTO meta(key, value) VALUES (?, '1') ON CONFLICT(key) DO UPDATE SET value = value + 1",
        (Verbatim(TIMES),),
    )


def times(database: Database) -> int:
    """How often texts were taken out for good: where it grew, what was read before may hold one of them."""
    return int(database.value("SELECT value FROM meta WHERE key = ?", (TIMES,)) or 0)


def purged_at(database: Database, text: str) -> str | None:
    """When this text was purged; None if it never was."""
    key = key_of(database)
    if key is None:
        return None
    found: str | None = database.value("SELECT at FROM tombstones WHERE hash = ?", (_hash(key, text),))
    return found


Tombstones = Callable[[str], bool]


def buried(database: Database) -> Tombstones:
    """Tells of any text whether it has a tombstone here, for many of them."""
    key = key_of(database)
    hashes = {found for (found,) in database.rows("SELECT hash FROM tombstones")}
    return lambda text: key is not None and _hash(key, text) in hashes


def refuse(write: Transaction, text: str, again: bool) -> None:
    """Let a text into the memory that was never purged, or, with `again`, one that a person wants back: its tombstone
    goes. Raises Purged."""
    at = purged_at(write.database, text)
    if at is None:
        return
    if not again:
        raise Purged(f"That text was purged on {at[:10]}, and so was not kept.", "Say --yes to keep it all the same.")
    key = key_of(write.database)
    assert key is not None
    write.execute("DELETE FROM tombstones WHERE hash = ?", (_hash(key, text),))
    from store.database import purged_words

    purged_words.dig_up(write, text)


def keyed(write: Transaction, text: str) -> str:
    """32 hexadecimal figures that tell one text from another in this memory, and nothing to whoever guesses at it from
    elsewhere. As it is written: whoever wants `normal` says so."""
    key = made_key(write)
    inner: bytes = sha256(key + text.encode("utf-8", "surrogatepass")).digest()
    digest: str = sha256(key + inner).hexdigest()
    return digest[:32]


def decision_text(title: str, chosen: str) -> str:
    """What stands for a decision."""
    return f"{title}\n{chosen}"


def _hash(key: bytes, text: str) -> bytes:
    inner: bytes = sha256(key + normal(text).encode("utf-8", "replace")).digest()
    outer: bytes = sha256(key + inner).digest()
    return outer
