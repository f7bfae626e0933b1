"""Whether any record is near a question at all, so that unrelated records are not shown as results."""

from math import log

from store.search.signals.ranking import Candidate, Question, by_keywords, held, indexed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Passage, Place

# Least sum for anything to count as near: of what is in the question's language, and of what is in another. `python -m
# bench.refusal` measures what is refused
LINE, LINE_ACROSS = 0.58, 0.37
# weights of the coverage, of the best similarity, of how far that stands out, and of each word that no record has
OWN, ACROSS = (1.0, 0.75, 1.0, -0.06), (0.5, 0.5, 3.0, -0.03)
# each word fewer than BRIEF needs EASE less in the question's language, as few words have low similarities
BRIEF, EASE = 4, 0.08
# least share of the nearest in the memory's own space for a language to be judged: of fewer, the language was mistaken
SPOKEN = 0.1
MANY = 100  # nearest passages that the best is compared with
STEEP = 1.5  # of how the line falls with fewer: the best of few is less near by chance
PLAIN = 0.45  # how far similarities stand apart in the memory's own space, as a share of how far calibrated ones do
# passages of a memory from which a word that occurs nowhere says something of the question, and all
SAYING, SAYING_ALL = 50, 500
INDEXED = 0.9  # share of the passages found by keywords that must have vectors for it to be said that nothing is near
LEAST, LEAST_ACROSS = 0.1, -0.5  # least similarity of a record that shares no word with the question
# and the least share of the best in the question's language: of 500 records, 200 are over LEAST by chance. To one or
# two words more are near by chance
OF_BEST, OF_BEST_SHORT, SHORT = 0.5, 2 / 3, 2
# least contrast for anything to count as near a word or two that no record has: of a word alone the similarity says
# little, and to one that means nothing some records are as similar as to a synonym
OUTSTANDING = 0.18


class Verdict:
    """The judgement of a result: `nothing`, whether nothing answers the question; `known`, whether any of its words
    occurs in the memory, or would in another language, or the nearest are similar to it, if to little purpose; and
    `near`, which records may be shown."""

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
    typed: int,
) -> Verdict:
    """Judge the results of a question of `words` words, stop words left out, and of `typed` with them. `stems` returns
    the stems of a text; `scaled` converts a cosine to calibrated similarity, below 0 for texts less similar than
    unrelated ones."""

    def across(language: str) -> bool:
        return bool(question.language and language and question.language != language)

    passages = [one for place in order for one in place.record.passages]
    found = by_keywords([place.record for place in order])
    measured = evidence(question, passages, found, stems, scaled, across)
    refused = measured.nothing(words)
    chance = not found and typed <= SHORT and not measured.outstanding
    nothing = (refused or chance) and indexed(passages) >= INDEXED
    spoken = [one.cosine for one in passages if one.cosine is not None and not across(one.language)]
    least = near_from(scaled(max(spoken, default=-1.0)), words)
    return Verdict(nothing, bool(found) or measured.across or not refused, least, across, scaled)


def near_from(best: float, words: int) -> float:
    """Return the least similarity at which a record that shares no word with a question of `words` words counts as
    near, where the most similar in the question's language has `best`."""
    return max(LEAST, best * (OF_BEST_SHORT if words <= SHORT else OF_BEST))


def missed(words: int, passages: int) -> float:
    """Return what counts for `words` of a question that occur nowhere in a memory of so many passages, at most `words`:
    in a small one most words of any question do not."""
    share = log(max(1, passages) / SAYING) / log(SAYING_ALL / SAYING)
    return words * min(1.0, max(0.0, share))


class Evidence:
    """How near the results in one language are to a question: `held` is the best coverage among the first passages by
    keywords, `near` the calibrated similarity of the best passage, `contrast` how far the best in the memory's own
    space is above the mean of the MANY nearest: where all are as near, they are only in the same language. `number` of
    these were compared; `absent` is what counts for the words of the question that occur nowhere (see `missed`);
    `across` is whether the language is another than the question's. `other` is what was measured in the other language,
    where the memory speaks both."""

    __slots__ = ("absent", "across", "contrast", "held", "near", "number", "other")

    def __init__(
        self,
        held: float,
        near: float,
        contrast: float,
        number: int,
        absent: float = 0.0,
        across: bool = False,
        other: "Evidence | None" = None,
    ) -> None:
        self.held = held
        self.near = near
        self.contrast = contrast
        self.number = number
        self.absent = absent
        self.across = across
        self.other = other

    def nothing(self, words: int) -> bool:
        """Return whether no record is about a question of so many words, in either language."""
        least, weights, few = (LINE_ACROSS, ACROSS, 0) if self.across else (LINE, OWN, max(0, BRIEF - words))
        values = (self.held, self.near, self.contrast, self.absent)
        found = sum(weight * value for weight, value in zip(weights, values, strict=True))
        share: float = (log(max(1, self.number)) / log(MANY)) ** STEEP
        return found < least * share - EASE * few and (self.other is None or self.other.nothing(words))

    @property
    def outstanding(self) -> bool:
        """Whether the best stands out so far that the likeness to a single word is no chance. Among fewer than MANY it
        is not known."""
        return max(self.contrast, self.other.contrast if self.other else 0.0) >= OUTSTANDING or self.number < MANY


def evidence(
    question: Question,
    passages: "Sequence[Passage]",
    found: "Sequence[tuple[Passage, str]]",
    stems: "Callable[[str], frozenset[str]]",
    scaled: "Callable[[float], float]",
    across: "Callable[[str], bool]",
) -> Evidence:
    """Measure the passages, and the (passage, title) pairs `found` by keywords, the best first."""
    seen = [one for one in passages if one.cosine is not None]
    if not seen:
        return Evidence(held(question, found, stems), 0.0, 0.0, 0, question.absent)
    number = min(MANY, len(seen))
    nearest = sorted(((scaled(one.cosine or 0.0), across(one.language)) for one in seen), reverse=True)
    apart = sorted(((one.near or 0.0, across(one.language)) for one in seen), reverse=True)
    if all(one.near == one.cosine for one in seen):  # too few vectors for a space of their own
        apart = [(PLAIN * value, other) for value, other in nearest]
    mean = sum(value for value, _ in apart[:MANY]) / number
    foreign = sum(other for _, other in apart[:MANY]) / number
    judged: Evidence | None = None
    for side, spoken in ((True, foreign), (False, 1 - foreign)):
        if spoken >= SPOKEN:
            share = held(question, [pair for pair in found if across(pair[0].language) is side], stems)
            near = next(value for value, other in nearest if other is side)
            contrast = next(value for value, other in apart if other is side) - mean
            judged = Evidence(share, near, contrast, number, question.absent, side, judged)
    assert judged
    return judged
