"""The preview pane: the record under the cursor, and the history of citations followed from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from store.base.errors import MemorandaError, NotFound
from tui.widgets.cached_lines import Kept
from tui.widgets.preview import Preview
from tui.workers.threads import SaysDefects

if TYPE_CHECKING:
    from store.base.citations import Citation
    from store.base.models import Commit, Record, Step
    from store.search.snippets import Marker
    from tui.render.field_diff import Line
    from tui.workers.engine import Engine

LEAST, MOST = 40, 100  # cells of a line that says how much of a file a commit changed
DIFF_DELAY = 0.1  # seconds on a commit before git is run for its diff
GONE: list[Line] = [[("It is not here any more.", "dim")]]


class PreviewPane(SaysDefects, Kept, Vertical):
    """Shows `record`; None if there is none, or a text is shown instead."""

    class Failed(Message):
        """A citation could not be opened."""

        def __init__(self, error: MemorandaError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.engine: Engine | None = None
        self.record: Record | Step | None = None
        self.reading_out = False  # whether it shows a verb's output
        self._described: list[Line] | None = None  # the description when it was shown
        self._before: Sequence[Line] = ()  # lines above the record
        self._marker: Marker | None = None  # of the search's words
        self._start = 0  # the character of a turn that the passage found begins at
        # (record, its selected citation)
        self._trail: list[tuple[Record | Step, int]] = []  # back: those left by following citations
        self._ahead: list[tuple[Record | Step, int]] = []  # forward: those left by going back
        self._timer: Timer | None = None

    DEFAULT_CSS = "PreviewPane { layers: default over; }"

    def compose(self) -> ComposeResult:
        yield Preview(id="preview")

    @property
    def preview(self) -> Preview:
        return self.query_one("#preview", Preview)

    def follow(
        self, record: Record | Step | None, before: Sequence[Line] = (), marker: Marker | None = None, start: int = 0
    ) -> None:
        """Show the record at a list's cursor, below the lines `before`, with the words of `marker` highlighted and,
        without such lines, the first of them in view, of a turn the first from its character `start` on; clear the back
        history."""
        self._before, self._marker, self._start = before, marker, start
        self.reading_out = False
        self._trail.clear()
        self._ahead.clear()
        if record is None:
            self.record = None
            self.preview.show(before)
        else:
            self._show(record)

    def read_out(self, lines: list[str], focus: bool = True) -> None:
        """Show a verb's output; its citations can be followed."""
        self.tell([[(line, "")] for line in lines])
        if focus:
            self.screen.set_focus(self.preview)  # now, or the record at the list's cursor would replace it

    def tell(self, lines: list[Line]) -> None:
        """Show lines that belong to no record, until a cursor moves."""
        self.follow(None)
        self.reading_out = True
        self.preview.show(lines)

    def enter(self) -> None:
        """Focus the preview and select the first visible citation; this counts as opening the record."""
        self._count()
        self.preview.focus()
        self.preview.select_visible()

    def _count(self) -> None:
        """Count that the record was opened, unless the view is of the past."""
        from store.base.models import Step
        from store.search.lookup import key

        engine, record = self.engine, self.record
        if engine is not None and engine.past is None and record is not None and not isinstance(record, Step):
            number = key(record)
            engine.write(lambda memory: memory.search.accesses.add([number]), lambda result, error: None)

    def open(self, citation: Citation) -> None:
        """Show the record of a citation, add the previous one to the back history, and focus the preview."""
        before, selected = self.record, self.preview.selected
        if self.show(citation):
            if before is not None:
                self._trail.append((before, selected))
            self.enter()

    def show(self, citation: Citation) -> bool:
        """Show the record of a citation; return False if there is none."""
        if self.engine is None:
            return False
        try:
            found = self.engine.lookup(citation)
        except MemorandaError as error:
            self.post_message(self.Failed(error))
            return False
        self._ahead.clear()
        self._before, self._start = (), 0
        self._show(found)
        return True

    def back(self) -> bool:
        """Go back to the previous record; return False if there is none."""
        return self._step(self._trail, self._ahead)

    def forward(self) -> bool:
        """Go forward after going back; return False if there is nothing ahead."""
        return self._step(self._ahead, self._trail)

    def _step(self, source: list[tuple[Record | Step, int]], other: list[tuple[Record | Step, int]]) -> bool:
        if not source:
            return False
        if self.record is not None:
            other.append((self.record, self.preview.selected))
        record, selected = source.pop()
        self._start = 0
        self._show(record)
        if 0 <= selected < len(self.preview.citations):
            self.preview.select_at(selected)
        else:
            self.preview.select_visible()
        return True

    def again(self) -> bool:
        """Reload the record; return False if it is deleted."""
        if self.record is None or self.engine is None:
            return True
        found = self.engine.same(self.record)
        if found is not None:
            self._show(found, again=True)
        return found is not None

    def on_preview_opened(self, event: Preview.Opened) -> None:
        event.stop()
        self.open(event.citation)

    def _show(self, record: Record | Step, again: bool = False) -> None:
        from store.base.models import Checkpoint, Chunk, Commit, Proposal
        from tui.render.details.document_lines import indexed
        from tui.render.details.record_detail import brief

        assert self.engine is not None
        self.record = record
        slow = isinstance(
            record, Checkpoint | Chunk | Proposal
        )  # takes longer than a frame: reads all later changes, or a file
        if slow and again:
            self._describe(record)
            return
        lines = None if slow else self._all_of(record)
        if again and lines == self._described:
            return  # a commit's diff stays as well
        self._described = lines
        if self._timer is not None:
            self._timer.stop()
        if isinstance(record, Checkpoint | Chunk | Proposal):
            lines = brief(record)
            if isinstance(record, Chunk):
                lines += [[], *indexed(record)]
            self.preview.show(self._composed(lines), record.citation)
            self.preview.show_match()
            self._describe(record)
            return
        self.preview.show(self._composed(lines or []), getattr(record, "citation", ""), stay=again)
        if not again and not self._before:
            self.preview.show_match(*self._passage(record))
        if isinstance(record, Commit):
            self._timer = self.set_timer(DIFF_DELAY, lambda: self._read_diff(record))

    def _passage(self, record: Record | Step) -> tuple[int, int]:
        """Return the line of the preview, and the character of it, that the passage found of a turn begins at."""
        from store.base.models import Turn

        if not self._start or not isinstance(record, Turn):
            return 0, 0
        return 1 + record.text.count("\n", 0, self._start), self._start - record.text.rfind("\n", 0, self._start) - 1

    def _all_of(self, record: Record | Step) -> list[Line]:
        """Describe a record. The lists may still show one that another process purged, or one of the past."""
        assert self.engine is not None
        try:
            return self.engine.describe(record)
        except NotFound:
            return GONE

    @work(thread=True, group="describe", exclusive=True, exit_on_error=False, description="describe a checkpoint")
    def _describe(self, record: Record) -> None:
        assert self.engine is not None
        try:
            lines = self.engine.describe_apart(record)
        except NotFound:
            lines = GONE
        if not self.engine.closed:
            self.app.call_from_thread(self._add_description, record, lines)

    def _add_description(self, record: Record, lines: list[Line]) -> None:
        if record is self.record:
            still = self.preview.scroll_offset.y == 0
            self.preview.show(self._composed(lines), record.citation, stay=True)
            if still:
                self.preview.show_match()

    def _composed(self, lines: list[Line]) -> list[Line]:
        from tui.render.highlight import marked

        return [*self._before, *(marked(lines, self._marker) if self._marker is not None else lines)]

    @work(thread=True, group="diff", exclusive=True, exit_on_error=False, description="read a commit's diff")
    def _read_diff(self, commit: Commit) -> None:
        assert self.engine is not None
        try:
            lines = self.engine.diff(commit, max(LEAST, min(MOST, self.preview.size.width - 1)))
        except MemorandaError as error:
            lines = [[(f"No diff: {error}", "dim")]]
        if not self.engine.closed:
            self.app.call_from_thread(self._add_diff, commit, lines)

    def _add_diff(self, commit: Commit, lines: list[Line]) -> None:
        if isinstance(self.record, type(commit)) and commit.citation == self.record.citation and lines:
            self.preview.extend([[], *lines])
