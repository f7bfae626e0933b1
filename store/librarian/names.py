"""Names in a question: records that have them come before others that are near, and where no record has one of them the
question has no answer."""

import re
from collections.abc import Sequence

from store.database.database import Database
from store.inbox.decision_conflicts import same_form
from store.librarian import words as templates
from store.librarian.compose import SHOWN
from store.librarian.question import ParsedQuestion
from store.librarian.sources import Retriever, Source, sources
from store.search.pipeline import body
from store.text import identifiers
from store.text.entities import named
from store.text.folding import normalize
from store.text.language import language
from store.text.similarity.contradiction import taken_apart
from store.text.similarity.question_similarity import words
from store.text.tokens import LETTERS
from store.text.vocabulary import stop_words

NAMED = 2  # most words of a question of which is said that no record has them
_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)")


def names(question: str) -> list[str]:
    """Return what a question names, without days and months, which stand in either language; versions are names."""
    found = [] if question.isupper() else [name for name in named([question]) if not taken_apart(name).values]
    return [*found, *_VERSION.findall(question)]


def ahead(matches: Sequence[Source], wanted: Sequence[str]) -> list[Source]:
    """Return what is only near in another order: first what has all names in a question, last what reads like an order
    to an agent."""
    return sorted(matches, key=lambda one: (one.hostile, not _has(one, wanted)))


def holding(search: Retriever, database: Database, wanted: Sequence[str]) -> list[Source]:
    """Return the records with all names in a question, where at most SHOWN records have any of them."""
    found = search(" ".join(wanted), SHOWN, meaning=False) if wanted else None
    if found is None or found.total > SHOWN:
        return []
    return [one for one in sources(database, [hit.record for hit in found.hits]) if _has(one, wanted)]


def unheard(search: Retriever, asked: ParsedQuestion, matches: Sequence[Source]) -> list[str]:
    """Return the names in a question of which no record has some word, at most NAMED; none where the nearest are all in
    another language, as it may have another name there."""
    if all(language(body(one.record)) not in ("", asked.language) for one in matches[:SHOWN]):
        return []
    found = [name for name in names(asked.text) if not all(_occurs(search, word) for word in name.split())]
    return found[:NAMED]


def absent(search: Retriever, asked: ParsedQuestion, matches: Sequence[Source]) -> list[str]:
    """Return the words of a question that no record has, as they are typed, at most NAMED; none where no record near it
    is in its language."""
    if not any(language(body(one.record)) == asked.language for one in matches):
        return []
    hollow = stop_words("search") | templates.asking() | {word for (word,) in templates.named("acts")}
    typed = [word for word in LETTERS.findall(asked.text) if len(word) > 2 and normalize(word) not in hollow]
    return [word for word in dict.fromkeys(typed) if not _occurs(search, word)][:NAMED]


def _has(source: Source, wanted: Sequence[str]) -> bool:
    said = set(words(body(source.record)))
    return all(
        one in said or (one.isalpha() and any(same_form(one, word) for word in said)) for one in words(" ".join(wanted))
    )


def _occurs(search: Retriever, name: str) -> bool:
    """Return whether a name, or a longer one that begins so, occurs in any record: not only a part of it, such as the
    `DB` of `DuckDB`."""
    found = search(name, 1, meaning=False)
    if found.left_out or not identifiers.parts(name):
        return bool(found.left_out or found.hits)
    return bool(found.exact or (found.words and any(one.startswith(name.lower()) for one in found.words.kept)))
