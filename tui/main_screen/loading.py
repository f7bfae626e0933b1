"""Opens the memory and loads the lists; reloads them when another process wrote.

Nothing here waits for the memory: workers read, and hand what they read to the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING, cast

from textual import work
from textual.worker import Worker, WorkerState

from store.base.clock import Clock, utc_now
from store.base.errors import MemorandaError, NotOurs
from store.base.location import Location
from store.base.record_keys import pack, unpack
from store.database import wal
from tui.input.key_table import CHECKPOINTS, FACTS, HISTORY, INBOX, PANES, TASKS, TIMELINE
from tui.lists.view_state import ALL_NAMED, DIM, STRONG, View, empty, filtered, layout, tabs, title
from tui.screens.base_screen import ResponsiveScreen
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width
from tui.widgets.bars import Split
from tui.widgets.preview_pane import PreviewPane
from tui.widgets.record_list import RecordList
from tui.widgets.search_bar import SearchBar

if TYPE_CHECKING:
    from store.base.models import Record, Step
    from tui.lists.record_rows import HitRows, KeyedRows, TimelineRows
    from tui.workers.engine import Engine, Lists
    from tui.workers.queries import SideRows

AGES = 120  # looks after which the facts are read anyway, for ages move on by themselves
OTHERS = 1.0  # seconds, at least, from one reading of what others write to the next
REST = 1  # times what a reading of the lists took: the pause before what others write is read again


class ReadingScreen(ResponsiveScreen[None]):
    """A screen with lists of a memory, kept true to it. `MainScreen` lays it out and answers the keys."""

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        # known before the first frame, or all styles would be worked out twice
        super().__init__(classes=layout(get_terminal_size().columns))
        self._location = location
        self._cwd = cwd
        self._clock = clock
        self.engine: Engine | None = None
        self.view = View()
        self._lists: Lists | None = None
        self._read: Lists | None = None  # and not yet shown
        self._counts: dict[str, int] = {}
        self._sizes: dict[str, int] = {}  # how many rows each list has, once that is known
        self._current, self._second, self._third = FACTS, TIMELINE, HISTORY  # see `view.slots`
        self._seen_panes: tuple[str, ...] = (FACTS, TIMELINE)
        self._list_id = "facts"  # the list the person was in last
        self._reading = self._stale = False  # whether the lists are being read, and must be read again
        self._looks = 0
        self._held = False  # whether another program keeps the log from being emptied
        self._aged = False  # whether ages may have moved on since the lists were read
        self._rested = 0.0  # the moment from which on what others wrote may be read
        self._seen = 0  # the version of the file that the lists show
        self._welcome_due = False
        self._looked = 0  # the newest step of history at the last look
        self._step = 0  # the newest step of history that was shown
        self._staying = set[str]()  # what is said and goes on standing when something else is said
        self._status = "opening"
        self._backups = ""  # what is wrong with them
        self._waiting = 0  # proposals in the inbox
        self._wanted: int | None = None  # the key of the record to put the cursor on, when it is in the list
        self._returning: dict[str, Hashable] = {}  # where each list's cursor is to be once it was read

    @property
    def location(self) -> Location:
        """The memory that is shown."""
        return self._location

    @property
    def cwd(self) -> str:
        """The folder that the memory is used from."""
        return self._cwd

    def list_of(self, name: str) -> RecordList:
        return self.query_one(f"#{name}", RecordList)

    @property
    def form(self) -> str:
        """The layout's class: -narrow, -wide, -huge."""
        return next((name for name in ("-narrow", "-wide", "-huge") if self.has_class(name)), "-narrow")

    @property
    def pane(self) -> PreviewPane:
        return self.query_one("#preview-pane", PreviewPane)

    def say(
        self,
        text: str,
        severity: str = "information",
        timeout: float = 4,
        alone: bool = False,
        stays: bool = False,
    ) -> None:
        """A toast; never markup, whoever wrote the text. `alone`: what was said before has had its time, but for what
        `stays`."""
        if alone:
            kept = [one for one in self.app._notifications if one.message in self._staying]
            self.app.clear_notifications()
            for one in kept:
                self.app.notify(one.message, severity=one.severity, timeout=one.time_left, markup=False)
        if stays:
            self._staying.add(visible(text))
        self.app.notify(visible(text), severity=severity, timeout=timeout, markup=False)  # type: ignore[arg-type]

    def later(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the screen's thread; once the app is ending, not at all."""
        if self.engine is not None and not self.engine.closed and self.app.is_running:
            self.app.call_from_thread(self._still, function, *arguments)

    def _still(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function, unless the memory was left in the meantime for another one."""
        if self.engine is not None and not self.engine.closed:
            function(*arguments)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What ended a worker is said, not swallowed."""
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self._reading = False
            self.say_trouble(event.worker.error)

    def say_trouble(self, error: BaseException) -> None:
        """Say what the disk, the file or a defect did; the same is not said again while it stands on the screen."""
        from store.database.connection import understood

        text = str(understood(error, self._location.path))
        if visible(text) not in [notice.message for notice in self.app._notifications]:
            self.say(text, "error", timeout=10)

    def _under_cursor(self, source: RecordList) -> Record | Step | None:
        rows, index = source.rows, source.cursor_index
        if self.engine is None or rows is None or index is None:
            return None
        return cast("KeyedRows | TimelineRows | HitRows", rows).record(index)

    def follow(self, source: RecordList) -> None:
        """Show in the preview what a list's cursor is on."""
        self.pane.follow(self._under_cursor(source))

    # opening, reading, catching up

    @work(thread=True, group="open", exit_on_error=False, description="open the memory")
    def _open(self) -> None:
        from rich.text import Text

        from store.config import configuration as config
        from tui.desktop import recent_files
        from tui.workers.engine import FIRST, Engine

        waited = config.waits(self._location)
        try:
            engine = Engine(self._location, self._cwd, self._clock)
            first = engine.lists(self.view, FIRST)
        except NotOurs as error:
            self.app.call_from_thread(self._ask_whose, error)
            return
        except MemorandaError as error:
            reason = Text(visible(str(error)))  # a str would be read as markup
            self.app.call_from_thread(self.app.exit, None, error.exit_status, reason)
            return
        if waited:  # it was moved or copied, and is known by its new place now
            self.app.call_from_thread(self.app.configure_again)  # type: ignore[attr-defined]
        self.app.call_from_thread(self._opened, engine, first)
        recent_files.add(self._location.path)
        self._look_after(engine)

    def _ask_whose(self, why: NotOurs) -> None:
        """Ask what is to be done with a memory that is not ours."""
        from rich.text import Text

        from tui.screens.adoption import LOOK, AdoptScreen

        def chosen(choice: str | None) -> None:
            if not choice:
                self.app.exit(None, why.exit_status, Text(visible(str(why))))
            elif choice == LOOK:
                self._location.look = True
                self._open()
            else:
                self._adopt(choice, why.unmarked)

        self.app.release_keys()  # type: ignore[attr-defined]
        self.app.push_screen(AdoptScreen(self._location, why), chosen)

    @work(thread=True, group="open", exit_on_error=False, description="adopt the memory")
    def _adopt(self, choice: str, earlier: bool) -> None:
        from rich.text import Text

        from store.services import adoption
        from tui.screens.adoption import WHOLE

        try:
            if choice == WHOLE:
                adopted = adoption.whole(self._location, self._clock, earlier)
            else:
                adopted = adoption.as_proposals(self._location, self._clock)
        except MemorandaError as error:
            self.app.call_from_thread(self.app.exit, None, error.exit_status, Text(visible(str(error))))
            return
        self.app.call_from_thread(self.app.configure_again)  # type: ignore[attr-defined]
        if adopted.warning:
            self.app.call_from_thread(self.say, adopted.warning, "warning", 15)
        self.app.call_from_thread(self._open)

    def _look_after(self, engine: Engine) -> None:
        """What is to be done on a worker thread once the memory is open."""

    def _opened(self, engine: Engine, first: Lists) -> None:
        self.engine = self.pane.engine = engine
        self.query_one(SearchBar).ready(engine)
        self._status = ""
        self._held = bool(wal.held(engine.screen.database.path))  # which is among the warnings
        for warning in engine.screen.database.warnings:
            self.say(warning, "warning", timeout=15)
        if engine.created:
            self._welcome_due = True
            self.say(f"Started a memory for {self._location.name}: {self._location.path}", timeout=8)
        self._step = engine.newest_step()
        for name in (FACTS, TIMELINE):
            self.list_of(name).empty_text = empty(name)
        self._show_lists(first)
        self.call_after_refresh(self._complete)

    def _complete(self) -> None:
        """After the first rows: what nobody sees yet, and the whole order of the lists."""
        self.reload()

    def poll(self) -> None:
        """Look whether anybody wrote. A file that cannot be read any more is told of, and looked at again next time."""
        try:
            self._look()
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self.say_trouble(error)

    def _look(self) -> None:
        """Look whether anybody wrote, in this process or another; not while the lists are being read, and not right
        after a reading that took long."""
        self._looks += 1
        self._aged = self._aged or self._looks % AGES == 0
        engine = self.engine
        if engine is None:
            return
        self._tell_held(engine.screen.database.path)
        if (step := engine.newest_step(engine.present)) != self._looked:
            self._looked = step
            engine.pace.written()
        if self._reading or monotonic() < self._rested or self.view.past:  # what was does not change
            return
        if self._aged or engine.screen.database.changed() != self._seen:
            self.reload()

    def _tell_held(self, path: str) -> None:
        """Say once that another program keeps the log from being emptied, and in the bar for as long as it does."""
        said = wal.held(path)
        if bool(said) == self._held:
            return
        self._held = bool(said)
        if said:
            self.say(said, "warning", timeout=15)
        self._draw_top()

    def reload(self) -> None:
        """Read again what changed in the order of both lists, soon; one reading at a time."""
        if self._reading:
            self._stale = True
        elif self.engine is not None:
            self.seek_again()
            self._reading, self._stale = True, False
            self._seen = self.engine.screen.database.changed()
            self._read_lists(self.view, self._aged)
            self._aged = False
            self.read_side()

    def seek_again(self) -> None:
        """Answer the question that stands once more, for the memory has changed."""
        if self.has_class("-searching"):
            self.query_one(SearchBar).again()

    def read_side(self) -> None:
        """Read those of the other lists that are seen."""
        names = tuple(name for name in self._seen_panes if name not in (FACTS, TIMELINE) and self.query(f"#{name}"))
        if self.engine is not None and names:
            self._read_side(self.view, names)

    @work(thread=True, group="side", exclusive=True, exit_on_error=False, description="read the other lists")
    def _read_side(self, view: View, names: tuple[str, ...]) -> None:
        assert self.engine is not None
        try:
            rows = self.engine.side(view, names)
        except MemorandaError as error:
            self.later(self.say, str(error), "error")
            return
        self.later(self._show_side, view, rows)

    def _show_side(self, view: View, lists: Mapping[str, SideRows]) -> None:
        if view != self.view:
            return  # a newer reading is under way
        for name, rows in lists.items():
            found = self.list_of(name)
            narrowed = (name == HISTORY and view.actor) or (name == INBOX and view.asker)
            found.empty_text = filtered(name) if narrowed else empty(name)
            found.set_rows(rows)
            self._sizes[name] = len(rows)
        self._select_wanted(*lists)
        if TASKS in lists and self.engine is not None:
            self._counts["done"] = self.engine.done_tasks()
        if CHECKPOINTS in lists and self.engine is not None:
            self._counts["alone"] = self.engine.checkpoints_by_themselves()
        self._draw_titles()

    @work(thread=True, group="lists", exit_on_error=False, description="read the lists")
    def _read_lists(self, view: View, aged: bool) -> None:
        assert self.engine is not None
        start = monotonic()
        try:
            lists = self.engine.lists(view, last=self._lists, aged=aged)
        except MemorandaError as error:
            self.later(self._failed, error)
            return
        end = monotonic()
        self._rested = max(start + OTHERS, end + REST * (end - start))
        self._read = lists
        del lists  # what is passed to another thread, or to a worker, stays for a while; a million keys may not
        self.later(self._show_read)

    def _show_read(self) -> None:
        lists, self._read = self._read, None
        if lists is not None and lists.view.past is not self.view.past:
            self._reading = False  # it was asked for before the person looked back, or came back
            self.reload()
        elif lists is not None:
            self._show_lists(lists)

    def _failed(self, error: MemorandaError) -> None:
        self._reading = False
        self.say(str(error), "error")

    def _show_lists(self, lists: Lists) -> None:
        self._lists = lists
        if lists.whole:
            self._counts |= lists.counts
            self._sizes |= {FACTS: len(lists.facts), TIMELINE: lists.entries}
            self._reading = False
        for name, rows in (("facts", lists.facts), ("timeline", lists.timeline)):
            rows.near = self.list_of(name).cursor_index or 0
            self.list_of(name).set_rows(rows)
        self._select_wanted(FACTS, TIMELINE)
        if self.pane.record is not None:
            self.pane.again()
        self.list_of(FACTS).empty_text = (empty if self.view.shows_all else filtered)(FACTS)
        self.list_of(TIMELINE).empty_text = (filtered if self.view.kind else empty)(TIMELINE)
        self._flash_changes()
        if self.engine is not None:
            self._waiting = self.engine.waiting()
        self._draw_top()
        self._draw_titles()
        if self._stale:
            self.reload()

    def _select_wanted(self, *names: str) -> None:
        """Put the cursor of the list the person is in on the record that was just made or brought back; and all cursors
        where they were before the person looked back."""
        for name in names:
            if name in self._returning:
                self.list_of(name).select(self._returning.pop(name))
                if name == self._list_id and not self.pane.reading_out:
                    self.follow(self.list_of(name))
        if self._wanted is None or self._list_id not in names:
            return
        kind, number = unpack(self._wanted)
        key = number if self._list_id == FACTS and kind == "fact" else self._wanted
        if self.list_of(self._list_id).select(key):
            self._wanted = None

    def _flash_changes(self) -> None:
        """Light what someone else changed since the last reading."""
        assert self.engine is not None
        self._step, changed = self.engine.changed_elsewhere(self._step)
        for key in changed:
            kind, number = unpack(key)
            self.list_of(FACTS).flash(number) if kind == "fact" else self.list_of(TIMELINE).flash(key)
            for name in {"task": (TASKS,), "proposal": (INBOX,)}.get(kind, ()):
                for found in self.query(f"#{name}").results(RecordList):
                    found.flash(key)

    def refresh_records(self, wanted: int | None = None) -> None:
        """Show at once what a write changed on screen, then read the lists again; put the cursor on the record whose
        key is `wanted`."""
        for name in PANES:
            for found in self.query(f"#{name}").results(RecordList):
                if found.rows is not None and self._lists is not None:
                    found.rows.drop_pages()  # type: ignore[attr-defined]
                    found.refresh_rows()
        self._wanted = wanted
        self.reload()
        if not self.pane.again():
            self.follow(self.list_of(self._list_id))

    def hide_facts(self, numbers: Sequence[int]) -> None:
        """Take facts out of the list before the list is read again."""
        rows = self.list_of(FACTS).rows
        if rows is not None and not self.view.hidden and self._list_id == FACTS:
            self.list_of(FACTS).set_rows(rows.without(numbers))  # type: ignore[attr-defined]

    def hide_proposals(self, numbers: Sequence[int]) -> None:
        """Take proposals out of the list before it is read again."""
        rows = self.list_of(INBOX).rows
        if rows is not None and self._list_id == INBOX:
            keys = [pack("proposal", number) for number in numbers]
            self.list_of(INBOX).set_rows(rows.without(keys))  # type: ignore[attr-defined]

    # the bars

    def _show_status(self, status: str) -> None:
        self._status = status
        self._draw_top()

    def under_way(self) -> list[Piece]:
        """What is being done beside everything else."""
        held: list[Piece] = [("log held ", "$text-warning")] if self._held else []
        return [*held, *([(f"{self._status} ", "$text-warning", "leave")] if self._status else [])]

    def _draw_top(self) -> None:
        left: list[Piece] = [(f" {visible(self._location.name)}  ", "bold", "open_memory")]
        if self._waiting:  # nothing takes its place, and it is gone with the last one
            left += [(f" ◇ {self._waiting:,} waiting ", "reverse bold $text-warning", f"pane('{INBOX}')"), ("  ", "")]
        if not self.query("#top"):
            return  # this memory was left for another one
        bar, status = self.query_one("#top", Split), self.under_way()
        for brand in (" ≡ memoranda", " ≡"):  # where there is little room our own name goes first
            whole = [(brand, STRONG, "app.command_palette"), *left]
            room = (bar.size.width or 120) - width(whole) - width(status) - 2
            names = [] if self.form == "-narrow" else tabs(self._seen_panes, self._current, "", room)
            if self.form == "-narrow" or ALL_NAMED <= width(names) <= room:
                break
        bar.put_both([*whole, *names], [*status, (" ", "")])
        self._draw_standing()

    def _draw_standing(self) -> None:
        """How the memory and its model stand, beside the search while nothing is sought."""
        figures: list[Piece] = []
        if counts := self._counts:
            figures.append((f"{counts['active']:,} fact{'' if counts['active'] == 1 else 's'}", ""))
            for state, style in (("aging", "$text-warning"), ("low", DIM), ("stale", "$text-error")):
                if counts[state]:
                    figures += [("  ", ""), (f"{counts[state]:,} {state}", style, f"search_for('is:{state}')")]
        if self._backups:
            figures += [("  ", ""), (self._backups, "$text-error", "doctor")]
        for bar in self.query(SearchBar):
            bar.tell(figures, self.model_ways())

    def model_ways(self) -> Sequence[Sequence[Piece]]:
        """The ways to tell of the model, the longest first."""
        return ()

    def _draw_titles(self) -> None:
        if not self.query("#top"):
            return  # another memory took this screen's place meanwhile
        self._draw_top()
        for name in self._seen_panes:
            for bar in self.query(f"#{name}-title").results(Split):
                size = f"{self._sizes[name]:,}" if name in self._sizes else ""
                marked = sum(len(shown.marks) for shown in self.query(f"#{name}").results(RecordList))
                room = bar.size.width or 40
                bar.put_both(*title(name, self.view, self._counts, size, marked, self.form, room))
