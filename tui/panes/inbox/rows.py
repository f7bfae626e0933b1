"""Rows of the proposals, newest first."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from store import model_stats, pack_key
from tui.lists.record_rows import KeyedRows
from tui.lists.side_rows import proposal_lines

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def counts(memory: Memory) -> dict[str, int]:
    """Return how many turns wait for a model to read them."""
    return {"unread": model_stats(memory.database, memory.now).queued}


def read(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    numbers = memory.inbox.ids(origin=view.asker)
    keys = array("q", (pack_key("proposal", number) for number in numbers))
    against = {} if view.past else engine.conflicts.read(memory, numbers)
    return KeyedRows(
        keys,
        engine.read_entries,
        lambda record, width: proposal_lines(record, width, now, against.get(record.id, "")),
    )
