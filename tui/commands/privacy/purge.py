"""purge, verify-forgotten: erase for good, and prove it."""

import os

from store.base.errors import Declined, InvalidInput, NotFound
from store.base.vocabulary import PURGEABLE
from tui.commands import Outcome, Session, text_of
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from store.memory import Memory
    from store.purge.proof import Traces, Verdict
    from store.purge.purge import Done, PurgePlan
    from store.purge.scan.column_scan import RemainingMatch
    from tui.input.argument_parser import ParsedArguments

FOUND_LIMIT = 100_000  # maximum hits of a search that are purged at once
NAMED = 10  # records listed in a question


def purge(session: Session, given: "ParsedArguments") -> Outcome:
    plan = planned(session.memory, given)
    chosen = _scrubbed(plan, given.scrub, given.leave)
    if given.dry_run:
        return Outcome(lines=plan_lines(plan, chosen), data=lambda: plan_as_json(plan, chosen))
    if not given.yes and not session.ask(_question(plan, chosen)):
        raise Declined("Nothing was purged.")
    done = session.memory.purge.run(plan, chosen)
    traces = left_of(session.memory, plan, done)
    return Outcome(
        f"Erased {count(done.purged, 'record')} with all old versions.",
        lambda: done_as_json(plan, chosen, done, traces),
        done_lines(done, traces),
        status=0 if finished(done, traces) else 1,
        error="" if finished(done, traces) else unfinished(done, traces),
    )


def unfinished(done: "Done", traces: "Traces") -> str:
    """Explain why records are not, or may not be, erased, and what to do."""
    if why := done.finished.pending:
        return f"Erasing is not finished: {why} Any later command that opens this memory finishes it."
    if not (traces.found or traces.places):
        return (
            "The files named above cannot be read, so they may still hold the words. Delete them or make them readable,"
            " then run memoranda verify-forgotten."
        )
    return "The words are still in the files named above. Run memoranda doctor, then memoranda verify-forgotten."


def left_of(memory: "Memory", plan: "PurgePlan", done: "Done") -> "Traces":
    """Find what is left of the purged words, wherever text is kept."""
    from store.purge.proof import trace
    from store.team.sharing import erase_shared

    erase_shared(memory)
    return trace(memory.database, memory.documents, plan.texts, plan.names, erased=not done.finished.pending)


def finished(done: "Done", traces: "Traces") -> bool:
    """Return whether everything was erased: nothing is pending, and each remaining place was left on purpose, or is not
    Memoranda's to change and was listed."""
    named = {place.key for place in done.left}
    if all(place.table == "export" for place in done.left) and any(one.file not in named for one in traces.found):
        return False
    return not done.finished.pending and (traces.none or bool(done.left))


def verify(session: Session, given: "ParsedArguments") -> Outcome:
    from store.database.erasure.purge_state import pending
    from store.purge.proof import OUT_OF_REACH, trace

    text = text_of(session, given.text, "verify-forgotten")
    if not text.strip():
        raise InvalidInput("There is nothing to look for in an empty text.", "echo TEXT | memoranda verify-forgotten -")
    memory = session.memory
    traces = trace(memory.database, memory.documents, [text])
    holding = [place.citation for place in traces.places]
    if (own := _personal(memory)) is not None:
        theirs = trace(own.database, own.documents, [text])
        known = {os.path.realpath(one.file) for one in traces.verdicts}
        more = [one for one in theirs.verdicts if os.path.realpath(one.file) not in known]
        traces = type(traces)((*traces.verdicts, *more), (*traces.places, *theirs.places))
        holding += [memory.globals.as_cited(place.citation) for place in theirs.places]
    holding = list(dict.fromkeys(holding))
    lines = [verdict_line(one, memory.database.path) for one in traces.verdicts]
    if holding:
        lines.append(f"The records that hold it: {', '.join(holding[:NAMED])}{_more(holding)}.")
    if (traces.found or holding) and pending(memory.database):
        lines.append("Erasing is not finished: close other programs using this memory, and check again.")
    where = f"Found in {len(traces.found):,} of" if traces.found else "No trace of it in"
    if holding and not traces.found:
        where = "Half of it stands in a place named below, all of it in none of"
    files = count(len(traces.verdicts), "file")
    return Outcome(
        f"{where} {files}, {'read to the last byte' if not traces.unread else 'of which not all can be read'}.",
        lambda: {
            "found": bool(traces.found or holding),
            "files": [{"file": one.file, "size": one.size, "found": list(one.found)} for one in traces.verdicts],
            "records": holding,
        },
        [*lines, OUT_OF_REACH],
        status=0 if traces.none else 1,
    )


def _personal(memory: "Memory") -> "Memory | None":
    """Return the person's own memory beside a project's; None where there is none. Raises StorageError where it cannot
    be read: then nothing is proved."""
    try:
        own = memory.personal
    except NotFound:
        return None
    return None if own is memory else own


