"""Rows of the checkpoints, newest first."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from store import pack_key
from tui.lists.record_rows import KeyedRows
from tui.lists.side_rows import checkpoint_lines

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def read(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now, newest = memory.now, engine.newest_step(memory)
    keys = array("q", (pack_key("checkpoint", number) for number in memory.checkpoints.ids(every=view.hidden)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: checkpoint_lines(record, width, now, newest))


def counts(memory: Memory) -> dict[str, int]:
    """Count the automatic checkpoints."""
    return {"alone": memory.checkpoints.taken_by_itself()}
