"""Find facts that say the same, or cannot both hold; facts that contradict a later decision; and old unused ones that
one sentence can replace.

Everything found becomes a proposal in the inbox, in one step that can be undone as one, and nothing else changes. What
a person rejected is not proposed again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from store.base.citations import cite
from store.base.clock import days_before
from store.base.models import Decision, Fact
from store.base.record_keys import pack
from store.base.vocabulary import PERSON
from store.database.database import Database
from store.embedding import mean_removal, model_registry
from store.inbox.candidate_pairs import BEGINNING, by_vectors, by_words, centred, groups, paraphrase
from store.inbox.decision_conflicts import facts_against
from store.inbox.inbox import Inbox
from store.inbox.merge_text import summed_up
from store.inbox.proposal_basis import ProposalQuestion
from store.records.timeline.open_counts import counted_since
from store.text.language import foreign, language
from store.text.similarity.contradiction import AGAINST, ALIKE, APART, CLOSE, SAME, ParsedSentence, compare, taken_apart

if TYPE_CHECKING:
    from store.inbox.candidate_pairs import Matrix
    from store.records.facts import Facts

ORIGIN = "duplicates"  # the origin of these proposals
MOST = 40  # new proposals of one pass: nobody would read more
EACH = 2  # proposals that a fact may be in
SERIES = 3  # facts that differ only in numbers or days, from which on they are a list and no contradiction
COMPARED = 0.75  # calibrated similarity from which two facts are compared
BEYOND_DOUBT = 0.9  # and from which two of one language are the same though they share no word
# The product of two facts in the memory's own space that counts as 1. Paraphrases have .53 there (median) and unrelated
# texts .01, .27 at the most of a thousand; two facts about one thing of one project have more (bench.duplicates).
IN_SPACE = 0.6
RELATED = 0.6  # and from which two old ones are about one thing
OLD_DAYS = 90  # since it was confirmed, from which on a fact is old
OPENED = 1  # times, at most, that an unused fact was opened
FEWEST, LARGEST = 3, 6  # facts that one sentence replaces
CANDIDATES = 40  # facts that one text is compared with


@dataclass(frozen=True, slots=True)
class Pair:
    """Two facts: `how` is a word of `cues`, `score` their similarity from 0 to 1."""

    one: Fact
    other: Fact
    how: str
    score: float


@dataclass(frozen=True, slots=True)
class Like:
    """A fact similar to a text: a word of `cues`, and the similarity from 0 to 1."""

    fact: Fact
    how: str
    score: float


@dataclass(frozen=True, slots=True)
class Nominated:
    """Result of a pass: the ids of its new proposals, how many pairs and groups were found, how many facts contradict a
    later decision, and how many were compared; `left` of the findings wait for the next pass. `meaning` is whether a
    model's vectors were used."""

    proposals: tuple[int, ...]
    duplicates: int
    contradictions: int
    against_decisions: int
    clusters: int
    facts: int
    left: int
    meaning: bool


Summary = Callable[[Sequence[str]], str]
"""Summarise several facts in one sentence, empty where that is not possible; a model may take this place."""


