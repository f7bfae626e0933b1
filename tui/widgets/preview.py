"""The preview: a record in full, with its citations as links.

It draws by the Line API, so that following the cursor costs a few lines and no layout. Texts are escaped here (the
first layer against hostile text); only citations in a text become links."""

from __future__ import annotations

import re
from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from store.base.citations import Citation, find_citations
from store.base.errors import MemorandaError, NotFound
from store.base.models import Checkpoint, Chunk, Commit, Proposal, Record, Step, Turn
from store.search.lookup import get_record, key_of_record
from store.search.results import WordMarker
from store.text.display import visible
from tui.input.key_table import LIST_KEYS
from tui.render.details import brief_lines, indexed_lines
from tui.render.lines import StyledLine
from tui.render.search_results import is_match_style, mark_matches
from tui.theme.line_filters import cut_pieces, fit_cells
from tui.widgets.bars import CachedLines, LineView, SaysDefects, bind_key
from tui.workers.engine import Engine

# a text, its style, the index of its citation or -1
PreviewPiece = tuple[str, str, int]
PreviewRow = tuple[PreviewPiece, ...]
# cells of a record's lines, which are read more easily so; other output takes all of the width
PROSE_CELLS = 84
# lines of a record below which its first citation is scrolled to, however low the preview is
SCREEN_LINES = 30
# characters by which the beginning of a text is recognised
SURE_CHARACTERS = 8
# a diff's lines: no citations, break anywhere
CODE_STYLES = frozenset(("added", "removed", "hunk", "plain"))


