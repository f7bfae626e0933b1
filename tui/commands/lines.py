"""One line of plain text for each record: what the command line's lists are made of.

Everything printed passes `tui.visible` once more at the door; columns are separated by two spaces.
"""

from store.clock import ago, local_time
from store.keys import unpack
from tui.badges import FACT_BADGES, KIND_GLYPHS, fact_badge
from tui.commands import count
from tui.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Checkpoint, Fact, Iteration, Record, Step, Task

WORD = max(len(word) for _, word in FACT_BADGES.values() if word != "contradicted")


def fact_line(fact: "Fact", now: str) -> str:
    glyph, word = FACT_BADGES[fact_badge(fact, now)]
    age = ago(now, fact.last_confirmed_at)
    start = f"{glyph} {word:<{WORD}}  {fact.citation:<6}  {fact.domain:<11}  {age:>6}"
    return f"{start}  {visible(fact.origin):<6}  {visible(fact.fact)}"


def entry_line(kind: str, record: "Record") -> str:
    """A line of the timeline or of search."""
    from tui.describe import moment, summary

    when = local_time(moment(record)).rjust(17)
    text, extra = summary(record)
    return f"{KIND_GLYPHS[kind]} {when}  {record.citation:<9}  {visible(text)}{f'  {extra}' if extra else ''}"


def keyed_line(key: int, record: "Record") -> str:
    return entry_line(unpack(key)[0], record)


def task_line(task: "Task", now: str) -> str:
    status = task.status.replace("_", " ")
    return f"{task.citation:<6}  {status:<11}  {ago(now, task.updated_at):>6}  {visible(task.text)}"


def iteration_line(iteration: "Iteration", decisions: int, commits: int) -> str:
    """An iteration, and how much belongs to it."""
    belongs = f"{count(decisions, 'decision')}, {count(commits, 'commit')}"
    return f"{entry_line('iteration', iteration)}  {belongs}"


def step_line(step: "Step") -> str:
    state = f"  (taken back by {step.undone_by})" if step.undone_by else ""
    start = f"{step.seq:>6}  {local_time(step.at):>17}  {visible(step.actor):<6}  {step.door:<6}"
    return f"{start}  {visible(step.reason)}{state}"


def checkpoint_line(found: "Checkpoint") -> str:
    return f"{found.citation:<6}  {local_time(found.created_at):>17}  step {found.seq:<6}  {visible(found.name)}"


def left_out(rest: int, limit: int) -> list[str]:
    """What a list says at its end when it did not show everything."""
    return [f"… and more: --limit {limit * 4} shows them"] if rest > 0 else []
