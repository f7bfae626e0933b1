"""What waits in the inbox, searched for a person: beside the answer, and never in one that an agent is given.

They are not indexed: their texts are read once they changed, and kept in memory.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import Any, cast

from store.base.models import Proposal
from store.database.database import Database
from store.records import proposals, tags
from store.search.pipeline import Search
from store.search.query.filters import parsed, wrote
from store.search.query.query_parser import WAITING_ALONE, Query
from store.search.results import EXACT, NEAR, Answer, Hit
from store.search.signals import literal
from store.search.signals.fts import MAX_WORDS, FullTextIndex
from store.search.snippets import Marker, snippet
from store.text.folding import fold
from store.text.vocabulary import stop_words

LEAST = 0.5  # share of the query's words that a proposal must hold
SHORT = 3  # letters of a stem that is a whole word
PARTS = ("chosen", "context", "rationale")  # of a proposed decision, with its alternatives


def search(
    memory_search: Search,
    database: Database,
    query: str,
    limit: int = 20,
    meaning: bool = True,
    iteration_id: int = 0,
    typing: bool = False,
) -> Answer:
    """Search for a person: as `memory_search` does, with what waits in the inbox in `Answer.waiting` and its number in
    `waits`. Where the query says `in:inbox` that is searched alone, and is the answer's hits."""
    answer = memory_search(query, limit, meaning=meaning, iteration_id=iteration_id, typing=typing)
    asked = parsed(database, query)
    asked.typing &= typing
    if not iteration_id:
        answer.waiting, answer.waits = _found(database, asked, limit)
    if asked.inbox:
        answer.hits, answer.total, answer.waiting, answer.waits = answer.waiting, answer.waits, [], 0
        answer.exact = sum(hit.level == EXACT for hit in answer.hits)
        answer.notes = [note for note in answer.notes if note != WAITING_ALONE]
        if _of_records(asked):
            answer.notes.append("in:inbox goes with kind:fact, kind:decision, domain:, tag:, by:, since:, before:")
    return answer


def _found(database: Database, asked: Query, limit: int) -> tuple[list[Hit], int]:
    """Return the proposals that a query finds, those with most of its words first, then the newest; and their number.
    A query of filters alone finds all that pass them, one of nothing none."""
    terms = _Terms(database, asked)
    narrowed = asked.authors or asked.domains or asked.tags or asked.since or asked.before or asked.kinds
    if _of_records(asked) or not (terms.words or terms.literal or narrowed or asked.inbox):
        return [], 0
    shares = _texts(database).shares(terms)
    found = sorted(shares, key=lambda number: (shares[number], number), reverse=True)
    if narrowed:
        rows = database.rows("SELECT id, origin, created_at, change FROM proposals WHERE state = 'waiting'")
        passing = {number for number, *row in rows if number in shares and _passes(asked, *row)}
        found = [number for number in found if number in passing]
    marker = Marker(terms.tokenizer, terms.words, terms.prefix, terms.literal)
    return [_hit(one, shares[one.id], marker) for one in proposals.many(database, found[:limit])], len(found)


def _hit(proposal: Proposal, share: float, marker: Marker) -> Hit:
    text, marks = snippet(_text(proposal.text, proposal.change), marker)
    level = EXACT if share == 1 else NEAR
    return Hit("proposal", proposal, text, marks, share, why={"words": share}, level=level)


def _text(text: str, change: dict[str, Any]) -> str:
    """Return all words of a proposal: its text, and the rest of a decision."""
    decision = change.get("decision")
    if not decision:
        return text
    parts = [text, *(decision.get(part) for part in PARTS), *decision.get("alternatives", ())]
    return "\n".join(part for part in parts if part)


def _of_records(asked: Query) -> bool:
    """Return whether a query has a filter that only records have."""
    states = (asked.status, asked.pinned, asked.ageing, asked.work, asked.rests, asked.scopes)
    return any((*states, asked.iterations, asked.linked, asked.related, asked.code, asked.citation))


