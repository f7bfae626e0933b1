"""More…: the screens that have no pane, one letter each."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.input.more_table import further
from tui.widgets.bars import Bar

KEY = "bold $text-accent"


class MoreScreen(ModalScreen["str | None"]):
    """Dismisses with the verb to run, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,0", "leave", "Leave", show=False, id="more.leave", tooltip="Stay here")
    ]
    DEFAULT_CSS = """
    MoreScreen { align: center middle; }
    MoreScreen > Vertical { width: 68; max-width: 100%; height: auto; padding: 1 2; background: $panel; }
    MoreScreen Bar { height: 1; }
    """

    def compose(self) -> ComposeResult:
        heading = Bar()
        heading.put(("More   ", "bold $text-accent"), ("a letter opens one   ", "$dim"), ("esc", KEY, "screen.leave"))
        with Vertical():
            yield heading
            for one in further():
                row, action = Bar(), f"screen.pick({one.letter!r})"
                row.put(
                    (one.letter, KEY, action), (f"  {one.name:<10}", "bold", action), (f" {one.shows}", "$dim", action)
                )
                yield row

    def on_key(self, event: events.Key) -> None:
        if any(one.letter == event.character for one in further()):
            event.stop()
            self.action_pick(event.character or "")

    def action_pick(self, letter: str) -> None:
        """Open the screen of a letter."""
        self.dismiss(next(one.verb for one in further() if one.letter == letter))

    def action_leave(self) -> None:
        self.dismiss(None)
