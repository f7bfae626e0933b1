"""purge, verify-forgotten: erase for good, and prove it."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from store.base.citations import cite, parse_citation
from store.base.clock import format_local_time
from store.base.errors import Declined, ExitStatus, InvalidInput, NotFound
from store.base.vocabulary import PURGEABLE_KINDS
from store.config.configuration import user_settings_path
from store.database.tombstones import is_purge_pending
from store.memory import Memory
from store.purge.file_eraser import guard_path
from store.purge.proof import NOT_SEARCHED_NOTE, PurgeTraces, PurgeVerdict, find_traces
from store.purge.purge import PurgePlan, PurgeResult
from store.purge.registry import list_store_files
from store.purge.secret_scan import (
    PERSONAL_DATA_SCANNER,
    SECRET_SCANNER,
    LoggedRedaction,
    SecretLeak,
    count_redactions,
    list_redactions,
    scan_secrets,
    scrub_secrets,
)
from store.purge.word_search import RemainingMatch
from store.redaction.allowlist import add_allowance, list_allowances, remove_allowance
from store.redaction.rules import load_labels
from store.upkeep.as_of import point_in_time
from store.upkeep.optional import find_sharing, with_shared_places
from tui.commands.call import Outcome, Session, parse_reference, typed_or_piped_text
from tui.commands.record_lines import more_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import format_count
from tui.theme.escape import visible

PERSON_FILES = ("file", "export")  # kinds of places that are files of the person
NAMED_RECORDS = 10  # records listed in a question
# of several ends of a purge, the first of these is that of the command
PURGE_ENDS = (ExitStatus.CANNOT, ExitStatus.UNFINISHED, ExitStatus.ELSEWHERE, ExitStatus.DONE)


def purge_records(session: Session, given: ParsedArguments) -> Outcome:
    """Erase records for good, after a question, and prove that their words are gone."""
    plan = plan_purge(session.memory, given)
    chosen = _places_to_scrub(plan, given.scrub, given.leave)
    if given.dry_run:
        return Outcome(lines=purge_plan_lines(plan, chosen), data=lambda: purge_plan_json(plan, chosen))
    if not given.yes and not session.ask(_purge_question(plan, chosen)):
        raise Declined("Nothing was purged.")
    done = session.memory.purge.run_plan(plan, chosen)
    traces = trace_purged(session.memory, plan, done)
    return Outcome(
        f"Erased {format_count(done.purged, 'record')} with all old versions.",
        lambda: purge_done_json(plan, chosen, done, traces),
        purge_done_lines(done, traces),
        status=purge_status(plan, chosen, done, traces),
        error="" if is_finished(done, traces) else unfinished_words(done, traces),
    )


def unfinished_words(done: PurgeResult, traces: PurgeTraces) -> str:
    """Explain why records are not, or may not be, erased, and what to do."""
    if why := done.finished.pending:
        return f"Erasing is not finished: {why} Any later command that opens this memory finishes it."
    if not (traces.files_with_text or traces.places):
        return (
            "The files named above cannot be read, so they may still hold the words. Delete them or make them readable,"
            " then run memoranda verify-forgotten."
        )
    return "The words are still in the files named above. Run memoranda doctor, then memoranda verify-forgotten."


def trace_purged(memory: Memory, plan: PurgePlan, done: PurgeResult) -> PurgeTraces:
    """Find what is left of the purged words, wherever text is kept."""
    if sharing := find_sharing(memory):
        sharing.erase_purged(memory)
    return find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=not done.finished.pending)


def is_finished(done: PurgeResult, traces: PurgeTraces) -> bool:
    """Tell whether everything was erased: nothing is pending, and each remaining place was left on purpose, or is
    not Memoranda's to change and was listed."""
    named = {place.key for place in done.left}
    if all(place.table == "export" for place in done.left) and any(
        one.file not in named for one in traces.files_with_text
    ):
        return False
    return not done.finished.pending and (traces.is_clean or bool(done.left))


def purge_status(plan: PurgePlan, chosen: Collection[int], done: PurgeResult, traces: PurgeTraces) -> ExitStatus:
    """Return how a purge ends, by where words are left."""
    if done.finished.pending:
        return ExitStatus.UNFINISHED
    if not is_finished(done, traces) or any(_was_left(plan.places[index], done) for index in chosen):
        return ExitStatus.CANNOT
    in_git = any(note for _, note in done.files)
    return ExitStatus.ELSEWHERE if done.left or in_git else ExitStatus.DONE


