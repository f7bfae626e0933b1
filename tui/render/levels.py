"""Describe the levels of search hits: exact, near, nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.search.results import Answer as SearchAnswer
    from store.search.results import Hit

EXACT = "exact"
LONGEST = 40  # maximum characters of a repeated question


def grouped(
    question: str, answer: "SearchAnswer", hits: "Sequence[Hit] | None" = None, later: "Sequence[Hit]" = ()
) -> "list[tuple[str, list[Hit]]]":
    """Return (heading, its hits) in the order shown: the exact ones, then the near ones, each in the order of `hits`
    (default: best first), then those that came `later`; without any hit, the nearest; at last what waits in the inbox.
    What is near to a record is called similar. A query without words has no levels, and its group no heading."""
    waiting = [(f"Waiting in the inbox {answer.waits:,}", answer.waiting)] if answer.waiting else []
    shown = answer.hits if hits is None else hits
    if shown and (answer.words is None or not answer.words.own):
        return [("", [*shown, *later]), *waiting]
    exact = [hit for hit in shown if hit.level == EXACT]
    near = [hit for hit in shown if hit.level != EXACT]
    word = "Similar" if any(filter.startswith("related:") for filter in _filters(question)) else "Near"
    groups = [
        (f"Exact {max(answer.exact, len(exact)):,}", exact),
        (f"{word} {max(len(near), answer.total - answer.exact):,}", near),
        ("More", list(later)),
        (f"Nothing near; the nearest {len(answer.nearest):,}", [] if shown else answer.nearest),
        *waiting,
    ]
    return [(heading, hits) for heading, hits in groups if hits]


def _filters(question: str) -> "list[str]":
    """Return the filters in a query."""
    from store.search.query.query_parser import filters as query_filters

    return [question[start:end].lower() for start, end in query_filters(question)]


def shown_of(answer: "SearchAnswer") -> str:
    """Return how many hits are shown, if there are more; else nothing."""
    return f"the best {len(answer.hits)} of {answer.total:,}" if answer.total > len(answer.hits) else ""


def none_exact(question: str, answer: "SearchAnswer") -> str:
    """Return the sentence that no record contains the query, or that there is nothing in it to look for; empty if a
    record does, or the query is filters alone."""
    if answer.verdict == EXACT or answer.words is None:
        return ""
    from store.search.query.query_parser import filters as query_filters

    filters = query_filters(question)
    for start, end in reversed(filters):
        question = f"{question[:start]} {question[end:]}"
    said = " ".join(question.split()).strip('"')
    if not said:
        return ""
    quoted = f"“{said if len(said) <= LONGEST else said[: LONGEST - 1] + '…'}”"
    if answer.words.own or answer.words.literal:
        return f"No record {'that passes the filters ' if filters else ''}contains {quoted}."
    return "" if answer.hits else f"{quoted} holds no letter or digit to look for."
