"""Show the memory as of an earlier moment, read-only and marked as such, until escape.

The lists, the preview and the search read another memory through the same interface (`store.services.as_of`). Leaving
restores the previous view."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from store.base.clock import local_time
from store.base.errors import MemorandaError
from tui.input.key_table import PANES, named
from tui.lists.view_state import View
from tui.panes.host import Host
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store.services.as_of import PastMemory, PastState
    from store.services.point_in_time import PointInTime
    from tui.widgets.bars import Footer, Split


class ScreenPosition(NamedTuple):
    """The state to restore: the lists' view, and each list's cursor."""

    view: View
    cursors: Mapping[str, Hashable]


class AsOfHost(Host, Protocol):
    """The interface that the past view needs of the screen."""

    @property
    def footer(self) -> Footer: ...
    def bar(self, name: str) -> Split | None: ...
    def set_class(self, add: bool, *names: str) -> object: ...
    def end_search(self) -> None: ...
    def return_to(self, view: View, pane: str) -> None: ...
    def turn_to(self, past: PastState | None, cursors: Mapping[str, Hashable]) -> None: ...


class AsOfController:
    """Switches the screen to a past moment, and back to now."""

    def __init__(self, host: AsOfHost) -> None:
        self.host = host
        self._left: ScreenPosition | None = None  # what to restore when leaving the past

    @property
    def moment(self) -> PointInTime | None:
        """Return the moment shown; None is now."""
        past = self.host.view.past
        return past.moment if past is not None else None

    def refuses(self) -> bool:
        """Return whether the view is read-only, and if so say so."""
        if self.moment is None:
            return False
        when = local_time(self.moment.at)
        text = f"You are looking at {when}; {named('screen.leave')} comes back to now."
        self.host.say(text, "warning", alone=True)
        return True

    def look_back(self, text: str) -> None:
        """Show everything as of a moment; for `now`, leave the past."""
        if text.strip() == "now":
            self.action_come_back()
        elif self.host.engine is not None and text.strip():
            work = lambda: self._read(text)  # noqa: E731
            self.host.in_background(work, "past", "read how things were", exclusive=True)

    def _read(self, text: str) -> None:
        assert self.host.engine is not None
        try:
            found = self.host.engine.look_back(text)
        except MemorandaError as error:
            self.host.later(self.host.say, str(error), "warning", 8)
            return
        self.host.later(self._show, *found)

    def _show(self, past: PastState, then: PastMemory) -> None:
        assert self.host.engine is not None
        cursors = self._cursors()
        if self._left is None:
            self._left = ScreenPosition(self.host.view, cursors)
        self.host.end_search()
        self.host.engine.enter(past, then)
        self._turn_to(past, cursors)

    def action_come_back(self) -> None:
        """Show the present again, with the previous view, in the pane that is being read."""
        left, self._left = self._left, None
        if self.host.engine is None or left is None:
            return
        self.host.end_search()
        self.host.engine.come_back()
        pane = self.host.current if self.host.found(self.host.current) is not None else self.host.place
        self.host.return_to(left.view, pane)
        self._turn_to(None, left.cursors)
        self.host.say("Back to now.", alone=True)

    def leave(self) -> bool:
        """Return to now; return False if it is shown already."""
        if self.moment is None:
            return False
        self.action_come_back()
        return True

    def _turn_to(self, past: PastState | None, cursors: Mapping[str, Hashable]) -> None:
        """Show this past, or now, with each list's cursor restored if its row exists."""
        self.host.set_class(past is not None, "-past")
        self.host.footer.looking = past is not None
        self.host.footer.show_pane("")
        for name in PANES:
            if (found := self.host.found(name)) is not None:
                found.unmark()
        self.host.pane.follow(None)
        self.host.turn_to(past, cursors)
        self.draw()
        self.host.set_focus(self.host.list_of(self.host.place))
        self.host.draw_footer()

    def draw(self) -> None:
        """Draw the line that names the moment; in fewer words if there is little room."""
        moment, band = self.moment, self.host.bar("past")
        if moment is None or band is None:
            return
        back = (named("screen.leave"), "bold", "come_back")
        compare = (named("history.since"), "bold", "change('history.since')")
        other = (named("past.look"), "bold", "ask_for('history.as_of')")
        right: list[Piece] = [other, (" another  ", "", "ask_for('history.as_of')")]
        right += [compare, (" compare  ", "", "change('history.since')"), back, (" now ", "", "come_back")]
        for words in (moment.words, local_time(moment.at)):
            left: list[Piece] = [("  AS OF ", ""), (visible(words), "bold"), ("  read-only", "")]
            if width(left) + width(right) < self.host.app.size.width:
                break
        band.put_both(left, right)

    def _cursors(self) -> dict[str, Hashable]:
        lists = {name: self.host.found(name) for name in PANES}
        return {name: found.cursor_key for name, found in lists.items() if found is not None}
