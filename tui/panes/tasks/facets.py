"""By what the tasks can be narrowed: how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store import TASK_WORDS
from tui.lists.filters.facets import Choice, Facet
from tui.render.badges import TASK_GLYPHS

if TYPE_CHECKING:
    from store import Memory


def read(memory: Memory) -> Sequence[Facet]:
    """Count the tasks of every status."""
    counts = dict(memory.database.rows("SELECT status, count(*) FROM tasks GROUP BY status"))
    choices = [
        Choice(status, TASK_WORDS[status].capitalize(), counts[status], TASK_GLYPHS[status], "$dim")
        for status in ("in_progress", "pending", "done")
        if counts.get(status)
    ]
    return [Facet("progress", "Status", tuple(choices), sum(counts.values()) - counts.get("done", 0))]
