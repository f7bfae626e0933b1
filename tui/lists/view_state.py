"""The lists' filters and order, the tabs, and the panes' titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from store.base.clock import format_local_time, from_ms
from store.memory import Memory
from store.upkeep.as_of import PastState
from tui.input.key_table import (
    CHECKPOINTS,
    CONTEXT,
    FACTS,
    HISTORY,
    HITS,
    INBOX,
    PANE_KEYS,
    PANE_NAMES,
    PANES_BY_NAME,
    TASKS,
    TIMELINE,
    key_name,
)
from tui.lists.filters import Facet, active_filters, facet_chips
from tui.render.lines import StyledLine, agree_verb, format_count
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, pieces_width

SORT_ORDER = ("need", "oldest", "domain", "newest", "text")
WIDE_COLUMNS, HUGE_COLUMNS = 100, 160  # columns from which on the preview is beside the list, and wider still
PANE_LABELS = {pane: PANES_BY_NAME[pane].label or pane.capitalize() for pane in PANE_NAMES}
TAB_DIM, TAB_STRONG = "$dim", "bold $text-accent"


class View(NamedTuple):
    """The state of the lists: the facts' order and filters (`state` is a key of `FACT_NEEDS` or GONE), the
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


def has_other_filters(pane: str, before: View, now: View) -> bool:
    """Tell whether a list has other filters in a view than in the view before."""
    return any(getattr(before, name) != getattr(now, name) for name in PANES_BY_NAME[pane].filters)


def layout_class(columns: int) -> str:
    """Return the layout's class for a screen of this width."""
    return "-narrow" if columns < WIDE_COLUMNS else "-wide" if columns < HUGE_COLUMNS else "-huge"


def tab_pieces(current: str, waiting: int, room: int) -> list[Piece]:
    """Return all panes by number and name, the inbox with what waits in it; with little room closer together, without
    that count, and at last by number alone except for the current one. Names are never shortened. The menu of further
    screens stands after them, if there is room."""
    counts = {INBOX: f" {waiting:,}"} if waiting else {}
    whole = {pane: f"{PANE_KEYS[pane]} {PANE_LABELS[pane]}{counts.get(pane, '')}" for pane in PANE_NAMES}
    glued = {pane: name.replace(" ", "", 1) for pane, name in whole.items()}
    bare = {pane: f"{PANE_KEYS[pane]}{PANE_LABELS[pane]}" for pane in PANE_NAMES}
    least = {pane: glued[pane] if pane in (current, *counts) else PANE_KEYS[pane] for pane in PANE_NAMES}
    key = key_name("more.open")
    for names, gap, last in (
        *((whole, gap, f"{key} More") for gap in (3, 2, 1)),
        *((names, 1, last) for names in (glued, bare, least) for last in (f"{key}More", "")),
    ):
        if sum(map(len, (*names.values(), last))) + gap * (len(names) - (not last)) <= room:
            break
    pieces: list[Piece] = []
    for pane, name in names.items():
        look = TAB_STRONG if pane == current else "bold $text-warning" if pane in counts else ""
        pieces += [(name, look, f"pane('{pane}')"), (" " * gap, "")]
    return [*pieces, (last, TAB_DIM, "more")] if last else pieces[:-1]


def hidden_words(view: View, count: int, text: str, short: int, key: Callable[[str], str]) -> str:
    """Return how many rows are hidden or shown in addition, and the key that toggles it; only the number if there is
    little room."""
    if short > 1:
        text = "all" if view.hidden else f"{count:,} hidden"
    return f"{text}: {key('list.hidden')}"


SORT_WORDS = {"oldest": "by age", "newest": "newest first"}


def _facts_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the facts says: their order, and what is hidden."""
    names = {"forgotten": "forgotten", "superseded": "replaced"}
    gone = [f"{counts[name]:,} {word}" for name, word in names.items() if counts.get(name)]
    count = counts.get("forgotten", 0) + counts.get("superseded", 0)
    hidden = f"{count:,}" if short else ", ".join(gone)
    shown = "all" if short else "all shown"
    order = None if view.sort == "need" else SORT_WORDS.get(view.sort, f"by {view.sort}")
    return [
        (order, "sort"),
        (
            hidden_words(view, count, shown if view.hidden else f"{hidden} hidden", short, key) if gone else None,
            "hidden",
        ),
    ]


def _checkpoints_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the checkpoints says: the automatic checkpoints that are hidden or shown."""
    alone = counts.get("alone", 0)
    text = f"{alone:,} automatic {'shown' if view.hidden else 'hidden'}"
    return [(hidden_words(view, alone, text, short, key) if alone else None, "hidden")]


