"""Ranking of what keywords and vectors found: a weighted sum of few signals, each from 0 to 1.

Pure functions over plain values. The candidates are passages; a record has the score of its best passage. Weights are
round numbers, the same for short turns of talk and for an agent's long replies: on both sets of conversations the
optimum is flat. docs/search.md has the measurements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log

from store.base.clock import DAY_MS, to_ms
from store.text.language import (
    NamedDate,
    asks_when,
    detect_language,
    is_about_asker,
    is_other_language,
    is_standing_rule,
    states_time,
)
from store.text.words import load_words, normalize_text

# What a question asks for, by its words: several things, the latest or the first, a number or a time.

_DURATION_WORDS = "seconds|minutes|hours|days|weeks|months|years|segundos|minutos|horas|días|semanas|meses|años"
_SEVERAL_PATTERN = re.compile(
    rf"\b(?:how many|cuánt[oa]s)\b(?! (?:{_DURATION_WORDS})\b)"
    r"|\b(?:all|both|list|types|kinds|ways|tod[oa]s|cuáles)\b|\b(?:what|which) (?:are|were|have|has)\b"
    r"|\b(?:what|which) (?:\w+ )?\w+[^\Ws]s\b(?! (?:the|a)\b)|\bqué (?:\w+ )?\w+[^\Ws]s\b",
    re.IGNORECASE,
)
_PERIOD_WORDS = "week|month|year|night|summer|winter|spring|autumn|fall|weekend|few|couple|two|three|\\w+day"
_LATEST_PATTERN = re.compile(
    r"\b(?:current|currently|now|nowadays|latest|newest|updated|recent|recently|still"
    rf"|last(?! (?:{_PERIOD_WORDS}|\d)))\b"
    r"|\b(?:ahora|actual|actualmente|reciente|recientemente|todavía|aún|sigue|último|última)\b",
    re.IGNORECASE,
)
_FIRST_PATTERN = re.compile(
    r"\b(?:originally|initially|earliest|at first|(?:very )?first (?:time|mention\w*|sa(?:y|id)|t(?:ell|old))"
    r"|originalmente|inicialmente|al principio|(?:la )?primera vez)\b",
    re.IGNORECASE,
)
# may stand before a question
_GREETING_PATTERN = re.compile(r"\w+(?: \w+)? ?, +")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_MEASURE_PATTERN = re.compile(r"\b(?:how (?:many|much|long|often)|when|cuánt[oa]s?|cuándo)\b", re.IGNORECASE)


@cache
def _unmarked_question() -> re.Pattern[str]:
    """Return the pattern of a question without a question mark."""
    opens = "|".join(sorted(load_words("questions", "opens")))
    return re.compile(rf"(?:{opens})\b(?:[^.!:;]|\.(?=\w))*", re.IGNORECASE)


def asks_several(question: str) -> bool:
    """Return whether a question asks for several things, which may be recorded in several places."""
    return bool(_SEVERAL_PATTERN.search(question))


def latest_or_first(question: str) -> int:
    """Return 1 if a question asks for the latest of something, -1 for the first, else 0."""
    return bool(_LATEST_PATTERN.search(question)) - bool(_FIRST_PATTERN.search(question))


def is_only_question(text: str) -> bool:
    """Return whether a text is one question or several, and states nothing beside them."""
    sentences = [one.strip() for one in _SENTENCE_END.split(text) if one.strip()]
    return bool(sentences) and all(map(_is_question, sentences))


def is_about_questions(question: str) -> bool:
    """Return whether a question is about what was asked."""
    return not load_words("questions", "asked").isdisjoint(normalize_text(question).split())


def _is_question(sentence: str) -> bool:
    """Tell whether a sentence is a question: by its mark, or by the word that it begins with."""
    if not sentence.endswith("?"):
        return bool(_unmarked_question().fullmatch(sentence))
    greeting = _GREETING_PATTERN.match(sentence)
    rest = sentence[greeting.end() :] if greeting else sentence
    return rest[0] == "¿" or ", " not in rest or rest.split()[0].lower() in load_words("questions", "begin")


# Diversity by maximal marginal relevance (Carbonell and Goldstein 1998): keeps hits from repeating each other.


def select_diverse(
    scores: Sequence[float], alike: Callable[[int, int], float], weight: float, most: int
) -> list[int]:
    """Return the indices of the `most` best, each chosen for `weight` × its score − (1 − `weight`) × its similarity to
    the most similar one chosen before. `scores` are from 0 to 1, best first; `alike(a, b)` gives 0 to 1."""
    if weight >= 1:
        return list(range(min(most, len(scores))))
    left = list(range(len(scores)))
    closest = [0.0] * len(scores)
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda place: weight * scores[place] - (1 - weight) * closest[place])
        left.remove(best)
        chosen.append(best)
        for place in left:
            closest[place] = max(closest[place], alike(best, place))
    return chosen


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common (Jaccard), for passages without vectors."""
    return len(one & other) / len(one | other) if one and other else 0.0


