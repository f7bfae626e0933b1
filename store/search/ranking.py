"""The order of what keywords and meaning found: a weighted sum of signals, each from 0 to 1.

Pure functions over plain values. Weights were fitted on two conversations of LoCoMo and tried on the third, in turn;
signals that said nothing there once the others were in (windows as texts of their own, feedback from the first hits,
neighbours' vectors, the share of questions, proximity; boosted trees over all of them) are not here. The optimum is
flat: any one weight by .6 or 1.5 costs less than a point of R@10.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from store.base.clock import DAY_MS, to_ms
from store.text.language import NamedDate, asks_when, foreign, language, said_words, tells_time
from store.text.vocabulary import stop_words

POOL = 100  # candidates of each signal
WEIGHTS = {
    "text": 4.3,  # bm25, the best of the pool being 1
    "meaning": 1.5,  # cosine in the memory's own space, from the hundredth of the pool to its best
    "speaker": 2.3,  # said by somebody whom the question names
    "answer": 1.0,  # said right after a question that matches
    "date": 2.5,  # of the month, the year that the question names
    "time": 1.8,  # says when, where that is asked
    "session": 2.2,  # near something else that is near the question
    "substance": 2.3,  # what a turn that says little loses
    "new": 0.2,  # halves with each HALF_LIFE: tells equals apart, and never more
}
TRUSTED = 0.5  # coverage of the question by its best hit from which keywords are trusted wholly
ACROSS = 0.8  # share of its meaning that a hit in another language gets for its text
HALF_LIFE = 30  # days
COVERING = 30  # best hits by keywords whose coverage is looked at
MUCH = 24  # different words that are much to say
HALFWAY = 0.5  # of the way to the nearest: what shares no word with the question and is further off is not shown


class Candidate:
    """One row of the corpus that may be shown. `bm25` is 0 where no keyword found it, `cosine` None where no model
    looked; `near` is the cosine in the memory's own space, once it was moved there. `session` is what it belongs to,
    `place` its number there; `at` a timestamp; `title` a turn's speaker; `evergreen` what no age makes less worth."""

    __slots__ = (
        *("at", "bm25", "cosine", "evergreen", "key", "kind", "language", "near", "place", "session", "text", "title"),
    )

    def __init__(
        self,
        key: int,
        kind: str,
        title: str,
        text: str,
        at: str,
        bm25: float = 0.0,
        cosine: float | None = None,
        session: str | None = None,
        place: int = 0,
        evergreen: bool = False,
    ) -> None:
        self.key = key
        self.kind = kind
        self.title = title
        self.text = text
        self.at = at
        self.bm25 = bm25
        self.cosine = cosine
        self.near = cosine
        self.language = language(text)
        self.session = session
        self.place = place
        self.evergreen = bool(evergreen)


class Ranked:
    """The candidates best first, each with its score and what each signal gave to it; how much of the question the best
    of them covers; `strange` are the keys of those in another language than the question's."""

    __slots__ = ("coverage", "order", "strange")

    def __init__(
        self,
        order: list[tuple[Candidate, float, dict[str, float]]],
        coverage: float = 0.0,
        strange: frozenset[int] = frozenset(),
    ) -> None:
        self.order = order
        self.coverage = coverage
        self.strange = strange


class Question:
    """A question, looked at once: `stems` of the words that are looked for, with how rare each is (`idf`); the last of
    them may be unfinished (`prefix`)."""

    __slots__ = ("dates", "idf", "language", "prefix", "when")

    def __init__(self, text: str, idf: Mapping[str, float], prefix: str | None = None) -> None:
        self.idf = idf
        self.prefix = prefix
        self.language = language(text)
        self.dates = NamedDate(text)
        self.when = asks_when(text)

    def coverage(self, words: frozenset[str]) -> float:
        """The share of the question's information that these stems hold."""
        whole = sum(self.idf.values())
        held = sum(weight for stem, weight in self.idf.items() if stem in words)
        prefix = self.prefix
        if prefix and prefix in self.idf and prefix not in words and any(word.startswith(prefix) for word in words):
            held += self.idf[prefix]
        return held / whole if whole else 0.0


def idf(total: int, count: int) -> float:
    """How much a word tells that stands in `count` of `total` memories: FTS5's own measure."""
    return max(1e-6, math.log((total - count + 0.5) / (count + 0.5)))


