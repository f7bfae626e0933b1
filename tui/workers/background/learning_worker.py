"""Learn from conversations: extract facts from turns and compare new facts with the rest, by rules on one thread that
yields to key presses; with a model, if there is one, on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store.base.clock import Clock
from store.base.location import Location
from store.memory import Memory
from tui.workers.base import Worker
from tui.workers.throttle import Pace, Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.learning.model_pass import ModelPassResult
    from store.learning.rule_pass import RulePassResult

OFTEN = 3  # consecutive requests interrupted by keys, after which one is allowed to complete


class LearningWorker(Worker):
    """Learns from the conversations of one memory. `give_way` waits while keys are pressed and returns whether the app
    is closing; `unwanted` returns at once whether a model's request must be interrupted."""

    def __init__(
        self,
        location: Location,
        clock: Clock,
        give_way: Callable[[], bool],
        unwanted: Callable[[], bool],
        pace: Pace,
    ) -> None:
        super().__init__(location, clock, "worker")
        self._share = Share(pace)
        self._give_way = give_way
        self._unwanted = unwanted
        self._broken_off = 0  # requests, since the last complete one
        self._waiting = 0  # users' own requests to the model in progress

    def due(self, memory: Memory) -> bool:
        """Return whether turns or facts are still to be processed; a cheap query on the caller's memory."""
        from store.conversations import extraction_queue
        from store.inbox import new_fact_check

        if self._share.resting():
            return False
        database = memory.database
        if new_fact_check.due(database):
            return True
        return not database.read_only and extraction_queue.due(database, memory.now)

    def due_for_model(self, memory: Memory) -> bool:
        """Return whether a model has something to process; equally cheap."""
        from store.learning import model_due

        return not self._give_up() and model_due.due(memory)

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Send the model no background requests while a user waits for it, and interrupt the current one: the server
        would alternate between the two and process both prompts again each time."""
        with self.exclusive():
            self._waiting += 1
        try:
            yield
        finally:
            with self.exclusive():
                self._waiting -= 1

    def _give_up(self) -> bool:
        return self._waiting > 0 or self._unwanted()

    def run(self) -> tuple[RulePassResult, int]:
        """Process pending turns and facts by rules: return what was learned from turns, and how many questions new
        facts raised."""
        from store.inbox import new_fact_check
        from store.learning import rule_pass

        def ends() -> bool:
            return self._give_way() or self._share.spent()

        with self.memory() as memory, self._share:
            asked = new_fact_check.compare(memory.database, memory.facts, memory.inbox, ends)
            return rule_pass.run(memory, cancelled=ends), len(asked)

    def run_model(self) -> ModelPassResult:
        """Let the model process what the rules have processed. A key interrupts its request. Since a key every second
        would keep it from ever loading or finishing, after OFTEN interruptions one request completes, unless a user
        waits for the model."""
        from store.learning import model_pass

        patient = self._broken_off >= OFTEN
        with self.memory() as memory:
            added = model_pass.run(
                memory,
                entries=1 if patient else None,
                cancelled=(lambda: self._waiting > 0 or self.closing()) if patient else self._give_up,
            )
        self._broken_off = self._broken_off + 1 if added.broken_off else 0
        return added
