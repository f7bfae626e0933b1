"""Checkpoints: named ones and automatic ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import left_out

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    alone = counts.get("alone", 0)
    text = f"{alone:,} automatic {'shown' if view.hidden else 'hidden'}"
    return [(left_out(view, alone, text, short, key) if alone else None, "hidden")]


PANE = Pane(
    "checkpoints",
    "3",
    help="To the checkpoints",
    empty="No checkpoints yet. Press {record.add} to add a checkpoint; {checkpoint.restore} then shows what going back "
    "to it would change.",
    rows="rows.read",
    counts="rows.counts",
    words=words,
)
