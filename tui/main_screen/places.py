"""The places of the main screen: one list and one preview for every pane and view, and the lines around them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from shutil import get_terminal_size
from time import monotonic
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widgets import Input

from store.base.clock import Clock, utc_now
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.models import Record, Step
from store.config.configuration import user_settings_path, write_setting
from store.memory import Memory
from store.parts import load_attribute
from store.text.display import visible
from tui.input.key_table import FACTS, FOUND, KEYS, PANE_KEYS, PANE_NAMES, TODAY, fill_in_keys, key_name
from tui.lists import record_rows
from tui.lists.filters import Facet, facet_chips, next_choice
from tui.panes import agents, ask, facts, health, records, settings
from tui.panes.facts import missing_sentences
from tui.panes.pane import FIRST_ROWS, Entry, EntryRows, Loaded, Pane, Reading, View
from tui.render.lines import StyledLine
from tui.screens.base import ResponsiveScreen
from tui.screens.dialogs import Chooser, Find, Offer
from tui.theme.line_filters import Piece, pieces_width
from tui.theme.styles import read_css
from tui.widgets.bars import HUGE_COLUMNS, WIDE_COLUMNS, Bar, CachedLines, Split, bind_key, layout_class
from tui.widgets.inputs import FIND_HINT, SearchBar
from tui.widgets.preview import Preview, PreviewPane
from tui.widgets.record_list import MOST_MARKS, RecordList, first_of_group
from tui.workers.engine import Engine

LAYOUT_FORMS = [(0, "-narrow"), (WIDE_COLUMNS, "-wide"), (HUGE_COLUMNS, "-huge")]
# percent of the screen that a list or a preview keeps
LEAST_PERCENT = 20
# least pause before others' changes are read again; else as long as the last reading took
OTHERS_SECONDS = 1.0
TAB_DIM, TAB_STRONG = "$dim", "bold $text-accent"
SORT_OFFERS = {
    "": "by need",
    "oldest": "oldest first",
    "domain": "by domain",
    "newest": "newest first",
    "text": "by text",
}


# of a place that is not read yet
NO_ROWS = EntryRows(())
FOUND_PANE = Pane(FOUND, "Found", lambda reading: Loaded(NO_ROWS))
PANES: dict[str, Pane] = {
    pane.name: pane
    for pane in (
        *(records.TODAY, facts.PANE, records.TIMELINE, ask.PANE, records.HISTORY),
        *(agents.PANE, health.PANE, settings.PANE, FOUND_PANE),
    )
}


# of optional parts
VIEW_MODULES = {"files": "tui.panes.files", "team": "tui.panes.team"}


def load_view(name: str) -> Pane:
    """Return a view of an optional part; its module is imported when it is opened."""
    pane = load_attribute(VIEW_MODULES[name], "PANE")
    assert isinstance(pane, Pane)
    return pane


NO_VIEW = View()


@dataclass
class Place:
    """A pane as it is shown: how it is narrowed, what was read, and where its cursor and marks were when it was left.
    `narrowed` until the rows of another view are shown; from `due` on it is read again by itself."""

    pane: Pane
    view: View = NO_VIEW
    loaded: Loaded | None = None
    key: Hashable | None = None
    marks: frozenset[Hashable] = frozenset()
    narrowed: bool = False
    due: float = inf


class ScreenBody(CachedLines, Container):
    """The list and the preview, beside or above each other."""


class PlacesScreen(ResponsiveScreen[None]):
    """The list, the preview, and the lines around them; what keys do is in `ActingScreen`, the search in
    `SearchingScreen`, the work beside in `MainScreen`."""

    HORIZONTAL_BREAKPOINTS = LAYOUT_FORMS
    BINDINGS: ClassVar[list[BindingType]] = [*map(bind_key, KEYS)]
    DEFAULT_CSS = read_css(__file__)

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        # set before the first frame, or all styles would be computed twice
        super().__init__(classes=layout_class(get_terminal_size().columns))
        self.location, self.cwd, self.clock = location, cwd, clock
        self.opened: Engine | None = None
        self.place = Place(PANES[FACTS])
        self.places = {FACTS: self.place}
        # the pane before a view or a search
        self.came_from = self.place
        # the key of the row to select once it is listed
        self.wanted: Hashable | None = None
        self._status, self._waiting = "opening", 0
        # what has the screen for itself: `preview`, `list`
        self._alone = ""
        # the percent of the screen that the list has; None until it is read
        self._split: int | None = None
        # the newest step of history shown
        self._step = 0
        # the file's data version that the rows show
        self._seen = 0
        # when the last reading began; from when others' changes are read again
        self._began, self._rested = 0.0, 0.0
        # whether its next chip is taken once the list is read
        self._takes_chip = False

    def compose(self) -> ComposeResult:
        yield Split(id="top")
        yield SearchBar(id="search")
        yield Split(id="past")
        yield Split(id="chips")
        with ScreenBody(id="body"):
            yield RecordList(id="list")
            yield PreviewPane(id="preview-pane")
        yield Bar(id="footer")

    # the parts

    @property
    def engine(self) -> Engine:
        """The memory's connections. Raises RuntimeError before it is open."""
        if self.opened is None:
            raise RuntimeError("the memory is not open yet")
        return self.opened

    @cached_property
    def record_list(self) -> RecordList:
        return self.query_one("#list", RecordList)

    @cached_property
    def pane(self) -> PreviewPane:
        return self.query_one("#preview-pane", PreviewPane)

    @cached_property
    def search_bar(self) -> SearchBar:
        return self.query_one(SearchBar)

    @property
    def pane_name(self) -> str:
        return self.place.pane.name

    @property
    def form(self) -> str:
        """Return the layout's class: -narrow, -wide, -huge."""
        return next((name for _, name in LAYOUT_FORMS if self.has_class(name)), "-narrow")

    @property
    def searching(self) -> bool:
        return self.place.pane is FOUND_PANE

    def setting(self, name: str) -> str:
        """Return a setting of the configuration as text."""
        return str(self.application.config[name])

    @property
    def view(self) -> View:
        """How the list is narrowed."""
        return self.place.view

    def chosen(self, field: str) -> str | None:
        """Return the value by which the list is narrowed in a field."""
        return self.place.view.get(field)

    def say(self, text: str, level: str = "information", seconds: float = 8) -> None:
        """Show a message in the bottom line, in place of the keys, until the next key."""
        self.app.clear_notifications()
        self.app.notify(visible(text), severity=level, timeout=seconds, markup=False)  # type: ignore[arg-type]

    def fail(self, error: MemorandaError) -> None:
        """Show why something could not be read."""
        self.application.release_keys(None)
        self.say(str(error), "warning" if error.exit_status < 2 else "error")

    # work on other threads

    def later(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the screen's thread; not after the application ends or another memory is shown."""
        if self.opened is not None and not self.opened.is_closed and self.app.is_running:
            self.app.call_from_thread(self._call, function, *arguments)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if self.opened is not None and not self.opened.is_closed:
            function(*arguments)

    # places

    def action_go(self, name: str, shows: str = "") -> None:
        """Go to a pane or a view; to the pane that is shown, to its next chip."""
        if shows:
            self.go_to(name, shows=shows)
        elif name == self.pane_name and not self.search_bar.query_text:
            self.action_next_chip()
        else:
            self.go_to(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Before the memory is open, keys but that of the help do nothing."""
        return self.opened is not None or action == "help"

    def go_to(self, name: str, **chosen: str | None) -> None:
        """Show a pane or a view, narrowed by the fields that are given."""
        self.end_search()
        if name not in self.places:
            self.places[name] = Place(PANES.get(name) or load_view(name))
        place = self.places[name]
        if place.view != (view := place.view.choose(**chosen)):
            place.view, place.narrowed = view, True
        self.show_place(place)

    def end_search(self) -> None:
        """Clear the find line; see `SearchingScreen`."""

    def show_place(self, place: Place) -> None:
        """Show a place: at once with the rows that it had, then with those that it has now."""
        before, shown = self.place, self.record_list
        if before is not place:
            self._takes_chip = False
            before.key, before.marks = shown.cursor_key, frozenset(shown.marks)
            if before.pane.name in PANE_KEYS:
                self.came_from = before
            self.place = place
            self.search_bar.hint(f"find in {place.pane.name.capitalize()}" if place.pane.finds else FIND_HINT)
            self._leave_zoom()
            shown.unmark()
            shown.empty_text = "Reading …"
            shown.set_rows(place.loaded.rows if place.loaded is not None else NO_ROWS, keep=False)
            self._drop_pages()
            if place.key is not None:
                shown.select(place.key)
            shown.marks = place.marks
            self.show_cursor()
        self.set_focus(shown)
        self.draw_all()
        self.load(before is not place)

    def _drop_pages(self) -> None:
        if isinstance(rows := self.record_list.rows, record_rows.KeyedRows):
            rows.drop_pages()
            self.record_list.refresh_rows()

    def load(self, opens: bool = False) -> None:
        """Read the rows of the place: of a long list that was not read yet the first ones, then all. Rows stay in their
        places, unless it is narrowed or `opens`."""
        place, view, engine = self.place, self.place.view, self.engine
        if place.pane is FOUND_PANE:
            return
        first = place.loaded is None
        last = None if place.narrowed or opens else place.loaded
        queue = "lists" if place.pane.name in PANE_KEYS else f"view {place.pane.name}"
        if (first or place.narrowed) and not isinstance(self.focused, Input):
            # they are for its rows
            self.application.hold_keys("rows")
        self._began = monotonic()
        self._note_writes()
        done = partial(self._show_loaded, place, view, engine.past)
        kept = place.loaded.kept if place.loaded is not None else None
        tell = partial(self.later, self._tell_progress, place)

        def read(limit: int, memory: Memory) -> Loaded:
            return place.pane.read(Reading(engine, memory, view, limit, last, kept, tell))

        for limit in (FIRST_ROWS, -1) if first and place.pane.paged else (-1,):
            engine.read(queue, partial(read, limit), done, self.fail, instead=limit > 0 or not first)

    def _tell_progress(self, place: Place, words: str) -> None:
        if place is self.place:
            title, progress = (f" {place.pane.title}", "bold"), (f"{visible(words)} ", TAB_DIM)
            self.query_one("#chips", Split).put_both([title], [progress])

    def _show_loaded(self, place: Place, view: View, past: object, loaded: Loaded) -> None:
        """Show what was read, unless the view is another by now, or more was read before."""
        if place.view != view or past is not self.engine.past:
            return
        if not loaded.whole and place.loaded is not None and place.loaded.whole and not place.narrowed:
            return
        first, place.loaded = place.loaded is None, loaded
        now = monotonic()
        self._rested = now + max(OTHERS_SECONDS, now - self._began)
        if place.pane.seconds:
            place.due = now + place.pane.seconds
        if place is not self.place:
            return
        self._show_rows(place, loaded, first)
        if self._takes_chip and loaded.whole:
            self.action_next_chip()
        elif not self._takes_chip:
            self.application.release_keys("rows")

    def _show_rows(self, place: Place, loaded: Loaded, first: bool) -> None:
        shown, rows = self.record_list, loaded.rows
        if isinstance(rows, record_rows.KeyedRows):
            rows.near = shown.cursor_index or 0
        narrowed = place.pane.filtered if place.view.chosen else ""
        shown.empty_text = fill_in_keys(loaded.empty or narrowed or place.pane.empty)
        shown.set_rows(rows, keep=not first, narrowed=place.narrowed)
        place.narrowed = place.narrowed and not loaded.whole
        if first and place.key is not None:
            shown.select(place.key)
            shown.marks = rows.keys_present(place.marks)
        if self.wanted is not None and (shown.select(self.wanted) or loaded.whole):
            self.wanted = None
        self.show_cursor(stay=self.pane.reload())
        self._step, changed = self.engine.changed_elsewhere(self._step)
        for key in changed:
            self.record_list.flash(key)
        self.draw_all()

    def narrow(self, view: View) -> None:
        """Show the list by another view."""
        self.place.view, self.place.narrowed = view, True
        self.draw_titles()
        self.load()

    # others' changes

    def check_writes(self, count: int) -> None:
        """Read the rows again if others wrote; not while they are read, nor right after a slow reading."""
        engine, now = self.engine, monotonic()
        if now > self.place.due:
            self.place.due = inf
            self.load()
        if not engine.reading and now > self._rested and self.was_written():
            engine.pace.note_write()
            self._note_writes()
            self.load()

    def _note_writes(self) -> None:
        """Note what was written since the rows were read, whoever has them read again."""
        if self.was_written():
            self._seen = self.engine.present.database.data_version()
            self.memory_changed()
            self.count_waiting()

    def was_written(self) -> bool:
        """Tell whether the memory was written since the rows were read; takes some 20 µs."""
        return self.engine.past is None and self.engine.present.database.data_version() != self._seen

    def memory_changed(self) -> None:
        """Note that the memory changed; see `SearchingScreen`."""

    def refresh_rows(self, select: Hashable | None = None) -> None:
        """Show at once what a write changed, then read the rows again; `select` the row of a key."""
        self._drop_pages()
        if select is not None and not self.record_list.select(select):
            self.wanted = select
        self.memory_changed()
        if not self.pane.reload():
            self.show_cursor()
        self.count_waiting()
        if not self.searching:
            # they are for what is there now
            self.application.hold_keys("rows")
        self.load()

    # the cursor and the marks

    def row_at(self, index: int | None) -> Any:
        """Return the record of a row, or its entry; None for a heading."""
        rows = self.record_list.rows
        return rows.record(index) if rows and index is not None else None

    def thing_at_cursor(self) -> Any:
        """Return what is under the cursor: a record, a step, or the thing of an entry."""
        return thing_of(self.row_at(self.record_list.cursor_index))

    def targets(self) -> Sequence[Any]:
        """Return what a key applies to: what is marked, else what is in the preview if one went into it, else what is
        under the cursor."""
        shown = self.record_list
        if shown.marks and shown.has_focus and shown.rows:
            indexes = sorted(index for key in shown.marks if (index := shown.rows.index_of(key)) is not None)
            found = [thing_of(self.row_at(index)) for index in indexes]
        else:
            found = [thing_of(self.pane.record) if self.pane.record is not None else self.thing_at_cursor()]
        return [one for one in found if one is not None]

    def action_mark(self) -> None:
        if self.pane.preview.has_focus:
            self.pane.preview.action_scroll_by_page(1)
        else:
            self.record_list.mark()

    def action_mark_all(self) -> None:
        # the next key applies to the marks, not to the preview
        self.set_focus(self.record_list)
        if not self.record_list.mark_group():
            narrower = f"narrow the list with {key_name('list.only')} or a search first"
            self.say(f"At most {MOST_MARKS:,} records can be marked: {narrower}.", "warning")

    def action_unmark(self) -> None:
        self.record_list.unmark()

    def action_heading(self, step: int) -> None:
        """Move the cursor to the first record below the next heading, or the one before."""
        shown = self.record_list
        if shown.rows and shown.cursor_index is not None:
            index = first_of_group(shown.rows, shown.cursor_index, step)
            if index is not None:
                shown.select(shown.rows.key(index))

    def select_row(self, key: Hashable) -> bool:
        """Move the cursor to a row, now or once it is read; return whether it may be there."""
        loaded = self.place.loaded
        if self.record_list.select(key):
            return True
        if loaded is None or not loaded.whole:
            self.wanted = key
            return True
        return False

    # the preview

    def show_cursor(self, stay: bool = False) -> None:
        """Show what is under the cursor in the preview; with `stay`, only if it is not the same."""
        if stay and self.pane.reading_out:
            return
        rows, index = self.record_list.rows, self.record_list.cursor_index or 0
        one = self.row_at(self.record_list.cursor_index)
        if isinstance(one, Entry):
            self.pane.show_entry(one, stay)
        elif one is not None:
            before = rows.lines_above(index) if isinstance(rows, record_rows.ListedRows) else ()
            if not stay or self.pane.record is None or (before and before != self.pane.before):
                self.pane.follow(one, before)
        elif not self.pane.reading_out:
            self.pane.follow(None, self._missing_lines())

    def _missing_lines(self) -> Sequence[StyledLine]:
        """Return what an empty memory waits for, beside the facts that are not there."""
        loaded = self.place.loaded
        if loaded is None or not loaded.whole or len(loaded.rows) or self.pane_name != FACTS:
            return ()
        if self.engine.past is not None or self.place.view.chosen:
            return ()
        lines: list[StyledLine] = [[("What is missing", "heading")], []]
        for sentence in missing_sentences(self.engine.present):
            lines += [[("· ", "label"), (fill_in_keys(sentence), "")], []]
        return lines

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        """Follow the cursor. Rows that are read again do not replace a text that is read."""
        if not (self.pane.reading_out and not self.record_list.has_focus):
            self.show_cursor()
        self.draw_footer()

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        self.draw_all()

    def on_preview_selected(self, event: Preview.Selected) -> None:
        self.draw_footer()

    def on_preview_pane_failed(self, event: PreviewPane.Failed) -> None:
        self.say(str(event.error), "warning")

    def action_open(self) -> None:
        """Go into the preview; there open the citation."""
        if self.pane.preview.has_focus:
            if not self.pane.preview.open_selected():
                self.pane.preview.select(1)
        else:
            self.pane.enter()

    def action_citation(self, step: int) -> None:
        self.pane.preview.focus()
        self.pane.preview.select(step)

    def action_row(self, step: int) -> None:
        """Show the next record of the list, or the one before; the keys stay where they are."""
        self.record_list.action_move(step)

    def action_back(self) -> None:
        if not self.pane.go_back():
            self.set_focus(self.record_list)

    def action_forward(self) -> None:
        self.pane.forward()

    def action_scroll_preview(self, step: int) -> None:
        self.pane.preview.scroll_relative(y=step * 4, animate=False, force=True)

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show lines to read in the preview; their citations can be followed."""
        self.pane.read_out(list(lines))

    # filters

    @property
    def facets(self) -> Sequence[Facet]:
        """By what the list can be narrowed, as far as it is read; the first are its chips."""
        return self.place.loaded.facets if self.place.loaded is not None else ()

    def action_next_chip(self) -> None:
        """Take the next chip of the list, once all of it is read."""
        self._takes_chip = self.place.loaded is None or not self.place.loaded.whole
        if self._takes_chip:
            self.application.hold_keys("rows")
        elif facet := next((one for one in self.facets if one.choices), None):
            value = next_choice(facet, self.place.view.get(facet.field))
            self.narrow(self.place.view.choose(**{facet.field: value}))

    def action_only_by(self, field: str, value: str) -> None:
        """Narrow the list by a value, for a click; an empty one clears that filter."""
        self.narrow(self.view.choose(**{field: value or None}))

    def action_show_all(self) -> None:
        """Clear all filters."""
        if self.place.pane.finds:
            self.search_bar.clear()
        self.narrow(View(hidden=self.place.view.hidden, sort=self.place.view.sort))

    def action_hidden(self) -> None:
        """Show what is usually left out, or hide it."""
        self.narrow(self.place.view._replace(hidden=not self.place.view.hidden))

    def action_only(self) -> None:
        """Choose what the list shows only, in which order, and whether with what is hidden."""
        self.choose("Show only…", self._offer_filters, self.narrow)

    def choose(self, title: str, find: Find, answer: Callable[[Any], object]) -> None:
        """Have one of what is found for words chosen."""
        self.ask(Chooser(title, find, self.engine), answer)

    def _offer_filters(self, memory: Memory, words: str) -> list[Offer]:
        view = self.view
        offers = [
            Offer(
                view.choose(**{facet.field: None if view.get(facet.field) == one.value else one.value}),
                f"{one.word}{' ×' if view.get(facet.field) == one.value else ''}",
                facet.name if one.number is None else f"{facet.name}  {one.number:,}",
                glyph=one.glyph or "·",
                look=one.look,
            )
            for facet in self.facets
            for one in facet.choices
        ]
        if self.pane_name == FACTS:
            offers += [
                Offer(view._replace(sort=sort), word, "Order")
                for sort, word in SORT_OFFERS.items()
                if sort != view.sort
            ]
        what = "what is replaced, forgotten, done"
        hidden = f"hide {what}" if view.hidden else f"show {what} too"
        offers.append(Offer(view._replace(hidden=not view.hidden), hidden, "Hidden"))
        if view.chosen:
            offers.insert(0, Offer(View(hidden=view.hidden, sort=view.sort), "everything again"))
        asked = words.lower().split()
        return [one for one in offers if all(word in f"{one.text} {one.note}".lower() for word in asked)]

    # the layout

    def action_zoom(self, what: str) -> None:
        """Give the screen to the preview, or to the list, alone; or to both again."""
        self._alone = "" if what == self._alone else what
        for name in ("preview", "list"):
            self.set_class(name == self._alone, f"-{name}-alone")
        self.set_focus(self.pane.preview if self._alone == "preview" else self.record_list)

    def _leave_zoom(self) -> bool:
        """Give both their places again; return False if they have them."""
        zoomed = bool(self._alone)
        if zoomed:
            self.action_zoom(self._alone)
        return zoomed

    def action_split(self, step: int) -> None:
        """Give the list more of the screen, or less, and keep that."""
        now = self._split or (50 if self.form == "-huge" else 60)
        self._split = max(LEAST_PERCENT, min(100 - LEAST_PERCENT, now + step))
        self.divide()
        self.in_background(partial(write_setting, user_settings_path(), "split", str(self._split)), "split")

    def in_background(self, work: Callable[[], object], group: str) -> object:
        """Run work on a thread of its own."""
        return self.run_worker(work, group=group, thread=True, exit_on_error=False)

    def divide(self) -> None:
        """Divide the screen between list and preview, and draw what depends on the width."""
        if self._split is None:
            self._split = int(self.setting("split"))
        percent, across = self._split, not self.has_class("-narrow")
        for name, share in (("list", percent), ("preview-pane", 100 - percent)):
            pane = self.query_one(f"#{name}")
            pane.styles.width = f"{share}fr" if percent and across else None
            pane.styles.height = f"{share}fr" if percent and not across else None
        self.call_after_refresh(self.draw_all)

    def on_resize(self) -> None:
        self.call_after_refresh(self.divide)

    def apply_form(self) -> None:
        """Give the screen the form of its width; for a screen reader the narrow one, since a list beside a text would
        be heard as one."""
        plain = bool(self.application.config["plain"])
        self.HORIZONTAL_BREAKPOINTS = LAYOUT_FORMS[:1] if plain else LAYOUT_FORMS
        shown = LAYOUT_FORMS[0][1] if plain else layout_class(self.app.size.width)
        for _, name in LAYOUT_FORMS:
            self.set_class(name == shown, name)

    # the lines around the list

    def draw_all(self) -> None:
        """Draw the lines around the list."""
        self.draw_titles()
        self.draw_footer()

    def set_status(self, status: str) -> None:
        """Show what is under way; empty for nothing."""
        self._status = status
        self.draw_top()

    def count_waiting(self) -> None:
        """Show how many proposals wait."""
        self._waiting = self.engine.present.inbox.count_waiting()
        self.draw_top()

    def status_pieces(self) -> list[Piece]:
        """Return what is under way, or wrong."""
        return [(f"{self._status} ", "$text-warning", "leave")] if self._status else []

    def model_forms(self) -> Sequence[Sequence[Piece]]:
        """Return the forms of the model's status, longest first; see `MainScreen`."""
        return ()

    def draw_top(self) -> None:
        """Draw the panes by number and name, today's with what waits, and the view that is open; the memory's name and
        what is under way stand beside the find line where there is no room."""
        if not self.is_attached:
            return
        bar = self.query_one("#top", Split)
        room, narrow = bar.size.width or 120, self.form == "-narrow"
        name: Piece = (f" {visible(self.location.display_name)} ", "bold", "start('memory.open')")
        figures = self.status_pieces()
        roomy = self.form == "-huge"
        right = figures if roomy else []
        left = [] if narrow else [name, (" ", "")]
        tabs = self._tabs(room - pieces_width(left) - pieces_width(right) - 1)
        bar.put_both([*left, *tabs], [*right, (" ", "")] if right else [])
        self.search_bar.name_memory([name] if narrow else ())
        self.search_bar.tell([] if roomy else figures, self.model_forms())

    def _tabs(self, room: int) -> list[Piece]:
        """Return the panes, closer together and at last by number alone where there is little room."""
        view = "" if self.pane_name in (*PANE_KEYS, FOUND) else f"› {self.pane_name.capitalize()}"
        here = self.pane_name if not self.searching else self.came_from.pane.name
        for gap, short in ((3, False), (2, False), (1, False), (1, True)):
            pieces: list[Piece] = []
            for name in PANE_NAMES:
                waits = name == TODAY and self._waiting > 0
                label = PANES[name].title + (f" {self._waiting:,}" if waits else "")
                text = f"{PANE_KEYS[name]} {label}" if not short or name == here else PANE_KEYS[name]
                look = TAB_STRONG if name == here and not view else "bold $text-warning" if waits else ""
                pieces += [(text, look, f"go('{name}')"), (" " * gap, "")]
            pieces += [(view, TAB_STRONG)] if view else []
            if pieces_width(pieces) <= room:
                break
        return [(" ", ""), *pieces] if pieces_width(pieces) < room else pieces

    def draw_titles(self) -> None:
        """Draw the top line, and the line above the list: its chips, or its name; at the right what it says."""
        self.draw_top()
        if self.is_attached:
            bar = self.query_one("#chips", Split)
            bar.put_both(*self.title_pieces(bar.size.width or 80))

    def marks_pieces(self) -> list[Piece]:
        """Return how many rows are marked, if any are."""
        marked = len(self.record_list.marks)
        return [(f" {marked:,} marked ", "$text-accent", "unmark")] if marked else []

    def title_pieces(self, room: int) -> tuple[list[Piece], list[Piece]]:
        """Return both parts of the line above the list."""
        place, loaded, left = self.place, self.place.loaded, self.marks_pieces()
        says = [piece for one in (loaded.says if loaded is not None else ()) for piece in (("  ", ""), one)]
        narrowed = dict(one for one in place.view.chosen if one[0] not in ("context", "question", "session"))
        facet = next((one for one in self.facets if one.choices), None)
        size = loaded.size if loaded is not None else None
        if narrowed:
            of = f" of {facet.total:,}" if facet is not None and facet.total is not None else ""
            shown = f"{size:,}{of} · " if size is not None else ""
            says.append((f"  {shown}{key_name('screen.leave')} all", TAB_DIM, "show_all"))
        elif facet is not None:
            says.append((f"  {key_name('list.only')} only…", TAB_DIM, "only"))
        while says and pieces_width(says) > room * 2 // 3:
            says = says[2:] or says[:-1]
        right: list[Piece] = [*says, (" ", "")] if says else []
        if facet is not None or narrowed:
            room -= pieces_width(left) + pieces_width(right) + 1
            chips = facet_chips(facet or Facet("", "", ()), narrowed, room)
        else:
            count = f" {size:,}" if size is not None else ""
            chips = [(f" {place.pane.title}", "bold"), (count, TAB_DIM)]
        return [*left, *chips], right

    def draw_footer(self) -> None:
        """Show what keys do here; see `ActingScreen`."""

    def put_footer(self, *pieces: Piece) -> None:
        """Show these pieces in the bottom line."""
        self.query_one("#footer", Bar).set_pieces(*pieces)


def has_key(id: str) -> bool:
    """Tell whether an id of the key table has a key, remapped or not."""
    return key_name(id) != f":{id}"


def thing_of(one: Any) -> Any:
    """Return what keys apply to: the record, or what an entry is of."""
    return one.thing if isinstance(one, Entry) else one


def citation_of(thing: Record | Step | Any) -> str:
    """Return the citation of a record; of a step, or of what is none, an empty text."""
    return str(getattr(thing, "citation", ""))
