"""Dispatch keys, palette entries and lines of the `:` bar: actions on records, commands, and screens on top of this
one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from tui.actions.action_table import ACTIONS
from tui.input.key_table import KEYS
from tui.main_screen.commands.host import CommandHost
from tui.panes.host import Host

if TYPE_CHECKING:
    from store.base.clock import Clock
    from store.base.location import Location


class StartHost(Host, CommandHost, Protocol):
    """The interface that dispatching needs of the screen."""

    @property
    def location(self) -> Location: ...
    @property
    def clock(self) -> Clock: ...
    async def run_action(self, action: str) -> object: ...
    def call_later(self, callback: Callable[..., Any], *arguments: Any) -> bool: ...


class CommandController:
    """Runs actions and commands by name."""

    def __init__(self, host: StartHost) -> None:
        self.host = host

    def action_change(self, name: str) -> None:
        """Run an action of ACTIONS; in a past view, only if it is read-only."""
        if not any(key.looks for key in KEYS if key.act == name) and self.host.refuses():
            return
        if self.host.engine is not None:
            ACTIONS[name](self.host)

    action_ask_for = action_change  # actions that prompt for a line of text

    def action_command(self, line: str = "") -> None:
        """Prompt for a command, starting from `line`."""
        self.host.ask(":", line, self.action_run, verbs=True)

    def action_run(self, text: str) -> None:
        """Run a line typed in the `:` bar."""
        if text.strip():
            from tui.main_screen.commands.command_bar import run_line

            run_line(self.host, text)

    def open_screen(self, name: str, *arguments: object) -> None:
        """Open one of the screens on top of this one, by the name of its action."""
        getattr(self, f"action_{name}")(*arguments)

    def action_palette(self, name: str) -> None:
        """Run the palette's entry: `key:id`, `verb:name`, to be completed, or `line:` with a whole line."""
        kind, _, word = name.partition(":")
        if kind == "verb":
            self.action_command(f"{word} ")
        elif kind == "line":
            self.action_run(word)
        else:
            key = next(key for key in KEYS if key.id == word)
            self.host.call_later(self.host.run_action, key.action)  # after the palette has closed

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        def chosen(target: str | None) -> None:
            if target is not None:
                self.action_palette(target)

        self.host.app.push_screen(HelpScreen(self.host.app.remapped), chosen)  # type: ignore[attr-defined]

    def action_doctor(self, quick: bool = False) -> None:
        """Show the findings of the doctor; Enter there runs the next step."""
        from tui.screens.doctor import DoctorScreen

        screen = DoctorScreen(self.host.location, self.host.clock, quick)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_agents(self) -> None:
        """Show agents' activity: what they did, read, wrote and were sent, refreshed while they work."""
        from tui.screens.agents import AgentsScreen

        screen = AgentsScreen(self.host.location, self.host.clock)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_team(self) -> None:
        """Show who shares with this memory, and what."""
        from tui.screens.team.screen import TeamScreen

        if self.host.engine is not None:
            screen = TeamScreen(self.host.location, self.host.clock, self.host.engine.team)
            self.host.app.push_screen(screen)

    def action_replica(self, query: str = "", team: str = "") -> None:
        """Show what teams shared, in the database of `team.replica`."""
        from tui.screens.team.replica import ReplicaScreen

        self.host.app.push_screen(ReplicaScreen(self.host.location, self.host.clock, query, team))

    def action_plots(self) -> None:
        """Show how the memory changed over time."""
        from tui.screens.plots import PlotsScreen

        self.host.app.push_screen(PlotsScreen(self.host.location, self.host.clock))

    def action_settings(self) -> None:
        """Show the settings, to be changed in place."""
        from tui.screens.settings import SettingsScreen

        self.host.app.push_screen(SettingsScreen(self.host.location))

    def action_more(self) -> None:
        """Choose one of the screens that have no pane."""
        from tui.screens.menus.more import MoreScreen

        self.host.app.push_screen(MoreScreen(), lambda verb: self.action_run(verb or ""))

    def action_open_memory(self) -> None:
        """Choose a recently opened memory, or name another."""
        from tui.screens.menus.recent import RecentScreen

        def chosen(path: str | None) -> None:
            if path == "":
                self.action_command("open ")
            elif path is not None:
                from shlex import quote

                self.action_run(f"open {quote(path)}")

        self.host.app.push_screen(RecentScreen(self.host.location.path), chosen)
