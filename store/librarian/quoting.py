"""Answers without a model: what is searched for, what is quoted of the results, and which words no record has."""

import re
from collections.abc import Sequence

from store.base.models import Chunk, Commit, head_of
from store.database.database import Database
from store.inbox.decision_conflicts import same_form, turned_down
from store.librarian import words as templates
from store.librarian.compose import SHOWN
from store.librarian.question import WHY, ParsedQuestion
from store.librarian.sources import Retriever, Source, sources
from store.records.decisions import Decisions
from store.search.pipeline import body
from store.search.results import EXACT, FAR
from store.search.results import Answer as Found
from store.text import identifiers, vocabulary
from store.text.entities import named
from store.text.folding import normalize
from store.text.language import language
from store.text.similarity.contradiction import taken_apart
from store.text.tokens import LETTERS
from store.text.vocabulary import stop_words

NAMED = 2  # most words of a question of which is said that no record has them
_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)")
_CONTRACTED = re.compile(r"\w*n['\u2019]t\b", re.IGNORECASE)  # don't, wasn't
_PULL_REQUEST = re.compile(r"\(#\d+\)\s*$")
# share of the best record's score from which others are quoted beside it; 0.6 left out 6 right ones of 133
ALIKE = 0.45


def quotable(matches: Sequence[Source], found: Found) -> tuple[list[Source], bool]:
    """Return the sources that are quoted without a model, and whether they are exact: only the exact ones if some are,
    and none that scores much less than the best of these."""
    hits = {hit.citation: hit for hit in found.hits if hit.level != FAR}
    known = [hits[source.citation] for source in matches if source.citation in hits]
    exact = [hit for hit in known if hit.level == EXACT]
    known = exact or known
    least = ALIKE * max((hit.score for hit in known), default=0.0)
    kept = {hit.citation for hit in known if hit.score >= least}
    quoted = [source for source in matches if source.citation in kept] or list(matches)
    return distinct(quoted)[:SHOWN], bool(exact)


def distinct(found: Sequence[Source]) -> list[Source]:
    """Return sources without commits that another one of the same author repeats, as a merged pull request does with
    its number after the subject, and without lines of a document that another one has too."""
    kept: dict[object, Source] = {}
    for source in found:
        record = source.record
        same: object = source.citation
        if isinstance(record, Commit):
            same = (record.author, _PULL_REQUEST.sub("", head_of(record.message)).strip())
        elif isinstance(record, Chunk):
            lines = (one.record for one in kept.values() if isinstance(one.record, Chunk))
            if any(one.path == record.path and one.first <= record.last and record.first <= one.last for one in lines):
                continue
        kept.setdefault(same, source)
    return list(kept.values())


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
    hollow = stop_words("search") | templates.listed("asking") | templates.hollow()
    wanted = names(asked.text)
    known = {word for name in wanted for word in name.split()}
    text = _CONTRACTED.sub(" ", asked.text)
    typed = [word for word in LETTERS.findall(text) if len(word) > 2 and normalize(word) not in hollow | known]
    missing = [name for name in wanted if not all(_occurs(search, word) for word in name.split())]
    others = [word for word in dict.fromkeys(typed) if word not in known and not _occurs(search, word)]
    return (missing or others)[:NAMED], bool(missing)


def _occurs(search: Retriever, name: str) -> bool:
    """Return whether a name, or a longer one that begins so, occurs in any record: not only a part of it, such as the
    `DB` of `DuckDB`."""
    found = search(name, 1, meaning=False)
    if found.left_out or not identifiers.parts(name):
        return bool(found.left_out or found.hits)
    return bool(found.exact or (found.words and any(one.startswith(name.lower()) for one in found.words.kept)))


def against(database: Database, asked: ParsedQuestion) -> tuple[list[Source], bool]:
    """Return (the decisions, with their reason, that turned down what a question names and asks why it is not so, the
    newest first; whether it asks about nothing else)."""
    wanted = names(asked.text)
    if asked.aspect != WHY or not wanted or not taken_apart(asked.text).negations:
        return [], False
    rows = database.rows(
        "SELECT id FROM decisions WHERE status = 'active' AND rationale <> '' AND title || alternatives LIKE ?"
        " ORDER BY id DESC",
        (f"%{wanted[0]}%",),
    )
    decisions = Decisions(database).many([number for (number,) in rows])
    parts = [re.compile(rf"(?<!\w){re.escape(name)}", re.IGNORECASE) for name in wanted]
    found = [one for one in decisions if any(all(part.search(it) for part in parts) for it in turned_down(one))]
    others = set(taken_apart(subject(asked.text)).words) - set(taken_apart(" ".join(wanted)).words)
    return sources(database, found), others <= stop_words("search") | templates.listed("asking")


def subject(question: str) -> str:
    """Return a question without words that only say that something was chosen (use, decide, elegir), unless nothing
    else is left to search for."""
    terms = question.split()
    chose = vocabulary.words("records", "choice") - vocabulary.words("records", "reason")
    kept = [word for word in terms if chose.isdisjoint(LETTERS.findall(normalize(word)))]
    rest = [word for text in kept for word in LETTERS.findall(normalize(text)) if word not in stop_words("search")]
    return " ".join(kept if rest else terms)


def share(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return which share of words occur among others, in any form."""
    return sum(any(same_form(word, one) for one in said) for word in wanted) / max(1, len(wanted))