# passages of each signal
RANKING_POOL = 200
SIGNAL_WEIGHTS = {
    # bm25 as a share of the pool's best, less where that has few of the question's words (`trust`)
    "text": 1.0,
    # cosine in the memory's own space, the pool's last being 0 and its best 1
    "meaning": 0.5,
    # by a speaker whom the question names; by the person where the question says "I"
    "speaker": 0.7,
    # sum of `meaning` of the turn before and the one after
    "beside": 0.25,
    # best `meaning` in its session
    "session": 0.5,
    # says when something happened, where the question asks that
    "time": 0.5,
    # mean of `text` and `meaning` where the person says what is always to be done, or preferred
    "standing": 1.0,
    # dated in the month or year that the question names
    "date": 1.0,
    # halves with each HALF_LIFE_DAYS: decides between equals only
    "new": 0.05,
    # position in time among those on the same matter, where the latest or the first is asked for
    "order": 0.2,
    # share of questions in a short turn, where several are asked for; see `_demote_repeated_questions`
    "asks": -0.7,
    # for each record of its session ranked before it but FREE_PER_SESSION, where several are asked for
    "spread": -0.1,
}
# factor of bm25 in another language than the question's
OTHER_LANGUAGE_FACTOR = 0.2
# factor of bm25 where no passage has a word of the question; 1 where one has all of them
NO_WORD_FACTOR = 0.5
# of the LANGUAGE_SAMPLE nearest passages in each language: a memory speaks two
MIN_OTHER_LANGUAGE = 2
LANGUAGE_SAMPLE = 20
# best passages by keywords whose coverage is computed
COVERAGE_PASSAGES = 10
# what a memory says of now; the other kinds are what was said and done
STATED_KINDS = ("fact", "decision")
# factor of bm25 in a commit, which has no meaning in its session or beside it
COMMIT_TEXT_FACTOR = 1.25
# factor of bm25 and of meaning in code, unless code is asked for
CODE_FACTOR = 0.5
HALF_LIFE_DAYS = 30  # days
# characters up to which a turn can have the signals `standing`, `time` and `asks`
SHORT_TURN = 400
# share of the best text + meaning from which records count as on the same matter
SAME_MATTER_SHARE = 0.6
# share from which they are as near: of these the latest, or the first, is first
AS_NEAR_SHARE = 0.85
# records of one session that are not moved down
FREE_PER_SESSION = 1
# records that are spread over sessions; the first SPREAD_PLACES are filled so
SPREAD_RECORDS = 60
SPREAD_PLACES = 20
_SENTENCE_GAP = re.compile(r"(?<=[.!?…])\s+")


@dataclass(slots=True, eq=False, repr=False)
class CandidatePassage:
    """One passage that matched. `bm25` is 0 where keywords did not find it, `cosine` None where it has no vector;
    `near` is the cosine in the memory's own space (see `PendingQueryVector.set_space_cosines`), else `cosine`. The
    passage begins at character `start` of its record's text, on `line` (from 1). `tier` is 2 with the question word for
    word, 1 with all its words, else 0; `says` is whether it says anything by itself (see `is_small_talk`)."""

    id: int
    text: str
    bm25: float = 0.0
    cosine: float | None = None
    start: int = 0
    line: int = 1
    code: bool = False
    tier: int = 0
    says: bool = True
    near: float | None = field(init=False)
    _language: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.near = self.cosine

    @property
    def language(self) -> str:
        """The language of its text, detected at first use: most questions do not need it."""
        if self._language is None:
            self._language = detect_language(self.text)
        return self._language


