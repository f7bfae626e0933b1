"""Moments: resolve what a person names to a step of history and a time."""

import re
from dataclasses import dataclass

from store.base.citations import parse
from store.base.clock import local_time
from store.base.errors import InvalidInput, MemorandaError, NotFound
from store.memory import Memory
from store.search import lookup

STEP = re.compile(r"[0-9]{1,7}")  # longer numbers are dates: 20261001
# a kind of record → when it was created, since a record names a moment too
CAME = {
    "fact": "created_at",
    "decision": "decided_at",
    "commit": "committed_at",
    "event": "created_at",
    "iteration": "started_at",
    "task": "created_at",
    "turn": "at",
    "proposal": "created_at",
    "summary": "created_at",
}


@dataclass(frozen=True, slots=True)
class PointInTime:
    """A moment of a memory: everything up to step `seq` (0: before the first), `at` by its clock, named `words`."""

    seq: int
    at: str
    words: str


def moment(memory: Memory, text: str) -> PointInTime:
    """Return the moment that a person names: a time (`2026-10-01`, `2d`, `yesterday`: everything up to it), a
    checkpoint (`K#3`), a step of history (`41`: just after it), or the creation of any record (`D#12`). Raise
    InvalidInput, NotFound or Conflict."""
    words = text.strip()
    if STEP.fullmatch(words):
        if words.strip("0"):
            step = memory.history.step(int(words))
            return PointInTime(step.seq, step.at, f"step {step.seq} ({local_time(step.at)})")
        raise NotFound("History has no step 0.", "Look at `memoranda history`.")
    try:
        citation = parse(words)
    except MemorandaError:
        at = memory.typed_moment(words)
        if at > memory.now:
            raise InvalidInput("That time is in the future.", "Give a time in the past: 2d, or yesterday.") from None
        return PointInTime(_newest(memory, at), at, local_time(at))
    if citation.kind == "checkpoint":
        found = memory.checkpoints.get(int(citation.target))
        return PointInTime(
            found.seq, found.created_at, f"{found.citation} “{found.name}” ({local_time(found.created_at)})"
        )
    if citation.kind not in CAME:
        raise InvalidInput(f"{citation} is not a point in time.", "Write a time like 2d or 2026-11-01, a step, or K#3.")
    record = lookup.lookup(memory.database, citation)
    at = getattr(record, CAME[citation.kind])
    return PointInTime(_newest(memory, at), at, f"{citation} ({local_time(at)})")


def _newest(memory: Memory, at: str) -> int:
    """Return the newest step up to a moment, that moment included."""
    seq: int | None = memory.database.value("SELECT seq FROM history WHERE at <= ? ORDER BY seq DESC LIMIT 1", (at,))
    return seq or 0
