"""The lists of the main screen: opening, loading, order and filters, marks.

Load the lists, and reload them after any write. Nothing here blocks: workers read, and pass the rows to the
screen.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from time import monotonic
from typing import TypeVar, cast

from rich.text import Text

from store.base.errors import MemorandaError, NotOurs
from store.base.models import Record, Step
from store.base.vocabulary import pack_key, unpack_key
from store.config.configuration import has_ignored_project_file
from store.database import wal
from store.upkeep.adoption import adopt_as_proposals, adopt_whole
from tui.commands.location import add_recent
from tui.input.key_table import (
    CHECKPOINTS,
    FACTS,
    HISTORY,
    HITS,
    INBOX,
    PANE_NAMES,
    PANES_BY_NAME,
    TASKS,
    TIMELINE,
    key_name,
)
from tui.lists.fact_groups import PANE_FACETS, fact_list_key, kind_facet, state_facet
from tui.lists.filters import Facet, active_filters, next_choice
from tui.lists.view_state import SORT_ORDER, View, empty_list_text, has_other_filters
from tui.main_screen.controller import polls_at_pace
from tui.panes.controllers import Host
from tui.screens.base import Application
from tui.screens.menus import OnlyScreen
from tui.screens.start import ADOPT_LOOK, ADOPT_WHOLE, AdoptScreen
from tui.theme.escape import visible
from tui.widgets.record_list import MOST_MARKS, RecordList
from tui.workers.engine import FIRST_ROWS, PANE_COUNTS, PANE_ROWS, Engine, LoadedLists
from tui.workers.queries import SideRows

AGES_POLLS = 120  # polls between two reloads of the facts without a write, because ages change
OTHERS_SECONDS = 1.0  # minimum seconds between two reloads after others' writes
RELOAD_REST = 1  # pause before the next such reload, as a multiple of the last one's duration


class ListsController:
    """Owns the engine and the rows loaded by it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.engine: Engine | None = None
        self.reading = False  # whether the lists are being loaded
        self.step = 0  # the newest step of history shown
        self.rested = 0.0  # the time from which others' writes may be loaded
        self.shown: LoadedLists | None = None
        self._read: LoadedLists | None = None  # loaded, not shown yet
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

    def show_first_rows(self, engine: Engine, first: LoadedLists) -> None:
        """Show the first rows."""
        self.engine = engine
        self._held = bool(_why_log_is_held(engine.screen.database.path))  # listed among the warnings
        self.host.set_held(self._held)
        for warning in engine.screen.database.warnings:
            self.host.say(warning, "warning", timeout=15)
        self.step = engine.newest_step()
        self._show_lists(first)

    # others' writes

    def check_writes(self, count: int) -> None:
        """Check for writes of this process or others; not while the lists are loading, nor right after a slow load."""
        self._aged = self._aged or count % polls_at_pace(AGES_POLLS, self.host.app) == 0
        engine = self.engine
        if engine is None:
            return
        self._look_at_log(engine.screen.database.path)
        if (step := engine.newest_step(engine.present)) != self._looked:
            self._looked = step
            engine.pace.note_write()
        if self.reading or monotonic() < self.rested or self.host.view.past:  # the past does not change
            return
        if self._aged or self.was_written():
            self.reload()

    def was_written(self) -> bool:
        """Tell whether the memory was written since the lists were read; takes some 20 µs."""
        engine = self.engine
        return (
            engine is not None and not self.host.view.past and engine.screen.database.data_version() != self._seen
        )

    def _look_at_log(self, path: str) -> None:
        """Report once that another program prevents checkpoints of the WAL, and show it in the bar as long as it
        does."""
        reason = _why_log_is_held(path)
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
            self._seen = self.engine.screen.database.data_version()
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
            self.host.later(self._show_failure, error)
            return
        end = monotonic()
        self.rested = max(start + OTHERS_SECONDS, end + RELOAD_REST * (end - start))
        self._read = lists
        del lists  # references passed to other threads live for a while: do not keep a million keys
        self.host.later(self._show_read)

    def _show_failure(self, error: MemorandaError) -> None:
        self.reading = False
        self.host.say(str(error), "error")

    def _show_read(self) -> None:
        lists, self._read = self._read, None
        if lists is not None and lists.view.past is not self.host.view.past:
            self.reading = False  # requested before the view moved to the past or back
            self.reload()
        elif lists is not None:
            self._show_lists(lists)

    def _show_lists(self, lists: LoadedLists) -> None:
        host, before, self.shown = self.host, self.shown, lists
        if lists.whole:
            host.counts.update(lists.counts)
            host.set_size(FACTS, len(lists.facts.keys))
            host.set_size(TIMELINE, lists.entries)
            self.facets |= {FACTS: state_facet(lists.counts), TIMELINE: kind_facet(lists.kinds)}
            self.reading = False
        for name, rows in ((FACTS, lists.facts), (TIMELINE, lists.timeline)):
            rows.near = host.list_of(name).cursor_index or 0
            host.list_of(name).set_rows(
                rows, narrowed=before is not None and has_other_filters(name, before.view, lists.view)
            )
        self.select_wanted(FACTS, TIMELINE)
        if host.pane.record is not None:
            host.pane.reload()
        for name in (FACTS, TIMELINE):
            host.list_of(name).empty_text = empty_list_text(name, host.view)
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
        names = tuple(name for name in wanted if name in PANE_ROWS and self.host.list_if_mounted(name) is not None)
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
            found.empty_text = empty_list_text(name, view)
            found.set_rows(rows, narrowed=has_other_filters(name, self._views.get(name, view), view))
            self._views[name] = view
            self.host.set_size(name, len(rows))
        self.select_wanted(*lists)
        for name, rows in lists.items():
            if name in PANE_COUNTS and self.engine is not None:
                self.host.counts.update(PANE_COUNTS[name](self.engine.screen))
            self.host.side_shown(name, rows)
        self._teach(*lists)
        self.host.draw_titles()
        self._app.release_keys()

    @property
    def _app(self) -> Application:
        return cast("Application", self.host.app)

    def _teach(self, *names: str) -> None:
        """Say beside a list that is empty what it waits for."""
        place = self.host.current_list
        if place in names and not self.host.list_of(place).rows and not self.host.pane.reading_out:
            self.host.follow(self.host.list_of(place))

    # after a write

    def refresh_records(self, wanted: int | None = None) -> None:
        """Show at once what a write changed, then reload the lists; select the record whose key is `wanted`, except
        among the steps of the history, which have numbers of their own."""
        for name in PANE_NAMES:
            found = self.host.list_if_mounted(name)
            if found is not None and found.rows is not None and self.shown is not None:
                found.rows.drop_pages()  # type: ignore[attr-defined]
                found.refresh_rows()
        place = self.host.current_list
        self._wanted = None if wanted is None or place == HISTORY else (place, wanted)
        if wanted is not None and unpack_key(wanted)[0] == "checkpoint":  # where it is looked for, too
            self._cursors[CHECKPOINTS] = wanted
        self.reload()
        if not self.host.pane.reload():
            self.host.follow(self.host.list_of(self.host.current_list))

    def hide_facts(self, numbers: Sequence[int]) -> None:
        """Remove facts from the list before it is reloaded."""
        if not self.host.view.hidden:
            self._hide(FACTS, numbers)

    def hide_proposals(self, numbers: Sequence[int]) -> None:
        """Remove proposals from the list before it is reloaded."""
        self._hide(INBOX, [pack_key("proposal", number) for number in numbers])

    def _hide(self, name: str, keys: Sequence[int]) -> None:
        found = self.host.list_of(name)
        if found.rows is not None and self.host.current_list == name:
            found.set_rows(found.rows.without_keys(keys))  # type: ignore[attr-defined]

    def turn_to(self, cursors: Mapping[str, Hashable]) -> None:
        """Drop all rows of another moment; `cursors` are the lists' cursors after the next load."""
        self._cursors = dict(cursors)
        self.shown = None

    def select_wanted(self, *names: str) -> None:
        """Select the record just created or restored in the current list; after a past view, restore all cursors."""
        for name in names:
            if name in self._cursors:
                self.host.list_of(name).select(self._cursors.pop(name))
                if name == self.host.current_list and not self.host.pane.reading_out:
                    self.host.follow(self.host.list_of(name))
        place = self.host.current_list
        if self._wanted is not None and self._wanted[0] != place:
            self._wanted = None  # another list was chosen meanwhile
        if self._wanted is None or place not in names:
            return
        kind, number = unpack_key(self._wanted[1])
        key = fact_list_key(kind, number) if place == FACTS and kind in ("fact", "global") else self._wanted[1]
        if self.host.list_of(place).select(key):
            self._wanted = None

    def _flash_changes(self) -> None:
        """Highlight rows that others changed since the last load."""
        assert self.engine is not None
        self.step, changed = self.engine.changed_elsewhere(self.step)
        for key in changed:
            kind, number = unpack_key(key)
            for name, pane in PANES_BY_NAME.items():
                if kind in pane.kinds and (found := self.host.list_if_mounted(name)) is not None:
                    found.flash(number if name == FACTS else key)


