"""Ranking of what keywords and vectors found: a weighted sum of few signals, each from 0 to 1.

Pure functions over plain values. The candidates are passages; a record has the score of its best passage. Weights are
round numbers, the same for short turns of talk and for an agent's long replies: on both sets of conversations the
optimum is flat. docs/search.md has the measurements.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

from store.base.clock import DAY_MS, to_ms
from store.search.query.question_kind import asked_end, asks_measure, asks_several, only_asks
from store.text.language import NamedDate, asks_when, first_person, foreign, language, standing, tells_time

POOL = 200  # passages of each signal
WEIGHTS = {
    "text": 1.0,  # bm25 as a share of the pool's best, less where that has few of the question's words (`trust`)
    "meaning": 0.5,  # cosine in the memory's own space, the pool's last being 0 and its best 1
    "speaker": 0.7,  # by a speaker whom the question names; by the person where the question says "I"
    "beside": 0.25,  # sum of `meaning` of the turn before and the one after
    "session": 0.5,  # best `meaning` in its session
    "time": 0.5,  # says when something happened, where the question asks that
    "standing": 1.0,  # mean of `text` and `meaning` where the person says what is always to be done, or preferred
    "date": 1.0,  # dated in the month or year that the question names
    "new": 0.05,  # halves with each HALF_LIFE: decides between equals only
    "order": 0.2,  # position in time among those on the same matter, where the latest or the first is asked for
    "asks": -0.7,  # share of a short turn that is questions, where several things are asked for (but see `_once`)
    "spread": -0.1,  # for each record of its session ranked before it except FREE, where several things are asked for
}
ACROSS = 0.2  # factor of bm25 in another language than the question's
FEW = 0.5  # factor of bm25 where no passage has a word of the question; 1 where one has all of them
SEVERAL = 2  # passages of the NEAREST in each language from which a memory is taken to speak two
NEAREST = 20
COVERING = 10  # best passages by keywords whose coverage is computed
STATED = ("fact", "decision")  # what a memory says of now; the other kinds are what was said and done
ALONE = 1.25  # factor of bm25 in a commit, which has no meaning in its session or beside it
CODE = 0.5  # factor of bm25 and of meaning in code, unless code is asked for
HALF_LIFE = 30  # days
SHORT = 400  # characters up to which a turn can have the signals `standing`, `time` and `asks`
ABOUT = 0.6  # share of the best text + meaning from which records count as on the same matter
AS_NEAR = 0.85  # share from which they are as near: of these the latest, or the first, is first
FREE = 1  # records of one session that are not moved down
SPREAD = 60  # records that are spread over sessions; the first FIRST places are filled so
FIRST = 20
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


class Passage:
    """One passage that matched. `bm25` is 0 where keywords did not find it, `cosine` None where it has no vector;
    `near` is the cosine in the memory's own space (see `PendingQueryVector.move`), else `cosine`. The passage begins at
    character `start` of its record's text, on `line` (from 1). `tier` is 2 with the question word for word, 1 with all
    its words, else 0; `says` is whether it says anything by itself (see `store.text.small_talk`)."""

    __slots__ = ("_language", "bm25", "code", "cosine", "id", "line", "near", "says", "start", "text", "tier")

    def __init__(
        self,
        id: int,
        text: str,
        bm25: float = 0.0,
        cosine: float | None = None,
        start: int = 0,
        line: int = 1,
        code: bool = False,
        tier: int = 0,
        says: bool = True,
    ) -> None:
        self.id = id
        self.text = text
        self.bm25 = bm25
        self.cosine = cosine
        self.near = cosine
        self.start = start
        self.line = line
        self.code = code
        self.tier = tier
        self.says = says

        self._language: str | None = None

    @property
    def language(self) -> str:
        """The language of its text, detected at first use: most questions do not need it."""
        if self._language is None:
            self._language = language(self.text)
        return self._language


class Candidate:
    """One record that matched, with its matching `passages`. `session` is the session or file it belongs to, `place`
    its number there; `at` a timestamp; `title` of a turn its speaker; `own` whether a person said it; `length` the
    characters of its text; `evergreen` whether its score does not decay with age."""

    __slots__ = ("at", "evergreen", "key", "kind", "length", "own", "passages", "place", "session", "title")

    def __init__(
        self,
        key: int,
        kind: str,
        title: str,
        at: str,
        passages: list[Passage],
        session: str | None = None,
        place: int = 0,
        evergreen: bool = False,
        own: bool = False,
        length: int = 0,
    ) -> None:
        self.key = key
        self.kind = kind
        self.title = title
        self.at = at
        self.passages = passages
        self.session = session
        self.place = place
        self.evergreen = bool(evergreen)
        self.own = bool(own)
        self.length = length

    @property
    def bm25(self) -> float:
        return max(one.bm25 for one in self.passages)

    @property
    def cosine(self) -> float | None:
        return max((one.cosine for one in self.passages if one.cosine is not None), default=None)

    @property
    def tier(self) -> int:
        return max(one.tier for one in self.passages)


class Place:
    """A record in the ranking: its `score`, the part of each signal in it (`why`), and the `passage` that is shown."""

    __slots__ = ("passage", "record", "score", "why")

    def __init__(self, record: Candidate, passage: Passage, score: float, why: dict[str, float]) -> None:
        self.record = record
        self.passage = passage
        self.score = score
        self.why = why

    @property
    def order(self) -> tuple[bool, int, int, float, str, int]:
        """The sort key, larger first: records with the query word for word, of these what the memory states before what
        was said and done, and that before what sums it up, and the shortest; then by score, newest of equals."""
        record, verbatim = self.record, self.record.tier > 1
        stated = (record.kind in STATED) - (record.kind == "summary") if verbatim else 0
        return verbatim, stated, -record.length if verbatim else 0, self.score, record.at, record.key

    def raised(self, signal: str, value: float) -> None:
        """Add the part of one more signal to the score."""
        if value:
            self.why[signal] = self.why.get(signal, 0.0) + value
            self.score += value


class Question:
    """A question, analysed once: `idf` maps each stem searched for to its rarity; `prefix` is the last stem if
    unfinished; `absent` is what counts for its words that no record has (see `verdict.missed`). `asks` is whether it is
    put as a question, and not words alone; `code` whether code is asked for, `several` whether several things are;
    `measure` whether a number or a time is; `end` is 1 where the latest is asked for, -1 where the first is, else 0."""

    __slots__ = (
        *("absent", "asks", "code", "dates", "end", "idf", "language", "measure", "own", "prefix", "several", "when"),
    )

    def __init__(
        self, text: str, idf: Mapping[str, float], prefix: str | None = None, code: bool = False, absent: float = 0.0
    ) -> None:
        self.absent = absent
        self.asks = only_asks(text)
        self.idf = idf
        self.prefix = prefix
        self.language = language(text)
        self.dates = NamedDate(text)
        self.when = asks_when(text)
        self.own = first_person(text)
        self.code = code
        self.several = asks_several(text)
        self.measure = asks_measure(text)
        self.end = asked_end(text)

    def coverage(self, words: frozenset[str]) -> float:
        """Return the share (0 to 1) of the question's total idf that these stems have."""
        whole = sum(self.idf.values())
        held = sum(weight for stem, weight in self.idf.items() if stem in words)
        prefix = self.prefix
        if prefix and prefix in self.idf and prefix not in words and any(word.startswith(prefix) for word in words):
            held += self.idf[prefix]
        return held / whole if whole else 0.0


