"""Find facts that say the same, or cannot both hold; facts that contradict a later decision; and old unused ones that
one sentence can replace.

Everything found becomes a proposal in the inbox, in one step that can be undone as one, and nothing else changes. What
a person rejected is not proposed again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from store.base.citations import cite
from store.base.clock import days_before
from store.base.errors import MemorandaError
from store.base.models import Decision, Fact
from store.base.vocabulary import PERSON_ORIGIN, pack_key
from store.database.database import Database
from store.embedding.model_registry import EmbeddingModel, find_serving_model
from store.embedding.provider import model_prefixes
from store.embedding.vectors import load_vector_space
from store.inbox.inbox import Inbox, proposing_reason
from store.inbox.proposals import ProposalQuestion
from store.records.decisions import Decisions
from store.records.facts import Facts
from store.records.timeline import openings_counted_since
from store.text.display import format_count
from store.text.language import detect_language, is_other_language
from store.text.similarity import (
    CLOSE_RATIO,
    CONTRADICTS,
    NO_RELATION,
    SAME_STATEMENT,
    SIMILAR_STATEMENT,
    ParsedSentence,
    compare_sentences,
    parse_sentence,
    text_ratio,
)
from store.text.words import normalize_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

# Select the pairs of texts worth comparing: pairs that share rare words, and pairs whose vectors are near each other.
#
# Neither compares every pair. Words: two texts that share half of their words share one of the rarest of each (prefix
# filtering). Vectors: each is assigned to the nearest few of √n centres, and compared with those of the same centre
# only; 10,000 facts take some n^1.5 steps, and a pair as similar as a paraphrase is hardly ever missed
# (bench.duplicates).

# of their words, that two texts must share
MIN_SHARED_PART = 0.5
# letters of a word that identify it
IDENTIFYING_LETTERS = 5
# texts with a word, above which the word selects no pairs
COMMON_WORD_TEXTS = 64
# centres that each vector is assigned to
CENTRES_PER_VECTOR = 2
# of moving the centres to the mean of their vectors
CENTRE_ROUNDS = 4
# Two passages of e5 are more similar than a question and a passage: the medians of the texts of calibration.tsv without
# the mean are .566 and .01, where those of questions would give .486 (bench.duplicates)
BOTH_PASSAGES = 1.165


def find_pairs_by_words(words: Sequence[Iterable[str]]) -> Iterator[tuple[int, int]]:
    """Yield pairs of texts, by index, that share half of their words or more; the lower index first, each pair once.
    Only the beginning of a word counts, so that its forms are one."""
    sets = [frozenset(word[:IDENTIFYING_LETTERS] for word in one) for one in words]
    often = Counter(word for one in sets for word in one)
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(sets):
        rare = sorted(one, key=lambda word: (often[word], word))
        seen: set[int] = set()
        for word in rare[: len(rare) - int(MIN_SHARED_PART * len(rare) + 0.999) + 1]:
            held = holders.setdefault(word, [])
            if often[word] <= COMMON_WORD_TEXTS:
                seen.update(held)
            held.append(place)
        for other in sorted(seen):
            if len(one & sets[other]) >= MIN_SHARED_PART * max(len(one), len(sets[other])):
                yield other, place


def centre_vectors(vectors: Matrix, model: EmbeddingModel) -> Matrix:
    """Return unit vectors without the mean of all texts: their product is the similarity of two texts."""
    import numpy as np

    moved = vectors - np.frombuffer(model.mean, "<f4")
    lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
    return np.asarray(moved / lengths, np.float32)


def paraphrase_product(model: EmbeddingModel) -> float:
    """Return the product of two centred vectors that is 1 on the calibrated scale, that of paraphrases; the scale's 0
    is 0.

    With the mean m removed, (cosine - m²) / (1 - m²) is left, and m² is the median of unrelated texts.
    """
    both = BOTH_PASSAGES if model_prefixes(model.fingerprint.split(" ")[1])[0] else 1.0
    return (model.one - model.zero) / (1 - model.zero) * both


def find_pairs_by_vectors(vectors: Matrix, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield (lower index, higher index, product) of centred vectors whose product is `least` or more, each pair
    once."""
    import numpy as np

    count = len(vectors)
    if count < 2:
        return
    centres = _choose_centres(vectors)
    nearest = _nearest_centres(vectors, centres)
    found: dict[tuple[int, int], float] = {}
    for cell in range(len(centres)):
        members = np.flatnonzero((nearest == cell).any(axis=1))
        products = vectors[members] @ vectors[members].T
        rows, columns = np.nonzero(np.triu(products >= least, 1))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            found[int(members[row]), int(members[column])] = float(products[row, column])
    yield from ((one, other, product) for (one, other), product in sorted(found.items()))


