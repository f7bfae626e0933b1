"""A purge in one memory or in two, the project's and the person's own, and what it reports; and whether a text is left
in either."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from store.base.citations import cite
from store.base.errors import ExitStatus, InvalidInput, NotFound
from store.database.tombstones import is_purge_pending
from store.memory import Memory
from store.purge.file_eraser import guard_path
from store.purge.proof import NOT_SEARCHED_NOTE, PurgeTraces, PurgeVerdict, find_traces
from store.purge.purge import PurgePlan, PurgeResult
from store.purge.registry import list_store_files
from store.purge.word_search import RemainingMatch
from store.upkeep.as_of import point_in_time
from store.upkeep.optional import find_sharing, with_shared_places

# kinds of places that are files of the person
PERSON_FILES = ("file", "export")
CHECK_COMMAND = "memoranda purge --check TEXT"
# of several ends of a purge, the first of these is that of both
PURGE_ENDS = (ExitStatus.CANNOT, ExitStatus.UNFINISHED, ExitStatus.ELSEWHERE, ExitStatus.DONE)


def name_some(names: Sequence[str], most: int = 10) -> str:
    """Return the first of some names, and how many are not named."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


@dataclass(slots=True, eq=False, repr=False)
class PurgeSelection:
    """The records that a purge is of: those named, each a kind and an id, found by a query, written by an origin, or
    older than a moment, of one kind or of all."""

    records: Sequence[tuple[str, int]]
    query: str | None
    origin: str | None
    before: str | None
    kind: str | None

    def plan(self, memory: Memory) -> PurgePlan:
        """Plan their purge, with the places where they were shared. Raise InvalidInput, NotFound."""
        purge = memory.purge
        if self.kind is not None and self.before is None:
            raise InvalidInput("--kind says which records older than a time go.", "purge --before 90d --kind turn")
        if sum((bool(self.records), *(one is not None for one in (self.query, self.origin, self.before)))) != 1:
            ways = "Name records, or a --query, an --origin, or --before a time: one of them."
            raise InvalidInput(ways, "purge 12 D#3")
        if self.before is not None:
            at = point_in_time(memory, self.before)
            found = purge.list_created_before(at.at, self.kind)
            if not found:
                none = f"Nothing that can be purged is older than {at.words}."
                raise NotFound(none, "memoranda timeline shows what there is.")
            plan = purge.plan(found, alone=True)
        elif self.origin is not None:
            plan = purge.plan(purge.list_by_origin(self.origin))
        elif self.query is not None:
            plan = purge.plan(*purge.list_by_words(memory.search, self.query))
        else:
            plan = purge.plan(self.records)
        return with_shared_places(memory, plan)


def _count(things: int, word: str) -> str:
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"


