"""Whether anything recorded is near a question at all, so that nothing is shown as found where nothing was."""

from store.search.signals.ranking import Candidate, Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.search.signals.ranking import Place

# calibrated similarities; the best passage is below these where nothing recorded answers. Chosen on LoCoMo, BEAM and
# XQuAD together, none left out: from 0.35 on, vectors alone find more in XQuAD
NEAREST = 0.3
NEAREST_ACROSS = -0.25  # in another language than the question's, where cosines are lower
BRIEF, EASE = 5, 0.2  # of a question of fewer words less is asked: two words are near nothing
COVERED = 0.5  # and it holds less than this of the question's information
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
    covered = max((question.coverage(stems(f"{title}\n{one.text}")) for one, title in found[:COVERING]), default=0.0)
    ease = EASE if words < BRIEF else 0.0
    far = all(
        scaled(one.cosine) < (NEAREST_ACROSS if across(one.language) else NEAREST) - ease
        for one, _ in passages
        if one.cosine is not None
    )
    return Verdict(covered < COVERED and far, bool(found), across, scaled)
