"""The lists' filters and order, the tabs, and the panes' titles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store import DOMAINS
from tui.input.key_table import HITS, INBOX, NUMBERS, PANES, named
from tui.input.pane_table import BY_NAME
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store import PastState

SORT_ORDER = ("need", "oldest", "domain", "newest", "text")
DOMAIN_ORDER = (None, *DOMAINS)
KIND_ORDER = (None, "decision", "commit", "event", "iteration", "checkpoint")
WIDE, HUGE = 100, 180  # columns from which on the preview is beside the list, and wider still
LABELS = {pane: BY_NAME[pane].label or pane.capitalize() for pane in PANES}
DIM, STRONG = "$dim", "bold $text-accent"


@dataclass(frozen=True)
class View:
    """The state of the lists: the facts' order and filters (`state` is a key of `fact_groups.NEEDS`), the timeline's
    kind, the history's actor, the inbox's `asker`, whether replaced, forgotten, done or automatic records are shown
    too, the question and the session of the context (empty: the last ones), and the `past` if one is shown."""

    sort: str = "need"
    state: str | None = None
    domain: str | None = None
    origin: str | None = None
    words: str = ""
    hidden: bool = False
    kind: str | None = None
    actor: str | None = None
    question: str = ""
    session: str = ""
    asker: str | None = None
    past: PastState | None = None

    @property
    def statuses(self) -> tuple[str, ...]:
        return ("active", "superseded", "contradicted", "forgotten") if self.hidden else ("active",)

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,) if self.kind else ()

    @property
    def task_statuses(self) -> tuple[str, ...]:
        return ("in_progress", "pending", "done") if self.hidden else ("in_progress", "pending")


def layout(columns: int) -> str:
    """Return the layout's class for a screen of this width."""
    return "-narrow" if columns < WIDE else "-wide" if columns < HUGE else "-huge"


def tabs(current: str, waiting: int, room: int) -> list[Piece]:
    """Return all panes by number and name, the inbox with what waits in it; with little room closer together, without
    that count, and at last by number alone except for the current one. Names are never shortened."""
    counts = {INBOX: f" {waiting:,}"} if waiting else {}
    whole = {pane: f"{NUMBERS[pane]} {LABELS[pane]}{counts.get(pane, '')}" for pane in PANES}
    glued = {pane: name.replace(" ", "", 1) for pane, name in whole.items()}
    bare = {pane: f"{NUMBERS[pane]}{LABELS[pane]}" for pane in PANES}
    least = {pane: glued[pane] if pane in (current, *counts) else NUMBERS[pane] for pane in PANES}
    for names, gap in ((whole, 3), (whole, 2), (whole, 1), (glued, 1), (bare, 1), (least, 1)):
        if sum(map(len, names.values())) + gap * (len(names) - 1) <= room:
            break
    pieces: list[Piece] = []
    for pane, name in names.items():
        look = STRONG if pane == current else "bold $text-warning" if pane in counts else ""
        pieces += [(name, look, f"pane('{pane}')"), (" " * gap, "")]
    return pieces[:-1]


def about(pane: str, view: View, counts: Mapping[str, int], short: int) -> list[Piece]:
    """Return the order and the filters of a pane, and how many rows they hide; shorter for a higher `short`, up to 3. A
    click changes the setting."""
    pieces: list[Piece] = []
    for word, action in BY_NAME[pane].words(view, counts, short, named):
        if word:
            pieces += [("  ", ""), (visible(word), DIM, action) if action else (visible(word), DIM)]
    return pieces[1:]


def title(
    pane: str, view: View, counts: Mapping[str, int], size: str, marked: int, room: int
) -> tuple[list[Piece], list[Piece]]:
    """Return (left, right) of a pane's title, `room` cells wide."""
    left: list[Piece] = [(LABELS[pane].upper(), ""), (f" {size}", DIM)]
    if marked:
        left.append((f"  {marked:,} marked", "$text-accent", "unmark"))
    for short in range(4):
        right = about(pane, view, counts, short)
        if width(left) + width(right) < room:
            break
    return left, right


NO_HITS = "Nothing found. Try fewer words, or without kind: domain: is: tag: author: iteration: since: before:"


def empty(pane: str) -> str:
    """Return the text of an empty list: what it is for, and the key that adds to it."""
    return NO_HITS if pane == HITS else with_keys(BY_NAME[pane].empty)


def empty_list(pane: str, view: View) -> str:
    """Return the text of a list without rows in this view: that a filter hides all, or that there are none."""
    declared = BY_NAME[pane]
    return with_keys(declared.filtered if declared.is_narrowed(view) else declared.empty)


def with_keys(text: str) -> str:
    """Replace each `{id}` in a text by that key."""
    return re.sub(r"\{([\w.-]+)\}", lambda found: named(found[1]), text)
