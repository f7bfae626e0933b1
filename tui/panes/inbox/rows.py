"""Rows of the proposals, newest first; at the end those that were left for later in this sitting."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from store import extraction_queue, model_stats, pack_key
from tui.lists.record_rows import KeyedRows
from tui.lists.side_rows import proposal_lines

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def counts(memory: Memory) -> dict[str, int]:
    """Return how many turns wait for rules to read them, and how many for a model."""
    unheard, _ = extraction_queue.counts(memory.database)
    return {"unheard": unheard, "unread": model_stats(memory.database, memory.now).queued}


def read(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    waiting = memory.inbox.ids(origin=view.asker)
    put_off = [number for number in engine.put_off if number in set(waiting)]
    numbers = [*(number for number in waiting if number not in put_off), *put_off]
    keys = array("q", (pack_key("proposal", number) for number in numbers))
    against = {} if view.past else engine.conflicts.read(memory, numbers)
    return KeyedRows(
        keys,
        engine.read_entries,
        lambda record, width: proposal_lines(record, width, now, against.get(record.id, "")),
        [(len(numbers) - len(put_off), f"Later {len(put_off):,}", "left for the end")] if put_off else [],
    )