@dataclass(slots=True, eq=False, repr=False)
class Candidate:
    """One record that matched, with its matching `passages`. `session` is the session or file it belongs to, `place`
    its number there; `at` a timestamp; `title` of a turn its speaker; `own` whether a person said it; `length` the
    characters of its text; `evergreen` whether its score does not decay with age."""

    key: int
    kind: str
    title: str
    at: str
    passages: list[CandidatePassage]
    session: str | None = None
    place: int = 0
    evergreen: bool = False
    own: bool = False
    length: int = 0

    @property
    def bm25(self) -> float:
        return max(one.bm25 for one in self.passages)

    @property
    def cosine(self) -> float | None:
        return max((one.cosine for one in self.passages if one.cosine is not None), default=None)

    @property
    def tier(self) -> int:
        return max(one.tier for one in self.passages)


@dataclass(slots=True, eq=False, repr=False)
class RankedRecord:
    """A record in the ranking: its `score`, the part of each signal in it (`why`), and the `passage` that is shown."""

    record: Candidate
    passage: CandidatePassage
    score: float
    why: dict[str, float]

    @property
    def sort_key(self) -> tuple[bool, int, int, float, str, int]:
        """The sort key, larger first: records with the query word for word, of these what the memory states before what
        was said and done, and that before what sums it up, and the shortest; then by score, newest of equals."""
        record, verbatim = self.record, self.record.tier > 1
        stated = (record.kind in STATED_KINDS) - (record.kind == "summary") if verbatim else 0
        return verbatim, stated, -record.length if verbatim else 0, self.score, record.at, record.key

    def add_signal(self, signal: str, value: float) -> None:
        """Add the part of one more signal to the score."""
        if value:
            self.why[signal] = self.why.get(signal, 0.0) + value
            self.score += value


class RankingQuestion:
    """A question, analysed once: `idf` maps each stem searched for to its rarity; `prefix` is the last stem if
    unfinished; `absent` is what counts for its words that no record has (see `weigh_absent_words`). `asks` is whether
    it is put as a question, and not words alone; `code` whether code is asked for, `several` whether several things
    are; `measure` whether a number or a time is; `end` is 1 where the latest is asked for, -1 where the first is, else
    0."""

    def __init__(
        self,
        text: str,
        idf: Mapping[str, float],
        prefix: str | None = None,
        code: bool = False,
        absent: float = 0.0,
    ) -> None:
        self.absent = absent
        self.asks = is_only_question(text)
        self.idf = idf
        self.prefix = prefix
        self.language = detect_language(text)
        self.dates = NamedDate(text)
        self.when = asks_when(text)
        self.own = is_about_asker(text)
        self.code = code
        self.several = asks_several(text)
        # which no instruction answers
        self.measure = bool(_MEASURE_PATTERN.search(text))
        self.end = latest_or_first(text)

    def coverage(self, words: frozenset[str]) -> float:
        """Return the share (0 to 1) of the question's total idf that these stems have."""
        whole = sum(self.idf.values())
        held = sum(weight for stem, weight in self.idf.items() if stem in words)
        prefix = self.prefix
        if (
            prefix
            and prefix in self.idf
            and prefix not in words
            and any(word.startswith(prefix) for word in words)
        ):
            held += self.idf[prefix]
        return held / whole if whole else 0.0


def best_coverage(
    question: RankingQuestion,
    found: Sequence[tuple[CandidatePassage, str]],
    stems: Callable[[str], frozenset[str]],
) -> float:
    """Return the best coverage (0 to 1) among the first of the (passage, title) pairs `found` by keywords."""
    return max(
        (question.coverage(stems(f"{title}\n{one.text}")) for one, title in found[:COVERAGE_PASSAGES]),
        default=0.0,
    )


