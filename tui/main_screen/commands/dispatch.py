"""What keys, the palette and the `:` bar start: actions on records, commands, and the screens that cover this one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from shlex import quote
from typing import TYPE_CHECKING, Any, Protocol

from tui.input.key_table import KEYS
from tui.main_screen.commands.host import CommandHost
from tui.panes.host import Host

if TYPE_CHECKING:
    from store import Clock, Location


class StartHost(Host, CommandHost, Protocol):
    """What starting actions and commands needs of the screen."""

    @property
    def location(self) -> Location: ...
    @property
    def clock(self) -> Clock: ...
    async def run_action(self, action: str) -> object: ...
    def call_later(self, callback: Callable[..., Any], *arguments: Any) -> bool: ...


class CommandController:
    """Starts what has a name."""

    def __init__(self, host: StartHost) -> None:
        self.host = host

    def action_change(self, name: str) -> None:
        """Do `module.function` of `tui.actions`; in the past, only what changes nothing."""
        module, _, function = name.partition(".")
        if not any(key.looks for key in KEYS if key.act == name) and self.host.refuses():
            return
        if self.host.engine is not None:
            getattr(import_module(f"tui.actions.{module}"), function)(self.host)

    action_ask_for = action_change  # what asks for a line of text: see `screen.TYPING`

    def action_command(self, line: str = "") -> None:
        """Let a command be typed, starting from `line`."""
        self.host.ask(":", line, self.action_run, verbs=True)

    def action_run(self, text: str) -> None:
        """Do what a line typed in the `:` bar does."""
        if text.strip():
            from tui.main_screen.commands.command_bar import run_line

            run_line(self.host, text)

    def action_palette(self, name: str) -> None:
        """Do what the palette's entry `key:id` or `verb:name` stands for."""
        kind, _, word = name.partition(":")
        if kind == "verb":
            self.action_command(f"{word} ")
        else:
            key = next(key for key in KEYS if key.id == word)
            self.host.call_later(self.host.run_action, key.action)  # once the palette is gone

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        def chosen(target: str | None) -> None:
            if target is not None:
                self.action_palette(target)

        self.host.app.push_screen(HelpScreen(self.host.app.remapped), chosen)  # type: ignore[attr-defined]

    def action_doctor(self, quick: bool = False) -> None:
        """Show what is wrong; Enter there does what mends it."""
        from tui.screens.doctor import DoctorScreen

        screen = DoctorScreen(self.host.location, self.host.clock, quick)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_agents(self) -> None:
        """Show what agents did, read, wrote and were sent, live while they work."""
        from tui.screens.agents import AgentsScreen

        screen = AgentsScreen(self.host.location, self.host.clock)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_open_memory(self) -> None:
        """Choose among the memories that were open before, or name another."""
        from tui.screens.recent import RecentScreen

        def chosen(path: str | None) -> None:
            if path == "":
                self.action_command("open ")
            elif path is not None:
                self.action_run(f"open {quote(path)}")

        self.host.app.push_screen(RecentScreen(self.host.location.path), chosen)
