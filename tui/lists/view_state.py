"""The lists' filters and order, the visible panes, and the panes' titles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store import DOMAINS
from tui.input.key_table import FACTS, HITS, NUMBERS, PANES, TIMELINE, named
from tui.input.pane_table import BY_NAME
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store import PastState

SORT_ORDER = ("oldest", "state", "domain", "newest", "text")
DOMAIN_ORDER = (None, *DOMAINS)
KIND_ORDER = (None, "decision", "commit", "event", "iteration", "checkpoint")
WIDE, HUGE = 100, 180  # columns from which on two lists, or three, are shown beside the preview
# short names for narrow titles, which leave room for what is hidden
SHORT = {name: pane.short for name, pane in BY_NAME.items() if pane.short}
ALL_NAMED = sum(len(SHORT.get(pane, pane)) + 3 for pane in PANES) - 1  # cells of the tabs with short names
DIM, FAINT, STRONG = "$dim", "$faint", "bold $text-accent"


@dataclass(frozen=True)
class View:
    """The state of the lists: the facts' order and filters, the timeline's kind, the history's actor, the inbox's
    `asker`, whether replaced, forgotten, done or automatic records are shown too, the question and the session of the
    context (empty: the last ones), and the `past` if one is shown."""

    sort: str = "oldest"
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
    def shows_all(self) -> bool:
        """Return whether no filter is set, so that an empty list means that there are no facts."""
        return self.domain is None and self.origin is None and not self.words

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


def slots(form: str, current: str, second: str, third: str) -> tuple[str, ...]:
    """Return the visible lists, from the left: the current one, and the last ones beside it."""
    if form == "-narrow":
        return (current,)
    if form == "-wide":  # the preview of these needs more width
        return (FACTS, second) if BY_NAME[current].beside else (current,)
    return (FACTS, TIMELINE, third)


def tabs(seen: Sequence[str], current: str, size: str, room: int) -> list[Piece]:
    """Return all panes by number and name; with little room closer together, then with short names, and at last by
    number alone except for the visible ones, or for the current one."""
    whole = {pane: f"{NUMBERS[pane]} {pane}" for pane in PANES}
    short = {pane: f"{NUMBERS[pane]} {SHORT.get(pane, pane)}" for pane in PANES}
    bare = {pane: whole[pane] if pane in seen else NUMBERS[pane] for pane in PANES}
    least = {pane: short[pane] if pane == current else NUMBERS[pane] for pane in PANES}
    for names, gap in ((whole, 2), (whole, 1), (short, 1), (bare, 2), (least, 1)):
        if size:
            names = {**names, current: f"{names[current]} {size}"}
        if sum(len(name) + gap for name in names.values()) - gap <= room:
            break
    looks = {pane: STRONG if pane == current else "" if pane in seen else FAINT for pane in PANES}
    pieces: list[Piece] = []
    for pane, name in names.items():
        pieces += [(name, looks[pane], f"pane('{pane}')"), (" " * gap, "")]
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
    pane: str, view: View, counts: Mapping[str, int], size: str, marked: int, form: str, room: int
) -> tuple[list[Piece], list[Piece]]:
    """Return (left, right) of a pane's title, `room` cells wide. In a narrow layout the left part are the tabs."""
    marks: list[Piece] = [(f"  {marked:,} marked", "$text-accent", "unmark")] if marked else []
    for short in range(4):
        right = about(pane, view, counts, short)
        left: list[Piece] = [(pane.upper(), ""), (f" {size}", DIM)]
        if form == "-narrow":
            left = tabs((pane,), pane, size, max(ALL_NAMED + len(size) + 1, room - width(right) - width(marks) - 1))
        if width(left) + width(marks) + width(right) < room:
            return [*left, *marks], right
    if form == "-narrow":
        left = tabs((pane,), pane, size, 0)
    return [*left, *marks], right


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