def _choose_centres(vectors: Matrix) -> Matrix:
    """Return √n of the vectors, evenly chosen, each moved to the mean of the vectors nearest to it."""
    import numpy as np

    count = max(1, int(len(vectors) ** 0.5))
    centres = vectors[np.linspace(0, len(vectors) - 1, count).astype(np.int64)].copy()
    for _ in range(CENTRE_ROUNDS):
        owner = _nearest_centres(vectors, centres, 1)[:, 0]
        for cell in range(count):
            members = vectors[owner == cell]
            if len(members):
                middle = members.sum(axis=0)
                centres[cell] = middle / max(float(np.linalg.norm(middle)), 1e-9)
    return centres


def _nearest_centres(vectors: Matrix, centres: Matrix, cells: int = CENTRES_PER_VECTOR) -> NDArray[np.int64]:
    """Return the `cells` centres that are nearest to each vector, in no order."""
    import numpy as np

    cells = min(cells, len(centres))
    return np.argpartition(-(vectors @ centres.T), cells - 1, axis=1)[:, :cells]


def group_connected(pairs: Iterable[tuple[int, int]], most: int) -> list[list[int]]:
    """Group indexes that are connected by pairs, the closest pairs first, in groups of at most `most`."""
    home: dict[int, list[int]] = {}
    for one, other in pairs:
        left, right = home.get(one, [one]), home.get(other, [other])
        if left is right or len(left) + len(right) > most:
            continue
        joined = [*left, *right]
        home.update(dict.fromkeys(joined, joined))
    return [list(group) for group in {id(group): sorted(group) for group in home.values()}.values()]


# Find the decisions that a text contradicts or repeats, by words; report them only.
#
# A decision states what was chosen, in its title up to a `not` and in the option taken, and what was rejected: the
# options not taken, and what its title says after a `not`. A text contradicts it if it states the contrary of the
# former, or if it names one of the latter and is about the same thing.

# decisions that one text is compared with, and three times as many facts with one decision
DECISION_CANDIDATES = 12
# words of an option that its name alone identifies, if it has one
MOST_NAME_WORDS = 3
# of a text, that must be about the decision; and of what was chosen, above which a text may not name it
MIN_SUBJECT_SHARE = 0.5
# letters of a word that may have forms
SHORTEST_FORM = 3
# words that a title must have to be compared with a sentence
MIN_CLAIM_WORDS = 2
_INSTEAD = re.compile(
    r",?\s+(?:and not|not|instead of|rather than|over|y no|no|en vez de|en lugar de)\s+(?=\S)", re.IGNORECASE
)


class DecisionMatch(NamedTuple):
    """A decision that a text contradicts or repeats; `how` is a word of `cues`."""

    decision: Decision
    how: str

    @property
    def against(self) -> bool:
        return self.how == CONTRADICTS


def find_decision_matches(database: Database, text: str) -> list[DecisionMatch]:
    """Return the active decisions that a text contradicts or repeats, the contradicted first; it takes a
    millisecond or two."""
    parsed = parse_sentence(text)
    found = []
    for decision in Decisions(database).get_many(
        _find_sharing_records(database, 1, _search_words([parsed]), DECISION_CANDIDATES)
    ):
        if decision.status == "active" and (how := _relation_to_decision(parsed, decision)) != NO_RELATION:
            found.append(DecisionMatch(decision, how))
    return sorted(found, key=lambda one: (one.how != CONTRADICTS, -one.decision.id))


