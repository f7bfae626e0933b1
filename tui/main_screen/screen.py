"""The main screen: its layout and keys, its controllers, and the routing between them.

A controller sees the screen only through its `Host` Protocol. The screen has no logic of its own: it forwards messages
and calls."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from shutil import get_terminal_size
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from store.base.clock import Clock, utc_now
from store.base.location import Location
from store.librarian.answer import LibrarianAnswer
from store.upkeep.as_of import PastState, PointInTime
from tui.input.key_table import FACTS, HITS, KEYS, LIBRARIAN, PANE_NAMES, PANES_BY_NAME, TIMELINE
from tui.lists.view_state import HUGE_COLUMNS, WIDE_COLUMNS, View, empty_pane_text, layout_class
from tui.main_screen.background import (
    CheckpointController,
    EmbeddingController,
    LearningController,
    ModelStatusController,
    TeamController,
    TourController,
    UpkeepController,
)
from tui.main_screen.commands import CommandController, PlanController, PromptController
from tui.main_screen.controller import BackgroundTask, Polling, ThreadController, Widgets, adopt_actions, try_steps
from tui.main_screen.lists import ListsController, MarksController, OpeningController, ViewController
from tui.main_screen.navigation import AsOfController, EditController, NavigationController, PreviewController
from tui.main_screen.search import SearchController
from tui.main_screen.top_bar import NoticeController, TopBarController
from tui.panes.controllers import ContextController, HealthController, LibrarianController, PaneController
from tui.screens.base import ResponsiveScreen
from tui.theme.line_filters import Piece
from tui.widgets.bars import CachedLines, Footer, Sidebar, Split
from tui.widgets.chat_pane import Talk, TalkPane
from tui.widgets.inputs import AskBar, SearchBar, TextEditor
from tui.widgets.preview import Preview, PreviewPane
from tui.widgets.record_list import RecordList
from tui.workers.engine import Engine, LoadedLists
from tui.workers.queries import SideRows

# The layout of the main screen: its styles, its keys, and the panes that it mounts.

SCREEN_STYLES = """
MainScreen {
    layout: vertical; overflow: hidden;
    #top { height: 1; background: $panel; }
    #chips { height: 1; background: $panel; }
    #past { height: 1; display: none; background: $warning; color: auto 95%; }
    &.-past #past { display: block; }
    &.-past #top { background: $warning-muted; }
    #body { height: 1fr; layout: horizontal; layers: default over; }
    /* beside the lists in the place of the tabs; where there is no room, over the lists */
    #sidebar { display: none; layer: over; background: $panel; }
    &.-sidebar #sidebar { display: block; }
    &.-sidebar.-huge #sidebar { layer: default; }
    &.-sidebar.-huge #top, &.-preview-alone #sidebar { display: none; }
    .pane { width: 1fr; height: 1fr; }
    .pane.-behind { display: none; }
    #hits-pane { display: none; }
    #preview-pane { padding: 0 0 0 1; }
    #tour-why, #tour-what { height: 1; background: $boost; }
    #footer { height: 1; background: $footer-background; }
    &.-searching .list { display: none; }
    &.-searching #hits-pane { display: block; }
    &.-wide .list, &.-wide #hits-pane { width: 60fr; }
    &.-wide #preview-pane { width: 40fr; border-left: solid $line; }
    &.-huge .list, &.-huge #hits-pane { width: 56fr; }
    &.-huge #preview-pane { width: 44fr; border-left: solid $line; }
    &.-narrow #body { layout: vertical; }
    &.-narrow .list, &.-narrow #hits-pane { height: 4fr; }
    &.-narrow #preview-pane { height: 3fr; border-top: solid $line; }
    /* an answer needs the room, until one of its records is opened */
    &.-narrow.-talking #preview-pane { display: none; }
    /* one of the two alone */
    &.-preview-alone .list, &.-preview-alone #hits-pane, &.-list-alone #preview-pane { display: none; }
    &.-preview-alone #preview-pane, &.-list-alone .list, &.-list-alone #hits-pane { width: 1fr; height: 1fr; }
    /* where the keys go can be told without colours */
    &.-wide #preview-pane:focus-within, &.-huge #preview-pane:focus-within { border-left: heavy $text-accent; }
    &.-narrow #preview-pane:focus-within { border-top: heavy $text-accent; }
}
"""


LAYOUT_FORMS = [(0, "-narrow"), (WIDE_COLUMNS, "-wide"), (HUGE_COLUMNS, "-huge")]


def apply_form(screen: Screen[None], plain: bool) -> None:
    """Give a screen the form of its width; if `plain` the narrow one, since a list beside a text would be heard as
    one."""
    screen.HORIZONTAL_BREAKPOINTS = LAYOUT_FORMS[:1] if plain else LAYOUT_FORMS
    shown = LAYOUT_FORMS[0][1] if plain else layout_class(screen.app.size.width)
    for _, name in LAYOUT_FORMS:
        screen.set_class(name == shown, name)


def apply_split(screen: Screen[None], percent: int) -> None:
    """Give the lists so much of the width, or of the height of a narrow screen; 0: what the styles give them."""
    across = not screen.has_class("-narrow")
    for pane in screen.query(".list, #hits-pane, #preview-pane"):
        share = 100 - percent if pane.id == "preview-pane" else percent
        if pane.id != "hits-pane" or across:  # below, its height is that of its rows
            pane.styles.height = f"{share}fr" if percent and not across else None
        pane.styles.width = f"{share}fr" if percent and across else None


def key_bindings() -> Iterator[Binding]:
    """Yield the bindings of the key table."""
    for key in KEYS:
        yield Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help)


class ListPane(CachedLines, Vertical):
    """A list, alone in its pane."""


class ScreenBody(CachedLines, Container):
    """The list and the preview, beside or above each other."""


def make_list_pane(name: str, *classes: str, empty_text: str = "") -> ListPane:
    """Return a list in a pane."""
    rows = RecordList(id=name, empty_text=empty_text)
    return ListPane(rows, id=f"{name}-pane", classes=" ".join(("pane", *classes)))


def make_hidden_pane(name: str) -> Widget:
    """Return a pane that is still hidden: a list, or the widget that it declares."""
    if PANES_BY_NAME[name].listed:
        return make_list_pane(name, "list", "-behind", empty_text=empty_pane_text(name))
    made: Widget = TalkPane(id=f"{name}-pane", classes="pane list -behind")
    return made


class MainScreen(ResponsiveScreen[None]):
    """One list at the left, the preview at the right (below, if narrow), the panes and the status on top."""

    HORIZONTAL_BREAKPOINTS = LAYOUT_FORMS
    BINDINGS: ClassVar[list[BindingType]] = list(key_bindings())
    DEFAULT_CSS = SCREEN_STYLES

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        # set before the first frame, or all styles would be computed twice
        super().__init__(classes=layout_class(get_terminal_size().columns))
        self.location, self.cwd, self.clock = location, cwd, clock
        self.widgets = Widgets(self)
        self.notices = NoticeController(self)
        self.threads = ThreadController(self)
        self.opening = OpeningController(self)
        self.lists = ListsController(self)
        self.view_state = ViewController(self)
        self.navigation = NavigationController(self)
        self.previewing = PreviewController(self)
        self.marks = MarksController(self)
        self.top_bar = TopBarController(self)
        self.search = SearchController(self)
        self.as_of = AsOfController(self)
        self.prompt, self.editing = PromptController(self), EditController(self)
        self.commands = CommandController(self)
        self.plans = PlanController(self)
        self.tasks: Sequence[BackgroundTask] = ()
        self.polling = Polling((self.lists.check_writes,), self.notices.say_error)
        self._plain = PaneController(self)  # for panes without behaviour of their own
        self._panes: dict[str, PaneController] = {}
        parts = (
            self.view_state,
            self.navigation,
            self.previewing,
            self.marks,
            self.search,
            self.as_of,
            self.prompt,
        )
        for controller in (*parts, self.commands, self.notices, self.top_bar.sidebar, self.editing):
            adopt_actions(self, controller)
        # methods that controllers use of one another, and those for `tui.actions`: see `Host`
        self.list_of, self.list_if_mounted = self.widgets.list_of, self.widgets.list_if_mounted
        self.bar, self.ask_bar, self.size_hits = self.widgets.bar, self.widgets.ask_bar, self.widgets.size_hits
        self.widget_of_kind, self.has_pane, self.hide_pane = (
            self.widgets.widget_of_kind,
            self.widgets.has_pane,
            self.widgets.hide_pane,
        )
        self.say, self.copy = self.notices.say, self.notices.copy
        self.take_split = partial(apply_split, self)
        self.later, self.in_background = self.threads.later, self.threads.in_background
        self.call_after = self.set_timer
        self.reload, self.sort_again = self.lists.reload, self.lists.sort_again
        self.read_side = self.lists.read_side
        self.refresh_records = self.lists.refresh_records
        self.hide_facts, self.hide_proposals = self.lists.hide_facts, self.lists.hide_proposals
        self.select_wanted = self.lists.select_wanted
        self.change_view = self.view_state.change
        self.show_pane = self.navigation.show_pane
        self.leave_hits = self.navigation.leave_hits
        self.go_to = self.navigation.action_pane
        self.go_to_list = self.navigation.go_to_list
        self.go_to_day = self.navigation.go_to_day
        self.follow, self.open_citation = self.previewing.follow, self.previewing.open_citation
        self.target, self.targets = self.marks.target, self.marks.targets
        self.unmark = self.marks.action_unmark
        self.counts = self.top_bar.counts
        self.set_status, self.set_backups = self.top_bar.set_status, self.top_bar.set_backups
        self.set_held, self.set_waiting = self.top_bar.set_held, self.top_bar.set_waiting
        self.draw_top, self.draw_titles = self.top_bar.draw, self.top_bar.draw_titles
        self.draw_footer, self.set_size = self.top_bar.draw_footer, self.top_bar.set_size
        self.search_filters = self.search.filters
        self.facet_of = self.lists.facet_of
        self.search_for = self.search.search_for
        self.end_search = self.search.end_search
        self.preview_hit = self.search.preview
        self.draw_found = self.search.draw_title
        self.fit_hits = self.search.fit
        self.vectors_came = self.search.vectors_came
        self.look_back, self.refuses = self.as_of.look_back, self.as_of.refuses
        self.draw_past = self.as_of.draw_band
        self.ask, self.ask_first = self.prompt.ask, self.prompt.ask_first
        self.edit_text = self.editing.edit_text
        self.run_line = self.commands.action_run
        self.type_command = self.commands.action_command
        self.open_screen = self.commands.open_screen
        self.show_plan, self.show_since = self.plans.show_plan, self.plans.show_since

    # layout

    def compose(self) -> ComposeResult:
        yield Split(id="top")
        yield SearchBar(id="search")
        yield Split(id="past")
        yield Split(id="chips")
        with ScreenBody(id="body"):
            yield Sidebar(id="sidebar")
            yield make_list_pane(FACTS, "list")
            yield make_list_pane(TIMELINE, "list", "-behind")
            yield PreviewPane(id="preview-pane", classes="pane")
        yield Footer(id="footer")

    def on_mount(self) -> None:
        self.list_of(FACTS).focus()
        self.apply_configuration()
        self.draw_titles()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """Start everything slow, after the first frame."""
        self.upkeep = UpkeepController(self)
        self.embedding = EmbeddingController(self)
        self.model_status = ModelStatusController(self)
        self.checkpoints = CheckpointController(self)
        more = (LearningController(self), self.model_status, self.checkpoints, TeamController(self))
        self.tasks = (self.upkeep, self.embedding, *more, TourController(self))
        for task in (self.model_status, self.embedding, self.tasks[-1]):
            adopt_actions(self, task)
        steps = (self.lists.check_writes, *(task.poll for task in self.tasks))
        self.polling = Polling(steps, self.notices.say_error, self.lists.was_written)
        self.opening.open()
        self.polling.start_polling(self, lambda: self.app.resting)  # type: ignore[attr-defined]

    def show_first_rows(self, engine: Engine, first: LoadedLists) -> None:
        """Show the first rows."""
        self.pane.engine = engine
        self.search_bar.ready(engine)
        self.search_bar.completes = self.search_filters.complete
        self.top_bar.set_status("")
        self.lists.show_first_rows(engine, first)
        self.call_after_refresh(self._complete)

    def opened_beside(self, engine: Engine) -> None:
        """Read git for the first time, on the thread that opened the memory."""
        self.upkeep.read_git_first(engine)

    def _complete(self) -> None:
        """Mount the hidden panes and load the complete lists, after the first rows."""
        self.lists.reload()
        for task in self.tasks:
            task.start()
        for name, made in (
            ("context", ContextController),
            ("librarian", LibrarianController),
            ("health", HealthController),
        ):
            self._panes[name] = made(self)
            adopt_actions(self, self._panes[name])
        self.search_bar.add_input()
        others = [make_hidden_pane(name) for name in PANE_NAMES if name not in (FACTS, TIMELINE)]
        self.query_one("#body").mount(
            *others, make_list_pane(HITS, empty_text=empty_pane_text(HITS)), before="#preview-pane"
        )
        self.mount(AskBar(id="ask"), before="#footer")
        self.navigation.arrange()
        self.call_after_refresh(self.lists.read_side)  # after the panes have their lists

    def apply_configuration(self) -> None:
        """Apply a changed configuration."""
        apply_form(self, self.app.config["plain"])  # type: ignore[attr-defined]
        self.footer.remapped = self.app.remapped  # type: ignore[attr-defined]
        self.footer.show_pane("")
        self.draw_footer()

    def close(self) -> None:
        """Close the memory."""
        for controller in self.pane_controllers:
            controller.close()

    def _pop_result_callback(self) -> None:
        """Override Textual's: the app's first screen has no result callback, and may be replaced all the same."""
        if self._result_callbacks:
            super()._pop_result_callback()

    # messages

    def on_resize(self) -> None:
        self.call_after_refresh(self.navigation.arrange)

    def on_descendant_focus(self) -> None:
        self.navigation.focus_moved()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self.previewing.follow_cursor(event)

    def on_record_list_chosen(self) -> None:
        self.previewing.choose()

    def on_record_list_asked(self) -> None:
        self.app.action_command_palette()  # the palette lists actions for the list's records first

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        self.marks.update_marks(event)

    def on_preview_pane_failed(self, event: PreviewPane.Failed) -> None:
        self.previewing.report_failure(event)

    def on_preview_opened(self, event: Preview.Opened) -> None:
        self.librarian.follow_citation(event)

    def on_preview_selected(self, event: Preview.Selected) -> None:
        self.previewing.update_selection(event)

    def on_search_bar_found(self, event: SearchBar.Found) -> None:
        self.search.show_answer(event)

    def on_search_bar_typed(self) -> None:
        self.top_bar.draw_footer()

    def on_search_bar_entered(self, event: SearchBar.Entered) -> None:
        self.search.enter(event)

    def on_search_bar_cleared(self, event: SearchBar.Cleared) -> None:
        self.search.leave_or_clear(event)

    def on_search_bar_failed(self, event: SearchBar.Failed) -> None:
        self.search.show_error(event)

    def on_talk_pane_asked(self, event: TalkPane.Asked) -> None:
        self.librarian.answer_typed(event)

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        self.prompt.close_prompt(event)

    def on_text_editor_left(self, event: TextEditor.Left) -> None:
        self.editing.end_edit(event.text)

    def on_ask_bar_typed(self, event: AskBar.Typed) -> None:
        self.prompt.show_usage(event)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.lists.reading = False
            self.notices.say_error(event.worker.error)

    def model_told(self) -> None:
        """Handle a change of the model's status."""
        if self.tasks:
            self.model_status.update_status()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable redo while a line or an answer is typed."""
        return not (parameters == ("history.redo",) and self.has_class("-asking"))

    def action_leave(self) -> None:
        """Leave one mode."""
        steps = (
            self.navigation.leave,
            self.search.leave_bar,
            self.top_bar.sidebar.leave,
            self.previewing.leave,
            self.marks.leave,
            self.search.leave,
            self.as_of.leave,
            *(task.leave for task in self.tasks),
            self.view_state.leave,
        )
        try_steps(steps)

    # for the controllers and for `tui.actions`

    @property
    def engine(self) -> Engine | None:
        return self.lists.engine

    @property
    def view(self) -> View:
        return self.view_state.view

    @property
    def current_list(self) -> str:
        """Return the name of the list that was focused last."""
        return self.navigation.place

    @property
    def current(self) -> str:
        return self.navigation.current

    @property
    def alone(self) -> str:
        return self.navigation.alone

    @property
    def searching(self) -> bool:
        return self.search.active

    def has_sidebar(self) -> bool:
        return self.top_bar.sidebar.is_shown

    @property
    def moment(self) -> PointInTime | None:
        return self.as_of.moment

    @property
    def form(self) -> str:
        """Return the layout's class: -narrow, -wide, -huge."""
        return next((name for name in ("-narrow", "-wide", "-huge") if self.has_class(name)), "-narrow")

    @property
    def name_of_memory(self) -> str:
        return self.location.display_name

    @property
    def librarian(self) -> LibrarianController:
        return cast("LibrarianController", self._panes[LIBRARIAN])

    @property
    def talk(self) -> Talk | None:
        return self.librarian.talk if self._panes else None

    @property
    def last_answer(self) -> LibrarianAnswer | None:
        return self.librarian.last_answer if self._panes else None

    @property
    def embedding_under_way(self) -> str | None:
        return self.embedding.under_way

    @property
    def pane_controllers(self) -> Sequence[PaneController]:
        return tuple(self._panes.values())

    def controller_of(self, name: str) -> PaneController:
        return self._panes.get(name, self._plain)

    @property
    def pane(self) -> PreviewPane:
        return self.query_one("#preview-pane", PreviewPane)

    @property
    def search_bar(self) -> SearchBar:
        return self.query_one(SearchBar)

    @property
    def footer(self) -> Footer:
        return self.query_one("#footer", Footer)

    def draw_titles_soon(self) -> None:
        self.call_after_refresh(self.draw_titles)

    def poll(self) -> None:
        self.polling.poll()

    # between controllers

    def enter_hits(self) -> None:
        self.navigation.place = HITS

    def return_to(self, view: View, pane: str) -> None:
        self.view_state.view = view
        self.navigation.show_pane(pane)
        self.navigation.place = pane

    def turn_to(self, past: PastState | None, cursors: Mapping[str, Hashable]) -> None:
        self.lists.turn_to(cursors)
        self.change_view(past=past)

    def memory_changed(self) -> None:
        if not self.embedding.announces(self.lists.step):
            self.search.repeat()

    def side_shown(self, name: str, rows: SideRows) -> None:
        self.controller_of(name).update_rows(rows)

    def lists_shown(self) -> None:
        for controller in self.pane_controllers:
            controller.update_lists()

    def background_pieces(self) -> Sequence[Piece]:
        return [piece for task in self.tasks for piece in task.pieces()]

    def model_forms(self) -> Sequence[Sequence[Piece]]:
        return self.model_status.forms() if self.tasks else ()

    @property
    def is_current(self) -> bool:
        return self.app.screen is self

    # for `tui.actions` and the `:` bar

    def setting(self, name: str) -> str:
        """Return a setting of the configuration as text."""
        return str(self.app.config[name])  # type: ignore[attr-defined]

    def read_documents(self) -> None:
        self.upkeep.read_documents()

    def embed(self) -> None:
        self.embedding.embed()

    def ask_librarian(self, question: str) -> None:
        self.go_to(LIBRARIAN)
        self.librarian.ask_question(question)

    def show_model(self, pull: str = "", trying: str | None = None) -> None:
        self.model_status.action_model(pull, trying)
