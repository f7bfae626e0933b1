"""What the memory holds on a question: by the search, by the time it names, by the links between commits and decisions,
or by what the last answer rested on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

from store.base.citations import Citation, cite, parse
from store.base.models import Commit, Decision, Fact, Iteration, Record
from store.librarian.count_answer import Tally, ends, states, tally, told_of
from store.librarian.ordinal import IDLE, OPEN, lists, to_do
from store.librarian.question import (
    ASKING,
    CHRONOLOGY,
    COUNTED,
    DECISION,
    IMPLEMENTATION,
    STATISTICS,
    WHAT,
    WHY,
    ParsedQuestion,
    read,
)
from store.librarian.relevance import Relevance
from store.librarian.sources import Source, moment, sources
from store.librarian.time_range import TOLD, in_order, of_time
from store.memory import Memory
from store.search import lookup
from store.search.fts import FullTextIndex
from store.search.results import Hit
from store.text.question_similarity import words
from store.text.vocabulary import stop_words

MOST = 8  # sources of one answer
FIRST = 4  # hits whose links are followed
LOOKED = 16  # hits of a search that are looked at
NEAR = 0.3  # calibrated similarity, at least, of a record that is named where none answers
NEARBY = ("decision", "fact", "commit", "task", "event", "iteration")
SURE = 0.15  # by how much the nearest must pass, so that it is told though a model sees no answer there
# what is likely to answer: a decision says what was chosen and why, a commit only that something was done
LIKELY = {
    DECISION: {"decision": 0.1, "fact": 0.08, "commit": -0.2, "checkpoint": -0.2, "turn": -0.08, "task": -0.08},
    IMPLEMENTATION: {"commit": 0.2, "decision": 0.08, "checkpoint": -0.2, "turn": -0.1, "task": -0.1},
    CHRONOLOGY: {"decision": 0.05, "event": 0.05, "checkpoint": -0.05, "turn": -0.08},
}
_BELONG = ("decisions", "commits", "events")  # to an iteration


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The sources of an answer, the best first: `direct` of them answer, the rest is linked to those; `sure` that
    they do, whatever a small model makes of them; or what was counted. Where they are a list, of a time or of what was
    counted before, `of` says how many there are in all. `near` is what comes nearest where none answers; `candidates`
    are all that a search found, the likeliest first, for a model to judge, `about` what it is to judge them by, and
    `strange` the citations of those that lack a name of it. `ruled`: what was asked for is these records themselves,
    by their order or state or as a count, which no model words better."""

    sources: tuple[Source, ...]
    direct: int = 0
    sure: bool = False
    tally: Tally | None = None
    of: int = 0
    near: tuple[Source, ...] = ()
    candidates: tuple[Source, ...] = ()
    about: str = ""
    strange: frozenset[str] = frozenset()
    ruled: bool = False


class _Searched(NamedTuple):
    """What a search found: the records that answer, the likeliest first; how near the nearest of them is; every source
    in the order of the search, with its similarity, but those that have another name than the question's; and the
    citations of those that lack a name of it."""

    those: list[Record]
    best: float
    every: list[tuple[Source, float]]
    strange: frozenset[str]


def find(memory: Memory, asked: ParsedQuestion, last: Sequence[str] = (), question: str = "") -> Retrieval:
    """What there is on a question. `last` are the citations of the answer before it and `question` what was asked then;
    they count only where the new question leans on them. Some 30 ms, more where a model must be loaded."""
    if asked.kind == STATISTICS:
        before = read(question, memory.now) if asked.follows else None
        counted = tally(memory, asked, before)
        named = sources(memory.database, ends(counted), memory.now)
        return Retrieval(tuple(named), len(named), True, counted, ruled=True)
    if asked.cited:
        those, of = _with_belonging(memory, lookup.there(memory.database, asked.cited))
        return _found(memory, asked, those, sure=True, of=of)
    if asked.follows:
        return _following(memory, asked, last, question)
    if asked.order and asked.order.alone:
        those = in_order(memory, asked, asked.order)
        found = _found(memory, asked, those, TOLD, sure=True, of=len(those) if asked.order.most > 1 else 0)
        return replace(found, ruled=True)
    if not (asked.since or asked.before or asked.agents) and (standing := _of_state(memory, asked)):
        return replace(standing, ruled=True)
    if (asked.since or asked.before or asked.agents) and not asked.words:
        those, of = of_time(memory, asked)
        return _found(memory, asked, those, TOLD, sure=True, of=of)
    searched = _searched(memory, asked, asked.text)
    those, best = searched.those, searched.best
    if asked.order:
        those.sort(key=moment, reverse=not asked.order.oldest)
    if not those and asked.dated:
        those, best = _saying(memory, asked)
    found = _found(memory, asked, those, sure=best >= SURE)
    return _with_candidates(memory, found, asked, searched, asked.text)