def held(question: Question, found: Sequence[tuple[Passage, str]], stems: Callable[[str], frozenset[str]]) -> float:
    """Return the best coverage (0 to 1) among the first of the (passage, title) pairs `found` by keywords."""
    return max((question.coverage(stems(f"{title}\n{one.text}")) for one, title in found[:COVERING]), default=0.0)


def indexed(passages: Sequence[Passage]) -> float:
    """Return the share (0 to 1) of the passages found by keywords that have a vector; 1 where there are none, or no
    vectors at all. While a memory is being indexed, those that have none would be taken for the least similar. What
    gets no vector, as code and what says nothing, does not count."""
    given = [one for one in passages if one.near is not None or (one.says and not one.code)]
    found = [one.near is not None for one in given if one.bm25 > 0]
    return sum(found) / len(found) if found and any(one.near is not None for one in passages) else 1.0


def by_keywords(pool: Sequence[Candidate]) -> list[tuple[Passage, str]]:
    """Return the passages that keywords found, each with the title of its record, the best first."""
    found = [(one, record.title) for record in pool for one in record.passages if one.bm25 > 0]
    return sorted(found, key=lambda pair: -pair[0].bm25)


def idf(total: int, count: int) -> float:
    """Return the inverse document frequency of a word in `count` of `total` passages, by the formula of FTS5."""
    return max(1e-6, log((total - count + 0.5) / (count + 0.5)))


