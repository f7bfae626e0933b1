"""ingest, sessions, flush, clear."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import islice

from store.base.citations import cite
from store.base.clock import format_age, format_local_time
from store.base.errors import ExitStatus, InvalidInput, MemorandaError, StorageError
from store.base.models import as_json
from store.conversations.extraction_queue import retry_given_up
from store.conversations.turns import LONGEST_TURN
from store.ingest.runner import IngestReport, ingest_file, list_discarded
from store.learning.rule_pass import RulePassResult, run_rule_pass
from store.upkeep.maintenance import start_or_resume_session
from store.upkeep.session_flush import clear_session, flush_due_sessions, flush_session, summarize_ended_sessions
from tui.commands.call import Interrupt, Outcome, Session
from tui.commands.record_lines import more_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import agree_verb, format_count

TRANSCRIPT_SUFFIX = ".jsonl"
READING_SECONDS = 2.0  # spent on what was imported; the application continues with the rest
LARGE_TRANSCRIPT = 4 << 20  # bytes: takes some seconds
SEARCHED_FOLDERS = 1_000  # folders below a named one in which conversations are looked for, to name one of them


def ingest(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    report = IngestReport()
    failures: list[tuple[str, MemorandaError]] = []
    sources = _transcript_files(session, given.source, failures)
    if memory.database.door == "app":
        _refuse_large(sources)
    with Interrupt() as interrupt:
        for source in sources:
            if interrupt.asked:
                break
            try:
                ingest_file(
                    memory.database,
                    sys.stdin.buffer if source == "-" else source,
                    session=given.session,
                    project=memory.location.project or "",
                    report=report,
                    progress=_reading_progress(session, source),
                    cancelled=lambda: interrupt.asked,
                )
            except MemorandaError as error:
                failures.append((source, error))
    if failures and not report.files and len(failures) == len(given.source) == 1:
        raise failures[0][1]
    goes_on = memory.database.door == "app"  # the application continues in the background
    if not interrupt.asked:
        session.wait("Summing up what was said")
        flush_due_sessions(memory)
        if not goes_on:
            summarize_ended_sessions(memory)
    read = run_rule_pass(memory, seconds=0 if goes_on or interrupt.asked else READING_SECONDS)
    lines = [*_ingest_lines(report), *_learned_lines(read), *(str(error) for _, error in failures)]
    message = _ingest_message(report) if report.files or not failures else "Nothing could be read."
    status = ExitStatus.CANNOT if failures else ExitStatus.DONE
    return Outcome(
        f"{message} Stopped there; the same ingest continues." if interrupt.asked else message,
        lambda: {**_ingest_json(report, failures), "learned": _learned_json(read)},
        lines,
        status=ExitStatus.UNFINISHED if interrupt.asked else status,
    )


def _reading_progress(session: Session, source: str) -> Callable[[int, int], None]:
    """Return a function that shows how far a source was read: in percent, or in bytes of a stream."""
    called = "standard input" if source == "-" else os.path.basename(source)

    def show(done: int, total: int) -> None:
        session.wait(
            f"Reading {called}: " + (f"{100 * done // total} %" if total else f"{done / 1_000_000:,.1f} MB")
        )

    return show


def _transcript_files(session: Session, named: list[str], failures: list[tuple[str, MemorandaError]]) -> list[str]:
    """Return the files to read; a folder that cannot be read is among the `failures`. Raises InvalidInput."""
    found: list[str] = []
    for name in named:
        path = name if name == "-" else os.path.join(session.cwd, os.path.expanduser(name))
        if name == "-" and (sys.stdin is None or sys.stdin.isatty() or session.application is not None):
            raise InvalidInput("Standard input is a terminal here.", "Pipe lines into it: … | memoranda ingest -")
        if os.path.isdir(path):
            try:
                inside = sorted(one for one in os.listdir(path) if one.endswith(TRANSCRIPT_SUFFIX))
            except OSError as error:
                why = f"{path} cannot be read: {error.strerror}."
                failures.append((path, StorageError(why, "Look at its name and permissions.")))
                continue
            if not inside:
                raise _no_transcripts(path)
            found += [os.path.join(path, one) for one in inside]
        else:
            found.append(path)
    return found


def _no_transcripts(path: str) -> InvalidInput:
    """Return why nothing of a folder is read. Those below it are not: a folder of all conversations holds other
    projects' too."""
    said = f"{path} holds no {TRANSCRIPT_SUFFIX} files"
    for folder, _, names in islice(os.walk(path), SEARCHED_FOLDERS):
        if any(name.endswith(TRANSCRIPT_SUFFIX) for name in names):
            return InvalidInput(
                f"{said} itself, and folders below it do.",
                f"Name one, {folder}, or bring in this project's: memoranda import claude-code.",
            )
    return InvalidInput(f"{said}.", "Name the files themselves.")


