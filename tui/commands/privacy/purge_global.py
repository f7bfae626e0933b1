"""Erase global facts, and facts that were moved: in the personal memory and in the project's, whose files both hold the
words."""

from store import PURGEABLE, Declined, InvalidInput, cite, purge_with_shared
from tui.commands import Outcome, Session, reference
from tui.commands.privacy.purge import NAMED, done_lines, finished, left_of, plan_lines, unfinished
from tui.commands.privacy.purge import purge as erase
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import Memory
    from tui.input.argument_parser import ParsedArguments

    Both = tuple[list[tuple[str, int]], list[int]]


def purge(session: Session, given: "ParsedArguments") -> Outcome:
    """Erase what is named: in this memory alone, or in both."""
    both = _of_both(session.memory, given) if given.ids else None
    return erase(session, given) if both is None else _purge_both(session, given, both)


def _of_both(memory: "Memory", given: "ParsedArguments") -> "Both | None":
    """Return (the records of this memory, the facts of the personal one) of a purge that concerns both: of global
    facts, and of facts that were moved there or came from there. None for any other. Raises InvalidInput."""
    named = [reference(text, "fact", *PURGEABLE, "global") for text in given.ids]
    shared = [int(one.target) for one in named if one.kind == "global"]
    here, there = memory.moves.beside([int(one.target) for one in named if one.kind == "fact"], shared)
    if not shared and not there:
        return None
    if given.scrub or given.leave:
        raise InvalidInput("Of a global fact the words are erased in every place of both memories.", "Name no place.")
    records = [(one.kind, int(one.target)) for one in named if one.kind != "global"]
    return [*records, *(("fact", number) for number in here)], list(dict.fromkeys([*shared, *there]))


def _purge_both(session: Session, given: "ParsedArguments", both: "Both") -> Outcome:
    """Erase in both memories, after one question."""
    records, shared = both
    memory, own = session.memory, session.memory.personal
    parts = [(own, purge_with_shared(own, own.purge.plan([("fact", number) for number in shared])))]
    if own is not memory and records:
        parts.append((memory, purge_with_shared(memory, memory.purge.plan(records))))
    elsewhere = [
        f"Another project's history holds the words too: memoranda --db {path} purge {cite('fact', number)}"
        for path, number in memory.moves.projects(shared)
    ]
    names = [
        memory.globals.as_cited(one.citation) if at is own else one.citation for at, plan in parts for one in plan.going
    ]
    lines: list[str] = []
    if given.dry_run:
        for at, plan in parts:
            lines += [_where(at, own), *plan_lines(plan, plan.proposed())]
        return Outcome(lines=[*lines, *elsewhere], data=lambda: {"purge": names, "elsewhere": elsewhere})
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    question = f"Erase {count(len(names), 'record')} with all old versions, {', '.join(names[:NAMED])}{more}, in your"
    if not given.yes and not session.ask(f"{question} personal memory and here? This cannot be undone.", elsewhere):
        raise Declined("Nothing was purged.")
    error = ""
    for at, plan in parts:
        done = at.purge.run(plan, plan.proposed())
        traces = left_of(at, plan, done)
        lines += [_where(at, own), *done_lines(done, traces)]
        error = error if finished(done, traces) else unfinished(done, traces)
    return Outcome(
        f"Erased {count(len(names), 'record')} with all old versions.",
        lambda: {"purged": names, "elsewhere": elsewhere},
        [*lines, *elsewhere],
        status=1 if error else 0,
        error=error,
    )


def _where(memory: "Memory", own: "Memory") -> str:
    return "In your personal memory:" if memory is own else "In this memory:"
