"""Records related to a record: near its stored vector, or with its rarest words. Runs no model."""

import re

from store.base.citations import Citation
from store.base.errors import MemorandaError
from store.base.record_keys import pack
from store.database.database import Database
from store.search import lookup
from store.search.signals.fts import FullTextIndex, QueryTerms
from store.text.vocabulary import stop_words

WORDS = 8  # rarest words of a record that are searched for
LOOKED_AT = 300  # distinct words that are considered, from the beginning of its text
VECTOR, TEXT = 0.7, 0.3  # weights of the cosine and of bm25


class Related:
    """The record whose related records are searched for: its `key`, the `words` that represent it, and its whole
    text."""

    __slots__ = ("key", "text", "words")

    def __init__(self, key: int, words: list[str], text: str) -> None:
        self.key = key
        self.words = words
        self.text = text


def related(database: Database, keywords: FullTextIndex, citation: Citation) -> Related | None:
    """Return the cited record in the form that the search compares; None if it is not in this memory or cannot be
    searched."""
    try:
        key = pack(citation.kind, lookup.lookup(database, citation).id)
    except (MemorandaError, KeyError):  # a kind that cannot be searched has no key
        return None
    # the context of a turn (its neighbours) and of a fact (its domain) is not part of its own text
    row = database.row(
        "SELECT title, text, iif(kind IN ('turn', 'fact'), '', context) FROM corpus WHERE id = ?", (key,)
    )
    if row is None:
        return None
    text = "\n".join(filter(None, row))
    return Related(key, rarest(keywords, text), text)


def rarest(keywords: FullTextIndex, text: str) -> list[str]:
    """Return the rarest words of a text that also occur in another passage, the rarest first; at most WORDS."""
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", text))
    telling = [word for word in words if len(word) > 2 and word not in stop_words("search") and not word.isdigit()]
    counts = keywords.counts(QueryTerms(telling[:LOOKED_AT], None, {}))
    shared = [word for word, count in counts.items() if count > 1]
    return sorted(shared, key=lambda word: counts[word])[:WORDS]