def verify_forgotten(session: Session, given: ParsedArguments) -> Outcome:
    text = typed_or_piped_text(session, given.text, "verify-forgotten")
    if not text.strip():
        raise InvalidInput(
            "There is nothing to look for in an empty text.", "echo TEXT | memoranda verify-forgotten -"
        )
    memory = session.memory
    traces = find_traces(memory.database, memory.documents, [text])
    holding = [place.citation for place in traces.places]
    if (own := _personal_memory(memory)) is not None:
        theirs = find_traces(own.database, own.documents, [text])
        known = {os.path.realpath(one.file) for one in traces.verdicts}
        more = [one for one in theirs.verdicts if os.path.realpath(one.file) not in known]
        traces = type(traces)((*traces.verdicts, *more), (*traces.places, *theirs.places))
        holding += [memory.globals.as_cited(place.citation) for place in theirs.places]
    holding = list(dict.fromkeys(holding))
    lines = [verdict_line(one, memory.database.path) for one in traces.verdicts]
    if holding:
        lines.append(f"The records that hold it: {', '.join(holding[:NAMED_RECORDS])}{_and_more(holding)}.")
    if (traces.files_with_text or holding) and is_purge_pending(memory.database):
        lines.append("Erasing is not finished: close other programs using this memory, and check again.")
    where = f"Found in {len(traces.files_with_text):,} of" if traces.files_with_text else "No trace of it in"
    if holding and not traces.files_with_text:
        where = "Half of it stands in a place named below, all of it in none of"
    files = format_count(len(traces.verdicts), "file")
    return Outcome(
        f"{where} {files}, {'read to the last byte' if not traces.unread_files else 'of which not all can be read'}.",
        lambda: {
            "found": bool(traces.files_with_text or holding),
            "files": [{"file": one.file, "size": one.size, "found": list(one.found)} for one in traces.verdicts],
            "records": holding,
        },
        [*lines, NOT_SEARCHED_NOTE],
        status=_verified_status(traces, memory, own),
    )


def _verified_status(traces: PurgeTraces, memory: Memory, own: Memory | None) -> ExitStatus:
    """Return how a search for what is left of a text ends, by where it is left."""
    if traces.is_clean:
        return ExitStatus.DONE
    if (traces.files_with_text or traces.places) and is_purge_pending(memory.database):
        return ExitStatus.UNFINISHED
    memories = [memory] if own is None else [memory, own]
    stored = {guard_path(), *(file for one in memories for file in list_store_files(one.database.path))}
    inside = any(one.table not in PERSON_FILES for one in traces.places)
    inside = inside or any(one.file in stored for one in traces.files_with_text)
    return ExitStatus.CANNOT if inside or traces.unread_files else ExitStatus.ELSEWHERE


def _personal_memory(memory: Memory) -> Memory | None:
    """Return the person's own memory beside a project's; None where there is none. Raises StorageError where it cannot
    be read: then nothing is proved."""
    try:
        own = memory.require_personal()
    except NotFound:
        return None
    return None if own is memory else own


# selection


def take_words_as_query(given: ParsedArguments) -> None:
    """Take words that cite no record for a query, as in `purge Greta`; not with --yes, where one may be a mistyped
    citation."""

    def cites(text: str) -> bool:
        try:
            parse_citation(text, "fact")
        except InvalidInput:
            return False
        return True

    if given.ids and given.query is None and not given.yes and not any(map(cites, given.ids)):
        given.query = " ".join(given.ids)
        given.ids = []


def plan_purge(memory: Memory, given: ParsedArguments) -> PurgePlan:
    """Plan the purge of the records named, found, written by an origin, or older than a moment, with the places where
    they were shared. Raises InvalidInput, NotFound."""
    return with_shared_places(memory, _plan_selected(memory, given))


