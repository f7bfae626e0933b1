"""Erase global facts, and facts that were moved: in the personal memory and in the project's, whose files both hold the
words."""

from dataclasses import dataclass, replace

from store.base.citations import cite
from store.base.errors import Declined, InvalidInput, MemorandaError
from store.base.vocabulary import PURGEABLE
from store.purge.purge import PurgePlan
from store.purge.scan.column_scan import RemainingMatch
from store.team.sharing import with_shared as purge_with_shared
from tui.commands import Outcome, Session, reference
from tui.commands.privacy.purge import NAMED, by_words, done_lines, finished, left_of, plan_lines, unfinished
from tui.commands.privacy.purge import purge as erase
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.memory import Memory
    from store.purge.proof import Traces as PurgeTraces
    from store.purge.purge import Done as PurgeResult
    from tui.input.argument_parser import ParsedArguments

    Records = Sequence[tuple[str, int]]  # kind, id


@dataclass(frozen=True, slots=True)
class PlanOfBoth:
    """A purge in the personal memory, `own`, and in the one where it is asked, `here`: None where that is the personal
    one, or nothing of it goes. `projects` are others whose histories hold the words, each with the fact there."""

    own: PurgePlan
    here: PurgePlan | None
    projects: tuple[tuple[str, int], ...]

    @property
    def elsewhere(self) -> list[str]:
        return [f"Another project's history holds the words too: {_command(*one)}" for one in self.projects]

    def parts(self, memory: "Memory") -> "list[tuple[str, Memory, PurgePlan]]":
        """Return each plan with its memory, and where that is, as the head of its lines."""
        found = [("In your personal memory:", memory.personal, self.own)]
        return found if self.here is None else [*found, ("In this memory:", memory, self.here)]

    def as_one(self, memory: "Memory") -> PurgePlan:
        """Return both as one plan to be shown, the personal memory's first, named as they are cited here."""
        here, cited = self.here or PurgePlan((), (), ()), memory.globals.as_cited
        others = [
            RemainingMatch(cite("fact", number), "project", path, "of another project", path, can=False, note=command)
            for path, number in self.projects
            for command in [f"To erase it there: {_command(path, number)}"]
        ]
        return PurgePlan(
            (*(replace(one, citation=cited(one.citation)) for one in self.own.going), *here.going),
            (*(replace(one, citation=cited(one.citation)) for one in self.own.places), *here.places, *others),
            (*self.own.texts, *here.texts),
            (*self.own.names, *here.names),
        )

    def run(self, memory: "Memory", chosen: frozenset[int]) -> "tuple[PurgeResult, PurgeTraces]":
        """Carry out both, with the `chosen` places of `as_one`; return what was done, and what is left, of both."""
        first = len(self.own.places)
        done: PurgeResult | None = None
        for _, at, plan in self.parts(memory):
            here = at is memory and plan is self.here
            picked = frozenset(one - first if here else one for one in chosen if (one >= first) == here)
            result = at.purge.run(plan, picked)
            left = left_of(at, plan, result)
            if done is None:
                done, traces = result, left
                continue
            done = replace(
                result,
                purged=done.purged + result.purged,
                scrubbed=done.scrubbed + result.scrubbed,
                left=(*done.left, *result.left),
                files=(*done.files, *result.files),
                finished=replace(
                    result.finished,
                    pending=done.finished.pending or result.finished.pending,
                    rewritten=(*done.finished.rewritten, *result.finished.rewritten),
                    removed=(*done.finished.removed, *result.finished.removed),
                    unread=(*done.finished.unread, *result.finished.unread),
                ),
            )
            traces = replace(left, verdicts=(*traces.verdicts, *left.verdicts), places=(*traces.places, *left.places))
        assert done is not None
        return done, traces


def plan_of_both(memory: "Memory", records: "Records") -> PlanOfBoth | None:
    """Return the plan of a purge that concerns both memories: of global facts, and of facts that were moved there, or
    here. None for any other. Raise NotFound, InvalidInput or StorageError."""
    try:
        own = memory.personal
    except MemorandaError:  # it is asked for again if it is needed
        own = None
    shared = [number for kind, number in records if kind == "global"]
    facts = [number for kind, number in records if kind == "fact"]
    rest = [(kind, number) for kind, number in records if kind != "global"]
    if own is memory:  # a fact's number is that of the global fact
        if not shared and not memory.moves.projects(facts):
            return None
        going = [*rest, *(("fact", number) for number in shared)]
    else:
        _, moved = memory.moves.beside(facts, shared)
        if not shared and not moved:
            return None
        going = [("fact", number) for number in (*shared, *moved)]
    own = own or memory.personal
    plan = purge_with_shared(own, own.purge.plan(going))
    # with all that say the same there, and were moved at another time
    gone = [int(one.key.strip("[]")) for one in plan.going if one.kind == "fact"]
    here = None
    if own is not memory:
        moved, _ = memory.moves.beside(facts, gone)
        both = [*rest, *(("fact", number) for number in moved)]
        here = purge_with_shared(memory, memory.purge.plan(both)) if both else None
    return PlanOfBoth(plan, here, tuple(memory.moves.projects(gone)))


def _command(path: str, number: int) -> str:
    return f"memoranda --db {path} purge {cite('fact', number)}"


def named(given: "ParsedArguments") -> "Records":
    """Return the records that a purge names. Raise InvalidInput."""
    cited = [reference(text, "fact", *PURGEABLE, "global") for text in given.ids]
    return [(one.kind, int(one.target)) for one in cited]


def purge(session: Session, given: "ParsedArguments") -> Outcome:
    """Erase what is named: in this memory alone, or in both."""
    by_words(given)
    both = plan_of_both(session.memory, named(given)) if given.ids else None
    return erase(session, given) if both is None else _purge_both(session, given, both)


def _purge_both(session: Session, given: "ParsedArguments", both: PlanOfBoth) -> Outcome:
    """Erase in both memories, after one question."""
    if given.scrub or given.leave:
        raise InvalidInput("Of a global fact the words are erased in every place of both memories.", "Name no place.")
    memory = session.memory
    names = [one.citation for one in both.as_one(memory).going]
    lines: list[str] = []
    if given.dry_run:
        for where, _, plan in both.parts(memory):
            lines += [where, *plan_lines(plan, plan.proposed())]
        return Outcome(lines=[*lines, *both.elsewhere], data=lambda: {"purge": names, "elsewhere": both.elsewhere})
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    question = f"Erase {count(len(names), 'record')} with all old versions, {', '.join(names[:NAMED])}{more}, in your"
    if not given.yes and not session.ask(
        f"{question} personal memory and here? This cannot be undone.", both.elsewhere
    ):
        raise Declined("Nothing was purged.")
    error = ""
    for where, at, plan in both.parts(memory):
        done = at.purge.run(plan, plan.proposed())
        traces = left_of(at, plan, done)
        lines += [where, *done_lines(done, traces)]
        error = error if finished(done, traces) else unfinished(done, traces)
    return Outcome(
        f"Erased {count(len(names), 'record')} with all old versions.",
        lambda: {"purged": names, "elsewhere": both.elsewhere},
        [*lines, *both.elsewhere],
        status=1 if error else 0,
        error=error,
    )