def chosen(memory: Memory, asked: ParsedQuestion, those: Sequence[Source], sure: bool) -> Retrieval:
    """These sources as those that answer, with what they are linked to."""
    answering = [source.record for source in those]
    if asked.order:
        answering.sort(key=moment, reverse=not asked.order.oldest)
    return _found(memory, asked, answering, sure=sure)


def _linked(memory: Memory, asked: ParsedQuestion, every: list[Source]) -> list[Source]:
    """What was found, and where commits are asked for those of the first decisions beside them."""
    if asked.kind != IMPLEMENTATION:
        return every
    ends = [parse(link.citation) for source in every[:FIRST] for link in source.links]
    beside = sources(memory.database, lookup.there(memory.database, ends), memory.now)
    return [*every[:FIRST], *beside, *every[FIRST:]]


def _with_candidates(
    memory: Memory, found: Retrieval, asked: ParsedQuestion, searched: _Searched, about: str
) -> Retrieval:
    every = searched.every
    near = (source for source, similarity in every if source.kind in NEARBY and similarity >= NEAR)
    candidates = [*found.sources[: found.direct], *_linked(memory, asked, [source for source, _ in every])]
    different = tuple({source.citation: source for source in candidates}.values())
    return replace(
        found,
        near=() if found.sources else tuple(near),
        candidates=different,
        about=about,
        strange=searched.strange,
    )


def _found(
    memory: Memory, asked: ParsedQuestion, those: Sequence[Record], most: int = MOST, sure: bool = False, of: int = 0
) -> Retrieval:
    """These records as sources, with what they are linked to where the question is about that."""
    found = sources(memory.database, those[:most], memory.now)
    beside: list[Record] = []
    reasons: list[Record] = []
    for source in found[:2]:
        if asked.kind == IMPLEMENTATION or (isinstance(source.record, Decision) and asked.aspect in (WHY, WHAT)):
            beside += lookup.there(memory.database, [parse(link.citation) for link in source.links])
        elif asked.aspect == WHY and isinstance(source.record, Fact):
            cited = lookup.there(memory.database, _cited(source.record))
            reasons += [one for one in cited if isinstance(one, Decision)]
    every = sources(memory.database, [*reasons, *(source.record for source in found), *beside], memory.now)[:most]
    direct = min(len(every), len({*(one.citation for one in reasons), *(one.citation for one in found)}))
    if asked.kind == IMPLEMENTATION and not any(isinstance(source.record, Commit) for source in found[:2]):
        every.sort(key=lambda source: not isinstance(source.record, Commit))  # a link says it, where no message does
        direct = len(every)
    return Retrieval(tuple(every), direct, sure, of=of)


def _searched(memory: Memory, asked: ParsedQuestion, text: str) -> _Searched:
    """What a search for a text finds, and further searches for the kinds of record that are likely to answer."""
    query = " ".join(text.replace(":", " ").split())
    ranked: dict[int, tuple[int, Hit]] = {}  # by key: its best rank in any of the searches, and as it was found first
    for said, kinds, status in (query, (), ""), *_closer(asked, query):
        hits = memory.search(said, LOOKED, kinds=kinds, status=status, since=asked.since, before=asked.before).hits
        for rank, hit in enumerate(hits):
            best, first = ranked.get(hit.key, (rank, hit))
            ranked[hit.key] = min(best, rank), first
    hits = [hit for _, hit in sorted(ranked.values(), key=itemgetter(0))]
    judge = Relevance(asked, FullTextIndex(memory.database))
    likely = LIKELY.get(asked.kind, {})
    found = sources(memory.database, [hit.record for hit in hits], memory.now)
    scored = []
    for place, (source, hit) in enumerate(zip(found, hits, strict=True)):
        score, bias = judge.score(source.text, hit.similarity), likely.get(source.kind, 0.0)
        if score + min(0.0, bias) >= 0:  # to be likely puts a record before others; it makes none an answer
            scored.append((score + bias, -place, source.record, score))
    scored.sort(key=lambda one: one[:2], reverse=True)
    nearest = max((score for *_, score in scored), default=0.0)
    those = [record for _, _, record, _ in scored]
    wanted = [record for record in those if lookup.kind_of(record) in asked.kinds]
    mine = [source for source in found if not judge.names_another(source.text)]
    every = [(source, hit.similarity or 0.0) for source, hit in zip(found, hits, strict=True) if source in mine]
    strange = frozenset(source.citation for source in mine if judge.lacks_a_name(source.text))
    return _Searched(_holding_first(wanted or those, judge), nearest, every, strange)


def _holding_first(those: list[Record], judge: Relevance) -> list[Record]:
    """Records without the decisions that were superseded; but those that chose what is asked about, where none that
    holds did, come first, and where nothing else answers they do."""
    gone = [one for one in those if isinstance(one, Decision) and one.status == "superseded"]
    holding = [one for one in those if one not in gone]
    chose = [one for one in gone if judge.chosen(one)]
    if any(judge.chosen(one) for one in holding if isinstance(one, Decision)):
        chose = []
    return [*chose, *holding] or [*gone]