def _tasks_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the tasks says: the finished tasks that are hidden or shown."""
    done = counts.get("done", 0)
    text = f"{done:,} done {'shown' if view.hidden else 'hidden'}"
    return [(hidden_words(view, done, text, short, key) if done and not view.progress else None, "hidden")]


def _inbox_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the inbox says: the messages that wait to be learned from."""
    unheard, unread = counts.get("unheard", 0), counts.get("unread", 0)
    of = "" if short else " of your chats"
    heard = f"{format_count(unheard, 'message')}{of} {agree_verb(unheard, 'wait to be learned from')}"
    if short:
        text = f"{format_count(unread, 'chat message')} {agree_verb(unread, 'need a model')}"
    else:
        text = f"{format_count(unread, 'message')}{of} {agree_verb(unread, 'wait to be read by a model')}"
    return [
        (heard if unheard else None, ""),
        (f"{text}: {key('model.open')} sets it up" if unread else None, "model"),
    ]


QUESTION_CELLS = 30  # maximum cells of a question in a title that has no room for all of it


def _context_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the context says: the question, and the tokens."""
    tokens = f"{counts['tokens']:,}{' tokens' if short > 2 else ' of 3,050 tokens'}" if "tokens" in counts else None
    text = view.question
    asks = f"ask {'another' if text else 'a question'}: {key('context.ask')}"
    if short and len(text) > QUESTION_CELLS:
        text = f"{text[: QUESTION_CELLS - 1]}…"
    question = f"“{text}”  {asks}" if text and short < 2 else asks
    return [(question, "ask_for('context.ask')"), (tokens, "")]


def _librarian_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    """Return what the title of the librarian's pane says."""
    return [("every sentence cites its record" if not short else None, "")]


def _health_title(
    view: View, counts: Mapping[str, int], short: int, key: Callable[[str], str]
) -> list[tuple[str | None, str]]:
    at = format_local_time(from_ms(counts["measured"])) if "measured" in counts else ""
    return [(f"as of {at.rpartition(' ')[2] if short else at}" if at else None, "")]


PANE_TITLES = {
    "facts": _facts_title,
    "checkpoints": _checkpoints_title,
    "tasks": _tasks_title,
    "inbox": _inbox_title,
    "context": _context_title,
    "librarian": _librarian_title,
    "health": _health_title,
}


def order_and_hidden_pieces(pane: str, view: View, counts: Mapping[str, int], short: int) -> list[Piece]:
    """Return what a pane says about its order and about rows that it hides; shorter for a higher `short`, up to 3. A
    click changes the setting."""
    pieces: list[Piece] = []
    for word, action in PANE_TITLES[pane](view, counts, short, key_name) if pane in PANE_TITLES else ():
        if word:
            pieces += [("  ", ""), (visible(word), TAB_DIM, action) if action else (visible(word), TAB_DIM)]
    return pieces[1:]


def title_pieces(
    pane: str, view: View, counts: Mapping[str, int], facet: Facet | None, size: int | None, marked: int, room: int
) -> tuple[list[Piece], list[Piece]]:
    """Return (left, right) of the line above a list, `room` cells wide: the chips, or the pane's name if it cannot be
    narrowed; at the right what is hidden, and how to choose another filter or leave them all."""
    narrowed = active_filters(view, PANES_BY_NAME[pane].filters)
    left: list[Piece] = [(f" {marked:,} marked ", "$text-accent", "unmark")] if marked else []
    for short, filters in ((0, " filter"), (0, ""), (1, ""), (2, ""), (3, "")):
        right = order_and_hidden_pieces(pane, view, counts, short) if not (narrowed and short) else []
        if narrowed and facet is not None:
            whole = f" of {facet.total:,}" if facet.total is not None and short < 2 else ""
            right += [
                ("  ", ""),
                (f"{size or 0:,}{whole}", TAB_DIM),
                (f" · {key_name('screen.leave')} all ", TAB_DIM, "show_all"),
            ]
        elif facet is not None and facet.choices and short < 3:
            right += [("  ", ""), (f"{key_name('list.filter')} next{filters}", TAB_DIM, "filter")]
            right += [(", ", TAB_DIM), (f"{key_name('list.only')} pick ", TAB_DIM, "choose_filter")]
        if right and not right[-1][0].endswith(" "):
            right.append((" ", ""))  # terminals and pictures may cut the last cell
        if facet is None:
            shown: list[Piece] = [
                (f" {PANE_LABELS[pane]}", "bold"),
                (f" {size:,}" if size is not None else "", TAB_DIM),
            ]
        else:
            shown = facet_chips(facet, narrowed, room - pieces_width(left) - pieces_width(right) - 1)
        folded = bool(shown) and shown[-1][0].startswith("+")
        if pieces_width(left) + pieces_width(shown) + pieces_width(right) < room and not (folded and short < 2):
            break  # what is hidden, and how to narrow, is said before the last chips
    return [*left, *shown], right


NO_HITS = "Nothing found. Try fewer words, or without kind: domain: is: tag: author: iteration: since: before:"


