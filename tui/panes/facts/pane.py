"""Facts, in the order that the lists are loaded in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.input.pane import Pane
from tui.panes.title_words import left_out

if TYPE_CHECKING:
    from tui.lists.view_state import View

SORT_WORDS = {"need": "by need", "oldest": "by age", "newest": "newest first"}


def words(view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]) -> list[tuple[str | None, str]]:
    gone = [f"{counts[word]:,} {word}" for word in ("forgotten", "superseded") if counts.get(word)]
    count = counts.get("forgotten", 0) + counts.get("superseded", 0)
    hidden = f"{count:,}" if short else ", ".join(gone)
    shown = "all" if short else "all shown"
    order = None if short > 1 and view.sort == "need" else SORT_WORDS.get(view.sort, f"by {view.sort}")
    return [
        (view.domain, "filter"),
        (view.origin, "origin"),
        (f"“{view.words}”" if view.words else None, "all_facts"),
        (order, "sort"),
        (left_out(view, count, shown if view.hidden else f"{hidden} hidden", short, key) if gone else None, "hidden"),
    ]


PANE = Pane(
    "facts",
    "1",
    help="To the facts",
    empty="No facts yet. Press {record.add} to add the first one: what should be remembered here?",
    filtered="No facts match. {list.filter} and {list.origin} choose the next filter; {screen.leave} shows all facts.",
    words=words,
    filters={"state": None, "words": "", "domain": None, "origin": None},
    kinds=("fact",),
)
