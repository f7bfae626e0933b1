"""A server that failed is left alone for a while, longer each time, so that nobody waits for it again and again."""

import time
from collections.abc import Callable

from store.base.errors import ModelFailed

AFTER = 3  # failures in a row
GONE = ("absent", "missing")  # kinds of failure of which one is enough, and which a look sees mended
FIRST, LONGEST = 30.0, 300.0  # seconds that it is left alone: the first time, and at most
COUNTED = (*GONE, "busy", "slow", "cut", "broken", "refused", "unloaded")  # that are the server's

_breakers: dict[str, "CircuitBreaker"] = {}


class CircuitBreaker:
    """Of one server. `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Ask it again at once: somebody mended it, or says so."""
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: ModelFailed | None = None

    def failed(self, failure: ModelFailed) -> None:
        """It failed."""
        if failure.kind not in COUNTED:
            return
        self._failures = AFTER if failure.kind in GONE else self._failures + 1
        if self._failures >= AFTER:
            self._pause = min(LONGEST, self._pause * 2 or FIRST)
            self._until = self._clock() + self._pause
            self._last = failure

    def worked(self) -> None:
        """It answered."""
        if self._failures:
            self.reset()

    def there(self) -> None:
        """It was seen to be there, with a model. That it answers a question too is not known by that."""
        if self._last is not None and self._last.kind in GONE:
            self.reset()

    def tripped(self) -> ModelFailed | None:
        """Why it is not to be asked now; None when it may be."""
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