def vector_share(passages: Sequence[CandidatePassage]) -> float:
    """Return the share (0 to 1) of the passages found by keywords that have a vector; 1 where there are none, or no
    vectors at all. While a memory is being indexed, those that have none would be taken for the least similar. What
    gets no vector, as code and what says nothing, does not count."""
    given = [one for one in passages if one.near is not None or (one.says and not one.code)]
    found = [one.near is not None for one in given if one.bm25 > 0]
    return sum(found) / len(found) if found and any(one.near is not None for one in passages) else 1.0


def keyword_passages(pool: Sequence[Candidate]) -> list[tuple[CandidatePassage, str]]:
    """Return the passages that keywords found, each with the title of its record, the best first."""
    found = [(one, record.title) for record in pool for one in record.passages if one.bm25 > 0]
    return sorted(found, key=lambda pair: -pair[0].bm25)


def compute_idf(total: int, count: int) -> float:
    """Return the inverse document frequency of a word in `count` of `total` passages, by the formula of FTS5."""
    return max(1e-6, log((total - count + 0.5) / (count + 0.5)))


def rank_candidates(
    question: RankingQuestion, pool: Sequence[Candidate], stems: Callable[[str], frozenset[str]]
) -> list[RankedRecord]:
    """Return the pool in order, best first. `stems` returns the stems of a text. Of records that only ask the question
    the first alone keeps its tier."""
    if not pool:
        return []
    every = [one for record in pool for one in record.passages]
    scaled = dict(zip((one.id for one in every), _scale_values([one.near for one in every]), strict=True))
    most = max(one.bm25 for one in every) or 1.0
    # the best by keywords may have one word of eight: what has the same meaning in other words is as likely the answer
    missing = 0.0
    meant = any(one.near is not None for one in every)
    if meant:
        missing = 1 - best_coverage(question, keyword_passages(pool), stems)
    two = _has_two_languages(question, every)
    trust = 1 - missing * (1.0 if two else NO_WORD_FACTOR)
    stand_in = min(trust, missing) if two else 0.0
    known = vector_share(every)
    usual = _usual_language(every) if question.language else ""
    moments = [to_ms(record.at) for record in pool]
    newest = max(moments)
    last = max(record.at for record in pool)
    named: dict[str, bool] = {}
    text: dict[int, float] = {}
    meaning: dict[int, float] = {}
    shown: dict[int, CandidatePassage] = {}
    near_session: dict[str, float] = {}
    for record in pool:
        best, by_text, by_meaning = -1.0, 0.0, 0.0
        for one in record.passages:
            left = 1.0 if question.code or not one.code else CODE_FACTOR
            words = (
                trust * left * one.bm25 / most * (COMMIT_TEXT_FACTOR if meant and record.kind == "commit" else 1.0)
            )
            near = left * scaled[one.id]
            if question.language and is_other_language(question.language, one.language or usual):
                # its meaning stands for the words that it cannot share
                words = max(OTHER_LANGUAGE_FACTOR * words, stand_in * near)
            near = known * near + (1 - known) * words
            by_text, by_meaning = max(by_text, words), max(by_meaning, near)
            value = one.tier + SIGNAL_WEIGHTS["text"] * words + SIGNAL_WEIGHTS["meaning"] * near
            if value > best:
                best, shown[record.key] = value, one
        text[record.key], meaning[record.key] = by_text, by_meaning
        if record.session is not None and by_meaning >= near_session.get(record.session, 0.0):
            near_session[record.session] = by_meaning
    places = {(record.session, record.place): record.key for record in pool}
    order = []
    for record, moment in zip(pool, moments, strict=True):
        key = record.key
        # a record without a session, such as a fact, uses its own meaning for its neighbours' and session's
        alone = 0.0 if record.kind == "commit" else meaning[key]
        beside = alone
        if record.session:
            around = (places.get((record.session, record.place + step)) for step in (-1, 1))
            beside = sum(meaning[other] for other in around if other is not None)
        # no less than a fact
        if record.kind == "document":
            beside = max(beside, meaning[key])
        turn = record.kind == "turn"
        if turn and record.title and record.title not in named:
            named[record.title] = not stems(record.title).isdisjoint(question.idf)
        brief = turn and record.length <= SHORT_TURN
        parts = {
            "text": text[key],
            "meaning": meaning[key],
            "speaker": float((question.own and record.own) or (turn and named.get(record.title, False))),
            "beside": beside,
            "session": near_session[record.session] if record.session is not None else alone,
            # nearly every long text names some time
            "time": float(question.when and brief and states_time(shown[key].text)),
            "standing": (text[key] + meaning[key]) / 2
            if brief and record.own and not question.measure and is_standing_rule(shown[key].text)
            else 0.0,
            "date": question.dates.fits(record.at, last),
            "new": 0.5 ** (max(0.0, (newest - moment) / DAY_MS) / HALF_LIFE_DAYS),
            "asks": _question_share(shown[key].text) if question.several and brief else 0.0,
        }
        why = {name: SIGNAL_WEIGHTS[name] * value for name, value in parts.items() if value}
        order.append(RankedRecord(record, shown[key], sum(why.values()), why))
    if question.end:
        _order_by_time(order, question.end)
    order.sort(key=lambda place: place.sort_key, reverse=True)
    if question.asks:
        _demote_repeated_questions(order)
    return _spread_sessions(order) if question.several else order


