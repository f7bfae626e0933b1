"""The search bar: what is typed is looked for a moment later; an answer to an older question is dropped.

While nothing is sought, the place of what is found tells how the memory and its model stand.

Keywords answer at once. Where meaning can add to them it is asked next, once the typing pauses, and joins them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, cast

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer

from store import MemorandaError
from tui.theme.pieces import Piece, width
from tui.widgets.bars import Bar, Split
from tui.widgets.cached_lines import Kept
from tui.workers.threads import SaysDefects

if TYPE_CHECKING:
    from textual.widgets import Input

    from store import SearchAnswer as Answer
    from tui.workers.engine import Engine

DEBOUNCE = 0.12  # seconds after the last letter before a search starts
PAUSE = 0.15  # seconds after what keywords found before meaning is asked; Enter ends it


class SearchBar(SaysDefects, Kept, Horizontal):
    """One line: the query, and how much was found. `ready` gives it the engine it searches with."""

    DEFAULT_CSS = """
    SearchBar {
        height: 1; padding: 0 1;
        & > #slash { width: 2; }
        & > Input { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        & > #found { width: 40%; }
        &.-idle > Input { width: 17; }
        &.-idle > #found { width: 1fr; }
    }
    """

    @dataclass
    class Found(Message):
        """An answer to what stands in the bar now; `again` when only the memory changed, not the question; `late` when
        meaning joined what keywords had found."""

        answer: Answer
        again: bool = False
        late: bool = False
        offers: Mapping[str, Sequence[str]] = field(default_factory=dict)
        """Other spellings of words, where nothing was found."""

    class Cleared(Message):
        """Nothing is sought any more; `left` when the person left the bar by it."""

        def __init__(self, left: bool) -> None:
            super().__init__()
            self.left = left

    class Entered(Message):
        """The person goes on to what was found."""

    @dataclass
    class Failed(Message):
        error: MemorandaError

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="-idle")  # a class added later would cost all styles once more
        self._engine: Engine | None = None
        self._number = 0  # of the question; the answer to an older one is not shown
        self._answered = 0  # the number of the newest question whose answer is shown
        self._debounce: Timer | None = None
        self._hurry = Event()  # nobody types on: meaning need not wait
        self.past: Sequence[str] = ()
        """What was asked before, the newest first; up and down go through it."""
        self._place = 0  # in the past; 0 is what is being typed
        self._typed = ""  # what was being typed when the past was gone to
        self.thinking = False
        """Whether keywords have answered, and meaning is still to come."""
        self._shown = ""  # the figures of the newest answer
        self._figures: Sequence[Piece] = ()
        self._ways: Sequence[Sequence[Piece]] = ()

    def compose(self) -> ComposeResult:
        yield Bar("/ ", id="slash")
        yield Split(id="found")

    def ready(self, engine: Engine) -> None:
        """Search with this engine from now on. The input comes only now: it is no part of the first frame."""
        self._engine = engine

    def add_input(self) -> None:
        """Mount the input, after the first frame."""
        from tui.widgets.field import Field

        query = Field(id="query", compact=True, select_on_focus=False)
        query.placeholder = "search everything"
        self.mount(query, after="#slash")

    @property
    def waiting(self) -> bool:
        """Whether the answer to what stands here is still to come."""
        return bool(self.query_text.strip()) and self._answered != self._number

    @property
    def number(self) -> int:
        """What tells this question from all others."""
        return self._number

    @property
    def _input(self) -> Input:
        return cast("Input", self.query_one("#query"))

    @property
    def query_text(self) -> str:
        return self._input.value if self.query("#query") else ""

    def ask(self, text: str) -> None:
        """Search for `text`, as if it had been typed."""
        field = self._input
        field.value = text
        field.cursor_position = len(text)
        field.focus()

    def tell(self, figures: Sequence[Piece], ways: Sequence[Sequence[Piece]]) -> None:
        """Show this at the right while nothing is sought: the figures, and the first of the ways to tell of the model
        that there is room for beside them; where there is room for neither, the last of the figures, the worst."""
        self._figures, self._ways = figures, ways
        self._show_idle()

    def on_resize(self) -> None:
        self._show_idle()

    def _show_idle(self) -> None:
        idle = not self.query_text.strip()
        if idle and not self.has_class("-idle"):
            self.add_class("-idle")
            self.call_after_refresh(self._show_idle)  # once there is room for it
        elif idle:
            found = self.query_one("#found", Split)
            tries = [[*self._figures, ("  ", ""), *way] for way in self._ways if way]
            tries += [list(self._figures), list(self._figures[-1:])]
            found.put_both((), next((pieces for pieces in tries if width(pieces) < found.size.width), ()))

    def start(self, past: Sequence[str] = ()) -> None:
        """Let the person type; `past` is what was asked before, the newest first."""
        self.past, self._place = past, 0
        if self.query("#query"):
            self.screen.set_focus(self._input)  # at once: the next keys are for it

    def clear(self) -> None:
        """Empty the bar, without a message."""
        self._turn()
        if self.query("#query"):
            field = self._input
            with self.prevent(type(field).Changed):
                field.value = ""
        self._show_idle()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._engine is None:
            return
        self._turn()
        self.set_class(not event.value.strip(), "-idle")
        self._engine.seeker.interrupt()
        if self._debounce is not None:
            self._debounce.stop()
        if event.value.strip():
            self._debounce = self.set_timer(DEBOUNCE, self._seek)
        else:
            self._show_idle()
            self.post_message(self.Cleared(left=False))

    def _turn(self) -> None:
        """Another question: what is on its way to the last one comes to nothing."""
        self._number += 1
        self.thinking = False
        self._hurry.set()
        self._hurry = Event()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._hurry.set()
        if self.waiting and self._debounce is not None:
            self._debounce.stop()
            self._seek()  # nothing more will be typed
        self.post_message(self.Entered())

    def on_key(self, event: events.Key) -> None:
        if event.key == "up" or (event.key == "down" and self._place):
            event.stop()
            self._go_back(1 if event.key == "up" else -1)
        elif event.key == "down" and self.query_text.strip():
            event.stop()
            self.post_message(self.Entered())
        elif event.key == "escape":
            event.stop()
            self.clear()
            self.post_message(self.Cleared(left=True))

    def _go_back(self, step: int) -> None:
        """Bring an earlier question back, or a later one."""
        place = self._place + step
        if 0 <= place <= len(self.past):
            if not self._place:
                self._typed = self.query_text
            self._place = place
            self.ask(self.past[place - 1] if place else self._typed)

    def again(self) -> None:
        """Search for the same once more, for the memory has changed."""
        if self.query_text.strip():
            self._search(self.query_text, self._number, self._hurry, again=True)

    def _seek(self) -> None:
        self._search(self.query_text, self._number, self._hurry)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False, description="search")
    def _search(self, query: str, number: int, hurry: Event, again: bool = False) -> None:
        assert self._engine is not None
        engine, seeker = self._engine, self._engine.seeker

        def wanted() -> bool:
            return number == self._number and not engine.closed

        def show(answer: Answer | None, late: bool, more: bool = False) -> None:
            if answer is not None and wanted():
                offers = {} if answer.hits or more else seeker.spellings(query)
                found = self.Found(answer, again, late, offers)
                self.app.call_from_thread(self._show, found, number, more)

        try:
            if not again:
                answer = seeker.keywords(query)
                adds = answer is not None and wanted() and seeker.adds(query)
                show(answer, False, adds)
                if not adds:
                    return
                hurry.wait(PAUSE)
            show(seeker.everything(query, wanted), not again)
        except MemorandaError as error:
            if wanted():
                self.app.call_from_thread(self.post_message, self.Failed(error))
        finally:
            if wanted():
                self.app.call_from_thread(self._end, number)

    def _end(self, number: int) -> None:
        """Wait no longer for meaning: also where the search failed, or was interrupted, on the way."""
        if number == self._number and self.thinking:
            self.thinking = False
            self._say(self._shown)

    def _show(self, message: Found, number: int, more: bool) -> None:
        answer = message.answer
        if number == self._number:
            self._answered = number
            self.thinking = more
            how = "meaning " if "meaning" in answer.signals else ""
            self._shown = f"{answer.total:,} found  {how}{answer.milliseconds:.0f} ms"
            self._say(f"{self._shown}  … meaning" if more else self._shown)
            self.post_message(message)

    def _say(self, figures: str) -> None:
        found = self.query_one("#found", Split)
        found.put_both((), ((f"{figures}  ", "$dim"), ("✕", "bold", "leave_search")))
        found.refresh()  # also when the figures are the same: each answer is seen to arrive
