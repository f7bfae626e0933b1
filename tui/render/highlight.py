"""Highlight the words of a query in the lines of a preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.search.snippets import Marker
    from tui.render.field_diff import Line

MATCH = "match"
# labels and diffs are not searched text; a diff's columns must not shift
PLAIN = frozenset(("label", "heading", "own", "cut", "added", "removed", "hunk", "plain"))


def marked(lines: Sequence[Line], marker: Marker) -> list[Line]:
    """Split the lines so that each matching word is a piece of its own, with its old style and `+match`."""
    return [[part for text, look in line for part in _pieces(text, look, marker)] for line in lines]


def matches(look: str) -> bool:
    """Return whether a style is that of a matching word."""
    return look.endswith(MATCH)


def densest(text: str, marks: Sequence[tuple[int, int]], room: int) -> int:
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


def _pieces(text: str, look: str, marker: Marker) -> list[tuple[str, str]]:
    spans = [] if look in PLAIN else marker.spans(text)
    if not spans:
        return [(text, look)]
    pieces, at = [], 0
    for start, end in spans:
        pieces += [(text[at:start], look), (text[start:end], f"{look}+{MATCH}")]
        at = end
    return [piece for piece in (*pieces, (text[at:], look)) if piece[0]]