def rank(question: Question, pool: Sequence[Candidate], stems: Callable[[str], frozenset[str]]) -> list[Place]:
    """Return the pool in order, best first. `stems` returns the stems of a text. Of records that only ask the question
    the first alone keeps its tier."""
    if not pool:
        return []
    every = [one for record in pool for one in record.passages]
    scaled = dict(zip((one.id for one in every), _scaled([one.near for one in every]), strict=True))
    most = max(one.bm25 for one in every) or 1.0
    # the best by keywords may have one word of eight: what has the same meaning in other words is as likely the answer
    missing = 0.0
    meant = any(one.near is not None for one in every)
    if meant:
        missing = 1 - held(question, by_keywords(pool), stems)
    two = _in_two_languages(question, every)
    trust = 1 - missing * (1.0 if two else FEW)
    stand_in = min(trust, missing) if two else 0.0
    known = indexed(every)
    usual = _usual_language(every) if question.language else ""
    moments = [to_ms(record.at) for record in pool]
    newest = max(moments)
    last = max(record.at for record in pool)
    named: dict[str, bool] = {}
    text: dict[int, float] = {}
    meaning: dict[int, float] = {}
    shown: dict[int, Passage] = {}
    near_session: dict[str, float] = {}
    for record in pool:
        best, by_text, by_meaning = -1.0, 0.0, 0.0
        for one in record.passages:
            left = 1.0 if question.code or not one.code else CODE
            words = trust * left * one.bm25 / most * (ALONE if meant and record.kind == "commit" else 1.0)
            near = left * scaled[one.id]
            if question.language and foreign(question.language, one.language or usual):
                words = max(ACROSS * words, stand_in * near)  # its meaning stands for the words that it cannot share
            near = known * near + (1 - known) * words
            by_text = words if words > by_text else by_text
            by_meaning = near if near > by_meaning else by_meaning
            value = one.tier + WEIGHTS["text"] * words + WEIGHTS["meaning"] * near
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
        if record.kind == "document":  # no less than a fact
            beside = max(beside, meaning[key])
        turn = record.kind == "turn"
        if turn and record.title and record.title not in named:
            named[record.title] = not stems(record.title).isdisjoint(question.idf)
        brief = turn and record.length <= SHORT
        parts = {
            "text": text[key],
            "meaning": meaning[key],
            "speaker": float((question.own and record.own) or (turn and named.get(record.title, False))),
            "beside": beside,
            "session": near_session[record.session] if record.session is not None else alone,
            # nearly every long text names some time
            "time": float(question.when and brief and tells_time(shown[key].text)),
            "standing": (text[key] + meaning[key]) / 2
            if brief and record.own and not question.measure and standing(shown[key].text)
            else 0.0,
            "date": question.dates.fits(record.at, last),
            "new": 0.5 ** (max(0.0, (newest - moment) / DAY_MS) / HALF_LIFE),
            "asks": _asking(shown[key].text) if question.several and brief else 0.0,
        }
        why = {name: WEIGHTS[name] * value for name, value in parts.items() if value}
        order.append(Place(record, shown[key], sum(why.values()), why))
    if question.end:
        _by_time(order, question.end)
    order.sort(key=lambda place: place.order, reverse=True)
    if question.asks:
        _once(order)
    return _spread(order) if question.several else order


def _once(order: list[Place]) -> None:
    """Move down what only asks, where such a record has all words of the question: but the first of these, the others
    lose their tier."""
    asked = [place for place in order if asking(place.record, place.passage.text)]
    first = next((place for place in asked if place.record.tier), None)
    for place in asked if first else ():
        if place is not first:
            place.raised("asks", 0.0 if "asks" in place.why else WEIGHTS["asks"])
            for one in place.record.passages:
                one.tier = 0
    order.sort(key=lambda place: place.order, reverse=True)


def asking(record: Candidate, text: str) -> bool:
    """Return whether a record found by this text only asks. In a summary what is no sentence are names."""
    if record.length > SHORT or record.kind not in ("turn", "summary"):
        return False
    said = [line for line in text.splitlines() if line.endswith((".", "!", "?", "…"))]
    return only_asks(text if record.kind == "turn" else "\n".join([record.title, *said]))


