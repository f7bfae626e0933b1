"""How much of the time background work may take: all of it, or a small part while others write one thing after another.

What others write makes such work (vectors, questions about what is alike), so it would never be done with, and whoever
writes at the same machine needs the time. Once they have paused, it is caught up with at full speed.
"""

from __future__ import annotations

from time import monotonic

OTHERS = 2.0  # seconds: who writes twice within them writes a lot, and has paused once they passed without a write
PIECE = 0.3  # seconds of work at a time meanwhile
REST = 30  # times what a piece took: the pause after it


class Pace:
    """Whether others write a lot; told by whoever looks."""

    def __init__(self) -> None:
        self._wrote = self._busy_until = 0.0

    def written(self) -> None:
        """Something was written since the last look."""
        now = monotonic()
        if now - self._wrote < OTHERS:
            self._busy_until = now + OTHERS
        self._wrote = now

    def busy(self) -> bool:
        return monotonic() < self._busy_until


class Share:
    """One work's share of the time. A context manager around each run of it, of one thread at a time."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._started = self._resumes = 0.0
        self._first: float | None = None  # when the run under way began its first batch

    def resting(self) -> bool:
        """Whether it is to be left for later."""
        return self._pace.busy() and monotonic() < self._resumes

    def spent(self) -> bool:
        """Whether a run that is under way is to end here, and go on later. Asked between two batches, and before the
        first: until then it only made itself ready, which may take long, and a run does at least one."""
        if self._first is None:
            self._first = monotonic()
        return self._pace.busy() and monotonic() - self._first > PIECE

    def __enter__(self) -> None:
        self._started = monotonic()
        self._first = None

    def __exit__(self, *_: object) -> None:
        end = monotonic()
        self._resumes = end + REST * (end - self._started)