def _demote_repeated_questions(order: list[RankedRecord]) -> None:
    """Move down what only asks, where such a record has all words of the question: but the first of these, the others
    lose their tier."""
    asked = [place for place in order if only_asks_in(place.record, place.passage.text)]
    first = next((place for place in asked if place.record.tier), None)
    for place in asked if first else ():
        if place is not first:
            place.add_signal("asks", 0.0 if "asks" in place.why else SIGNAL_WEIGHTS["asks"])
            for one in place.record.passages:
                one.tier = 0
    order.sort(key=lambda place: place.sort_key, reverse=True)


def only_asks_in(record: Candidate, text: str) -> bool:
    """Return whether a record found by this text only asks. In a summary what is no sentence are names."""
    if record.length > SHORT_TURN or record.kind not in ("turn", "summary"):
        return False
    said = [line for line in text.splitlines() if line.endswith((".", "!", "?", "…"))]
    return is_only_question(text if record.kind == "turn" else "\n".join([record.title, *said]))


def _has_two_languages(question: RankingQuestion, passages: Sequence[CandidatePassage]) -> bool:
    """Return whether both languages are near a question. A word that no passage has is then as likely in an answer that
    has another word for it."""
    known = (one for one in passages if one.near is not None)
    near = sorted(known, key=lambda one: -(one.near or 0.0))[:LANGUAGE_SAMPLE]
    others = sum(is_other_language(question.language, one.language) for one in near)
    return MIN_OTHER_LANGUAGE <= others <= len(near) - MIN_OTHER_LANGUAGE


def _usual_language(passages: Sequence[CandidatePassage]) -> str:
    """Return the language of most passages, which is taken for that of those too short to tell; empty if unknown."""
    spoken = Counter(one.language for one in passages if one.language)
    return spoken.most_common(1)[0][0] if spoken else ""


def _question_share(text: str) -> float:
    """Return the share of a text's characters in questions. A sentence that ends with a question mark may state
    something first, and asks behind its last comma."""
    sentences = _SENTENCE_GAP.split(text.strip())
    asked = sum(len(one) - (one.rfind(", ") + 1) for one in sentences if one.endswith("?"))
    return asked / max(1, sum(map(len, sentences)))


