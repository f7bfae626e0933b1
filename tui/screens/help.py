"""Help: every key and every verb, from their tables."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.keys import KEYS, LIST_KEYS
from tui.responsive import ResponsiveScreen
from tui.verbs import VERBS


class HelpScreen(ResponsiveScreen[None]):
    """All keys, all verbs. Any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "app.pop_screen", "Close", id="help.close", tooltip="Close the help"),
        Binding("down,j", "scroll(1)", "Down", show=False, id="help.down"),
        Binding("up,k", "scroll(-1)", "Up", show=False, id="help.up"),
        Binding("pagedown,space", "scroll(10)", "Page down", show=False, id="help.page-down"),
        Binding("pageup", "scroll(-10)", "Page up", show=False, id="help.page-up"),
    ]
    DEFAULT_CSS = """
    HelpScreen { background: $background; }
    HelpScreen > VerticalScroll { padding: 0 2; scrollbar-size-vertical: 1; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(_help(), id="help-text")

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def _help() -> Content:
    pieces: list[tuple[str, str]] = [
        ("Keys", "bold $text-accent"),
        ("          esc closes this\n\n", "$foreground 60%"),
    ]
    for shown, text in LIST_KEYS:
        pieces += [(f"  {shown:<16}", "bold"), (f"{text}\n", "")]
    for key in KEYS:
        pieces += [(f"  {key.shown:<16}", "bold"), (f"{key.help}\n", "")]
    pieces += [("\nVerbs", "bold $text-accent")]
    pieces += [("         after :, with or without a /, and on the command line\n\n", "$foreground 60%")]
    for verb in VERBS:
        usage = " ".join(argument.usage for argument in verb.arguments)
        slash = f"   /{' · /'.join(verb.slash)}" if verb.slash else ""
        pieces += [(f"  {verb.name:<12}", "bold"), (f"{verb.summary}\n", "")]
        pieces += [(f"  {'':<12}{verb.name} {usage}{slash}\n", "$foreground 60%")]
    return Content.assemble(*pieces)
