"""Show the model's status beside the search bar; a separate screen sets the model up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from store.llm.call_log import recent as model_calls
from store.llm.usage_stats import ModelStats, model_stats
from tui.main_screen.controller import pace
from tui.panes.host import Host
from tui.screens.model.status_text import forms

if TYPE_CHECKING:
    from store.base.location import Location
    from tui.screens.application import Application
    from tui.theme.pieces import Piece
    from tui.workers.model_worker import ModelWorker, Pull

FIGURES = 4  # polls between two reads of the figures
OFTEN = 60  # polls between two requests to the server: it unloads an idle model by itself


class ModelHost(Host, Protocol):
    """The interface that the model's status needs of the screen."""

    @property
    def location(self) -> Location: ...
    @property
    def is_current(self) -> bool: ...


class ModelStatusController:
    """Queries the model server after the first rows, and periodically."""

    def __init__(self, host: ModelHost) -> None:
        self.host = host
        self._stats = ModelStats()
        self._reported: Pull | None = None  # the last pull whose end was reported

    @property
    def _app(self) -> Application:
        return cast("Application", self.host.app)

    @property
    def worker(self) -> ModelWorker:
        return self._app.modeller

    def start(self) -> None:
        self.worker.look(self._app.config)
        self.host.draw_top()

    def poll(self, count: int) -> None:
        if count % FIGURES == 0:
            self._read_stats()
        if count % pace(OFTEN, self.host.app) == 0 and not self.worker.pulling:
            self.worker.look(self._app.config)

    def pieces(self) -> Sequence[Piece]:
        return ()

    def leave(self) -> bool:
        return False

    def forms(self) -> Sequence[Sequence[Piece]]:
        """Return the forms of the model's status, longest first."""
        return forms(self.worker, self._stats)

    def _read_stats(self) -> None:
        """Read the model's recent calls; one that has just answered is loaded."""
        engine = self.host.engine
        if engine is None:
            return
        before, self._stats = self._stats, model_stats(engine.present.database, engine.now)
        if before != self._stats:
            self.host.draw_top()
            if before.working and not self._stats.working:
                self.worker.look(self._app.config)

    def action_model(self, pull: str = "", trying: str | None = None) -> None:
        """Show the model's screen."""
        from tui.screens.model.screen import ModelScreen

        engine = self.host.engine
        calls = model_calls(engine.present.database, engine.now) if engine is not None else ()
        now = engine.now if engine is not None else ""
        self.host.app.push_screen(ModelScreen(self.host.location, self._stats, pull, trying, calls, now))

    def changed(self) -> None:
        """Show the current status; report the end of a pull unless its own screen does."""
        pull = self.worker.pull
        if pull is not None and pull.ended and pull is not self._reported:
            self._reported = pull
            if self.host.is_current and pull.trouble is None:
                self.host.say(f"{pull.name} is there.")
            elif self.host.is_current and pull.trouble is not None and pull.trouble.kind != "stopped":
                self.host.say(f"{pull.name} could not be fetched. {pull.trouble}", "warning", 8)
        self.host.draw_top()
