"""Learns from conversations: what was said in them is read, and what was remembered compared with the rest, by rules
on one thread that gives way to whoever presses keys; and, where there is one, by a model on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from store import Clock, Location, Memory
from tui.workers.base import Worker
from tui.workers.throttle import Pace, Share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import ModelPassResult, RulePassResult

OFTEN = 3  # questions in a row that keys broke off, after which one is let come to its end


class LearningWorker(Worker):
    """Reads what was said in one memory, as often as it is asked to. `give_way` waits while keys are pressed, and tells
    whether the app is closing; `unwanted` waits for nothing, and breaks off what a model thinks."""

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
        self._broken_off = 0  # questions, since the last that came to its end
        self._waiting = 0  # people who wait for the model themselves

    def due(self, memory: Memory) -> bool:
        """Whether something was said or remembered that is still to be looked at; a cheap look, with a memory of the
        caller's."""
        from store import extraction_queue, new_fact_check

        if self._share.resting():
            return False
        database = memory.database
        if new_fact_check.due(database):
            return True
        return not database.read_only and extraction_queue.due(database, memory.now)

    def due_for_model(self, memory: Memory) -> bool:
        """Whether a model has something to read now; as cheap a look."""
        from store import model_due

        return not self._give_up() and model_due.due(memory)

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Ask the model nothing as long as a person waits for it: what it thinks is broken off, for
        otherwise it would turn from one question to the other, and read both anew each time."""
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
        """Look at what waits: what was learned of what was said, and how many questions came of what was remembered."""
        from store import new_fact_check, rule_pass

        def ends() -> bool:
            return self._give_way() or self._share.spent()

        with self.memory() as memory, self._share:
            asked = new_fact_check.compare(memory.database, memory.facts, memory.inbox, ends)
            return rule_pass.run(memory, cancelled=ends), len(asked)

    def run_model(self) -> ModelPassResult:
        """Let the model read what rules have. A key breaks off what it thinks; but whoever presses one every second
        would keep it from ever loading, or from coming to an end, so after OFTEN times it is let read one entry, unless
        somebody waits for it."""
        from store import model_pass

        patient = self._broken_off >= OFTEN
        with self.memory() as memory:
            added = model_pass.run(
                memory,
                entries=1 if patient else None,
                cancelled=(lambda: self._waiting > 0 or self.closing()) if patient else self._give_up,
            )
        self._broken_off = self._broken_off + 1 if added.broken_off else 0
        return added
