"""Exchange with the team now and then, if the person shares or has once received something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.base.clock import Clock
from store.base.location import Location
from tui.workers.base import Worker

if TYPE_CHECKING:
    from store.team.exchange import Exchanged, Team


class TeamWorker(Worker):
    """Exchanges with the team of one memory, each time `run` is called."""

    close_seconds = 0.0  # no wait: an exchange that is stopped goes on at the next

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock, "worker")
        self._team: Team | None = None

    def run(self, wait: bool = False) -> tuple[Exchanged, list[str]] | None:
        """Exchange, after one that is in progress if told to `wait`; return what came of it and its lines to read. None
        where nothing is shared, or without `wait` one is in progress. Raise MemorandaError."""
        with self.exclusive(wait) as held, self.memory() as memory:
            from store.team.exchange import Team
            from store.team.sharing import shares
            from tui.commands.files.team import exchanged_lines

            if not held or self.closing() or not shares(memory):
                return None
            with Team(memory) as team:
                self._team = team
                try:
                    done = team.exchange()
                    return done, exchanged_lines(team, done)
                finally:
                    self._team = None

    def close(self) -> None:
        """End git, if it is waiting for the remote."""
        super().close()
        if (team := self._team) is not None:
            team.stop()
