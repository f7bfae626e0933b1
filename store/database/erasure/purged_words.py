"""Keyed digests of the purged words: they keep these words out of every history of inputs, and find them where they
remain after a purge that was interrupted. No text is kept.

The rows are among the tombstones, shorter than those of whole records. A text has a digest of all its words, one of its
first words (so that a long text is found quickly inside others), and those of its beginnings: somebody who types it
again may stop half-way. Accents, capitals, punctuation and the kind of space make no difference.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from unicodedata import combining, normalize

from store.database.database import Database, Transaction
from store.database.erasure.purge_state import key_of, made_key

BYTES = 16  # of a digest here; that of a whole record has 32
FEWEST = 4  # letters and figures: a shorter text occurs in too many unrelated ones
START = 3  # words by which a longer text is found
BEGINNING = 16  # letters from which on a text counts as typed; of a shorter one half of its letters
KINDS = WHOLE, NAME, FIRST, BEGUN, HALF = "w", "n", "f", "b", "h"  # a digest ends in one
SPACED = "0-9A-Za-z_\u00c0-\u024f\u0370-\u04ff"  # of scripts that put spaces between words: Latin, Greek, Cyrillic
_TOKEN = re.compile(rf"[{SPACED}]+|\w")  # in other scripts each letter is a word

Form = tuple[str, str]  # the input of a digest: one of KINDS, and letters
Lookup = Callable[[str], Collection[str]]  # letters → the kinds of their existing digests


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return [fold(match[0]) for match in _TOKEN.finditer(normalize("NFC", text))]


def tokens_of(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _TOKEN.findall(normalize("NFC", text) if not text.isascii() else text)


def spans_of(text: str) -> list[tuple[str, int, int]]:
    """Return (word as it is compared, its start, its end) in a text, which is in NFC."""
    return [(fold(match[0]), *match.span()) for match in _TOKEN.finditer(text)]


def fold(word: str) -> str:
    """Return a word without capitals and accents."""
    if word.isascii():
        return word.lower()
    return "".join(sign for sign in normalize("NFKD", word.casefold()) if not combining(sign))


def forms(text: str, kind: str = WHOLE) -> Iterator[Form]:
    """Yield what digests are made of for a purged text: WHOLE for a text, NAME for a name that only purged texts
    contained."""
    words = words_of(text)
    letters = "".join(words)
    if len(letters) < FEWEST:
        return
    yield kind, " ".join(words)
    if len(words) > START:
        yield FIRST, " ".join(words[:START])
    if len(letters) > BEGINNING:
        yield BEGUN, letters[:BEGINNING]
    for count in range(max(FEWEST, (len(letters) + 1) // 2), min(len(letters), BEGINNING)):
        yield HALF, letters[:count]


def matches(typed: str, lookup: Lookup) -> Iterator[Form]:
    """Yield what an input contains of purged texts, or ends with the beginning of: (one of KINDS, its words)."""
    words = words_of(typed)
    for place in range(len(words)):
        for kind, stop in _from(words, place, lookup):
            yield kind, " ".join(words[place:stop])
        letters, stop = "", place
        while len(letters) < BEGINNING and stop < len(words):
            letters += words[stop]
            stop += 1
        kind = BEGUN if len(letters) >= BEGINNING else HALF
        if kind in lookup(letters[:BEGINNING]):
            yield kind, " ".join(words[place:stop])


def _from(words: Sequence[str], place: int, lookup: Lookup) -> Iterator[tuple[str, int]]:
    """Yield (WHOLE or NAME, the index after its last word) of purged texts that begin with this word."""
    phrase = ""
    for stop in range(place + 1, len(words) + 1):
        phrase = f"{phrase} {words[stop - 1]}" if phrase else words[stop - 1]
        kinds = lookup(phrase)
        yield from ((kind, stop) for kind in kinds if kind in (WHOLE, NAME))
        if stop - place == START and FIRST not in kinds:
            return


# in the file


def add_purged_words(write: Transaction, texts: Iterable[str], names: Iterable[str] = ()) -> None:
    """Store the digests of texts, and of names that only they contained."""
    key = made_key(write)
    found = {form: None for text in texts for form in forms(text)}
    found |= {form: None for name in names for form in forms(name, NAME)}
    for form in found:
        write.execute("INSERT OR IGNORE INTO tombstones(hash, at) VALUES (?, '')", (_digest(key, form),))


def dig_up(write: Transaction, text: str) -> None:
    """Delete the digests of a text that a person wants back."""
    key = made_key(write)
    for form in forms(text):
        write.execute("DELETE FROM tombstones WHERE hash = ?", (_digest(key, form),))


def tells(database: Database, typed: str) -> bool:
    """Return whether an input contains, or begins, a purged text; not if the memory contains it again, since the input
    then reveals nothing. Some 20 µs for each of its words."""
    key = key_of(database)
    if key is None:
        return False

    def lookup(letters: str) -> list[str]:
        base = _of(key, letters)
        return [
            chr(kind[0])
            for (kind,) in database.rows(
                "SELECT substr(hash, ?3) FROM tombstones WHERE hash > ?1 AND hash < ?2 AND length(hash) = ?3",
                (base, base + b"\x7f", BYTES),
            )
        ]

    return any(not _stands(database, phrase, kind in (HALF, BEGUN)) for kind, phrase in matches(typed, lookup))


def lookup_for(database: Database) -> Lookup | None:
    """Return a function from letters to the kinds of purged digests, for many calls; None where nothing was ever
    purged."""
    key = key_of(database)
    found: dict[bytes, str] = {}
    for (digest,) in database.rows("SELECT hash FROM tombstones WHERE length(hash) = ?", (BYTES,)):
        found[digest[:-1]] = found.get(digest[:-1], "") + digest[-1:].decode("ascii", "replace")
    if key is None or not found:
        return None
    return lambda letters: found.get(_of(key, letters), "")


def _stands(database: Database, typed: str, unfinished: bool) -> bool:
    """Return whether a record contains these words in sequence."""
    phrase = '"{}"{}'.format(typed.replace('"', ""), "*" if unfinished else "")
    return database.value("SELECT 1 FROM corpus_fts WHERE corpus_fts MATCH ? LIMIT 1", (phrase,)) is not None


def _digest(key: bytes, form: Form) -> bytes:
    kind, letters = form
    return _of(key, letters) + kind.encode()


def _of(key: bytes, letters: str) -> bytes:
    inner: bytes = sha256(key + letters.encode("utf-8", "replace")).digest()
    outer: bytes = sha256(key + inner).digest()
    return outer[: BYTES - 1]


# what remains of them


def found_again(texts: Iterable[str], lookup: Lookup) -> tuple[set[str], set[str]]:
    """Return (texts, names) that were purged and are contained in these texts, as written there."""
    wholes, names = set[str](), set[str]()
    for text in texts:
        text = normalize("NFC", text)
        tokens = spans_of(text)
        words = [word for word, _, _ in tokens]
        for place, (_, start, _) in enumerate(tokens):
            for kind, stop in _from(words, place, lookup):
                (wholes if kind == WHOLE else names).add(text[start : tokens[stop - 1][2]])
    return wholes, names
