"""The reading of turns: entries of `pending` are taken, read and taken off, by one process at a time.

An entry counts as tried before it is read, so that one that kills its reader is not read for ever; what came of it is
written in the transaction that takes it off. So a crash at any moment loses nothing and writes nothing twice.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from store.base.clock import days_before
from store.base.errors import MemorandaError, ModelFailed
from store.base.models import Turn
from store.conversations import extraction_queue
from store.conversations.extraction_queue import QueueEntry
from store.database.database import Transaction
from store.database.lease import Lease, LeaseLost
from store.learning import request_counts
from store.learning.actions import LearningAction, LearningResult, apply_actions, is_own, origin, plan_actions
from store.learning.candidate_filter import worth
from store.learning.dismissed import DismissedTexts
from store.memory import Memory

BATCH = 50  # entries that are taken at once
LEASE = "extraction"
RENEW_SECONDS = 1.0
RECENT_DAYS = 14  # that a turn is worth a model's time


@dataclass(frozen=True, slots=True)
class RulePassResult:
    """What a run did: entries that were `read`, what was learned from them, those that `failed` and will be tried again
    or were given up, and how many turns are `left`. `busy`: another process is at it."""

    read: int = 0
    learned: LearningResult = field(default_factory=LearningResult)
    failed: int = 0
    left: int = 0
    busy: bool = False


def run(
    memory: Memory, *, seconds: float | None = None, cancelled: Callable[[], bool] = lambda: False
) -> RulePassResult:
    """Read the turns that wait, until none is due, `seconds` have passed or it is `cancelled`. Raises StorageError."""
    database = memory.database
    if database.read_only or not memory.config["enabled"] or not extraction_queue.due(database, memory.now):
        return RulePassResult(left=_left(memory))
    lease = Lease(database, LEASE)
    if not lease.take():
        return RulePassResult(left=_left(memory), busy=True)
    ends = None if seconds is None else time.monotonic() + seconds
    reading = _Reading(memory, lease)
    try:
        while not cancelled() and (ends is None or time.monotonic() < ends) and reading.some(cancelled, ends):
            pass
    except LeaseLost:
        return reading.result(busy=True)
    finally:
        lease.release()
    return reading.result()


class QueueReader:
    """Reads entries of the queue while it holds a lease, and counts them."""

    def __init__(self, memory: Memory, lease: Lease) -> None:
        self._memory = memory
        self._lease = lease
        self._settled = DismissedTexts(memory.database)
        self._read = self._failed = 0
        self._renewed = time.monotonic()

    def _renew(self) -> None:
        """Keep the lease while nothing is written."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            with self._memory.database.write("agent", "lease") as write:
                self._lease.renew(write)
            self._renewed = time.monotonic()

    def _fail(self, entry: QueueEntry, error: Exception) -> None:
        """Leave an entry for later, with the kind of the error: its message may hold what was written."""
        self._failed += 1
        name = error.code if isinstance(error, MemorandaError) else type(error).__name__
        why = error.kind if isinstance(error, ModelFailed) else name
        with self._memory.database.write("agent", "extraction") as write:
            self._lease.renew(write)
            extraction_queue.failed(write, entry, why)


class _Reading(QueueReader):
    """One run."""

    def __init__(self, memory: Memory, lease: Lease) -> None:
        super().__init__(memory, lease)
        self._learned = LearningResult()
        self._last = (0, False)
        off = memory.config["agent.mode"] == "off"
        self._since = "9" if off else days_before(memory.now, RECENT_DAYS)

    def some(self, cancelled: Callable[[], bool], ends: float | None) -> bool:
        """Take and read the next entries; whether there were any."""
        memory = self._memory
        with memory.database.write("agent", "extraction") as write:
            self._lease.renew(write)
            entries = extraction_queue.take(write, BATCH)
        turns = {turn.id: turn for turn in memory.turns.many([entry.turn for entry in entries])}
        empty, untouched, worth_it = list[QueueEntry](), list[QueueEntry](), set[int]()
        for entry in entries:
            if cancelled() or (ends is not None and time.monotonic() >= ends):
                untouched.append(entry)
                continue
            self._renew()
            turn = turns.get(entry.turn)
            try:
                planned = plan_actions(entry.task, turn, memory.database) if turn else []
                if turn and planned:
                    planned = [one for one in planned if not self._settled.after(turn, one.found.text)]
                if turn and self._for_model(turn):
                    worth_it.add(entry.id)
                if turn and planned:
                    self._keep(entry, turn, planned, entry.id in worth_it)
                else:
                    empty.append(entry)
            except LeaseLost:
                raise
            except Exception as error:  # one turn that cannot be read keeps no other from being read
                self._fail(entry, error)
        if empty or untouched:
            with memory.database.write("agent", "extraction") as write:
                self._lease.renew(write)
                for entry in extraction_queue.done(write, empty):
                    self._read += 1
                    if _asks(entry, turns.get(entry.turn)):
                        request_counts.count(write, kept=False)
                    if entry.id in worth_it:
                        extraction_queue.put_for_model(write, entry)
                extraction_queue.untouched(write, untouched)
        return bool(entries) and not untouched

    def _keep(self, entry: QueueEntry, turn: Turn, planned: list[LearningAction], for_model: bool) -> None:
        with self._memory.database.write(origin(turn), "extraction") as write:
            self._lease.renew(write)
            if not extraction_queue.done(write, [entry]) or not stands(write, turn):
                return
            learned = apply_actions(write, turn, planned, self._memory.inbox)
            if _asks(entry, turn):
                request_counts.count(write, kept=bool(learned.facts or learned.confirmed))
            if for_model:
                extraction_queue.put_for_model(write, entry)
        self._read += 1
        self._learned += learned

    def _for_model(self, turn: Turn) -> bool:
        """Whether a model is to read what rules have read: it was said lately, and may tell something. Looked at once
        for all entries of a turn."""
        if turn.at < self._since:
            return False
        if self._last[0] != turn.id:
            self._last = (turn.id, is_own(turn) and bool(worth(turn.role, turn.text)))
        return self._last[1]

    def result(self, busy: bool = False) -> RulePassResult:
        return RulePassResult(self._read, self._learned, self._failed, _left(self._memory), busy)


def _asks(entry: QueueEntry, turn: Turn | None) -> bool:
    """Whether an entry is the one by which a turn's request is counted: each is read for two tasks."""
    return entry.task == extraction_queue.TASKS[0] and turn is not None and is_own(turn) and request_counts.asks(turn)


def stands(write: Transaction, turn: Turn) -> bool:
    """Whether a turn still says what was read of it: it may have been purged since, or scrubbed."""
    return bool(write.execute("SELECT text FROM turns WHERE id = ?", (turn.id,)).get == turn.text)


def _left(memory: Memory) -> int:
    return extraction_queue.counts(memory.database)[0]
