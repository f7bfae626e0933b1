"""Track which pane is the current one: it alone is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from store.base.errors import MemorandaError
from tui.input.key_table import FACTS, HISTORY, HITS, PANES, PREVIEW, TIMELINE, named
from tui.input.pane_table import BY_NAME
from tui.lists.filters.facets import active
from tui.panes.host import Host
from tui.widgets.record_list import RecordList
from tui.widgets.rows import first_of_group

if TYPE_CHECKING:
    from tui.panes.host import PaneController


LEAST = 20  # percent of the screen that a list or a preview keeps


class NavigationHost(Host, Protocol):
    """The interface that navigation needs of the screen."""

    def controller_of(self, name: str) -> PaneController: ...
    def has_pane(self, name: str) -> bool: ...
    def hide_pane(self, name: str, hidden: bool) -> None: ...
    def fit_hits(self) -> None: ...
    def draw_past(self) -> None: ...
    def draw_titles_soon(self) -> None: ...
    def set_class(self, add: bool, *names: str) -> object: ...
    def follow(self, source: RecordList) -> None: ...
    def read_side(self) -> None: ...
    def sort_again(self) -> None: ...
    def end_search(self) -> None: ...
    def take_split(self, percent: int) -> None: ...
    def setting(self, name: str) -> str: ...


class NavigationController:
    """Owns the current pane, and the list focused last."""

    def __init__(self, host: NavigationHost) -> None:
        self.host = host
        self.current: str = FACTS
        self.place: str = FACTS  # the list focused last
        self._behind: str = FACTS  # the one before the hits
        self._alone = ""
        self._split: int | None = None  # the percent of the screen that the lists have; None until it is read

    def focus_moved(self) -> None:
        """Handle a change of the focus."""
        focused = self.host.focused
        name = focused.id if focused is not None else None
        held = next((pane for pane in PANES if self.host.controller_of(pane).holds(name)), None)
        if held is not None:
            self.show(held)
            self.host.controller_of(held).entered()
        elif isinstance(focused, RecordList) and name:
            self.place = name
            if name != HITS:
                self._behind = name
                self.show(name)
            self.host.follow(focused)
        self.host.set_class(held is not None, "-talking")
        self.host.fit_hits()
        self.host.draw_footer()

    def leave_hits(self) -> None:
        """Make the list before the hits the current one again; a pane such as the Librarian has no list."""
        if self.place == HITS:
            self.place = self.current if self.host.found(self.current) is not None else self._behind

    def show(self, name: str) -> None:
        """Make a pane the current one, and hide the others."""
        fresh, self.current = name != self.current, name
        if fresh and self._alone:
            self.action_zoom(self._alone)
        for pane in PANES:
            self.host.hide_pane(pane, pane != name)
        if fresh and BY_NAME[name].read:
            self.host.read_side()
        elif fresh and self.host.found(name) is None:
            self.host.pane.follow(None)  # what is there was chosen in another pane
        if fresh and name == FACTS:
            self.host.sort_again()
        self.arrange()

    def action_split(self, step: int) -> None:
        """Give the list more of the screen, or less, and keep that."""
        from store.config.files import put as put_setting
        from store.config.files import user_path as user_config_path

        now = self._split or (50 if self.host.form == "-huge" else 60)
        self._split = max(LEAST, min(100 - LEAST, now + step))
        self.arrange()
        work = lambda: put_setting(user_config_path(), "split", str(self._split))  # noqa: E731
        self.host.in_background(work, "split", "keep how the screen is divided", exclusive=True)

    def arrange(self) -> None:
        """Draw what depends on the current pane and on the width."""
        if self._split is None:
            self._split = int(self.host.setting("split"))
        self.host.take_split(self._split)
        self.host.fit_hits()
        self.host.draw_titles_soon()  # after the layout
        self.host.draw_past()

    def action_pane(self, name: str) -> None:
        """Focus a pane; do nothing while it is not mounted."""
        if not self.host.has_pane(name):
            return
        if name in BY_NAME:
            self.host.end_search()
            if self.host.controller_of(name).go():
                return
            self.show(name)
        self.host.list_of(name).focus()

    def action_next_pane(self, step: int) -> None:
        lists = [HITS] if self.host.searching else [name for name in PANES if self.host.has_pane(name)]
        order = [*lists, PREVIEW]
        focused = self.host.focused.id if self.host.focused is not None else None
        place = order.index(focused) if focused in order else -1 if step > 0 else 0
        name = order[(place + step) % len(order)]
        if name == PREVIEW:
            self.host.pane.preview.focus()
        else:
            self.action_pane(name)

    def go_to_list(self) -> None:
        """Focus the last list, and make its pane visible."""
        self.action_pane(self.place)

    def go_to_day(self, text: str) -> None:
        """Move the cursor to the newest entry of a day, or the first one before it."""
        engine = self.host.engine
        if engine is None or not text.strip():
            return
        name = self.current if self.current in (TIMELINE, HISTORY) else TIMELINE
        try:
            key, day, found = engine.at_day(name, text, self.host.view)
        except MemorandaError as error:
            self.host.say(str(error), "warning")
            return
        self.action_pane(name)
        filtered = active(self.host.view, BY_NAME[name].filters)
        shown, back = (" among what the filter shows", f"; {named('screen.leave')} shows all") if filtered else ("", "")
        if key is None or not self.host.list_of(name).select(key):
            self.host.say(f"There is nothing on {day} or before{shown}{back}.", "warning")
        elif found != day:
            self.host.say(f"Nothing is on {day}{shown}; this is the newest before it{back}.")

    @property
    def alone(self) -> str:
        """Return what has the screen for itself, `preview` or `list`; empty if neither."""
        return self._alone

    def action_zoom(self, what: str) -> None:
        """Give the screen to the preview, or to the list, alone; or to both again."""
        shown = "" if what == self._alone else what
        if shown == "preview":
            self.host.pane.preview.focus()
        self._alone = shown
        for name in ("preview", "list"):
            self.host.set_class(name == shown, f"-{name}-alone")
        if shown != "preview" and self.host.found(self.place) is not None:
            self.host.list_of(self.place).focus()

    def action_heading(self, step: int) -> None:
        """Move the cursor of the list to the first record below the next heading, or the one before."""
        found = self.host.found(self.place)
        if found is not None and found.rows and found.cursor_index is not None:
            index = first_of_group(found.rows, found.cursor_index, step)
            if index is not None:
                found.select(found.rows.key(index))

    def leave(self) -> bool:
        """Leave one mode of the current pane."""
        if self._alone:
            self.action_zoom(self._alone)
            return True
        return self.host.controller_of(self.current).leave()