def find_named_decision(database: Database, text: str) -> Decision | None:
    """Return the active decision whose choice, or else whose title, a text names; of several with as many words
    the newest. Return None if it names none."""
    said = {*parse_sentence(text).words}
    best: tuple[int, int, int, Decision] | None = None
    for decision in Decisions(database).get_many(
        _find_sharing_records(database, 1, sorted(said), DECISION_CANDIDATES)
    ):
        claim = title_claim(decision)
        chosen, title = (len(said.intersection(parse_sentence(one).words)) for one in (decision.chosen, claim))
        found = (chosen, title, decision.id, decision)
        if decision.status == "active" and (chosen or title) and (best is None or found[:3] > best[:3]):
            best = found
    return best[3] if best else None


def find_overruled_facts(database: Database, facts: Facts) -> Iterator[tuple[Fact, Decision]]:
    """Yield (fact, decision) for each active fact that contradicts a decision newer than its last confirmation,
    with the newest such decision. Pinned facts are left out."""
    decisions = Decisions(database)
    seen: set[int] = set()
    for decision in decisions.get_many(decisions.ids()):
        texts = [decision.title, decision.chosen, *decision.alternatives]
        words = _search_words(map(parse_sentence, texts))
        for fact in facts.get_many(_find_sharing_records(database, 0, words, 3 * DECISION_CANDIDATES)):
            if fact.id in seen or fact.pinned or fact.status != "active":
                continue
            if fact.last_confirmed_at >= decision.decided_at:
                continue
            if _relation_to_decision(parse_sentence(fact.fact), decision) == CONTRADICTS:
                seen.add(fact.id)
                yield fact, decision


def title_claim(decision: Decision) -> str:
    """Return what the title of a decision says, up to a `not`."""
    return _INSTEAD.split(decision.title)[0]


def rejected_options(decision: Decision) -> tuple[str, ...]:
    """Return what a decision did not take: its alternatives, and what its title says after a `not`."""
    return (*decision.alternatives, *_INSTEAD.split(decision.title)[1:])


def _relation_to_decision(parsed: ParsedSentence, decision: Decision) -> str:
    """Return the relation of a text to a decision, a word of `cues`."""
    claim = title_claim(decision)
    chosen = parse_sentence(decision.chosen)
    for option in rejected_options(decision):
        if _takes_rejected_option(parsed, option, claim, chosen, decision):
            return CONTRADICTS
    ways = []
    for way in (claim, f"{claim}: {decision.chosen}"):
        other = parse_sentence(way)
        if len(other.words) + len(other.values) >= MIN_CLAIM_WORDS:
            ways.append(compare_sentences(parsed, other, text_ratio(parsed.plain, other.plain) / 100))
    return next((how for how in (CONTRADICTS, SAME_STATEMENT, SIMILAR_STATEMENT) if how in ways), NO_RELATION)


def _takes_rejected_option(
    parsed: ParsedSentence, option: str, claim: str, chosen: ParsedSentence, decision: Decision
) -> bool:
    """Return whether a text takes an option that was rejected: it names it, without a negation and without what was
    chosen, and says little else; and it is about the subject of the decision, or the option is a name."""
    other = parse_sentence(option)
    named = {*other.words, *other.values}
    words = {*parsed.words, *parsed.values}
    if not named or not named <= words or parsed.negations:
        return False
    reasons = parse_sentence(f"{decision.rationale}\n{decision.context}")
    if parsed.values and {*parsed.values} <= {*reasons.values}:
        # it compares both by the figures for which the decision was taken
        return False
    taken = {*chosen.words, *chosen.values} - named
    if taken and len(taken & words) >= MIN_SUBJECT_SHARE * len(taken):
        return False
    about = parse_sentence(f"{claim}\n{decision.context}")
    subject = {*about.words, *chosen.words} - named
    shared = {word for word in words - named if any(is_same_form(word, other) for other in subject)}
    if len(named | shared) < MIN_SUBJECT_SHARE * len(words):
        return False
    return bool(shared) or (len(named) <= MOST_NAME_WORDS and any(map(_is_name, re.findall(r"\w+", option))))


