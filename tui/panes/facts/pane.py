"""Facts, in the order that the lists are loaded in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import left_out

if TYPE_CHECKING:
    from tui.lists.view_state import View

SORT_WORDS = {"oldest": "by age", "newest": "newest first"}


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    names = {"forgotten": "forgotten", "superseded": "replaced"}
    gone = [f"{counts[name]:,} {word}" for name, word in names.items() if counts.get(name)]
    count = counts.get("forgotten", 0) + counts.get("superseded", 0)
    hidden = f"{count:,}" if short else ", ".join(gone)
    shown = "all" if short else "all shown"
    order = None if view.sort == "need" else SORT_WORDS.get(view.sort, f"by {view.sort}")
    return [
        (order, "sort"),
        (left_out(view, count, shown if view.hidden else f"{hidden} hidden", short, key) if gone else None, "hidden"),
    ]


PANE = Pane(
    "facts",
    "1",
    help="To the facts",
    empty="No facts yet. Press {record.add} to add the first one: what should be remembered here?",
    filtered="No facts match. {screen.leave} shows all facts; {list.only} chooses another filter.",
    words=words,
    filters={"state": None, "words": "", "domain": None, "origin": None, "tag": None},
    facets="facets.read",
    kinds=("fact",),
)