# selection


def by_words(given: "ParsedArguments") -> None:
    """Take words that cite no record for a query, as in `purge Greta`; not with --yes, where one may be a mistyped
    citation."""
    from store.base.citations import parse

    def cites(text: str) -> bool:
        try:
            parse(text, "fact")
        except InvalidInput:
            return False
        return True

    if given.ids and given.query is None and not given.yes and not any(map(cites, given.ids)):
        given.set("query", " ".join(given.ids))
        given.set("ids", [])


def planned(memory: "Memory", given: "ParsedArguments") -> "PurgePlan":
    """Plan the purge of the records named, found, written by an origin, or older than a moment, with the places where
    they were shared. Raises InvalidInput, NotFound."""
    from store.team.sharing import with_shared as purge_with_shared

    return purge_with_shared(memory, _planned(memory, given))


def _planned(memory: "Memory", given: "ParsedArguments") -> "PurgePlan":
    from tui.commands import reference

    if given.kind is not None and given.before is None:
        raise InvalidInput("--kind says which records older than a time go.", "purge --before 90d --kind turn")
    ways = [bool(given.ids), given.query is not None, given.origin is not None, given.before is not None]
    if sum(ways) != 1:
        raise InvalidInput("Name records, or a --query, an --origin, or --before a time: one of them.", "purge 12 D#3")
    if given.before is not None:
        return memory.purge.plan(_older(memory, given.before, given.kind), alone=True)
    if given.origin is not None:
        return memory.purge.plan(memory.purge.of_origin(given.origin))
    if given.query is not None:
        return memory.purge.plan(*_found(memory, given.query))
    citations = [reference(text, "fact", *PURGEABLE) for text in given.ids]
    return memory.purge.plan([(citation.kind, int(citation.target)) for citation in citations])


def _older(memory: "Memory", before: str, kind: str | None) -> list[tuple[str, int]]:
    from store.services.point_in_time import moment

    at = moment(memory, before)
    found = memory.purge.before(at.at, kind)
    if not found:
        raise NotFound(
            f"Nothing that can be purged is older than {at.words}.", "memoranda timeline shows what there is."
        )
    return found


def _found(memory: "Memory", query: str) -> tuple[list[tuple[str, int]], list[str]]:
    """Return (the purgeable hits of a keyword search, only those that contain every word literally, none that is merely
    similar; the words, which are erased too)."""
    from store.base.record_keys import unpack
    from store.search.query.filters import check as check_query
    from store.search.query.query_parser import parse

    def words_of(text: str) -> set[str]:
        return {word.casefold() for word in parse(text, memory.now).words}

    check_query(memory.database, query)
    words = words_of(query)
    found = []
    for hit in memory.search(query, FOUND_LIMIT, meaning=False).hits:
        kind, number = unpack(hit.key)
        said = memory.database.row("SELECT title, text FROM corpus WHERE id = ?", (hit.key,)) or ()
        if kind in PURGEABLE and words <= words_of("\n".join(said)):
            found.append((kind, number))
    if not found:
        raise NotFound(
            "That search finds nothing that can be purged.",
            "It leaves out what was forgotten or rejected, and earlier versions:"
            " memoranda verify-forgotten TEXT names the records that hold it, to be purged by their numbers.",
        )
    return found, [parse(query, memory.now).text]


def _scrubbed(plan: "PurgePlan", only: list[str], leave: list[str]) -> frozenset[int]:
    """Return the places to scrub: all that can be, or those of `only`, without those of `leave`. Raises
    InvalidInput."""
    chosen = _places(plan, only) if only else plan.proposed()
    return chosen - _places(plan, leave)


def _places(plan: "PurgePlan", named: list[str]) -> frozenset[int]:
    found = frozenset[int]()
    for word in (word.strip() for text in named for word in text.split(",")):
        places = {index for index, place in enumerate(plan.places) if _named(word, place)}
        if not places and word not in ("all", "files"):
            raise InvalidInput("That is not among the places that hold the words.", "See them with --dry-run.")
        if stuck := next((plan.places[index] for index in places if not plan.places[index].can), None):
            raise InvalidInput(f"{stuck.citation} cannot be erased: {stuck.what}.", "Leave it out.")
        found |= places
    return found


def _named(word: str, place: "RemainingMatch") -> bool:
    """Return whether a word names this place: its citation or file name, `all` for everything in the memory, `files`
    for what can be cut out of files of its own."""
    if word in ("all", "files"):
        return place.can and (place.table == "file") == (word == "files")
    return word == place.citation or (place.table == "file" and word == place.key)