def empty_pane_text(pane: str) -> str:
    """Return the text of an empty list: what it is for, and the key that adds to it."""
    return NO_HITS if pane == HITS else fill_in_keys(PANES_BY_NAME[pane].empty)


def empty_list_text(pane: str, view: View) -> str:
    """Return the text of a list without rows in this view: that a filter hides all, or that there are none."""
    declared = PANES_BY_NAME[pane]
    return fill_in_keys(declared.filtered if declared.is_narrowed(view) else declared.empty)


def fill_in_keys(text: str) -> str:
    """Replace each `{id}` in a text by that key."""
    return re.sub(r"\{([\w.-]+)\}", lambda found: key_name(found[1]), text)


# What an empty list is waiting for: what is missing in this memory, and what brings it.

MissingCounts = Mapping[str, int]

MISSING_COUNTS = {
    "facts": "SELECT count(*) FROM (SELECT 1 FROM facts WHERE status = 'active' LIMIT 2)",
    "gone": "SELECT count(*) FROM facts WHERE status != 'active'",
    "waiting": "SELECT count(*) FROM proposals WHERE state = 'waiting'",
    "commits": "SELECT count(*) FROM commits",
    "steps": "SELECT count(*) FROM (SELECT 1 FROM history LIMIT 1)",
    "done": "SELECT count(*) FROM tasks WHERE status = 'done'",
    "agents": "SELECT count(*) FROM (SELECT 1 FROM agent_sessions LIMIT 1)",
    "turns": "SELECT count(*) FROM (SELECT 1 FROM turns LIMIT 1)",
}
COMMITS_READ = (
    "Commits read from git: {commits}. {pane.timeline} shows them, {librarian.ask} answers questions about them."
)
CONNECT_AGENT = "No agent is connected yet: :connect NAME lets one remember here. :connect lists them."
# pane → (whether it is so, the sentence), of which those that are so are shown
MISSING_SENTENCES: Mapping[str, Sequence[tuple[Callable[[MissingCounts], int | bool], str]]] = {
    FACTS: (
        (lambda n: n["waiting"], "{waiting} proposed and waiting for you: {pane.inbox} goes to the inbox."),
        (lambda n: n["gone"], "{gone} replaced or forgotten: {list.hidden} shows them."),
        (lambda n: not n["agents"], CONNECT_AGENT),
        (
            lambda n: not n["turns"],
            "No conversation was read yet: :import FILE.jsonl reads one, and proposes what it says.",
        ),
        (lambda n: True, "Another tool's memory can be brought in: :import NAME; :import lists what is found."),
    ),
    TIMELINE: (
        (
            lambda n: not n["commits"],
            "There are no commits: in a git repository they stand here by day, on their own.",
        ),
        (lambda n: True, "A decision (Decision: D#1 in a commit's message) is linked with its commits."),
    ),
    CHECKPOINTS: (
        (lambda n: not n["steps"], "Nothing was changed yet, so there is nothing to go back to."),
        (lambda n: n["steps"], "One is taken by itself before a change of many records, and as time goes on."),
    ),
    HISTORY: ((lambda n: True, "Remember a fact ({pane.facts}, then {record.add}), and the change is here."),),
    TASKS: (
        (lambda n: n["done"], "{done} done: {list.hidden} shows them."),
        (lambda n: not n["agents"], CONNECT_AGENT),
    ),
    INBOX: (
        (lambda n: not n["agents"], CONNECT_AGENT),
        (
            lambda n: not n["turns"],
            "No conversation was read yet: :import FILE.jsonl reads one, and proposes what it says.",
        ),
        (lambda n: n["facts"] < 2, "With two facts or more, {inbox.duplicates} looks for those that say the same."),
    ),
    CONTEXT: (
        (
            lambda n: not n["facts"],
            "There are no facts, so nothing would be sent: {pane.facts}, then {record.add}.",
        ),
        (lambda n: not n["agents"], CONNECT_AGENT),
    ),
}


def missing_lines(memory: Memory, pane: str) -> list[StyledLine]:
    """Return what an empty list teaches; nothing for a list that says it all itself. Takes a few counts."""
    counts = (
        {name: memory.database.value(query) for name, query in MISSING_COUNTS.items()}
        if pane in MISSING_SENTENCES
        else {}
    )
    read: list[StyledLine] = []
    if pane == FACTS and counts["commits"]:
        read = [[(fill_in_keys(COMMITS_READ.replace("{commits}", f"{counts['commits']:,}")), "")], []]
    lines: list[StyledLine] = []
    for holds, sentence in MISSING_SENTENCES.get(pane, ()):
        if holds(counts):
            for name in ("waiting", "gone", "done"):
                number = counts[name]
                sentence = sentence.replace(f"{{{name}}}", f"{number:,} {'is' if number == 1 else 'are'}")
            lines += [[("· ", "label"), (fill_in_keys(sentence), "")], []]
    return [*read, [("What is missing", "heading")], [], *lines] if lines else []
