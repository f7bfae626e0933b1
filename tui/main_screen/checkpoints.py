"""The main screen's checkpoints: one is taken when time has made it due, and a session that broke off is told once."""

from __future__ import annotations

from textual import work

from store.base.errors import MemorandaError
from store.base.models import Checkpoint
from tui.input.key_table import named
from tui.main_screen.model_status import ModelledScreen
from tui.render.plurals import count

AGAIN = 4  # seconds until the offer is tried again
TICK = 60  # looks after which it is asked whether a checkpoint is due


class RecoveringScreen(ModelledScreen):
    """Offers after the first rows, and takes checkpoints as time passes."""

    def _complete(self) -> None:
        super()._complete()
        self._offer()
        self._bring_in()

    def _look(self) -> None:
        super()._look()
        if self._looks % TICK == 0:
            self._tick()
            self._bring_in()

    @work(thread=True, group="offer", exit_on_error=False, description="see whether a session broke off")
    def _offer(self) -> None:
        try:
            found = self.engine.upkeep.offered_checkpoint() if self.engine is not None else None
        except MemorandaError as error:
            self.later(self.say, str(error), "warning")
            return
        if found is not None:
            self.later(self._say_offer, found)

    def _say_offer(self, found: Checkpoint) -> None:
        if self.view.past is not None:  # it is about now, and waits until that is looked at
            self.set_timer(AGAIN, lambda: self._say_offer(found))
            return
        about = f": {found.summary}" if found.summary else ""
        self.say(f"A session broke off{about}  ({named('checkpoint.recover')} shows where it stood)", timeout=8)

    @work(thread=True, group="bring", exit_on_error=False, description="bring in conversations that grew")
    def _bring_in(self) -> None:
        try:
            came = self.engine.bringer.run() if self.engine is not None else {}
        except MemorandaError as error:
            came = {"trouble": str(error)}
        if trouble := came.get("trouble"):
            self.later(self.say, f"Not all conversations could be brought in: {trouble}", "warning", 8)
        if isinstance(added := came.get("added"), int) and added:
            self.later(self.say, f"Brought in {count(added, 'turn')} of conversations.")

    @work(thread=True, group="tick", exclusive=True, exit_on_error=False, description="take a checkpoint if one is due")
    def _tick(self) -> None:
        try:
            if self.engine is not None:
                self.engine.upkeep.take_due_checkpoint()
        except MemorandaError as error:
            self.later(self.say, f"No checkpoint could be taken: {error}", "warning")
