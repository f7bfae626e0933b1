"""What a purge leaves behind: keyed digests of texts and words that must not come back.

Keyed digests of the purged words: they keep these words out of every history of inputs, and find them where they
remain after a purge that was interrupted. No text is kept.

The rows are among the tombstones, shorter than those of whole records. A text has a digest of all its words, one of its
first words (so that a long text is found quickly inside others), and those of its beginnings: somebody who types it
again may stop half-way. Accents, capitals, punctuation and the kind of space make no difference.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from unicodedata import combining, normalize

from store.base.errors import Purged
from store.database.database import Database, Transaction

# State of the purges of a memory: the key of their digests, which is random, of this memory alone, and never leaves
# it, and a note while one is not finished.

PURGE_KEY = "purge.key"
PURGE_KEY_BYTES = 32
PURGE_NOTE = "purge.pending"


def is_purge_pending(database: Database) -> bool:
    """Return whether a purge is not finished; reads one row."""
    return bool(database.get_meta(PURGE_NOTE))


def ensure_purge_key(write: Transaction) -> bytes:
    """Return the key of this memory, created at first need."""
    key = read_purge_key(write.database)
    if key is None:
        key = os.urandom(PURGE_KEY_BYTES)
        write.set_meta(PURGE_KEY, key.hex())
    return key


def read_purge_key(database: Database) -> bytes | None:
    """Return the key of this memory; None while nothing was purged."""
    value = database.get_meta(PURGE_KEY)
    return bytes.fromhex(value) if value else None


# of a digest here; that of a whole record has 32
WORD_DIGEST_BYTES = 16
# letters and figures: a shorter text occurs in too many unrelated ones
MIN_PURGED_LETTERS = 4
# words by which a longer text is found
FIRST_WORDS = 3
# letters from which on a text counts as typed; of a shorter one half of its letters
BEGINNING_LETTERS = 16
DIGEST_KINDS = WHOLE_DIGEST, NAME_DIGEST, FIRST_DIGEST, BEGUN_DIGEST, HALF_DIGEST = (
    "w",
    "n",
    "f",
    "b",
    "h",
)  # a digest ends in one
SPACED_SCRIPTS = (
    # of scripts that put spaces between words: Latin, Greek, Cyrillic
    "0-9A-Za-z_\u00c0-\u024f\u0370-\u04ff"
)
# in other scripts each letter is a word
_TOKEN = re.compile(rf"[{SPACED_SCRIPTS}]+|\w")

# the input of a digest: one of DIGEST_KINDS, and letters
DigestForm = tuple[str, str]
# letters → the kinds of their existing digests
DigestLookup = Callable[[str], Collection[str]]


def split_compared_words(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return [fold_word(match[0]) for match in _TOKEN.finditer(normalize("NFC", text))]


def split_written_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _TOKEN.findall(normalize("NFC", text) if not text.isascii() else text)


def compared_word_spans(text: str) -> list[tuple[str, int, int]]:
    """Return (word as it is compared, its start, its end) in a text, which is in NFC."""
    return [(fold_word(match[0]), *match.span()) for match in _TOKEN.finditer(text)]


def fold_word(word: str) -> str:
    """Return a word without capitals and accents."""
    if word.isascii():
        return word.lower()
    return "".join(sign for sign in normalize("NFKD", word.casefold()) if not combining(sign))


def digest_forms(text: str, kind: str = WHOLE_DIGEST) -> Iterator[DigestForm]:
    """Yield what digests are made of for a purged text: WHOLE_DIGEST for a text, NAME for a name that only purged texts
    contained."""
    words = split_compared_words(text)
    letters = "".join(words)
    if len(letters) < MIN_PURGED_LETTERS:
        return
    yield kind, " ".join(words)
    if len(words) > FIRST_WORDS:
        yield FIRST_DIGEST, " ".join(words[:FIRST_WORDS])
    if len(letters) > BEGINNING_LETTERS:
        yield BEGUN_DIGEST, letters[:BEGINNING_LETTERS]
    for count in range(max(MIN_PURGED_LETTERS, (len(letters) + 1) // 2), min(len(letters), BEGINNING_LETTERS)):
        yield HALF_DIGEST, letters[:count]


def find_digest_forms(typed: str, lookup: DigestLookup) -> Iterator[DigestForm]:
    """Yield the kind and the words of each purged text that an input contains, or with whose beginning it ends."""
    words = split_compared_words(typed)
    for place in range(len(words)):
        for kind, stop in _find_texts_at(words, place, lookup):
            yield kind, " ".join(words[place:stop])
        letters, stop = "", place
        while len(letters) < BEGINNING_LETTERS and stop < len(words):
            letters += words[stop]
            stop += 1
        kind = BEGUN_DIGEST if len(letters) >= BEGINNING_LETTERS else HALF_DIGEST
        if kind in lookup(letters[:BEGINNING_LETTERS]):
            yield kind, " ".join(words[place:stop])


def _find_texts_at(words: Sequence[str], place: int, lookup: DigestLookup) -> Iterator[tuple[str, int]]:
    """Yield (WHOLE_DIGEST or NAME_DIGEST, the index after its last word) of the purged texts that begin with this
    word."""
    phrase = ""
    for stop in range(place + 1, len(words) + 1):
        phrase = f"{phrase} {words[stop - 1]}" if phrase else words[stop - 1]
        kinds = lookup(phrase)
        yield from ((kind, stop) for kind in kinds if kind in (WHOLE_DIGEST, NAME_DIGEST))
        if stop - place == FIRST_WORDS and FIRST_DIGEST not in kinds:
            return


# in the file


def add_purged_words(write: Transaction, texts: Iterable[str], names: Iterable[str] = ()) -> None:
    """Store the digests of texts, and of names that only they contained."""
    key = ensure_purge_key(write)
    found = {form: None for text in texts for form in digest_forms(text)}
    found |= {form: None for name in names for form in digest_forms(name, NAME_DIGEST)}
    for form in found:
        write.execute("INSERT OR IGNORE INTO tombstones(hash, at) VALUES (?, '')", (_digest_form(key, form),))


def delete_purged_words(write: Transaction, text: str) -> None:
    """Delete the digests of a text that a person wants to keep again."""
    key = ensure_purge_key(write)
    for form in digest_forms(text):
        write.execute("DELETE FROM tombstones WHERE hash = ?", (_digest_form(key, form),))


def has_purged_text(database: Database, typed: str) -> bool:
    """Return whether an input contains, or begins, a purged text; not if the memory contains it again, since the input
    then reveals nothing. Some 20 µs for each of its words."""
    key = read_purge_key(database)
    if key is None:
        return False

    def lookup(letters: str) -> list[str]:
        base = _digest_letters(key, letters)
        return [
            chr(kind[0])
            for kind in database.column(
                "SELECT substr(hash, ?3) FROM tombstones WHERE hash > ?1 AND hash < ?2 AND length(hash) = ?3",
                (base, base + b"\x7f", WORD_DIGEST_BYTES),
            )
        ]

    return any(
        not _is_in_corpus(database, phrase, kind in (HALF_DIGEST, BEGUN_DIGEST))
        for kind, phrase in find_digest_forms(typed, lookup)
    )


def make_digest_lookup(database: Database) -> DigestLookup | None:
    """Return a function from letters to the kinds of purged digests, for many calls; None where nothing was ever
    purged."""
    key = read_purge_key(database)
    found: dict[bytes, str] = {}
    for digest in database.column("SELECT hash FROM tombstones WHERE length(hash) = ?", (WORD_DIGEST_BYTES,)):
        found[digest[:-1]] = found.get(digest[:-1], "") + digest[-1:].decode("ascii", "replace")
    if key is None or not found:
        return None
    return lambda letters: found.get(_digest_letters(key, letters), "")


def _is_in_corpus(database: Database, typed: str, unfinished: bool) -> bool:
    """Return whether a record contains these words in sequence."""
    phrase = '"{}"{}'.format(typed.replace('"', ""), "*" if unfinished else "")
    return database.value("SELECT 1 FROM corpus_fts WHERE corpus_fts MATCH ? LIMIT 1", (phrase,)) is not None


def _digest_form(key: bytes, form: DigestForm) -> bytes:
    """Return the stored digest: of the letters, then the letter of its kind."""
    kind, letters = form
    return _digest_letters(key, letters) + kind.encode()


def _digest_letters(key: bytes, letters: str) -> bytes:
    """Return the keyed digest of letters, without its kind."""
    return _keyed_hash(key, letters.encode("utf-8", "replace"))[: WORD_DIGEST_BYTES - 1]


def _keyed_hash(key: bytes, data: bytes) -> bytes:
    """Return the hash of data that only whoever has the key can compute."""
    return sha256(key + sha256(key + data).digest()).digest()


# what remains of them


def find_purged_texts(texts: Iterable[str], lookup: DigestLookup) -> tuple[set[str], set[str]]:
    """Return the purged texts and the purged names that these texts contain, as they are written there."""
    wholes, names = set[str](), set[str]()
    for text in texts:
        text = normalize("NFC", text)
        tokens = compared_word_spans(text)
        words = [word for word, _, _ in tokens]
        for place, (_, start, _) in enumerate(tokens):
            for kind, stop in _find_texts_at(words, place, lookup):
                (wholes if kind == WHOLE_DIGEST else names).add(text[start : tokens[stop - 1][2]])
    return wholes, names


# Tombstones: a purged text is recognised by a keyed hash of it, so that it cannot return unnoticed.
#
# Those of words and of beginnings, which are shorter, are made by `store/database/tombstones.py`.
#
# The key is random and stays in the memory: elsewhere the hash reveals nothing. Texts that differ only in capitals,
# spaces or final punctuation are the same.

PURGE_COUNT_KEY = "purge.times"


def normal_form(text: str) -> str:
    """Return the normal form of a text: without capitals, extra spaces and final punctuation."""
    if not text.isascii():
        text = normalize("NFKC", text)
    words = " ".join(text.casefold().split())
    return words.rstrip(".!;, ") or words


def add_tombstones(write: Transaction, texts: Iterable[str]) -> None:
    """Add a tombstone for each of these texts; the first one creates the key."""
    key = ensure_purge_key(write)
    for text in texts:
        write.execute(
            "INSERT INTO tombstones(hash, at) VALUES (?, ?) ON CONFLICT(hash) DO UPDATE SET at = excluded.at",
            (_tombstone_hash(key, text), write.at),
        )


def record_removal(write: Transaction) -> None:
    """Record that a text is removed from this memory for good."""
    write.add_to_count(PURGE_COUNT_KEY)


def count_removals(database: Database) -> int:
    """Return how often texts were removed for good: when it grows, what was read before may contain a removed
    text."""
    return database.get_count(PURGE_COUNT_KEY)


def find_purge_time(database: Database, text: str) -> str | None:
    """Return when this text was purged; None if it never was."""
    key = read_purge_key(database)
    if key is None:
        return None
    found: str | None = database.value("SELECT at FROM tombstones WHERE hash = ?", (_tombstone_hash(key, text),))
    return found


HasTombstone = Callable[[str], bool]


def make_tombstone_test(database: Database) -> HasTombstone:
    """Return a function that tests whether a text has a tombstone here, for many texts."""
    key = read_purge_key(database)
    hashes = set(database.column("SELECT hash FROM tombstones"))
    return lambda text: key is not None and _tombstone_hash(key, text) in hashes


def refuse_purged(write: Transaction, text: str, again: bool) -> None:
    """Check a text before it is written: pass a text that was never purged, or, with `again`, a text that a person
    wants back, and delete its tombstone. Raise Purged."""
    at = find_purge_time(write.database, text)
    if at is None:
        return
    if not again:
        raise Purged(
            f"That text was purged on {at[:10]}, and so was not kept.", "Say --yes to keep it all the same."
        )
    key = read_purge_key(write.database)
    assert key is not None
    write.execute("DELETE FROM tombstones WHERE hash = ?", (_tombstone_hash(key, text),))
    delete_purged_words(write, text)


def keyed_digest(write: Transaction, text: str) -> str:
    """Return 32 hexadecimal digits that identify a text in this memory and reveal nothing elsewhere. The text is
    hashed as written: apply `normal_form` first where that is wanted."""
    return _keyed_hash(ensure_purge_key(write), text.encode("utf-8", "surrogatepass")).hex()[:32]


def decision_text(title: str, chosen: str) -> str:
    """Return the text that identifies a decision."""
    return f"{title}\n{chosen}"


def _tombstone_hash(key: bytes, text: str) -> bytes:
    """Return the keyed hash of a text in its normal form."""
    return _keyed_hash(key, normal_form(text).encode("utf-8", "replace"))
