"""The bars around the panes: the top line, a pane's title, the footer, whose parts can be clicked; and the first frame
with their places."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.color import Color
from textual.containers import Container
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from store.database.connection import to_memoranda_error
from store.text.display import visible
from tui.input.key_table import PANE_KEYS, Key
from tui.theme.line_filters import Piece, pieces_width
from tui.theme.styles import combine_looks, read_css

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.widget import Widget
else:  # a widget takes its CSS from its first MessagePump base, which must not be one of these
    MessagePump = Widget = object


# columns from which on the preview is beside the list, and wider still
WIDE_COLUMNS, HUGE_COLUMNS = 100, 160


def layout_class(columns: int) -> str:
    """Return the layout's class for a screen of this width."""
    return "-narrow" if columns < WIDE_COLUMNS else "-wide" if columns < HUGE_COLUMNS else "-huge"


def bind_key(key: Key, **more: Any) -> Binding:
    """Return the binding of a key of the tables; of an id without a key too, since it can be given one."""
    keys = key.keys or f"unbound-{key.id.replace('.', '-')}"
    return Binding(keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help, **more)


# Cache a widget's lines until its next refresh.


class CachedLines(Widget):
    """A mixin that caches rendered lines. For each frame Textual renders and filters all lines of every visible widget,
    changed or not: with a dozen widgets that is half the time of a key press.

    Whatever changes the look of a widget must call its `refresh`, or update its style; both clear the cache."""

    _kept: tuple[Region, list[Strip]] | None = None

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> CachedLines:
        self._kept = None
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def notify_style_update(self) -> None:
        self._kept = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._kept is None or self._kept[0] != crop:
            self._kept = (crop, self.draw_lines(crop))
        return self._kept[1]

    def draw_lines(self, crop: Region) -> list[Strip]:
        """Render the lines."""
        return super().render_lines(crop)


