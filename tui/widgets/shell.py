"""The first frame: the lines of the main screen, still empty, before anything that reads a memory is imported; then the
first facts."""

from __future__ import annotations

from shutil import get_terminal_size

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from tui.input.key_table import PANE_KEYS
from tui.theme.styles import read_css
from tui.widgets.bars import layout_class


class Shell(Screen[None]):
    """The panes by number and name, the find line, and two empty boxes."""

    DEFAULT_CSS = read_css(__file__)

    def __init__(self) -> None:
        super().__init__(classes=layout_class(get_terminal_size().columns))

    def compose(self) -> ComposeResult:
        tabs = "   ".join(f"{key} {name.capitalize()}" for name, key in PANE_KEYS.items())
        yield Static(f" {tabs}", id="top", markup=False)
        yield Static(" /", id="find", markup=False)
        yield Static(id="chips")
        with Container(id="body"):
            yield Container(id="list")
            yield Static(id="preview-pane")
        yield Static(id="footer")