def is_same_form(word: str, other: str) -> bool:
    """Return whether two words may be forms of one: deploy and deployment, use and uses."""
    least = min(len(word), len(other), IDENTIFYING_LETTERS)
    return least >= SHORTEST_FORM and word[:least] == other[:least]


def _is_name(word: str) -> bool:
    return any(letter.isupper() for letter in word)


def _search_words(sentences: Iterable[ParsedSentence]) -> list[str]:
    """Return the words by which to search for records related to these texts."""
    found = dict.fromkeys(
        word for one in sentences for word in (*one.words, *(value for value in one.values if value[0] != "="))
    )
    return [word for word in found if word.isalnum()]


def _find_sharing_records(database: Database, kind: int, words: Sequence[str], most: int) -> list[int]:
    """Return the active records of a kind (`store/base/vocabulary.py`) that share words, weighted by their rarity."""
    if not words:
        return []
    return database.column(
        "SELECT c.record_id FROM corpus_fts f JOIN corpus c ON c.id = f.rowid"
        " WHERE corpus_fts MATCH ? AND c.id % 16 = ? AND c.status = 'active' ORDER BY f.rank LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), kind, most),
    )


# Join several facts in one sentence, by rule: each of them whole, one after the other.
#
# A model may replace it (`SummarizeFacts`); it must return a sentence that contains nothing beyond these facts.

# characters; a longer text is no summary
LONGEST_SUMMARY = 400
SUMMARY_ENDS = ".!;, "


def join_fact_texts(texts: Sequence[str]) -> str:
    """Return one sentence for several facts: `Jenkins builds take 20 minutes; Jenkins has two agents`. Texts that
    differ only in capitals, accents and final marks are in it once. Empty when they are too long for one sentence."""
    distinct = {
        normalize_text(text).rstrip(SUMMARY_ENDS): " ".join(text.split()).rstrip(SUMMARY_ENDS) for text in texts
    }
    whole = "; ".join(distinct.values())
    return whole if len(whole) <= LONGEST_SUMMARY else ""


# the origin of these proposals
DUPLICATES_ORIGIN = "duplicates"
# new proposals of one pass: nobody would read more
MOST_NEW_PROPOSALS = 40
# proposals that a fact may be in
MOST_PER_FACT = 2
# facts that differ only in numbers or days, from which on they are a list and no contradiction
MIN_SERIES = 3
# calibrated similarity from which two facts are compared
MIN_COMPARED = 0.75
# and from which two of one language are the same though they share no word
BEYOND_DOUBT = 0.9
# The product of two facts in the memory's own space that counts as 1. Paraphrases have .53 there (median) and unrelated
# texts .01, .27 at the most of a thousand; two facts about one thing of one project have more (bench.duplicates).
OWN_SPACE_PRODUCT = 0.6
# and from which two old ones are about one thing
MIN_RELATED = 0.6
# since it was confirmed, from which on a fact is old
OLD_FACT_DAYS = 90
# times, at most, that an unused fact was opened
MOST_OPENED = 1
# facts that one sentence replaces
MIN_CLUSTER, MAX_CLUSTER = 3, 6
# facts that one text is compared with
FACT_CANDIDATES = 40


class FactPair(NamedTuple):
    """Two facts: `how` is a word of `cues`, `score` their similarity from 0 to 1."""

    one: Fact
    other: Fact
    how: str
    score: float


class SimilarFact(NamedTuple):
    """A fact similar to a text: a word of `cues`, and the similarity from 0 to 1."""

    fact: Fact
    how: str
    score: float


