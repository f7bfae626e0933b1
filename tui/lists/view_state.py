"""The lists' filters and order, the tabs, and the panes' titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tui.input.key_table import HITS, INBOX, NUMBERS, PANES, named
from tui.input.pane_table import BY_NAME
from tui.lists.filters.facets import Facet, active, chips
from tui.render.plurals import count as many
from tui.render.plurals import said_of
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store.services.as_of import PastState

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


def left_out(view: View, count: int, text: str, short: int, key: Callable[[str], str]) -> str:
    """Return how many rows are hidden or shown in addition, and the key that toggles it; only the number if there is
    little room."""
    if short > 1:
        text = "all" if view.hidden else f"{count:,} hidden"
    return f"{text}: {key('list.hidden')}"


SORT_WORDS = {"oldest": "by age", "newest": "newest first"}


def _facts(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
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


def _checkpoints(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    alone = counts.get("alone", 0)
    text = f"{alone:,} automatic {'shown' if view.hidden else 'hidden'}"
    return [(left_out(view, alone, text, short, key) if alone else None, "hidden")]


def _tasks(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    done = counts.get("done", 0)
    text = f"{done:,} done {'shown' if view.hidden else 'hidden'}"
    return [(left_out(view, done, text, short, key) if done and not view.progress else None, "hidden")]


def _inbox(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    unheard, unread = counts.get("unheard", 0), counts.get("unread", 0)
    of = "" if short else " of your chats"
    heard = f"{many(unheard, 'message')}{of} {said_of(unheard, 'wait to be learned from')}"
    if short:
        text = f"{many(unread, 'chat message')} {said_of(unread, 'need a model')}"
    else:
        text = f"{many(unread, 'message')}{of} {said_of(unread, 'wait to be read by a model')}"
    return [(heard if unheard else None, ""), (f"{text}: {key('model.open')} sets it up" if unread else None, "model")]


LONGEST = 30  # maximum cells of a question in a title that has no room for all of it


def _context(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    tokens = f"{counts['tokens']:,}{' tokens' if short > 2 else ' of 3,050 tokens'}" if "tokens" in counts else None
    text = view.question
    asks = f"ask {'another' if text else 'a question'}: {key('context.ask')}"
    if short and len(text) > LONGEST:
        text = f"{text[: LONGEST - 1]}…"
    question = f"“{text}”  {asks}" if text and short < 2 else asks
    return [(question, "ask_for('context.ask')"), (tokens, "")]


def _librarian(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    return [("every sentence cites its record" if not short else None, "")]


def _health(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    from store.base.clock import from_ms, local_time

    at = local_time(from_ms(counts["measured"])) if "measured" in counts else ""
    return [(f"as of {at.rpartition(' ')[2] if short else at}" if at else None, "")]


TITLES = {
    "facts": _facts,
    "checkpoints": _checkpoints,
    "tasks": _tasks,
    "inbox": _inbox,
    "context": _context,
    "librarian": _librarian,
    "health": _health,
}


def about(pane: str, view: View, counts: Mapping[str, int], short: int) -> list[Piece]:
    """Return what a pane says about its order and about rows that it hides; shorter for a higher `short`, up to 3. A
    click changes the setting."""
    pieces: list[Piece] = []
    for word, action in TITLES[pane](view, counts, short, named) if pane in TITLES else ():
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