def _plan_selected(memory: Memory, given: ParsedArguments) -> PurgePlan:
    if given.kind is not None and given.before is None:
        raise InvalidInput("--kind says which records older than a time go.", "purge --before 90d --kind turn")
    ways = [bool(given.ids), given.query is not None, given.origin is not None, given.before is not None]
    if sum(ways) != 1:
        raise InvalidInput(
            "Name records, or a --query, an --origin, or --before a time: one of them.", "purge 12 D#3"
        )
    if given.before is not None:
        return memory.purge.plan(_records_before(memory, given.before, given.kind), alone=True)
    if given.origin is not None:
        return memory.purge.plan(memory.purge.list_by_origin(given.origin))
    if given.query is not None:
        return memory.purge.plan(*memory.purge.list_by_words(memory.search, given.query))
    citations = [parse_reference(text, "fact", *PURGEABLE_KINDS) for text in given.ids]
    return memory.purge.plan([(citation.kind, int(citation.target)) for citation in citations])


def _records_before(memory: Memory, before: str, kind: str | None) -> list[tuple[str, int]]:
    at = point_in_time(memory, before)
    found = memory.purge.list_created_before(at.at, kind)
    if not found:
        raise NotFound(
            f"Nothing that can be purged is older than {at.words}.", "memoranda timeline shows what there is."
        )
    return found


def _places_to_scrub(plan: PurgePlan, only: list[str], leave: list[str]) -> frozenset[int]:
    """Return the places to scrub: all that can be, or those of `only`, without those of `leave`. Raises
    InvalidInput."""
    chosen = _places_named(plan, only) if only else plan.default_places()
    return chosen - _places_named(plan, leave)


def _places_named(plan: PurgePlan, named: list[str]) -> frozenset[int]:
    """Return the places that these words name. Raise InvalidInput for a word that names none, or a place that
    cannot be erased."""
    found = frozenset[int]()
    for word in (word.strip() for text in named for word in text.split(",")):
        places = {index for index, place in enumerate(plan.places) if _names_place(word, place)}
        if not places and word not in ("all", "files"):
            raise InvalidInput("That is not among the places that hold the words.", "See them with --dry-run.")
        if stuck := next((plan.places[index] for index in places if not plan.places[index].can), None):
            raise InvalidInput(f"{stuck.citation} cannot be erased: {stuck.what}.", "Leave it out.")
        found |= places
    return found


def _names_place(word: str, place: RemainingMatch) -> bool:
    """Tell whether a word names this place: by its citation or file name; `all` names every place in the memory,
    `files` what can be cut out of the user's own files."""
    if word in ("all", "files"):
        return place.can and (place.table == "file") == (word == "files")
    return word == place.citation or (place.table == "file" and word == place.key)


def _purge_question(plan: PurgePlan, chosen: frozenset[int]) -> str:
    """Return the question whether to erase the records and places of a plan."""
    names = [one.citation for one in plan.going]
    staying = [place.citation for index, place in enumerate(plan.places) if index not in chosen]
    files = dict.fromkeys(plan.places[index].key for index in sorted(chosen) if plan.places[index].table == "file")
    scrubbed = f" Erased in {format_count(len(chosen), 'other place')} too." if chosen else ""
    if files:
        scrubbed += f" Sentences are cut out of your files {', '.join(files)}."
    left = f" The words stay in {', '.join(staying[:NAMED_RECORDS])}{_and_more(staying)}." if staying else ""
    return (
        f"Erase {format_count(len(names), 'record')} with all old versions, "
        f"{', '.join(names[:NAMED_RECORDS])}{_and_more(names)}?"
        f"{scrubbed}{left} This cannot be undone."
    )


def _and_more(names: Sequence[str]) -> str:
    """Return how many names are not listed."""
    return f" and {len(names) - NAMED_RECORDS:,} more" if len(names) > NAMED_RECORDS else ""


# output


def purge_plan_lines(plan: PurgePlan, chosen: frozenset[int]) -> list[str]:
    """Return a line for each record to erase and each other place that contains the words."""
    lines = [f"Would erase {format_count(len(plan.going), 'record')} with all old versions:"]
    for one in plan.going:
        why = f"  ({one.why})" if one.why else ""
        lines.append(f"  − {one.citation:<6}  {shorten(visible(one.text))}{why}")
    if plan.places:
        lines.append("The same words are in:")
    for index, place in enumerate(plan.places):
        what = f"{place.what}, would be cut" if place.table == "file" and index in chosen else place.what
        what = f"{what}; {place.note}" if place.note else what
        lines.append(
            f"  {place_box(place, index in chosen)} {visible(place.citation)}  {shorten(visible(place.text))}  ({what})"
        )
    if any(place.can for place in plan.places):
        files = ", --leave files all of your own files" if any(one.table == "file" for one in plan.places) else ""
        lines.append(f"[x] is erased here too; --leave ID leaves one as it is{files}.")
    return lines