def _order_by_time(order: Sequence[RankedRecord], end: int) -> None:
    """Add to the score of records on the same matter, from 0 to the whole weight in the order of time, reversed if
    `end` is below 0. Contradicting statements then come together. Records that are as near as the best exchange
    their scores, so that the newest is first."""
    close = [place.why.get("text", 0.0) + place.why.get("meaning", 0.0) for place in order]
    alike = [place for place, value in zip(order, close, strict=True) if value >= SAME_MATTER_SHARE * max(close)]
    moments = sorted({place.record.at for place in alike})
    for place in alike if len(moments) > 1 else ():
        share = moments.index(place.record.at) / (len(moments) - 1)
        place.add_signal("order", SIGNAL_WEIGHTS["order"] * (share if end > 0 else 1 - share))
    same = [place for place, value in zip(order, close, strict=True) if value >= AS_NEAR_SHARE * max(close)]
    scores = sorted((place.score for place in same), reverse=True)
    same.sort(key=lambda place: (place.record.at, place.score * end), reverse=end > 0)
    for place, score in zip(same, scores, strict=True):
        place.add_signal("order", score - place.score)


def _spread_sessions(order: list[RankedRecord]) -> list[RankedRecord]:
    """Move records down that share their session with better ones: the answers to one question are in several
    sessions."""
    first: list[RankedRecord] = []
    left = order[:SPREAD_RECORDS]
    taken: dict[str, int] = {}

    def penalty(place: RankedRecord) -> float:
        return SIGNAL_WEIGHTS["spread"] * max(0, taken.get(place.record.session or "", 0) - FREE_PER_SESSION)

    while left and len(first) < SPREAD_PLACES:
        best = max(left, key=lambda place: (place.record.tier > 1, place.score + penalty(place)))
        left.remove(best)
        best.add_signal("spread", penalty(best))
        first.append(best)
        if best.record.session:
            taken[best.record.session] = taken.get(best.record.session, 0) + 1
    return first + left + order[SPREAD_RECORDS:]


def weigh_candidates(pool: Sequence[Candidate], vector_weight: float, text_weight: float) -> list[RankedRecord]:
    """Return the pool ordered by the plain weighted sum of both signals, each scaled over the pool. The formula 1/(1 +
    rank) would be 1 for every hit of FTS5, whose ranks are negative."""
    every = [one for record in pool for one in record.passages]
    scaled = dict(zip((one.id for one in every), _scale_values([one.cosine for one in every]), strict=True))
    most = max((one.bm25 for one in every), default=0.0) or 1.0
    order = []
    for record in pool:
        best = max(record.passages, key=lambda one: text_weight * one.bm25 / most + vector_weight * scaled[one.id])
        why = {"text": text_weight * best.bm25 / most, "meaning": vector_weight * scaled[best.id]}
        order.append(RankedRecord(record, best, sum(why.values()), why))
    order.sort(key=lambda place: (place.score, place.record.at, place.record.key), reverse=True)
    return order


def _scale_values(values: Sequence[float | None]) -> list[float]:
    """Scale values so that the best is 1 and the POOLth best 0; None becomes 0."""
    known = sorted((value for value in values if value is not None), reverse=True)
    if not known:
        return [0.0] * len(values)
    high, low = known[0], known[:RANKING_POOL][-1]
    if high <= low:
        return [float(value is not None) for value in values]
    return [0.0 if value is None else min(1.0, max(0.0, (value - low) / (high - low))) for value in values]


# Exponential decay, for those who set a half-life; the default recency is a signal of `ranking`.
#
# A half-life of 30 days lowers R@10 from 72 to 36: old answers are still answers.


def decay_scores(order: Sequence[RankedRecord], now: str, half_life: int) -> list[RankedRecord]:
    """Return the order with every score halved for each `half_life` days of age, best first; evergreen records keep
    theirs."""
    end = to_ms(now)
    result = []
    for place in order:
        record = place.record
        days = max(0.0, (end - to_ms(record.at)) / DAY_MS)
        score = place.score * (1.0 if record.evergreen else 0.5 ** (days / half_life))
        result.append(RankedRecord(record, place.passage, score, {**place.why, "age": score - place.score}))
    return sorted(result, key=lambda place: place.score, reverse=True)


# Whether any record is near a question at all, so that unrelated records are not shown as results.

