"""The app's learning: what was said in conversations is read, and what was remembered compared with the rest, on a
thread that gives way to whoever presses keys; first by rules, then, where there is one, by a model."""

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
        """Whether something was said or remembered that is still to be looked at; a cheap look, with a memory of the
        caller's."""
        from store import comparing, pending

        database = memory.database
        if comparing.due(database):
            return True
        return not database.read_only and (pending.due(database, memory.now) or self._due_for_model(memory))

    def _due_for_model(self, memory: Memory) -> bool:
        from store import pending

        if self._unwanted() or not pending.due(memory.database, memory.now, model=True):
            return False
        from store.agent import afterwards

        return afterwards.due(memory)

    def run(self) -> tuple[Read, int]:
        """Look at what waits: what was learned of what was said, and how many questions came of what was remembered."""
        from store import comparing
        from store.agent import afterwards, queue

        with Memory(self._location, "worker", self._clock, create=False) as memory:
            asked = comparing.compare(memory.database, memory.facts, memory.inbox, self._give_way)
            done = queue.run(memory, cancelled=self._give_way)
            added = afterwards.run(memory, cancelled=self._unwanted)
        learned = replace(done.learned, proposed=(*done.learned.proposed, *added.asked))
        return replace(done, learned=learned), len(asked)
