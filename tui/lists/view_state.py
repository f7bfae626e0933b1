"""Which records are shown and how, which panes have room, and what the panes' titles say about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store import DOMAINS, from_ms, local_time
from tui.input.key_table import (
    CHECKPOINTS,
    CONTEXT,
    FACTS,
    HEALTH,
    HISTORY,
    HITS,
    INBOX,
    LIBRARIAN,
    NUMBERS,
    PANES,
    TASKS,
    TIMELINE,
    named,
)
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

if TYPE_CHECKING:
    from store import PastState

SORT_ORDER = ("oldest", "state", "domain", "newest", "text")
SORT_WORDS = {"oldest": "by age", "newest": "newest first"}
DOMAIN_ORDER = (None, *DOMAINS)
KIND_ORDER = (None, "decision", "commit", "event", "iteration", "checkpoint")
WIDE, HUGE = 100, 180  # columns from which two lists, and three, stand beside the preview
# names where there is little room: a narrow title still says what is left out
SHORT = {
    TIMELINE: "time", CHECKPOINTS: "check", HISTORY: "log", TASKS: "todo", CONTEXT: "ctx", LIBRARIAN: "ask",
    HEALTH: "fit",
}  # fmt: skip
ALL_NAMED = sum(len(SHORT.get(pane, pane)) + 3 for pane in PANES) - 1  # cells of the tabs, if each has its short name
DIM, FAINT, STRONG = "$dim", "$faint", "bold $text-accent"


@dataclass(frozen=True)
class View:
    """What the lists show: the facts' order and filters, the timeline's kind, the history's actor, the inbox's `asker`,
    whether what was superseded, forgotten or done, or taken by itself, is shown too, the question and the session that
    a context is of (empty: the last ones), and the `past` if it is looked at."""

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
        """Whether no filter is set, so that an empty list means that there are no facts."""
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
    """The class of a screen this wide."""
    return "-narrow" if columns < WIDE else "-wide" if columns < HUGE else "-huge"


def slots(form: str, current: str, second: str, third: str) -> tuple[str, ...]:
    """The lists that are seen, from the left: where the person is, and the last ones they were in beside it."""
    if form == "-narrow":
        return (current,)
    if form == "-wide":  # what is decided, answered or drawn needs room to be read
        return (current,) if current in (INBOX, LIBRARIAN, HEALTH) else (FACTS, second)
    return (FACTS, TIMELINE, third)


def tabs(seen: Sequence[str], current: str, size: str, room: int) -> list[Piece]:
    """All panes by number and name; where there is little room closer together, by a shorter name, and at last by
    number alone but for the ones that are seen, or for the current one."""
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
    """The order and the filters of a pane, and what they leave out; in fewer words the higher `short`, up to 3. A click
    changes what it names."""
    key = named("list.hidden")
    newest = None if short > 2 else "newest first"

    def left_out(count: int, told: str) -> str:
        """What is left out, or shown all the same; where there is little room by the key and the number alone."""
        if short > 2:
            told = "all" if view.hidden else f"+{count:,}"
        return f"{told}: {key}"

    if pane == FACTS:
        gone = [f"{counts[word]:,} {word}" for word in ("forgotten", "superseded") if counts.get(word)]
        count = counts.get("forgotten", 0) + counts.get("superseded", 0)
        words = f"{count:,}" if short else ", ".join(gone)
        shown = "all" if short else "all shown"
        filters = [
            (view.domain, "filter"),
            (view.origin, "origin"),
            (f"“{view.words}”" if view.words else None, "all_facts"),
            (None if short > 1 and view.sort == "oldest" else SORT_WORDS.get(view.sort, f"by {view.sort}"), "sort"),
            (left_out(count, shown if view.hidden else f"{words} hidden") if gone else None, "hidden"),
        ]
    elif pane == TIMELINE:
        filters = [
            (view.kind and f"only {view.kind}s", "filter"),
            (None if short and view.kind else newest, "filter"),
        ]
    elif pane == HISTORY:
        filters = [
            (view.actor and f"only {view.actor}", "origin"),
            (None if short and view.actor else newest, "origin"),
        ]
    elif pane == CONTEXT:
        taken = f"{counts['tokens']:,}{' tokens' if short > 1 else ' of 3,050 tokens'}" if "tokens" in counts else None
        words = visible(view.question)
        question = f"“{words if len(words) <= 30 else f'{words[:29]}…'}”" if words and not short else None
        filters = [(question, "ask_for('context.ask')"), (taken, "")]
    elif pane == LIBRARIAN:
        filters = [("every sentence cites its record" if not short else None, "")]
    elif pane == HEALTH:
        at = local_time(from_ms(counts["measured"])) if "measured" in counts else ""
        filters = [(f"as of {at.rpartition(' ')[2] if short else at}" if at else None, "")]
    elif pane == INBOX:
        filters = [
            (view.asker and f"only from {view.asker}", "origin"),
            (None if short and view.asker else newest, "origin"),
        ]
    elif pane == TASKS:
        done = counts.get("done", 0)
        hidden = left_out(done, f"{done:,} done {'shown' if view.hidden else 'hidden'}")
        filters = [(hidden if done else None, "hidden")]
    else:
        alone = counts.get("alone", 0)
        words = left_out(alone, f"{alone:,} automatic {'shown' if view.hidden else 'hidden'}")
        filters = [
            (None if (short and alone) or short > 2 else "newest first", ""),
            (words if alone else None, "hidden"),
        ]
    pieces: list[Piece] = []
    for word, action in filters:
        if word:
            pieces += [("  ", ""), (visible(word), DIM, action) if action else (visible(word), DIM)]
    return pieces[1:]


def title(
    pane: str, view: View, counts: Mapping[str, int], size: str, marked: int, form: str, room: int
) -> tuple[list[Piece], list[Piece]]:
    """(left, right) of a pane's title, `room` cells wide. Where it is narrow, its left part are the tabs."""
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


