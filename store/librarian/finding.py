"""What the memory holds on a question: by the search, by the time it names, by the links between commits and decisions,
or by what the last answer rested on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from store import records
from store.citations import Citation, cite, parse
from store.librarian.asked import ASKING, CHRONOLOGY, DECISION, IMPLEMENTATION, STATISTICS, WHAT, WHY, Asked, read
from store.librarian.counting import Tally, ends, tally, told_of
from store.librarian.happening import TOLD, of_time
from store.librarian.relevance import Relevance
from store.librarian.sources import Source, sources
from store.memory import Memory
from store.models import Commit, Decision, Fact, Iteration, Record
from store.search.keyword import Keywords
from store.search.query import STOP

MOST = 8  # sources of one answer
LOOKED = 16  # hits of the search that are judged
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
class Found:
    """The sources of an answer, the best first: `direct` of them answer, the rest is linked to those; `sure` that
    they do, whatever a small model makes of them; or what was counted. Where they are a list, of a time or of what was
    counted before, `of` says how many there are in all. `near` is what comes nearest where none answers."""

    sources: tuple[Source, ...]
    direct: int = 0
    sure: bool = False
    tally: Tally | None = None
    of: int = 0
    near: tuple[Source, ...] = ()


def find(memory: Memory, asked: Asked, last: Sequence[str] = (), question: str = "") -> Found:
    """What there is on a question. `last` are the citations of the answer before it and `question` what was asked then;
    they count only where the new question leans on them. Some 30 ms, more where a model must be loaded."""
    if asked.kind == STATISTICS:
        before = read(question, memory.now) if asked.follows else None
        counted = tally(memory, asked, before)
        named = sources(memory.database, ends(counted), memory.now)
        return Found(tuple(named), len(named), True, counted)
    if asked.cited:
        those, of = _with_belonging(memory, records.there(memory.database, asked.cited))
        return replace(_found(memory, asked, those, sure=True), of=of)
    if asked.follows:
        return _following(memory, asked, last, question)
    if (asked.since or asked.before or asked.agents) and not asked.words:
        those, of = of_time(memory, asked)
        return replace(_found(memory, asked, those, TOLD, sure=True), of=of)
    those, best, near = _searched(memory, asked, asked.text)
    if not those and asked.dated:
        those, best = _saying(memory, asked)
    found = _found(memory, asked, those, sure=best >= SURE)
    return found if found.sources else replace(found, near=near)


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


def _searched(memory: Memory, asked: Asked, text: str) -> tuple[list[Record], float, tuple[Source, ...]]:
    """What a search for a text finds that answers the question, the likeliest first; how near the nearest is; and of
    all that it found what a person may want to see where nothing answers."""
    query = " ".join(text.replace(":", " ").split())
    hits = memory.search(query, LOOKED, since=asked.since, before=asked.before).hits
    for words, kind, status in _closer(asked, query):
        known = {hit.key for hit in hits}
        more = memory.search(words, LOOKED, kinds=(kind,), status=status, since=asked.since, before=asked.before).hits
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
    best = max((score for *_, score in scored), default=0.0)
    those = [record for _, _, record, _ in scored]
    wanted = [record for record in those if records.kind_of(record) in asked.kinds]
    near = [
        source
        for source, hit in zip(found, hits, strict=True)
        if source.kind in NEARBY and (hit.similarity or 0.0) >= NEAR
    ]
    return _holding_first(wanted or those, judge), best, tuple(near)


def _holding_first(those: list[Record], judge: Relevance) -> list[Record]:
    """Records without the decisions that were superseded; but those that chose what is asked about, where none that
    holds did, come first, and where nothing else answers they do."""
    gone = [one for one in those if isinstance(one, Decision) and one.status == "superseded"]
    holding = [one for one in those if one not in gone]
    chose = [one for one in gone if judge.chosen(one)]
    if any(judge.chosen(one) for one in holding if isinstance(one, Decision)):
        chose = []
    return [*chose, *holding] or [*gone]


def _saying(memory: Memory, asked: Asked) -> tuple[list[Record], float]:
    """What says the time that a question names, whenever it was written: “from Tuesday to Thursday”."""
    time = tuple(word for word in asked.dated if word not in STOP and word not in ASKING)
    undated = replace(asked, since="", before="", dated=frozenset(), words=(*asked.words, *time))
    found, best, _ = _searched(memory, undated, asked.text)
    judge = Relevance(undated, Keywords(memory.database))
    told = sources(memory.database, found, memory.now)
    return [one.record for one in told if all(judge.stands(word, one.text) for word in time)], best


def _closer(asked: Asked, query: str) -> Iterable[tuple[str, str, str]]:
    """What else is searched, where one kind is what answers: (the words, the kind of record, its status if not any
    that holds). What was decided and holds no longer is an answer to when, and to why it was."""
    if asked.kind == IMPLEMENTATION:
        yield query, "commit", ""
    elif asked.kind == DECISION and asked.words:
        yield " ".join(asked.words), "decision", ""  # in a memory of many turns its title may stand far down
    for kind in asked.kinds:
        yield query, kind, ""
    if asked.words:
        yield " ".join(asked.words), "decision", "superseded"


def _following(memory: Memory, asked: Asked, last: Sequence[str], question: str) -> Found:
    """What answers a question that leans on the one before it: what was counted then; or what that answer rested on,
    and what a search for both finds, of either only what holds the words, and is of the kinds, of the new one."""
    topic = read(question, memory.now)
    if topic.counted and (listed := _listed(memory, asked, topic, last)):
        return listed
    before = records.there(memory.database, [parse(text) for text in last])
    if asked.kinds:
        those = [*before, *_searched(memory, replace(topic, kinds=asked.kinds), question)[0]]
        return _found(memory, asked, [one for one in those if records.kind_of(one) in asked.kinds])
    if not asked.words:
        return _found(memory, asked, before)
    judge = Relevance(asked, Keywords(memory.database))
    near = [
        source.record for source in sources(memory.database, before, memory.now) if judge.score(source.text, None) >= 0
    ]
    return _found(memory, asked, [*near, *_searched(memory, asked, f"{question} {asked.text}")[0]])


def _listed(memory: Memory, asked: Asked, topic: Asked, last: Sequence[str]) -> Found | None:
    """The newest of what was counted, or of those in the state that a question names: “which ones?”, “which are
    open?”."""
    counts = tally(memory, replace(asked, counted=topic.counted), topic) if asked.words else None
    if counts is None:
        counts = told_of(memory, topic, last)
    elif not counts.state:
        return None
    if counts is None:
        return None
    those = sources(memory.database, counts.records[::-1][:TOLD], memory.now)
    return Found(tuple(those), len(those), True, of=len(counts.records))


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
                every += records.many(memory.database, table[:-1], [number for number, _ in rows])
                of += rows[0][1] if rows else 0
    return every, of


def _cited(fact: Fact) -> list[Citation]:
    return [parse(text) for text in fact.evidence if text.startswith(cite("decision", 1)[:2])]