def _passes(asked: Query, origin: str, created: str, change: str) -> bool:
    if (
        not all(wrote(origin, author) for author in asked.authors)
        or created < asked.since
        or (asked.before and created >= asked.before)
    ):
        return False
    if not (asked.kinds or asked.domains or asked.tags):
        return True
    fields = json.loads(change)
    kind, own = "decision" if "decision" in fields else "fact", {tags.folded(tag) for tag in fields.get("tags", ())}
    return (
        all(kind in kinds for kinds in asked.kinds)
        and all(domain == fields.get("domain") for domain in asked.domains)
        and all(tags.folded(tag) in own for tag in asked.tags)
    )


class _Terms:
    """The words of a query, as they are looked for in texts that are read: `patterns` holds those of each word's stems,
    without capitals and accents, `literal` what is looked for as it stands, `phrases` what must be there."""

    def __init__(self, database: Database, asked: Query) -> None:
        index = FullTextIndex(database)
        self.tokenizer = index.tokenizer
        typed = list(dict.fromkeys(asked.words))[:MAX_WORDS]
        self.words = [word for word in typed if word.lower() not in stop_words("search")] or typed
        self.prefix = typed[-1] if asked.typing and typed[-1] in self.words else None
        self.literal = literal.parts(asked.text, asked.words)
        self.patterns = [
            [_pattern(stem, word == self.prefix) for stem in index.stems(word)]
            for word in self.words
            if word not in self.literal
        ]
        self.phrases = [] if asked.quotes_in_part else [re.compile(re.escape(fold(one))) for one in asked.phrases]


class _Texts:
    """All that waits: the `ids`, the `starts` of their texts in the `whole`, and this `folded` (see `fold`)."""

    def __init__(self, database: Database) -> None:
        rows = database.rows("SELECT id, text, change FROM proposals WHERE state = 'waiting' ORDER BY id")
        texts = [_text(text, json.loads(change) if '"decision"' in change else {}) for _, text, change in rows]
        self.ids = [row[0] for row in rows]
        self.starts = [0, *accumulate(len(text) + 1 for text in texts)][: len(texts)]
        self.whole = "\0".join(texts)
        self.folded = fold(self.whole)

    def shares(self, terms: _Terms) -> dict[int, float]:
        """Return id → which share of the words a proposal holds, of those that hold LEAST of them and each phrase."""
        held: Counter[int] = Counter()
        for stems in terms.patterns:
            held.update(set.intersection(*(self._with(stem, self.folded) for stem in stems)) if stems else ())
        for part in terms.literal:
            held.update(self._with(re.compile(re.escape(part)), self.whole))
        wanted = len(terms.patterns) + len(terms.literal)
        found = {place: count / wanted for place, count in held.items() if count / wanted >= LEAST}
        if not wanted:
            found = dict.fromkeys(range(len(self.ids)), 1.0)
        for phrase in terms.phrases:
            there = self._with(phrase, self.folded)
            found = {place: share for place, share in found.items() if place in there}
        return {self.ids[place]: share for place, share in found.items()}

    def _with(self, pattern: re.Pattern[str], text: str) -> set[int]:
        """Return the places of the proposals in which an expression is found."""
        return {bisect_right(self.starts, match.start()) - 1 for match in pattern.finditer(text)}


def _texts(database: Database) -> _Texts:
    """Return what waits now; it is read again once that changed."""
    state = database.row(
        "SELECT (SELECT max(seq) FROM history), count(*), sum(length(text)) FROM proposals WHERE state = 'waiting'"
    )
    known = database.caches.get("waiting")
    if known is None or known[0] != state:
        known = database.caches["waiting"] = (state, _Texts(database))
    return cast("_Texts", known[1])


def _pattern(stem: str, begun: bool) -> re.Pattern[str]:
    """Return the expression that finds the words of a stem; `begun` is one that is being typed. A short stem is a whole
    word, a longer one begins it."""
    start = stem[:-1] if stem.endswith("i") and stem != "i" else stem  # `polici` is the stem of policy too
    rest = "" if begun else "[iy]" if start != stem else "" if len(stem) > SHORT else r"s?\b"
    start = re.escape(start)
    return re.compile(rf"{start}(?<!\w{start}){rest}")  # `\b{start}` would look at each character
