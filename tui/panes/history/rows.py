"""Rows of the history, newest step first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.lists.record_rows import KeyedRows
from tui.lists.side_rows import step_lines

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def read(engine: Engine, memory: Memory, view: View) -> KeyedRows:
    now = memory.now
    keys = memory.history.keys(actor=view.actor) if view.past else engine.step_order(memory, view.actor)
    return KeyedRows(
        keys,
        engine.read_steps,
        lambda step, width: step_lines(step, engine.subjects.get(step.seq, ""), width, now),
    )