def _in_two_languages(question: Question, passages: Sequence[Passage]) -> bool:
    """Return whether both languages are near a question. A word that no passage has is then as likely in an answer that
    has another word for it."""
    near = sorted((one for one in passages if one.near is not None), key=lambda one: -(one.near or 0.0))[:NEAREST]
    others = sum(foreign(question.language, one.language) for one in near)
    return SEVERAL <= others <= len(near) - SEVERAL


def _usual_language(passages: Sequence[Passage]) -> str:
    """Return the language of most passages, which is taken for that of those too short to tell; empty if unknown."""
    spoken = Counter(one.language for one in passages if one.language)
    return spoken.most_common(1)[0][0] if spoken else ""


def _asking(text: str) -> float:
    """Return the share of a text's characters in questions. A sentence that ends with a question mark may state
    something first, and asks behind its last comma."""
    sentences = _SENTENCE.split(text.strip())
    asked = sum(len(one) - (one.rfind(", ") + 1) for one in sentences if one.endswith("?"))
    return asked / max(1, sum(map(len, sentences)))


def _by_time(order: Sequence[Place], end: int) -> None:
    """Add to the score of records on the same matter, from 0 to the whole weight in the order of time, reversed if
    `end` is below 0. Contradicting statements then come together. Those that are as near exchange their scores,
    so that the newest is first."""
    close = [place.why.get("text", 0.0) + place.why.get("meaning", 0.0) for place in order]
    alike = [place for place, value in zip(order, close, strict=True) if value >= ABOUT * max(close)]
    moments = sorted({place.record.at for place in alike})
    for place in alike if len(moments) > 1 else ():
        share = moments.index(place.record.at) / (len(moments) - 1)
        place.raised("order", WEIGHTS["order"] * (share if end > 0 else 1 - share))
    same = [place for place, value in zip(order, close, strict=True) if value >= AS_NEAR * max(close)]
    scores = sorted((place.score for place in same), reverse=True)
    same.sort(key=lambda place: (place.record.at, place.score * end), reverse=end > 0)
    for place, score in zip(same, scores, strict=True):
        place.raised("order", score - place.score)


def _spread(order: list[Place]) -> list[Place]:
    """Move records down that share their session with better ones: the answers to one question are in several
    sessions."""
    first: list[Place] = []
    left = order[:SPREAD]
    taken: dict[str, int] = {}

    def penalty(place: Place) -> float:
        return WEIGHTS["spread"] * max(0, taken.get(place.record.session or "", 0) - FREE)

    while left and len(first) < FIRST:
        best = max(left, key=lambda place: (place.record.tier > 1, place.score + penalty(place)))
        left.remove(best)
        best.raised("spread", penalty(best))
        first.append(best)
        if best.record.session:
            taken[best.record.session] = taken.get(best.record.session, 0) + 1
    return first + left + order[SPREAD:]


def weigh(pool: Sequence[Candidate], vector_weight: float, text_weight: float) -> list[Place]:
    """Return the pool ordered by the plain weighted sum of both signals, each scaled over the pool. The formula 1/(1 +
    rank) would be 1 for every hit of FTS5, whose ranks are negative."""
    every = [one for record in pool for one in record.passages]
    scaled = dict(zip((one.id for one in every), _scaled([one.cosine for one in every]), strict=True))
    most = max((one.bm25 for one in every), default=0.0) or 1.0
    order = []
    for record in pool:
        best = max(record.passages, key=lambda one: text_weight * one.bm25 / most + vector_weight * scaled[one.id])
        why = {"text": text_weight * best.bm25 / most, "meaning": vector_weight * scaled[best.id]}
        order.append(Place(record, best, sum(why.values()), why))
    order.sort(key=lambda place: (place.score, place.record.at, place.record.key), reverse=True)
    return order


def _scaled(values: Sequence[float | None]) -> list[float]:
    """Scale values so that the best is 1 and the POOLth best 0; None becomes 0."""
    known = sorted((value for value in values if value is not None), reverse=True)
    if not known:
        return [0.0] * len(values)
    high, low = known[0], known[:POOL][-1]
    if high <= low:
        return [float(value is not None) for value in values]
    return [0.0 if value is None else min(1.0, max(0.0, (value - low) / (high - low))) for value in values]
