"""The search bar: what is typed is looked for a moment later; an answer to an older question is dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer

from store.errors import MemorandaError
from tui.widgets.bars import Bar, Split
from tui.widgets.kept import Kept

if TYPE_CHECKING:
    from textual.widgets import Input

    from store.search import Answer
    from tui.engine import Engine

DEBOUNCE = 0.12  # seconds after the last letter before a search starts (TUI §2)


class SearchBar(Kept, Horizontal):
    """One line: the query, and how much was found. `ready` gives it the engine it searches with."""

    DEFAULT_CSS = """
    SearchBar {
        height: 1; padding: 0 1;
        & > #slash { width: 2; }
        & > Input { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        & > #found { width: 40%; }
    }
    """

    @dataclass
    class Found(Message):
        """An answer to what stands in the bar now; `again` when only the memory changed, not the question."""

        answer: Answer
        again: bool = False

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
        super().__init__(id=id)
        self._engine: Engine | None = None
        self._number = 0  # of the question; the answer to an older one is not shown
        self._answered = 0  # the number of the newest question whose answer is shown
        self._debounce: Timer | None = None

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

    def start(self) -> None:
        """Let the person type."""
        if self.query("#query"):
            self.screen.set_focus(self._input)  # at once: the next keys are for it

    def clear(self) -> None:
        """Empty the bar, without a message."""
        self._number += 1
        if self.query("#query"):
            field = self._input
            with self.prevent(type(field).Changed):
                field.value = ""
        self.query_one("#found", Split).put_both((), ())

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._engine is None:
            return
        self._number += 1
        self._engine.interrupt()
        if self._debounce is not None:
            self._debounce.stop()
        if event.value.strip():
            self._debounce = self.set_timer(DEBOUNCE, self._seek)
        else:
            self.query_one("#found", Split).put_both((), ())
            self.post_message(self.Cleared(left=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.waiting and self._debounce is not None:
            self._debounce.stop()
            self._seek()  # nothing more will be typed
        self.post_message(self.Entered())

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and self.query_text.strip():
            event.stop()
            self.post_message(self.Entered())
        elif event.key == "escape":
            event.stop()
            self.clear()
            self.post_message(self.Cleared(left=True))

    def again(self) -> None:
        """Search for the same once more, for the memory has changed."""
        if self.query_text.strip():
            self._search(self.query_text, self._number, again=True)

    def _seek(self) -> None:
        self._search(self.query_text, self._number)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False, description="search")
    def _search(self, query: str, number: int, again: bool = False) -> None:
        engine = self._engine
        assert engine is not None
        try:
            answer = engine.search(query)
        except MemorandaError as error:
            if not engine.closed:
                self.app.call_from_thread(self.post_message, self.Failed(error))
            return
        if answer is not None and number == self._number and not engine.closed:
            self.app.call_from_thread(self._show, answer, number, again)

    def _show(self, answer: Answer, number: int, again: bool) -> None:
        if number == self._number:
            self._answered = number
            figures = f"{answer.total:,} found  {answer.milliseconds:.0f} ms  "
            found = self.query_one("#found", Split)
            found.put_both((), ((figures, "$dim"), ("✕", "bold", "leave_search")))
            found.refresh()  # also when the figures are the same: each answer is seen to arrive
            self.post_message(self.Found(answer, again))
