"""The application."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.filter import LineFilter
from textual.screen import Screen
from textual.timer import Timer

from store import config
from store.clock import Clock, utc_now
from store.errors import MemorandaError
from store.location import Location
from tui.display import Ascii, StripControls
from tui.keys import IDS
from tui.responsive import forget_startup
from tui.screens.main import MainScreen
from tui.visible import visible
from tui.widgets.field import Field

if TYPE_CHECKING:
    from textual.command import Provider

DEFAULT_THEME = "textual-dark"
HOLD_SECONDS = 2.0  # that keys are kept at the most


def _everything() -> type[Provider]:
    from tui.screens.palette import Everything

    return Everything


class Memoranda(App[int]):
    """Memoranda, on one memory; `open` puts another in its place."""

    TITLE = "memoranda"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = {_everything}  # noqa: RUF012 - as App declares it

    def __init__(self, location: Location, cwd: str, clock: Clock = utc_now) -> None:
        super().__init__()
        self._clock = clock
        self._filter = StripControls()
        self._ascii = Ascii()
        self._held: list[events.Event] | None = None  # keys that are kept; None while they go their way
        self._hold: Timer | None = None
        self.config = config.load(location, IDS)
        self._main = MainScreen(location, cwd, clock)
        self._configure()

    @property
    def remapped(self) -> dict[str, str]:
        """The keys that were given to other letters: id → keys."""
        return self.config.keys

    def get_default_screen(self) -> Screen[None]:
        return self._main

    def get_line_filters(self) -> list[LineFilter]:
        """The second layer against hostile text, behind every widget (TUI §4); and plain letters for our glyphs where
        a person wants them."""
        plain = [self._ascii] if self.config["badges"] == "ascii" else []
        return [*super().get_line_filters(), self._filter, *plain]

    # configuration

    def _configure(self) -> None:
        """Do what the configuration says."""
        self.set_keymap(self.remapped)
        theme = self.config["theme"] or DEFAULT_THEME
        if theme in self.available_themes:
            self.theme = theme
        else:
            near = ", ".join(sorted(self.available_themes))
            self.config.problems.append(f"There is no theme “{visible(theme)}”. There are: {near}.")
        if self.config["motion"] == "none":
            self.animation_level = "none"

    def configure_again(self) -> None:
        """Take the configuration as it is now, after a change of it."""
        self.config = config.load(self._main.location, IDS)
        self._configure()
        self._main.configured()
        self.screen.refresh(layout=True)
        for problem in self.config.problems:
            self.notify(visible(problem), severity="warning", timeout=10, markup=False)

    def _watch_theme(self, theme_name: str) -> None:
        """Keep a theme that was chosen here for the next start."""
        super()._watch_theme(theme_name)
        if self.is_running and theme_name != (self.config["theme"] or DEFAULT_THEME):
            self.run_worker(self._keep_theme, name="theme", thread=True, exclusive=True, exit_on_error=False)

    def _keep_theme(self) -> None:
        try:
            config.put(config.user_path(), "theme", self.theme)
        except MemorandaError as error:
            self.call_from_thread(self.notify, visible(str(error)), severity="warning", markup=False)
        self.config = config.load(self._main.location, IDS)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: object) -> None:
        """Two things on one key, by the configuration: said once."""
        for binding in clashed_bindings:
            said = f"{binding.key} means more than one thing in your configuration; memoranda config shows them."
            if said not in self.config.problems:
                self.config.problems.append(said)
                self.notify(said, severity="warning", timeout=10, markup=False)

    # keys that come too early

    def hold_keys(self) -> None:
        """Keep what is typed from now on, until `release_keys`: what it is for is not there yet."""
        if self._held is None:
            self._held = []
            self._hold = self.set_timer(HOLD_SECONDS, self.release_keys)

    def release_keys(self) -> None:
        """Give the keys that were kept to what has the focus now."""
        if self._hold is not None:
            self._hold.stop()
        held, self._held = self._held or [], None
        for event in held:
            self.post_message(event)

    async def on_event(self, event: events.Event) -> None:
        typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded  # it comes back as it bubbles
        if typed and self._held is not None:
            self._held.append(event)
            return
        ends = typed and isinstance(self.focused, Field) and getattr(event, "key", "") == "enter"
        await super().on_event(event)
        if ends:  # what is typed next is for what comes of it
            self.hold_keys()

    def action_command_palette(self) -> None:
        """The palette holds what the main screen does; the others name all their keys themselves."""
        if isinstance(self.screen, MainScreen):
            super().action_command_palette()

    # another memory

    async def open(self, location: Location, cwd: str) -> None:
        """Show another memory in the place of this one."""
        await self._close_engine()
        if not self._main._result_callbacks:  # Textual gives the first screen none, and yet takes one from it
            self._main._push_result_callback(self._main, None)
        self.config = config.load(location, IDS)
        self._configure()
        self._main = MainScreen(location, cwd, self._clock)
        self.clear_notifications()
        await self.switch_screen(self._main)

    # the beginning and the end

    def on_ready(self) -> None:
        forget_startup()
        if not self.is_headless and hasattr(signal, "SIGTERM") and os.name == "posix":
            # asked to end from outside: the terminal is given back as it was found
            status = 128 + signal.SIGTERM
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit, None, status)

    async def on_unmount(self) -> None:
        await self._close_engine()

    async def _close_engine(self) -> None:
        if self._main.engine is not None:
            # on a thread: the pen may be waiting for this loop to show what it wrote, and would wait for ever
            await asyncio.to_thread(self._main.engine.close)