def place_box(place: RemainingMatch, chosen: bool) -> str:
    """Return the checkbox of a place: chosen, not chosen, or not possible."""
    return "[x]" if chosen else "[ ]" if place.can else "[-]"


def purge_plan_json(plan: PurgePlan, chosen: frozenset[int]) -> dict[str, Any]:
    """Return a planned purge for scripts."""
    return {
        "purge": [
            {"citation": one.citation, "kind": one.kind, "text": one.text, "why": one.why} for one in plan.going
        ],
        "elsewhere": [
            {
                "citation": p.citation,
                "what": p.what,
                "text": p.text,
                "can": p.can,
                "scrub": index in chosen,
                "note": p.note,
            }
            for index, p in enumerate(plan.places)
        ],
    }


def purge_done_lines(done: PurgeResult, traces: PurgeTraces) -> list[str]:
    """Return the rest of a purge's report: places scrubbed and left, what is pending, what cannot be reached from here,
    and the proof."""
    finished = done.finished
    lines = []
    if done.scrubbed:
        lines.append(f"Erased in {format_count(done.scrubbed, 'other place')} too.")
    for path, note in done.files:
        lines.append(f"Cut out of your file {visible(path)}{f'; {note}' if note else ''}.")
    if finished.rewritten:
        lines.append(f"Rewrote {format_count(len(finished.rewritten), 'backup')}.")
    for name in finished.removed:
        lines.append(f"Removed the backup {visible(name)}, which could not be rewritten; make a new one.")
    for name in finished.unread:
        lines.append(f"The backup {visible(name)} cannot be read: look at it yourself.")
    listed = {place.citation for place in done.left}
    short = [place for place in traces.places if place.citation not in listed and not finished.pending]
    left = [*done.left, *short]
    lines += [f"Still holds the words: {visible(place.citation)} ({place.what})" for place in left[:50]]
    if len(left) > 50:
        lines.append(f"… and {len(left) - 50:,} more places.")
    lines.append(NOT_SEARCHED_NOTE)
    for one in traces.unread_files:
        lines.append(f"Cannot be read, so it was not checked: {visible(one.file)}.")
    if finished.pending:
        lines.append(f"Pending: {finished.pending}")
    elif traces.is_clean:
        size = sum(one.size for one in traces.verdicts)
        lines.append(f"Checked {format_count(len(traces.verdicts), 'file')}, {size:,} bytes: not found.")
    named = {place.key for place in done.left}
    for one in traces.files_with_text:
        if one.file not in named:
            lines.append(f"Found in {visible(one.file)}: {', '.join(one.found)}.")
    if done.left and traces.files_with_text:
        lines.append("What still holds the words is named above.")
    return lines


def purge_done_json(
    plan: PurgePlan, chosen: frozenset[int], done: PurgeResult, traces: PurgeTraces
) -> dict[str, Any]:
    """Return what a purge did, for scripts."""
    return {
        "purged": [one.citation for one in plan.going],
        "scrubbed": [
            plan.places[index].citation for index in sorted(chosen) if not _was_left(plan.places[index], done)
        ],
        "left": [{"citation": place.citation, "what": place.what} for place in done.left],
        "pending": done.finished.pending,
        "backups": {"rewritten": list(done.finished.rewritten), "removed": list(done.finished.removed)},
        "traces": [{"file": one.file, "found": list(one.found)} for one in traces.files_with_text],
        "files": len(traces.verdicts),
    }


def _was_left(place: RemainingMatch, done: PurgeResult) -> bool:
    """Tell whether a chosen place was left because its file changed meanwhile."""
    return any((one.table, one.key, one.span) == (place.table, place.key, place.span) for one in done.left)


