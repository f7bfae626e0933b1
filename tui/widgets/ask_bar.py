"""The line at the bottom in which the app asks: for a verb after `:`, for a text, or for a yes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.visible import visible
from tui.widgets.bars import Bar


class Line(Input):
    """The input of the ask bar: Escape leaves, Tab completes, the arrows bring back what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False, id="ask.leave", tooltip="Leave without an answer"),
        Binding("tab", "complete", "Complete", show=False, id="ask.complete", tooltip="Complete the verb"),
        Binding("up", "past(1)", "Older", show=False, id="ask.older", tooltip="The line typed before"),
        Binding("down", "past(-1)", "Newer", show=False, id="ask.newer", tooltip="The line typed after"),
    ]

    def __init__(self) -> None:
        super().__init__(id="line", compact=True, select_on_focus=False)
        self._past: list[str] = []
        self._place = 0
        self.verbs = False  # whether a verb is asked for, so that Tab completes and the past helps

    def put(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)

    def keep(self) -> None:
        """Remember the line that was just given."""
        if self.verbs and self.value.strip():
            self._past.append(self.value)
        self._place = 0

    def action_leave(self) -> None:
        self.post_message(AskBar.Left())

    def action_complete(self) -> None:
        if self.verbs:
            self.put(completed(self.value))

    def action_past(self, step: int) -> None:
        place = self._place + step
        if self.verbs and 0 <= place <= len(self._past):
            self._place = place
            self.put(self._past[-place] if place else "")

    def on_blur(self, event: events.Blur) -> None:
        self.post_message(AskBar.Left())


class AskBar(Horizontal):
    """Hidden until something is asked."""

    DEFAULT_CSS = """
    AskBar {
        height: 1; display: none; background: $panel;
        & > #label { width: auto; padding: 0 1; text-style: bold; color: $text-accent; }
        & > Line { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
        &.-asking { display: block; }
    }
    """

    class Left(Message):
        """The bar was left, with an answer or without."""

    class Typed(Message):
        """A verb is being typed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._answer: Callable[[str], None] = lambda text: None

    def compose(self) -> ComposeResult:
        yield Bar("", id="label")

    def add_input(self) -> None:
        """Mount the input, after the first frame."""
        self.mount(Line())

    def ask(self, label: str, value: str, answer: Callable[[str], None], verbs: bool = False) -> None:
        """Wait for one line under `label`, starting from `value`; `answer` gets it. Nothing is asked before start."""
        if not self.query("#line"):
            return
        self.query_one("#label", Bar).update(visible(label))
        self.add_class("-asking")
        line = self.query_one("#line", Line)
        line.verbs, self._answer = verbs, answer
        line.put(value)
        line.focus()
        if verbs:
            self.post_message(self.Typed(value))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.query_one("#line", Line).verbs and self.has_class("-asking"):
            self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        self.query_one("#line", Line).keep()
        self.post_message(self.Left())
        self._answer(text)


def completed(text: str) -> str:
    """What Tab makes of a verb's beginning: the verb, or as far as all that start so agree."""
    from tui.verbs import BY_NAME, SLASH

    slash = "/" if text.startswith("/") else ""
    start = text.removeprefix("/")
    names = sorted({name for name in (*BY_NAME, *SLASH) if name.startswith(start)})
    if not names:
        return text
    if len(names) == 1:
        return f"{slash}{names[0]} "
    agreed = start
    while all(name.startswith(names[0][: len(agreed) + 1]) for name in names) and len(agreed) < len(names[0]):
        agreed = names[0][: len(agreed) + 1]
    return slash + agreed
