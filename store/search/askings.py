"""Turns that only ask: no question is answered by a question, but by what was replied to it."""

import json

from store.base.record_keys import NUMBERS, ROW
from store.database.database import Database
from store.search.candidates import candidates
from store.search.query.question_kind import about_asking, only_asks
from store.search.signals.fts import FullTextResult
from store.search.signals.ranking import Place, asking


def answered(
    database: Database, question: str, order: list[Place], found: FullTextResult
) -> tuple[list[Place], frozenset[int]]:
    """Return a ranking without what only asks, in which the turn that replied to a question with all words of this one
    stands first, and the keys of such turns; `found` counts no more what is left out. A question about what was asked
    has its ranking unchanged."""
    if about_asking(question):
        return order, frozenset()
    asked = [place for place in order if asking(place.record, place.passage.text)]
    rest = [place for place in order if place not in asked]
    found.total -= sum(place.record.bm25 > 0 for place in asked)
    found.exact -= sum(place.record.tier > 0 for place in asked)
    for place in rest:  # a summary of the question and its answer has the words of the question
        if place.record.tier and place.record.kind == "summary" and only_asks(place.record.title):
            found.exact -= 1
            for one in place.record.passages:
                one.tier = 0
    same = [place.record.key >> 4 for place in asked if place.record.tier and place.record.kind == "turn"]
    rows = database.rows(
        f"SELECT r.id * 16 + {NUMBERS['turn']} FROM json_each(?) j JOIN turns t ON t.id = j.value"
        " JOIN turns r ON r.session = t.session AND r.number = t.number + 1 AND r.role <> t.role",
        (json.dumps(same),),
    )
    keys = {key for (key,) in rows}
    unseen = keys - {place.record.key for place in rest}
    best = max((place.score for place in rest or asked), default=0.0)
    seen = candidates(database, FullTextResult(dict.fromkeys(sorted(unseen), 1.0), 0, 0), {})
    replies = [record for record in seen if not asking(record, record.passages[0].text)]
    first = [Place(record, record.passages[0], 0.0, {}) for record in replies]
    first += [place for place in rest if place.record.key in keys]
    for place in first:
        place.raised("reply", max(0.0, best - place.score))
    found.total += len(replies)
    rest = [place for place in rest if place not in first]
    exact = [place for place in rest if place.record.tier]
    others = [place for place in rest if not place.record.tier]
    return [*exact, *first, *others], frozenset(place.record.key & ROW for place in first)
