"""Mark records, and find the records that a key applies to. The lists own the marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tui.input.key_table import HITS, named
from tui.panes.host import Host
from tui.widgets.record_list import MOST_MARKS, RecordList

if TYPE_CHECKING:
    from store.base.models import Record, Step
    from tui.panes.host import PaneController
    from tui.widgets.bars import Footer


class MarksHost(Host, Protocol):
    """The interface that marking needs of the screen."""

    def controller_of(self, name: str) -> PaneController: ...
    @property
    def footer(self) -> Footer: ...
    def draw_found(self) -> None: ...


class MarksController:
    """Marks rows of the current list."""

    def __init__(self, host: MarksHost) -> None:
        self.host = host

    @property
    def _list(self) -> RecordList:
        return self.host.list_of(self.host.place)

    def _refused(self) -> bool:
        return self.host.controller_of(self.host.current).refuses_marks()

    def action_mark(self) -> None:
        if self._refused():
            return
        if self.host.focused is self.host.pane.preview:
            self.host.pane.preview.action_scroll_by_page(1)
        else:
            self._list.mark()

    def action_mark_range(self) -> None:
        if self._refused():
            return
        marking = self._list
        marking.mark_range()
        if marking.marking:
            self.host.footer.hint(
                (" Move to mark more; ", ""),
                (named("mark.range"), "$footer-key-foreground bold", "mark_range"),
                (" ends it, ", "", "mark_range"),
                (named("screen.leave"), "$footer-key-foreground bold", "leave"),
                (" unmarks", "", "leave"),
            )
        else:
            self.host.draw_footer()

    def action_mark_all(self) -> None:
        if self._refused():
            return
        self.host.set_focus(self._list)  # the next key applies to the marks, not to the preview
        if not self._list.mark_all():
            self.host.say(
                f"At most {MOST_MARKS:,} records can be marked: narrow the list with {named('list.filter')}, "
                f"{named('list.only')} or a search first.",
                "warning",
            )

    def action_unmark(self) -> None:
        self._list.unmark()

    def leave(self) -> bool:
        if not self._list.marks:
            return False
        self._list.unmark()
        return True

    def marked(self, event: RecordList.Marked) -> None:
        """Handle a change of the marked rows."""
        if event.record_list.id == HITS:
            self.host.draw_found()
        self.host.draw_titles()
        if not event.record_list.marking:  # during a range, the footer shows how to end it
            self.host.draw_footer()

    def target(self) -> Record | Step | None:
        """Return the record that a key applies to: the one that is marked, if it is alone, else the one in the preview,
        which is the one under the cursor."""
        if len(marked := self._marked()) == 1:
            return marked[0]
        if self.host.pane.record is None:
            self.host.say("Nothing is selected.", "warning")
        return self.host.pane.record

    def targets(self) -> Sequence[Record | Step]:
        """Return the marked records of the current list; without marks, the one under the cursor."""
        if marked := self._marked():
            return marked
        record = self.target()
        return [] if record is None else [record]

    def _marked(self) -> Sequence[Record | Step]:
        """Return the marked records of the current list, if it has the focus."""
        if self._list.marks and self.host.engine is not None and self.host.focused is self._list:
            return self.host.engine.read_marked(self.host.place, self._list.marks)
        return []
