"""The plans that are shown before anything is done: a restore, an undo, an erasure; and what changed between
moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Any

from store.base.citations import cite
from store.base.clock import format_age, format_how_long_ago, format_local_time
from store.base.errors import Conflict
from store.base.models import Checkpoint, Decision, Event, Fact, GlobalFact, Proposal, Step, Summary, Task, Turn
from store.history.history import DERIVED_COLUMNS, change_sign, describe_change
from store.history.restore_plan import PlannedChange, Plans, RestorePlan
from store.memory import Memory
from store.purge.purge import PlannedRecord, PurgePlan
from store.purge.word_search import RemainingMatch
from store.search.lookup import kind_of_record
from store.text.display import format_count, visible
from store.upkeep.as_of import PointInTime, point_in_time
from store.upkeep.erasing import PurgeReport, plan_in_both, run_purge
from store.upkeep.optional import with_shared_places
from tui.actions.action import Done
from tui.input.key_table import key_name
from tui.render.lines import KIND_GLYPHS, StyledLine, compare_rows, origin_name, writer_name
from tui.screens.plans import Plan, PlanLine

PLAN_SIGNS = {"+": ("+", "added"), "-": ("−", "removed"), "~": ("~", "glyph-aging")}
STRATEGIES = {"replace": "replace", "keep mine": "mine", "only add": "add"}
PURGED_KINDS = (Fact, GlobalFact, Decision, Task, Turn, Event, Summary, Proposal)


# A restore, or an undo.


def plan_restore(memory: Memory, things: Sequence[Checkpoint]) -> Plan:
    """Return what restoring a checkpoint would change."""
    one = memory.checkpoints.get(things[0].id)
    title = f"RESTORE {one.citation} “{one.title}”   {format_local_time(one.created_at)}"
    return plan_of_strategy(memory, Plans(memory.database).plan_checkpoint(one.id), title, "replace")


def plan_of_strategy(memory: Memory, whole: RestorePlan, title: str, word: str) -> Plan:
    """Return a restore by a strategy: replace, keep what the person changed since, or only add."""
    found = Plans(memory.database).keep_mine(whole) if word == "keep mine" else whole
    plan = show_changes(memory, found, title, "if restored", STRATEGIES[word])
    others = {name: partial(plan_of_strategy, memory, whole, title, name) for name in STRATEGIES}
    return replace(plan, strategies=others, strategy=word, does="restore")


def plan_undo(memory: Memory, things: Sequence[Step]) -> Plan:
    """Return what undoing steps would change, all as one step; one that was made in two files is undone in both."""
    steps = [memory.history.get(one.seq) for one in things]
    if len(steps) == 1 and steps[0].undone_by is None and memory.history.is_in_two_files(steps[0].seq):
        return _plan_in_both(steps[0])
    whole = Plans(memory.database).plan_steps([step.seq for step in steps])
    if steps[1:]:
        return show_changes(memory, whole, f"UNDO {format_count(len(steps), 'step')}", "if undone")
    (step,) = steps
    title = f"UNDO step {step.seq}: {step.reason}   {format_local_time(step.at)}, by {step.actor}"
    plan = show_changes(memory, whole, title, "if undone")
    # undoing an undo is the redo, and u continues with the step before
    if step.undoes is not None:
        return replace(plan, note=f"{key_name('step.undo')} on the new step undoes it")
    return plan


def _plan_in_both(step: Step) -> Plan:
    """Return the plan of undoing a step that was made in two files."""

    def do(memory: Memory, chosen: frozenset[Any]) -> Done:
        memory.history.undo(step.seq)
        return Done(f"Undid step {step.seq}: {step.reason}")

    line = PlanLine(step.seq, step.reason, f"step {step.seq}", format_local_time(step.at))
    return Plan("UNDO 1 step", [line], do, frozenset([step.seq]), does="undo")


def plan_undo_all(memory: Memory, origin: str, session: str = "") -> Plan:
    """Return what undoing everything that an origin wrote would change, or what it wrote in a session."""
    which = f" in {session}" if session else ""
    plan = Plans(memory.database).plan_origin(origin, session)
    return show_changes(memory, plan, f"UNDO all that {origin} wrote{which}", "if undone")


def show_changes(memory: Memory, plan: RestorePlan, title: str, when: str, strategy: str = "replace") -> Plan:
    """Return a plan of the store as one that is looked at, with what it proposes."""
    if not plan.changes:
        raise Conflict(
            "Nothing changed since." if when == "if restored" else "Nothing of it is in force any more."
        )
    later = f"{key_name('memory.undo')} undoes it{' all' if plan.before else ''}"

    def do(memory: Memory, chosen: frozenset[Any]) -> Done:
        done = Plans(memory.database).apply_plan(plan, chosen)
        before = f"; {cite('checkpoint', done.checkpoint)} is how it was" if done.checkpoint else ""
        named = f"Undid step {plan.undoes}: " if plan.undoes is not None else ""
        return Done(f"{named}{format_count(done.changed, 'record')} changed{before}; {later}", undo=False)

    return Plan(
        title,
        [_change_line(memory.now, plan, at, when, strategy) for at in range(len(plan.changes))],
        do,
        Plans(memory.database).propose_changes(plan, strategy),
        note=f"a checkpoint is taken first; {later}" if plan.before else later,
        column=f"{when} · last changed by",
        does="undo",
        requires=plan.requirements_of,
        dependents=plan.dependents_of,
    )


def plan_since(memory: Memory, start: str | PointInTime, end: str = "now") -> Plan:
    """Return the changes between two moments, to be read."""
    first = point_in_time(memory, start) if isinstance(start, str) else start
    if end.strip() in ("", "now"):
        plan = Plans(memory.database).plan_since(first.seq)
        title = f"CHANGED since {first.words}"
    else:
        last = point_in_time(memory, end)
        plan = Plans(memory.database).plan_between(first.seq, last.seq)
        title = f"CHANGED from {first.words} to {last.words}"
    if not plan.changes:
        raise Conflict("Nothing changed since.")
    lines = [_change_line(memory.now, plan, at, "") for at in range(len(plan.changes))]
    return Plan(
        title, lines, lambda memory, chosen: "", note="before and after", does="open the record", looks=True
    )


def _change_line(now: str, plan: RestorePlan, at: int, when: str, strategy: str = "") -> PlanLine:
    """Return the line of a change, with its description: what it is, who made the present state, what stands against
    it, and both states; without `when`, of one that was made."""
    change = plan.changes[at]
    sign = change.sign if when else change_sign(change.then, change.now)
    says = change.says if when else describe_change(change.then, change.now)
    by = f" · {writer_name(change.by.actor)}, {format_age(now, change.by.at)}" if change.by else ""
    cited, text = change.citation, change.title
    opens, _, decision = change.citation.partition(" ")
    if change.kind == "link":
        cited = "link"
        text = f"{opens} {'relates to' if text == 'relates' else text} {decision}"

    def describe(chosen: bool) -> list[StyledLine]:
        kind = f"  {change.kind} · {f'{when}: ' if when else ''}{says}"
        lines: list[StyledLine] = [[(change.citation, "cite"), (kind, "dim")], [(change.title, "title")]]
        if last := change.by:
            made = f"{origin_name(last.actor)}, {last.door}, {format_how_long_ago(now, last.at)}"
            lines.append([("last changed by ", "dim"), (f"{made}, step {last.seq}: {last.reason}", "")])
        if change.blocked:
            lines += [[], [(f"Cannot be applied: {change.blocked}", "warning")]]
        elif change.clash and when:
            said = "It was changed since. Chosen, that change is overwritten; not chosen, it stays."
            lines += [[], [(said, "warning")]]
        elif strategy == "mine" and change.mine:
            stays = ", ".join(name.replace("_", " ") for name in change.mine if name not in DERIVED_COLUMNS)
            kept = "chosen, that is overwritten." if change.by_hand else "that stays, and the rest goes back."
            look = "warning" if change.by_hand else "dim"
            lines += [[], [(f"You changed its {stays} since: {kept}", look)]]
        if change.needs and when:
            lines += [[], [("Goes together with ", "dim"), *_needed_records(plan, change)]]
        states = compare_rows(change.now, change.then) if when else compare_rows(change.then, change.now)
        words = "As it is − and as it would be +" if when else "Before − and after +"
        return [*lines, [], [(words, "heading")], *states]

    note, look = f"{says}{by}", PLAN_SIGNS[sign]
    kind, blocked = change.kind, change.blocked
    return PlanLine(at, text, cited, note, look, kind, describe, blocked, warned=change.clash, opens=opens)


def _needed_records(plan: RestorePlan, change: PlannedChange) -> StyledLine:
    """Return the records that a change needs, each once; of its own links only the commit."""
    line: StyledLine = []
    for other in (plan.changes[index] for index in change.needs):
        commit, _, decision = other.citation.partition(" ")
        before = ", " if line else ""
        if decision == change.citation:
            line += [(f"{before}its link to ", "dim"), (commit, "cite")]
        elif decision:
            line += [(f"{before}the link of ", "dim"), (commit, "cite"), (" to ", "dim"), (decision, "cite")]
        else:
            line += [(before, "dim"), (commit, "cite")]
    return line


# An erasure: the records, and the other places that hold their words.


def plan_purge(memory: Memory, things: Sequence[Any]) -> Plan:
    """Return what erasing records removes."""
    records = [(kind_of_record(one), one.id) for one in things]
    return plan_purge_of(memory, records, lambda memory: with_shared_places(memory, memory.purge.plan(records)))


def plan_purge_of(
    memory: Memory, records: Sequence[tuple[str, int]], planned: Callable[[Memory], PurgePlan], word: str = ""
) -> Plan:
    """Return what an erasure removes: in both memories where the records are in both, else what is `planned`. The
    `word` that found them is typed again before."""
    both = plan_in_both(memory, records)
    plan = planned(memory) if both is None else both.as_one(memory)

    def do(memory: Memory, chosen: frozenset[Any]) -> Done:
        places = frozenset(at for kind, at in chosen if kind == "place")
        report = run_purge(memory, plan, places) if both is None else both.run_both(memory, places)
        return report_purge(report, both.elsewhere if both is not None else ())

    named = f" {plan.going[0].citation}" if len(plan.going) == 1 else ""
    return Plan(
        f"ERASE{named}  with all old versions",
        [*starmap(_going_line, enumerate(plan.going)), *starmap(_place_line, enumerate(plan.places))],
        do,
        frozenset(("place", at) for at in plan.default_places()),
        note="This cannot be undone",
        does="erase",
        word=word,
    )


def _going_line(at: int, one: PlannedRecord) -> PlanLine:
    because = f"is {one.why}" if one.why.startswith("replaced") else one.why
    lines: list[StyledLine] = [
        [(one.citation, "cite"), (f"  {one.kind}", "dim")],
        [(one.text, "title")],
        [],
        *([[(f"It is erased because it {because}.", "")]] if one.why else []),
        [("Erased from its table, its history, the search index and the vectors.", "dim")],
        [("What stays is that something was here, and a keyed hash that knows the text again.", "dim")],
    ]
    stays = "This record is erased. Leave, and choose other records, to keep it."
    sign = ("−", "removed")
    why = one.why or "erased"
    return PlanLine(("going", at), one.text, one.citation, why, sign, "", lambda chosen: lines, stays=stays)


def _place_line(at: int, place: RemainingMatch) -> PlanLine:
    def describe(chosen: bool) -> list[StyledLine]:
        note = f"{place.note[:1].upper()}{place.note[1:]}."
        return [
            [(place.citation, "cite"), (f"  {place.what}", "dim")],
            [(place.text, "title")],
            [],
            [(_place_effect(place, chosen), "" if chosen else "warning")],
            *([[(note, "dim")]] if place.note else []),
        ]

    sign = KIND_GLYPHS["document"] if place.table == "file" else "~" if place.can else " "
    stuck = "" if place.can else f"{place.citation} is not Memoranda's to change: {place.what}."
    return PlanLine(("place", at), place.text, place.citation, place.what, (sign, "dim"), "", describe, stuck)


def _place_effect(place: RemainingMatch, chosen: bool) -> str:
    """Describe the effect of an erasure on a place."""
    if not place.can:
        return "Memoranda does not change it: it is named, so that you can."
    if place.table == "file":
        cut = "This is cut out of your file, and nothing else. This cannot be undone."
        return cut if chosen else "It stays. Chosen, this is cut out of your file, and nothing else."
    return "Its words are cut, also from its past; the rest of it stays." if chosen else "It stays as it is."


def report_purge(report: PurgeReport, elsewhere: Sequence[str]) -> Done:
    """Return what an erasure did, with its details to read."""
    lines = [*map(visible, report.list_lines()), *elsewhere]
    said = f"Erased {format_count(report.done.purged, 'record')} with all old versions."
    more = [said, "", *lines] if len(lines) > 1 else ()
    return Done(f"{said} {lines[-1]}", lines=more, undo=False)
