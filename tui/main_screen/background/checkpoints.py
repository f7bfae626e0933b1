"""Periodic checkpoints, the offer to resume an interrupted session, and the import of conversations that grew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.base.models import Checkpoint
from tui.input.key_table import CHECKPOINTS, named
from tui.render.plurals import count

if TYPE_CHECKING:
    from tui.panes.host import Host
    from tui.theme.pieces import Piece

AGAIN = 4  # seconds until the offer is tried again
RECOVER = "change('history.recover')"
TICK = 60  # polls between two checks for a due checkpoint


class CheckpointController:
    """Creates due checkpoints and imports new turns of conversations."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.offered: Checkpoint | None = None  # where a session broke off, until it was read

    def start(self) -> None:
        self.host.in_background(self._look_for_offer, "offer", "see whether a session broke off")
        self.host.in_background(self._import, "bring", "import conversations that grew")

    def poll(self, count: int) -> None:
        if self.offered is not None:
            self._see_if_read(self.offered)
        if count % TICK == 0:
            self.host.in_background(self._take_due, "tick", "take a checkpoint if one is due", exclusive=True)
            self.host.in_background(self._import, "bring", "import conversations that grew")

    def pieces(self) -> Sequence[Piece]:
        if self.offered is None:
            return ()
        if self.host.current == CHECKPOINTS:  # where the key reads the one under the cursor
            return [(f"session broke off at {self.offered.citation} ", "$text-warning")]
        return [(f"session broke off: {named('checkpoint.recover')} recovers it ", "$text-warning", RECOVER)]

    def leave(self) -> bool:
        return False

    def _look_for_offer(self) -> None:
        engine = self.host.engine
        try:
            found = engine.upkeep.offered_checkpoint() if engine is not None else None
        except MemorandaError as error:
            self.host.later(self.host.say, str(error), "warning")
            return
        if found is not None:
            self.host.later(self.offer, found)

    def offer(self, found: Checkpoint) -> None:
        """Offer, beside the search, to resume an interrupted session; a message would cover the keys at first sight,
        but it is what a screen reader reads. Not in a past view, since the offer is about now."""
        if self.host.view.past is not None:
            self.host.after(AGAIN, lambda: self.offer(found))
            return
        self.offered = found
        self.host.draw_top()
        if self.host.app.config["plain"]:  # type: ignore[attr-defined]
            self.host.say(f"A session broke off at {found.citation}: {named('checkpoint.recover')} recovers it.")

    def _see_if_read(self, offered: Checkpoint) -> None:
        engine = self.host.engine
        if engine is None or not any(one.recovered_at is None for one in engine.present.checkpoints.many([offered.id])):
            self.offered = None
            self.host.draw_top()

    def _import(self) -> None:
        engine = self.host.engine
        try:
            result = engine.bringer.run() if engine is not None else {}
        except MemorandaError as error:
            result = {"trouble": str(error)}
        if trouble := result.get("trouble"):
            text = f"Not all conversations could be brought in: {trouble}"
            self.host.later(self.host.say, text, "warning", 8)
        if isinstance(added := result.get("added"), int) and added:
            self.host.later(self.host.say, f"Brought in {count(added, 'turn')} of conversations.")

    def _take_due(self) -> None:
        engine = self.host.engine
        try:
            if engine is not None:
                engine.upkeep.take_due_checkpoint()
        except MemorandaError as error:
            self.host.later(self.host.say, f"No checkpoint could be taken: {error}", "warning")
