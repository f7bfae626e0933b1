"""Health: figures on the state of the memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    from store import from_ms, local_time

    at = local_time(from_ms(counts["measured"])) if "measured" in counts else ""
    return [(f"as of {at.rpartition(' ')[2] if short else at}" if at else None, "")]


PANE = Pane(
    "health",
    "9",
    help="To the health: the state of the memory, in figures",
    empty="The state of the memory will be here: how old its facts are, what conversations and contexts cost, how "
    "searches and the reading of turns went.",
    rows="rows.read",
    words=words,
    records=False,
    controller="controller.HealthController",
)
