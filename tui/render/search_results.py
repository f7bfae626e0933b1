"""What is said of a search: levels of hits, and why nothing was found.

Describe the levels of search hits: exact, near, nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from store.search.query_parser import filter_spans
from store.search.results import Hit, SearchAnswer, WordMarker
from tui.render.lines import StyledLine

EXACT_LEVEL = "exact"
# maximum characters of a repeated question
QUESTION_LENGTH = 40


def group_hits(
    question: str, answer: SearchAnswer, hits: Sequence[Hit] | None = None, later: Sequence[Hit] = ()
) -> list[tuple[str, list[Hit]]]:
    """Return (heading, its hits) in the order shown: the exact ones, then the near ones, each in the order of `hits`
    (default: best first), then those that came `later`; without any hit, the nearest; at last what waits in the inbox.
    What is near to a record is called similar. A query without words has no levels, and its group no heading."""
    waiting = [(f"Waiting in the inbox {answer.waits:,}", answer.waiting)] if answer.waiting else []
    shown = answer.hits if hits is None else hits
    if shown and (answer.words is None or not answer.words.own):
        return [("", [*shown, *later]), *waiting]
    exact = [hit for hit in shown if hit.level == EXACT_LEVEL]
    near = [hit for hit in shown if hit.level != EXACT_LEVEL]
    similar = any(filter.lower().startswith("related:") for filter in _query_filters(question))
    word = "Similar" if similar else "Near"
    groups = [
        (f"Exact {max(answer.exact, len(exact)):,}", exact),
        (f"{word} {max(len(near), answer.total - answer.exact):,}", near),
        ("More", list(later)),
        (f"Nothing near; the nearest {len(answer.nearest):,}", [] if shown else answer.nearest),
        *waiting,
    ]
    return [(heading, hits) for heading, hits in groups if hits]


def _query_filters(question: str) -> list[str]:
    """Return the filters in a query."""
    return [question[start:end] for start, end in filter_spans(question)]


def shown_words(answer: SearchAnswer) -> str:
    """Return how many hits are shown, if there are more; else nothing."""
    return f"the best {len(answer.hits)} of {answer.total:,}" if answer.total > len(answer.hits) else ""


def none_exact_words(question: str, answer: SearchAnswer) -> str:
    """Return the sentence that no record contains the query, or that there is nothing in it to look for; empty if a
    record does, or the query is filters alone."""
    if answer.verdict == EXACT_LEVEL or answer.words is None:
        return ""
    filters = filter_spans(question)
    for start, end in reversed(filters):
        question = f"{question[:start]} {question[end:]}"
    said = " ".join(question.split()).strip('"')
    if not said:
        return ""
    quoted = f"“{said if len(said) <= QUESTION_LENGTH else said[: QUESTION_LENGTH - 1] + '…'}”"
    if answer.words.own or answer.words.literal:
        return f"No record {'that passes the filters ' if filters else ''}contains {quoted}."
    return "" if answer.hits else f"{quoted} holds no letter or digit to look for."


# Render an empty list: the query, its filters, and alternatives.

# past queries to show
RECENT_QUERIES = 5
QUERY_EXAMPLES = (
    ("kind:decision since:3w", "decisions of the last three weeks"),
    ("is:stale domain:work", "facts about work that nobody confirmed for long"),
    ("author:ana before:2026-01-01", "what Ana wrote before this year"),
)


def nothing_found_text(
    query: str, answer: SearchAnswer, offers: Mapping[str, Sequence[str]], model: bool, coming: str | None
) -> str:
    """Return the text of an empty list. `offers` are other spellings by word, `model` is whether the search used
    embeddings, `coming` the progress of a model that is still indexing, None if none is."""
    narrow = _query_filters(query)
    said = none_exact_words(query, answer)
    lines = [*answer.notes[: answer.refused], said or "Nothing found."]
    lines += [*(["Nothing is near it either."] if said else []), ""]
    lines += [f"Did you mean {' or '.join(words)}, not “{word}”?" for word, words in offers.items()]
    if narrow:
        lines.append(f"It was narrowed by {', '.join(narrow)}: a click on ✕ above takes one away.")
    if answer.left_out:
        lines.append("Replaced or forgotten records match: is:replaced, is:forgotten show them.")
    lines += answer.notes[answer.refused :]
    if not offers and not narrow:
        lines.append("Try fewer words, or others: any one of them is enough.")
    if coming is not None:
        lines.append(f"A model is still reading what is here{coming}; this is asked again as it goes on.")
    elif not model and not any("keywords alone" in note for note in answer.notes):
        lines.append(
            "Only the words themselves were looked for; :health --check says what would find by meaning too."
        )
    return "\n".join(lines)


def search_suggestions(asked: Sequence[str], citation: str) -> list[StyledLine]:
    """Return suggestions beside an empty bar: past queries, and examples of filters."""
    lines: list[StyledLine] = []
    if asked:
        lines = [[("Asked before", "heading"), ("   ↑ brings them back", "dim")]]
        lines += [*([(f"  {query}", "")] for query in asked[:RECENT_QUERIES]), []]
    lines.append([("Any words, and what narrows them", "heading")])
    related = [(f"related:{citation}", "what is near this record")] if citation else []
    for query, says in (*QUERY_EXAMPLES, *related):
        lines += [[(f"  {query}", "")], [(f"      {says}", "dim")]]
    return lines


# Highlight the words of a query in the lines of a preview.

MATCH_STYLE = "match"
# labels and diffs are not searched text; a diff's columns must not shift
UNSEARCHED_STYLES = frozenset(("label", "heading", "own", "cut", "added", "removed", "hunk", "plain"))


def mark_matches(lines: Sequence[StyledLine], marker: WordMarker) -> list[StyledLine]:
    """Split the lines so that each matching word is a piece of its own, with its old style and `+match`."""
    return [[part for text, look in line for part in _split_matches(text, look, marker)] for line in lines]


def is_match_style(look: str) -> bool:
    """Tell whether a style is the style of a matching word."""
    return look.endswith(MATCH_STYLE)


def densest_mark(text: str, marks: Sequence[tuple[int, int]], room: int) -> int:
    """Return the index of the mark from which on `room` characters hold the most different words that are marked; of
    several such the one from which they stand closest together, then the first."""

    def held(index: int) -> tuple[int, int]:
        words: set[str] = set()
        begin = span = marks[index][0]
        for first, last in marks[index:]:
            if last > begin + room:
                break
            if (word := text[first:last].lower()) not in words:
                words.add(word)
                span = last
        return len(words), begin - span

    return max(range(len(marks)), key=held)


def _split_matches(text: str, look: str, marker: WordMarker) -> list[tuple[str, str]]:
    """Split a piece at the matching words."""
    spans = [] if look in UNSEARCHED_STYLES else marker.spans(text)
    if not spans:
        return [(text, look)]
    pieces, at = [], 0
    for start, end in spans:
        pieces += [(text[at:start], look), (text[start:end], f"{look}+{MATCH_STYLE}")]
        at = end
    return [piece for piece in (*pieces, (text[at:], look)) if piece[0]]


# Explain a hit's rank: each signal's part of the score, as a small table with bars.

SIGNAL_MEANINGS = {
    "text": "words of the question, the rarer the more",
    "meaning": "what it says is near what was asked",
    "speaker": "said by somebody the question names",
    "beside": "what was said before or after it is near",
    "standing": "how you want it always done, or what you prefer",
    "date": "of the time the question names",
    "time": "says when, as was asked",
    "session": "near, or in a session with something near",
    "new": "recent; decides between equals",
    "order": "the latest was asked for, or the first",
    "asks": "it asks, and answers little",
    "spread": "better records of its session are ranked above it",
    "citation": "the record that was named",
}
# cells of the largest signal's bar
SCORE_BAR_CELLS = 12
ZERO_SCORES = ("0.0", "-0.0")
# eighths of a cell
CELL_PARTS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def _score_rows(hit: Hit) -> list[tuple[str, str, str]]:
    """Return (signal, its part of the score, a bar in proportion), the largest first."""
    most = max(hit.why.values(), default=0.0)
    found = sorted(hit.why.items(), key=lambda item: -item[1])
    return [
        (f"{name:<10}", f"{value:.1f}", _score_bar(value / most if most > 0 else 0.0)) for name, value in found
    ]


def score_lines(hit: Hit) -> list[str]:
    """Return the table as text, with the model's similarity."""
    lines = [
        f"{name}{value:>4}  {bar:<{SCORE_BAR_CELLS}}  {SIGNAL_MEANINGS.get(name.strip(), '')}".rstrip()
        for name, value, bar in _score_rows(hit)
    ]
    if hit.similarity is not None:
        lines.append(f"alike     {hit.similarity:>4.2f}  0 is unrelated, 1 the same in other words")
    return lines


def score_table(hit: Hit) -> list[StyledLine]:
    """Return the table for the narrow preview: without words, and without negligible signals."""
    lines: list[StyledLine] = [[("Why this result", "heading")]]
    for name, value, bar in _score_rows(hit):
        if value not in ZERO_SCORES:
            lines.append([(f"{name}{value:>4}  ", "label"), (bar, "accent")])
    if not hit.why:
        lines.append([("It passes the filters; nothing else was asked.", "dim")])
    if hit.similarity is not None:
        lines.append([(f"alike     {hit.similarity:>4.2f}", "label"), ("  of 1", "dim")])
    return [*lines, []]


def _score_bar(share: float) -> str:
    """Draw a share as a bar, to an eighth of a cell."""
    eighths = max(0, round(share * SCORE_BAR_CELLS * 8), int(share >= 0))
    return "█" * (eighths // 8) + CELL_PARTS[eighths % 8]
