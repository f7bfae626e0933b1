"""Limit background work to a small share of the time while other processes write continuously.

Their writes cause the work (embeddings, questions about similar facts), so it would never end, and they need the CPU.
After a pause in their writes it catches up at full speed."""

from __future__ import annotations

from time import monotonic

OTHERS = 2.0  # seconds: two writes within them count as continuous; a pause is this long without a write
PIECE = 0.3  # seconds of work at a time meanwhile
REST = 30  # the pause after a piece, as a multiple of its duration


class Pace:
    """Whether other processes write continuously; call `written` after each write seen."""

    def __init__(self) -> None:
        self._wrote = self._busy_until = 0.0

    def written(self) -> None:
        """Record that something was written since the last check."""
        now = monotonic()
        if now - self._wrote < OTHERS:
            self._busy_until = now + OTHERS
        self._wrote = now

    def busy(self) -> bool:
        return monotonic() < self._busy_until


class Share:
    """The share of the time for one kind of work. A context manager around each run, for one thread at a time."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._started = self._resumes = 0.0
        self._first: float | None = None  # when the current run began its first batch

    def resting(self) -> bool:
        """Return whether to postpone the work."""
        return self._pace.busy() and monotonic() < self._resumes

    def spent(self) -> bool:
        """Return whether the current run must end here and continue later. Checked between two batches and before the
        first: loading may take long and does not count, and each run processes at least one batch."""
        if self._first is None:
            self._first = monotonic()
        return self._pace.busy() and monotonic() - self._first > PIECE

    def __enter__(self) -> None:
        self._started = monotonic()
        self._first = None

    def __exit__(self, *_: object) -> None:
        end = monotonic()
        self._resumes = end + REST * (end - self._started)