def _question(plan: "PurgePlan", chosen: frozenset[int]) -> str:
    names = [one.citation for one in plan.going]
    staying = [place.citation for index, place in enumerate(plan.places) if index not in chosen]
    files = dict.fromkeys(plan.places[index].key for index in sorted(chosen) if plan.places[index].table == "file")
    scrubbed = f" Erased in {count(len(chosen), 'other place')} too." if chosen else ""
    if files:
        scrubbed += f" Sentences are cut out of your files {', '.join(files)}."
    left = f" The words stay in {', '.join(staying[:NAMED])}{_more(staying)}." if staying else ""
    return (
        f"Erase {count(len(names), 'record')} with all old versions, {', '.join(names[:NAMED])}{_more(names)}?"
        f"{scrubbed}{left} This cannot be undone."
    )


def _more(names: "Sequence[str]") -> str:
    return f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""


# output


def plan_lines(plan: "PurgePlan", chosen: frozenset[int]) -> list[str]:
    """Return a line for each record to erase and each other place that contains the words."""
    from tui.commands.record_lines import cut
    from tui.theme.escape import visible

    lines = [f"Would erase {count(len(plan.going), 'record')} with all old versions:"]
    for one in plan.going:
        why = f"  ({one.why})" if one.why else ""
        lines.append(f"  − {one.citation:<6}  {cut(visible(one.text))}{why}")
    if plan.places:
        lines.append("The same words are in:")
    for index, place in enumerate(plan.places):
        what = f"{place.what}, would be cut" if place.table == "file" and index in chosen else place.what
        what = f"{what}; {place.note}" if place.note else what
        lines.append(f"  {box(place, index in chosen)} {visible(place.citation)}  {cut(visible(place.text))}  ({what})")
    if any(place.can for place in plan.places):
        files = ", --leave files all of your own files" if any(one.table == "file" for one in plan.places) else ""
        lines.append(f"[x] is erased here too; --leave ID leaves one as it is{files}.")
    return lines


def box(place: "RemainingMatch", chosen: bool) -> str:
    return "[x]" if chosen else "[ ]" if place.can else "[-]"


def plan_as_json(plan: "PurgePlan", chosen: frozenset[int]) -> "dict[str, Any]":
    return {
        "purge": [{"citation": one.citation, "kind": one.kind, "text": one.text, "why": one.why} for one in plan.going],
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


def done_lines(done: "Done", traces: "Traces") -> list[str]:
    """Return the rest of a purge's report: places scrubbed and left, what is pending, what cannot be reached from here,
    and the proof."""
    from store.purge.proof import OUT_OF_REACH
    from tui.theme.escape import visible

    finished = done.finished
    lines = []
    if done.scrubbed:
        lines.append(f"Erased in {count(done.scrubbed, 'other place')} too.")
    for path, note in done.files:
        lines.append(f"Cut out of your file {visible(path)}{f'; {note}' if note else ''}.")
    if finished.rewritten:
        lines.append(f"Rewrote {count(len(finished.rewritten), 'backup')}.")
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
    lines.append(OUT_OF_REACH)
    for one in traces.unread:
        lines.append(f"Cannot be read, so it was not checked: {visible(one.file)}.")
    if finished.pending:
        lines.append(f"Pending: {finished.pending}")
    elif traces.none:
        size = sum(one.size for one in traces.verdicts)
        lines.append(f"Checked {count(len(traces.verdicts), 'file')}, {size:,} bytes: not found.")
    named = {place.key for place in done.left}
    for one in traces.found:
        if one.file not in named:
            lines.append(f"Found in {visible(one.file)}: {', '.join(one.found)}.")
    if done.left and traces.found:
        lines.append("What still holds the words is named above.")
    return lines


def done_as_json(plan: "PurgePlan", chosen: frozenset[int], done: "Done", traces: "Traces") -> "dict[str, Any]":
    return {
        "purged": [one.citation for one in plan.going],
        "scrubbed": [plan.places[index].citation for index in sorted(chosen) if not _left(plan.places[index], done)],
        "left": [{"citation": place.citation, "what": place.what} for place in done.left],
        "pending": done.finished.pending,
        "backups": {"rewritten": list(done.finished.rewritten), "removed": list(done.finished.removed)},
        "traces": [{"file": one.file, "found": list(one.found)} for one in traces.found],
        "files": len(traces.verdicts),
    }


def _left(place: "RemainingMatch", done: "Done") -> bool:
    """Return whether a selected place was left because its file changed meanwhile."""
    return place.table == "file" and any((one.key, one.span) == (place.key, place.span) for one in done.left)


def verdict_line(verdict: "Verdict", path: str) -> str:
    """Format one file of a proof; inside the memory's folder by its relative name."""
    from tui.theme.escape import visible

    folder = os.path.join(os.path.dirname(path), "")
    name = visible(verdict.file.removeprefix(folder))
    if verdict.size < 0:
        return f"unread  {name}: it cannot be read"
    word, how = ("FOUND ", f"  {', '.join(verdict.found)}") if verdict.found else ("clean ", "")
    return f"{word}  {name}  {verdict.size:,} bytes{how}"
