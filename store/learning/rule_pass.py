"""Rule pass: one process at a time reads turns from the extraction queue.

An entry's attempt is counted before it is read, so that one that kills the process is not retried forever; its results
are written in the transaction that removes it. A crash at any time loses nothing and writes nothing twice.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import add

from store.base.clock import days_before
from store.base.errors import MemorandaError, ModelFailed
from store.base.models import Turn
from store.base.vocabulary import TALK
from store.conversations import extraction_queue
from store.conversations.extraction_queue import QueueEntry
from store.database.database import Transaction
from store.database.lease import Lease, LeaseLost
from store.learning import request_counts
from store.learning.actions import LearningAction, LearningResult, apply_actions, is_own, plan_actions
from store.learning.candidate_filter import candidates
from store.learning.dismissed import DismissedTexts
from store.memory import Memory

BATCH = 50  # entries taken at once
LEASE = "extraction"
RENEW_SECONDS = 1.0
RECENT_DAYS = 14  # age up to which a turn is given to a model


@dataclass(slots=True)
class PassResult:
    """Result of a run: entries `read`, entries that `failed` (retried later or given up), turns `left`."""

    read: int = 0
    failed: int = 0
    left: int = 0


@dataclass(slots=True)
class RulePassResult(PassResult):
    """Result of a run of the rules: what was `learned`; `busy`: another process runs it."""

    learned: LearningResult = field(default_factory=LearningResult)
    busy: bool = False


def run(
    memory: Memory, *, seconds: float | None = None, cancelled: Callable[[], bool] = lambda: False
) -> RulePassResult:
    """Read waiting turns until none is due, `seconds` have passed, or `cancelled` returns True. Raise StorageError."""
    until = None if seconds is None else time.monotonic() + seconds
    reading = _Reading(memory, lambda: cancelled() or (until is not None and time.monotonic() >= until))
    database = memory.database
    due = not database.read_only and memory.config["enabled"] and extraction_queue.due(database, memory.now)
    reading.done.busy = bool(due) and not reading.holding(reading.all)
    reading.done.left = extraction_queue.counts(database)[0]
    return reading.done


class QueueReader:
    """Reads queue entries while holding a lease, and counts them in its result."""

    done: PassResult

    def __init__(self, memory: Memory, lease: str) -> None:
        self._memory = memory
        self._lease = Lease(memory.database, lease)
        self._dismissed = DismissedTexts(memory.database)
        self._renewed = time.monotonic()

    def holding(self, work: Callable[[], None]) -> bool:
        """Do this work with the lease; return whether it was had to the end."""
        if not self._lease.take():
            return False
        try:
            work()
        except LeaseLost:
            return False
        finally:
            self._lease.release()
        return True

    @contextmanager
    def _writing(self, actor: str = "agent") -> Iterator[Transaction]:
        """Open a transaction that renews the lease. Raise LeaseLost."""
        with self._memory.database.write(actor, "extraction") as write:
            self._lease.renew(write)
            yield write

    def _renew(self) -> None:
        """Renew the lease if RENEW_SECONDS have passed. Raise LeaseLost."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            with self._writing():
                self._renewed = time.monotonic()

    def _wanted(self, turn: Turn, planned: Sequence[LearningAction]) -> list[LearningAction]:
        """Return the actions that the person did not dismiss since the turn."""
        return [one for one in planned if not self._dismissed.after(turn, one.found.text)]

    def _fail(self, entry: QueueEntry, error: Exception) -> None:
        """Mark an entry as failed, with the kind of the error; not its message, which may contain text of the turn."""
        self.done.failed += 1
        name = error.code if isinstance(error, MemorandaError) else type(error).__name__
        with self._writing() as write:
            extraction_queue.failed(write, entry, error.kind if isinstance(error, ModelFailed) else name)


class _Reading(QueueReader):
    """One run."""

    def __init__(self, memory: Memory, ends: Callable[[], bool]) -> None:
        super().__init__(memory, LEASE)
        self.done: RulePassResult = RulePassResult()
        self._ends = ends
        off = memory.config["agent.mode"] == "off"
        self._since = "9" if off else days_before(memory.now, RECENT_DAYS)

    def all(self) -> None:
        """Read until nothing is due."""
        while not self._ends() and self._some():
            pass

    def _some(self) -> bool:
        """Take and read the next entries; return whether to go on."""
        with self._writing() as write:
            entries = extraction_queue.take(write, BATCH)
        turns = {turn.id: turn for turn in self._memory.turns.many([entry.turn for entry in entries])}
        empty, untouched = list[tuple[QueueEntry, bool]](), list[QueueEntry]()
        for entry in entries:
            if self._ends():
                untouched.append(entry)
                continue
            self._renew()
            turn = turns.get(entry.turn)
            try:
                planned = self._wanted(turn, plan_actions(turn, self._memory.database)) if turn else []
                recent = turn is not None and turn.at >= self._since and is_own(turn)
                for_model = bool(turn and recent and candidates(turn.role, turn.text))
                if turn and planned:
                    with self._writing(TALK + turn.session) as write:
                        self._done(write, entry, turn, for_model, planned)
                else:
                    empty.append((entry, for_model))
            except LeaseLost:
                raise
            except Exception as error:  # a turn that fails must not block the others
                self._fail(entry, error)
        if empty or untouched:
            with self._writing() as write:
                for entry, for_model in empty:
                    self._done(write, entry, turns.get(entry.turn), for_model, [])
                extraction_queue.untouched(write, untouched)
        return bool(entries) and not untouched

    def _done(
        self, write: Transaction, entry: QueueEntry, turn: Turn | None, for_model: bool, planned: list[LearningAction]
    ) -> None:
        """Write what a turn taught, in the transaction that removes its entry; count it, and queue it for a model."""
        if not extraction_queue.done(write, entry) or (turn is not None and not is_unchanged(write, turn)):
            return
        learned = apply_actions(write, turn, planned, self._memory.inbox) if turn and planned else LearningResult()
        self.done.read += 1
        self.done.learned = LearningResult(*map(add, self.done.learned, learned))
        if turn is not None and is_own(turn) and request_counts.asks(turn):
            request_counts.count(write, kept=bool(learned.facts or learned.confirmed))
        if for_model:
            extraction_queue.put_for_model(write, entry.turn)


def is_unchanged(write: Transaction, turn: Turn) -> bool:
    """Return whether a turn's text is still what was read; it may have been purged or redacted since."""
    return bool(write.execute("SELECT text FROM turns WHERE id = ?", (turn.id,)).get == turn.text)
