"""Escape a record's text for widgets, and filter the rendered lines: the two layers against hostile text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVarTuple

from rich.cells import cell_len, set_cell_size
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter

from store.text.display import visible
from tui.theme.glyphs import ascii_table

# Control characters and others with such an effect: bidi, line separators; a lone surrogate would end the writer
# thread.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped_content(text: str, style: str = "") -> Content:
    """Return a record's text for a widget: escaped, with its newlines, never parsed as markup."""
    return Content.styled(visible(text, newlines=True), style)


def fit_cells(text: str, width: int) -> str:
    """Pad `text`, which must be escaped, to exactly `width` terminal cells, or truncate it with an ellipsis."""
    if text.isascii():
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…" if width > 0 else ""
    if width <= 0:
        return ""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


class StripControls(LineFilter):
    """Deletes control characters left in a line's text, and links that contain one: the second layer.

    Textual caches a strip's filtered form by the identity of the filter, so an app creates one and always returns that
    (`get_line_filters` returns a new list each time)."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return `segments` itself if they are clean, the usual case; never modify it in place, since it is shared."""
        suspect = _CONTROL.search
        for text, style, control in segments:
            if (not text.isprintable() and not control and suspect(text)) or (style is not None and style.link):
                return [
                    clean for segment in segments if (clean := _without_controls(segment)).text or clean.control
                ]
        return segments


def _without_controls(segment: Segment) -> Segment:
    """Return `segment` with the same width: deleted controls have none, a surrogate becomes a question mark."""
    text, style, control = segment
    if control:
        return segment
    if style is not None and style.link and not style.link.isprintable():
        style = style.update_link(None)
    return Segment(_CONTROL.sub(lambda match: "?" * cell_len(match[0]), text), style)


class AsciiFilter(LineFilter):
    """Replaces our glyphs by ASCII, for terminals and fonts without them; or by other characters of their width."""

    def __init__(self, instead: Mapping[int, str] | None = None) -> None:
        super().__init__()
        self._instead = ascii_table() if instead is None else instead

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(self._instead), segment.style, segment.control)
            for segment in segments
        ]


class ColorlessFilter(LineFilter):
    """Removes colours, but keeps bold, underline and reverse: for NO_COLOR. A glyph or a word repeats what a colour
    shows."""

    def change(self, style: Style) -> Style:
        """Return the style that is drawn instead."""
        return _without_color(style)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else self.change(style), control)
            for text, style, control in segments
        ]


class OwnColorsFilter(ColorlessFilter):
    """Limits colours to the terminal's sixteen and its defaults: for the ANSI themes, in which widgets that blend
    colours would emit others."""

    def change(self, style: Style) -> Style:
        return _in_own_colors(style)


@lru_cache(1024)
def _without_color(style: Style) -> Style:
    """Return a style without its colors."""
    bare = style.without_color
    # the meta holds the click action
    return bare + Style.from_meta(style.meta) if style.meta else bare


@lru_cache(1024)
def _in_own_colors(style: Style) -> Style:
    """Return `style` with every blended colour replaced by the nearest of the sixteen; if text and background become
    equal, both become the defaults."""
    front, ground = _own_color(style.color), _own_color(style.bgcolor)
    if front is not None and front == ground and not front.is_default:
        front = ground = RichColor.default()
    return _without_color(style) + Style.from_color(front, ground)


def _own_color(colour: RichColor | None) -> RichColor | None:
    """Return the nearest of the terminal's sixteen colors."""
    if colour is None or colour.is_default or (colour.number is not None and colour.number < 16):
        return colour
    return RichColor.from_ansi(colour.downgrade(ColorSystem.STANDARD).number or 0)


# Pieces of a line.

# what a piece has besides its text
Rest = TypeVarTuple("Rest")

Piece = tuple[str, str] | tuple[str, str, str]
"""A text, its style, and the screen action of a click on it (or none)."""


def pieces_width(pieces: Sequence[Piece]) -> int:
    """Return the width of pieces in cells."""
    return sum(cell_len(visible(piece[0])) for piece in pieces)


def cut_pieces(pieces: Sequence[tuple[str, *Rest]], start: int, end: int) -> list[tuple[str, *Rest]]:
    """Return what of the pieces is between two characters of their text."""
    found: list[tuple[str, *Rest]] = []
    for piece in pieces:
        if part := piece[0][max(0, start) : max(0, end)]:
            found.append((part, *piece[1:]))
        start, end = start - len(piece[0]), end - len(piece[0])
    return found
