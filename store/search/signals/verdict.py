"""Whether any record is near a question at all, so that unrelated records are not shown as results."""

from math import log

from store.search.signals.ranking import Candidate, Question, by_keywords, held, indexed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Passage, Place

# Least `Evidence.total` for anything to count as near. `python -m bench.refusal` chooses it: with each set left out,
# the others lose at most one in fifty of their answerable questions; across languages (XQuAD) one in a hundred and
# fifty, as vectors alone would find more than the search otherwise
LINE = 0.67
SPOKEN = 0.06  # added to it where all of the nearest are in the language of the question, less where some are not
BRIEF, EASE = 6, 0.04  # each word fewer than BRIEF needs EASE less: two words have low similarities
# added to the similarity of a passage in another language, as cosines are lower there, where all of the nearest are in
# another; of it their share where some are
ACROSS = 0.65
INDEXED = 0.9  # share of the passages found by keywords that must have vectors for it to be said that nothing is near
HELD, CONTRAST = 0.75, 0.5  # weights of the coverage, and of the best similarity above the mean of the MANY nearest
MANY = 100
LEAST, LEAST_ACROSS = 0.1, -0.5  # least similarity of a record that shares no word with the question
# and the least share of the best in the question's language: of 500 records, 200 are over LEAST by chance. To one or
# two words more are near by chance
OF_BEST, OF_BEST_SHORT, SHORT = 0.5, 2 / 3, 2


class Verdict:
    """The judgement of a result: `nothing`, whether nothing answers the question; `known`, whether any of its words
    occurs in the memory; and `near`, which records may be shown."""

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
        self._least = max(LEAST, least)
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
    least = scaled(max(spoken, default=-1.0)) * (OF_BEST_SHORT if words <= SHORT else OF_BEST)
    return Verdict(nothing, bool(found), least, across, scaled)


class Evidence:
    """How near the results are to a question: `held` is the best coverage among the first passages by keywords, `near`
    the similarity of the best passage, ACROSS included, `contrast` its similarity above the mean of the MANY nearest:
    where all are as near, they are only in the same language. `number` of these were compared, at most MANY; `own` is
    the share of them in the question's language, 0 where that is unknown."""

    __slots__ = ("contrast", "held", "near", "number", "own")

    def __init__(self, held: float, near: float, contrast: float, number: int, own: float = 1.0) -> None:
        self.held = held
        self.near = near
        self.contrast = contrast
        self.number = number
        self.own = own

    @property
    def total(self) -> float:
        """The sum that is compared with LINE."""
        return HELD * self.held + self.near + CONTRAST * self.contrast

    def nothing(self, words: int) -> bool:
        """Return whether no record is about a question of so many words. The best of few passages is less near by
        chance than the best of many."""
        line = (LINE + SPOKEN * self.own) * log(max(1, self.number)) / log(MANY)
        return self.total < line - EASE * max(0, BRIEF - words)


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
    foreign = sum(other for _, other in nearest) / number
    near = max(value + (ACROSS * foreign if other else 0.0) for value, other in nearest)
    contrast = nearest[0][0] - sum(value for value, _ in nearest) / number
    return Evidence(share, near, contrast, number, 1 - foreign if question.language else 0.0)
