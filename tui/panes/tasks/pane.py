"""Tasks: in progress, open, done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import left_out

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    done = counts.get("done", 0)
    text = f"{done:,} done {'shown' if view.hidden else 'hidden'}"
    return [(left_out(view, done, text, short, key) if done and not view.progress else None, "hidden")]


PANE = Pane(
    "tasks",
    "5",
    help="To the tasks",
    empty="No tasks to be done. Press {record.add} to add one; {task.move} starts and finishes it.",
    rows="rows.read",
    counts="rows.counts",
    words=words,
    filters={"progress": None},
    filtered="No such tasks. {screen.leave} shows all; {list.filter} chooses the next status.",
    facets="facets.read",
    kinds=("task",),
)