def _refuse_large(sources: list[str]) -> None:
    """Refuse large files inside the application, where a verb blocks the writer and later writes wait. Raises
    InvalidInput."""
    size = sum(os.path.getsize(path) for path in sources if os.path.isfile(path))
    if size > LARGE_TRANSCRIPT:
        raise InvalidInput(
            f"That is {size >> 20:,} MB, which would keep the application waiting.",
            "Bring it in from a shell, beside it; or name it in ingest.paths, and it is imported automatically.",
        )


def _ingest_message(report: IngestReport) -> str:
    """Return the message about what was read."""
    if not report.added:
        return "Nothing new." if report.known or report.bytes or not report.broken else "Nothing could be read."
    return f"Brought in {format_count(report.added, 'turn')} of {format_count(len(report.sessions), 'session')}."


def _ingest_lines(report: IngestReport) -> list[str]:
    """Return further lines about what was read."""
    lines = []
    for number, says in (
        (report.known, "are already known"),
        (report.discarded - report.dropped, "set aside for a day: greetings, thanks, what tools wrote"),
        (report.dropped, "left out: greetings, thanks, what tools wrote more than a day ago"),
        (report.elsewhere, "of another project, and not taken"),
        (report.purged, "were erased here once, and stay out"),
        (report.cut, f"longer than {LONGEST_TURN:,} characters, and cut there"),
        (
            report.doubtful,
            "may hold another's words: what rules hear in them is proposed, no model reads them",
        ),
        (report.waiting, "still being written in its last line, which is read the next time"),
    ):
        if number:
            lines.append(f"{number:,} {says}")
    lines += [f"{path} is not the file it was: read from its beginning" for path in report.anew]
    for path, number, why in report.troubles:
        lines.append(f"{os.path.basename(path) or 'standard input'}, line {number:,}: {why}")
    if report.broken:
        more = report.broken - len(report.troubles)
        lines.append(f"{report.broken:,} broken {'line was' if report.broken == 1 else 'lines were'} passed over")
        lines[-1] += f", {more:,} of them not shown" if more else ""
    return lines


def _ingest_json(report: IngestReport, failures: list[tuple[str, MemorandaError]]) -> dict[str, object]:
    """Return what was read for scripts."""
    fields = {name: getattr(report, name) for name in type(report).__slots__}
    whole = [(path, 0, error.message) for path, error in failures]
    troubles = [{"file": path, "line": number, "why": why} for path, number, why in (*report.troubles, *whole)]
    return {**fields, "troubles": troubles, "sessions": sorted(report.sessions)}


def _learned_lines(read: RulePassResult) -> list[str]:
    """Return a line for each record learned from the messages."""
    learned, lines = read.learned, []
    for verb, kind, numbers in (
        ("Learned", "fact", learned.facts),
        ("Confirmed", "fact", learned.confirmed),
        ("Asks", "proposal", learned.proposed),
    ):
        if numbers:
            more = f" and {len(numbers) - 10:,} more" if len(numbers) > 10 else ""
            where = ": see memoranda today" if kind == "proposal" else ""
            lines.append(f"{verb} {' '.join(cite(kind, number) for number in numbers[:10])}{more}{where}")
    if read.left:
        lines.append(
            f"{format_count(read.left, 'turn')} still to be learned from: the application continues, or flush"
        )
    return lines


