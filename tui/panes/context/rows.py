"""Rows of the context that an agent would be sent for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.workers import queries

if TYPE_CHECKING:
    from store import Memory
    from tui.lists.context_rows import ContextRows
    from tui.lists.view_state import View
    from tui.workers.engine import Engine


def read(engine: Engine, memory: Memory, view: View) -> ContextRows:
    return queries.context(memory, view.question, view.session)