# Least sum for anything to count as near: of what is in the question's language, and of what is in another. `python -m
# bench.refusal` measures what is refused
NEAR_LINE, NEAR_LINE_ACROSS = 0.58, 0.37
# weights of the coverage, of the best similarity, of how far that stands out, and of each word that no record has
OWN_WEIGHTS, ACROSS_WEIGHTS = (1.0, 0.75, 1.0, -0.06), (0.5, 0.5, 3.0, -0.03)
# each word fewer than FEW_QUESTION_WORDS needs FEW_WORDS_EASE less in the question's language, as few words have low
# similarities
FEW_QUESTION_WORDS, FEW_WORDS_EASE = 4, 0.08
# least share of the nearest in the memory's own space for a language to be judged: of fewer, the language was mistaken
MIN_LANGUAGE_SHARE = 0.1
# nearest passages that the best is compared with
COMPARED_PASSAGES = 100
# of how the line falls with fewer: the best of few is less near by chance
LINE_STEEPNESS = 1.5
# how far similarities stand apart in the memory's own space, as a share of how far calibrated ones do
PLAIN_SPREAD = 0.45
# passages of a memory from which a word that occurs nowhere says something of the question, and all
ABSENCE_COUNTS_FROM, ABSENCE_COUNTS_FULLY = 50, 500
# share of the passages found by keywords that must have vectors for it to be said that nothing is near
MIN_VECTOR_SHARE = 0.9
# least similarity of a record that shares no word with the question
MIN_NEAR_SIMILARITY, MIN_SIMILARITY_ACROSS = 0.1, -0.5
# and the least share of the best in the question's language: of 500 records, 200 are over MIN_NEAR_SIMILARITY by
# chance. To one or two words more are near by chance
MIN_SHARE_OF_BEST, MIN_SHARE_OF_BEST_SHORT, SHORT_QUESTION = 0.5, 2 / 3, 2
# least contrast for anything to count as near a word or two that no record has: of a word alone the similarity says
# little, and to one that means nothing some records are as similar as to a synonym
MIN_CONTRAST = 0.18


@dataclass(slots=True, eq=False, repr=False)
class NearnessVerdict:
    """The judgement of a result: `nothing`, whether nothing answers the question; `known`, whether any of its words
    occurs in the memory, or would in another language, or the nearest are similar to it, if to little purpose; and
    `near`, which records may be shown."""

    nothing: bool
    known: bool
    _least: float
    _across: Callable[[str], bool]
    _scaled: Callable[[float], float]

    def may_show(self, record: Candidate) -> bool:
        """Return whether a record that shares no word with the question may be shown."""
        return any(
            one.cosine is not None
            and self._scaled(one.cosine) >= (MIN_SIMILARITY_ACROSS if self._across(one.language) else self._least)
            for one in record.passages
        )


def judge_nearness(
    question: RankingQuestion,
    words: int,
    order: Sequence[RankedRecord],
    stems: Callable[[str], frozenset[str]],
    scaled: Callable[[float], float],
    typed: int,
) -> NearnessVerdict:
    """Judge the results of a question of `words` words, stop words left out, and of `typed` with them. `stems` returns
    the stems of a text; `scaled` converts a cosine to calibrated similarity, below 0 for texts less similar than
    unrelated ones."""

    def across(language: str) -> bool:
        return bool(question.language and language and question.language != language)

    passages = [one for place in order for one in place.record.passages]
    found = keyword_passages([place.record for place in order])
    measured = measure_nearness(question, passages, found, stems, scaled, across)
    refused = measured.finds_nothing(words)
    chance = not found and typed <= SHORT_QUESTION and not measured.is_outstanding
    nothing = (refused or chance) and vector_share(passages) >= MIN_VECTOR_SHARE
    spoken = [one.cosine for one in passages if one.cosine is not None and not across(one.language)]
    least = compute_near_line(scaled(max(spoken, default=-1.0)), words)
    return NearnessVerdict(nothing, bool(found) or measured.across or not refused, least, across, scaled)


def compute_near_line(best: float, words: int) -> float:
    """Return the least similarity at which a record that shares no word with a question of `words` words counts as
    near, where the most similar in the question's language has `best`."""
    share = MIN_SHARE_OF_BEST_SHORT if words <= SHORT_QUESTION else MIN_SHARE_OF_BEST
    return max(MIN_NEAR_SIMILARITY, best * share)


