"""The prompt line at the bottom: for a command, for a text, or for a yes-or-no question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rich.cells import cell_len

from tui.input.key_table import named
from tui.panes.host import Host
from tui.theme.line_filters import fit
from tui.theme.pieces import width

if TYPE_CHECKING:
    from tui.theme.pieces import Piece
    from tui.widgets.bars import Footer
    from tui.widgets.prompt_bar import AskBar

KEY = "$footer-key-foreground bold"


class PromptHost(Host, Protocol):
    """The interface that prompts need of the screen."""

    def ask_bar(self) -> AskBar | None: ...
    @property
    def footer(self) -> Footer: ...


class PromptController:
    """Prompts in the bottom line, and passes the answer on."""

    def __init__(self, host: PromptHost) -> None:
        self.host = host

    @property
    def _bar(self) -> AskBar:
        bar = self.host.ask_bar()
        assert bar is not None
        return bar

    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None:
        """Prompt for one line; `how` is as in `AskBar.ask`. Does nothing before the memory is open."""
        if self.host.engine is None or self.host.ask_bar() is None:
            return
        self._bar.ask(label, value, answer, **how)
        if not how.get("verbs"):
            replaces = ("  typing replaces it", "$dim") if how.get("over") and value else ("", "")
            self.host.footer.hint(
                (" enter", KEY, "answer"), (" does it ", "", "answer"), *_leaving(" leaves"), replaces
            )

    def ask_first(self, question: str, agreed: Callable[[], None], changes: Callable[[], None] | None = None) -> None:
        """Ask before overwriting: only `y` continues. The key of the changes shows them instead, by `changes`."""
        from tui.widgets.prompt_bar import YES

        key = named("pane.history")

        def answer(text: str) -> None:
            if text.strip().lower() in YES:
                agreed()
            elif changes is not None and text.strip() == key:
                changes()
            else:
                self.host.say("Nothing was changed.")

        self.ask(f"{question} y/n", "", answer, one_key=True)
        shows: list[Piece] = []
        if changes is not None and len(key) == 1 and (bar := self.host.ask_bar()) is not None:
            bar.also_takes(key)
            shows = [(f" {key}", KEY, f"answer('{key}')"), (" shows all changes ", "", f"answer('{key}')")]
        self.host.footer.hint(
            (" y", KEY, "agree"),
            (" yes ", "", "agree"),
            (" n", KEY, "leave_bar"),
            (" no, nothing changes ", "", "leave_bar"),
            *shows,
        )

    # actions for clicks

    def action_answer(self, text: str | None = None) -> None:
        self._bar.submit(text)

    def action_complete(self) -> None:
        self._bar.complete()

    def action_leave_bar(self) -> None:
        self._bar.leave()

    def action_agree(self) -> None:
        self._bar.submit("y")

    def left(self, event: AskBar.Left) -> None:
        """Restore the focus after the prompt was closed, then pass the answer on."""
        bar = self._bar
        if bar.has_class("-asking"):
            bar.hide()
            focused = self.host.focused
            if focused is None or focused.id == "line":  # else a click has moved the focus already
                # now: the answer may open the next prompt
                self.host.set_focus(self.host.list_of(self.host.place))
            self.host.draw_footer()
        if event.answer is not None:  # last: it may move the focus
            event.answer()
        self.host.app.release_keys()  # type: ignore[attr-defined]

    def typed(self, event: AskBar.Typed) -> None:
        """Show the usage of the command being typed in the footer, as many whole parts of it as it has room for."""
        from tui.main_screen.commands.command_bar import GAP, hint

        usage = hint(event.text)
        does, completes, leaves = ("", "", "") if usage else (" does it ", " completes ", " leaves")
        keys: list[Piece] = [
            (" enter", KEY, "answer"),
            (does, "", "answer"),
            (" tab", KEY, "complete"),
            (completes, "", "complete"),
            *_leaving(leaves),
        ]
        parts, room = usage.split(GAP), self.host.footer.size.width - width(keys) - 2
        while len(parts) > 1 and cell_len(GAP.join(parts)) > room:
            parts.pop()
        said = GAP.join(parts)
        if cell_len(said) > room:
            whole = said.rfind(" [", 0, room - 1)  # an argument begins there
            said = f"{said[:whole]} …" if whole > 0 else fit(said, room)
        self.host.footer.hint(*keys, (f"  {said}", "$footer-description-foreground"))


def _leaving(word: str) -> tuple[Piece, Piece]:
    return (" esc", KEY, "leave_bar"), (word, "", "leave_bar")
