"""The application."""

from __future__ import annotations

import asyncio
import os
import signal

from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen

from store.clock import Clock, utc_now
from store.location import Location
from tui.display import StripControls
from tui.responsive import forget_startup
from tui.screens.main import MainScreen


class Memoranda(App[int]):
    """Memoranda, on one memory."""

    TITLE = "memoranda"
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        super().__init__()
        self._main = MainScreen(location, cwd, clock)
        self._filter = StripControls()

    def get_default_screen(self) -> Screen[None]:
        return self._main

    def get_line_filters(self) -> list[LineFilter]:
        """The second layer against hostile text, behind every widget (TUI §4)."""
        return [*super().get_line_filters(), self._filter]

    def on_ready(self) -> None:
        forget_startup()
        if not self.is_headless and hasattr(signal, "SIGTERM") and os.name == "posix":
            # asked to end from outside: the terminal is given back as it was found
            status = 128 + signal.SIGTERM
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit, None, status)

    async def on_unmount(self) -> None:
        if self._main.engine is not None:
            # on a thread: the pen may be waiting for this loop to show what it wrote, and would wait for ever
            await asyncio.to_thread(self._main.engine.close)
