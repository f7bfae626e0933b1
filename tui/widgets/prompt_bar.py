"""The prompt line at the bottom: for a verb after `:`, for a text, or for a yes-or-no question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from tui.theme.escape import visible
from tui.theme.line_filters import content
from tui.widgets.bars import Bar
from tui.widgets.cached_lines import Kept
from tui.widgets.field import Field

YES = ("y", "yes", "s", "si", "sí")
LETTERS = ("y", "s", "n")  # that answer a question
ROOM = 16  # minimum cells for the answer beside a question
LETTER = 4  # the same for a single letter


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

    def put(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def keep(self) -> None:
        """Add the submitted line to the history."""
        if self.verbs and self.value.strip():
            self._past.append(self.value)
        self._place = 0

    def action_leave(self) -> None:
        self.live = False
        self.post_message(AskBar.Left())

    def action_complete(self) -> None:
        if self.verbs:
            self.put(completed(self.value))

    def action_past(self, step: int) -> None:
        if self.choices:
            self._choose(-step)
            return
        place = self._place + step
        if self.verbs and 0 <= place <= len(self._past):
            self._place = place
            self.put(self._past[-place] if place else "")

    def _choose(self, step: int) -> None:
        """Put the next of the choices, or the first that has what was typed; typing replaces it."""
        begun, choices = self.value.strip().casefold(), self.choices
        if begun in choices:
            self.put(choices[(choices.index(begun) + step) % len(choices)])
        else:
            found = [choice for choice in choices if begun in choice] or choices
            self.put(found[0 if step > 0 else -1])
        self.selection = Selection(0, len(self.value))

    def on_focus(self, event: events.Focus) -> None:
        self.live = True

    def on_blur(self, event: events.Blur) -> None:
        if self.live:
            self.live = False
            self.post_message(AskBar.Left())


class AskBar(Kept, Horizontal):
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
        self._letters: Sequence[str] = LETTERS
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
        shown, room = visible(label), self.app.size.width - (LETTER if one_key else ROOM)
        if cell_len(shown) > room:  # of a long question show the end; for y or n the verb as well
            first = room * 3 // 5 if one_key else 0
            last = set_cell_size(shown[::-1], room - 1 - first)[::-1]
            shown = f"{set_cell_size(shown, first)}…{last}"
        self.query_one("#label", Bar).update(content(shown))
        self._show(True)
        line = self.query_one("#line", Line)
        line.verbs, line.live, self._answer = verbs, self.screen.focused is line, answer  # for late events
        line.choices = ()
        self._letters = LETTERS
        self._start = value
        self._one_key = False
        line.put(visible(value))
        self._one_key = one_key
        if over:
            line.selection = Selection(0, len(line.value))
        self.screen.set_focus(line)  # now: the next keys are for it
        if verbs:
            self.post_message(self.Typed(value))

    def hide(self) -> None:
        """Hide the bar; it was left."""
        self._show(False)

    def _show(self, shown: bool) -> None:
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
        self._letters = (*LETTERS, letter)

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
                self.query_one("#line", Line).put("")
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
        line.keep()
        line.live = False
        self.post_message(self.Left(lambda: answer(text)))


def completed(text: str) -> str:
    """Complete the verb, option or value at the end of a line, or the common prefix of all candidates."""
    from tui.input.completion import agreed, complete, split

    words, current = split(text)
    found = [candidate.text for candidate in complete(words, current, everywhere=())]
    start = text[: len(text) - len(current)]
    if len(found) == 1:
        return start + found[0] + ("" if found[0].endswith("=") else " ")
    return start + (agreed(found) or current)
