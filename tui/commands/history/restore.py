"""restore, undo: list what would change, record by record, and apply a selection."""

from collections.abc import Iterable

from store.base.citations import Citation, cite, parse
from store.base.errors import Conflict, Declined, InvalidInput
from tui.commands import Outcome, Session, number, reason, whose
from tui.commands.history.checkpoints import beside, related_as_json, related_lines
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Step
    from store.history.restore_plan import Plan, PlannedChange
    from tui.input.argument_parser import ParsedArguments

LISTS = ("evidence", "tags", "alternatives")  # columns that hold JSON


# restore


def restore(session: Session, given: "ParsedArguments") -> Outcome:
    from store.history.restore_plan import checked

    plans = session.memory.plans
    target = number(given.checkpoint, "checkpoint")
    cited = cite("checkpoint", target)
    plan = plans.checkpoint(target)
    if given.strategy == "mine":
        plan = plans.keeping_mine(plan)
    proposed = plans.proposed(plan, given.strategy)
    chosen = _narrowed(plan, proposed, given)
    if given.dry_run:
        if chosen:
            checked(plan, chosen)
        heading = f"Restoring {cited} would change {count(len(chosen), 'record')}"
        return dry(plan, chosen, heading, {"checkpoint": cited, "strategy": given.strategy})
    if not plan.changes:
        raise Conflict(f"Nothing changed since {cited}.", "There is nothing to restore.")
    if not chosen and given.strategy != "replace":
        raise Conflict(f"By the strategy {given.strategy} nothing would change.", "See --dry-run, or another strategy.")
    checked(plan, chosen)
    name = session.memory.checkpoints.get(target).title
    question = f"Restore {cited} “{name}”: {count(len(chosen), 'record')} would change. Go on?"
    if not given.yes and not session.ask(question):
        raise Declined("Nothing was changed.")
    applied = plans.apply(plan, chosen)
    before = cite("checkpoint", applied.checkpoint or 0)
    near = beside(session, session.memory.checkpoints.recover(target)) if given.related else None
    data: dict[str, object] = {"restored": cited, "changed": applied.changed, "before": before}
    return Outcome(
        f"Restored {cited}: {count(applied.changed, 'record')} changed. {before} is how it was; undo works.",
        lambda: data if near is None else {**data, "related": related_as_json(near)},
        lines=related_lines(near or []),
    )


def _narrowed(plan: "Plan", proposed: frozenset[int], given: "ParsedArguments") -> frozenset[int]:
    """Apply --only and --kind to a selection. Raises InvalidInput, and Conflict for what cannot be selected."""
    from store.history.change_summary import TABLES

    chosen = proposed
    if given.only:
        chosen = _named(plan, given.only)
        for index in sorted(chosen - proposed):
            change = plan.changes[index]
            if change.blocked:
                raise Conflict(f"{change.citation} cannot be changed: {change.blocked}", "Leave it out.")
            raise InvalidInput(f"{change.citation} is not changed by the strategy {given.strategy}.", "Leave one out.")
    kinds = {word for text in given.kind for word in _words(text)}
    if not kinds <= set(TABLES):
        raise InvalidInput("There is no such kind to restore.", f"Choose among: {', '.join(TABLES)}.")
    if kinds:  # and dependencies of another kind: removing a decision removes its links
        mine = [plan.required_with(index) for index in chosen if plan.changes[index].kind in kinds]
        chosen = frozenset().union(*mine)
    return chosen


# undo

NEWER = 100  # steps that are looked at for those that stay
JOURNAL = {  # the newest that a person began, finished or logged after a moment
    "iteration": "SELECT max(id) FROM iterations WHERE origin = 'user'"
    " AND max(started_at, coalesce(completed_at, '')) > ?",
    "event": "SELECT max(id) FROM events WHERE origin = 'user' AND created_at > ?",
}