class DuplicatesResult(NamedTuple):
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

    def describe(self) -> str:
        """Return in sentences what was looked at and found."""
        said = (
            f"{format_count(self.facts, 'fact')} looked at{'' if self.meaning else ', by words alone'}:"
            f" {format_count(self.duplicates, 'duplicate')}, {format_count(self.contradictions, 'contradiction')},"
            f" {self.against_decisions:,} against a later decision,"
            f" {format_count(self.clusters, 'group')} of old facts."
        )
        new = f"{format_count(len(self.proposals), 'new proposal')} in the inbox; undo removes all of them."
        said = f"{said} {new}" if self.proposals else f"{said} Nothing new to ask."
        return f"{said} {self.left:,} more wait for the next time." if self.left else said


SummarizeFacts = Callable[[Sequence[str]], str]
"""Summarise several facts in one sentence, empty where that is not possible; a model may take this place."""


def propose_duplicates(
    database: Database,
    facts: Facts,
    inbox: Inbox,
    now: str,
    *,
    actor: str = PERSON_ORIGIN,
    summary: SummarizeFacts = join_fact_texts,
    most: int = MOST_NEW_PROPOSALS,
) -> DuplicatesResult:
    """Compare every active fact, and propose what should be merged, superseded or replaced by one sentence: at most
    `most` at a time, the most certain first. One step of history. `summary` may take long: the facts are read again
    afterwards, and where one was changed or purged meanwhile its proposal is left out."""
    known = facts.get_many(facts.ids(now))
    pairs, near = find_similar_pairs(database, known)
    questions = [_question_about_pair(pair) for pair in _keep_most_certain(pairs)]
    taken = {fact.id for pair in pairs for fact in (pair.one, pair.other)}
    clusters = _cluster_old_facts(database, [fact for fact in known if fact.id not in taken], now)
    since = openings_counted_since(database)
    counted = bool(since) and since <= days_before(now, OLD_FACT_DAYS)
    summaries = [
        question
        for cluster in clusters
        if (question := _question_about_cluster(cluster, summary, counted)) is not None
    ]
    overruled = [
        _question_about_overruled(fact, decision) for fact, decision in find_overruled_facts(database, facts)
    ]
    questions += [*overruled, *summaries]
    gone = list[ProposalQuestion]()

    def standing() -> Iterator[ProposalQuestion]:
        for question in questions:
            if _still_has_quotes(facts, question):
                yield question
            else:
                gone.append(question)

    before = database.value("SELECT coalesce(max(id), 0) FROM proposals")
    asked = inbox.propose_all(standing(), actor, most=most) if questions else []
    against = sum(pair.how == CONTRADICTS for pair in pairs)
    return DuplicatesResult(
        tuple(sorted({number for number in asked if number > before})),
        len(pairs) - against,
        against,
        len(overruled),
        len(clusters),
        len(known),
        len(questions) - len(gone) - len(asked),
        near is not None,
    )


def find_similar_pairs(
    database: Database, known: Sequence[Fact]
) -> tuple[list[FactPair], dict[tuple[int, int], float] | None]:
    """Return (the pairs of facts that repeat or contradict each other, the most certain first; the calibrated
    similarity of facts that are near each other by meaning, by their indexes in `known`, or None without
    vectors of a model)."""
    apart = [parse_sentence(fact.fact) for fact in known]
    near = _find_near_pairs(database, known)
    alike = {pair for pair, meaning in (near or {}).items() if meaning >= MIN_COMPARED}
    frames = Counter(frozenset(parsed.words) for parsed in apart)
    found = []
    for one, other in alike.union(find_pairs_by_words([{*parsed.words, *parsed.values} for parsed in apart])):
        likeness = text_ratio(apart[one].plain, apart[other].plain) / 100
        meaning = None if near is None else near.get((one, other), 0.0)
        how = compare_sentences(apart[one], apart[other], likeness, meaning)
        if (
            how == SIMILAR_STATEMENT
            and likeness < CLOSE_RATIO
            and not _may_be_one_thing(known[one], known[other], meaning or 0.0)
        ):
            continue
        listed = (
            frozenset(apart[one].words) == frozenset(apart[other].words) and frames[frozenset(apart[one].words)]
        )
        if how != NO_RELATION and not (how == CONTRADICTS and listed >= MIN_SERIES):
            score = 1.0 if how == SAME_STATEMENT else max(likeness, meaning or 0.0)
            found.append(FactPair(known[one], known[other], how, round(score, 3)))
    found.sort(key=lambda pair: (-pair.score, pair.one.id, pair.other.id))
    return found, near


