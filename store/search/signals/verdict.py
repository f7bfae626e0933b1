"""Whether any record is near a question at all, so that unrelated records are not shown as results."""

from math import log

from store.search.signals.ranking import Candidate, Question, by_keywords, held, indexed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Passage, Place

# Least sum of words and meaning for anything to count as near; of meaning alone; and where most of the nearest are in
# another language than the question: there words and cosines say little, and how far the best stands out much.
# `python -m bench.refusal` measures what is refused
LINE, LINE_MEANING, LINE_ACROSS = 0.62, 0.7, 0.46
# weights of the coverage, of the best similarity, and of that above the mean of the MANY nearest
BOTH, MEANING, ACROSS = (1.0, 0.75, 0.25), (0.0, 1.0, 0.5), (0.2, 0.0, 1.0)
MANY = 100
BRIEF, EASE = 6, 0.04  # each word fewer than BRIEF needs EASE less: two words have low similarities
INDEXED = 0.9  # share of the passages found by keywords that must have vectors for it to be said that nothing is near
LEAST, LEAST_ACROSS = 0.1, -0.5  # least similarity of a record that shares no word with the question
# and the least share of the best in the question's language: of 500 records, 200 are over LEAST by chance. To one or
# two words more are near by chance
OF_BEST, OF_BEST_SHORT, SHORT = 0.5, 2 / 3, 2


class Verdict:
    """The judgement of a result: `nothing`, whether nothing answers the question; `known`, whether any of its words
    occurs in the memory, or would in another language; and `near`, which records may be shown."""

    __slots__ = ("_across", "_least", "_scaled", "known", "nothing")

    def __init__(
        self,
        nothing: bool,
        known: bool,
        least: float,
        across: "Callable[[str], bool]",
        scaled: "Callable[[float], float]",
    ):
        self.nothing = nothing
        self.known = known
        self._least = least
        self._across = across
        self._scaled = scaled

    def near(self, record: Candidate) -> bool:
        """Return whether a record that shares no word with the question may be shown."""
        return any(
            one.cosine is not None
            and self._scaled(one.cosine) >= (LEAST_ACROSS if self._across(one.language) else self._least)
            for one in record.passages
        )


def judge(
    question: Question,
    words: int,
    order: "Sequence[Place]",
    stems: "Callable[[str], frozenset[str]]",
    scaled: "Callable[[float], float]",
) -> Verdict:
    """Judge the results of a question of `words` words. `stems` returns the stems of a text; `scaled` converts a cosine
    to calibrated similarity, below 0 for texts less similar than unrelated ones."""

    def across(language: str) -> bool:
        return bool(question.language and language and question.language != language)

    passages = [one for place in order for one in place.record.passages]
    found = by_keywords([place.record for place in order])
    measured = evidence(question, passages, found, stems, scaled, across)
    nothing = measured.nothing(words) and indexed(passages) >= INDEXED
    spoken = [one.cosine for one in passages if one.cosine is not None and not across(one.language)]
    least = near_from(scaled(max(spoken, default=-1.0)), words)
    return Verdict(nothing, bool(found) or measured.across, least, across, scaled)


def near_from(best: float, words: int) -> float:
    """Return the least similarity at which a record that shares no word with a question of `words` words counts as
    near, where the most similar in the question's language has `best`."""
    return max(LEAST, best * (OF_BEST_SHORT if words <= SHORT else OF_BEST))


class Evidence:
    """How near the results are to a question: `held` is the best coverage among the first passages by keywords, `near`
    the similarity of the best passage, `contrast` what that is above the mean of the MANY nearest: where all are as
    near, they are only in the same language. `number` of these were compared, at most MANY; `foreign` is the share of
    them in another language than the question's, 0 where that is unknown."""

    __slots__ = ("contrast", "foreign", "held", "near", "number")

    def __init__(self, held: float, near: float, contrast: float, number: int, foreign: float = 0.0) -> None:
        self.held = held
        self.near = near
        self.contrast = contrast
        self.number = number
        self.foreign = foreign

    @property
    def across(self) -> bool:
        """Whether most of the nearest are in another language."""
        return self.foreign > 0.5

    def nothing(self, words: int) -> bool:
        """Return whether no record is about a question of so many words. The best of few passages is less near by
        chance than the best of many."""
        share = log(max(1, self.number)) / log(MANY)
        ease = EASE * max(0, BRIEF - words)
        lines = ((LINE_ACROSS, ACROSS),) if self.across else ((LINE, BOTH), (LINE_MEANING, MEANING))
        return all(self._sum(weights) < line * share - ease for line, weights in lines)

    def _sum(self, weights: tuple[float, float, float]) -> float:
        held, near, contrast = weights
        return held * self.held + near * self.near + contrast * self.contrast


def evidence(
    question: Question,
    passages: "Sequence[Passage]",
    found: "Sequence[tuple[Passage, str]]",
    stems: "Callable[[str], frozenset[str]]",
    scaled: "Callable[[float], float]",
    across: "Callable[[str], bool]",
) -> Evidence:
    """Measure the passages, and the (passage, title) pairs `found` by keywords, the best first."""
    share = held(question, found, stems)
    seen = [(scaled(one.cosine), across(one.language)) for one in passages if one.cosine is not None]
    if not seen:
        return Evidence(share, 0.0, 0.0, 0)
    nearest = sorted(seen, reverse=True)[:MANY]
    number = len(nearest)
    contrast = nearest[0][0] - sum(value for value, _ in nearest) / number
    return Evidence(share, nearest[0][0], contrast, number, sum(other for _, other in nearest) / number)
