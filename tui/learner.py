"""The app's learning: what was said in conversations is read, on a thread that gives way to whoever presses keys."""

from __future__ import annotations

from collections.abc import Callable

from store.clock import Clock
from store.location import Location
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.agent.queue import Read


class Learner:
    """Reads what was said in one memory, as often as it is asked to. `give_way` waits while keys are pressed, and tells
    whether the app is closing."""

    def __init__(self, location: Location, clock: Clock, give_way: Callable[[], bool]) -> None:
        self._location = location
        self._clock = clock
        self._give_way = give_way

    def due(self, memory: Memory) -> bool:
        """Whether something was said that is still to be read; a cheap look, with a memory of the caller's."""
        from store import pending

        return not memory.database.read_only and pending.due(memory.database, memory.now)

    def run(self) -> Read:
        """Read what waits."""
        from store.agent import queue

        with Memory(self._location, "worker", self._clock, create=False) as memory:
            return queue.run(memory, cancelled=self._give_way)