def _may_be_one_thing(one: Fact, other: Fact, meaning: float) -> bool:
    """Return whether two facts that a model finds the same may be: in one language they share a word other than a day
    or a number, which a model overrates; or their similarity is BEYOND_DOUBT."""
    if meaning >= BEYOND_DOUBT or is_other_language(detect_language(one.fact), detect_language(other.fact)):
        return True
    first, second = (
        {word[:IDENTIFYING_LETTERS] for word in parse_sentence(fact.fact).words} for fact in (one, other)
    )
    return bool(first & second)


def find_similar_facts(
    database: Database, facts: Facts, text: str, without: Iterable[int] = ()
) -> list[SimilarFact]:
    """Return the active facts that repeat or contradict a text, the most certain first: found by its words, without a
    model, in a millisecond or two."""
    parsed = parse_sentence(text)
    left_out = set(without)
    found = []
    for fact in facts.get_many(
        [number for number in find_facts_sharing_words(database, parsed) if number not in left_out]
    ):
        if fact.status != "active":
            continue
        other = parse_sentence(fact.fact)
        likeness = text_ratio(parsed.plain, other.plain) / 100
        how = compare_sentences(parsed, other, likeness)
        if how != NO_RELATION:
            found.append(SimilarFact(fact, how, round(1.0 if how == SAME_STATEMENT else likeness, 3)))
    return sorted(found, key=lambda like: (-like.score, like.fact.id))


def question_about_new_fact(database: Database, facts: Facts, fact: Fact) -> ProposalQuestion | None:
    """Return the proposal to make about a new fact if it repeats or contradicts another fact: about the most
    certain of them. By its words a member of a list contradicts no other member."""
    likes = find_similar_facts(database, facts, fact.fact, [fact.id])
    words = frozenset(parse_sentence(fact.fact).words)
    listed = [
        like
        for like in likes
        if like.how == CONTRADICTS and words == frozenset(parse_sentence(like.fact.fact).words)
    ]
    if len(listed) + 1 >= MIN_SERIES:
        likes = [like for like in likes if like not in listed]
    return _question_about_pair(FactPair(likes[0].fact, fact, likes[0].how, likes[0].score)) if likes else None


def find_facts_sharing_words(database: Database, parsed: ParsedSentence) -> list[int]:
    """Return the facts that share words with a text, weighted by their rarity."""
    words = _search_words([parsed]) or [word for word in dict.fromkeys(parsed.plain.split()) if word.isalnum()]
    return _find_sharing_records(database, 0, words, FACT_CANDIDATES)


def _find_near_pairs(database: Database, known: Sequence[Fact]) -> dict[tuple[int, int], float] | None:
    """Return the calibrated similarity of facts that are near each other by meaning, by their indexes in `known`;
    None without vectors of a model."""
    model = find_serving_model(database)
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
    vectors, one = make_comparable(database, model, stored, [known[place].fact for place in places])
    return {
        (places[first], places[second]): min(1.0, product / one)
        for first, second, product in find_pairs_by_vectors(vectors, MIN_RELATED * one)
    }


