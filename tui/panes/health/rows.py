"""Rows of the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.health_rows import HealthRows
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def read(engine: Engine, memory: Memory, view: View) -> HealthRows:
    return engine.measured(memory, view.past is not None)
