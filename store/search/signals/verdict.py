"""Whether anything recorded is near a question at all, so that nothing is shown as found where nothing was."""

from store.search.signals.ranking import Candidate, Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Passage, Place

# What a question has to reach for anything to count as near: what its words and the best passage's meaning give
# together. Lower than `python -m bench.refusal` chooses: at 0.8 more questions about something else are refused, but
# also two of a hundred answerable ones across languages, so that vectors alone find more
LINE = 0.55
BRIEF, EASE = 5, 0.2  # of a question of fewer words less is asked: two words are near nothing
ACROSS = 0.55  # added to the similarity of a passage in another language, where cosines are lower
CONTRAST = 0.5  # weight of how far the best passage stands out from the MANY nearest
MANY = 100
# share of the question's information, and similarity, either of which is enough alone; and where fewer passages than
# MANY are there, so that none can stand out from the others
HELD, NEAR = 0.75, 0.5
HELD_FEW, NEAR_FEW = 0.5, 0.3
LEAST, LEAST_ACROSS = 0.1, -0.5  # of a record that shares no word with the question
COVERING = 10  # best passages by keywords whose coverage is looked at


class Verdict:
    """What is to be thought of what was found: `nothing` answers, `known` is whether any word of the question stands
    here, and which records are `near`."""

    __slots__ = ("_across", "_scaled", "known", "nothing")

    def __init__(self, nothing: bool, known: bool, across: "Callable[[str], bool]", scaled: "Callable[[float], float]"):
        self.nothing = nothing
        self.known = known
        self._across = across
        self._scaled = scaled

    def near(self, record: Candidate) -> bool:
        """Whether something that shares no word with the question may be shown all the same."""
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
    """Look at what was found for a question of so many words. `stems` gives those of a text, `scaled` a cosine as
    calibrated similarity, below 0 for what is less alike than unrelated texts are."""

    def across(language: str) -> bool:
        return bool(question.language and language and question.language != language)

    passages = [(one, place.record.title) for place in order for one in place.record.passages]
    found = sorted((pair for pair in passages if pair[0].bm25 > 0), key=lambda pair: -pair[0].bm25)
    return Verdict(
        evidence(question, passages, found, stems, scaled, across).nothing(words), bool(found), across, scaled
    )


class Evidence:
    """How near a question is to what was found: `held` is the share of its information that one of the best passages
    by keywords holds, `first` the share in the first of the order, `near` the similarity of the best passage, ACROSS
    included, `contrast` what its similarity is above the mean of the MANY nearest, None where there are fewer."""

    __slots__ = ("contrast", "first", "held", "near")

    def __init__(self, held: float, first: float, near: float, contrast: float | None) -> None:
        self.held = held
        self.first = first
        self.near = near
        self.contrast = contrast

    @property
    def total(self) -> float:
        """What is compared with LINE."""
        return (self.held + self.first) / 2 + self.near + CONTRAST * (self.contrast or 0.0)

    def nothing(self, words: int) -> bool:
        """Whether a question of so many words is about nothing recorded."""
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
    """Measure the (passage, title) pairs in their order, and those `found` by keywords, the best first."""

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