@dataclass(slots=True, eq=False, repr=False)
class PurgeReport:
    """What the purge of a plan did, in its `chosen` places, and what is left of its words."""

    plan: PurgePlan
    chosen: Collection[int]
    done: PurgeResult
    traces: PurgeTraces

    @property
    def is_finished(self) -> bool:
        """Whether everything was erased: nothing is pending, and each remaining place was left on purpose, or is not
        Memoranda's to change and was listed."""
        left = self.done.left
        if all(place.table == "export" for place in left) and self._list_unnamed():
            return False
        return not self.done.finished.pending and (self.traces.is_clean or bool(left))

    @property
    def error(self) -> str:
        """Why records are not, or may not be, erased, and what to do."""
        if self.is_finished:
            return ""
        if why := self.done.finished.pending:
            return f"Erasing is not finished: {why} Any later command that opens this memory finishes it."
        if self.traces.files_with_text or self.traces.places:
            return f"The words are still in the files named above. Run memoranda health --check, then {CHECK_COMMAND}."
        unread = "The files named above cannot be read, so they may still hold the words."
        return f"{unread} Delete them or make them readable, then run {CHECK_COMMAND}."

    @property
    def status(self) -> ExitStatus:
        """How the purge ends, by where words are left."""
        if self.done.finished.pending:
            return ExitStatus.UNFINISHED
        if not self.is_finished or len(self._list_scrubbed()) < len(self.chosen):
            return ExitStatus.CANNOT
        in_git = any(note for _, note in self.done.files)
        return ExitStatus.ELSEWHERE if self.done.left or in_git else ExitStatus.DONE

    def _list_unnamed(self) -> list[PurgeVerdict]:
        """List the files that hold the words and are not among the places that are left."""
        named = {place.key for place in self.done.left}
        return [one for one in self.traces.files_with_text if one.file not in named]

    def _list_scrubbed(self) -> list[RemainingMatch]:
        """List the chosen places, without those that were left because their files changed meanwhile."""
        left = {(one.table, one.key, one.span) for one in self.done.left}
        chosen = [self.plan.places[index] for index in sorted(self.chosen)]
        return [one for one in chosen if (one.table, one.key, one.span) not in left]

    def list_lines(self) -> list[str]:
        """Return the rest of the report: places scrubbed and left, what is pending, what cannot be reached from here,
        and the proof."""
        done, finished, traces = self.done, self.done.finished, self.traces
        lines = [f"Erased in {_count(done.scrubbed, 'other place')} too."] if done.scrubbed else []
        lines += [f"Cut out of your file {path}{f'; {note}' if note else ''}." for path, note in done.files]
        lines += [f"Rewrote {_count(len(finished.rewritten), 'backup')}."] if finished.rewritten else []
        lines += [
            f"Removed the backup {name}, which could not be rewritten; make a new one."
            for name in finished.removed
        ]
        lines += [f"The backup {name} cannot be read: look at it yourself." for name in finished.unread]
        listed = {place.citation for place in done.left}
        short = [place for place in traces.places if place.citation not in listed and not finished.pending]
        left = [*done.left, *short]
        lines += [f"Still holds the words: {place.citation} ({place.what})" for place in left[:50]]
        lines += [f"… and {len(left) - 50:,} more places."] if len(left) > 50 else []
        lines.append(NOT_SEARCHED_NOTE)
        lines += [f"Cannot be read, so it was not checked: {one.file}." for one in traces.unread_files]
        if finished.pending:
            lines.append(f"Pending: {finished.pending}")
        elif traces.is_clean:
            size = sum(one.size for one in traces.verdicts)
            lines.append(f"Checked {_count(len(traces.verdicts), 'file')}, {size:,} bytes: not found.")
        lines += [f"Found in {one.file}: {', '.join(one.found)}." for one in self._list_unnamed()]
        if done.left and traces.files_with_text:
            lines.append("What still holds the words is named above.")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return what the purge did, for scripts."""
        finished = self.done.finished
        return {
            "purged": [one.citation for one in self.plan.going],
            "scrubbed": [one.citation for one in self._list_scrubbed()],
            "left": [{"citation": place.citation, "what": place.what} for place in self.done.left],
            "pending": finished.pending,
            "backups": {"rewritten": list(finished.rewritten), "removed": list(finished.removed)},
            "traces": [{"file": one.file, "found": one.found} for one in self.traces.files_with_text],
            "files": len(self.traces.verdicts),
        }


def run_purge(memory: Memory, plan: PurgePlan, chosen: Collection[int]) -> PurgeReport:
    """Purge, and look for what is left of the words, wherever text is kept."""
    done = memory.purge.run_plan(plan, chosen)
    if sharing := find_sharing(memory):
        sharing.erase_purged(memory)
    erased = not done.finished.pending
    traces = find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=erased)
    return PurgeReport(plan, chosen, done, traces)


class PlanOfBoth(NamedTuple):
    """A purge in the personal memory, `own`, and in the one where it is asked, `here`: None where that is the personal
    one, or nothing of it goes. `projects` are others whose histories hold the words, each with the fact there."""

    own: PurgePlan
    here: PurgePlan | None
    projects: tuple[tuple[str, int], ...]

    @property
    def elsewhere(self) -> list[str]:
        return [f"Another project's history holds the words too: {_purge_command(*one)}" for one in self.projects]

    def parts(self, memory: Memory) -> list[tuple[str, Memory, PurgePlan]]:
        """Return each plan with its memory, and where that is, as the head of its lines."""
        found = [("In your personal memory:", memory.require_personal(), self.own)]
        return found if self.here is None else [*found, ("In this memory:", memory, self.here)]

    def as_one(self, memory: Memory) -> PurgePlan:
        """Return both plans as a single plan to show, the personal memory's first, with citations as in this
        memory."""
        here = self.here or PurgePlan((), (), ())
        cited = memory.globals.as_cited
        others = [
            RemainingMatch(
                cite("fact", number),
                "project",
                path,
                "of another project",
                path,
                can=False,
                note=f"To erase it there: {_purge_command(path, number)}",
            )
            for path, number in self.projects
        ]
        return PurgePlan(
            (*(one._replace(citation=cited(one.citation)) for one in self.own.going), *here.going),
            (*(one._replace(citation=cited(one.citation)) for one in self.own.places), *here.places, *others),
            (*self.own.texts, *here.texts),
            (*self.own.names, *here.names),
        )

    def run_parts(self, memory: Memory, chosen: Collection[int]) -> Iterator[tuple[str, PurgeReport]]:
        """Carry out each with the `chosen` places of `as_one`; yield where that was, and what was done."""
        first = len(self.own.places)
        for where, at, plan in self.parts(memory):
            here = plan is self.here
            picked = frozenset(one - first if here else one for one in chosen if (one >= first) == here)
            yield where, run_purge(at, plan, picked)

    def report_parts(self, memory: Memory) -> tuple[list[str], ExitStatus, str]:
        """Carry out each with all places that can be erased; return what was done in each, how the worst of them ended,
        and why."""
        lines, error = list[str](), ""
        ends = [ExitStatus.ELSEWHERE if self.projects else ExitStatus.DONE]
        for where, report in self.run_parts(memory, self.as_one(memory).default_places()):
            lines += [where, *report.list_lines()]
            error = report.error or error
            ends.append(report.status)
        return [*lines, *self.elsewhere], next(one for one in PURGE_ENDS if one in ends), error

    def run_both(self, memory: Memory, chosen: Collection[int]) -> PurgeReport:
        """Carry out both with the `chosen` places of `as_one`; return what was done in both together."""
        parts = [report for _, report in self.run_parts(memory, chosen)]
        done = _join([one.done for one in parts])
        return PurgeReport(self.as_one(memory), chosen, done, _join([one.traces for one in parts]))


def _join(results: Sequence[Any]) -> Any:
    """Return several results as one, field by field: sums of numbers, all members of tuples, the first text."""
    kind = type(results[0])
    if hasattr(kind, "_fields"):
        return kind(*map(_join, zip(*results, strict=True)))
    return next(filter(None, results), "") if kind is str else sum(results, kind())


def plan_in_both(memory: Memory, records: Sequence[tuple[str, int]]) -> PlanOfBoth | None:
    """Return the plan of a purge that concerns both memories: of global facts, and of facts that were moved there, or
    here. None for any other. Raise NotFound, InvalidInput or StorageError."""
    # None if it cannot be opened: it is asked for again if it is needed
    own = memory.personal
    shared = [number for kind, number in records if kind == "global"]
    facts = [number for kind, number in records if kind == "fact"]
    rest = [(kind, number) for kind, number in records if kind != "global"]
    # a fact's number is that of the global fact
    if own is memory:
        if not shared and not memory.moves.find_other_projects(facts):
            return None
        going = [*rest, *(("fact", number) for number in shared)]
    else:
        _, moved = memory.moves.find_counterparts(facts, shared)
        if not shared and not moved:
            return None
        going = [("fact", number) for number in (*shared, *moved)]
    own = own or memory.require_personal()
    plan = with_shared_places(own, own.purge.plan(going))
    # with all that say the same there, and were moved at another time
    gone = [int(one.key.strip("[]")) for one in plan.going if one.kind == "fact"]
    here = None
    if own is not memory:
        moved, _ = memory.moves.find_counterparts(facts, gone)
        both = [*rest, *(("fact", number) for number in moved)]
        here = with_shared_places(memory, memory.purge.plan(both)) if both else None
    return PlanOfBoth(plan, here, tuple(memory.moves.find_other_projects(gone)))


def _purge_command(path: str, number: int) -> str:
    """Return the command that purges a fact of another project."""
    return f"memoranda --db {path} purge {cite('fact', number)}"


class TextCheck(NamedTuple):
    """Whether a text is left: in a sentence, in lines to read, and as `data` for scripts; and how the check ends."""

    message: str
    lines: list[str]
    data: dict[str, Any]
    status: ExitStatus


def check_text(memory: Memory, text: str) -> TextCheck:
    """Look for a text in every file of the memory, and of the person's own beside it. Raise InvalidInput for none, and
    StorageError."""
    if not text.strip():
        empty = "There is nothing to look for in an empty text."
        raise InvalidInput(empty, "echo TEXT | memoranda purge --check -")
    try:
        # where it cannot be read nothing is proved
        own = memory.require_personal()
    except NotFound:
        own = memory
    verdicts: dict[str, PurgeVerdict] = {}
    places: list[RemainingMatch] = []
    stored = {guard_path()}
    for one in dict.fromkeys((memory, own)):
        found = find_traces(one.database, one.documents, [text])
        for verdict in found.verdicts:
            verdicts.setdefault(os.path.realpath(verdict.file), verdict)
        cited = str if one is memory else memory.globals.as_cited
        places += [place._replace(citation=cited(place.citation)) for place in found.places]
        stored.update(list_store_files(one.database.path))
    traces = PurgeTraces(tuple(verdicts.values()), tuple(places))
    holding = list(dict.fromkeys(place.citation for place in places))
    status = ExitStatus.DONE
    where = "No trace of it in"
    read = "of which not all can be read" if traces.unread_files else "read to the last byte"
    folder = os.path.join(os.path.dirname(memory.database.path), "")
    lines = []
    for verdict in traces.verdicts:
        name = verdict.file.removeprefix(folder)
        word, how = ("FOUND ", f"  {', '.join(verdict.found)}") if verdict.found else ("clean ", "")
        says = f"{word}  {name}  {verdict.size:,} bytes{how}"
        lines.append(says if verdict.size >= 0 else f"unread  {name}: it cannot be read")
    if holding:
        lines.append(f"The records that hold it: {name_some(holding)}.")
        where = "Half of it stands in a place named below, all of it in none of"
    if traces.files_with_text:
        where = f"Found in {len(traces.files_with_text):,} of"
    if (traces.files_with_text or holding) and is_purge_pending(memory.database):
        lines.append("Erasing is not finished: close other programs using this memory, and check again.")
        status = ExitStatus.UNFINISHED
    elif not traces.is_clean:
        inside = any(place.table not in PERSON_FILES for place in places)
        inside = inside or any(verdict.file in stored for verdict in traces.files_with_text)
        status = ExitStatus.CANNOT if inside or traces.unread_files else ExitStatus.ELSEWHERE
    data = {
        "found": bool(traces.files_with_text or holding),
        "files": [verdict._asdict() for verdict in traces.verdicts],
        "records": holding,
    }
    message = f"{where} {_count(len(traces.verdicts), 'file')}, {read}."
    return TextCheck(message, [*lines, NOT_SEARCHED_NOTE], data, status)