def make_comparable(
    database: Database, model: EmbeddingModel, stored: Matrix, texts: Sequence[str]
) -> tuple[Matrix, float]:
    """Return (stored vectors as they can be compared with each other, the product that is 1 on the calibrated scale).

    In the memory's own space where it has one: there both languages coincide, and what all facts of a project have in
    common does not count. Of the demo's 6,900 pairs the three that say the same rank first, fourth and fifth; by plain
    vectors one of them is among the first fifty.
    """
    own = load_vector_space(database, model.slot, model.fingerprint, model.dimension)
    if own is None:
        return centre_vectors(stored, model), paraphrase_product(model)
    return own.move_vectors(stored, [detect_language(text) for text in texts]), OWN_SPACE_PRODUCT


def _keep_most_certain(pairs: Iterable[FactPair]) -> list[FactPair]:
    """Keep the most certain pairs of each fact: five that say the same are not ten proposals."""
    often = Counter[int]()
    chosen = []
    for pair in pairs:
        if max(often[pair.one.id], often[pair.other.id]) < MOST_PER_FACT:
            chosen.append(pair)
            often.update((pair.one.id, pair.other.id))
    return chosen


def _question_about_pair(pair: FactPair) -> ProposalQuestion:
    """Return the proposal to make about two facts."""
    evidence = _quote_facts((pair.one, pair.other))
    if pair.how == CONTRADICTS:
        old, new = sorted((pair.one, pair.other), key=lambda fact: (fact.pinned, fact.last_confirmed_at, fact.id))
        return ProposalQuestion(
            "supersede",
            {"fact": new.fact, "others": [new.id]},
            old.id,
            evidence,
            DUPLICATES_ORIGIN,
            f"{new.citation}, confirmed later, contradicts {old.citation}.",
        )
    keep, other = sorted((pair.one, pair.other), key=lambda fact: (not fact.pinned, -len(fact.fact), fact.id))
    same = "say the same" if pair.how == SAME_STATEMENT else f"look like the same, {pair.score:.2f} of 1"
    return ProposalQuestion(
        "merge", {"fact": keep.fact, "others": [other.id]}, keep.id, evidence, DUPLICATES_ORIGIN,
        f"{keep.citation} and {other.citation} {same}.",
    )  # fmt: skip


def _question_about_overruled(fact: Fact, decision: Decision) -> ProposalQuestion:
    """Return the proposal to forget a fact that contradicts a later decision."""
    evidence = (*_quote_facts([fact]), {"citation": decision.citation, "quote": decision.title})
    who = "" if decision.origin == PERSON_ORIGIN else f" by {decision.origin}"
    reason = f"{fact.citation} contradicts {decision.citation}, which was decided later{who}."
    return ProposalQuestion("forget", {}, fact.id, evidence, DUPLICATES_ORIGIN, reason)


def _still_has_quotes(facts: Facts, question: ProposalQuestion) -> bool:
    """Return whether the facts of a proposal still have the text that it quotes."""
    numbers = [question.target, *question.change.get("others", ())]
    quoted = {one["citation"]: one["quote"] for one in question.evidence}
    now = {fact.id: fact.fact for fact in facts.get_many(numbers) if fact.status == "active"}
    return all(now.get(number) == quoted[cite("fact", number)] for number in numbers)


def _quote_facts(facts: Iterable[Fact]) -> tuple[dict[str, str], ...]:
    """Return facts as evidence."""
    return tuple({"citation": fact.citation, "quote": fact.fact} for fact in facts)


def _cluster_old_facts(database: Database, known: Sequence[Fact], now: str) -> list[list[Fact]]:
    """Group old facts that are about one thing, without those that were opened more than MOST_OPENED times."""
    opened = dict(database.rows("SELECT key, count FROM accesses WHERE count > ?", (MOST_OPENED,)))
    limit = days_before(now, OLD_FACT_DAYS)
    old = [
        fact
        for fact in known
        if not fact.pinned and fact.last_confirmed_at < limit and pack_key("fact", fact.id) not in opened
    ]
    closest = sorted(_find_related_pairs(database, old), key=lambda pair: (-pair[2], pair[0], pair[1]))
    found = group_connected(
        ((one, other) for one, other, _ in closest if old[one].domain == old[other].domain), MAX_CLUSTER
    )
    return [[old[place] for place in group] for group in found if len(group) >= MIN_CLUSTER]


