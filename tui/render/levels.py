"""Exact, near and nothing: what is said over what a search found."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import SearchAnswer

EXACT = "exact"
LONGEST = 40  # characters of a question that are repeated


def heading(answer: "SearchAnswer", place: int) -> str:
    """What stands over the hit at this place, counted from 0; empty where nothing does."""
    if not answer.hits:
        return "Nearest, and not near" if place == 0 else ""
    level = answer.hits[place].level
    if place and answer.hits[place - 1].level == level:
        return ""
    if level == EXACT:
        return f"Exact {answer.exact:,}"
    return f"Near {max(0, answer.total - answer.exact):,}"


def none_exact(question: str, answer: "SearchAnswer") -> str:
    """The sentence where no record holds what was asked; empty where one does, or nothing was asked in words."""
    if answer.verdict == EXACT or answer.words is None or not answer.words.own:
        return ""
    said = " ".join(question.split())
    return f"No record contains “{said if len(said) <= LONGEST else said[: LONGEST - 1] + '…'}”."
