"""Load the lists, and reload them after any write. Nothing here blocks: workers read, and pass the rows to the
screen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol, cast

from store.base.errors import MemorandaError
from store.base.record_keys import pack as pack_key
from store.base.record_keys import unpack as unpack_key
from store.database.writing import wal
from tui.input.key_table import CHECKPOINTS, FACTS, HISTORY, INBOX, PANES, TASKS, TIMELINE
from tui.input.pane_table import BY_NAME
from tui.lists.fact_groups import list_key
from tui.lists.pane_facets import kinds, states
from tui.lists.view_state import View, empty_list, narrows
from tui.main_screen.controller import pace
from tui.panes.host import Host
from tui.workers.engine import COUNTS, ROWS

if TYPE_CHECKING:
    from tui.lists.filters.facets import Facet
    from tui.screens.application import Application
    from tui.widgets.record_list import RecordList
    from tui.workers.engine import Engine, Lists
    from tui.workers.queries import SideRows

AGES = 120  # polls between two reloads of the facts without a write, because ages change
OTHERS = 1.0  # minimum seconds between two reloads after others' writes
REST = 1  # pause before the next such reload, as a multiple of the last one's duration


class ListsHost(Host, Protocol):
    """The interface that the lists need of the screen."""

    @property
    def current(self) -> str: ...
    @property
    def counts(self) -> dict[str, int]: ...

    def has_sidebar(self) -> bool: ...
    def follow(self, source: RecordList) -> None: ...
    def set_held(self, held: bool) -> None: ...
    def set_size(self, name: str, size: int | None) -> None: ...
    def set_waiting(self, count: int) -> None: ...
    def memory_changed(self) -> None: ...
    def side_shown(self, name: str, rows: SideRows) -> None: ...
    def lists_shown(self) -> None: ...


class ListsController:
    """Owns the engine and the rows loaded by it."""

    def __init__(self, host: ListsHost) -> None:
        self.host = host
        self.engine: Engine | None = None
        self.reading = False  # whether the lists are being loaded
        self.step = 0  # the newest step of history shown
        self.rested = 0.0  # the time from which others' writes may be loaded
        self.shown: Lists | None = None
        self._read: Lists | None = None  # loaded, not shown yet
        self._stale = False  # whether to reload once more
        self._held = False  # whether another program prevents a checkpoint of the WAL
        self._sorts = False  # whether the next load puts every fact under its state
        self._aged = False  # whether ages may have changed since the last load
        self._seen = 0  # the file's data version that the lists show
        self._looked = 0  # the newest step of history at the last poll
        self._wanted: tuple[str, int] | None = None  # (list, key of the record to select there once it is listed)
        self._cursors: dict[str, Hashable] = {}  # each list's cursor after the next load
        self._views: dict[str, View] = {}  # with which each of the other lists was read
        self.facets: dict[str, Facet] = {}  # the facet of each list's chips

    def opened(self, engine: Engine, first: Lists) -> None:
        """Show the first rows."""
        self.engine = engine
        self._held = bool(_held(engine.screen.database.path))  # listed among the warnings
        self.host.set_held(self._held)
        for warning in engine.screen.database.warnings:
            self.host.say(warning, "warning", timeout=15)
        self.step = engine.newest_step()
        self._show(first)

    # others' writes

    def look(self, count: int) -> None:
        """Check for writes of this process or others; not while the lists are loading, nor right after a slow load."""
        self._aged = self._aged or count % pace(AGES, self.host.app) == 0
        engine = self.engine
        if engine is None:
            return
        self._look_at_log(engine.screen.database.path)
        if (step := engine.newest_step(engine.present)) != self._looked:
            self._looked = step
            engine.pace.written()
        if self.reading or monotonic() < self.rested or self.host.view.past:  # the past does not change
            return
        if self._aged or self.written():
            self.reload()

    def written(self) -> bool:
        """Return whether the memory was written since the lists were read; takes some 20 µs."""
        engine = self.engine
        return engine is not None and not self.host.view.past and engine.screen.database.changed() != self._seen

    def _look_at_log(self, path: str) -> None:
        """Report once that another program prevents checkpoints of the WAL, and show it in the bar as long as it
        does."""
        reason = _held(path)
        if bool(reason) == self._held:
            return
        self._held = bool(reason)
        if reason:
            self.host.say(reason, "warning", timeout=15)
        self.host.set_held(self._held)

    # facts and timeline

    def facet_of(self, name: str) -> Facet | None:
        """Return the facet of a list's chips, once it is read."""
        return self.facets.get(name)

    def reload(self) -> None:
        """Reload both lists soon; one load at a time."""
        if self.reading:
            self._stale = True
        elif self.engine is not None:
            self.host.memory_changed()
            self.reading, self._stale = True, False
            self._seen = self.engine.screen.database.changed()
            view, aged, sorts = self.host.view, self._aged, self._sorts
            self.host.in_background(lambda: self._read_lists(view, aged, sorts), "lists", "read the lists")
            self._aged = self._sorts = False
            self.read_side()

    def sort_again(self) -> None:
        """Put the facts that changed under the state they have now, if one is not."""
        if self.shown is not None and self.shown.kept:
            self._sorts = True
            self.reload()

    def _read_lists(self, view: View, aged: bool, sorts: bool) -> None:
        assert self.engine is not None
        start = monotonic()
        try:
            lists = self.engine.lists(view, last=self.shown, aged=aged, sorted_again=sorts)
        except MemorandaError as error:
            self.host.later(self._failed, error)
            return
        end = monotonic()
        self.rested = max(start + OTHERS, end + REST * (end - start))
        self._read = lists
        del lists  # references passed to other threads live for a while: do not keep a million keys
        self.host.later(self._show_read)

    def _failed(self, error: MemorandaError) -> None:
        self.reading = False
        self.host.say(str(error), "error")

    def _show_read(self) -> None:
        lists, self._read = self._read, None
        if lists is not None and lists.view.past is not self.host.view.past:
            self.reading = False  # requested before the view moved to the past or back
            self.reload()
        elif lists is not None:
            self._show(lists)

    def _show(self, lists: Lists) -> None:
        host, before, self.shown = self.host, self.shown, lists
        if lists.whole:
            host.counts.update(lists.counts)
            host.set_size(FACTS, len(lists.facts.keys))
            host.set_size(TIMELINE, lists.entries)
            self.facets |= {FACTS: states(lists.counts), TIMELINE: kinds(lists.kinds)}
            self.reading = False
        for name, rows in ((FACTS, lists.facts), (TIMELINE, lists.timeline)):
            rows.near = host.list_of(name).cursor_index or 0
            host.list_of(name).set_rows(rows, narrowed=before is not None and narrows(name, before.view, lists.view))
        self.select_wanted(FACTS, TIMELINE)
        if host.pane.record is not None:
            host.pane.again()
        for name in (FACTS, TIMELINE):
            host.list_of(name).empty_text = empty_list(name, host.view)
        self._teach(FACTS, TIMELINE)
        self._flash_changes()
        if self.engine is not None:
            host.set_waiting(self.engine.waiting())
        host.draw_titles()
        if self._stale:
            self.reload()
        host.lists_shown()

    # other lists

    def read_side(self) -> None:
        """Load the current list, if it is one of the others, and those that the sidebar counts while it is shown."""
        counted = (CHECKPOINTS, HISTORY, TASKS) if self.host.has_sidebar() else ()
        wanted = dict.fromkeys((self.host.current, *counted))
        names = tuple(name for name in wanted if name in ROWS and self.host.found(name) is not None)
        if self.engine is not None and names:
            if self.host.current in names and not self.host.list_of(self.host.current).rows:
                self._app.hold_keys()  # they are for its rows
            view = self.host.view
            work = lambda: self._read_side(view, names)  # noqa: E731
            self.host.in_background(work, "side", "read the other lists", exclusive=True)

    def _read_side(self, view: View, names: tuple[str, ...]) -> None:
        assert self.engine is not None
        try:
            rows = self.engine.side(view, names)
            facets = {name: facet for name in names for facet in self.engine.facets(name)[:1]}
        except MemorandaError as error:
            self.host.later(self.host.say, str(error), "error")
            self.host.later(self._app.release_keys)
            return
        self.host.later(self._show_side, view, rows, facets)

    def _show_side(self, view: View, lists: Mapping[str, SideRows], facets: Mapping[str, Facet]) -> None:
        if view != self.host.view:
            return  # a newer load is in progress
        self.facets |= facets
        for name, rows in lists.items():
            found = self.host.list_of(name)
            found.empty_text = empty_list(name, view)
            found.set_rows(rows, narrowed=narrows(name, self._views.get(name, view), view))
            self._views[name] = view
            self.host.set_size(name, len(rows))
        self.select_wanted(*lists)
        for name, rows in lists.items():
            if name in COUNTS and self.engine is not None:
                self.host.counts.update(COUNTS[name](self.engine.screen))
            self.host.side_shown(name, rows)
        self._teach(*lists)
        self.host.draw_titles()
        self._app.release_keys()

    @property
    def _app(self) -> Application:
        return cast("Application", self.host.app)

    def _teach(self, *names: str) -> None:
        """Say beside a list that is empty what it waits for."""
        place = self.host.place
        if place in names and not self.host.list_of(place).rows and not self.host.pane.reading_out:
            self.host.follow(self.host.list_of(place))

    # after a write

    def refresh_records(self, wanted: int | None = None) -> None:
        """Show at once what a write changed, then reload the lists; select the record whose key is `wanted`, except
        among the steps of the history, which have numbers of their own."""
        for name in PANES:
            found = self.host.found(name)
            if found is not None and found.rows is not None and self.shown is not None:
                found.rows.drop_pages()  # type: ignore[attr-defined]
                found.refresh_rows()
        place = self.host.place
        self._wanted = None if wanted is None or place == HISTORY else (place, wanted)
        if wanted is not None and unpack_key(wanted)[0] == "checkpoint":  # where it is looked for, too
            self._cursors[CHECKPOINTS] = wanted
        self.reload()
        if not self.host.pane.again():
            self.host.follow(self.host.list_of(self.host.place))

    def hide_facts(self, numbers: Sequence[int]) -> None:
        """Remove facts from the list before it is reloaded."""
        if not self.host.view.hidden:
            self._hide(FACTS, numbers)

    def hide_proposals(self, numbers: Sequence[int]) -> None:
        """Remove proposals from the list before it is reloaded."""
        self._hide(INBOX, [pack_key("proposal", number) for number in numbers])

    def _hide(self, name: str, keys: Sequence[int]) -> None:
        found = self.host.list_of(name)
        if found.rows is not None and self.host.place == name:
            found.set_rows(found.rows.without(keys))  # type: ignore[attr-defined]

    def turn_to(self, cursors: Mapping[str, Hashable]) -> None:
        """Drop all rows of another moment; `cursors` are the lists' cursors after the next load."""
        self._cursors = dict(cursors)
        self.shown = None

    def select_wanted(self, *names: str) -> None:
        """Select the record just created or restored in the current list; after a past view, restore all cursors."""
        for name in names:
            if name in self._cursors:
                self.host.list_of(name).select(self._cursors.pop(name))
                if name == self.host.place and not self.host.pane.reading_out:
                    self.host.follow(self.host.list_of(name))
        place = self.host.place
        if self._wanted is not None and self._wanted[0] != place:
            self._wanted = None  # another list was chosen meanwhile
        if self._wanted is None or place not in names:
            return
        kind, number = unpack_key(self._wanted[1])
        key = list_key(kind, number) if place == FACTS and kind in ("fact", "global") else self._wanted[1]
        if self.host.list_of(place).select(key):
            self._wanted = None

    def _flash_changes(self) -> None:
        """Highlight rows that others changed since the last load."""
        assert self.engine is not None
        self.step, changed = self.engine.changed_elsewhere(self.step)
        for key in changed:
            kind, number = unpack_key(key)
            for name, pane in BY_NAME.items():
                if kind in pane.kinds and (found := self.host.found(name)) is not None:
                    found.flash(number if name == FACTS else key)


def _held(path: str) -> str:
    """Return why the WAL cannot be checkpointed; imported after the first frame, with SQLite."""

    return wal.held(path)
