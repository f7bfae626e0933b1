"""The base class of background workers: a memory for each thread, one run at a time, and an end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

from store.base.clock import Clock
from store.base.location import Location
from store.memory import Memory


class Worker:
    """The work on one memory, on the thread that calls it."""

    close_seconds = 1.0  # maximum wait of `close` for an exclusive run

    def __init__(self, location: Location, clock: Clock, door: str = "app") -> None:
        """`door` is recorded with this worker's writes (vocabulary.DOORS)."""
        self._location = location
        self._clock = clock
        self._door = door
        self._lock = Lock()
        self._closed = Event()

    def memory(self, door: str = "") -> Memory:
        """Open the memory for the calling thread, which must close it; with another `door` if given. Raises
        StorageError."""
        return Memory(self._location, door or self._door, self._clock, create=False)

    @contextmanager
    def exclusive(self, wait: bool = True) -> Iterator[bool]:
        """Hold the lock of this worker; yield whether it is held. If another thread holds it: wait, or yield False
        without `wait`."""
        held = self._lock.acquire(blocking=wait)
        try:
            yield held
        finally:
            if held:
                self._lock.release()

    @property
    def running(self) -> bool:
        """Return whether an exclusive run is in progress."""
        return self._lock.locked()

    def closing(self) -> bool:
        """Return whether `close` was called; long work checks it between two steps."""
        return self._closed.is_set()

    def close(self) -> None:
        """Ask the current run to end soon, and wait for it, at most `close_seconds`."""
        self._closed.set()
        if self._lock.acquire(timeout=self.close_seconds):
            self._lock.release()
