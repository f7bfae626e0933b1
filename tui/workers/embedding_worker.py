"""Embeds what waits for its vector, on a thread that gives way to whoever presses keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from time import monotonic, sleep

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.feature_flags import without
from store.base.location import Location
from store.memory import Memory
from tui.workers.throttle import Pace, Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.embedding.indexer import Indexed

QUIET = 0.3  # seconds without a key before a model works on
LONGEST_PAUSE = 2.0  # seconds, well below what a lease lives
AGAIN, LATER = 5.0, 600.0  # seconds before another try: where another process is at it; where no model answered
CLOSE_SECONDS = 1.0
THREADS = "OMP_NUM_THREADS"  # read by a model's library when it is loaded


def _quiet(*told: object) -> None:
    """Nobody listens."""


class EmbeddingWorker:
    """Embeds what waits in one memory, as often as it is asked to."""

    def __init__(self, location: Location, clock: Clock, pace: Pace) -> None:
        self._location = location
        self._share = Share(pace)
        self._clock = clock
        self._working = Lock()
        self._closed = self._stopped = False
        self._not_before = 0.0
        self._pressed = 0.0  # the moment of the last key
        self.trouble = ""  # what kept it from working, in a sentence
        # one core stays free for the screen
        os.environ.setdefault(THREADS, str(max(1, (os.cpu_count() or 2) - 1)))

    @property
    def running(self) -> bool:
        return self._working.locked()

    def close(self) -> None:
        """Stop soon: what was made stays, the batch under way is made again at the next start."""
        self._closed = True
        if self._working.acquire(timeout=CLOSE_SECONDS):
            self._working.release()

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
        if self._closed or self._stopped or self.running or monotonic() < self._not_before or without("model"):
            return False
        if self._share.resting():
            return False
        from store.services import background_embedding

        return background_embedding.waiting(memory)

    def run(
        self, progress: Callable[[int, int], None] = _quiet, trouble: Callable[[str], None] = _quiet
    ) -> Indexed | None:
        """Embed what waits; None when somebody else is at it. `trouble` is told what keeps it from being done."""
        from store.services import background_embedding

        if without("model") or not self._working.acquire(blocking=False):
            return None
        told: list[str] = []
        try:
            with Memory(self._location, "app", self._clock, create=False) as memory, self._share:
                if not background_embedding.waiting(memory):
                    return None
                result = background_embedding.embed(memory, progress, self._ends, told.append)
        except MemorandaError as error:
            told.append(str(error))
            result = None
        finally:
            self._working.release()
        if result is None and not told:
            self._not_before = monotonic() + AGAIN
        elif told and (result is None or result.left):
            self._not_before = monotonic() + LATER
        self.trouble = told[-1] if told else ""
        if told:
            trouble(self.trouble)
        return result

    def _ends(self) -> bool:
        """Between two batches: whether to end."""
        return self.give_way() or self._stopped or self._share.spent()

    def closing(self) -> bool:
        """Whether the app is."""
        return self._closed

    def unwanted(self) -> bool:
        """Whether a work that can be broken off anywhere is to be: keys are pressed, or the app is closing."""
        return self._closed or monotonic() - self._pressed < QUIET

    def give_way(self) -> bool:
        """Between two pieces of any work: wait while keys are pressed, for a moment; whether the app is closing."""
        start = monotonic()
        while not self._closed and monotonic() - self._pressed < QUIET and monotonic() - start < LONGEST_PAUSE:
            sleep(0.05)
        return self._closed
