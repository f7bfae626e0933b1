"""A server that failed is not asked for a while, longer each time, so that nobody waits for it again and again."""

import time
from collections.abc import Callable

from store.base.errors import ModelFailed

AFTER = 3  # failures in a row
GONE = ("absent", "missing")  # kinds of failure of which one is enough, and which end when the server is seen again
FIRST, LONGEST = 30.0, 300.0  # seconds in which it is not asked: the first time, and at most
COUNTED = (*GONE, "busy", "slow", "cut", "broken", "refused", "unloaded")  # that are the server's

_breakers: dict[str, "CircuitBreaker"] = {}


class CircuitBreaker:
    """The breaker of one server. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Let it be asked again at once."""
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: ModelFailed | None = None

    def record_failure(self, failure: ModelFailed) -> None:
        """Count a failure; after several, or one of GONE, the server is not asked for a while."""
        if failure.kind not in COUNTED:
            return
        self._failures = AFTER if failure.kind in GONE else self._failures + 1
        if self._failures >= AFTER:
            self._pause = min(LONGEST, self._pause * 2 or FIRST)
            self._until = self._clock() + self._pause
            self._last = failure

    def record_answer(self) -> None:
        """Forget the failures: it answered."""
        if self._failures:
            self.reset()

    def note_reachable(self) -> None:
        """Note that it is there, with a model; whether it answers a question is not known by that."""
        if self._last is not None and self._last.kind in GONE:
            self.reset()

    def why_open(self) -> ModelFailed | None:
        """Return why it is not to be asked now; None when it may be."""
        left = self._until - self._clock()
        if self._last is None or left <= 0:
            return None
        again = f"It is asked again in {max(1, round(left))} s."
        return ModelFailed(self._last.kind, self._last.message, f"{again} {self._last.next}".strip())


def of(address: str) -> CircuitBreaker:
    """The breaker of a server, in this process."""
    return _breakers.setdefault(address, CircuitBreaker())


def reset() -> None:
    """Ask every server again."""
    _breakers.clear()
