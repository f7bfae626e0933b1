"""The words of a question marked in the lines of a preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store import SnippetMarker as Marker
    from tui.render.field_diff import Line

MATCH = "match"
# what names things and is not said by anybody; a diff is laid out by its characters
PLAIN = frozenset(("label", "heading", "own", "cut", "added", "removed", "hunk", "plain"))


def marked(lines: Sequence[Line], marker: Marker) -> list[Line]:
    """The lines, each matching word in them a piece of its own, of its old look and `+match`."""
    return [[part for text, look in line for part in _pieces(text, look, marker)] for line in lines]


def matches(look: str) -> bool:
    """Whether a piece of this look is a word that matched."""
    return look.endswith(MATCH)


def _pieces(text: str, look: str, marker: Marker) -> list[tuple[str, str]]:
    spans = [] if look in PLAIN else marker.spans(text)
    if not spans:
        return [(text, look)]
    pieces, at = [], 0
    for start, end in spans:
        pieces += [(text[at:start], look), (text[start:end], f"{look}+{MATCH}")]
        at = end
    return [piece for piece in (*pieces, (text[at:], look)) if piece[0]]