def _saying(memory: Memory, asked: ParsedQuestion) -> tuple[list[Record], float]:
    """What says the time that a question names, whenever it was written: “from Tuesday to Thursday”."""
    time = tuple(word for word in asked.dated if word not in stop_words("search") and word not in ASKING)
    undated = replace(asked, since="", before="", dated=frozenset(), words=(*asked.words, *time))
    found, best, *_ = _searched(memory, undated, asked.text)
    judge = Relevance(undated, FullTextIndex(memory.database))
    told = sources(memory.database, found, memory.now)
    return [one.record for one in told if all(judge.stands(word, one.text) for word in time)], best


def _closer(asked: ParsedQuestion, query: str) -> Iterable[tuple[str, tuple[str, ...], str]]:
    """What else is searched, where one kind is what answers: (the words, the kinds of record, their status if not any
    that holds). What was decided and holds no longer is an answer to when, and to why it was."""
    if asked.kind == IMPLEMENTATION:
        yield query, ("commit",), ""
    elif asked.kind == DECISION and asked.words:
        yield " ".join(asked.words), ("decision",), ""  # in a memory of many turns its title may stand far down
    for kind in asked.kinds:
        yield query, (kind,), ""
    if asked.words:
        yield " ".join(asked.words), ("decision",), "superseded"


def _following(memory: Memory, asked: ParsedQuestion, last: Sequence[str], question: str) -> Retrieval:
    """What answers a question that leans on the one before it: what was counted then; or what that answer rested on,
    and what a search for both finds, of either only what holds the words, and is of the kinds, of the new one."""
    topic = read(question, memory.now)
    if topic.counted and (listed := _listed(memory, asked, topic, last)):
        return listed
    before = lookup.there(memory.database, [parse(text) for text in last])
    if asked.kinds:
        those = [*before, *_searched(memory, replace(topic, kinds=asked.kinds), question).those]
        return _found(memory, asked, [one for one in those if lookup.kind_of(one) in asked.kinds])
    if not asked.words:
        return _found(memory, asked, before)
    judge = Relevance(asked, FullTextIndex(memory.database))
    near = [
        source.record for source in sources(memory.database, before, memory.now) if judge.score(source.text, None) >= 0
    ]
    both = f"{question} {asked.text}"
    searched = _searched(memory, asked, both)
    return _with_candidates(memory, _found(memory, asked, [*near, *searched.those]), asked, searched, both)


def _of_state(memory: Memory, asked: ParsedQuestion) -> Retrieval | None:
    """The newest records in the state that a question names, where that is all that it says of them: “which iteration
    is open?”, “what is left to do?”."""
    if to_do(asked.text):
        return _newest(memory, tally(memory, replace(asked, text=OPEN, words=(OPEN,), counted="task")))
    kinds = {COUNTED[word] for word in words(asked.text) if word in COUNTED}
    content = [word for word in asked.words if word not in COUNTED and word not in IDLE]
    kind = kinds.pop() if len(kinds) == 1 else ""
    if asked.aspect != WHAT or not lists(asked.text) or not states(kind, content):
        return None
    return _newest(memory, tally(memory, replace(asked, counted=kind)))


def _newest(memory: Memory, counts: Tally) -> Retrieval:
    """The newest of what was counted."""
    those = counts.records[::-1][:TOLD]
    return Retrieval(tuple(sources(memory.database, those, memory.now)), len(those), True, of=len(counts.records))


def _listed(memory: Memory, asked: ParsedQuestion, topic: ParsedQuestion, last: Sequence[str]) -> Retrieval | None:
    """The newest of what was counted, or of those in the state that a question names: “which ones?”, “which are
    open?”."""
    counts = tally(memory, replace(asked, counted=topic.counted), topic) if asked.words else None
    if counts is None:
        counts = told_of(memory, topic, last)
    elif not counts.state:
        return None
    if counts is None:
        return None
    return _newest(memory, counts)


def _with_belonging(memory: Memory, those: list[Record]) -> tuple[list[Record], int]:
    """Records, an iteration with what belongs to it; and where there is one how many they are in all."""
    every, of = list(those), 0
    for record in those:
        if isinstance(record, Iteration):
            of = of or len(those)
            for table in _BELONG:
                rows = memory.database.rows(
                    f"SELECT id, count(*) OVER () FROM {table} WHERE iteration_id = ? ORDER BY id LIMIT ?",
                    (record.id, MOST // 2),
                )
                every += lookup.many(memory.database, table[:-1], [number for number, _ in rows])
                of += rows[0][1] if rows else 0
    return every, of


def _cited(fact: Fact) -> list[Citation]:
    return [parse(text) for text in fact.evidence if text.startswith(cite("decision", 1)[:2])]
