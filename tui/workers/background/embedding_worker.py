"""Embed pending texts on a thread that yields to key presses."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic, sleep

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.feature_flags import without
from store.base.location import Location
from store.memory import Memory
from tui.workers.base import Worker
from tui.workers.throttle import Pace, Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.embedding.indexer import Indexed

QUIET = 0.3  # seconds without a key before embedding continues
LONGEST_PAUSE = 2.0  # seconds, well below the duration of a lease
AGAIN, LATER = 5.0, 600.0  # seconds before a retry: while another process embeds; after no model responded
THREADS = "OMP_NUM_THREADS"  # read by the model's library when it loads


def _quiet(*arguments: object) -> None:
    """Ignore progress."""


class EmbeddingWorker(Worker):
    """Embeds the pending texts of one memory, each time `run` is called. `close` keeps finished batches; the current
    one is repeated at the next start."""

    def __init__(self, location: Location, clock: Clock, pace: Pace) -> None:
        super().__init__(location, clock)
        self._share = Share(pace)
        self.stopped = False
        self._not_before = 0.0
        self._pressed = 0.0  # the time of the last key
        self.trouble = ""  # why it cannot work, as a sentence
        # leave one core for the interface
        os.environ.setdefault(THREADS, str(max(1, (os.cpu_count() or 2) - 1)))

    def stop(self) -> bool:
        """End the current run and start no other until `resume`; return False if there is none."""
        if not self.running:
            return False
        self.stopped = True
        return True

    def resume(self) -> None:
        """Continue after `stop` or after an error."""
        self.stopped, self._not_before = False, 0.0

    def pressed(self) -> None:
        """Record a key press, which pauses the work."""
        self._pressed = monotonic()

    def due(self, memory: Memory, resumed: bool = False) -> bool:
        """Return whether texts are pending that may be embedded now, or if it was `resumed`; a cheap query on the
        caller's memory."""
        held = not resumed and (self.stopped or monotonic() < self._not_before)
        if self.closing() or held or self.running or without("model"):
            return False
        if self._share.resting():
            return False
        from store.services import background_embedding

        return background_embedding.waiting(memory)

    def run(
        self, progress: Callable[[int, int], None] = _quiet, trouble: Callable[[str], None] = _quiet
    ) -> Indexed | None:
        """Embed the pending texts; return None if another process does it. Call `trouble` with what prevents it."""
        from store.services import background_embedding

        if without("model"):
            return None
        problems: list[str] = []
        result = None
        with self.exclusive(wait=False) as held:
            if not held:
                return None
            try:
                with self.memory() as memory, self._share:
                    if not background_embedding.waiting(memory):
                        return None
                    result = background_embedding.embed(memory, progress, self._ends, problems.append)
            except MemorandaError as error:
                problems.append(str(error))
        if result is None and not problems:
            self._not_before = monotonic() + AGAIN
        elif problems and (result is None or result.left):
            self._not_before = monotonic() + LATER
        self.trouble = problems[-1] if problems else ""
        if problems:
            trouble(self.trouble)
        return result

    def _ends(self) -> bool:
        """Return whether to end, between two batches."""
        return self.give_way() or self.stopped or self._share.spent()

    def unwanted(self) -> bool:
        """Return whether interruptible work must stop: keys are pressed, or the app is closing."""
        return self.closing() or monotonic() - self._pressed < QUIET

    def give_way(self) -> bool:
        """Between two steps of any work: pause briefly while keys are pressed; return whether the app is closing."""
        start = monotonic()
        while not self.closing() and monotonic() - self._pressed < QUIET and monotonic() - start < LONGEST_PAUSE:
            sleep(0.05)
        return self.closing()