def verdict_line(verdict: PurgeVerdict, path: str) -> str:
    """Format one file of a proof; inside the memory's folder by its relative name."""
    folder = os.path.join(os.path.dirname(path), "")
    name = visible(verdict.file.removeprefix(folder))
    if verdict.size < 0:
        return f"unread  {name}: it cannot be read"
    word, how = ("FOUND ", f"  {', '.join(verdict.found)}") if verdict.found else ("clean ", "")
    return f"{word}  {name}  {verdict.size:,} bytes{how}"


# Erase global facts, and facts that were moved: in the personal memory and in the project's, whose files both hold the
# words.

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
        return [f"Another project's history holds the words too: {_purge_command(*one)}" for one in self.projects]

    def parts(self, memory: Memory) -> list[tuple[str, Memory, PurgePlan]]:
        """Return each plan with its memory, and where that is, as the head of its lines."""
        found = [("In your personal memory:", memory.require_personal(), self.own)]
        return found if self.here is None else [*found, ("In this memory:", memory, self.here)]

    def as_one(self, memory: Memory) -> PurgePlan:
        """Return both plans as a single plan to show, the personal memory's first, with citations as in this
        memory."""
        here, cited = self.here or PurgePlan((), (), ()), memory.globals.as_cited
        others = [
            RemainingMatch(
                cite("fact", number), "project", path, "of another project", path, can=False, note=command
            )
            for path, number in self.projects
            for command in [f"To erase it there: {_purge_command(path, number)}"]
        ]
        return PurgePlan(
            (*(replace(one, citation=cited(one.citation)) for one in self.own.going), *here.going),
            (*(replace(one, citation=cited(one.citation)) for one in self.own.places), *here.places, *others),
            (*self.own.texts, *here.texts),
            (*self.own.names, *here.names),
        )

    def carry_out(self, memory: Memory, chosen: frozenset[int]) -> tuple[PurgeResult, PurgeTraces]:
        """Carry out both, with the `chosen` places of `as_one`; return what was done, and what is left, of both."""
        first = len(self.own.places)
        done: PurgeResult | None = None
        for _, at, plan in self.parts(memory):
            here = at is memory and plan is self.here
            picked = frozenset(one - first if here else one for one in chosen if (one >= first) == here)
            result = at.purge.run_plan(plan, picked)
            left = trace_purged(at, plan, result)
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
            traces = replace(
                left, verdicts=(*traces.verdicts, *left.verdicts), places=(*traces.places, *left.places)
            )
        assert done is not None
        return done, traces


def plan_in_both(memory: Memory, records: Records) -> PlanOfBoth | None:
    """Return the plan of a purge that concerns both memories: of global facts, and of facts that were moved there, or
    here. None for any other. Raise NotFound, InvalidInput or StorageError."""
    own = memory.personal  # None if it cannot be opened: it is asked for again if it is needed
    shared = [number for kind, number in records if kind == "global"]
    facts = [number for kind, number in records if kind == "fact"]
    rest = [(kind, number) for kind, number in records if kind != "global"]
    if own is memory:  # a fact's number is that of the global fact
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


def named_records(given: ParsedArguments) -> Records:
    """Return the records that a purge names. Raise InvalidInput."""
    cited = [parse_reference(text, "fact", *PURGEABLE_KINDS, "global") for text in given.ids]
    return [(one.kind, int(one.target)) for one in cited]


def purge(session: Session, given: ParsedArguments) -> Outcome:
    """Erase what is named: in this memory alone, or in both."""
    take_words_as_query(given)
    both = plan_in_both(session.memory, named_records(given)) if given.ids else None
    return purge_records(session, given) if both is None else _purge_both(session, given, both)