def undo(session: Session, given: "ParsedArguments") -> Outcome:
    meant = whose(session, given)
    if given.session and given.all_by is None:
        raise InvalidInput("A session of whom?", "undo --all-by mcp:codex --session S; memoranda agents names both.")
    if given.all_by is not None:
        if given.seq is not None:
            raise InvalidInput("A step or an origin, not both.", "undo 41, or undo --all-by import:notes")
        return _undo_origin(meant, given)
    if given.dry_run or given.keep or given.overwrite:
        return _undo_step(meant, given)
    from store.base.models import as_json

    step = meant.memory.history.undo(given.seq)
    said = f"Undid step {step.seq}: {reason(session, meant, step)}."
    lines = _newer(session, meant, step) if given.seq is None else []
    return Outcome(said, lambda: as_json(meant.memory.history.step(step.seq)), lines)


def _newer(session: Session, meant: Session, step: "Step") -> list[str]:
    """Name what is newer than a step that was undone as the newest by hand: steps of files and agents, and the
    journal."""
    from tui.theme.escape import visible

    lines = []
    after = meant.memory.history.steps(after_seq=step.seq, limit=NEWER)
    if left := [one for one in after if one.undoes is None and one.undone_by is None]:
        first, more = left[0], f" and {len(left) - 1} more" if len(left) > 1 else ""
        what = f"step {first.seq}, {reason(session, meant, first)} by {visible(first.actor)}{more}"
        lines.append(f"Newer, and not yours by hand, so left as it is: {what}. undo {first.seq} undoes it.")
    rows = meant.memory.database.rows
    journal = [cite(kind, number) for kind, sql in JOURNAL.items() for (number,) in rows(sql, (step.at,)) if number]
    if journal:
        are = "is" if len(journal) == 1 else "are"
        lines.append(f"{', '.join(journal)} {are} newer too; what is in the journal is never undone.")
    return lines


def _undo_step(session: Session, given: "ParsedArguments") -> Outcome:
    """Undo a step that is not the last: without the records of --keep, and with those of --overwrite."""
    from store.base.models import as_json

    history, plans = session.memory.history, session.memory.plans
    seq = given.seq if given.seq is not None else history.next_undo()
    plan = plans.step(seq)
    chosen = _with_exceptions(plan, plans.proposed(plan), given)
    if given.dry_run:
        heading = f"Undoing step {seq} would change {count(len(chosen), 'record')}"
        return dry(plan, chosen, heading, {"step": seq})
    kept = _kept(plan, given)
    open_still = [change for index, change in enumerate(plan.changes) if index not in chosen | kept]
    if open_still:
        names = ", ".join(change.citation for change in open_still[:5])
        first = open_still[0]
        way = "" if first.blocked else f"--overwrite {_argument(first)}, or "
        raise Conflict(
            f"Step {seq} cannot be undone as a whole: {names} changed since.",
            f"Say what becomes of it: {way}--keep {_argument(first)}. See undo {seq} --dry-run.",
        )
    if not plan.changes:
        raise Conflict(f"Nothing of step {seq} is left to undo.")
    plans.apply(plan, chosen)
    step = history.step(seq)
    left = f" {count(len(plan.changes) - len(chosen), 'record')} kept." if len(chosen) < len(plan.changes) else ""
    return Outcome(f"Undid step {seq}: {step.reason}.{left}", lambda: as_json(step))


