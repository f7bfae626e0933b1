"""Show the record at the cursor in the preview, and follow citations there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from store.base.citations import named as named_citation
from store.base.errors import MemorandaError
from store.base.models import Fact, GlobalFact, Task
from store.base.record_keys import unpack as unpack_key
from tui.input.key_table import CONTEXT, FACTS, HITS, INBOX, TASKS, TIMELINE
from tui.input.pane_table import BY_NAME
from tui.lists.context_rows import ContextRows
from tui.main_screen.controller import first
from tui.panes.host import Host
from tui.widgets.preview import Preview
from tui.widgets.preview_pane import PreviewPane
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.models import Record, Step
    from tui.lists.hit_rows import HitRows
    from tui.lists.record_rows import KeyedRows
    from tui.panes.host import PaneController
    from tui.render.field_diff import Line
    from tui.widgets.bars import Footer


class PreviewHost(Host, Protocol):
    """The interface that the preview needs of the screen."""

    @property
    def footer(self) -> Footer: ...
    @property
    def pane_controllers(self) -> Sequence[PaneController]: ...
    def controller_of(self, name: str) -> PaneController: ...
    def preview_hit(self, source: RecordList) -> bool: ...


class PreviewController:
    """Shows the record under the cursor: through the search or a pane's controller if they add to it, else directly."""

    def __init__(self, host: PreviewHost) -> None:
        self.host = host

    def follow(self, source: RecordList) -> None:
        """Show the row at a list's cursor in the preview; not while a pane without a list is the current one."""
        host = self.host
        if source.id != HITS and host.found(host.current) is None:
            return
        providers = [host.preview_hit, *(controller.preview for controller in host.pane_controllers)]
        if not first([lambda show=show: show(source) for show in providers]):  # type: ignore[misc]
            record = self._record(source)
            host.pane.follow(record, () if record is not None else self._missing(source))

    def _missing(self, source: RecordList) -> Sequence[Line]:
        """Return what an empty list waits for; nothing if it is only narrowed, or of the past."""
        host, name = self.host, source.id or ""
        if host.engine is None or source.rows is None or len(source.rows) or name not in BY_NAME or host.view.past:
            return ()
        if BY_NAME[name].is_narrowed(host.view):
            return ()
        from tui.lists.missing import missing

        return missing(host.engine.screen, name)

    def _record(self, source: RecordList) -> Record | Step | None:
        rows, index = source.rows, source.cursor_index
        if self.host.engine is None or rows is None or index is None:
            return None
        return cast("KeyedRows | HitRows", rows).record(index)

    def highlighted(self, event: RecordList.Highlighted) -> None:
        """Handle a cursor move. A reload of a list does not replace a text shown as output."""
        if self.host.pane.reading_out and self.host.focused is not event.record_list:
            return
        if event.record_list.id == self.host.place:
            self.follow(event.record_list)
            if self.host.focused is event.record_list:
                self.host.footer.show_kind(kind_at_cursor(event.record_list), states_at_cursor(event.record_list))

    def choose(self) -> None:
        """Open the row under the cursor: by its pane's controller, else by focusing the preview."""
        if not self._pane.choose():
            self.host.pane.enter()

    @property
    def _pane(self) -> PaneController:
        return self.host.controller_of(self.host.current)

    def failed(self, event: PreviewPane.Failed) -> None:
        self.host.say(str(event.error), "warning")

    def action_open(self) -> None:
        pane = self.host.pane
        if self._pane.open() or pane.preview.open_selected():
            return
        if self.host.focused is pane.preview:
            pane.preview.select(1)
        else:
            pane.enter()

    def action_citation(self, step: int) -> None:
        if not self._pane.citation(step):
            self.host.pane.preview.focus()
            self.host.pane.preview.select(step)

    def action_back(self) -> None:
        if not (self._pane.back() or self.host.pane.back()) and self.host.focused is self.host.pane.preview:
            self.host.list_of(self.host.place).focus()

    def action_forward(self) -> None:
        self.host.pane.forward()

    def action_scroll_preview(self, step: int) -> None:
        self.host.pane.preview.scroll_relative(y=step * 4, animate=False, force=True)

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        try:
            self.host.pane.open(named_citation(text, "fact"))
        except MemorandaError as error:
            self.host.say(str(error), "warning")

    def selected(self, event: Preview.Selected) -> None:
        """Handle a change of the selected citation, in the preview or in a pane that is one, where that has the
        focus."""
        if self.host.focused is event.preview:
            self._pane.selected()
            self.host.draw_footer()

    def leave(self) -> bool:
        """Return from the preview to the list."""
        if self.host.focused is not self.host.pane.preview:
            return False
        self.host.list_of(self.host.place).focus()
        return True


def kind_at_cursor(shown: RecordList) -> str:
    """Return the kind of the record at the cursor, in the lists of several kinds, and in the inbox that of a proposal
    which is only accepted or rejected; else, or with marks, empty."""
    key, at = shown.cursor_key, shown.cursor_index
    if shown.id == CONTEXT and at is not None and not shown.marks:  # the prompt and the fixed text are no records
        return unpack_key(key)[0] if isinstance(key, int) else "text"
    if shown.marks or not isinstance(key, int):
        return ""
    if shown.id == INBOX and at is not None:
        kind = getattr(cast("KeyedRows", shown.rows).record(at), "kind", "")
        return f"{kind} proposal" if kind in ("merge", "forget") else "proposal"
    return unpack_key(key)[0] if shown.id in (TIMELINE, HITS) else ""


def states_at_cursor(shown: RecordList) -> frozenset[str]:
    """Return the states of the record at the cursor by which keys are named; none with marks."""
    rows, at = shown.rows, shown.cursor_index
    if shown.marks or at is None or shown.id not in (FACTS, TASKS, CONTEXT):
        return frozenset()
    record = cast("KeyedRows | ContextRows", rows).record(at)
    record = record.own if isinstance(record, GlobalFact) else record
    if isinstance(record, Task):
        return frozenset((record.status,))
    pinned = isinstance(record, Fact) and record.pinned
    muted = isinstance(rows, ContextRows) and rows.muted(at)
    return frozenset([*(["pinned"] if pinned else []), *(["muted"] if muted else [])])