def empty(pane: str) -> str:
    """What stands in a list that has nothing: what will stand there, and the key that makes it."""
    add = named("record.add")
    return {
        FACTS: f"No facts yet. Press {add} to add the first one: what should be remembered here?",
        TIMELINE: "Nothing happened here yet. Decisions, commits and events will stand here, newest first. "
        f"Press {add} to record a decision.",
        CHECKPOINTS: f"No checkpoints yet. Press {add} to name this moment; {named('checkpoint.restore')} then shows "
        "what going back to it would change.",
        HISTORY: "Nothing was changed yet. Every change will stand here, with who made it, and "
        f"{named('step.undo')} takes it back.",
        TASKS: f"No tasks to be done. Press {add} to add one; {named('task.move')} starts and finishes it.",
        CONTEXT: "What an agent would be sent will stand here, with what it costs and why each fact is in or out. "
        f"Press {named('context.ask')} to ask a question.",
        HEALTH: "How the memory fares will stand here: how old its facts are, what conversations and contexts cost, "
        "how searches and the reading of turns went.",
        INBOX: "Nothing waits for you. What agents, imports and files would have remembered stands here, with its "
        f"evidence, until you accept it ({named('record.confirm')}) or reject it ({named('record.forget')}): nobody "
        f"believes it before. {named('inbox.duplicates')} looks for facts that say the same, or contradict each other.",
        LIBRARIAN: f"Ask what was decided, done or said, when, by whom and why, in English or Spanish: "
        f"{named('librarian.ask')}. Each sentence of an answer cites the record it rests on, and enter opens it. Where "
        "nothing is recorded it says so. For example:",
        HITS: "Nothing found. Try fewer words, or without kind: domain: is: tag: author: iteration: since: before:",
    }[pane]


def filtered(pane: str) -> str:
    """What stands in a list of which the filter leaves nothing; empty for one that has no filter."""
    kind, origin = named("list.filter"), named("list.origin")
    return {
        FACTS: f"No fact passes the filter. {kind} and {origin} choose the next one; :facts shows all of them.",
        TIMELINE: f"Nothing of this kind. {kind} shows the next kind, at last all of them.",
        INBOX: f"Nothing waits from this source. {origin} shows the next one, at last all of them.",
        HISTORY: f"Nothing by this origin. {origin} shows the next one, at last all of them.",
    }.get(pane, "")