class LineView(CachedLines, ScrollView):
    """What scrolls lines that it draws itself, and keeps each with its filtered and encoded forms until it changes.

    Textual's own rendering creates new strips after a scroll; here a line that only moved costs nothing. Therefore no
    border, padding or opacity here: a container has those."""

    ALLOW_SELECT = False
    # renders these of the lines that are seen; each kind has its own
    render_rows: Callable[[range], list[Strip]]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._ground = Color(0, 0, 0)
        self._looks: dict[tuple[str, ...], Style] = {}
        self._strips: LRUCache[Hashable, Any] = LRUCache(256)
        # line → how it was drawn last, before and after the filters
        self._drawn: dict[int, tuple[Strip, Strip]] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        for kept in (self._looks, self._strips, self._drawn):
            kept.clear()

    def draw_lines(self, crop: Region) -> list[Strip]:
        if (ground := self.background_colors[1]) != self._ground:
            self._ground = ground
            self.notify_style_update()
        filters, strips = self.get_line_filters(), []
        for y, strip in zip(crop.line_range, self.render_rows(crop.line_range), strict=True):
            before, filtered = self._drawn.get(y, (None, strip))
            if strip is not before:
                filtered = strip
                for line_filter in filters:
                    filtered = filtered.apply_filter(line_filter, ground)
                self._drawn[y] = strip, filtered
            strips.append(filtered.crop(*crop.column_span))
        return strips

    @property
    def _top(self) -> int:
        return round(self.scroll_offset.y)

    def jump(self, y: int) -> None:
        """Scroll to a line, at once."""
        self.scroll_to(y=y, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        return self.render_rows(range(y, y + 1))[0]

    def refresh_changed(self) -> None:
        """Redraw only the lines that differ from what was drawn last: all of them are kilobytes for the terminal, and
        others may write often."""
        strips = enumerate(self.render_rows(range(self.size.height)))
        if changed := [y for y, strip in strips if strip != self._drawn.get(y, (None,))[0]]:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def combine(self, *looks: str) -> Style:
        """Return looks as one style, blended here, since component classes do not know what is below; an unknown one is
        plain."""
        if (style := self._looks.get(looks)) is None:
            style = combine_looks(looks, self.app.theme_variables, self._ground, self.colors[3])
            self._looks[looks] = style
        return style


class Bar(CachedLines, Static):
    """One line of text of a fixed size, so that an update costs no layout, and neither wrapping nor alignment."""

    ALLOW_SELECT = False

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        # (first cell, cell after the last, action)
        self._actions: list[tuple[int, int, str]] = []
        self._pieces: tuple[Piece, ...] = ((text, ""),)

    def set_pieces(self, *pieces: Piece) -> None:
        """Show pieces, with untrusted texts escaped."""
        if pieces != self._pieces:
            self._pieces, self._actions = pieces, click_spans(pieces, 0)
            self.refresh()

    def draw_lines(self, crop: Region) -> list[Strip]:
        own, edge = self.visual_style, " " * self.gutter.left
        pieces = [(edge, ""), *((visible(piece[0]), piece[1]) for piece in self._pieces)]
        segments = [Segment(text, (own + self._get_style(look)).rich_style) for text, look in pieces if text]
        strip = Strip(segments).adjust_cell_length(self.outer_size.width, own.rich_style)
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return [strip.crop(*crop.column_span)] * crop.height

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for first, end, action in () if offset is None else self.clickable(offset.y):
            if offset is not None and first <= offset.x < end:
                event.stop()
                await self.screen.run_action(action)
                return

    def clickable(self, line: int) -> Sequence[tuple[int, int, str]]:
        """Return (first cell, cell after the last, action) of what can be clicked on a line."""
        return self._actions


class Split(Bar):
    """A line with a left and a right part; the right part is truncated first."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Sequence[Piece] = ()
        self._right: Sequence[Piece] = ()

    def put_both(self, left: Sequence[Piece], right: Sequence[Piece]) -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        gap = self.size.width - pieces_width(self._left) - pieces_width(self._right)
        self.set_pieces(*self._left, *((" " * gap, ""), *self._right) if gap >= 1 else ())


def click_spans(pieces: Sequence[Piece], at: int) -> list[tuple[int, int, str]]:
    """Return (first cell, cell after the last, action) of the pieces that can be clicked, from the cell `at` on."""
    spans = []
    for piece in pieces:
        size = pieces_width([piece])
        if len(piece) == 3:
            spans.append((at, at + size, piece[2]))
        at += size
    return spans


# The input of the bars.


class Field(Input):
    """An input of one fixed line, in which ctrl+z undoes. Textual's own input lays out the whole screen again at every
    letter, in case the text outgrew it; this one scrolls instead."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "undo", "Undo", show=False, id="field.undo", tooltip="Undo what was typed"),
    ]
    # later keys are for what comes of it
    ends_at_enter = True
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    # (text, cursor) before each edit, the oldest first
    _edits: tuple[tuple[str, int], ...] = ()
    # the text after the last edit: another one was set, and is not undone
    _edited = ""
    # of the last edit; letters of a word, and deletions in a row, are one
    _kind = ""

    def on_focus(self, event: events.Focus) -> None:
        """Turn off the cursor's blinking: no motion."""
        self.cursor_blink = self.app.animation_level != "none"

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a part of the text; every edit comes through here."""
        before, at = self.value, self.cursor_position
        kind = "letter" if len(text) == 1 and not text.isspace() and start == end else "" if text else "deletion"
        super().replace(text, start, end)
        if before != self._edited:
            self._edits, self._kind = (), ""
        if self.value != before and not (kind and kind == self._kind):
            self._edits = (*self._edits, (before, at))
        self._edited, self._kind = self.value, kind

    def action_undo(self) -> None:
        """Undo the last edit."""
        if self._edits and self.value == self._edited:
            *rest, (self.value, at) = self._edits
            self._edits, self._edited, self._kind = tuple(rest), self.value, ""
            self.cursor_position = at


# Threads whose unexpected errors are shown to the user.


class SaysDefects(MessagePump):
    """A mixin for what starts Textual workers: shows a message when one fails. Textual reports a failure only to the
    starter."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            path = self.app.location.path  # type: ignore[attr-defined]
            self.app.notify(
                str(to_memoranda_error(event.worker.error, path)), severity="error", timeout=10, markup=False
            )


class Shell(Screen[None]):
    """The first frame: the lines of the main screen, still empty, before anything that reads a memory is imported; then
    the first facts. It has the panes by number and name, the find line, and two empty boxes."""

    DEFAULT_CSS = read_css(__file__)

    def __init__(self) -> None:
        super().__init__(classes=layout_class(get_terminal_size().columns))

    def compose(self) -> ComposeResult:
        tabs = "   ".join(f"{key} {name.capitalize()}" for name, key in PANE_KEYS.items())
        yield Static(f" {tabs}", id="top", markup=False)
        yield Static(" /", id="find", markup=False)
        yield Static(id="chips")
        with Container(id="body"):
            yield Container(id="list")
            yield Static(id="preview-pane")
        yield Static(id="footer")
