"""history, redo."""

from store.memory import Memory
from tui.commands import Outcome, Session, reason, reference, whose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tui.input.argument_parser import ParsedArguments


def list_steps(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from tui.commands.record_lines import left_out, step_line

    record = reference(given.record, "fact", "fact", "global", "decision", "task") if given.record else None
    meant = whose(session, given, record is not None and record.kind == "global")
    memory = meant.memory
    steps = memory.history.steps(
        actor=given.actor,
        record=("fact" if record.kind == "global" else record.kind, int(record.target)) if record else None,
        since=memory.typed_moment(given.since) if given.since else "",
        limit=given.limit + 1,
    )
    shown = steps[: given.limit]
    lines: list[str] = []
    changes: dict[int, list[dict[str, object]]] = {}
    for step in shown:
        lines.append(step_line(step, reason(session, meant, step)))
        if given.changes:
            changes[step.seq] = _changes(memory, step.seq)
            lines += [_change_line(change) for change in changes[step.seq]]
    found = bool(given.actor or record or given.since)
    lines = lines or ["No such changes." if found else "Nothing was changed yet."]
    return Outcome(
        data=lambda: [
            {**as_json(step), "changes": changes[step.seq]} if given.changes else as_json(step) for step in shown
        ],
        lines=[*lines, *left_out(len(steps) - len(shown), given.limit)],
    )


def _changes(memory: Memory, seq: int) -> list[dict[str, object]]:
    """List what a step changed: each record's citation, kind, operation, and values before and after."""
    from store.history.change_summary import KINDS
    from store.history.restore_plan import citations

    changes = memory.history.changes(seq)
    cited = citations(memory.database, [(change.table, change.key) for change in changes])
    return [
        {
            "citation": cited[change.table, change.key],
            "kind": KINDS[change.table],
            "op": change.op.lower(),
            "before": change.before,
            "after": change.after,
        }
        for change in changes
    ]


def _change_line(change: "dict[str, Any]") -> str:
    from store.history.change_summary import TABLES, title
    from tui.commands.record_lines import before_and_after, cut

    before, after = change["before"], change["after"]
    if before is None or after is None:
        said = cut(title(TABLES[change["kind"]], before or after))
    else:
        said = before_and_after(before, after, after)
    mark = {"insert": "+", "delete": "-"}.get(change["op"], "~")
    return f"{'':>8}{mark} {change['citation']}  {said}"


def redo(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json

    meant = whose(session, given)
    step = meant.memory.history.redo()
    return Outcome(f"Redid step {step.seq}: {reason(session, meant, step)}.", lambda: as_json(step))