def nominate(
    database: Database,
    facts: "Facts",
    inbox: Inbox,
    now: str,
    *,
    actor: str = PERSON,
    summary: Summary = summed_up,
    most: int = MOST,
) -> Nominated:
    """Compare every active fact, and propose what should be merged, superseded or replaced by one sentence: at most
    `most` at a time, the most certain first. One step of history. `summary` may take long: the facts are read again
    afterwards, and where one was changed or purged meanwhile its proposal is left out."""
    known = facts.many(facts.ids(now))
    pairs, near = compared(database, known)
    questions = [_question(pair) for pair in _few(pairs)]
    taken = {fact.id for pair in pairs for fact in (pair.one, pair.other)}
    clusters = _clusters(database, [fact for fact in known if fact.id not in taken], now)
    since = counted_since(database)
    counted = bool(since) and since <= days_before(now, OLD_DAYS)
    summaries = [question for cluster in clusters if (question := _summary(cluster, summary, counted)) is not None]
    overruled = [_overruled(fact, decision) for fact, decision in facts_against(database, facts)]
    questions += [*overruled, *summaries]
    gone = list[ProposalQuestion]()

    def standing() -> Iterator[ProposalQuestion]:
        for question in questions:
            if _stands(facts, question):
                yield question
            else:
                gone.append(question)

    before = database.value("SELECT coalesce(max(id), 0) FROM proposals")
    asked = inbox.propose_all(standing(), actor, most=most) if questions else []
    against = sum(pair.how == AGAINST for pair in pairs)
    return Nominated(
        tuple(sorted({number for number in asked if number > before})),
        len(pairs) - against,
        against,
        len(overruled),
        len(clusters),
        len(known),
        len(questions) - len(gone) - len(asked),
        near is not None,
    )


def compared(database: Database, known: Sequence[Fact]) -> tuple[list[Pair], dict[tuple[int, int], float] | None]:
    """Return (every two of these facts that say the same or contradict each other, the most certain first; the
    calibrated similarity of those that are near each other by meaning, by index, None where there are no vectors of a
    model)."""
    from rapidfuzz.fuzz import ratio

    apart = [taken_apart(fact.fact) for fact in known]
    near = _near(database, known)
    alike = {pair for pair, meaning in (near or {}).items() if meaning >= COMPARED}
    frames = Counter(frozenset(parsed.words) for parsed in apart)
    found = []
    for one, other in alike.union(by_words([{*parsed.words, *parsed.values} for parsed in apart])):
        likeness = ratio(apart[one].plain, apart[other].plain) / 100
        meaning = None if near is None else near.get((one, other), 0.0)
        how = compare(apart[one], apart[other], likeness, meaning)
        if how == ALIKE and likeness < CLOSE and not _about_one_thing(known[one], known[other], meaning or 0.0):
            continue
        listed = frozenset(apart[one].words) == frozenset(apart[other].words) and frames[frozenset(apart[one].words)]
        if how != APART and not (how == AGAINST and listed >= SERIES):
            score = 1.0 if how == SAME else max(likeness, meaning or 0.0)
            found.append(Pair(known[one], known[other], how, round(score, 3)))
    found.sort(key=lambda pair: (-pair.score, pair.one.id, pair.other.id))
    return found, near


def _about_one_thing(one: Fact, other: Fact, meaning: float) -> bool:
    """Return whether two facts that a model finds the same may be: in one language they share a word other than a day
    or a number, which a model overrates; or their similarity is BEYOND_DOUBT."""
    if meaning >= BEYOND_DOUBT or foreign(language(one.fact), language(other.fact)):
        return True
    first, second = ({word[:BEGINNING] for word in taken_apart(fact.fact).words} for fact in (one, other))
    return bool(first & second)


def alike(database: Database, facts: "Facts", text: str, without: Iterable[int] = ()) -> list[Like]:
    """Return the active facts that repeat or contradict a text, the most certain first: found by its words, without a
    model, in a millisecond or two."""
    from rapidfuzz.fuzz import ratio

    parsed = taken_apart(text)
    left_out = set(without)
    found = []
    for fact in facts.many([number for number in sharing(database, parsed) if number not in left_out]):
        if fact.status != "active":
            continue
        other = taken_apart(fact.fact)
        likeness = ratio(parsed.plain, other.plain) / 100
        how = compare(parsed, other, likeness)
        if how != APART:
            found.append(Like(fact, how, round(1.0 if how == SAME else likeness, 3)))
    return sorted(found, key=lambda like: (-like.score, like.fact.id))