def weigh_absent_words(words: int, passages: int) -> float:
    """Return what counts for `words` of a question that occur nowhere in a memory of so many passages, at most `words`:
    in a small one most words of any question do not."""
    share = log(max(1, passages) / ABSENCE_COUNTS_FROM) / log(ABSENCE_COUNTS_FULLY / ABSENCE_COUNTS_FROM)
    return words * min(1.0, max(0.0, share))


@dataclass(slots=True, eq=False, repr=False)
class NearnessEvidence:
    """How near the results in one language are to a question: `held` is the best coverage among the first passages by
    keywords, `near` the calibrated similarity of the best passage, `contrast` how far the best in the memory's own
    space is above the mean of the COMPARED_PASSAGES nearest: where all are as near, they are only in the same language.
    `number` of these were compared; `absent` is what counts for the words of the question that occur nowhere (see
    `weigh_absent_words`); `across` is whether the language is another than the question's. `other` is what was measured
    in the other language, where the memory speaks both."""

    held: float
    near: float
    contrast: float
    number: int
    absent: float = 0.0
    across: bool = False
    other: NearnessEvidence | None = None

    def finds_nothing(self, words: int) -> bool:
        """Return whether no record is about a question of so many words, in either language."""
        least, weights, few = NEAR_LINE, OWN_WEIGHTS, max(0, FEW_QUESTION_WORDS - words)
        if self.across:
            least, weights, few = NEAR_LINE_ACROSS, ACROSS_WEIGHTS, 0
        values = (self.held, self.near, self.contrast, self.absent)
        found = sum(weight * value for weight, value in zip(weights, values, strict=True))
        share: float = (log(max(1, self.number)) / log(COMPARED_PASSAGES)) ** LINE_STEEPNESS
        return found < least * share - FEW_WORDS_EASE * few and (
            self.other is None or self.other.finds_nothing(words)
        )

    @property
    def is_outstanding(self) -> bool:
        """Whether the best stands out so far that the likeness to a single word is no chance. Among fewer than
        COMPARED_PASSAGES it is not known."""
        best = max(self.contrast, self.other.contrast if self.other else 0.0)
        return best >= MIN_CONTRAST or self.number < COMPARED_PASSAGES


def measure_nearness(
    question: RankingQuestion,
    passages: Sequence[CandidatePassage],
    found: Sequence[tuple[CandidatePassage, str]],
    stems: Callable[[str], frozenset[str]],
    scaled: Callable[[float], float],
    across: Callable[[str], bool],
) -> NearnessEvidence:
    """Measure the passages, and the (passage, title) pairs `found` by keywords, the best first."""
    seen = [one for one in passages if one.cosine is not None]
    if not seen:
        return NearnessEvidence(best_coverage(question, found, stems), 0.0, 0.0, 0, question.absent)
    number = min(COMPARED_PASSAGES, len(seen))
    nearest = sorted(((scaled(one.cosine or 0.0), across(one.language)) for one in seen), reverse=True)
    apart = sorted(((one.near or 0.0, across(one.language)) for one in seen), reverse=True)
    # too few vectors for a space of their own
    if all(one.near == one.cosine for one in seen):
        apart = [(PLAIN_SPREAD * value, other) for value, other in nearest]
    mean = sum(value for value, _ in apart[:COMPARED_PASSAGES]) / number
    foreign = sum(other for _, other in apart[:COMPARED_PASSAGES]) / number
    judged: NearnessEvidence | None = None
    for side, spoken in ((True, foreign), (False, 1 - foreign)):
        if spoken >= MIN_LANGUAGE_SHARE:
            share = best_coverage(question, [pair for pair in found if across(pair[0].language) is side], stems)
            near = next(value for value, other in nearest if other is side)
            contrast = next(value for value, other in apart if other is side) - mean
            judged = NearnessEvidence(share, near, contrast, number, question.absent, side, judged)
    assert judged
    return judged
