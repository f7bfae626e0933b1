"""Format each kind of record as one line of plain text, for the lists of the command line.

Everything printed is escaped once more by `tui.theme.escape` before output; columns are separated by two spaces."""

from store.base.clock import ago, local_time
from store.base.models import GlobalFact
from store.base.record_keys import unpack
from store.text.prompt_injection import suspicious
from tui.render.badges import DOUBTED, EVIDENCE_BADGES, FACT_BADGES, KIND_GLYPHS, WARNING, fact_badge
from tui.render.field_diff import LISTS, listed
from tui.render.plurals import count
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from store.base.models import Checkpoint, Decision, Fact, Iteration, Proposal, Record, Step, Task
    from store.history.restore_plan import PlannedChange

WORD = max(len(word) for _, word in FACT_BADGES.values() if word != "contradicted")


def none_of(verb: str, empty: str, *filters: object) -> list[str]:
    """Return the line of an empty list: that nothing passes the `filters`, where any was given, else `empty`."""
    return [f"Nothing here passes that; memoranda {verb} lists all."] if any(filters) else [empty]


def fact_line(shown: "Fact | GlobalFact", now: str) -> str:
    """Format a fact; a global one is marked by its citation and a word."""
    fact, mark = (shown.own, "global: ") if isinstance(shown, GlobalFact) else (shown, "")
    glyph, word = FACT_BADGES[fact_badge(fact, now)]
    age = ago(now, fact.last_confirmed_at)
    start = f"{glyph} {word:<{WORD}}  {shown.citation:<6}  {fact.domain:<11}  {age:>6}"
    return f"{start}  {visible(fact.origin):<6}  {mark}{doubt(fact)}{warned(fact.fact)}"


def warned(text: str) -> str:
    """Return a text, with a mark where it looks like an instruction to agents."""
    return f"{WARNING} {visible(text)}" if suspicious(text) else visible(text)


def doubt(record: "Fact | Decision") -> str:
    """Return a mark for a record whose evidence moved, changed or is gone; empty for any other."""
    glyph, word = EVIDENCE_BADGES[record.evidence_state]
    return f"{glyph} {word}: " if record.evidence_state in DOUBTED and record.status == "active" else ""


def entry_line(kind: str, record: "Record") -> str:
    """Format an entry of the timeline or a search hit."""
    from tui.render.summary_line import moment, summary

    when = local_time(moment(record)).rjust(17)
    text, extra = summary(record)
    return f"{KIND_GLYPHS[kind]} {when}  {record.citation:<9}  {warned(text)}{f'  {extra}' if extra else ''}"


def keyed_line(key: int, record: "Record") -> str:
    return entry_line(unpack(key)[0], record)


def task_line(task: "Task", now: str) -> str:
    status = task.status.replace("_", " ")
    return f"{task.citation:<6}  {status:<11}  {ago(now, task.updated_at):>6}  {warned(task.text)}"


def proposal_line(found: "Proposal", now: str) -> str:
    from tui.render.details.proposal_detail import flagged

    glyph = WARNING if flagged(found) else KIND_GLYPHS["proposal"]
    start = f"{glyph} {found.citation:<6}  {found.kind:<9}  {ago(now, found.created_at):>6}"
    return f"{start}  {visible(found.origin):<10}  {cut(found.text, 100)}"


def iteration_line(iteration: "Iteration", decisions: int, commits: int) -> str:
    """Format an iteration with the counts of its records."""
    belongs = f"{count(decisions, 'decision')}, {count(commits, 'commit')}"
    return f"{entry_line('iteration', iteration)}  {belongs}"


def step_line(step: "Step", reason: str = "") -> str:
    state = f"  (undone by {step.undone_by})" if step.undone_by else ""
    start = f"{step.seq:>6}  {local_time(step.at):>17}  {visible(step.actor):<6}  {step.door:<6}"
    return f"{start}  {visible(reason or step.reason)}{state}"


def checkpoint_line(found: "Checkpoint") -> str:
    start = f"{found.citation:<6}  {local_time(found.created_at):>17}  step {found.seq:<6}"
    extra = f"  ({found.level}, {found.why}, {found.tokens:,} tokens)" if found.by_itself else ""
    return f"{start}  {cut(found.title, 80)}{extra}{'  recovered' if found.recovered_at else ''}"


def cut(text: str, width: int = 60) -> str:
    """Return a text on one line, control characters made visible, truncated to `width` cells."""
    shown = visible(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def before_and_after(old: "dict[str, Any]", new: "dict[str, Any]", names: "Iterable[str]") -> str:
    """Format changed columns as `pinned: 0 → 1, status: active → forgotten`, without columns derived from others."""
    from store.history.change_summary import FOLLOWS

    return ", ".join(
        f"{name}: {_value(name, old[name])} → {_value(name, new[name])}" for name in names if name not in FOLLOWS
    )


def _value(name: str, value: object) -> str:
    if name.endswith("_at") and isinstance(value, str):
        return local_time(value)
    if name in LISTS and value is not None:
        value = listed(value)
    return "none" if value is None or value == "" else cut(str(value))


def planned_line(change: "PlannedChange", chosen: bool) -> str:
    """Format a planned change: sign, citation, text, effect, author and time, and why it is excluded."""
    by = f"  ({visible(change.by.actor)}, {local_time(change.by.at)})" if change.by else ""
    why = "" if chosen else f"  left out{f': {reason}' if (reason := hindrance(change)) else ''}"
    return f"{change.sign} {change.citation:<6}  {cut(change.title)}  {visible(change.says)}{by}{visible(why)}"


def hindrance(change: "PlannedChange") -> str:
    """Return why a change is not proposed."""
    if change.blocked:
        return change.blocked
    return "it changed since" if change.clash else ""


def left_out(rest: int, limit: int) -> list[str]:
    """Return the last line of a list that is truncated."""
    return [f"… and more: --limit {limit * 4} shows them"] if rest > 0 else []
