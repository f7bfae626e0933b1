"""Circuit breaker: after failures a server is not asked for a while, longer each time, so that nobody waits
repeatedly."""

import time
from collections.abc import Callable

from store.base.errors import ModelFailed

AFTER = 3  # consecutive failures that open the breaker
GONE = ("absent", "missing")  # kinds of which one failure opens it; it closes when the server is seen again
FIRST, LONGEST = 30.0, 300.0  # seconds it stays open: the first time, and at most
COUNTED = (*GONE, "busy", "slow", "cut", "broken", "refused", "unloaded")  # failures of the server

_breakers: dict[str, "CircuitBreaker"] = {}


class CircuitBreaker:
    """The breaker of one server. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Close it: the server may be asked at once."""
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: ModelFailed | None = None

    def record_failure(self, failure: ModelFailed) -> ModelFailed:
        """Count a failure and return it; open the breaker after AFTER of them, or one of GONE."""
        if failure.kind not in COUNTED:
            return failure
        self._failures = AFTER if failure.kind in GONE else self._failures + 1
        if self._failures >= AFTER:
            self._pause = min(LONGEST, self._pause * 2 or FIRST)
            self._until = self._clock() + self._pause
            self._last = failure
        return failure

    def record_answer(self) -> None:
        """Forget the failures after an answer."""
        self.reset()

    def note_reachable(self) -> None:
        """Close it if it is open for a failure of GONE: the server was seen, with a model. Other failures stay counted,
        as a list of models does not show that the server answers."""
        if self._last is not None and self._last.kind in GONE:
            self.reset()

    def why_open(self, *, ends: bool = False) -> ModelFailed | None:
        """Return why the server may not be asked now, with the seconds left; None when it may be. `ends`: the process
        does, and asks nothing again."""
        left = self._until - self._clock()
        if self._last is None or left <= 0:
            return None
        again = "" if ends else f"It is asked again in {max(1, round(left))} s."
        return ModelFailed(self._last.kind, self._last.message, f"{again} {self._last.next}".strip())


def of(address: str) -> CircuitBreaker:
    """Return the breaker of a server in this process."""
    return _breakers.setdefault(address, CircuitBreaker())


def reset() -> None:
    """Close all breakers."""
    _breakers.clear()
