"""Exchange with the team every few minutes, and say what arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from tui.main_screen.controller import POLL

if TYPE_CHECKING:
    from tui.panes.host import Host
    from tui.theme.pieces import Piece

MINUTE = int(60 / POLL)  # polls


class TeamController:
    """Exchanges with the team while the application is open."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._said = ""  # the trouble that was shown last: the same is not shown every few minutes

    def start(self) -> None:
        self.poll(0)

    def poll(self, count: int) -> None:
        engine = self.host.engine
        minutes = int(engine.screen.config["team.minutes"]) if engine is not None else 0
        if minutes and count % (minutes * MINUTE) == 0:
            self.host.in_background(self._exchange, "team", "exchange with the team", exclusive=True)

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        return False

    def _exchange(self) -> None:
        engine = self.host.engine
        lines: list[str] = []
        trouble = ""
        try:
            done = engine.team.run() if engine is not None else None
        except MemorandaError as error:
            trouble = f"The team could not be reached: {error}"
        else:
            lines = done[1] if done is not None else []
        if trouble and trouble != self._said and engine is not None and not engine.closed:
            self.host.later(self.host.say, trouble, "warning", 8)
        self._said = trouble
        if lines:
            self.host.later(self.host.say, " ".join(lines[:4]), "information", 8)
