"""The app's learning: what was said in conversations is read, on a thread that gives way to whoever presses keys; first
by rules, then, where there is one, by a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from store.clock import Clock
from store.location import Location
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.agent.queue import Read


class Learner:
    """Reads what was said in one memory, as often as it is asked to. `give_way` waits while keys are pressed, and tells
    whether the app is closing; `unwanted` waits for nothing, and breaks off what a model thinks."""

    def __init__(
        self, location: Location, clock: Clock, give_way: Callable[[], bool], unwanted: Callable[[], bool]
    ) -> None:
        self._location = location
        self._clock = clock
        self._give_way = give_way
        self._unwanted = unwanted

    def due(self, memory: Memory) -> bool:
        """Whether something was said that is still to be read; a cheap look, with a memory of the caller's."""
        from store import pending

        if memory.database.read_only:
            return False
        return pending.due(memory.database, memory.now) or self._due_for_model(memory)

    def _due_for_model(self, memory: Memory) -> bool:
        from store import pending

        if self._unwanted() or not pending.due(memory.database, memory.now, model=True):
            return False
        from store.agent import afterwards

        return afterwards.due(memory)

    def run(self) -> Read:
        """Read what waits."""
        from store.agent import afterwards, queue

        with Memory(self._location, "worker", self._clock, create=False) as memory:
            done = queue.run(memory, cancelled=self._give_way)
            added = afterwards.run(memory, cancelled=self._unwanted)
        learned = replace(done.learned, proposed=(*done.learned.proposed, *added.asked))
        return replace(done, learned=learned)