def _why_log_is_held(path: str) -> str:
    """Return why the WAL cannot be checkpointed; imported after the first frame, with SQLite."""

    return wal.held_wal_warning(path)


# Mark records, and find the records that a key applies to. The lists own the marks.


class MarksController:
    """Marks rows of the current list."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def _list(self) -> RecordList:
        return self.host.list_of(self.host.current_list)

    def _refuses(self) -> bool:
        return self.host.controller_of(self.host.current).refuses_marks()

    def action_mark(self) -> None:
        if self._refuses():
            return
        if self.host.focused is self.host.pane.preview:
            self.host.pane.preview.action_scroll_by_page(1)
        else:
            self._list.mark()

    def action_mark_range(self) -> None:
        if self._refuses():
            return
        marking = self._list
        marking.mark_range()
        if marking.marking:
            self.host.footer.hint(
                (" Move to mark more; ", ""),
                (key_name("mark.range"), "$footer-key-foreground bold", "mark_range"),
                (" ends it, ", "", "mark_range"),
                (key_name("screen.leave"), "$footer-key-foreground bold", "leave"),
                (" unmarks", "", "leave"),
            )
        else:
            self.host.draw_footer()

    def action_mark_all(self) -> None:
        if self._refuses():
            return
        self.host.set_focus(self._list)  # the next key applies to the marks, not to the preview
        if not self._list.mark_all():
            self.host.say(
                f"At most {MOST_MARKS:,} records can be marked: narrow the list with {key_name('list.filter')}, "
                f"{key_name('list.only')} or a search first.",
                "warning",
            )

    def action_unmark(self) -> None:
        self._list.unmark()

    def leave(self) -> bool:
        if not self._list.marks:
            return False
        self._list.unmark()
        return True

    def update_marks(self, event: RecordList.Marked) -> None:
        """Handle a change of the marked rows."""
        if event.record_list.id == HITS:
            self.host.draw_found()
        self.host.draw_titles()
        if not event.record_list.marking:  # during a range, the footer shows how to end it
            self.host.draw_footer()

    def target(self) -> Record | Step | None:
        """Return the record that a key applies to: the one that is marked, if it is alone, else the one in the preview,
        which is the one under the cursor."""
        if len(marked := self._marked_records()) == 1:
            return marked[0]
        if self.host.pane.record is None:
            self.host.say("Nothing is selected.", "warning")
        return self.host.pane.record

    def targets(self) -> Sequence[Record | Step]:
        """Return the marked records of the current list; without marks, the one under the cursor."""
        if marked := self._marked_records():
            return marked
        record = self.target()
        return [] if record is None else [record]

    def _marked_records(self) -> Sequence[Record | Step]:
        """Return the marked records of the current list, if it has the focus."""
        if self._list.marks and self.host.engine is not None and self.host.focused is self._list:
            return self.host.engine.read_marked(self.host.current_list, self._list.marks)
        return []


# Open the memory on a worker thread; ask first if the file belongs to another installation.


class OpeningController:
    """Creates the engine; passes it to the screen by `opened`, and by `opened_beside` on the thread that opened."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def open(self) -> None:
        self.host.in_background(self._open_memory, "open", "open the memory")

    def _open_memory(self) -> None:
        host = self.host
        waited = has_ignored_project_file(host.location)
        try:
            engine = Engine(host.location, host.cwd, host.clock)
            first = engine.lists(host.view, FIRST_ROWS)
        except NotOurs as error:
            host.app.call_from_thread(self._ask_whose, error)
            return
        except MemorandaError as error:
            host.app.call_from_thread(self._end, error)
            return
        if waited:  # moved or copied: its settings apply from now on
            host.app.call_from_thread(self._app.configure_again)
        host.app.call_from_thread(host.show_first_rows, engine, first)
        add_recent(host.location.path)
        host.opened_beside(engine)

    @property
    def _app(self) -> Application:
        return cast("Application", self.host.app)

    def _end(self, error: MemorandaError) -> None:
        """Exit the application, and print why."""
        self.host.app.exit(None, error.exit_status, Text(visible(str(error))))  # a str would be parsed as markup

    def _ask_whose(self, why: NotOurs) -> None:
        """Ask what to do with a memory of another installation."""

        def chosen(choice: str | None) -> None:
            if not choice:
                self._end(why)
            elif choice == ADOPT_LOOK:
                self.host.location.look = True
                self.open()
            else:
                self.host.in_background(lambda: self._adopt(choice, why.unmarked), "open", "adopt the memory")

        self._app.release_keys()
        self.host.app.push_screen(AdoptScreen(self.host.location, why), chosen)

    def _adopt(self, choice: str, earlier: bool) -> None:
        host = self.host
        try:
            if choice == ADOPT_WHOLE:
                adopted = adopt_whole(host.location, host.clock, earlier)
            else:
                adopted = adopt_as_proposals(host.location, host.clock)
        except MemorandaError as error:
            host.app.call_from_thread(self._end, error)
            return
        host.app.call_from_thread(self._app.configure_again)
        if adopted.warning:
            host.app.call_from_thread(host.say, adopted.warning, "warning", 15)
        host.app.call_from_thread(self.open)


