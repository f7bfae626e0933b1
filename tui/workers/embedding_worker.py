"""Embeds what waits for its vector, on a thread that gives way to whoever presses keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic, sleep

from store import Clock, Location, MemorandaError, Memory
from store import feature_off as without
from tui.workers.base import Worker
from tui.workers.throttle import Pace, Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import EmbeddingRun as Indexed

QUIET = 0.3  # seconds without a key before a model works on
LONGEST_PAUSE = 2.0  # seconds, well below what a lease lives
AGAIN, LATER = 5.0, 600.0  # seconds before another try: where another process is at it; where no model answered
THREADS = "OMP_NUM_THREADS"  # read by a model's library when it is loaded


def _quiet(*told: object) -> None:
    """Nobody listens."""


class EmbeddingWorker(Worker):
    """Embeds what waits in one memory, each time `run` is called. `close` keeps what was embedded; the batch under way
    is made again at the next start."""

    def __init__(self, location: Location, clock: Clock, pace: Pace) -> None:
        super().__init__(location, clock)
        self._share = Share(pace)
        self._stopped = False
        self._not_before = 0.0
        self._pressed = 0.0  # the moment of the last key
        self.trouble = ""  # what kept it from working, in a sentence
        # one core stays free for the screen
        os.environ.setdefault(THREADS, str(max(1, (os.cpu_count() or 2) - 1)))

    def stop(self) -> bool:
        """Let the run that is under way end here, and begin no other by oneself; False if there is none."""
        if not self.running:
            return False
        self._stopped = True
        return True

    def resume(self) -> None:
        """Work again, after `stop` or after trouble."""
        self._stopped, self._not_before = False, 0.0

    def pressed(self) -> None:
        """A key was pressed: give way."""
        self._pressed = monotonic()

    def due(self, memory: Memory) -> bool:
        """Whether something waits that may be worked on now; a cheap look, with a memory of the caller's."""
        if self.closing() or self._stopped or self.running or monotonic() < self._not_before or without("model"):
            return False
        if self._share.resting():
            return False
        from store import background_embedding

        return background_embedding.waiting(memory)

    def run(
        self, progress: Callable[[int, int], None] = _quiet, trouble: Callable[[str], None] = _quiet
    ) -> Indexed | None:
        """Embed what waits; None when somebody else is at it. `trouble` is told what keeps it from being done."""
        from store import background_embedding

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
        """Between two batches: whether to end."""
        return self.give_way() or self._stopped or self._share.spent()

    def unwanted(self) -> bool:
        """Whether a work that can be broken off anywhere is to be: keys are pressed, or the app is closing."""
        return self.closing() or monotonic() - self._pressed < QUIET

    def give_way(self) -> bool:
        """Between two pieces of any work: wait while keys are pressed, for a moment; whether the app is closing."""
        start = monotonic()
        while not self.closing() and monotonic() - self._pressed < QUIET and monotonic() - start < LONGEST_PAUSE:
            sleep(0.05)
        return self.closing()
