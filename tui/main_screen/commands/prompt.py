"""The line at the bottom that asks: for a command, for a text, or for a yes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tui.panes.host import Host

if TYPE_CHECKING:
    from tui.theme.pieces import Piece
    from tui.widgets.bars import Footer
    from tui.widgets.prompt_bar import AskBar

YES = ("y", "yes", "s", "si", "sí")
KEY = "$footer-key-foreground bold"


class PromptHost(Host, Protocol):
    """What asking needs of the screen."""

    def ask_bar(self) -> AskBar | None: ...
    @property
    def footer(self) -> Footer: ...


class PromptController:
    """Asks in the bottom line, and gives the answer on."""

    def __init__(self, host: PromptHost) -> None:
        self.host = host

    @property
    def _bar(self) -> AskBar:
        bar = self.host.ask_bar()
        assert bar is not None
        return bar

    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None:
        """Ask for one line; `how` is as in `AskBar.ask`. Nothing, before the memory is open."""
        if self.host.engine is None or self.host.ask_bar() is None:
            return
        self._bar.ask(label, value, answer, **how)
        if not how.get("verbs"):
            self.host.footer.hint((" enter", KEY, "answer"), (" does it ", "", "answer"), *_leaving(" leaves"))

    def ask_first(self, question: str, agreed: Callable[[], None]) -> None:
        """Ask before something is replaced: `y` goes on, everything else leaves it."""

        def answer(text: str) -> None:
            if text.strip().lower() in YES:
                agreed()
            else:
                self.host.say("Nothing was changed.")

        self.ask(f"{question} y/n", "", answer, one_key=True)
        self.host.footer.hint(
            (" y", KEY, "agree"),
            (" yes ", "", "agree"),
            (" n", KEY, "leave_bar"),
            (" no, nothing changes", "", "leave_bar"),
        )

    # the same by a click

    def action_answer(self) -> None:
        self._bar.submit()

    def action_complete(self) -> None:
        self._bar.complete()

    def action_leave_bar(self) -> None:
        self._bar.leave()

    def action_agree(self) -> None:
        self._bar.submit("y")

    def left(self, event: AskBar.Left) -> None:
        """The line was left: give the keys back, then the answer."""
        bar = self._bar
        if bar.has_class("-asking"):
            bar.remove_class("-asking")
            focused = self.host.focused
            if focused is None or focused.id == "line":  # else a click has gone elsewhere already
                # at once: the answer may ask the next question
                self.host.set_focus(self.host.list_of(self.host.place))
            self.host.draw_footer()
        if event.answer is not None:  # only now: it may take the focus somewhere
            event.answer()
        self.host.app.release_keys()  # type: ignore[attr-defined]

    def typed(self, event: AskBar.Typed) -> None:
        """Say in the footer how the command that is being typed is used."""
        from tui.main_screen.commands.command_bar import hint

        usage = hint(event.text)
        does, completes, leaves = ("", "", "") if usage else (" does it ", " completes ", " leaves")
        self.host.footer.hint(
            (" enter", KEY, "answer"),
            (does, "", "answer"),
            (" tab", KEY, "complete"),
            (completes, "", "complete"),
            *_leaving(leaves),
            (f"  {usage}", "$footer-description-foreground"),
        )


def _leaving(word: str) -> tuple[Piece, Piece]:
    return (" esc", KEY, "leave_bar"), (word, "", "leave_bar")
