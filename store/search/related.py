"""What is related to a record: nearest to its stored vector, and sharing its rarest words. No model is asked."""

import re

from store.base.citations import Citation
from store.base.errors import MemorandaError
from store.base.record_keys import pack
from store.database.database import Database
from store.search import lookup
from store.search.signals.fts import FullTextIndex, QueryTerms
from store.text.vocabulary import stop_words

WORDS = 8  # rarest words that stand for a record
LOOKED_AT = 300  # different words of it, from its beginning
VECTOR, TEXT = 0.7, 0.3  # weights of nearness and of shared words


class Related:
    """The record that others are to be related to: its `key`, the `words` that stand for it, and its whole text."""

    __slots__ = ("key", "text", "words")

    def __init__(self, key: int, words: list[str], text: str) -> None:
        self.key = key
        self.words = words
        self.text = text


def related(database: Database, keywords: FullTextIndex, citation: Citation) -> Related | None:
    """The record that a citation means, as it is compared with others; None if it is not in this memory."""
    try:
        key = pack(citation.kind, lookup.lookup(database, citation).id)
    except (MemorandaError, KeyError):  # a kind that cannot be searched has no key
        return None
    # what stands around a turn, and a fact's domain, are not what it says
    row = database.row(
        "SELECT title, text, iif(kind IN ('turn', 'fact'), '', context) FROM corpus WHERE id = ?", (key,)
    )
    if row is None:
        return None
    text = "\n".join(filter(None, row))
    return Related(key, rarest(keywords, text), text)


def rarest(keywords: FullTextIndex, text: str) -> list[str]:
    """The rarest words of a text that stand in another one too, the rarest first."""
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", text))
    telling = [word for word in words if len(word) > 2 and word not in stop_words("search") and not word.isdigit()]
    counts = keywords.counts(QueryTerms(telling[:LOOKED_AT], None, {}))
    shared = [word for word, count in counts.items() if count > 1]
    return sorted(shared, key=lambda word: counts[word])[:WORDS]