def _find_related_pairs(database: Database, old: Sequence[Fact]) -> list[tuple[int, int, float]]:
    """Return the pairs of these facts that are about one thing: by meaning, else by their first word."""
    near = _find_near_pairs(database, old)
    if near is not None:
        return [(one, other, meaning) for (one, other), meaning in near.items() if meaning >= MIN_RELATED]
    subjects: dict[str, list[int]] = {}
    for place, fact in enumerate(old):
        if words := parse_sentence(fact.fact).words:
            subjects.setdefault(words[0], []).append(place)
    return [(one, other, MIN_RELATED) for places in subjects.values() for one, other in pairwise(places)]


def _question_about_cluster(
    cluster: Sequence[Fact], summary: SummarizeFacts, counted: bool
) -> ProposalQuestion | None:
    """Return the proposal to replace several facts by one sentence; None if they cannot be summarised."""
    text = summary([fact.fact for fact in cluster])
    if not text:
        return None
    first, *rest = cluster
    change: dict[str, Any] = {"fact": text, "domain": first.domain, "others": [fact.id for fact in rest]}
    cited = ", ".join(cite("fact", fact.id) for fact in cluster)
    opened = (
        f", opened {'once' if MOST_OPENED == 1 else f'{MOST_OPENED} times'} at most since then" if counted else ""
    )
    reason = f"{len(cluster)} facts about one thing, not confirmed for {OLD_FACT_DAYS} days{opened}: {cited}."
    return ProposalQuestion("merge", change, first.id, _quote_facts(cluster), DUPLICATES_ORIGIN, reason)


# Compare the facts that a person has just remembered with the others; propose what to do with similar ones.
#
# The fact is written at once, and compared soon after (by the application within seconds, else by the next command that
# reads), so that `remember` does not wait. By words alone, as `find_similar_facts`, a millisecond or two for each.

# facts that are compared before the results are written
COMPARE_BATCH = 20


def has_uncompared_facts(database: Database) -> bool:
    """Return whether a fact waits to be compared; cheap."""
    return not database.read_only and bool(database.value("SELECT 1 FROM uncompared LIMIT 1"))


def compare_new_facts(
    database: Database, facts: Facts, inbox: Inbox, cancelled: Callable[[], bool] = lambda: False
) -> list[int]:
    """Compare the facts that wait to be compared; return the ids of new proposals, whose origin is
    DUPLICATES_ORIGIN. A proposal is made once, by this check or by a pass over all facts, whatever the
    decision. Raise StorageError."""
    asked: list[int] = []
    while not cancelled() and has_uncompared_facts(database):
        asked += _compare_batch(database, facts, inbox)
    return asked


def mark_all_compared(database: Database) -> None:
    """Mark all facts remembered until now as compared."""
    with database.write("agent", "compared") as write:
        write.execute("DELETE FROM uncompared")


def _compare_batch(database: Database, facts: Facts, inbox: Inbox) -> list[int]:
    waiting = database.column("SELECT fact FROM uncompared ORDER BY fact LIMIT ?", (COMPARE_BATCH,))
    active = [fact for fact in facts.get_many(waiting) if fact.status == "active"]
    questions = {fact.id: question_about_new_fact(database, facts, fact) for fact in active}
    new: list[int] = []
    with database.write(DUPLICATES_ORIGIN, "propose") as write:
        for number in waiting:
            write.execute("DELETE FROM uncompared WHERE fact = ?", (number,))
            question = questions.get(number)
            # no similar fact
            if question is None:
                continue
            try:
                # not fresh if another process was first
                proposal, fresh = inbox.propose_within(write, question)
            except MemorandaError:
                # one of the two was deleted meanwhile
                continue
            new += [proposal] if fresh else []
        write.reason = proposing_reason(new)
    return new
