"""The lists' filters and order, the tabs, and the panes' titles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tui.input.key_table import HITS, INBOX, NUMBERS, PANES, named
from tui.input.pane_table import BY_NAME
from tui.lists.filters.facets import Facet, active, chips
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store import PastState

SORT_ORDER = ("need", "oldest", "domain", "newest", "text")
WIDE, HUGE = 100, 160  # columns from which on the preview is beside the list, and wider still
LABELS = {pane: BY_NAME[pane].label or pane.capitalize() for pane in PANES}
DIM, STRONG = "$dim", "bold $text-accent"


class View(NamedTuple):
    """The state of the lists: the facts' order and filters (`state` is a key of `fact_groups.NEEDS` or GONE), the
    timeline's kind, the history's actor, the inbox's `asker`, the tasks' `progress` (a status), whether replaced,
    forgotten, done or automatic records are shown too, the question and the session of the context (empty: the last
    ones), and the `past` if one is shown."""

    sort: str = "need"
    state: str | None = None
    domain: str | None = None
    origin: str | None = None
    tag: str | None = None
    words: str = ""
    hidden: bool = False
    kind: str | None = None
    actor: str | None = None
    question: str = ""
    session: str = ""
    asker: str | None = None
    progress: str | None = None
    past: PastState | None = None

    @property
    def statuses(self) -> tuple[str, ...]:
        return ("active", "superseded", "contradicted", "forgotten") if self.hidden else ("active",)

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,) if self.kind else ()

    @property
    def task_statuses(self) -> tuple[str, ...]:
        if self.progress:
            return (self.progress,)
        return ("in_progress", "pending", "done") if self.hidden else ("in_progress", "pending")


def narrows(pane: str, before: View, now: View) -> bool:
    """Return whether a list has other filters in one view than in the view before."""
    return any(getattr(before, name) != getattr(now, name) for name in BY_NAME[pane].filters)


def layout(columns: int) -> str:
    """Return the layout's class for a screen of this width."""
    return "-narrow" if columns < WIDE else "-wide" if columns < HUGE else "-huge"


def tabs(current: str, waiting: int, room: int) -> list[Piece]:
    """Return all panes by number and name, the inbox with what waits in it; with little room closer together, without
    that count, and at last by number alone except for the current one. Names are never shortened. The menu of further
    screens stands after them, if there is room."""
    counts = {INBOX: f" {waiting:,}"} if waiting else {}
    whole = {pane: f"{NUMBERS[pane]} {LABELS[pane]}{counts.get(pane, '')}" for pane in PANES}
    glued = {pane: name.replace(" ", "", 1) for pane, name in whole.items()}
    bare = {pane: f"{NUMBERS[pane]}{LABELS[pane]}" for pane in PANES}
    least = {pane: glued[pane] if pane in (current, *counts) else NUMBERS[pane] for pane in PANES}
    key = named("more.open")
    for names, gap, last in (
        *((whole, gap, f"{key} More") for gap in (3, 2, 1)),
        *((names, 1, last) for names in (glued, bare, least) for last in (f"{key}More", "")),
    ):
        if sum(map(len, (*names.values(), last))) + gap * (len(names) - (not last)) <= room:
            break
    pieces: list[Piece] = []
    for pane, name in names.items():
        look = STRONG if pane == current else "bold $text-warning" if pane in counts else ""
        pieces += [(name, look, f"pane('{pane}')"), (" " * gap, "")]
    return [*pieces, (last, DIM, "more")] if last else pieces[:-1]


def about(pane: str, view: View, counts: Mapping[str, int], short: int) -> list[Piece]:
    """Return what a pane says about its order and about rows that it hides; shorter for a higher `short`, up to 3. A
    click changes the setting."""
    pieces: list[Piece] = []
    for word, action in BY_NAME[pane].words(view, counts, short, named):
        if word:
            pieces += [("  ", ""), (visible(word), DIM, action) if action else (visible(word), DIM)]
    return pieces[1:]


def title(
    pane: str, view: View, counts: Mapping[str, int], facet: Facet | None, size: int | None, marked: int, room: int
) -> tuple[list[Piece], list[Piece]]:
    """Return (left, right) of the line above a list, `room` cells wide: the chips, or the pane's name if it cannot be
    narrowed; at the right what is hidden, and how to choose another filter or leave them all."""
    narrowed = active(view, BY_NAME[pane].filters)
    left: list[Piece] = [(f" {marked:,} marked ", "$text-accent", "unmark")] if marked else []
    for short, filters in ((0, " filter"), (0, ""), (1, ""), (2, ""), (3, "")):
        right = about(pane, view, counts, short) if not (narrowed and short) else []
        if narrowed and facet is not None:
            whole = f" of {facet.total:,}" if facet.total is not None and short < 2 else ""
            right += [("  ", ""), (f"{size or 0:,}{whole}", DIM), (f" · {named('screen.leave')} all ", DIM, "show_all")]
        elif facet is not None and facet.choices and short < 3:
            right += [("  ", ""), (f"{named('list.filter')} next{filters}", DIM, "filter")]
            right += [(", ", DIM), (f"{named('list.only')} pick ", DIM, "choose_filter")]
        if right and not right[-1][0].endswith(" "):
            right.append((" ", ""))  # terminals and pictures may cut the last cell
        if facet is None:
            shown: list[Piece] = [(f" {LABELS[pane]}", "bold"), (f" {size:,}" if size is not None else "", DIM)]
        else:
            shown = chips(facet, narrowed, room - width(left) - width(right) - 1)
        folded = bool(shown) and shown[-1][0].startswith("+")
        if width(left) + width(shown) + width(right) < room and not (folded and short < 2):
            break  # what is hidden, and how to narrow, is said before the last chips
    return [*left, *shown], right


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
