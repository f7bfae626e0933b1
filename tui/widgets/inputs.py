"""Where a person types: the line that asks, the search bar, the text that is edited.

The search bar: searches shortly after typing; answers to an older query are dropped.

Without a query it shows the status of the memory and its model.

Keywords answer at once. If embeddings can add hits, they are searched once typing pauses, and merged into the
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input, TextArea

from store.base.errors import MemorandaError
from store.search.results import SearchAnswer
from store.text.display import visible
from tui.theme.line_filters import Piece, pieces_width
from tui.theme.styles import read_css
from tui.widgets.bars import Bar, CachedLines, Field, SaysDefects, Split
from tui.workers.engine import Engine

FIND_HINT = "find, ask, or type a command"
# seconds after the last letter before a search starts
DEBOUNCE_SECONDS = 0.12
# seconds from the keyword answer to the embedding search; Enter skips them
MEANING_PAUSE = 0.15


class SearchBar(SaysDefects, CachedLines, Horizontal):
    """One line: the query, and the number of hits. `ready` sets the engine."""

    DEFAULT_CSS = read_css(__file__)

    @dataclass
    class Found(Message):
        """An answer to the current query; `again` if only the memory changed, not the query; `late` if embeddings were
        merged into the keyword hits; `offers` are other spellings of words, if nothing was found."""

        answer: SearchAnswer
        again: bool
        late: bool
        offers: Mapping[str, Sequence[str]]

    @dataclass
    class Cleared(Message):
        """The query is empty; `left` if the bar was closed with it."""

        left: bool

    class Typed(Message):
        """The query changed."""

    @dataclass
    class Entered(Message):
        """The user moves on to the hits; `submitted` if by Enter, which runs a command that was typed."""

        submitted: bool

    @dataclass
    class Failed(Message):
        error: MemorandaError

    def __init__(self, *, id: str | None = None) -> None:
        # a class added later would restyle everything
        super().__init__(id=id, classes="-idle")
        self._input = Field(placeholder=FIND_HINT, id="query", compact=True, select_on_focus=False)
        self._engine: Engine | None = None
        # of the query; answers with a lower number are dropped
        self.number = 0
        # the number of the newest query with a visible answer
        self._answered = 0
        self._debounce: Timer | None = None
        # typing ended: search embeddings now
        self._hurry = Event()
        self.past: Sequence[str] = ()
        """Earlier queries, newest first; up and down browse them."""
        # in the query history; 0 is the current text
        self._place = 0
        # the current text while browsing the history
        self._typed = ""
        self.thinking = False
        """Whether keywords have answered and embeddings are pending."""
        self._memory: Sequence[Piece] = ()
        # the count and time of the newest answer
        self._shown = ""
        self._figures: Sequence[Piece] = ()
        self._ways: Sequence[Sequence[Piece]] = ()

    def compose(self) -> ComposeResult:
        yield Bar("/ ", id="slash")
        yield Split(id="found")

    def ready(self, engine: Engine, completes: Callable[[], bool]) -> None:
        """Set the engine, and what completes the filter that is being typed, or returns False if there is nothing to
        complete. The input is mounted only now, not in the first frame."""
        self._engine, self._completes = engine, completes
        self.mount(self._input, after="#slash")

    def hint(self, words: str) -> None:
        """Show words in the empty input."""
        self._input.placeholder = words

    @property
    def waiting(self) -> bool:
        """Return whether the answer to the current query is pending."""
        return bool(self.query_text.strip()) and self._answered != self.number

    @property
    def query_text(self) -> str:
        return self._input.value

    def search_for(self, text: str, focus: bool = True) -> None:
        """Search for `text`, as if it had been typed; without `focus` the keys stay where they are."""
        self._input.value = text
        self._input.cursor_position = len(text)
        if focus:
            self._input.focus()

    def name_memory(self, name: Sequence[Piece]) -> None:
        """Show the name of the memory before the query, if there is no room for it elsewhere."""
        if name != self._memory:
            self._memory = name
            slash = self.query_one("#slash", Bar)
            slash.styles.width = pieces_width(name) + 2
            slash.set_pieces(*name, ("/ ", ""))

    def tell(self, figures: Sequence[Piece], ways: Sequence[Sequence[Piece]]) -> None:
        """Show this at the right while there is no query: the figures, and the longest form of the model's status that
        fits beside them; if none fits, only the last figure, the most severe one."""
        self._figures, self._ways = figures, ways
        self._show_idle()

    def on_resize(self) -> None:
        self._show_idle()

    def _show_idle(self) -> None:
        idle = not self.query_text.strip()
        if idle and not self.has_class("-idle"):
            self.add_class("-idle")
            # after the layout, when its width is known
            self.call_after_refresh(self._show_idle)
        elif idle:
            found = self.query_one("#found", Split)
            tries = [[*self._figures, ("  ", ""), *way] for way in self._ways if way]
            tries += [list(self._figures), list(self._figures[-1:])]
            found.put_both((), next((pieces for pieces in tries if pieces_width(pieces) < found.size.width), ()))

    def focus_input(self, past: Sequence[str] = ()) -> None:
        """Focus the input; `past` are earlier queries, the newest first."""
        self.past, self._place = past, 0
        if self._input.is_attached:
            # now: the next keys are for it
            self.screen.set_focus(self._input)

    def clear(self) -> None:
        """Clear the bar, without a message; what was typed and not yet searched is not searched any more."""
        self._turn()
        if self._debounce is not None:
            self._debounce.stop()
        with self.prevent(Input.Changed):
            self._input.value = ""
        self._show_idle()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._engine is None:
            return
        self._turn()
        self.post_message(self.Typed())
        self.set_class(not event.value.strip(), "-idle")
        self._engine.seeker.interrupt()
        if self._debounce is not None:
            self._debounce.stop()
        if event.value.strip():
            self._debounce = self.set_timer(DEBOUNCE_SECONDS, self._seek)
        else:
            self._show_idle()
            self.post_message(self.Cleared(left=False))

    def _turn(self) -> None:
        """Start a new query: pending answers to the last one are dropped."""
        self.number += 1
        self.thinking = False
        self._hurry.set()
        self._hurry = Event()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._hurry.set()
        if self.waiting and self._debounce is not None:
            self._debounce.stop()
            # typing has ended
            self._seek()
        self.post_message(self.Entered(True))

    def on_key(self, event: events.Key) -> None:
        if event.key == "up" or (event.key == "down" and self._place):
            event.stop()
            self._go_back(1 if event.key == "up" else -1)
        elif event.key == "down" and self.query_text.strip():
            event.stop()
            self.post_message(self.Entered(False))
        elif event.key == "tab" and self._completes():
            event.stop()
            event.prevent_default()
        elif event.key == "escape":
            event.stop()
            self.clear()
            self.post_message(self.Cleared(left=True))

    def _go_back(self, step: int) -> None:
        """Browse to an earlier or a later query."""
        place = self._place + step
        if 0 <= place <= len(self.past):
            if not self._place:
                self._typed = self.query_text
            self._place = place
            self.search_for(self.past[place - 1] if place else self._typed)

    def repeat(self) -> None:
        """Repeat the search, because the memory has changed."""
        if self.query_text.strip():
            self._search(self.query_text, self.number, self._hurry, again=True)

    def _seek(self) -> None:
        self._search(self.query_text, self.number, self._hurry)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False, description="search")
    def _search(self, query: str, number: int, hurry: Event, again: bool = False) -> None:
        assert self._engine is not None
        engine, seeker = self._engine, self._engine.seeker

        def wanted() -> bool:
            return number == self.number and not engine.is_closed

        def show(answer: SearchAnswer | None, late: bool, more: bool = False) -> None:
            if answer is not None and wanted():
                offers = seeker.spellings(query) if not answer.hits and not more else {}
                found = self.Found(answer, again, late, offers)
                self.app.call_from_thread(self._show_answer, found, number, more)

        try:
            if not again:
                answer = seeker.search(query, False, wanted)
                adds = answer is not None and wanted() and seeker.adds(query)
                show(answer, False, adds)
                if not adds:
                    return
                hurry.wait(MEANING_PAUSE)
            show(seeker.search(query, True, wanted), not again)
        except MemorandaError as error:
            if wanted():
                self.app.call_from_thread(self.post_message, self.Failed(error))
        finally:
            if wanted():
                self.app.call_from_thread(self._end, number)

    def _end(self, number: int) -> None:
        """Stop waiting for embeddings, also after a search failed or was interrupted."""
        if number == self.number and self.thinking:
            self.thinking = False
            self._say(self._shown)

    def _show_answer(self, message: Found, number: int, more: bool) -> None:
        answer = message.answer
        if number == self.number:
            self._answered = number
            self.thinking = more
            how = "meaning " if "meaning" in answer.signals else ""
            self._shown = f"{answer.total:,} found  {how}{answer.milliseconds:.0f} ms"
            self._say(f"{self._shown}  … meaning" if more else self._shown)
            self.post_message(message)

    def _say(self, figures: str) -> None:
        found = self.query_one("#found", Split)
        found.put_both((), ((f"{figures}  ", "$dim"), ("✕", "bold", "leave_search")))
        # even if the figures are equal: every answer must be seen to arrive
        found.refresh()


# A text that is edited where it stands: enter saves it, escape leaves it as it was, ctrl+j begins a new line.


class TextEditor(TextArea):
    """As high as its text. Control characters are shown as marks; unchanged, the text is returned as it was."""

    ends_at_enter = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False, id="edit.leave", tooltip="Leave the text as it was"),
    ]
    DEFAULT_CSS = """
    TextEditor {
        layer: over; max-width: 84; height: auto; max-height: 100%; border: none; padding: 0;
        background: $boost; scrollbar-size-vertical: 1;
    }
    """

    @dataclass
    class Left(Message):
        """It was left, with a text to keep, or with None."""

        text: str | None

    def __init__(self, text: str, column: int, line: int) -> None:
        self._start = text
        self._seen = visible(text, newlines=True)
        super().__init__(self._seen, id="edit", soft_wrap=True, show_line_numbers=False, compact=True)
        self.styles.offset = (column, line)

    def on_mount(self) -> None:
        self.cursor_blink = self.app.animation_level != "none"
        self.move_cursor(self.document.end)
        self.focus()

    def render_lines(self, crop: Region) -> list[Strip]:
        """A frame may be drawn once more after it was removed, when it has no styles."""
        return super().render_lines(crop) if self.is_attached else [Strip.blank(crop.width)] * crop.height

    async def _on_key(self, event: events.Key) -> None:
        """Take the keys that mean something else here; Textual calls the base's own handler for the others."""
        if event.key in ("enter", "ctrl+j", "shift+enter"):
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self.post_message(self.Left(self._start if self.text == self._seen else self.text))
            else:
                self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        # the application would pass it on once more
        event.stop()

    def action_delete_to_start_of_line(self) -> None:
        """Delete to the start of the line as the person wrote it, as a shell does, not of the row."""
        self.delete((self.cursor_location[0], 0), self.cursor_location)

    def action_delete_to_end_of_line(self) -> None:
        row = self.cursor_location[0]
        self.delete(self.cursor_location, (row, len(self.document.get_line(row))))

    def action_leave(self) -> None:
        self.post_message(self.Left(None))
