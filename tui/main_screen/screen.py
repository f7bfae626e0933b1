"""The main screen: it opens the memory, works beside it, answers questions, and shows the past."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

from rich.text import Text
from textual.timer import Timer
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from store.base.clock import Clock, format_how_long_ago, format_local_time
from store.base.errors import MemorandaError, NotOurs
from store.base.location import Location
from store.config.configuration import has_ignored_project_file
from store.database import wal
from store.database.connection import to_memoranda_error
from store.database.tombstones import count_removals
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.memory import Memory
from store.text.display import visible
from store.upkeep.adoption import AdoptionResult, add_recent, adopt_as_proposals, adopt_whole
from store.upkeep.as_of import PastState
from tui.input.key_table import ASK, PANE_KEYS, key_name
from tui.main_screen import background
from tui.main_screen.search import SearchingScreen
from tui.panes.ask import Example
from tui.panes.pane import Entry, View
from tui.screens.base import forget_startup
from tui.screens.start import ADOPT_LOOK, ADOPT_WHOLE, AdoptScreen
from tui.theme.line_filters import Piece, pieces_width
from tui.widgets.bars import Split
from tui.widgets.preview import Preview
from tui.workers.engine import Engine
from tui.workers.model_worker import KEPT_EXCHANGES, Exchange, ModelWorker, answer_exchange

# polls between two readings of the rows without a write, because ages change
AGES_POLLS = 120
TALK_ERASED = "The conversation with the librarian was erased with what was purged."


class MainScreen(SearchingScreen):
    """The panes and views of one memory."""

    make_modeller = ModelWorker
    """What asks the agent's model, in this memory and those opened after it."""
    tasks: Sequence[background.BackgroundTask] = ()
    # while the memory is open
    polling: background.Polling
    # counts the seconds of the pending answer
    _clock: Timer | None = None
    # the memory's count of removals when it was looked at last
    _purges = 0
    # whether another program prevents a checkpoint of the WAL
    _held = False
    # how each place was before the past was looked at
    _left: dict[str, tuple[View, Hashable]]

    def on_mount(self) -> None:
        self.record_list.focus()
        self.apply_configuration()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """Start everything slow, after the first frame."""
        self.upkeep, self.embedding = background.UpkeepController(self), background.EmbeddingController(self)
        self.model_status, self.tour = background.ModelStatusController(self), background.TourController(self)
        self.checkpoints = background.CheckpointController(self)
        others = (self.model_status, self.checkpoints, background.TeamController(self), self.tour, self.upkeep)
        self.tasks = (self.embedding, background.LearningController(self), *others)
        self.call_after_refresh(forget_startup)
        self.in_background(self._open_memory, "open")

    # opening

    def _open_memory(self, adopt: Callable[[Location, Clock], AdoptionResult] | None = None) -> None:
        """Open the memory, on a worker thread; adopt it first, if it is another installation's."""
        waited = has_ignored_project_file(self.location)
        try:
            adopted = None if adopt is None else adopt(self.location, self.clock)
            engine = Engine(self.location, self.cwd, self.later, self.clock)
        except NotOurs as error:
            self.app.call_from_thread(self._ask_whose, error)
            return
        except MemorandaError as error:
            self.app.call_from_thread(self._end, error)
            return
        # moved, copied or adopted: its settings apply from now on
        if waited or adopted:
            self.app.call_from_thread(self.application.configure_again)
        if adopted and adopted.warning:
            self.app.call_from_thread(self.say, adopted.warning, "warning", 15)
        self.app.call_from_thread(self._show_memory, engine)
        add_recent(self.location.path)
        self.upkeep.read_git_first(engine)

    def _show_memory(self, engine: Engine) -> None:
        self.opened = self.pane.engine = engine
        self.search_bar.ready(engine, self.action_complete_filter)
        # listed among the warnings
        self._held = bool(wal.held_wal_warning(engine.screen.database.path))
        for warning in engine.screen.database.warnings:
            self.say(warning, "warning", 15)
        self._step = engine.newest_step()
        self._purges = count_removals(engine.present.database)
        self.set_status("")
        self.count_waiting()
        self.load()
        for task in self.tasks:
            task.start()
        self.divide()
        steps = (self.check_writes, self._look_around, *(task.poll for task in self.tasks))
        self.polling = background.Polling(steps, self.say_error, self.was_written)
        self.polling.start_polling(self, lambda: self.application.resting)

    def _end(self, error: MemorandaError) -> None:
        """Exit the application, and print why."""
        # a str would be parsed as markup
        self.app.exit(None, error.exit_status, Text(visible(str(error))))

    def _ask_whose(self, why: NotOurs) -> None:
        """Ask what to do with a memory of another installation."""

        def chosen(choice: str | None) -> None:
            if not choice:
                self._end(why)
                return
            self.location.look = choice == ADOPT_LOOK
            whole = partial(adopt_whole, earlier=why.unmarked)
            adopt = {ADOPT_LOOK: None, ADOPT_WHOLE: whole}.get(choice, adopt_as_proposals)
            self.in_background(partial(self._open_memory, adopt), "open")

        self.application.release_keys()
        self.app.push_screen(AdoptScreen(self.location, why), chosen)

    def apply_configuration(self) -> None:
        """Apply a changed configuration."""
        self.apply_form()
        self.divide()

    # what goes on beside

    def _look_around(self, count: int) -> None:
        """See whether the log is held by another program, whether ages changed, and whether anything was purged."""
        reason = wal.held_wal_warning(self.engine.screen.database.path)
        if bool(reason) != self._held:
            self._held = bool(reason)
            if reason:
                self.say(reason, "warning", 15)
            self.draw_top()
        if count % background.polls_at_pace(AGES_POLLS, self.application) == 0:
            self.load()

    def memory_changed(self) -> None:
        self._forget_if_purged()
        if not self.embedding.announces(self._step):
            super().memory_changed()

    def embed(self) -> None:
        self.embedding.embed()

    def status_pieces(self) -> list[Piece]:
        pieces: list[Piece] = [("log held ", "$text-warning")] if self._held else []
        pieces += super().status_pieces()
        pieces += [piece for task in self.tasks for piece in task.pieces()]
        return [one for piece in pieces for one in ((" ", ""), piece)][1:]

    def model_forms(self) -> Sequence[Sequence[Piece]]:
        """Return the forms of the model's status, longest first."""
        return self.model_status.forms() if self.tasks else ()

    def model_told(self) -> None:
        """Handle a change of the model's status."""
        if self.tasks:
            self.model_status.update_status()
            if self.pane_name == "settings":
                self.load()

    def say_error(self, error: BaseException) -> None:
        """Report an error of the disk, the file or a defect, unless an equal message is still shown."""
        text = str(to_memoranda_error(error, self.location.path))
        if visible(text) not in [notice.message for notice in self.app._notifications]:
            self.say(text, "error", 10)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        # what reads a memory that was left may fail
        left = self.opened is not None and self.opened.is_closed
        if event.state is WorkerState.ERROR and event.worker.error is not None and not left:
            self.say_error(event.worker.error)

    def action_messages(self) -> None:
        """Show in the preview what was said in this sitting, the newest first."""
        now, lines = self.clock(), []
        for at, text in reversed(self.application.messages):
            lines += [format_how_long_ago(now, at), f"  {text}", ""]
        self.show_lines(lines or ["Nothing was said yet."])

    def action_index(self) -> None:
        """Stop indexing, or go on."""
        self.embedding.toggle()

    def action_tour(self) -> None:
        """Leave the tour, or resume it where it was left."""
        self.tour.toggle()

    def action_leave(self) -> None:
        """Leave one thing: the find line, an answer, zoom, the preview, marks, a search, the past, a filter, a view,
        work beside."""
        place = self.place
        if isinstance(self.focused, Input):
            self.action_leave_search()
        elif self._stop_answer():
            self.draw_footer()
        elif self._leave_zoom():
            pass
        elif self.pane.preview.has_focus:
            self.set_focus(self.record_list)
            self.show_cursor()
        elif self.record_list.marks:
            self.record_list.unmark()
        elif self.searching:
            self.action_leave_search()
        elif self.moment is not None:
            self.action_come_back()
        elif place.view.chosen:
            if place.pane.finds:
                self.search_bar.clear()
            self.action_show_all()
        elif place.pane.name not in PANE_KEYS:
            self.show_place(self.came_from)
        elif not any(task.leave() for task in self.tasks):
            self.set_focus(self.record_list)

    # the past

    def look_back(self, text: str) -> None:
        if text.strip() == "now":
            self.action_come_back()
        elif text.strip():
            engine = self.engine
            # they are for those of then
            self.application.hold_keys("rows")
            engine.read(
                "past", lambda memory: engine.look_back(text), lambda found: self._show_past(*found), self.fail
            )

    def _show_past(self, past: PastState, then: Memory) -> None:
        self.end_search()
        if self.moment is None:
            self.place.key = self.record_list.cursor_key
            self._left = {name: (place.view, place.key) for name, place in self.places.items()}
        self.engine.enter(past, then)
        self._read_moment()

    def action_come_back(self) -> None:
        """Show the present again."""
        if self.moment is not None:
            self.end_search()
            self.engine.come_back()
            for name, (view, key) in self._left.items():
                self.places[name].view, self.places[name].key = view, key
            self._read_moment()
            self.say("Back to now.")

    def _read_moment(self) -> None:
        """Read everything again, of another moment; cursors stay where their rows are, and are in the present where
        they were."""
        self.set_class(self.moment is not None, "-past")
        for place in self.places.values():
            place.loaded, place.marks = None, frozenset()
        self.record_list.unmark()
        self.pane.follow(None)
        self.set_focus(self.record_list)
        self._draw_past()
        self.load()

    def _draw_past(self) -> None:
        """Draw the line that names the moment; in fewer words if there is little room."""
        moment = self.moment
        if moment is None:
            return
        right: list[Piece] = [
            (key_name("past.look"), "bold", "start('past.look')"),
            (" compare  ", "", "start('past.look')"),
            (key_name("screen.leave"), "bold", "come_back"),
            (" now ", "", "come_back"),
        ]
        for words in (moment.words, format_local_time(moment.at)):
            left: list[Piece] = [("  AS OF ", ""), (visible(words), "bold"), ("  read-only", "")]
            if pieces_width(left) + pieces_width(right) < self.app.size.width:
                break
        self.query_one("#past", Split).put_both(left, right)

    # Enter, and the questions

    def on_record_list_chosen(self) -> None:
        self.action_open()

    def on_record_list_asked(self) -> None:
        self.action_box()

    def on_preview_opened(self, event: Preview.Opened) -> None:
        event.stop()
        self.pane.open(event.citation)

    def action_open(self) -> None:
        """Do what Enter does to the row; else go into the preview, there open the citation."""
        one = self.row_at(self.record_list.cursor_index)
        if not self.pane.preview.has_focus and isinstance(one, Entry):
            if isinstance(one.thing, Example):
                # a question, or a filter to search by
                line = one.thing.line
                ask = self.search_for if ":" in line else self.ask_question
                ask(line)
                return
            if self.find_action("preview.follow", [one.thing]) is not None:
                self.action_start("preview.follow")
                return
        super().action_open()

    def ask_question(self, question: str) -> None:
        """Ask the Librarian, on a thread; what it finds is shown as it comes."""
        if self.refuses():
            return
        self.go_to(ASK, context=None, question=None, session=None)
        engine = self.engine
        self._stop_answer()
        if self._clock is None:
            self._clock = self.app.set_interval(1, self._count_seconds)
        last = next((one.answer for one in reversed(engine.exchanges) if one.answer is not None), None)
        exchange = Exchange(question)
        engine.exchanges = [*engine.exchanges[1 - KEPT_EXCHANGES :], exchange]
        self._show_talk()
        self.application.release_keys()
        work = partial(self._answer_question, engine, exchange, last)
        self.in_background(work, "librarian")

    def _answer_question(self, engine: Engine, exchange: Exchange, last: LibrarianAnswer | None) -> None:
        def tell(words: str) -> None:
            if not exchange.stop.is_set():
                exchange.status = words
                self.later(self._show_talk)

        def first(found: tuple[CitedSentence, ...], name: str) -> None:
            exchange.first = found
            self.later(self._show_talk)

        try:
            with engine.learner.set_aside(), engine.open_memory(None) as memory:
                exchange.answer = answer_exchange(memory, exchange, last, tell, first)
        except Exception as error:
            exchange.error = str(to_memoranda_error(error, engine.location.path))
            if not isinstance(error, MemorandaError):
                raise
        finally:
            self.later(self._show_talk)

    def _count_seconds(self) -> None:
        """Show the elapsed time of the pending answer."""
        if self.is_attached and not self.engine.is_closed and any(one.open for one in self.engine.exchanges):
            self._show_talk()

    def _show_talk(self) -> None:
        """Show the conversation as it is now; the cursor goes to the first sentence of a new answer."""
        if self.pane_name == ASK:
            self.load()

    def _stop_answer(self) -> bool:
        """Stop the model: the search's hits stay, in their order. Return False if nothing is asked."""
        asked = next((one for one in reversed(self.engine.exchanges) if one.open and not one.stop.is_set()), None)
        if asked is None:
            return False
        asked.stop.set()
        asked.status = "stopped; the order of the search …"
        self._show_talk()
        return True

    def _forget_if_purged(self) -> None:
        """Clear the conversation after any purge, here or elsewhere, since it may quote purged text that is no longer
        on the disk."""
        engine, before = self.engine, self._purges
        self._purges = count_removals(engine.present.database)
        if engine.exchanges and self._purges > before:
            self._stop_answer()
            engine.exchanges = []
            self.say(TALK_ERASED)
        if self._purges > before:
            engine.subjects.clear()