def _learned_json(read: RulePassResult) -> dict[str, object]:
    """Return what was learned, for scripts."""
    learned = read.learned
    return {
        "facts": [cite("fact", number) for number in learned.facts],
        "confirmed": [cite("fact", number) for number in learned.confirmed],
        "proposed": [cite("proposal", number) for number in learned.proposed],
        "left": read.left,
    }


def sessions(session: Session, given: ParsedArguments) -> Outcome:
    """List sessions or discarded texts, or start a session."""
    if given.what not in (None, "start"):
        raise InvalidInput("Sessions are listed, or started.", "sessions start NAME")
    if given.what == "start":
        if given.discarded or given.summaries:
            raise InvalidInput("A session that starts has nothing to list yet.", "Leave the option out.")
        return _start_session(session, given.name or "")
    if given.name:
        raise InvalidInput("Which session is listed is not asked.", "sessions start NAME begins one.")
    return _list_discarded(session, given) if given.discarded else _list_sessions(session, given)


def _start_session(session: Session, name: str) -> Outcome:
    begun = start_or_resume_session(session.memory, name, session.cwd)
    again = f" goes on: {format_count(begun.turns, 'turn')} so far." if begun.turns else " begins."
    return Outcome(f"Session {begun.id}{again}", lambda: as_json(begun))


def _list_discarded(session: Session, given: ParsedArguments) -> Outcome:
    """List the discarded texts, and when each is deleted."""
    memory = session.memory
    found = list_discarded(memory.database, memory.now, given.limit + 1)
    lines = []
    for one in found[: given.limit]:
        lines.append(f"{format_age(memory.now, one['at']):>6}  {one['role']:<9}  {shorten(one['text'], 100)}")
        lines.append(
            f"        {one['why']}, in {shorten(one['session'], 40)}; gone {format_local_time(one['until'])}"
        )
    return Outcome(
        data=lambda: found[: given.limit],
        lines=[
            *(
                lines
                or [
                    "Nothing is set aside. Greetings, thanks and what tools wrote are listed here for a day"
                    " after they were written."
                ]
            ),
            *more_line(max(0, len(found) - given.limit), given.limit),
        ],
    )


def _list_sessions(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    found = memory.sessions.list_newest(given.limit + 1)
    shown = found[: given.limit]
    lines = []
    for one in shown:
        state = (
            f"ended {format_local_time(one.ended_at)}"
            if one.ended_at
            else f"last said {format_local_time(one.last_at)}"
        )
        lines.append(f"{one.id}  {format_count(one.turns, 'turn')}, {state}")
        if given.summaries:
            lines += [
                f"  [{summary.citation}] {summary.prompt_line}" for summary in memory.summaries.active(one.id)
            ]
    if not lines:
        lines = ["No conversations yet. Bring one in: memoranda ingest FILE"]
    return Outcome(
        data=lambda: [
            {**as_json(one), "summaries": [as_json(summary) for summary in memory.summaries.active(one.id)]}
            for one in shown
        ],
        lines=[*lines, *more_line(len(found) - len(shown), given.limit)],
    )


def flush(session: Session, given: ParsedArguments) -> Outcome:
    retry_given_up(session.memory.database)
    done = flush_session(session.memory, given.session)
    said = (
        f"Session {done.session}: {format_count(len(done.summaries), 'summary').replace('summarys', 'summaries')}"
    )
    said += f", checkpoint {cite('checkpoint', done.checkpoint)}." if done.checkpoint else "; nothing else is new."
    return Outcome(
        said,
        lambda: {
            "session": done.session,
            "summaries": [cite("summary", number) for number in done.summaries],
            "checkpoint": cite("checkpoint", done.checkpoint) if done.checkpoint else None,
            "learned": _learned_json(done.read),
        },
        _learned_lines(done.read),
    )


def clear(session: Session, given: ParsedArguments) -> Outcome:
    done = clear_session(session.memory, given.session)
    return Outcome(
        f"Session {done.session} is over: its last "
        f"{format_count(done.messages, 'message')} {agree_verb(done.messages, 'are')} in"
        f" {done.path}.",
        lambda: {
            "session": done.session,
            "path": done.path,
            "messages": done.messages,
            "checkpoint": cite("checkpoint", done.checkpoint),
        },
    )
