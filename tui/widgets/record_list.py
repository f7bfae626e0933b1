"""The list for facts, timeline, search hits, history and all else. Its cost is independent of the number of rows.

It draws by the Line API and asks its `Rows` only for visible rows, each of one line or a few. It scrolls by rows, so
that the heights of those out of sight need not be known. A cursor move repaints two rows. When the rows are replaced,
the selected one keeps its line on the screen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from store.text.display import visible
from tui.input.key_table import LIST_KEYS
from tui.lists.record_rows import RowLine, Rows
from tui.widgets.bars import LineView, bind_key

# Which rows of a snapshot the cursor can select.

# headings in a row to skip at most, so that a key never walks a million rows
MOST_HEADINGS = 8
# rows below one that is gone among which the next is looked for
NEXT_ROWS = 20

# rows that are searched for a heading at most, which takes 20 ms
MOST_WALKED = 20_000


def selectable_keys(rows: Rows | None, first: int, end: int) -> list[Hashable]:
    """Return the keys of the selectable rows of a range."""
    return [rows.key(index) for index in range(first, end) if rows.selectable(index)] if rows else []


def selectable_from(rows: Rows | None, index: int, step: int) -> int | None:
    """Return the selectable row at `index` or the next one in the direction of `step`, else in the other."""
    if not rows:
        return None
    index = max(0, min(index, len(rows) - 1))
    for direction in (step, -step):
        for candidate in range(index, index + direction * MOST_HEADINGS, direction):
            if 0 <= candidate < len(rows) and rows.selectable(candidate):
                return candidate
    return None


def first_of_group(rows: Rows, index: int, step: int) -> int | None:
    """Return the first row below the next heading in the direction of `step`, from `index` on; None if there is none
    near."""
    for candidate in range(index + step, index + step * MOST_WALKED, step):
        if not 0 <= candidate < len(rows):
            return None
        if rows.selectable(candidate) and (candidate == 0 or not rows.selectable(candidate - 1)):
            return candidate
    return None


FLASH_SECONDS = 0.6
MOST_MARKS = 10_000
# the mouse's right button
RIGHT_BUTTON = 3
# the states of a row, as bits
_CURSOR, _BLURRED, _MARKED, _FLASH = 1, 2, 4, 8
ROW_LOOKS = ((_FLASH, "flash"), (_CURSOR, "cursor"), (_BLURRED, "cursor-blurred"))


class RecordList(LineView, can_focus=True, inherit_bindings=False):
    """A list of records with one cursor; posts `Highlighted` when it moves and `Chosen` when a record is opened."""

    BINDING_GROUP_TITLE = "List"
    BINDINGS: ClassVar[list[BindingType]] = [
        *map(bind_key, LIST_KEYS),
        Binding("enter", "choose", "Open", show=False, id="list.open", tooltip="Open the record under the cursor"),
    ]
    DEFAULT_CSS = """
    RecordList {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
    }
    """
    GUTTER: ClassVar[tuple[str, ...]] = (" ", "▹", "▸", "✓", "›", "»")
    """The cell at the left edge: none, a cursor without focus, the cursor; the same for a marked row."""

    @dataclass
    class RowMessage(Message):
        record_list: RecordList
        key: Hashable

    class Highlighted(RowMessage):
        """The cursor moved to the row of `key`; None if no row is left. Held keys post only the last move."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RecordList.Highlighted) and message.record_list is self.record_list

    class Chosen(RowMessage):
        """The row of `key` was opened, by Enter or a double click."""

    class Asked(RowMessage):
        """The context menu of the row of `key` was requested, by the right button."""

    class Marked(RowMessage):
        """The marked rows changed."""

    mark_cells = 1
    """Cells at the left edge in which a click marks, including the gutter."""
    opens_at_click = False
    """Whether one click opens a row, as in a box."""

    empty_text: reactive[str] = reactive("")
    """The text without rows: what the list is for, and the key that adds the first one."""

    def __init__(
        self, rows: Rows | None = None, *, empty_text: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(RecordList.empty_text, empty_text)
        # Read by the application; changed only by `set_rows` and `select`.
        self.rows = rows
        self.cursor_index = selectable_from(self.rows, 0, 1) if rows else None
        self.cursor_key = rows.key(self.cursor_index) if rows and self.cursor_index is not None else None
        # of a row that was gone when the rows changed
        self._gone: Hashable | None = None
        self._marks: frozenset[Hashable] = frozenset()
        # (start of a range, the marks before it)
        self._anchor: tuple[Hashable, frozenset[Hashable]] | None = None
        self._flashing: set[Hashable] = set()
        self._height = self._width = self._generation = 0
        self._texts: LRUCache[tuple[int, int, int], Sequence[RowLine]] = LRUCache(256)
        # (of what, row and line for each y)
        self._places: tuple[tuple[int, ...], Sequence[tuple[int, int]]] = ((), ())

    @property
    def marks(self) -> Set[Hashable]:
        """The keys of the marked rows; assign another set to change it."""
        return self._marks

    @marks.setter
    def marks(self, keys: Set[Hashable]) -> None:
        if keys != self._marks:
            changed, self._marks = self._marks ^ keys, frozenset(keys)
            self._refresh_keys(changed)
            self.post_message(self.Marked(self, self.cursor_key))

    def unmark(self) -> None:
        """Clear the marks, and end the range."""
        self._anchor, self.marks = None, frozenset()

    def mark(self) -> None:
        """Toggle the mark of the row under the cursor, and move to the next."""
        if self.cursor_key is not None:
            self._anchor = None
            self.marks = self._marks ^ {self.cursor_key}
            self.action_move(1)

    def mark_range(self) -> None:
        """Start a range that follows the cursor; called again, end it and keep its marks."""
        if self._anchor is not None:
            self._anchor = None
            self.post_message(self.Marked(self, self.cursor_key))
        elif self.cursor_key is not None:
            self._anchor = (self.cursor_key, self._marks)
            self.marks = self._marks | {self.cursor_key}

    def mark_group(self) -> bool:
        """Mark the rows under the heading of the cursor; if they are marked, all rows; if all are, none. Return False
        if there are too many."""
        self._anchor = None
        rows = self.rows or ()
        if len(rows) > MOST_MARKS:
            return False
        every = frozenset(selectable_keys(self.rows, 0, len(rows)))
        group = frozenset(self._keys_of_group())
        self.marks = group if not group <= self._marks else every if every != self._marks else frozenset()
        return True

    def _keys_of_group(self) -> list[Hashable]:
        """Return the keys of the rows between the headings around the cursor."""
        if self.rows is None or self.cursor_index is None:
            return []
        first = end = self.cursor_index
        while first > 0 and self.rows.selectable(first - 1):
            first -= 1
        while end < len(self.rows) and self.rows.selectable(end):
            end += 1
        return selectable_keys(self.rows, first, end)

    def _extend(self) -> None:
        """Extend the range to the cursor."""
        if self._anchor is None or self.rows is None or self.cursor_index is None:
            return
        start = self.rows.index_of(self._anchor[0])
        if start is None:
            self._anchor = None
            return
        first, last = sorted((start, self.cursor_index))
        if last - first < MOST_MARKS:
            self.marks = self._anchor[1] | frozenset(selectable_keys(self.rows, first, last + 1))

    def set_rows(self, rows: Rows, keep: bool = True, narrowed: bool = False) -> None:
        """Show another snapshot. With `keep` the selected row stays on its line of the screen.

        If that row is gone, select the next that is not; if it is scrolled out, keep the top row in place instead.
        With `narrowed`, as by another filter, select the first for one that is gone, and show the selected one."""
        old, before, top = self.rows, self.cursor_key, self._top
        line = self.line_of(self.cursor_index)
        self.rows, self._generation = rows, self._generation + 1
        cursor, scroll = 0, 0
        if keep and old and before is not None and self.cursor_index is not None:
            cursor, there = self._find_cursor(old, rows, self.cursor_index, narrowed)
            if narrowed and (not there or line is None):
                scroll = max(0, cursor - MOST_HEADINGS)
            elif line is not None:
                scroll = self._top_for(cursor, line)
            else:
                anchor = rows.index_of(old.key(top)) if top < len(old) else None
                scroll = top if anchor is None else anchor
        if top == 0 and cursor < max(1, self._height):
            # at the top, show new rows as they arrive
            scroll = 0
        self.cursor_index = selectable_from(self.rows, cursor, 1)
        self.cursor_key = None if self.cursor_index is None else rows.key(self.cursor_index)
        # actions must not apply to rows that are no longer shown
        if self._marks:
            self.marks = rows.keys_present(self._marks)
        if self.is_mounted:
            self._measure()
            self.jump(scroll)
            self.refresh_changed()
            if self.cursor_key != before:
                self.post_message(self.Highlighted(self, self.cursor_key))

    def _find_cursor(self, old: Rows, rows: Rows, index: int, narrowed: bool) -> tuple[int, bool]:
        """Return where in `rows` the cursor goes that was at `index` of `old`, and whether its record is there. For one
        that is gone it is the next that is still there; the first, where the user `narrowed` the list. It goes back to
        one that was gone: not in a list that is used, where a key would act on another record."""
        if self._gone is not None and (found := rows.index_of(self._gone)) is not None:
            self._gone = None
            if not self.has_focus:
                return found, True
        if (found := rows.index_of(old.key(index))) is not None:
            return found, True
        if narrowed:
            return 0, False
        self._gone = self._gone or old.key(index)
        for near in range(index + 1, min(len(old), index + NEXT_ROWS)):
            if old.selectable(near) and (found := rows.index_of(old.key(near))) is not None:
                return found, False
        return min(index, len(rows) - 1), False

    def refresh_rows(self) -> None:
        """Redraw the visible rows with new content, as after a page is loaded."""
        self._generation += 1
        self._measure()
        self.refresh()

    def select(self, key: Hashable) -> bool:
        """Move the cursor to the row of `key`; return False if there is none."""
        index = self.rows.index_of(key) if self.rows else None
        if index is not None:
            self._move_to(index)
        return index is not None and self.cursor_key == key

    def flash(self, key: Hashable) -> None:
        """Highlight the row of `key` briefly, as after another process changed it; without animations, until the cursor
        moves."""
        self._flashing.add(key)
        self._refresh_keys({key})
        if self.app.animation_level != "none":
            self.set_timer(FLASH_SECONDS, lambda: self._end_flash({key}))

    def action_move(self, step: int) -> None:
        self._move_to((self.cursor_index or 0) + step, step)

    def action_page(self, pages: float) -> None:
        shown = len({index for index, _ in self._layout()}) if self.rows else self._height
        distance = int(max(2, shown) * pages)
        self._move_to((self.cursor_index or 0) + distance, 1 if pages > 0 else -1, self._top + distance)

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(len(self.rows or ()) - 1, -1)

    def action_choose(self) -> None:
        if self.cursor_index is not None:
            self.post_message(self.Chosen(self, self.cursor_key))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        places = self._layout()
        index = -1 if offset is None or offset.y >= len(places) else places[offset.y][0]
        if self.rows and 0 <= index < len(self.rows) and self.rows.selectable(index):
            if event.shift and self._anchor is None and event.button != RIGHT_BUTTON:
                self.mark_range()
            self._move_to(index)
            # the keys go to a field beside it
            if not self.can_focus:
                self.action_choose()
            elif event.button == RIGHT_BUTTON:
                self.post_message(self.Asked(self, self.cursor_key))
            elif event.shift:
                self._anchor = None
            elif event.ctrl or (offset is not None and offset.x < self.mark_cells):  # the cell of the mark
                self.marks = self._marks ^ {self.rows.key(index)}
            elif event.chain == 2 or self.opens_at_click:
                self.action_choose()

    def on_focus(self) -> None:
        self._refresh_row(self.cursor_index)
        # a list that was hidden may have got other rows
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        if self.cursor_index is not None and self._height and self.line_of(self.cursor_index) is None:
            self._move_to(self.cursor_index)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor_index)

    def _move_to(self, index: int, step: int = 1, scroll: int | None = None) -> None:
        """Move the cursor to `index`, skipping headings; scroll to `scroll`, or as little as necessary."""
        if not self.rows or (target := selectable_from(self.rows, index, step)) is None:
            return
        left, before = self.cursor_index, self.cursor_key
        self.cursor_index, self.cursor_key = target, self.rows.key(target)
        if self.app.animation_level == "none":
            self._end_flash(self._flashing.copy())
        # show the headings above the first row too
        above = target
        while above > 0 and target - above < MOST_HEADINGS and not self.rows.selectable(above - 1):
            above -= 1
        top = self._top if scroll is None else max(0, min(scroll, self._top_for(len(self.rows) - 1)))
        self.jump(min(max(top, self._top_for(target)), above))
        if left != target:
            self._refresh_row(left)
            self._refresh_row(target)
        if self.cursor_key != before:
            self._gone = None
            self._extend()
            self.post_message(self.Highlighted(self, self.cursor_key))

    def _lines_of_row(self, index: int) -> Sequence[RowLine]:
        """Return the lines of a row."""
        assert self.rows is not None
        place = (index, self._width, self._generation)
        if (lines := self._texts.get(place)) is None:
            lines = self._texts[place] = self.rows.lines(index, max(1, self._width - 1))
        return lines

    def _layout(self) -> Sequence[tuple[int, int]]:
        """Return (row, line of it) for each line of the screen, as far as there are rows."""
        size = len(self.rows) if self.rows else 0
        of = (self._top, self._width, self._height, self._generation, size)
        if self._places[0] != of:
            places: list[tuple[int, int]] = []
            for index in range(self._top, size):
                if len(places) >= self._height:
                    break
                places += [(index, line) for line in range(len(self._lines_of_row(index)))]
            self._places = (of, places[: self._height])
        return self._places[1]

    def _height_of(self, index: int) -> int:
        return len(self._lines_of_row(index)) if self._width else 1

    def height_of_rows(self, most: int) -> int:
        """Return how many lines all rows take; `most` if they take more."""
        lines = 0
        for index in range(len(self.rows or ())):
            if lines >= most:
                break
            lines += len(self._lines_of_row(index))
        return min(lines, most)

    def line_of(self, index: int | None) -> int | None:
        """Return the line of the screen on which a row begins; None if it is not on it."""
        if index is None or not self._width:
            return 0 if index is not None and index == self._top else None
        return next((y for y, (row, _) in enumerate(self._layout()) if row == index), None)

    def _top_for(self, index: int, line: int | None = None) -> int:
        """Return the top row with which row `index` begins on a line of the screen, or, without one, ends on the
        last."""
        left = self._height - self._height_of(index) if line is None else line
        top = min(index, len(self.rows or ()))
        while top > 0 and left >= (height := self._height_of(top - 1)):
            top, left = top - 1, left - height
        return top

    def _measure(self) -> None:
        """Tell the scrollbar how far the list goes: until its last row ends on the last line."""
        self._width = self.scrollable_content_region.width
        size = len(self.rows or ())
        last = self._top_for(size - 1) if size and self._height else 0
        # it comes, and takes its width from the rows
        if last and not self.show_vertical_scrollbar:
            self._width -= self.styles.scrollbar_size_vertical
            last = self._top_for(size - 1)
        self.virtual_size = Size(1, last + self._height if last else min(size, self._height))

    def on_mount(self) -> None:
        self._measure()
        if self.cursor_index is not None:
            self.post_message(self.Highlighted(self, self.cursor_key))

    def on_resize(self) -> None:
        cursor = self.cursor_index if self.has_focus or self.line_of(self.cursor_index) is not None else None
        self._height = self.scrollable_content_region.height
        self._measure()
        # it may have been drawn with its new size already, but with as many rows as before
        self.refresh()
        if cursor is not None:
            self._move_to(cursor)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        # The scrollbar repaints at every step, which costs half a list; its thumb moves by eighths of a cell.
        eighth = max(1.0, self.virtual_size.height / (8 * max(1, self._height)))
        if old_value // eighth != new_value // eighth:
            self.vertical_scrollbar.position = new_value
        else:
            self.vertical_scrollbar.set_reactive(ScrollBar.position, new_value)
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)

    def _refresh_row(self, index: int | None) -> None:
        if (line := self.line_of(index)) is not None and index is not None:
            self.refresh(Region(0, line, self._width or self.size.width, self._height_of(index)))

    def _refresh_keys(self, keys: Set[Hashable]) -> None:
        """Repaint the rows of `keys`. Checks the visible rows only, since a million may be marked."""
        if keys and self.rows:
            for index in dict.fromkeys(row for row, _ in self._layout()):
                if self.rows.key(index) in keys:
                    self._refresh_row(index)

    def _end_flash(self, keys: Set[Hashable]) -> None:
        self._flashing -= keys
        self._refresh_keys(keys)

    def draw_lines(self, crop: Region) -> list[Strip]:
        self._width = self.scrollable_content_region.width
        return super().draw_lines(crop)

    def render_rows(self, lines: range) -> list[Strip]:
        rows, focus = self.rows, _CURSOR if self.has_focus else _BLURRED
        if not rows:
            return [self._empty_line(y) for y in lines]
        blank, places, found = Strip.blank(self._width, self._style(0, "")), self._layout(), list[Strip]()
        for index, line in places[lines.start : lines.stop]:
            state = focus if index == self.cursor_index else 0
            if self._marks or self._flashing:
                key = rows.key(index)
                state |= (_MARKED if key in self._marks else 0) | (_FLASH if key in self._flashing else 0)
            place = (index, self._width, state, self._generation)
            strips: Sequence[Strip] | None = self._strips.get(place)
            if strips is None:
                strips = self._strips[place] = [
                    self._strip(number, pairs, state) for number, pairs in enumerate(self._lines_of_row(index))
                ]
            found.append(strips[line])
        return [*found, *[blank] * (len(lines) - len(found))]

    def _strip(self, number: int, pairs: RowLine, state: int) -> Strip:
        """Draw one line of a row, with the gutter before it."""
        gutter = self.GUTTER[bool(state & _BLURRED) + 2 * bool(state & _CURSOR) + 3 * bool(state & _MARKED)]
        segments = [Segment(" " if number else gutter, self._style(state, "marked" if state & _MARKED else ""))]
        segments += [Segment(visible(text), self._style(state, name)) for text, name in pairs]
        return Strip(segments).adjust_cell_length(self._width, self._style(state, ""))

    def _empty_line(self, y: int) -> Strip:
        lines = Text(visible(self.empty_text, newlines=True)).wrap(self.app.console, max(1, self._width - 2))
        line = Segment(f" {lines[y].plain}" if y < len(lines) else "", self._style(0, "dim"))
        return Strip([line]).adjust_cell_length(self._width, line.style)

    def _style(self, state: int, name: str) -> Style:
        """Return the style of a look in a row of `state`."""
        return self.combine(*(look for bit, look in ROW_LOOKS if state & bit), name)
