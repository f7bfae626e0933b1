"""Read an open memory for screens of their own: a plan and its title, a context, the figures of its health."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from store.base.citations import parse
from store.base.clock import DAY_MS, from_ms, local_time, to_ms
from store.base.errors import MemorandaError
from store.base.models import Chunk, Record, Step
from store.memory import Memory
from store.search import lookup
from store.services.point_in_time import PointInTime, moment
from tui.input.key_table import HISTORY, named
from tui.lists import fact_groups
from tui.lists.context_rows import ContextRows, cited
from tui.lists.health_rows import HealthRows
from tui.lists.record_rows import KeyedRows, local_day
from tui.lists.view_state import View
from tui.render.metrics.metric_sections import sections

if TYPE_CHECKING:
    from store.history.restore_plan import Plan
    from store.services.metrics import Measures

SideRows = KeyedRows | ContextRows | HealthRows  # the side lists beside facts and timeline
ORDER = "The model may put the facts into another order (agent.mode = smart); it is not asked for this list."
Target = int | str | tuple[str | PointInTime, str]  # a checkpoint or a step; an origin; two moments to compare


def plan(memory: Memory, kind: str, target: Target) -> tuple[Plan, str, str]:
    """Return (the changes, a title, a note) of restoring a checkpoint, of undoing a step or all of an origin, or the
    changes between two moments. Raises NotFound, Conflict, InvalidInput."""
    if isinstance(target, tuple):
        return _compared(memory, *target)
    plans, later = memory.plans, f"{named('memory.undo')} undoes it all"
    if kind == "checkpoint":
        found = memory.checkpoints.get(int(target))
        title = f"RESTORE {found.citation} “{found.title}”   {local_time(found.created_at)}"
        return plans.checkpoint(found.id), title, f"a checkpoint is taken first; {later}"
    if kind == "step":
        step = memory.history.step(int(target))
        title = f"UNDO step {step.seq}: {step.reason}   {local_time(step.at)}, by {step.actor}"
        later = f"{named('memory.undo')} undoes it"
        if step.undoes is not None:  # undoing an undo is the redo, and u continues with the step before
            later = f"{named('step.undo')} on the new step undoes it"
        return plans.step(step.seq), title, later
    return plans.origin(str(target)), f"UNDO all that {target} wrote", f"a checkpoint is taken first; {later}"


def _compared(memory: Memory, start: str | PointInTime, end: str) -> tuple[Plan, str, str]:
    """Return the changes between two moments, the second `now` or an earlier one."""
    first = moment(memory, start) if isinstance(start, str) else start
    if end.strip() in ("", "now"):
        return memory.plans.since(first.seq), f"CHANGED since {first.words}", "before and after"
    last = moment(memory, end)
    title = f"CHANGED from {first.words} to {last.words}"
    return memory.plans.between(first.seq, last.seq), title, "before and after"


def context(memory: Memory, question: str, session: str) -> ContextRows:
    """Return the context that an agent would be sent, with its records."""
    built = memory.context(question, session)
    found = {}
    for citation in cited(built):
        try:
            found[citation] = lookup.lookup(memory.database, parse(citation))
        except MemorandaError:
            continue  # a document not indexed yet
    if memory.config["agent.mode"] == "smart":
        built = replace(built, notes=(*built.notes, ORDER))
    return ContextRows(built, found, memory.now, fact_groups.counts(memory, memory.now)["active"])


def health(memory: Memory, found: Measures, past: bool, due: float = 0) -> HealthRows:
    """Return the metrics, with the records that they name."""
    shown = sections(found, past)
    named = {}
    for citation in (one.record for _, figures in shown for one in figures if one.record):
        try:
            named[citation] = lookup.lookup(memory.database, parse(citation))
        except MemorandaError:
            continue  # deleted since the count
    notes = ("the rest is of now: the past has none of it",) if past else ()
    return HealthRows(shown, named, found.at, due, notes)


def at_day(memory: Memory, name: str, text: str, view: View) -> tuple[int | None, str, str]:
    """Return (the key of the newest entry of a day, or of the first before it, in timeline or history; the day; the
    day of that entry). Raises InvalidInput."""
    start, day = local_day(memory.typed_moment(text))
    end, _ = local_day(from_ms(to_ms(start) + DAY_MS * 13 // 12))  # a day of a changed clock has up to 25 hours
    found: tuple[int, str] | None
    if name == HISTORY:
        steps = memory.history.steps(actor=view.actor, before=end, limit=1)
        found = (steps[0].seq, steps[0].at) if steps else None
    else:
        found = next(memory.timeline.stream(view.kinds, before=end, limit=1), None)
    return (None, day, "") if found is None else (found[0], day, local_day(found[1])[1])


def same(memory: Memory, record: Record | Step) -> Record | Step | None:
    """Read a record again; of a document's lines their new position, or the chunk that replaced them, else the old
    ones, whose description tells that they are outdated."""
    if isinstance(record, Step):
        return next(iter(memory.history.many([record.seq])), None)
    if isinstance(record, Chunk):
        moved = [found for found in memory.documents.many([record.id]) if found.text == record.text]
        try:
            return moved[0] if moved else memory.documents.cited(parse(record.citation))
        except MemorandaError:
            return record
    found = lookup.many(memory.database, lookup.kind_of(record), [record.id])
    return found[0] if found else None


class Searchable(NamedTuple):
    """What there is to search: how many records of each kind, the tags of those in force with how many have each, most
    first, and the authors of commits, those of the most first."""

    kinds: dict[str, int]
    tags: list[tuple[str, int]]
    authors: list[str]


def searchable(memory: Memory) -> Searchable:
    """Count what a search can be narrowed by."""
    rows = memory.database.rows(
        "SELECT 'fact', count(*) FROM facts WHERE status = 'active'"
        " UNION ALL SELECT 'task', count(*) FROM tasks UNION ALL SELECT 'turn', count(*) FROM turns"
    )
    wrote = memory.database.rows("SELECT author FROM commits WHERE author <> '' GROUP BY 1 ORDER BY count(*) DESC, 1")
    kinds = {**memory.timeline.counts(), **dict(rows)}
    return Searchable(kinds, memory.tagging.tags(), [author for (author,) in wrote])