def about_new(database: Database, facts: "Facts", fact: Fact) -> ProposalQuestion | None:
    """Return the proposal to make about a new fact if it repeats or contradicts another: for the most certain one. By
    its words a member of a list contradicts no other member."""
    likes = alike(database, facts, fact.fact, [fact.id])
    words = frozenset(taken_apart(fact.fact).words)
    listed = [like for like in likes if like.how == AGAINST and words == frozenset(taken_apart(like.fact.fact).words)]
    if len(listed) + 1 >= SERIES:
        likes = [like for like in likes if like not in listed]
    return _question(Pair(likes[0].fact, fact, likes[0].how, likes[0].score)) if likes else None


def sharing(database: Database, parsed: ParsedSentence) -> list[int]:
    """Return the facts that share words with a text, weighted by their rarity."""
    words = [
        word for word in (*parsed.words, *(one for one in parsed.values if not one.startswith("="))) if word.isalnum()
    ]
    if not words:
        words = [word for word in parsed.plain.split() if word.isalnum()]
    if not words:
        return []
    rows = database.rows(
        "SELECT c.record_id FROM corpus_fts f JOIN corpus c ON c.id = f.rowid"
        " WHERE corpus_fts MATCH ? AND c.id % 16 = 0 AND c.status = 'active' ORDER BY f.rank LIMIT ?",
        (" OR ".join(f'"{word}"' for word in dict.fromkeys(words)), CANDIDATES),
    )
    return [number for (number,) in rows]


def _near(database: Database, known: Sequence[Fact]) -> dict[tuple[int, int], float] | None:
    """Return the calibrated similarity of the facts that are near each other, by index."""
    model = model_registry.serving(database)
    if model is None:
        return None
    import numpy as np

    rows = dict(
        database.rows(
            "SELECT v.key >> 5, e.vector FROM vectors v JOIN embeddings e ON e.id = v.embedding"
            " WHERE (v.key & 1) = ? AND (v.key >> 1) % 16 = 0 AND v.key >> 41 = 0 AND length(e.vector) = ?",
            (model.slot, 4 * model.dimension),
        )
    )
    places = [place for place, fact in enumerate(known) if fact.id in rows]
    if len(places) < 2:
        return {}
    stored = np.frombuffer(b"".join(rows[known[place].id] for place in places), "<f4").reshape(len(places), -1)
    vectors, one = placed(database, model, stored, [known[place].fact for place in places])
    return {
        (places[first], places[second]): min(1.0, product / one)
        for first, second, product in by_vectors(vectors, RELATED * one)
    }


def placed(
    database: Database, model: model_registry.EmbeddingModel, stored: "Matrix", texts: Sequence[str]
) -> "tuple[Matrix, float]":
    """Return (stored vectors as they can be compared with each other, the product that is 1 on the calibrated scale).

    In the memory's own space where it has one: there both languages coincide, and what all facts of a project have in
    common does not count. Of the demo's 6,900 pairs the three that say the same rank first, fourth and fifth; by plain
    vectors one of them is among the first fifty.
    """
    own = mean_removal.load(database, model.slot, model.fingerprint, model.dimension)
    if own is None:
        return centred(stored, model), paraphrase(model)
    return own.move(stored, [language(text) for text in texts]), IN_SPACE


def _few(pairs: Iterable[Pair]) -> list[Pair]:
    """Keep the most certain pairs of each fact: five that say the same are not ten proposals."""
    often: dict[int, int] = {}
    chosen = []
    for pair in pairs:
        if max(often.get(pair.one.id, 0), often.get(pair.other.id, 0)) < EACH:
            chosen.append(pair)
            for fact in (pair.one, pair.other):
                often[fact.id] = often.get(fact.id, 0) + 1
    return chosen


