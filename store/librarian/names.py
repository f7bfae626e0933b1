"""Words of a question that no record has: where a name is among them, the question has no answer."""

import re
from collections.abc import Sequence

from store.librarian import words as templates
from store.librarian.compose import SHOWN
from store.librarian.question import ParsedQuestion
from store.librarian.sources import Retriever, Source
from store.search.pipeline import body
from store.text import identifiers
from store.text.entities import named
from store.text.folding import normalize
from store.text.language import language
from store.text.similarity.contradiction import taken_apart
from store.text.tokens import LETTERS
from store.text.vocabulary import stop_words

NAMED = 2  # most words of a question of which is said that no record has them
_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)")


def names(question: str) -> list[str]:
    """Return what a question names, without days and months, which stand in either language; versions are names."""
    found = [] if question.isupper() else [name for name in named([question]) if not taken_apart(name).values]
    return [*found, *_VERSION.findall(question)]


def absent(search: Retriever, asked: ParsedQuestion, matches: Sequence[Source]) -> tuple[list[str], bool]:
    """Return (the names and other words of a question of which no record has some part, as they are typed, at most
    NAMED; whether a name is among them); none where the nearest are all in another language, as it may have other
    words for them."""
    if all(language(body(one.record)) not in ("", asked.language) for one in matches[:SHOWN]):
        return [], False
    hollow = stop_words("search") | templates.listed("asking") | templates.listed("acts")
    named = names(asked.text)
    known = {word for name in named for word in name.split()}
    typed = [word for word in LETTERS.findall(asked.text) if len(word) > 2 and normalize(word) not in hollow | known]
    missing = [name for name in named if not all(_occurs(search, word) for word in name.split())]
    words = [word for word in dict.fromkeys(typed) if word not in known and not _occurs(search, word)]
    return (missing or words)[:NAMED], bool(missing)


def _occurs(search: Retriever, name: str) -> bool:
    """Return whether a name, or a longer one that begins so, occurs in any record: not only a part of it, such as the
    `DB` of `DuckDB`."""
    found = search(name, 1, meaning=False)
    if found.left_out or not identifiers.parts(name):
        return bool(found.left_out or found.hits)
    return bool(found.exact or (found.words and any(one.startswith(name.lower()) for one in found.words.kept)))
