"""Format each kind of record as one line of plain text, for the lists of the command line.

Everything printed is escaped once more by `store.text.display` before output; columns are separated by two spaces."""

from __future__ import annotations

from store.base.clock import format_age, format_local_time
from store.base.models import Checkpoint, Decision, Fact, GlobalFact, Iteration, Proposal, Record, Step, Task
from store.base.vocabulary import unpack_key
from store.text.display import format_count, shorten, visible
from store.text.fence import is_suspicious
from tui.render.lines import (
    DOUBTFUL_STATES,
    EVIDENCE_BADGES,
    FACT_BADGES,
    KIND_GLYPHS,
    WARNING_SIGN,
    branch_mark,
    fact_badge,
    looks_like_order,
    record_time,
    summarize_record,
)

BADGE_CELLS = max(len(word) for _, word in FACT_BADGES.values() if word != "contradicted")


def empty_list_line(verb: str, empty: str, *filters: object) -> list[str]:
    """Return the line of an empty list: that nothing passes the filters, if any was given, else `empty`."""
    return [f"Nothing here passes that; memoranda {verb} lists all."] if any(filters) else [empty]


def fact_line(shown: Fact | GlobalFact, now: str) -> str:
    """Format a fact; a global one is marked by its citation and a word."""
    fact, mark = (shown.own, "global: ") if isinstance(shown, GlobalFact) else (shown, "")
    glyph, word = FACT_BADGES[fact_badge(fact, now)]
    age = format_age(now, fact.last_confirmed_at)
    start = f"{glyph} {word:<{BADGE_CELLS}}  {shown.citation:<6}  {fact.domain:<11}  {age:>6}"
    return f"{start}  {visible(fact.origin):<6}  {mark}{_note(fact)}{doubt_mark(fact)}{with_warning(fact.fact)}"


def with_warning(text: str) -> str:
    """Return a text, with a mark where it looks like an instruction to agents."""
    return f"{WARNING_SIGN} {visible(text)}" if is_suspicious(text) else visible(text)


def _note(record: Record) -> str:
    """Return the branch of a record where it is not the current one, as a mark before its text."""
    mark = branch_mark(record)
    return f"{mark}: " if mark else ""


def doubt_mark(record: Fact | Decision) -> str:
    """Return a mark for a record whose evidence moved, changed or is gone; empty for any other."""
    glyph, word = EVIDENCE_BADGES[record.evidence_state]
    return f"{glyph} {word}: " if record.evidence_state in DOUBTFUL_STATES and record.status == "active" else ""


def entry_line(kind: str, record: Record) -> str:
    """Format an entry of the timeline or a search hit."""
    when = format_local_time(record_time(record)).rjust(17)
    text, extra = summarize_record(record)
    start = f"{KIND_GLYPHS[kind]} {when}  {record.citation:<9}  {_note(record)}"
    return f"{start}{with_warning(text)}{f'  {extra}' if extra else ''}"


def keyed_line(key: int, record: Record) -> str:
    """Format an entry of the timeline by its key."""
    return entry_line(unpack_key(key)[0], record)


def task_line(task: Task, now: str) -> str:
    """Format a task."""
    start = f"{task.citation:<6}  {task.status.replace('_', ' '):<11}  {format_age(now, task.updated_at):>6}"
    return f"{start}  {_note(task)}{with_warning(task.text)}"


def proposal_line(found: Proposal, now: str) -> str:
    glyph = WARNING_SIGN if looks_like_order(found) else KIND_GLYPHS["proposal"]
    start = f"{glyph} {found.citation:<6}  {found.kind:<9}  {format_age(now, found.created_at):>6}"
    return f"{start}  {visible(found.origin):<10}  {shorten(found.text, 100)}"


def iteration_line(iteration: Iteration, decisions: int, commits: int) -> str:
    """Format an iteration with the counts of its records."""
    belongs = f"{format_count(decisions, 'decision')}, {format_count(commits, 'commit')}"
    return f"{entry_line('iteration', iteration)}  {belongs}"


def step_line(step: Step, reason: str = "") -> str:
    """Format a step of history."""
    state = f"  (undone by {step.undone_by})" if step.undone_by else ""
    start = f"{step.seq:>6}  {format_local_time(step.at):>17}  {visible(step.actor):<6}  {step.door:<6}"
    return f"{start}  {visible(reason or step.reason)}{state}"


def checkpoint_line(found: Checkpoint) -> str:
    """Format a checkpoint."""
    start = f"{found.citation:<6}  {format_local_time(found.created_at):>17}  step {found.seq:<6}"
    extra = f"  ({found.level}, {found.reason}, {found.tokens:,} tokens)" if found.is_automatic else ""
    return f"{start}  {shorten(found.title, 80)}{extra}{'  recovered' if found.recovered_at else ''}"


def more_line(rest: int, limit: int) -> list[str]:
    """Return the line at the end of a truncated list; nothing if the list is complete."""
    return [f"… and more: --limit {limit * 4} shows them"] if rest > 0 else []
