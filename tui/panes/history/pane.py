"""The steps of history: every change and its author."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import newest

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    return [(view.actor and f"only {view.actor}", "origin"), (newest(short, view.actor), "origin")]


PANE = Pane(
    "history",
    "4",
    help="To the changes: the history of every record",
    empty="Nothing was changed yet. Every change will be here, with who made it, and {step.undo} undoes it.",
    filtered="Nothing by this author. {list.origin} shows the next one, at last all of them.",
    label="Changes",
    rows="rows.read",
    words=words,
    filters={"actor": None},
    author="actor",
)