def _purge_both(session: Session, given: ParsedArguments, both: PlanOfBoth) -> Outcome:
    """Erase in both memories, after a single question."""
    if given.scrub or given.leave:
        raise InvalidInput(
            "Of a global fact the words are erased in every place of both memories.", "Name no place."
        )
    memory = session.memory
    names = [one.citation for one in both.as_one(memory).going]
    lines: list[str] = []
    if given.dry_run:
        for where, _, plan in both.parts(memory):
            lines += [where, *purge_plan_lines(plan, plan.default_places())]
        return Outcome(lines=[*lines, *both.elsewhere], data=lambda: {"purge": names, "elsewhere": both.elsewhere})
    more = f" and {len(names) - NAMED_RECORDS:,} more" if len(names) > NAMED_RECORDS else ""
    question = (
        f"Erase {format_count(len(names), 'record')} with all old versions, "
        f"{', '.join(names[:NAMED_RECORDS])}{more}, in your"
    )
    if not given.yes and not session.ask(
        f"{question} personal memory and here? This cannot be undone.", both.elsewhere
    ):
        raise Declined("Nothing was purged.")
    error, ends = "", [ExitStatus.ELSEWHERE if both.elsewhere else ExitStatus.DONE]
    for where, at, plan in both.parts(memory):
        done = at.purge.run_plan(plan, plan.default_places())
        traces = trace_purged(at, plan, done)
        lines += [where, *purge_done_lines(done, traces)]
        error = error if is_finished(done, traces) else unfinished_words(done, traces)
        ends.append(purge_status(plan, plan.default_places(), done, traces))
    return Outcome(
        f"Erased {format_count(len(names), 'record')} with all old versions.",
        lambda: {"purged": names, "elsewhere": both.elsewhere},
        [*lines, *both.elsewhere],
        status=next(one for one in PURGE_ENDS if one in ends),
        error=error,
    )


# redactions, scan-secrets: list what was redacted, mark what is no secret, and scan for secrets stored before a rule
# existed.

CUT_IS_GONE = "What was cut is gone; only its place is known. Not a secret? memoranda redactions allow RULE [SHAPE]"
STILL_IN_LOG = (
    " Another program is reading the memory, and its log still holds what was cut; close it, then say"
    " {again} again."
)
SHOWN_MATCHES = 3
REPLACE_SECRETS = "Whoever read them before may have them: replace them where they were issued."


# redactions


def redactions(session: Session, given: ParsedArguments) -> Outcome:
    if given.what is None:
        return _list_redactions(session, given)
    if given.what == "rules":
        return _list_rules(session)
    if given.what not in ("allow", "cut"):
        raise InvalidInput(
            "redactions are listed, allowed or cut again.", "memoranda redactions allow RULE [SHAPE]"
        )
    if given.rule is None:
        raise InvalidInput(f"{given.what} wants a rule.", "memoranda redactions rules lists them.")
    return _allow_rule(given) if given.what == "allow" else _cut_again(given)


def _list_redactions(session: Session, given: ParsedArguments) -> Outcome:
    found = list_redactions(session.memory.database, given.limit + 1)
    shown = found[: given.limit]
    allowed = list_allowances()
    lines = _align_cells([_cut_cells(cut) for cut in shown]) or ["Nothing was cut: no rule found a secret."]
    lines += more_line(len(found) - len(shown), given.limit)
    if shown:
        lines += ["", CUT_IS_GONE]
    if allowed:
        lines.append(f"Allowed by you: {visible(', '.join(allowed))}")
    return Outcome(
        lines=lines, data=lambda: {"redactions": [_cut_json(cut) for cut in shown], "allowed": list(allowed)}
    )


def _cut_cells(cut: LoggedRedaction) -> tuple[str, ...]:
    by = cut.actor if cut.actor == cut.door else f"{cut.actor}, {cut.door}"
    return format_local_time(cut.at), cut.citation, cut.field, _rule_times(cut.rule, cut.count), f"by {visible(by)}"


def _cut_json(cut: LoggedRedaction) -> dict[str, Any]:
    """Return a redaction for scripts."""
    return {name: getattr(cut, name) for name in ("at", "citation", "field", "rule", "count", "actor", "door")}


def _list_rules(session: Session) -> Outcome:
    counts = count_redactions(session.memory.database)
    allowed = list_allowances()
    rules: list[dict[str, Any]] = [
        {
            "rule": rule,
            "cuts": counts.get(rule, 0),
            "allowed": [item for item in allowed if item.partition("=")[0] == rule],
        }
        for rule in load_labels()
    ]
    cells = [
        (r["rule"], format_count(r["cuts"], "cut") if r["cuts"] else "", _allowed_words(r["allowed"]))
        for r in rules
    ]
    return Outcome(lines=_align_cells(cells), data=lambda: rules)


def _allowed_words(items: list[str]) -> str:
    return f"allowed: {visible(', '.join(items))}" if items else ""


