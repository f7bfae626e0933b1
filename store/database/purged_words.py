"""Keyed digests of the words that were purged: they keep these words out of every history of inputs, and tell the same
words where they still stand after a purge that was cut off. No text is kept.

The rows lie among the tombstones, shorter than those of whole records. A text leaves a digest of all its words, one of
its first words (so that a long text is found quickly inside others), and those of its beginnings: somebody who types it
again may stop half-way. Accents, capitals, punctuation and the kind of space make no difference.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from unicodedata import combining, normalize

from store.base.hashing import sha256
from store.database.database import Database, Transaction
from store.database.purge_state import key_of, made_key

BYTES = 16  # of a digest here; that of a whole record has 32
FEWEST = 4  # letters and figures: what is shorter stands in too many texts that have nothing to do with it
START = 3  # words by which a longer text is looked for
BEGINNING = 16  # letters from which on a text counts as typed; of a shorter one half of its letters
KINDS = WHOLE, NAME, FIRST, BEGUN, HALF = "w", "n", "f", "b", "h"  # a digest ends in one
SPACED = "0-9A-Za-z_\u00c0-\u024f\u0370-\u04ff"  # of writings that put spaces between words: Latin, Greek, Cyrillic
_TOKEN = re.compile(rf"[{SPACED}]+|\w")  # of the other writings each letter is a word of its own

Form = tuple[str, str]  # what a digest is of: one of KINDS, and letters
Told = Callable[[str], Collection[str]]  # letters → the kinds of digests that there are of them


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [fold(match[0]) for match in _TOKEN.finditer(normalize("NFC", text))]


def tokens_of(text: str) -> list[str]:
    """The words of a text as they stand there."""
    return _TOKEN.findall(normalize("NFC", text) if not text.isascii() else text)


def spans_of(text: str) -> list[tuple[str, int, int]]:
    """(word as it is compared, its start, its end) in a text, which is in NFC."""
    return [(fold(match[0]), *match.span()) for match in _TOKEN.finditer(text)]


def fold(word: str) -> str:
    """A word without capitals and accents."""
    if word.isascii():
        return word.lower()
    return "".join(sign for sign in normalize("NFKD", word.casefold()) if not combining(sign))


def forms(text: str, kind: str = WHOLE) -> Iterator[Form]:
    """What digests are made of for a text that is purged: WHOLE for a text, NAME for what only such texts said."""
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


def matches(typed: str, told: Told) -> Iterator[Form]:
    """What an input says that was purged, or begins to say at its end: (one of KINDS, the words of it)."""
    words = words_of(typed)
    for place in range(len(words)):
        for kind, stop in _from(words, place, told):
            yield kind, " ".join(words[place:stop])
        letters, stop = "", place
        while len(letters) < BEGINNING and stop < len(words):
            letters += words[stop]
            stop += 1
        kind = BEGUN if len(letters) >= BEGINNING else HALF
        if kind in told(letters[:BEGINNING]):
            yield kind, " ".join(words[place:stop])


def _from(words: Sequence[str], place: int, told: Told) -> Iterator[tuple[str, int]]:
    """(WHOLE or NAME, behind which word it ends) of what was purged and begins with this word."""
    said = ""
    for stop in range(place + 1, len(words) + 1):
        said = f"{said} {words[stop - 1]}" if said else words[stop - 1]
        kinds = told(said)
        yield from ((kind, stop) for kind in kinds if kind in (WHOLE, NAME))
        if stop - place == START and FIRST not in kinds:
            return


# in the file


def add_purged_words(write: Transaction, texts: Iterable[str], names: Iterable[str] = ()) -> None:
    """Leave the digests of texts, and of names that nothing but them said."""
    key = made_key(write)
    found = {form: None for text in texts for form in forms(text)}
    found |= {form: None for name in names for form in forms(name, NAME)}
    for form in found:
        write.execute("INSERT OR IGNORE INTO tombstones(hash, at) VALUES (?, '')", (_digest(key, form),))


def dig_up(write: Transaction, text: str) -> None:
    """Take the digests of a text away, which a person wants back."""
    key = made_key(write)
    for form in forms(text):
        write.execute("DELETE FROM tombstones WHERE hash = ?", (_digest(key, form),))


def tells(database: Database, typed: str) -> bool:
    """Whether an input says, or begins to say, what was purged; not if the memory says it again, for then the input
    gives nothing away. Some 20 µs for each of its words."""
    key = key_of(database)
    if key is None:
        return False

    def told(letters: str) -> list[str]:
        base = _of(key, letters)
        return [
            chr(kind[0])
            for (kind,) in database.rows(
                "SELECT substr(hash, ?3) FROM tombstones WHERE hash > ?1 AND hash < ?2 AND length(hash) = ?3",
                (base, base + b"\x7f", BYTES),
            )
        ]

    return any(not _stands(database, said, kind in (HALF, BEGUN)) for kind, said in matches(typed, told))


def told(database: Database) -> Told | None:
    """Tells what was purged of any letters, for many of them; None where nothing ever was."""
    key = key_of(database)
    found: dict[bytes, str] = {}
    for (digest,) in database.rows("SELECT hash FROM tombstones WHERE length(hash) = ?", (BYTES,)):
        found[digest[:-1]] = found.get(digest[:-1], "") + digest[-1:].decode("ascii", "replace")
    if key is None or not found:
        return None
    return lambda letters: found.get(_of(key, letters), "")


def _stands(database: Database, said: str, unfinished: bool) -> bool:
    """Whether a record says these words one after the other."""
    phrase = '"{}"{}'.format(said.replace('"', ""), "*" if unfinished else "")
    return database.value("SELECT 1 FROM corpus_fts WHERE corpus_fts MATCH ? LIMIT 1", (phrase,)) is not None


def _digest(key: bytes, form: Form) -> bytes:
    kind, letters = form
    return _of(key, letters) + kind.encode()


def _of(key: bytes, letters: str) -> bytes:
    inner: bytes = sha256(key + letters.encode("utf-8", "replace")).digest()
    outer: bytes = sha256(key + inner).digest()
    return outer[: BYTES - 1]


# where they still stand


def found_again(texts: Iterable[str], told: Told) -> tuple[set[str], set[str]]:
    """(texts, names) that were purged and stand in these texts, as they stand there."""
    wholes, names = set[str](), set[str]()
    for text in texts:
        text = normalize("NFC", text)
        tokens = spans_of(text)
        words = [word for word, _, _ in tokens]
        for place, (_, start, _) in enumerate(tokens):
            for kind, stop in _from(words, place, told):
                (wholes if kind == WHOLE else names).add(text[start : tokens[stop - 1][2]])
    return wholes, names