def _question(pair: Pair) -> ProposalQuestion:
    evidence = _quotes((pair.one, pair.other))
    if pair.how == AGAINST:
        old, new = sorted((pair.one, pair.other), key=lambda fact: (fact.pinned, fact.last_confirmed_at, fact.id))
        return ProposalQuestion(
            "supersede",
            {"fact": new.fact, "others": [new.id]},
            old.id,
            evidence,
            ORIGIN,
            f"{new.citation}, confirmed later, contradicts {old.citation}.",
        )
    keep, other = sorted((pair.one, pair.other), key=lambda fact: (not fact.pinned, -len(fact.fact), fact.id))
    same = "say the same" if pair.how == SAME else f"look like the same, {pair.score:.2f} of 1"
    return ProposalQuestion(
        "merge", {"fact": keep.fact, "others": [other.id]}, keep.id, evidence, ORIGIN,
        f"{keep.citation} and {other.citation} {same}.",
    )  # fmt: skip


def _overruled(fact: Fact, decision: Decision) -> ProposalQuestion:
    evidence = (*_quotes([fact]), {"citation": decision.citation, "quote": decision.title})
    who = "" if decision.origin == PERSON else f" by {decision.origin}"
    reason = f"{fact.citation} contradicts {decision.citation}, which was decided later{who}."
    return ProposalQuestion("forget", {}, fact.id, evidence, ORIGIN, reason)


def _stands(facts: "Facts", question: ProposalQuestion) -> bool:
    """Return whether the facts of a proposal still have the text that it quotes."""
    numbers = [question.target, *question.change.get("others", ())]
    quoted = {one["citation"]: one["quote"] for one in question.evidence}
    now = {fact.id: fact.fact for fact in facts.many(numbers) if fact.status == "active"}
    return all(now.get(number) == quoted[cite("fact", number)] for number in numbers)


def _quotes(facts: Iterable[Fact]) -> tuple[dict[str, str], ...]:
    return tuple({"citation": fact.citation, "quote": fact.fact} for fact in facts)


def _clusters(database: Database, known: Sequence[Fact], now: str) -> list[list[Fact]]:
    """Group old facts that are about one thing, without those that were opened more than OPENED times."""
    opened = dict(database.rows("SELECT key, count FROM accesses WHERE count > ?", (OPENED,)))
    limit = days_before(now, OLD_DAYS)
    old = [
        fact
        for fact in known
        if not fact.pinned and fact.last_confirmed_at < limit and pack("fact", fact.id) not in opened
    ]
    closest = sorted(_related(database, old), key=lambda pair: (-pair[2], pair[0], pair[1]))
    found = groups(((one, other) for one, other, _ in closest if old[one].domain == old[other].domain), LARGEST)
    return [[old[place] for place in group] for group in found if len(group) >= FEWEST]


def _related(database: Database, old: Sequence[Fact]) -> list[tuple[int, int, float]]:
    """Return the pairs of these facts that are about one thing: by meaning, else by their first word."""
    near = _near(database, old)
    if near is not None:
        return [(one, other, meaning) for (one, other), meaning in near.items() if meaning >= RELATED]
    subjects: dict[str, list[int]] = {}
    for place, fact in enumerate(old):
        if words := taken_apart(fact.fact).words:
            subjects.setdefault(words[0], []).append(place)
    return [(one, other, RELATED) for places in subjects.values() for one, other in pairwise(places)]


def _summary(cluster: Sequence[Fact], summary: Summary, counted: bool) -> ProposalQuestion | None:
    text = summary([fact.fact for fact in cluster])
    if not text:
        return None
    first, *rest = cluster
    change: dict[str, Any] = {"fact": text, "domain": first.domain, "others": [fact.id for fact in rest]}
    cited = ", ".join(cite("fact", fact.id) for fact in cluster)
    opened = f", opened {'once' if OPENED == 1 else f'{OPENED} times'} at most since then" if counted else ""
    reason = f"{len(cluster)} facts about one thing, not confirmed for {OLD_DAYS} days{opened}: {cited}."
    return ProposalQuestion("merge", change, first.id, _quotes(cluster), ORIGIN, reason)