def _undo_origin(session: Session, given: "ParsedArguments") -> Outcome:
    """Undo everything that one origin wrote, except what others changed since."""
    from tui.theme.escape import visible

    plans = session.memory.plans
    plan = plans.origin(given.all_by, given.session)
    origin = visible(given.all_by)
    chosen = _with_exceptions(plan, plans.proposed(plan), given)
    left = [change for index, change in enumerate(plan.changes) if index not in chosen]
    if given.dry_run:
        heading = f"Undoing all by {origin} would change {count(len(chosen), 'record')}"
        return dry(plan, chosen, heading, {"origin": given.all_by})
    if not plan.changes:
        raise Conflict("Nothing of what they wrote is in force.", "There is nothing to undo.")
    names = ", ".join(change.citation for change in left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
    if not chosen:
        raise Conflict(
            f"All that is left of it changed since: {names}.",
            "Look at it with --dry-run; --overwrite ID undoes it.",
        )
    stay = f" {names} stay{'s' if len(left) == 1 else ''}: changed since." if left else ""
    if not given.yes and not session.ask(
        f"Undo all by {origin}: {count(len(chosen), 'record')} would change.{stay} Go on?"
    ):
        raise Declined("Nothing was changed.")
    applied = plans.apply(plan, chosen)
    before = cite("checkpoint", applied.checkpoint or 0)
    return Outcome(
        f"Undid all by {origin}: {count(applied.changed, 'record')} changed.{stay} {before} is how it was; undo works.",
        lambda: {
            "origin": given.all_by,
            "changed": applied.changed,
            "before": before,
            "left": [change.citation for change in left],
        },
    )


def _with_exceptions(plan: "Plan", proposed: frozenset[int], given: "ParsedArguments") -> frozenset[int]:
    """Add --overwrite to a selection; remove --keep and all that depends on it. Raises InvalidInput, Conflict."""
    chosen = proposed
    for index in sorted(_named(plan, given.overwrite)):
        if plan.changes[index].blocked:
            raise Conflict(
                f"{plan.changes[index].citation} cannot be undone: {plan.changes[index].blocked}",
                f"Or keep it: --keep {_argument(plan.changes[index])}",
            )
        chosen |= plan.required_with(index)
    return chosen - _kept(plan, given)


def _kept(plan: "Plan", given: "ParsedArguments") -> frozenset[int]:
    kept: frozenset[int] = frozenset()
    for index in _named(plan, given.keep):
        kept |= plan.against(index)
    return kept


# shared


def change_as_json(change: "PlannedChange", chosen: bool | None = None) -> "dict[str, Any]":
    """Return a change for scripts; with `chosen` only where there is a selection."""
    by = change.by
    data = {
        "citation": change.citation,
        "kind": change.kind,
        "sign": change.sign,
        "says": change.says,
        "now": _row(change.now),
        "then": _row(change.then),
        "fields": list(change.fields),
        "by": by and {"seq": by.seq, "at": by.at, "actor": by.actor, "door": by.door, "reason": by.reason},
        "clash": change.clash,
        "blocked": change.blocked,
    }
    return data if chosen is None else {**data, "chosen": chosen}


def _row(row: "dict[str, Any] | None") -> "dict[str, Any] | None":
    """Return a row with JSON columns parsed and flags as booleans, as records have them."""
    import json

    if row is None:
        return None
    data = {name: json.loads(value) if name in LISTS else value for name, value in row.items() if name != "text_hash"}
    return {**data, "pinned": bool(row["pinned"])} if "pinned" in row else data


def dry(plan: "Plan", chosen: frozenset[int], heading: str, about: dict[str, object]) -> Outcome:
    """Return the list of what would change, without changing anything."""
    from tui.commands.record_lines import planned_line

    left = len(plan.changes) - len(chosen)
    heading += f"; {count(left, 'record')} left out." if left else "."
    return Outcome(
        data=lambda: {
            **about,
            "changes": [change_as_json(change, index in chosen) for index, change in enumerate(plan.changes)],
        },
        lines=[heading, *(planned_line(change, index in chosen) for index, change in enumerate(plan.changes))],
    )


def _named(plan: "Plan", texts: Iterable[str]) -> frozenset[int]:
    """Return the changes of the records cited, several separated by commas. Raises InvalidInput."""
    found = set[int]()
    for text in texts:
        for word in _words(text):
            wanted = [parse(part, "fact") for part in word.split()]
            places = {index for index, change in enumerate(plan.changes) if _is(change, wanted)}
            if not places:
                raise InvalidInput(f"{' '.join(map(str, wanted))} is not among what would change.", "See --dry-run.")
            found |= places
    return frozenset(found)


def _is(change: "PlannedChange", wanted: list[Citation]) -> bool:
    """Return whether a change belongs to the citation: `F#12`; for a link both its ends, or its commit alone."""
    if change.kind != "link":
        return [change.citation] == [str(citation) for citation in wanted]
    commit, decision = change.citation.split()
    ends = [citation for citation in wanted if citation.kind == "commit"]
    sha = commit.removeprefix("C#")
    named = [str(citation.target) for citation in ends]
    rest = [str(citation) for citation in wanted if citation.kind != "commit"]
    return (
        bool(named) and all(sha.startswith(name) or name.startswith(sha) for name in named) and rest in ([], [decision])
    )


def _argument(change: "PlannedChange") -> str:
    """Return a record's citation as it is typed."""
    return f'"{change.citation}"' if " " in change.citation else change.citation


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
