"""Tags: their stored form, and when two of them are the same."""

from collections.abc import Iterable, Sequence

from store.base.errors import InvalidInput
from store.database.database import Database
from store.database.sql_functions import text_of
from store.database.values import clean
from store.text.folding import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from apsw import SQLiteValue

MAX_CHARACTERS = 40
# SQL: a row of facts, decisions or tasks has the tag that folds so; needs `register`
TAGGED = "EXISTS (SELECT 1 FROM json_each(tags) WHERE folded_tag(CAST(value AS BLOB)) = {})"


def written(text: str) -> str:
    """Return a tag as it is stored: its words joined by dashes, in the person's own capitals. Raise InvalidInput."""
    tag = "-".join(clean(_composed(text)).split())
    if not tag:
        raise InvalidInput("A tag is a word, and this one is empty.", "Name one: tag 12 invoices.")
    if len(tag) > MAX_CHARACTERS:
        raise InvalidInput(
            f"A tag holds at most {MAX_CHARACTERS} characters, and this has {len(tag)}.", "Choose a shorter one."
        )
    return tag


def listed(text: str) -> list[str]:
    """Return the tags of a text as they are stored, several separated by commas. Raise InvalidInput."""
    parts = clean(_composed(text)).split(",")  # of a whole text, as a part of a secret would not be recognised
    return joined([written(part) for part in parts if part.strip()] or [written("")])


def key(text: str) -> str:
    """Return the key of a tag, which ignores capitals, spaces and how an accent is typed."""
    return "-".join(_composed(text).casefold().split())


def folded(text: str) -> str:
    """Return a tag as it is looked for: without capitals and accents."""
    return normalize("-".join(text.split()))


def joined(tags: Sequence[str], more: Sequence[str] = ()) -> list[str]:
    """Return the tags, and those of `more` that are not among them; of two spellings of one the first is kept."""
    found: dict[str, str] = {}
    for tag in (*tags, *more):
        found.setdefault(key(tag), tag)
    return list(found.values())


def spelled(rows: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Add up (tag, number) rows by the tags' keys, each in its most frequent spelling; most used first."""
    spellings: dict[str, list[tuple[int, str]]] = {}
    for tag, count in rows:
        spellings.setdefault(key(tag), []).append((count, tag))
    found = [(max(ways)[1], sum(count for count, _ in ways)) for ways in spellings.values()]
    return sorted(found, key=lambda pair: (-pair[1], key(pair[0])))


def register(database: Database) -> None:
    """Register `folded_tag` as an SQL function on this connection."""
    database.connection.create_scalar_function("folded_tag", _folded, 1, deterministic=True)


def _folded(*values: "SQLiteValue") -> str:
    return folded(text_of(values[0]))


def _composed(text: str) -> str:
    """Combine an accent typed as a character of its own with its letter."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)
