"""Describe the levels of search hits: exact, near, nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import Hit, SearchAnswer

EXACT = "exact"
LONGEST = 40  # maximum characters of a repeated question


def grouped(answer: "SearchAnswer") -> "list[tuple[str, list[Hit]]]":
    """Return (heading, its hits) in the order shown: the exact ones, then the near ones, each best first; without any,
    the nearest."""
    exact = [hit for hit in answer.hits if hit.level == EXACT]
    near = [hit for hit in answer.hits if hit.level != EXACT]
    groups = [
        (f"Exact {answer.exact:,}", exact),
        (f"Near {max(len(near), answer.total - answer.exact):,}", near),
        ("Nearest, and not near", answer.nearest),
    ]
    return [(heading, hits) for heading, hits in groups if hits]


def counts(answer: "SearchAnswer") -> str:
    """Return how many hits are exact and how many near; how many are shown, if there are more."""
    near = max(0, answer.total - answer.exact)
    said = ", ".join(f"{name} {count:,}" for name, count in (("exact", answer.exact), ("near", near)) if count)
    return f"{said}; the best {len(answer.hits)}" if answer.total > len(answer.hits) else said


def none_exact(question: str, answer: "SearchAnswer") -> str:
    """Return the sentence that no record contains the query; empty if one does, or the query has no words."""
    if answer.verdict == EXACT or answer.words is None or not answer.words.own:
        return ""
    from store import query_filters

    for start, end in reversed(query_filters(question)):
        question = f"{question[:start]} {question[end:]}"
    said = " ".join(question.split()).strip('"')
    return f"No record contains “{said if len(said) <= LONGEST else said[: LONGEST - 1] + '…'}”."
