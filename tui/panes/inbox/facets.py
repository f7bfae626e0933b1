"""By what the inbox can be narrowed: who proposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.lists.filters.facets import Facet, written_by

if TYPE_CHECKING:
    from store import Memory


def read(memory: Memory) -> Sequence[Facet]:
    """Count the waiting proposals of everybody."""
    return [written_by("asker", memory.inbox.origins())]
