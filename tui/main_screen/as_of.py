"""The whole screen as the memory was at a moment, read-only and marked as such, until escape.

The lists, the preview and the search read another memory under the same names (`store.services.as_of`); what was on the
screen before stands there again afterwards.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work

from store.base.clock import local_time
from store.base.errors import MemorandaError
from tui.input.key_table import PANES, named
from tui.lists.view_state import View
from tui.main_screen.navigation import BrowsingScreen
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width
from tui.widgets.bars import Footer, Split
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.services.as_of import PastMemory, PastState
    from store.services.point_in_time import PointInTime


@dataclass(frozen=True)
class ScreenPosition:
    """Where a person was: what the lists showed, the pane they were in, and each list's cursor."""

    view: View
    pane: str
    cursors: dict[str, Hashable]


class LookingBackScreen(BrowsingScreen):
    """The screen's way into the past, and back."""

    _left: ScreenPosition | None = None  # where the person was before they looked back

    @property
    def moment(self) -> PointInTime | None:
        """The moment that is looked at; None is now."""
        return self.view.past.moment if self.view.past is not None else None

    def refuses(self) -> bool:
        """Whether nothing can be changed here; says so."""
        if self.moment is None:
            return False
        when = local_time(self.moment.at)
        self.say(f"You are looking at {when}; {named('screen.leave')} comes back to now.", "warning", alone=True)
        return True

    def look_back(self, text: str) -> None:
        """Show everything as it stood at a moment; at `now`, as it is."""
        if text.strip() == "now":
            self.action_come_back()
        elif self.engine is not None and text.strip():
            self._read_past(text)

    @work(thread=True, group="past", exclusive=True, exit_on_error=False, description="read how things stood")
    def _read_past(self, text: str) -> None:
        assert self.engine is not None
        try:
            found = self.engine.look_back(text)
        except MemorandaError as error:
            self.later(self.say, str(error), "warning", 8)
            return
        self.later(self._show_past, *found)

    def _show_past(self, past: PastState, then: PastMemory) -> None:
        assert self.engine is not None
        if self._left is None:
            self._left = ScreenPosition(self.view, self._current, self._cursors())
        self._end_search()
        self.engine.enter(past, then)
        self._turn_to(past, self._cursors())

    def action_come_back(self) -> None:
        """Show everything as it is, where the person was before."""
        left, self._left = self._left, None
        if self.engine is None or left is None:
            return
        self._end_search()
        self.engine.come_back()
        self.view = left.view
        self.show_pane(left.pane)
        self._list_id = left.pane
        self._turn_to(None, left.cursors)
        self.say("Back to now.", alone=True)

    def _turn_to(self, past: PastState | None, cursors: dict[str, Hashable]) -> None:
        """Show this past, or now, with each list's cursor where it was as far as that is there."""
        self.set_class(past is not None, "-past")
        footer = self.query_one("#footer", Footer)
        footer.looking = past is not None
        footer.show_pane("")
        for name in PANES:
            for shown in self.query(f"#{name}").results(RecordList):
                shown.unmark()
        self.pane.follow(None)
        self._returning = dict(cursors)
        self._lists = None
        self.change_view(past=past)
        self._draw_band()
        self.set_focus(self.list_of(self._list_id))
        self.draw_footer()

    def _draw_band(self) -> None:
        """The line that says which moment is looked at; in fewer words where there is little room."""
        moment = self.moment
        if moment is None:
            return
        band = self.query_one("#past", Split)
        back = (named("screen.leave"), "bold", "come_back")
        compare = (named("history.since"), "bold", "change('past.since')")
        other = (named("past.look"), "bold", "ask_for('past.as_of')")
        right: list[Piece] = [other, (" another  ", "", "ask_for('past.as_of')")]
        right += [compare, (" compare  ", "", "change('past.since')"), back, (" now ", "", "come_back")]
        for words in (moment.words, local_time(moment.at)):
            left: list[Piece] = [("  AS OF ", ""), (visible(words), "bold"), ("  read-only", "")]
            if width(left) + width(right) < self.size.width:
                break
        band.put_both(left, right)

    def place_panes(self) -> None:
        super().place_panes()
        self._draw_band()

    def _cursors(self) -> dict[str, Hashable]:
        return {name: shown.cursor_key for name in PANES for shown in self.query(f"#{name}").results(RecordList)}

    def _leave_more(self) -> bool:
        if self.moment is None:
            return super()._leave_more()
        self.action_come_back()
        return True
