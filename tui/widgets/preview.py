"""The preview: a record in full, with its citations as links.

It draws by the Line API, so that following the cursor costs a few lines and not a layout. Texts become visible here
(first layer against hostile text); a citation in a text is a link, and nothing else in a text ever is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from store.citations import Citation, find
from tui.visible import visible

if TYPE_CHECKING:
    from tui.describe import Line

UNWRAPPED = frozenset(("added", "removed", "hunk", "plain"))  # a diff's lines are cut at the edge, not wrapped


class Preview(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows lines of (text, style) pieces; `Opened` says that a citation in them was followed."""

    ALLOW_SELECT = False
    STYLES: ClassVar[tuple[str, ...]] = (
        *("title", "own", "heading", "label", "dim", "cite", "selected", "match", "added", "removed", "hunk"),
        *("glyph-fresh", "glyph-aging", "glyph-low", "glyph-stale", "glyph-pinned"),
        *("glyph-superseded", "glyph-contradicted", "glyph-forgotten"),
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"preview--{name}" for name in STYLES}
    DEFAULT_CSS = """
    Preview {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .preview--title { text-style: bold; }
        & > .preview--own { color: $text-accent; text-style: bold; }
        & > .preview--heading { color: $text-secondary; text-style: bold; }
        & > .preview--label, & > .preview--dim, & > .preview--glyph-low { color: $foreground 60%; }
        & > .preview--cite { color: $text-accent; text-style: underline; }
        & > .preview--selected { color: $text-accent; text-style: underline reverse; }
        & > .preview--match { text-style: underline bold; }
        & > .preview--added, & > .preview--glyph-fresh, & > .preview--glyph-pinned { color: $text-success; }
        & > .preview--removed, & > .preview--glyph-stale { color: $text-error; }
        & > .preview--hunk { color: $text-primary; }
        & > .preview--glyph-aging { color: $text-warning; }
        & > .preview--glyph-superseded, & > .preview--glyph-contradicted, & > .preview--glyph-forgotten {
            color: $foreground 45%;
        }
    }
    """

    @dataclass
    class Opened(Message):
        """A citation was followed, by Enter or a click."""

        citation: Citation

    selected: reactive[int] = reactive(-1)
    """Which of the citations is selected; -1 for none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []
        self.citations: list[Citation] = []
        self._rows: list[list[tuple[str, str, int]]] = []  # wrapped: (text, style, index of its citation or -1)
        self._wrapped_at = 0
        self._own = ""
        self._styles_of: dict[str, Style] = {}

    def show(self, lines: Sequence[Line], own: str = "") -> None:
        """Show these lines from the top; the citation `own`, the record's own, is not a link."""
        self.lines, self._own = list(lines), own
        self.set_reactive(Preview.selected, -1)
        self._wrap()
        self.scroll_to(y=0, animate=False, force=True)
        self.refresh()

    def extend(self, lines: Sequence[Line]) -> None:
        """Add lines at the end, as when a diff arrives; what is on the screen stays where it is."""
        self.lines += lines
        self._wrap()
        self.refresh()

    def select(self, step: int) -> None:
        """Select the next citation, or the one before; it is scrolled into view."""
        if not self.citations:
            return
        start = self.selected if self.selected >= 0 or step > 0 else 0
        self.selected = (start + step) % len(self.citations)
        for y, row in enumerate(self._rows):
            if any(index == self.selected for _, _, index in row):
                top, height = round(self.scroll_offset.y), self.size.height
                if not top <= y < top + height:
                    self.scroll_to(y=max(0, y - height // 2), animate=False, force=True)
                return

    def open_selected(self) -> bool:
        """Follow the selected citation; False if there is none."""
        if not 0 <= self.selected < len(self.citations):
            return False
        self.post_message(self.Opened(self.citations[self.selected]))
        return True

    def watch_selected(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.selected = -1

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        y = offset.y + round(self.scroll_offset.y)
        x = 0
        for text, _, index in self._rows[y] if y < len(self._rows) else ():
            if x <= offset.x < x + cell_len(text) and index >= 0:
                self.post_message(self.Opened(self.citations[index]))
                return
            x += cell_len(text)

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._wrapped_at:
            self._wrap()

    def _wrap(self) -> None:
        """Lay the lines out for the width there is, and find their citations."""
        width = max(8, self.scrollable_content_region.width or self.size.width)
        self._wrapped_at = self.scrollable_content_region.width
        self.citations = []
        self._rows = []
        for line in self.lines:
            pieces = [part for text, style in line for part in self._linked(text, style)]
            if any(style in UNWRAPPED for _, style in line):
                self._rows.append(pieces)
            else:
                self._rows += _wrapped(pieces, width)
        self.virtual_size = Size(1, len(self._rows))

    def _linked(self, text: str, style: str) -> list[tuple[str, str, int]]:
        """A piece, cut where citations stand in it, each with its place among the citations."""
        text = visible(text)
        if "#" not in text or style in UNWRAPPED:
            return [(text, style, -1)]
        pieces, at = [], 0
        for start, end, citation in find(text):
            if str(citation) == self._own or citation.kind == "document":
                continue
            pieces += [(text[at:start], style, -1), (text[start:end], "cite", len(self.citations))]
            self.citations.append(citation)
            at = end
        return [piece for piece in (*pieces, (text[at:], style, -1)) if piece[0]]

    def render_line(self, y: int) -> Strip:
        ground = self._style("")
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_offset.y)
        if index >= len(self._rows):
            return Strip.blank(width, ground)
        segments = []
        for text, name, citation in self._rows[index]:
            name = "selected" if citation >= 0 and citation == self.selected else name
            segments.append(Segment(text, self._style(name)))
        return Strip(segments).adjust_cell_length(width, ground)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_of.clear()

    def _style(self, name: str) -> Style:
        """The style of a name, its transparency blended with the ground here; an unknown one is plain."""
        style = self._styles_of.get(name)
        if style is None:
            ground, colour, text = self.background_colors[1], self.styles.color, Style()
            if name in self.STYLES:
                component = self.get_component_styles(f"preview--{name}")
                colour = component.color if component.has_rule("color") else colour
                text = component.text_style
            style = Style.from_color((ground + colour).rich_color, ground.rich_color) + text
            self._styles_of[name] = style
        return style


def _wrapped(pieces: list[tuple[str, str, int]], width: int) -> list[list[tuple[str, str, int]]]:
    """Pieces as rows of at most `width` cells, broken at spaces where there are some."""
    if sum(cell_len(text) for text, _, _ in pieces) <= width:
        return [pieces]
    rows: list[list[tuple[str, str, int]]] = [[]]
    left = width
    indent = 0
    for text, style, index in pieces:
        if not rows[0] and style == "label":
            indent = min(cell_len(text), width // 2)  # what follows a label is wrapped beside it, not below it
        for word in _words(text):
            size = cell_len(word)
            if size > left and word.strip():
                word = word.rstrip() if cell_len(word.rstrip()) <= left else word
                size = cell_len(word)
            if size > left:
                if rows[-1] and size <= width - indent:
                    rows.append([(" " * indent, "", -1)] if indent else [])
                    left = width - indent
                else:  # a word longer than a row
                    for chunk in chop_cells(word, max(1, left)) if size > width - indent else [word]:
                        if cell_len(chunk) > left:
                            rows.append([])
                            left = width
                        rows[-1].append((chunk, style, index))
                        left -= cell_len(chunk)
                    continue
            rows[-1].append((word, style, index))
            left -= size
    return rows


def _words(text: str) -> list[str]:
    """A text as words, each with the spaces that follow it."""
    words, start = [], 0
    for at in range(1, len(text)):
        if text[at - 1] == " " and text[at] != " ":
            words.append(text[start:at])
            start = at
    words.append(text[start:])
    return words
