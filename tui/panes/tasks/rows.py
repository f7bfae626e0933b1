"""Rows of the tasks."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from store import pack_key
from tui.lists.record_rows import KeyedRows
from tui.lists.side_rows import task_lines

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def read(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    keys = array("q", (pack_key("task", number) for number in memory.tasks.ids(statuses=view.task_statuses)))
    return KeyedRows(keys, engine.read_entries, lambda record, width: task_lines(record, width, now))


def counts(memory: Memory) -> dict[str, int]:
    """Count the tasks that are done."""
    return {"done": memory.database.value("SELECT count(*) FROM tasks WHERE status = 'done'")}
