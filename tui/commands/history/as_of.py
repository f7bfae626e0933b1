"""as-of, diff: the records at an earlier moment, and what has changed since."""

from store.base.errors import InvalidInput
from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.history.restore_plan import PlannedChange
    from store.memory import Memory
    from tui.input.argument_parser import ParsedArguments

KINDS = ("facts", "decisions", "tasks")


def as_of(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from store.services.as_of import PastMemory, read
    from store.services.point_in_time import moment

    kinds = tuple(kind for kind in KINDS if kind in given.what) if given.what else KINDS
    if unknown := [word for word in given.what if word not in KINDS]:
        raise InvalidInput(f"There is nothing called “{unknown[0][:40]}” to look at.", f"Choose: {', '.join(KINDS)}.")
    memory = session.memory
    when = moment(memory, given.time)
    past = read(memory, when)
    with PastMemory(session.location, memory.database.door, past) as then:
        found = {kind: _stood(then, kind, given.all) for kind in kinds}
        lines = [f"As of {when.words}"]
        for kind, records in found.items():
            lines += ["", f"{kind.upper()} {len(records):,}", *_lines(then, kind, records, given.limit)]
    return Outcome(
        data=lambda: {
            "at": when.at,
            "seq": when.seq,
            **{kind: [as_json(record) for record in records[: given.limit]] for kind, records in found.items()},
        },
        lines=lines,
    )


def _stood(then: "Memory", kind: str, every: bool) -> "list[Any]":
    """List the records of a kind at that moment, in the usual order of their list."""
    if kind == "facts":
        statuses = ("active", "superseded", "contradicted", "forgotten") if every else ("active",)
        return then.facts.many(then.facts.ids(then.now, statuses=statuses))
    if kind == "decisions":
        of_decisions = ("active", "superseded", "forgotten") if every else ("active",)
        return then.decisions.many(then.decisions.ids(statuses=of_decisions))
    of_tasks = ("in_progress", "pending", "done") if every else ("in_progress", "pending")
    return then.tasks.many(then.tasks.ids(statuses=of_tasks))


def _lines(then: "Memory", kind: str, records: "list[Any]", limit: int) -> list[str]:
    from tui.commands.record_lines import entry_line, fact_line, left_out, task_line

    now = then.now
    if kind == "facts":
        lines = [fact_line(fact, now) for fact in records[:limit]]
    elif kind == "decisions":
        lines = [entry_line("decision", decision) for decision in records[:limit]]
    else:
        lines = [task_line(task, now) for task in records[:limit]]
    lines = lines or ["none"]
    return [*lines, *left_out(len(records) - limit, limit)]


def diff(session: Session, given: "ParsedArguments") -> Outcome:
    from store.services.point_in_time import moment
    from tui.commands.history.restore import change_as_json
    from tui.commands.record_lines import left_out

    memory = session.memory
    start = moment(memory, given.since)
    if given.until is None or given.until == "now":
        plan = memory.plans.since(start.seq)
        nothing = "Nothing changed since then."
    else:
        plan = memory.plans.between(start.seq, moment(memory, given.until).seq)
        nothing = "Nothing changed between the two."
    shown = plan.changes[: given.limit]
    lines = [_diff_line(change) for change in shown] or [nothing]
    return Outcome(
        data=lambda: [change_as_json(change) for change in shown],
        lines=[*lines, *left_out(len(plan.changes) - len(shown), given.limit)],
    )


def _diff_line(change: "PlannedChange") -> str:
    """Format a change in one line: the plan's sign inverted, the text, before and after, author and time."""
    from store.base.clock import local_time
    from store.history.change_summary import happened, sign
    from tui.commands.record_lines import before_and_after, cut
    from tui.theme.escape import visible

    now, then = change.now, change.then
    said = before_and_after(then, now, change.fields) if now is not None and then is not None else happened(then, now)
    by = f"  ({visible(change.by.actor)}, {local_time(change.by.at)})" if change.by else ""
    return f"{sign(then, now)} {change.citation:<6}  {cut(change.title)}  {said}{by}"
