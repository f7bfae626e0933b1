"""The preview: a record in full, with its citations as links.

It draws by the Line API, so that following the cursor costs a few lines and no layout. Texts are escaped here (the
first layer against hostile text); only citations in a text become links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from store.base.citations import Citation, find
from tui.input.key_table import MOVES
from tui.render.highlight import matches
from tui.theme import styles
from tui.theme.escape import visible
from tui.theme.line_filters import fit
from tui.widgets.cached_lines import Kept

if TYPE_CHECKING:
    from tui.render.field_diff import Line

Row = tuple[tuple[str, str, int], ...]  # a wrapped line: (text, style, index of its citation or -1)
PROSE = 84  # cells of a record's lines, which are read more easily so; other output takes all of the width
SCREEN = 30  # lines of a record below which its first citation is scrolled to, however low the preview is
SURE = 8  # characters by which the beginning of a text is recognised
CODE = frozenset(("added", "removed", "hunk", "plain"))  # a diff's lines: no citations, break anywhere


class Preview(Kept, ScrollView, can_focus=True, inherit_bindings=False):
    """Shows lines of (text, style) pieces; posts `Opened` when a citation in them is followed."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, f"scroll_by_{key.action}", key.help, show=False, id=f"preview.{key.id}", tooltip="Scroll")
        for key in MOVES
    ]
    DEFAULT_CSS = """
    Preview {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: hidden;
    }
    """

    class Opened(Message):
        """A citation was followed, by Enter or a click."""

        def __init__(self, citation: Citation) -> None:
            super().__init__()
            self.citation = citation

    class Selected(Message):
        """Another citation was selected, or none; or the selected one is another after other lines came."""

        def __init__(self, preview: Preview) -> None:
            super().__init__()
            self.preview = preview

    selected: reactive[int] = reactive(-1)
    """The index of the selected citation; -1 for none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []
        self.citations: list[Citation] = []
        self._rows: list[Row] = []
        self._starts: list[int] = []  # the first row of each line
        self._wrapped_at = 0
        self._own = ""
        self._styles_of: dict[str, Style] = {}
        self._strips: LRUCache[tuple[Row, int, bool, int], Strip] = LRUCache(256)
        self._ground = Color(0, 0, 0)

    def show(self, lines: Sequence[Line], own: str = "", stay: bool = False) -> None:
        """Show these lines from the top, or with `stay` at the current scroll position; `own`, the record's own
        citation, is no link."""
        before, rows, top = self.citations, self._rows, round(self.scroll_offset.y)
        self.lines, self._own = list(lines), own
        self._wrap()
        if not (stay and before == self.citations):
            self.set_reactive(Preview.selected, -1)
            self.post_message(self.Selected(self))
        if not stay:
            self.scroll_to(y=0, animate=False, force=True)
        self._refresh_changed(rows, top)

    def _refresh_changed(self, rows: list[Row], top: int) -> None:
        """Redraw only the lines that changed: most records have the same layout."""
        width, height = self.size
        if top != round(self.scroll_offset.y) or max(len(rows), len(self._rows)) > height:
            self.refresh()
            return
        for y in range(height):
            old = rows[y] if y < len(rows) else ()
            if old != self._row(y):
                self.refresh(Region(0, y, width, 1))

    def place_of(self, text: str, columns: Sequence[int]) -> tuple[int, int] | None:
        """Return the (column, visible line) at which a text begins, in one of these columns; None if it does not."""
        start = visible(text.split("\n")[0]).strip()
        for y in range(self.size.height):
            whole = "".join(part for part, _, _ in self._at(y))
            for column in columns:
                here = whole[column:].rstrip()
                if len(here) >= min(SURE, len(start)) > 0 and (start.startswith(here) or here == start):
                    return column, y
        return None

    def show_match(self, line: int = 0, column: int = 0) -> None:
        """Scroll to the first matching word from a character of one of the lines on. Where none is within a screen of
        it, scroll to that character."""
        height = self.size.height
        begin = self._row_of(line, column)
        rows = enumerate(self._rows[begin : begin + height if begin else None], begin)
        y = next((y for y, row in rows if any(matches(look) for _, look, _ in row)), begin)
        if y >= height:
            self.scroll_to(y=y - height // 3, animate=False, force=True)

    def _row_of(self, line: int, column: int) -> int:
        """Return the row on which a character of a line stands, or one before it: a row ends without its spaces."""
        if not 0 < line < len(self._starts):
            return 0
        y = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._rows)
        while y + 1 < end and (column := column - sum(len(text) for text, _, _ in self._rows[y])) > 0:
            y += 1
        return y

    def extend(self, lines: Sequence[Line]) -> None:
        """Append lines, as when a diff arrives, keeping the scroll position."""
        self.lines += lines
        self._wrap()
        self.refresh()

    def select(self, step: int) -> None:
        """Select the next or the previous citation, if there is one, and scroll to it."""
        if self.citations:
            start = self.selected if self.selected >= 0 or step > 0 else len(self.citations)
            self.select_at(max(0, min(len(self.citations) - 1, start + step)))

    def select_at(self, index: int) -> None:
        """Select the citation of an index, and scroll to it."""
        self.selected = index
        for y, row in enumerate(self._rows):
            if any(index == self.selected for _, _, index in row):
                top, height = round(self.scroll_offset.y), self.size.height
                if not (y < self._fixed or top + self._fixed <= y < top + height):
                    self.scroll_to(y=max(0, y - height // 2), animate=False, force=True)
                return

    def select_visible(self) -> None:
        """Select the first citation from the first visible line on, and scroll until it is seen if it is on the next
        page, or within a screen's lines where the preview is low; none if it is farther, since Enter would open what is
        not seen; the last one if all are above."""
        top, height = round(self.scroll_offset.y), self.size.height
        seen = enumerate(self._rows[top:])
        below = ((y, index) for y, row in seen for _, _, index in row if index >= 0 and (y >= self._fixed or not top))
        line, self.selected = next(below, (0, len(self.citations) - 1))
        if line >= max(2 * height, SCREEN):
            self.selected = -1
        elif line >= height:
            self.scroll_to(y=top + line - height + 1, animate=False, force=True)

    @property
    def link(self) -> str:
        """The selected citation; empty if there is none."""
        return str(self.citations[self.selected]) if 0 <= self.selected < len(self.citations) else ""

    def open_selected(self) -> bool:
        """Follow the selected citation; return False if there is none."""
        if not 0 <= self.selected < len(self.citations):
            return False
        self.post_message(self.Opened(self.citations[self.selected]))
        return True

    def action_scroll_by_move(self, step: int) -> None:
        self.scroll_relative(y=step, animate=False, force=True)

    def action_scroll_by_page(self, pages: float) -> None:
        self.scroll_relative(y=int(max(2, self.size.height - 1 - self._fixed) * pages), animate=False, force=True)

    def action_scroll_by_first(self) -> None:
        self.scroll_to(y=0, animate=False, force=True)

    def action_scroll_by_last(self) -> None:
        self.scroll_to(y=len(self._rows), animate=False, force=True)

    def watch_selected(self) -> None:
        self.refresh()
        self.post_message(self.Selected(self))

    def on_blur(self) -> None:
        self.selected = -1

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        x = 0
        for text, _, index in self._at(offset.y):
            if x <= offset.x < x + cell_len(text) and index >= 0:
                self.post_message(self.Opened(self.citations[index]))
                return
            x += cell_len(text)

    def on_resize(self) -> None:
        if self.size.width != self._wrapped_at:
            self._wrap()
            self.refresh()  # it was rendered before the resize event arrived

    def _wrap(self) -> None:
        """Wrap the lines at the current width, and find their citations."""
        width = max(8, self.size.width - 1)  # the last column is the scrollbar's
        self._wrapped_at = self.size.width
        self.citations = []
        self._rows = []
        self._starts = []
        for line in self.lines:
            self._starts.append(len(self._rows))
            pieces = [part for text, style in line for part in self._linked(text, style)]
            if any(style == "cut" for _, style in line):
                self._rows.append(tuple(_cut(pieces, width)))
            elif len(line) == 1 and line[0][1] in CODE:
                self._rows += [((part, line[0][1], -1),) for part in chop_cells(pieces[0][0], width)] or [()]
            else:
                self._rows += map(tuple, _wrapped(pieces, min(width, PROSE) if self._own else width))
        # bypass the reactive, which would lay out the whole screen at every move of a cursor
        self.set_reactive(Preview.virtual_size, Size(1, len(self._rows)))

    def _linked(self, text: str, style: str) -> list[tuple[str, str, int]]:
        """Split a piece at its citations, each with its index."""
        text = visible(text)
        if "#" not in text or style in CODE or style == "cut":
            return [(text, style, -1)]
        pieces, at = [], 0
        for start, end, citation in find(text):
            if str(citation) == self._own:
                continue
            pieces += [(text[at:start], style, -1), (text[start:end], "cite", len(self.citations))]
            self.citations.append(citation)
            at = end
        return [piece for piece in (*pieces, (text[at:], style, -1)) if piece[0]]

    def draw_lines(self, crop: Region) -> list[Strip]:
        """Return the visible lines; each is cached with its filtered and encoded forms until its text changes.

        It bypasses Textual's rendering, as `RecordList` does: no border, padding or opacity here; a container has
        those."""
        if (ground := self.background_colors[1]) != self._ground:
            self._ground = ground
            self.notify_style_update()
        width, height = self.size
        thumb = self._thumb(height, round(self.scroll_offset.y))
        strips = [self._strip(self._at(y), y in thumb, width) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        top = round(self.scroll_offset.y)
        return self._strip(self._at(y), y in self._thumb(height, top), width)

    def _strip(self, row: Row, thumb: bool, width: int) -> Strip:
        """Render one line, with the scrollbar's cell at the right edge."""
        selected = self.selected if row and self.selected >= 0 and any(n == self.selected for _, _, n in row) else -1
        place = (row, selected, thumb, width)
        if (strip := self._strips.get(place)) is None:
            segments = [
                Segment(text, self._style("selected" if 0 <= citation == selected else name))
                for text, name, citation in row
            ]
            strip = Strip(segments).adjust_cell_length(width - 1, self._style(""))
            edge = Segment("▐", self._style("rule")) if thumb else Segment(" ", self._style(""))
            strip = self._strips[place] = Strip.join((strip, Strip([edge])))
        return strip

    def _row(self, index: int) -> Row:
        return self._rows[index] if index < len(self._rows) else ()

    def _at(self, y: int) -> Row:
        """Return the row on a line of the screen. The first of a record, which name it, stay when the rest scrolls."""
        return self._row(y if y < self._fixed else y + round(self.scroll_offset.y))

    @property
    def _fixed(self) -> int:
        """Return how many lines at the top do not scroll: what it is, and its title."""
        return min(2, self.size.height // 3) if self._own else 0

    def _thumb(self, height: int, top: int) -> range:
        """Return the lines that the scrollbar's thumb covers. It is drawn here, so that showing or hiding it costs no
        layout."""
        rows = len(self._rows)
        if rows <= height:
            return range(0)
        size = max(1, height * height // rows)
        start = (height - size) * top // (rows - height)
        return range(start, start + size)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_relative(y=3, animate=False, force=True)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_relative(y=-3, animate=False, force=True)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_of.clear()
        self._strips.clear()

    def _style(self, name: str) -> Style:
        """Return the style of a name, its transparency blended with the background; an unknown one is plain."""
        style = self._styles_of.get(name)
        if style is None:
            ground = self.background_colors[1]
            style = styles.style(name.split("+"), self.app.theme_variables, ground, self.colors[3])
            self._styles_of[name] = style
        return style


def _cut(pieces: Sequence[tuple[str, str, int]], width: int) -> list[tuple[str, str, int]]:
    """Return the pieces in one line of `width` cells, the last of them with an ellipsis if it was cut."""
    *first, (text, style, index) = pieces
    room = width - sum(cell_len(part) for part, _, _ in first)
    return [*first, (text if cell_len(text) <= room else fit(text, room), style, index)]


def _wrapped(pieces: list[tuple[str, str, int]], width: int) -> list[list[tuple[str, str, int]]]:
    """Wrap pieces into rows of at most `width` cells, at spaces if possible: a citation keeps its brackets."""
    if sum(cell_len(text) for text, _, _ in pieces) <= width:
        return [pieces]
    rows: list[list[tuple[str, str, int]]] = [[]]
    left = width
    indent = 0
    joined = 0  # words at the end of the row that no space separates from the next one
    for text, style, index in pieces:
        if not rows[0] and style.partition("+")[0] == "label":
            indent = min(cell_len(text), width // 2)  # text after a label wraps beside it, not below
        for word in _words(text):
            size, spaced = cell_len(word), word.endswith(" ")
            if size > left and word.strip():
                word = word.rstrip() if cell_len(word.rstrip()) <= left else word
                size = cell_len(word)
            if size > left:
                if rows[-1] and size <= width - indent:
                    kept = rows[-1][-joined:] if 0 < joined < len(rows[-1]) else []
                    taken = sum(cell_len(piece[0]) for piece in kept)
                    if taken + size > width - indent:
                        kept, taken = [], 0
                    del rows[-1][len(rows[-1]) - len(kept) :]
                    rows.append([*([(" " * indent, "", -1)] if indent else []), *kept])
                    left = width - indent - taken
                else:  # a word wider than a row
                    for chunk in chop_cells(word, max(1, left)) if size > width - indent else [word]:
                        if cell_len(chunk) > left:
                            rows.append([])
                            left = width
                        rows[-1].append((chunk, style, index))
                        left -= cell_len(chunk)
                    joined = 0
                    continue
            rows[-1].append((word, style, index))
            left -= size
            joined = 0 if spaced else joined + 1
    return rows


def _words(text: str) -> list[str]:
    """Split a text into words, each with its trailing spaces."""
    words, start = [], 0
    for at in range(1, len(text)):
        if text[at - 1] == " " and text[at] != " ":
            words.append(text[start:at])
            start = at
    words.append(text[start:])
    return words
