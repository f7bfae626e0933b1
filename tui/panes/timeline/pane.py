"""The timeline by day: decisions, commits, events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import newest

if TYPE_CHECKING:
    from tui.lists.view_state import View


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    return [(view.kind and f"only {view.kind}s", "filter"), (newest(short, view.kind), "filter")]


PANE = Pane(
    "timeline",
    "2",
    help="To the timeline",
    empty="Nothing happened here yet. Decisions, commits and events will be here, newest first. Press {record.add} to "
    "record a decision.",
    filtered="Nothing of this kind. {list.filter} shows the next kind, at last all of them.",
    words=words,
    filters={"kind": None},
    kinds=("decision",),
)
