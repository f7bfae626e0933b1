"""Status of the model beside the search bar; a screen of its own sets the model up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.llm.model_stats import ModelStats, model_stats
from tui.main_screen.learning import LearningScreen
from tui.screens.model_status_text import forms
from tui.theme.pieces import Piece

if TYPE_CHECKING:
    from tui.workers.model_worker import ModelWorker, Pull

FIGURES = 3  # looks after which the figures are read
OFTEN = 60  # looks after which the server is looked at: a model that nobody asks leaves the memory by itself


class ModelledScreen(LearningScreen):
    """Looks at the server after the first rows, and now and then."""

    _faring = ModelStats()
    _over: Pull | None = None  # the last pull whose end was told

    @property
    def modeller(self) -> ModelWorker:
        return self.app.modeller  # type: ignore[attr-defined, no-any-return]

    def _complete(self) -> None:
        super()._complete()
        self.modeller.look(self.app.config)  # type: ignore[attr-defined]
        self._draw_standing()

    def _look(self) -> None:
        super()._look()
        if self._looks % FIGURES == 0:
            self._read_faring()
        if self._looks % OFTEN == 0 and not self.modeller.pulling:
            self.modeller.look(self.app.config)  # type: ignore[attr-defined]

    def _read_faring(self) -> None:
        """Show what came of the model since, and that it works right now; one that just worked is in memory."""
        if self.engine is None:
            return
        before, self._faring = self._faring, model_stats(self.engine.present.database, self.engine.now)
        if before != self._faring:
            self._draw_standing()
            if before.working and not self._faring.working:
                self.modeller.look(self.app.config)  # type: ignore[attr-defined]

    def action_model(self, pull: str = "", trying: str | None = None) -> None:
        """How the model stands, and what can be done about it."""
        from tui.screens.model import ModelScreen

        self.app.push_screen(ModelScreen(self._location, self._faring, pull, trying))

    def model_told(self) -> None:
        """Show what is known of the model by now; the end of a pull is said where its own screen does not."""
        pull = self.modeller.pull
        if pull is not None and pull.ended and pull is not self._over:
            self._over = pull
            if self.app.screen is self and pull.trouble is None:
                self.say(f"{pull.name} is there.")
            elif self.app.screen is self and pull.trouble is not None and pull.trouble.kind != "stopped":
                self.say(f"{pull.name} could not be fetched. {pull.trouble}", "warning", 8)
        self._draw_standing()

    def model_ways(self) -> Sequence[Sequence[Piece]]:
        return forms(self.modeller, self._faring)
