"""What the memory holds on a question: by the search, by the time it names, by the links between commits and decisions,
or by what the last answer rested on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store import records
from store.citations import Citation, cite, parse
from store.librarian.asked import CHRONOLOGY, DECISION, IMPLEMENTATION, STATISTICS, WHAT, WHY, Asked
from store.librarian.counting import Tally, tally
from store.librarian.relevance import Relevance
from store.librarian.sources import Source, sources
from store.memory import Memory
from store.models import Commit, Decision, Fact, Iteration, Record
from store.search.keyword import Keywords

MOST = 8  # sources of one answer
LOOKED = 16  # hits of the search that are judged
SURE = 0.15  # by how much the nearest must pass, so that it is told though a model sees no answer there
TOLD = 12  # entries of the timeline
# what is likely to answer: a decision says what was chosen and why, a commit only that something was done
LIKELY = {
    DECISION: {"decision": 0.1, "fact": 0.08, "commit": -0.2, "checkpoint": -0.2, "turn": -0.08, "task": -0.08},
    IMPLEMENTATION: {"commit": 0.2, "decision": 0.08, "checkpoint": -0.2, "turn": -0.1, "task": -0.1},
    CHRONOLOGY: {"decision": 0.05, "event": 0.05, "checkpoint": -0.05, "turn": -0.08},
}
_BELONG = ("decisions", "commits", "events")  # to an iteration


@dataclass(frozen=True, slots=True)
class Found:
    """The sources of an answer, the best first: `direct` of them answer, the rest is linked to those; `sure` that
    they do, whatever a small model makes of them; or what was counted."""

    sources: tuple[Source, ...]
    direct: int = 0
    sure: bool = False
    tally: Tally | None = None


def find(memory: Memory, asked: Asked, last: Sequence[str] = (), question: str = "") -> Found:
    """What there is on a question. `last` are the citations of the answer before it and `question` what was asked then;
    they count only where the new question leans on them. Some 30 ms, more where a model must be loaded."""
    if asked.kind == STATISTICS:
        counted = tally(memory, asked)
        ends = sources(memory.database, _ends(counted), memory.now)
        return Found(tuple(ends), len(ends), True, counted)
    if asked.cited:
        return _found(memory, asked, _with_belonging(memory, records.there(memory.database, asked.cited)), sure=True)
    if asked.follows:
        return _following(memory, asked, last, question)
    if (asked.since or asked.before) and not asked.words:
        return _found(memory, asked, _of_time(memory, asked), TOLD, sure=True)
    those, best = _searched(memory, asked, asked.text)
    return _found(memory, asked, those, sure=best >= SURE)


def _found(memory: Memory, asked: Asked, those: Sequence[Record], most: int = MOST, sure: bool = False) -> Found:
    """These records as sources, with what they are linked to where the question is about that."""
    found = sources(memory.database, those[:most], memory.now)
    beside: list[Record] = []
    reasons: list[Record] = []
    for source in found[:2]:
        if asked.kind == IMPLEMENTATION or (isinstance(source.record, Decision) and asked.aspect in (WHY, WHAT)):
            beside += records.there(memory.database, [parse(link.citation) for link in source.links])
        elif asked.aspect == WHY and isinstance(source.record, Fact):
            cited = records.there(memory.database, _cited(source.record))
            reasons += [one for one in cited if isinstance(one, Decision)]
    every = sources(memory.database, [*reasons, *(source.record for source in found), *beside], memory.now)[:most]
    direct = min(len(every), len({*(one.citation for one in reasons), *(one.citation for one in found)}))
    if asked.kind == IMPLEMENTATION and not any(isinstance(source.record, Commit) for source in found[:2]):
        every.sort(key=lambda source: not isinstance(source.record, Commit))  # a link says it, where no message does
        direct = len(every)
    return Found(tuple(every), direct, sure)


def _searched(memory: Memory, asked: Asked, text: str) -> tuple[list[Record], float]:
    """What a search for a text finds that answers the question, the likeliest first; and how near the nearest is."""
    query = " ".join(text.replace(":", " ").split())
    hits = memory.search(query, LOOKED, since=asked.since, before=asked.before).hits
    for words, kind in _closer(asked, query):
        known = {hit.key for hit in hits}
        more = memory.search(words, LOOKED, kinds=(kind,), since=asked.since, before=asked.before).hits
        hits = [*hits, *(hit for hit in more if hit.key not in known)]
    judge = Relevance(asked, Keywords(memory.database))
    likely = LIKELY.get(asked.kind, {})
    found = sources(memory.database, [hit.record for hit in hits], memory.now)
    scored = []
    for place, (source, hit) in enumerate(zip(found, hits, strict=True)):
        score, bias = judge.score(source.text, hit.similarity), likely.get(source.kind, 0.0)
        if score + min(0.0, bias) >= 0:  # to be likely puts a record before others; it makes none an answer
            scored.append((score + bias, -place, source.record, score))
    scored.sort(key=lambda one: one[:2], reverse=True)
    return [record for _, _, record, _ in scored], max((score for *_, score in scored), default=0.0)


def _closer(asked: Asked, query: str) -> Iterable[tuple[str, str]]:
    """What else is searched: (the words, the only kind of record) where one kind is what answers."""
    if asked.kind == IMPLEMENTATION:
        yield query, "commit"
    elif asked.kind == DECISION and asked.words:
        yield " ".join(asked.words), "decision"  # in a memory of many turns its title may stand far down


def _following(memory: Memory, asked: Asked, last: Sequence[str], question: str) -> Found:
    """What answers a question that leans on the one before it: what that answer rested on, and what a search for both
    finds; of either only what holds the words of the new one."""
    before = records.there(memory.database, [parse(text) for text in last])
    if not asked.words:
        return _found(memory, asked, before)
    judge = Relevance(asked, Keywords(memory.database))
    near = [
        source.record for source in sources(memory.database, before, memory.now) if judge.score(source.text, None) >= 0
    ]
    return _found(memory, asked, [*near, *_searched(memory, asked, f"{question} {asked.text}")[0]])


def _of_time(memory: Memory, asked: Asked) -> list[Record]:
    """What the timeline holds of a time, newest first; what was decided and what happened before what was committed,
    where there is more than can be told."""
    some = ("decision",) if asked.decided else ("decision", "event", "iteration")
    keys = [key for key, _ in memory.timeline.stream(some, asked.since, asked.before, TOLD)]
    if len(keys) < TOLD and not asked.decided:
        keys += [key for key, _ in memory.timeline.stream(("commit",), asked.since, asked.before, TOLD - len(keys))]
    found = records.by_key(memory.database, keys)
    return [found[key] for key in keys if key in found]


def _with_belonging(memory: Memory, those: list[Record]) -> list[Record]:
    """Records, an iteration with what belongs to it."""
    every = list(those)
    for record in those:
        if isinstance(record, Iteration):
            for table in _BELONG:
                rows = memory.database.rows(
                    f"SELECT id FROM {table} WHERE iteration_id = ? ORDER BY id LIMIT ?", (record.id, MOST // 2)
                )
                every += records.many(memory.database, table[:-1], [number for (number,) in rows])
    return every


def _cited(fact: Fact) -> list[Citation]:
    return [parse(text) for text in fact.evidence if text.startswith(cite("decision", 1)[:2])]


def _ends(counted: Tally) -> Sequence[Record]:
    """The records that a count names: all of a few, else the first and the last."""
    told = counted.records
    return told if len(told) <= FEW else (told[0], told[-1])


FEW = 5  # counted records that are named one by one
