"""The first frame: the lines of the main screen, still empty, before anything that reads a memory is imported; then the
first facts."""

from __future__ import annotations

from shutil import get_terminal_size

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from tui.input.key_table import PANE_KEYS
from tui.widgets.bars import layout_class


class Shell(Screen[None]):
    """The panes by number and name, the find line, and two empty boxes."""

    DEFAULT_CSS = """
    Shell {
        layout: vertical; overflow: hidden;
        #top, #find, #chips { height: 1; background: $panel; }
        #foot { height: 1; background: $footer-background; }
        #body { height: 1fr; layout: horizontal; }
        #left, #right { width: 1fr; height: 1fr; }
        &.-wide #left { width: 60fr; }
        &.-wide #right { width: 40fr; border-left: solid $line; }
        &.-huge #left { width: 56fr; }
        &.-huge #right { width: 44fr; border-left: solid $line; }
        &.-narrow #body { layout: vertical; }
        &.-narrow #left { height: 4fr; }
        &.-narrow #right { height: 3fr; border-top: solid $line; }
    }
    """

    def __init__(self) -> None:
        super().__init__(classes=layout_class(get_terminal_size().columns))

    def compose(self) -> ComposeResult:
        tabs = "   ".join(f"{key} {name.capitalize()}" for name, key in PANE_KEYS.items())
        yield Static(f" {tabs}", id="top", markup=False)
        yield Static(" /", id="find", markup=False)
        yield Static(id="chips")
        with Container(id="body"):
            yield Container(id="left")
            yield Static(id="right")
        yield Static(id="foot")