class Preview(LineView, can_focus=True, inherit_bindings=False):
    """Shows lines of (text, style) pieces; posts `Opened` when a citation in them is followed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind_key(replace(key, id=f"preview.{key.id}", action=f"scroll_by_{key.action}", help="Scroll"))
        for key in LIST_KEYS
    ]
    DEFAULT_CSS = "Preview { width: 1fr; height: 1fr; overflow: hidden; }"

    @dataclass
    class Opened(Message):
        """A citation was followed, by Enter or a click."""

        citation: Citation

    class Selected(Message):
        """Another citation was selected, or none; or the selected one is another after other lines came."""

    selected: reactive[int] = reactive(-1)
    """The index of the selected citation; -1 for none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[StyledLine] = []
        self.citations: list[Citation] = []
        self._rows: list[PreviewRow] = []
        # the first row of each line
        self._starts: list[int] = []
        self._wrapped_at = 0
        self._own = ""

    def show_lines(self, lines: Sequence[StyledLine], own: str = "", stay: bool = False) -> None:
        """Show these lines from the top, or with `stay` at the current scroll position; `own`, the record's own
        citation, is no link."""
        before = self.citations
        self.lines, self._own = list(lines), own
        self._wrap()
        if self.selected >= 0 and not (stay and before == self.citations):
            self.set_reactive(Preview.selected, -1)
            self.post_message(self.Selected())
        if not stay:
            self.jump(0)
        self.refresh_changed()

    def place_of(self, text: str, columns: Sequence[int]) -> tuple[int, int] | None:
        """Return the (column, visible line) at which a text begins, in one of these columns; None if it begins
        elsewhere."""
        start = visible(text.split("\n")[0]).strip()
        for y in range(self.size.height):
            whole = "".join(part for part, _, _ in self._at(y))
            for column in columns:
                here = whole[column:].rstrip()
                if len(here) >= min(SURE_CHARACTERS, len(start)) > 0 and (start.startswith(here) or here == start):
                    return column, y
        return None

    def show_match(self, line: int = 0, column: int = 0) -> None:
        """Scroll to the first matching word from a character of one of the lines on. Where none is within a screen of
        it, scroll to that character."""
        height = self.size.height
        begin = self._row_of(line, column)
        rows = enumerate(self._rows[begin : begin + height if begin else None], begin)
        y = next((y for y, row in rows if any(is_match_style(look) for _, look, _ in row)), begin)
        if y >= height:
            self.jump(y - height // 3)

    def _row_of(self, line: int, column: int) -> int:
        """Return the row on which a character of a line stands, or one before it: a row ends without its spaces."""
        if not 0 < line < len(self._starts):
            return 0
        y = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._rows)
        while y + 1 < end and (column := column - sum(len(text) for text, _, _ in self._rows[y])) > 0:
            y += 1
        return y

    def extend(self, lines: Sequence[StyledLine]) -> None:
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
        top, height, fixed = self._top, self.size.height, self._fixed_lines
        y = next((y for y, row in enumerate(self._rows) if any(index == one for _, _, one in row)), 0)
        if not (y < fixed or top + fixed <= y < top + height):
            self.jump(max(0, y - height // 2))

    def select_visible(self) -> None:
        """Select the first citation from the first visible line on, and scroll until it is seen if it is on the next
        page, or within a screen's lines where the preview is low; none if it is farther, since Enter would open what is
        not seen; the last one if all are above."""
        top, height = self._top, self.size.height
        seen = enumerate(self._rows[top:])
        below = (
            (y, index)
            for y, row in seen
            for _, _, index in row
            if index >= 0 and (y >= self._fixed_lines or not top)
        )
        line, self.selected = next(below, (0, len(self.citations) - 1))
        if line >= max(2 * height, SCREEN_LINES):
            self.selected = -1
        elif line >= height:
            self.jump(top + line - height + 1)

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
        self.scroll_relative(
            y=int(max(2, self.size.height - 1 - self._fixed_lines) * pages), animate=False, force=True
        )

    def action_scroll_by_first(self) -> None:
        self.jump(0)

    def action_scroll_by_last(self) -> None:
        self.jump(len(self._rows))

    def watch_selected(self) -> None:
        self.refresh()
        self.post_message(self.Selected())

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
            # it was rendered before the resize event arrived
            self.refresh()

    def _wrap(self) -> None:
        """Wrap the lines at the current width, and find their citations."""
        # the last column is the scrollbar's
        width = max(8, self.size.width - 1)
        self._wrapped_at = self.size.width
        self.citations = []
        self._rows = []
        self._starts = []
        for line in self.lines:
            self._starts.append(len(self._rows))
            pieces = [part for text, style in line for part in self._citation_pieces(text, style)]
            if any(style == "cut" for _, style in line):
                self._rows.append(tuple(_cut_pieces(pieces, width)))
            elif len(line) == 1 and line[0][1] in CODE_STYLES:
                self._rows += [((part, line[0][1], -1),) for part in chop_cells(pieces[0][0], width)] or [()]
            else:
                self._rows += map(tuple, _wrap_pieces(pieces, min(width, PROSE_CELLS) if self._own else width))
        # bypass the reactive, which would lay out the whole screen at every move of a cursor
        self.set_reactive(Preview.virtual_size, Size(1, len(self._rows)))

    def _citation_pieces(self, text: str, style: str) -> list[PreviewPiece]:
        """Split a piece at its citations, each with its index."""
        text = visible(text)
        if "#" not in text or style in CODE_STYLES or style == "cut":
            return [(text, style, -1)]
        pieces, at = [], 0
        for start, end, citation in find_citations(text):
            if str(citation) == self._own:
                continue
            pieces += [(text[at:start], style, -1), (text[start:end], "cite", len(self.citations))]
            self.citations.append(citation)
            at = end
        return [piece for piece in (*pieces, (text[at:], style, -1)) if piece[0]]

    def render_rows(self, lines: range) -> list[Strip]:
        """Render these of the lines that are seen, each with the scrollbar's cell at the right edge."""
        width, height = self.size
        top, fixed, thumb = self._top, self._fixed_lines, self._thumb(height)
        strips = []
        for y in lines:
            row = self._row_at(y if y < fixed else y + top)
            selected = self.selected if any(index == self.selected for _, _, index in row) else -1
            place = (row, selected, y in thumb, width)
            if (strip := self._strips.get(place)) is None:
                strip = self._strips[place] = self._draw_row(*place)
            strips.append(strip)
        return strips

    def _draw_row(self, row: PreviewRow, selected: int, thumb: bool, width: int) -> Strip:
        segments = [
            Segment(text, self.combine(*("selected" if 0 <= index == selected else look).split("+")))
            for text, look, index in row
        ]
        strip = Strip(segments).adjust_cell_length(width - 1, self.combine(""))
        edge = Segment("▐", self.combine("rule")) if thumb else Segment(" ", self.combine(""))
        return Strip.join((strip, Strip([edge])))

    def _at(self, y: int) -> PreviewRow:
        """Return the row on a line of the screen. The first of a record, which name it, stay when the rest scrolls."""
        return self._row_at(y if y < self._fixed_lines else y + self._top)

    def _row_at(self, index: int) -> PreviewRow:
        return self._rows[index] if index < len(self._rows) else ()

    @property
    def _fixed_lines(self) -> int:
        """Return how many lines at the top do not scroll: what it is, and its title."""
        return min(2, self.size.height // 3) if self._own else 0

    def _thumb(self, height: int) -> range:
        """Return the lines that the scrollbar's thumb covers. It is drawn here, so that showing or hiding it costs no
        layout."""
        rows = len(self._rows)
        if rows <= height:
            return range(0)
        size = max(1, height * height // rows)
        start = (height - size) * self._top // (rows - height)
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


def _cut_pieces(pieces: Sequence[PreviewPiece], width: int) -> list[PreviewPiece]:
    """Return the pieces in a line of `width` cells; the last piece ends with an ellipsis if it was truncated."""
    *first, (text, style, index) = pieces
    room = width - sum(cell_len(part) for part, _, _ in first)
    return [*first, (text if cell_len(text) <= room else fit_cells(text, room), style, index)]


def _wrap_pieces(pieces: Sequence[PreviewPiece], width: int) -> list[list[PreviewPiece]]:
    """Wrap pieces into rows of at most `width` cells, at spaces if possible: a citation keeps its brackets. Text after
    a label wraps beside it, not below."""
    if sum(cell_len(text) for text, _, _ in pieces) <= width:
        return [list(pieces)]
    label = pieces[0][1].partition("+")[0] == "label"
    indent = min(cell_len(pieces[0][0]), width // 2) if label else 0
    words: list[list[PreviewPiece]] = [[]]
    for text, style, index in pieces:
        for part in re.findall("[^ ]+ *| +", text):
            if part[0] == " ":
                words.append([])
            words[-1].append((part, style, index))
            if part[-1] == " ":
                words.append([])
    rows: list[list[PreviewPiece]] = [[]]
    left = width
    for word in filter(None, words):
        text = "".join(part for part, _, _ in word)
        while (size := cell_len(text.rstrip() or text)) > left:
            # the next row
            fits = bool(rows[-1]) and size <= width - indent
            if not fits and left > 0:
                end = len(chop_cells(text, left)[0])
                rows[-1] += cut_pieces(word, 0, end)
                word, text = cut_pieces(word, end, len(text)), text[end:]
            rows.append([(" " * indent, "", -1)] if fits and indent else [])
            left = width - indent * fits
        rows[-1] += word if cell_len(text) <= left else cut_pieces(word, 0, len(text.rstrip()))
        left -= cell_len(text)
    return rows


# The preview pane: the record under the cursor, and the history of citations followed from it.

# cells of a line that says how much of a file a commit changed
LEAST_DIFF_CELLS, MOST_DIFF_CELLS = 40, 100
# seconds on a commit before git is run for its diff
DIFF_DELAY = 0.1
NOT_HERE: list[StyledLine] = [[("It is not here any more.", "dim")]]


class PreviewPane(SaysDefects, CachedLines, Vertical):
    """Shows `record`; None if there is none, or a text is shown instead."""

    @dataclass
    class Failed(Message):
        """A citation could not be opened."""

        error: MemorandaError

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.engine: Engine | None = None
        # the record, the step or the entry that is shown
        self.record: Any = None
        # whether it shows a verb's output
        self.reading_out = False
        # the description when it was shown
        self._described: list[StyledLine] | None = None
        # lines above the record
        self.before: Sequence[StyledLine] = ()
        # of the search's words
        self._marker: WordMarker | None = None
        # the character of a turn that the passage found begins at
        self._start = 0
        # (record, its selected citation)
        # back: those left by following citations
        self._trail: list[tuple[Any, int]] = []
        # forward: those left by going back
        self._ahead: list[tuple[Any, int]] = []
        # when a commit's diff is to be read
        self._soon: TimerHandle | None = None

    DEFAULT_CSS = "PreviewPane { layers: default over; }"

    def compose(self) -> ComposeResult:
        yield Preview(id="preview")

    @cached_property
    def preview(self) -> Preview:
        return self.query_one("#preview", Preview)

    def follow(
        self,
        record: Record | Step | None,
        before: Sequence[StyledLine] = (),
        marker: WordMarker | None = None,
        start: int = 0,
    ) -> None:
        """Show the record at a list's cursor, below the lines `before`, with the words of `marker` highlighted and,
        without such lines, the first of them in view, of a turn the first from its character `start` on; clear the back
        history."""
        self.before, self._marker, self._start = before, marker, start
        self.reading_out = False
        self._trail.clear()
        self._ahead.clear()
        if record is None:
            self.record = None
            self.preview.show_lines(before)
        else:
            self._show_record(record)

    def show_entry(self, entry: Any, stay: bool = False) -> None:
        """Show the lines of a row that is no record; those that are read on a worker once they are."""
        again = stay and getattr(self.record, "key", None) == entry.key
        if not again:
            self.follow(None)
        self.record = entry
        if entry.slow:
            if not again:
                self.preview.show_lines([[("…", "dim")]])
            self._read_apart(entry.describe, partial(self._show_entry_lines, entry))
        else:
            self.preview.show_lines(entry.describe(), stay=again)

    @work(thread=True, exclusive=True, exit_on_error=False, description="read what takes longer than a frame")
    def _read_apart(
        self, read: Callable[[], list[StyledLine]], show: Callable[[list[StyledLine]], None], problem: str = ""
    ) -> None:
        """Read lines on a worker, then show them."""
        try:
            lines = read()
        except NotFound:
            lines = NOT_HERE
        except MemorandaError as error:
            lines = [[(visible(f"{problem}{error}"), "dim" if problem else "warning")]]
        if self.engine is not None and not self.engine.is_closed:
            self.app.call_from_thread(show, lines)

    def _show_entry_lines(self, entry: Any, lines: list[StyledLine]) -> None:
        if entry is self.record:
            self.preview.show_lines(lines, stay=True)

    def read_out(self, lines: list[str], focus: bool = True) -> None:
        """Show a verb's output; its citations can be followed."""
        self.tell([[(line, "")] for line in lines])
        if focus:
            # now, or the record at the list's cursor would replace it
            self.screen.set_focus(self.preview)

    def tell(self, lines: list[StyledLine]) -> None:
        """Show lines that belong to no record, until a cursor moves."""
        self.follow(None)
        self.reading_out = True
        self.preview.show_lines(lines)

    def enter(self) -> None:
        """Focus the preview and select the first visible citation; this counts as opening the record."""
        self._count()
        self.preview.focus()
        self.preview.select_visible()

    def _count(self) -> None:
        """Count that the record was opened, unless the view is of the past."""
        engine, record = self.engine, self.record
        if engine is not None and engine.past is None and isinstance(record, Record):
            number = key_of_record(record)
            engine.write(lambda memory: memory.search.log.count_opened([number]), lambda result, error: None)

    def open(self, citation: Citation) -> None:
        """Show the record of a citation, add the previous record to the back history, and focus the preview."""
        if self.engine is None:
            return
        try:
            found = get_record(self.engine.screen.database, citation)
        except MemorandaError as error:
            self.post_message(self.Failed(error))
            return
        if self.record is not None:
            self._trail.append((self.record, self.preview.selected))
        self._ahead.clear()
        self.before, self._start = (), 0
        self._show_record(found)
        self.enter()

    def go_back(self) -> bool:
        """Go back to the previous record; return False if there is none."""
        return self._step(self._trail, self._ahead)

    def forward(self) -> bool:
        """Go forward after going back; return False if there is nothing ahead."""
        return self._step(self._ahead, self._trail)

    def _step(self, source: list[tuple[Any, int]], other: list[tuple[Any, int]]) -> bool:
        if not source:
            return False
        if self.record is not None:
            other.append((self.record, self.preview.selected))
        record, selected = source.pop()
        self._start = 0
        self._show_record(record)
        if 0 <= selected < len(self.preview.citations):
            self.preview.select_at(selected)
        else:
            self.preview.select_visible()
        return True

    def reload(self) -> bool:
        """Reload the record; return False if it is deleted."""
        if self.engine is None or not isinstance(self.record, Record | Step):
            return True
        found = self.engine.reread(self.record)
        if found is not None:
            self._show_record(found, again=True)
        return found is not None

    def _show_record(self, record: Record | Step, again: bool = False) -> None:
        """Show a record; one that takes longer than a frame, since all later changes or a file is read for it, in short
        until its description is there. The lists may still show one that another process purged, or one of the past."""
        assert self.engine is not None
        self.record, read_all = record, None
        if isinstance(record, Checkpoint | Chunk | Proposal):
            show = partial(self._add_description, record)
            read_all = partial(self._read_apart, partial(self.engine.describe_apart, record), show)
            if again:
                read_all()
                return
            lines = brief_lines(record)
            if isinstance(record, Chunk):
                lines += [[], *indexed_lines(record)]
        else:
            try:
                lines = self.engine.describe(record)
            except NotFound:
                lines = NOT_HERE
            if again and lines == self._described:
                # a commit's diff stays as well
                return
        self._described = lines
        if self._soon is not None:
            self._soon.cancel()
        self.preview.show_lines(self._compose_lines(lines), getattr(record, "citation", ""), stay=again)
        if read_all is not None or not (again or self.before):
            self.preview.show_match(*self._passage(record))
        if read_all is not None:
            read_all()
        elif isinstance(record, Commit):
            # the loop's own, since a timer of Textual's starts a task, at each commit that the cursor passes
            self._soon = get_running_loop().call_later(DIFF_DELAY, self._read_diff, record)

    def _passage(self, record: Record | Step) -> tuple[int, int]:
        """Return the line of the preview, and the character of it, that the passage found of a turn begins at."""
        if not self._start or not isinstance(record, Turn):
            return 0, 0
        before = record.text[: self._start]
        return 1 + before.count("\n"), len(before) - before.rfind("\n") - 1

    def _add_description(self, record: Record, lines: list[StyledLine]) -> None:
        if record is self.record:
            still = self.preview.scroll_offset.y == 0
            self.preview.show_lines(self._compose_lines(lines), record.citation, stay=True)
            if still:
                self.preview.show_match()

    def _compose_lines(self, lines: list[StyledLine]) -> list[StyledLine]:
        return [*self.before, *(mark_matches(lines, self._marker) if self._marker is not None else lines)]

    def _read_diff(self, commit: Commit) -> None:
        if self.engine is None or not self.is_attached:
            return
        cells = max(LEAST_DIFF_CELLS, min(MOST_DIFF_CELLS, self.preview.size.width - 1))
        self._read_apart(partial(self.engine.diff, commit, cells), partial(self._add_diff, commit), "No diff: ")

    def _add_diff(self, commit: Commit, lines: list[StyledLine]) -> None:
        if isinstance(self.record, type(commit)) and commit.citation == self.record.citation and lines:
            self.preview.extend([[], *lines])