# The lists' order and filters.

Option = TypeVar("Option")


class ViewController:
    """Owns the view, and the keys that change it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.view = View()

    def change(self, **changes: object) -> None:
        """Apply a change of order or filters."""
        self.view = self.view._replace(**changes)  # type: ignore[arg-type]
        self.host.draw_titles()
        self.host.reload()

    def _narrows(self) -> bool:
        """Return whether the lists are visible that these keys apply to; a search has an order of its own."""
        if self.host.searching:
            self.host.say(
                "A search has its own order and shows what holds now: is:forgotten shows the rest.", "warning"
            )
        return not self.host.searching

    def action_sort(self) -> None:
        if self._narrows():
            self.change(sort=_next_option(SORT_ORDER, self.view.sort))

    def action_hidden(self) -> None:
        if self._narrows():
            self.change(hidden=not self.view.hidden)

    # filters

    def action_filter(self) -> None:
        """Take the next chip."""
        if self.host.searching:
            self.host.search_filters.next_kind()
        elif (facet := self.host.facet_of(self.host.current)) is None:
            self.host.say("This list cannot be narrowed.", "warning")
        else:
            self.change(**{facet.field: next_choice(facet, getattr(self.view, facet.field))})

    def action_only(self, field: str, value: str) -> None:
        """Narrow the list by a value, for a click; an empty one clears that filter."""
        if self.host.searching:
            self.host.search_filters.narrow({field: value})
        elif (filters := PANES_BY_NAME[self.host.current].filters).keys() >= {field}:
            self.change(**{field: value or filters[field]})

    def action_show_all(self) -> None:
        """Clear all filters of the current list."""
        if self.host.searching:
            self.host.search_filters.narrow(dict.fromkeys(self.host.search_filters.now(), ""))
        else:
            self.leave()

    def action_choose_filter(self) -> None:
        """Open the menu of all filters, once they are counted."""
        engine, name = self.host.engine, self.host.current
        if engine is None:
            return
        if not self.host.searching and name not in PANE_FACETS:
            self.host.say("This list cannot be narrowed.", "warning")
            return
        searching = self.host.searching
        work = lambda: self._count(engine, "" if searching else name)  # noqa: E731
        self.host.in_background(work, "facets", "count what each filter leaves", exclusive=True)

    def _count(self, engine: Engine, name: str) -> None:
        try:
            facets = engine.facets(name) if name else self.host.search_filters.facets(engine)
        except MemorandaError as error:
            self.host.later(self._show_failure, error)
            return
        self.host.later(self._choose, name, facets)

    def _show_failure(self, error: MemorandaError) -> None:
        self.host.say(str(error), "error")

    def _choose(self, name: str, facets: Sequence[Facet]) -> None:
        now = active_filters(self.view, PANES_BY_NAME[name].filters) if name else self.host.search_filters.now()
        self.host.app.push_screen(OnlyScreen(facets, now), lambda chosen: self._apply_chosen(name, chosen))

    def _apply_chosen(self, name: str, chosen: Mapping[str, str] | None) -> None:
        if chosen is None:
            return
        if not name:
            self.host.search_filters.narrow({**dict.fromkeys(self.host.search_filters.now(), ""), **chosen})
        elif name == self.host.current:
            self.change(**{**PANES_BY_NAME[name].filters, **chosen})

    def leave(self) -> bool:
        """Clear the filters of the current list; return False if none is set."""
        pane = PANES_BY_NAME[self.host.current]
        if pane.is_narrowed(self.view):
            self.change(**pane.filters)
            return True
        return False


def _next_option(order: Sequence[Option], now: Option) -> Option:
    """Return the option after `now`; the first after the last, or if `now` is not among them."""
    return order[(order.index(now) + 1) % len(order)] if now in order else order[0]
