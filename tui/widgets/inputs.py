"""Where a person types: the line that asks, the search bar, the text that is edited.

The search bar: searches shortly after typing; answers to an older query are dropped.

Without a query it shows the status of the memory and its model.

Keywords answer at once. If embeddings can add hits, they are searched once typing pauses, and merged into the
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len, set_cell_size
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, TextArea
from textual.widgets.input import Selection

from store.base.errors import MemorandaError
from store.search.results import SearchAnswer
from tui.input.completion import common_prefix, complete_line, split_line
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, escaped_content, pieces_width
from tui.widgets.bars import Bar, CachedLines, Field, SaysDefects, Split
from tui.workers.engine import Engine

if TYPE_CHECKING:
    from textual.widgets import Input


# The prompt line at the bottom: for a verb after `:`, for a text, or for a yes-or-no question.

YES_ANSWERS = ("y", "yes", "s", "si", "sí")
ANSWER_LETTERS = ("y", "s", "n")  # that answer a question
ANSWER_CELLS = 16  # minimum cells for the answer beside a question
LETTER_CELLS = 4  # the same for a single letter


class Line(Field):
    """The input of the prompt bar: Escape cancels, Tab completes, up and down browse the history, or the choices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Leave", show=False, id="ask.leave", tooltip="Leave without an answer"),
        Binding("tab", "complete", "Complete", show=False, id="ask.complete", tooltip="Complete the word"),
        Binding("up", "past(1)", "Older", show=False, id="ask.older", tooltip="The line typed before"),
        Binding("down", "past(-1)", "Newer", show=False, id="ask.newer", tooltip="The line typed after"),
    ]

    def __init__(self) -> None:
        super().__init__(id="line", compact=True, select_on_focus=False)
        self._past: list[str] = []
        self._place = 0
        self.verbs = False  # whether it takes a verb, with completion and history
        self.live = False  # whether losing the focus cancels the question
        self.choices: Sequence[str] = ()  # what up and down choose among, where it takes no verb

    def set_text(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def keep_line(self) -> None:
        """Add the submitted line to the history."""
        if self.verbs and self.value.strip():
            self._past.append(self.value)
        self._place = 0

    def action_leave(self) -> None:
        self.live = False
        self.post_message(AskBar.Left())

    def action_complete(self) -> None:
        if self.verbs:
            self.set_text(complete_typed(self.value))

    def action_past(self, step: int) -> None:
        if self.choices:
            self._choose(-step)
            return
        place = self._place + step
        if self.verbs and 0 <= place <= len(self._past):
            self._place = place
            self.set_text(self._past[-place] if place else "")

    def _choose(self, step: int) -> None:
        """Put the next of the choices, or the first that has what was typed; typing replaces it."""
        begun, choices = self.value.strip().casefold(), self.choices
        if begun in choices:
            self.set_text(choices[(choices.index(begun) + step) % len(choices)])
        else:
            found = [choice for choice in choices if begun in choice] or choices
            self.set_text(found[0 if step > 0 else -1])
        self.selection = Selection(0, len(self.value))

    def on_focus(self, event: events.Focus) -> None:
        self.live = True

    def on_blur(self, event: events.Blur) -> None:
        if self.live:
            self.live = False
            self.post_message(AskBar.Left())


class AskBar(CachedLines, Horizontal):
    """The prompt bar, hidden without a prompt."""

    DEFAULT_CSS = """
    AskBar {
        height: 1; display: none; background: $panel;
        & > #label { width: auto; padding: 0 1; text-style: bold; color: $text-accent; }
        & > Line { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        &.-asking { display: block; }
    }
    """

    class Left(Message):
        """The bar was closed, with an answer or without; call `answer` after it is hidden."""

        def __init__(self, answer: Callable[[], None] | None = None) -> None:
            super().__init__()
            self.answer = answer

    class Typed(Message):
        """A verb is being typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Edited(Typed):
        """Another text than a verb is being typed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._answer: Callable[[str], None] = lambda text: None
        self._one_key = False
        self._letters: Sequence[str] = ANSWER_LETTERS
        self._start = ""  # the initial text of the prompt

    def compose(self) -> ComposeResult:
        yield Bar("", id="label")
        yield Line()

    @property
    def verbs(self) -> bool:
        """Return whether the prompt takes a verb."""
        return self.query_one("#line", Line).verbs

    def ask(
        self,
        label: str,
        value: str,
        answer: Callable[[str], None],
        verbs: bool = False,
        one_key: bool = False,
        over: bool = False,
    ) -> None:
        """Prompt for one line under `label`, starting from `value`, or with `one_key` for a single letter; pass it to
        `answer`. With `over` typing replaces `value`. Must not be called before the first frame.

        `value` is shown with control characters made visible; unchanged, it is returned as it was."""
        if self.query_one_optional("#line") is None:
            return
        shown, room = visible(label), self.app.size.width - (LETTER_CELLS if one_key else ANSWER_CELLS)
        if cell_len(shown) > room:  # of a long question show the end; for y or n the verb as well
            first = room * 3 // 5 if one_key else 0
            last = set_cell_size(shown[::-1], room - 1 - first)[::-1]
            shown = f"{set_cell_size(shown, first)}…{last}"
        self.query_one("#label", Bar).update(escaped_content(shown))
        self._set_shown(True)
        line = self.query_one("#line", Line)
        line.verbs, line.live, self._answer = verbs, self.screen.focused is line, answer  # for late events
        line.choices = ()
        self._letters = ANSWER_LETTERS
        self._start = value
        self._one_key = False
        line.set_text(visible(value))
        self._one_key = one_key
        if over:
            line.selection = Selection(0, len(line.value))
        self.screen.set_focus(line)  # now: the next keys are for it
        if verbs:
            self.post_message(self.Typed(value))

    def hide(self) -> None:
        """Hide the bar; it was left."""
        self._set_shown(False)

    def _set_shown(self, shown: bool) -> None:
        self.set_class(shown, "-asking")
        self.screen.set_class(shown, "-asking")  # messages then stand above it

    def submit(self, text: str | None = None) -> None:
        """Submit as Enter does, with `text` or the text of the line."""
        line = self.query_one("#line", Line)
        if text is not None:
            line.value = text
        line.post_message(Input.Submitted(line, line.value))

    def complete(self) -> None:
        """Complete a verb, as Tab does."""
        self.query_one("#line", Line).action_complete()

    def also_takes(self, letter: str) -> None:
        """Let another letter answer the question that is asked."""
        self._letters = (*ANSWER_LETTERS, letter)

    def offer(self, choices: Sequence[str]) -> None:
        """Let up and down choose among these answers."""
        self.query_one("#line", Line).choices = choices

    def choose(self, step: int) -> None:
        """Put the next of the choices, as the arrows do."""
        self.query_one("#line", Line).action_past(-step)

    def leave(self) -> None:
        """Cancel, as Escape does."""
        self.query_one("#line", Line).action_leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._one_key and event.value:
            if event.value.strip()[:1].lower() in self._letters:
                self.submit()
            else:  # a key for what was on the screen before: it is no answer, and those after it would be keys
                self.query_one("#line", Line).set_text("")
        if self.has_class("-asking"):
            verbs = self.query_one("#line", Line).verbs
            self.post_message((self.Typed if verbs else self.Edited)(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text, answer = event.value, self._answer
        if text == visible(self._start):
            text = self._start
        elif "\n" in self._start:
            text = text.replace(" ⏎ ", "\n")
        line = self.query_one("#line", Line)
        line.keep_line()
        line.live = False
        self.post_message(self.Left(lambda: answer(text)))


def complete_typed(text: str) -> str:
    """Complete the verb, option or value at the end of a line, or the common prefix of all candidates."""
    words, current = split_line(text)
    found = [candidate.text for candidate in complete_line(words, current, everywhere=())]
    start = text[: len(text) - len(current)]
    if len(found) == 1:
        return start + found[0] + ("" if found[0].endswith("=") else " ")
    return start + (common_prefix(found) or current)


DEBOUNCE_SECONDS = 0.12  # seconds after the last letter before a search starts
MEANING_PAUSE = 0.15  # seconds from the keyword answer to the embedding search; Enter skips them


class SearchBar(SaysDefects, CachedLines, Horizontal):
    """One line: the query, and the number of hits. `ready` sets the engine."""

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

    class Found(Message):
        """An answer to the current query; `again` if only the memory changed, not the query; `late` if embeddings were
        merged into the keyword hits; `offers` are other spellings of words, if nothing was found."""

        def __init__(self, answer: SearchAnswer, again: bool = False, late: bool = False) -> None:
            super().__init__()
            self.answer = answer
            self.again = again
            self.late = late
            self.offers: Mapping[str, Sequence[str]] = {}

    class Cleared(Message):
        """The query is empty; `left` if the bar was closed with it."""

        def __init__(self, left: bool) -> None:
            super().__init__()
            self.left = left

    class Typed(Message):
        """The query changed."""

    class Entered(Message):
        """The user moves on to the hits; `submitted` if by Enter, which runs a command that was typed."""

        def __init__(self, submitted: bool) -> None:
            super().__init__()
            self.submitted = submitted

    class Failed(Message):
        def __init__(self, error: MemorandaError) -> None:
            super().__init__()
            self.error = error

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="-idle")  # a class added later would restyle everything
        self._engine: Engine | None = None
        self._number = 0  # of the query; answers with a lower number are dropped
        self._answered = 0  # the number of the newest query with a visible answer
        self._debounce: Timer | None = None
        self._hurry = Event()  # typing ended: search embeddings now
        self.past: Sequence[str] = ()
        """Earlier queries, newest first; up and down browse them."""
        self.completes: Callable[[], bool] = lambda: False
        """Complete the filter that is being typed; return False if there is nothing to complete."""
        self._place = 0  # in the query history; 0 is the current text
        self._typed = ""  # the current text while browsing the history
        self.thinking = False
        """Whether keywords have answered and embeddings are pending."""
        self._memory: Sequence[Piece] = ()
        self._shown = ""  # the count and time of the newest answer
        self._figures: Sequence[Piece] = ()
        self._ways: Sequence[Sequence[Piece]] = ()

    def compose(self) -> ComposeResult:
        yield Bar("/ ", id="slash")
        yield Split(id="found")

    def ready(self, engine: Engine) -> None:
        """Set the engine. The input is mounted only later, not in the first frame."""
        self._engine = engine

    def add_input(self) -> None:
        """Mount the input, after the first frame."""
        query = Field(id="query", compact=True, select_on_focus=False)
        query.placeholder = "search everything"
        self.mount(query, after="#slash")

    @property
    def waiting(self) -> bool:
        """Return whether the answer to the current query is pending."""
        return bool(self.query_text.strip()) and self._answered != self._number

    @property
    def number(self) -> int:
        """Return the number that identifies the query."""
        return self._number

    @property
    def _input(self) -> Input:
        return cast("Input", self.query_one("#query"))

    @property
    def query_text(self) -> str:
        return self._input.value if self.query_one_optional("#query") is not None else ""

    def search_for(self, text: str, focus: bool = True) -> None:
        """Search for `text`, as if it had been typed; without `focus` the keys stay where they are."""
        field = self._input
        field.value = text
        field.cursor_position = len(text)
        if focus:
            field.focus()

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
            self.call_after_refresh(self._show_idle)  # after the layout, when its width is known
        elif idle:
            found = self.query_one("#found", Split)
            tries = [[*self._figures, ("  ", ""), *way] for way in self._ways if way]
            tries += [list(self._figures), list(self._figures[-1:])]
            found.put_both((), next((pieces for pieces in tries if pieces_width(pieces) < found.size.width), ()))

    def focus_input(self, past: Sequence[str] = ()) -> None:
        """Focus the input; `past` are earlier queries, the newest first."""
        self.past, self._place = past, 0
        if self.query_one_optional("#query") is not None:
            self.screen.set_focus(self._input)  # now: the next keys are for it

    def clear(self) -> None:
        """Clear the bar, without a message; what was typed and not yet searched is not searched any more."""
        self._turn()
        if self._debounce is not None:
            self._debounce.stop()
        if self.query_one_optional("#query") is not None:
            field = self._input
            with self.prevent(type(field).Changed):
                field.value = ""
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
        self._number += 1
        self.thinking = False
        self._hurry.set()
        self._hurry = Event()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._hurry.set()
        if self.waiting and self._debounce is not None:
            self._debounce.stop()
            self._seek()  # typing has ended
        self.post_message(self.Entered(True))

    def on_key(self, event: events.Key) -> None:
        if event.key == "up" or (event.key == "down" and self._place):
            event.stop()
            self._go_back(1 if event.key == "up" else -1)
        elif event.key == "down" and self.query_text.strip():
            event.stop()
            self.post_message(self.Entered(False))
        elif event.key == "tab" and self.completes():
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
            self._search(self.query_text, self._number, self._hurry, again=True)

    def _seek(self) -> None:
        self._search(self.query_text, self._number, self._hurry)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False, description="search")
    def _search(self, query: str, number: int, hurry: Event, again: bool = False) -> None:
        assert self._engine is not None
        engine, seeker = self._engine, self._engine.seeker

        def wanted() -> bool:
            return number == self._number and not engine.is_closed

        def show(answer: SearchAnswer | None, late: bool, more: bool = False) -> None:
            if answer is not None and wanted():
                found = self.Found(answer, again, late)
                if not answer.hits and not more:
                    found.offers = seeker.spellings(query)
                self.app.call_from_thread(self._show_answer, found, number, more)

        try:
            if not again:
                answer = seeker.keywords(query)
                adds = answer is not None and wanted() and seeker.adds(query)
                show(answer, False, adds)
                if not adds:
                    return
                hurry.wait(MEANING_PAUSE)
            show(seeker.everything(query, wanted), not again)
        except MemorandaError as error:
            if wanted():
                self.app.call_from_thread(self.post_message, self.Failed(error))
        finally:
            if wanted():
                self.app.call_from_thread(self._end, number)

    def _end(self, number: int) -> None:
        """Stop waiting for embeddings, also after a search failed or was interrupted."""
        if number == self._number and self.thinking:
            self.thinking = False
            self._say(self._shown)

    def _show_answer(self, message: Found, number: int, more: bool) -> None:
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
        found.refresh()  # even if the figures are equal: every answer must be seen to arrive


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

    class Left(Message):
        """It was left, with a text to keep, or with None."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str, column: int, line: int) -> None:
        self._start = text
        self._seen = visible(text, newlines=True)
        super().__init__(self._seen, id="edit", soft_wrap=True, show_line_numbers=False, compact=True)
        self.styles.offset = (column, line)

    def on_mount(self) -> None:
        self.cursor_blink = self.app.animation_level != "none"
        self.move_cursor(self.document.end)
        self.focus()

    async def _on_key(self, event: events.Key) -> None:
        """Take the keys that mean something else here; Textual calls the base's own handler for the others."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Left(self._start if self.text == self._seen else self.text))
        elif event.key in ("ctrl+j", "shift+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()  # the application would pass it on once more

    def action_delete_to_start_of_line(self) -> None:
        """Delete to the start of the line as the person wrote it, as a shell does, not of the row."""
        self.delete((self.cursor_location[0], 0), self.cursor_location)

    def action_delete_to_end_of_line(self) -> None:
        row = self.cursor_location[0]
        self.delete(self.cursor_location, (row, len(self.document.get_line(row))))

    def action_leave(self) -> None:
        self.post_message(self.Left(None))