def rank(question: Question, pool: Sequence[Candidate], stems: Callable[[str], frozenset[str]]) -> Ranked:
    """The pool, best first; of equals the newest. `stems` gives those of a text."""
    if not pool:
        return Ranked([])
    strange = [foreign(question.language, one.language) for one in pool]
    seen = [one.near is not None for one in pool]
    meaning = _scaled([one.near or 0.0 for one in pool], seen)
    covered = max(
        (
            question.coverage(stems(f"{one.title}\n{one.text}"))
            for one in sorted(pool, key=lambda one: -one.bm25)[:COVERING]
            if one.bm25 > 0
        ),
        default=0.0,
    )
    trust = min(1.0, covered / TRUSTED) if any(seen) else 1.0
    most = max(one.bm25 for one in pool) or 1.0
    text = [trust * one.bm25 / most for one in pool]
    text = [
        max(score, ACROSS * trust * near) if far else score
        for score, near, far in zip(text, meaning, strange, strict=True)
    ]
    places = {(one.session, one.place): i for i, one in enumerate(pool) if one.session is not None}
    near_session: dict[str, float] = {}
    for one, score in zip(pool, meaning, strict=True):
        if one.session is not None:
            near_session[one.session] = max(near_session.get(one.session, 0.0), score)
    newest = max(to_ms(one.at) for one in pool)
    order = []
    for i, one in enumerate(pool):
        before = places.get((one.session, one.place - 1)) if one.session is not None else None
        turn = one.kind == "turn"
        parts = {
            "text": text[i],
            "meaning": meaning[i],
            "speaker": float(turn and bool(one.title) and not stems(one.title).isdisjoint(question.idf)),
            "answer": text[before] if turn and before is not None and "?" in pool[before].text else 0.0,
            "date": question.dates.fits(one.at),
            "time": float(question.when and tells_time(one.text)),
            "session": near_session[one.session] if one.session is not None else 0.0,
            "substance": substance(one.text) - 1 if turn else 0.0,
            "new": 0.5 ** (max(0.0, (newest - to_ms(one.at)) / DAY_MS) / HALF_LIFE),
        }
        why = {name: WEIGHTS[name] * value for name, value in parts.items() if value}
        if one.session is None and meaning[i]:
            why["meaning"] += WEIGHTS["session"] * meaning[i]  # it belongs to nothing: its own nearness counts for both
        order.append((one, sum(why.values()), why))
    order = [row for row, near in zip(order, meaning, strict=True) if row[0].bm25 > 0 or near >= HALFWAY]
    order.sort(key=lambda ranked: (ranked[1], ranked[0].at, ranked[0].key), reverse=True)
    return Ranked(order, covered, frozenset(one.key for one, far in zip(pool, strange, strict=True) if far))


def weigh(pool: Sequence[Candidate], vector_weight: float, text_weight: float) -> Ranked:
    """The plain weighted sum, each signal scaled over the pool: its own formula, 1/(1 + rank),
    is 1 for every hit of FTS5, whose ranks are negative."""
    meaning = _scaled([one.cosine or 0.0 for one in pool], [one.cosine is not None for one in pool])
    most = max((one.bm25 for one in pool), default=0.0) or 1.0
    order = []
    for one, near in zip(pool, meaning, strict=True):
        why = {"text": text_weight * one.bm25 / most, "meaning": vector_weight * near}
        order.append((one, sum(why.values()), why))
    order.sort(key=lambda ranked: (ranked[1], ranked[0].at, ranked[0].key), reverse=True)
    return Ranked(order)


def substance(text: str) -> float:
    """How much a text says: its different words that are no stop words, in sentences that are no questions."""
    return min(1.0, math.log(1 + len(said_words(text) - stop_words("search"))) / math.log(1 + MUCH))


def _scaled(values: Sequence[float], seen: Sequence[bool]) -> list[float]:
    """From the POOLth best to the best as 0 to 1; what was not seen is 0."""
    known = sorted((value for value, is_seen in zip(values, seen, strict=True) if is_seen), reverse=True)
    if not known:
        return [0.0] * len(values)
    high, low = known[0], known[:POOL][-1]
    if high <= low:
        return [float(is_seen) for is_seen in seen]
    return [
        min(1.0, max(0.0, (value - low) / (high - low))) if is_seen else 0.0
        for value, is_seen in zip(values, seen, strict=True)
    ]
