"""List recently opened memories, to open one of them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tui.desktop import recent_files
from tui.theme.line_filters import content
from tui.widgets.bars import Bar


class RecentScreen(ModalScreen["str | None"]):
    """Dismisses with the folder or file to open, "" to name another, None to open none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Leave", show=False, id="recent.leave", tooltip="Stay in this memory"),
        Binding("j", "move(1)", "Down", show=False, id="recent.down"),
        Binding("k", "move(-1)", "Up", show=False, id="recent.up"),
    ]
    DEFAULT_CSS = """
    RecentScreen { align: center middle; }
    RecentScreen > Vertical { width: 70%; height: auto; max-height: 70%; padding: 1 2; background: $panel; }
    RecentScreen OptionList { height: auto; max-height: 16; margin: 1 0; background: $panel; }
    RecentScreen OptionList, RecentScreen OptionList:focus { border: none; }
    """

    def __init__(self, current: str) -> None:
        super().__init__()
        self._places = [place for place in recent_files.read() if place != current]

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("Open the memory of another project", "bold $text-accent"))
            yield OptionList(
                *(
                    Option(content(recent_files.shown(place)), id=str(number))
                    for number, place in enumerate(self._places)
                ),
                Option(Content("another folder or file …"), id="other"),
            )
            yield Bar(id="recent-keys")

    def on_mount(self) -> None:
        look = "$dim"
        self.query_one("#recent-keys", Bar).put(
            ("enter opens it", look, "open"), ("   ", ""), ("esc stays here", look, "leave")
        )
        self.query_one(OptionList).focus()

    def action_open(self) -> None:
        """Enter, for a click."""
        self.query_one(OptionList).action_select()

    def action_move(self, step: int) -> None:
        choices = self.query_one(OptionList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option.id or "other"
        self.dismiss("" if chosen == "other" else self._places[int(chosen)])
