"""What a record's text passes on its way to a widget, and the filter behind it: the two layers against hostile text."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter

from tui.theme.escape import plain, visible
from tui.theme.glyphs import ASCII

__all__ = ["Ascii", "Colourless", "OwnColours", "StripControls", "content", "fit", "plain", "visible"]

# Control characters and what acts like one: bidi, line separators; a lone surrogate would end the writer thread.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def content(text: str, style: str = "") -> Content:
    """A record's text for a widget: visible, with its own lines, and never read as markup."""
    return Content.styled(visible(text, newlines=True), style)


def fit(text: str, width: int) -> str:
    """`text`, which must be visible, in exactly `width` terminal cells: padded, or cut with an ellipsis."""
    if text.isascii():
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…" if width > 0 else ""
    if width <= 0:
        return ""
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


class StripControls(LineFilter):
    """Deletes every control character still in a line's text, and links that hold one: the second layer.

    Textual keeps a strip's filtered form by the identity of the filter, so an app makes one and always returns that:
    `get_line_filters` builds a list, not a filter.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """`segments` itself when they are clean, which is nearly always; never changed in place, for it is shared."""
        suspect = _CONTROL.search
        for text, style, control in segments:
            if (not text.isprintable() and not control and suspect(text)) or (style is not None and style.link):
                return [clean for segment in segments if (clean := _without_controls(segment)).text or clean.control]
        return segments


def _without_controls(segment: Segment) -> Segment:
    """`segment` as wide as before: deleted controls have no width, a surrogate's cell becomes a question mark."""
    text, style, control = segment
    if control:
        return segment
    if style is not None and style.link and not style.link.isprintable():
        style = style.update_link(None)
    return Segment(_CONTROL.sub(lambda match: "?" * cell_len(match[0]), text), style)


class Ascii(LineFilter):
    """Plain letters for our glyphs, for terminals and fonts without them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(ASCII), segment.style, segment.control)
            for segment in segments
        ]


class Colourless(LineFilter):
    """Leaves bold, underlined and reversed text, and no colour: for NO_COLOR. What colour says, a glyph or a word says
    too."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _without_colour(style), control)
            for text, style, control in segments
        ]


class OwnColours(LineFilter):
    """Leaves the terminal's own sixteen colours and its default: for the ANSI themes, in which widgets that blend
    colours would write mixed ones."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _in_own_colours(style), control)
            for text, style, control in segments
        ]


@lru_cache(1024)
def _without_colour(style: Style) -> Style:
    bare = style.without_color
    return bare + Style.from_meta(style.meta) if style.meta else bare  # where a click goes is kept there


@lru_cache(1024)
def _in_own_colours(style: Style) -> Style:
    """`style` with every mixed colour as the nearest of the sixteen; a text that would be of its ground's colour is of
    the default one, on the default ground."""
    front, ground = _own(style.color), _own(style.bgcolor)
    if front is not None and front == ground and not front.is_default:
        front = ground = RichColor.default()
    return _without_colour(style) + Style.from_color(front, ground)


def _own(colour: RichColor | None) -> RichColor | None:
    if colour is None or colour.is_default or (colour.number is not None and colour.number < 16):
        return colour
    return RichColor.from_ansi(colour.downgrade(ColorSystem.STANDARD).number or 0)