def _allow_rule(given: ParsedArguments) -> Outcome:
    entry = add_allowance(given.rule, given.shape or "")
    again = f"memoranda redactions cut {entry.replace('=', ' ', 1)}"
    return Outcome(
        f"{entry} is not a secret from now on, in {user_settings_path()}. What "
        f"was cut before is gone. To cut it again: {again}",
        lambda: {"allowed": entry, "file": user_settings_path()},
    )


def _cut_again(given: ParsedArguments) -> Outcome:
    entry = remove_allowance(given.rule, given.shape or "")
    return Outcome(
        f"{entry} is cut again. What was stored meanwhile: memoranda scan-secrets finds it.",
        lambda: {"cut": entry, "file": user_settings_path()},
    )


# scan-secrets


def scan_for_secrets(session: Session, given: ParsedArguments) -> Outcome:
    database = session.memory.database
    scanner, thing = (PERSONAL_DATA_SCANNER, "trace of a person") if given.personal else (SECRET_SCANNER, "secret")
    again = f"memoranda scan-secrets {'--personal ' if given.personal else ''}--purge"
    pending_said = STILL_IN_LOG.format(again=again)
    leaks = scan_secrets(database, scanner)
    if not leaks:
        pending = given.purge and not scrub_secrets(
            database, (), scanner=scanner
        )  # a scrub that was interrupted left the log or a backup
        said = f"No {thing} was found in what is stored." + (pending_said if pending else "")
        return Outcome(
            said,
            lambda: {"found": [], "scrubbed": 0, "pending": pending},
            status=ExitStatus.UNFINISHED if pending else ExitStatus.DONE,
        )
    lines = _align_cells([_leak_cells(leak) for leak in leaks])
    found_leaks = [_leak_json(leak) for leak in leaks]
    number = sum(leak.count for leak in leaks)
    total = format_count(number, thing) if number == 1 or not given.personal else f"{number:,} traces of people"
    if not given.purge:
        none = "" if given.personal else "; for what is none: memoranda redactions allow RULE"
        return Outcome(
            data=lambda: {"found": found_leaks, "scrubbed": 0, "pending": False},
            lines=[*lines, "", f"{total} in {format_count(len(leaks), 'place')}. {again} cuts them out{none}"],
            status=ExitStatus.DONE if given.personal else ExitStatus.PERSON,
        )
    if not given.yes and not session.ask(f"Cut {total} out of {_first_places(leaks)} for good?"):
        raise Declined("Nothing was changed.")
    wiped = scrub_secrets(database, leaks, scanner=scanner)
    left = sum(leak.table == "history" for leak in leaks)
    rotate = "" if given.personal else f" {REPLACE_SECRETS}"
    said = f"Cut {total} out of {format_count(len(leaks), 'place')}; undo does not bring them back.{rotate}"
    if left:
        said = (
            f"Cut all but {format_count(left, 'place')} in history's own words, which its digests rest on.{rotate}"
        )
    return Outcome(
        said if wiped else said + pending_said,
        lambda: {"found": found_leaks, "scrubbed": len(leaks) - left, "pending": not wiped},
        [*lines, "Exports and copies elsewhere still contain them."],
        status=ExitStatus.UNFINISHED if not wiped else ExitStatus.CANNOT if left else ExitStatus.DONE,
    )


def _first_places(leaks: list[SecretLeak]) -> str:
    """Return the citations of the first five places, for the question."""
    names = list(dict.fromkeys(leak.citation for leak in leaks))
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _leak_cells(leak: SecretLeak) -> tuple[str, ...]:
    """Return the cells of a found secret in the list."""
    where = f"in step {leak.seq} of history" if leak.seq else ""
    seen = ", ".join(leak.masked[:SHOWN_MATCHES]) + (" …" if len(leak.masked) > SHOWN_MATCHES else "")
    return leak.citation, leak.field, _rule_times(leak.rule, leak.count), where, seen


def _leak_json(leak: SecretLeak) -> dict[str, Any]:
    """Return a found secret for scripts."""
    return {
        "citation": leak.citation,
        "field": leak.field,
        "rule": leak.rule,
        "count": leak.count,
        "step": leak.seq or None,
        "masked": leak.masked,
    }


def _rule_times(rule: str, number: int) -> str:
    """Return a rule, with the number of its matches if there are several."""
    return rule if number == 1 else f"{rule} ×{number}"


def _align_cells(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells in columns, two spaces apart."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))] if shown else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
