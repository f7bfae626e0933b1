"""Whether any record is near a question at all, so that unrelated records are not shown as results."""

from store.search.signals.ranking import Candidate, Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Passage, Place

# Least `Evidence.total` for anything to count as near. Lower than `python -m bench.refusal` chooses: at 0.8 more
# questions about something else are refused, but also two of a hundred answerable ones across languages, so that
# vectors alone would find more
LINE = 0.55
BRIEF, EASE = 5, 0.2  # a question of fewer than BRIEF words needs EASE less: two words have low similarities
ACROSS = 0.55  # added to the similarity of a passage in another language, as cosines are lower there
CONTRAST = 0.5  # weight of the best passage's similarity above the mean of the MANY nearest
MANY = 100
# coverage and similarity, either of which is enough alone; the second pair where there are fewer passages than MANY
# and so no contrast
HELD, NEAR = 0.75, 0.5
HELD_FEW, NEAR_FEW = 0.5, 0.3
LEAST, LEAST_ACROSS = 0.1, -0.5  # least similarity of a record that shares no word with the question
COVERING = 10  # best passages by keywords whose coverage is computed


class Verdict:
    """The judgement of a result: `nothing`, whether nothing answers the question; `known`, whether any of its words
    occurs in the memory; and `near`, which records may be shown."""

    __slots__ = ("_across", "_scaled", "known", "nothing")

    def __init__(self, nothing: bool, known: bool, across: "Callable[[str], bool]", scaled: "Callable[[float], float]"):
        self.nothing = nothing
        self.known = known
        self._across = across
        self._scaled = scaled

    def near(self, record: Candidate) -> bool:
        """Return whether a record that shares no word with the question may be shown."""
        return any(
            one.cosine is not None
            and self._scaled(one.cosine) >= (LEAST_ACROSS if self._across(one.language) else LEAST)
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

    passages = [(one, place.record.title) for place in order for one in place.record.passages]
    found = sorted((pair for pair in passages if pair[0].bm25 > 0), key=lambda pair: -pair[0].bm25)
    return Verdict(
        evidence(question, passages, found, stems, scaled, across).nothing(words), bool(found), across, scaled
    )


class Evidence:
    """How near the results are to a question: `held` is the best coverage among the first passages by keywords, `first`
    the coverage of the first of the ranking, `near` the similarity of the best passage, ACROSS included, `contrast` its
    similarity above the mean of the MANY nearest, None where there are fewer."""

    __slots__ = ("contrast", "first", "held", "near")

    def __init__(self, held: float, first: float, near: float, contrast: float | None) -> None:
        self.held = held
        self.first = first
        self.near = near
        self.contrast = contrast

    @property
    def total(self) -> float:
        """The sum that is compared with LINE."""
        return (self.held + self.first) / 2 + self.near + CONTRAST * (self.contrast or 0.0)

    def nothing(self, words: int) -> bool:
        """Return whether no record is about a question of so many words."""
        ease = EASE if words < BRIEF else 0.0
        if self.contrast is None:
            return self.held < HELD_FEW and self.near < NEAR_FEW - ease
        return self.total < LINE - ease and self.held < HELD and self.near < NEAR - ease


def evidence(
    question: Question,
    passages: "Sequence[tuple[Passage, str]]",
    found: "Sequence[tuple[Passage, str]]",
    stems: "Callable[[str], frozenset[str]]",
    scaled: "Callable[[float], float]",
    across: "Callable[[str], bool]",
) -> Evidence:
    """Measure the (passage, title) pairs in their ranking, and those `found` by keywords, the best first."""

    def share(pair: "tuple[Passage, str]") -> float:
        return question.coverage(stems(f"{pair[1]}\n{pair[0].text}"))

    held = max(map(share, found[:COVERING]), default=0.0)
    first = share(passages[0]) if passages else 0.0
    seen = [(scaled(one.cosine), across(one.language)) for one, _ in passages if one.cosine is not None]
    if not seen:
        return Evidence(held, first, 0.0, None)
    nearest = sorted((value for value, _ in seen), reverse=True)[:MANY]
    near = max(value + (ACROSS if other else 0.0) for value, other in seen)
    contrast = nearest[0] - sum(nearest) / MANY if len(nearest) == MANY else None
    return Evidence(held, first, near, contrast)
