"""The command session, and conversations that are imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Annotated

from store.base.citations import cite
from store.base.errors import ExitStatus, InvalidInput, MemorandaError, StorageError
from store.base.models import as_json, select_fields
from store.conversations.extraction_queue import retry_given_up
from store.ingest.runner import IngestReport, ingest_file
from store.learning.rule_pass import run_rule_pass
from store.text.display import agree_verb, format_count
from store.upkeep.maintenance import start_or_resume_session
from store.upkeep.session_flush import clear_session, flush_due_sessions, flush_session, summarize_ended_sessions
from tui.commands.call import Call, Interrupt, Outcome
from tui.input.arguments import Shown, verb

TRANSCRIPT_SUFFIX = ".jsonl"
# spent on what was imported; the application continues with the rest
READING_SECONDS = 2.0
# bytes: takes some seconds
LARGE_TRANSCRIPT = 4 << 20
# folders below a named one in which conversations are looked for, to name one of them
SEARCHED_FOLDERS = 1_000


def bring_in_conversations(call: Call, named: Sequence[str], name: str) -> Outcome:
    """Import transcripts of Claude Code, files of `role: text`, or JSON lines; a conversation whose lines have no name
    is called `name`."""
    memory = call.memory
    report = IngestReport()
    failures: list[tuple[str, MemorandaError]] = []
    sources = _transcript_files(call, named, failures)
    # the application continues in the background
    goes_on = memory.database.door == "app"
    size = sum(os.path.getsize(path) for path in sources if os.path.isfile(path))
    # a verb blocks the application's writer there, and later writes wait
    if goes_on and size > LARGE_TRANSCRIPT:
        raise InvalidInput(
            f"That is {size >> 20:,} MB, which would keep the application waiting.",
            "Bring it in from a shell, beside it; or name it in ingest.paths, and it is imported automatically.",
        )
    with Interrupt() as interrupt:
        for source in sources:
            if interrupt.asked:
                break
            try:
                ingest_file(
                    memory.database,
                    sys.stdin.buffer if source == "-" else source,
                    session=name,
                    project=memory.location.project or "",
                    report=report,
                    progress=partial(_show_progress, call, source),
                    cancelled=lambda: interrupt.asked,
                )
            except MemorandaError as error:
                failures.append((source, error))
    if failures and not report.files and len(failures) == len(named) == 1:
        raise failures[0][1]
    if not interrupt.asked:
        call.wait("Summing up what was said")
        flush_due_sessions(memory)
        if not goes_on:
            summarize_ended_sessions(memory)
    read = run_rule_pass(memory, seconds=0 if goes_on or interrupt.asked else READING_SECONDS)
    lines = [*report.describe(), *read.describe(), *(str(error) for _, error in failures)]
    of = format_count(len(report.sessions), "session")
    message = f"Brought in {format_count(report.added, 'turn')} of {of}." if report.added else "Nothing new."
    only_broken = report.broken and not (report.added or report.known or report.bytes)
    if only_broken or (failures and not report.files):
        message = "Nothing could be read."
    status = ExitStatus.CANNOT if failures else ExitStatus.DONE
    troubles = [*report.troubles, *((path, 0, error.message) for path, error in failures)]
    if interrupt.asked:
        message = f"{message} Stopped there; the same import continues."
        status = ExitStatus.UNFINISHED
    return Outcome(
        message,
        lambda: {
            **select_fields(report, *type(report).__slots__),
            "troubles": [{"file": path, "line": number, "why": why} for path, number, why in troubles],
            "sessions": sorted(report.sessions),
            "learned": read.as_dict(),
        },
        lines,
        status=status,
    )


def _show_progress(call: Call, source: str, done: int, total: int) -> None:
    """Show how far a source was read: in percent, or in bytes of a stream."""
    called = "standard input" if source == "-" else os.path.basename(source)
    far = f"{100 * done // total} %" if total else f"{done / 1_000_000:,.1f} MB"
    call.wait(f"Reading {called}: {far}")


def _transcript_files(call: Call, named: Sequence[str], failures: list[tuple[str, MemorandaError]]) -> list[str]:
    """Return the files to read; a folder that cannot be read is among the `failures`. Raises InvalidInput."""
    found: list[str] = []
    for name in named:
        path = name if name == "-" else os.path.join(call.cwd, os.path.expanduser(name))
        if name == "-" and (sys.stdin is None or sys.stdin.isatty() or call.application is not None):
            raise InvalidInput(
                "Standard input is a terminal here.", "Pipe lines into it: … | memoranda import --conversations -"
            )
        if os.path.isdir(path):
            try:
                inside = sorted(one for one in os.listdir(path) if one.endswith(TRANSCRIPT_SUFFIX))
            except OSError as error:
                why = f"{path} cannot be read: {error.strerror}."
                failures.append((path, StorageError(why, "Look at its name and permissions.")))
                continue
            if not inside:
                said = f"{path} holds no {TRANSCRIPT_SUFFIX} files"
                # those below it are not read: a folder of all conversations holds other projects' too
                for folder, _, names in islice(os.walk(path), SEARCHED_FOLDERS):
                    if any(one.endswith(TRANSCRIPT_SUFFIX) for one in names):
                        raise InvalidInput(
                            f"{said} itself, and folders below it do.",
                            f"Name one, {folder}, or bring in this project's: memoranda import claude-code.",
                        )
                raise InvalidInput(f"{said}.", "Name the files themselves.")
            found += [os.path.join(path, one) for one in inside]
        else:
            found.append(path)
    return found


@verb(looks=lambda given: given.act != "start")
def session(
    call: Call,
    act: Annotated[str, Shown("start|flush|end", ("start", "flush", "end"))],
    name: str | None = None,
    *,
    session: Annotated[str, Shown("S")] = "",
) -> Outcome:
    """Begin a session, or summarise all of one before its context is cut, or end one.

    act: start also goes on with one; flush takes a checkpoint too; end keeps its last 15 messages in memory/snapshots
    name: which session: the newest without it; start calls one without a name by the moment
    session: the same, as an option
    """
    named = name or session
    if act == "start":
        begun = start_or_resume_session(call.memory, named, call.cwd)
        again = f" goes on: {format_count(begun.turns, 'turn')} so far." if begun.turns else " begins."
        return Outcome(f"Session {begun.id}{again}", lambda: as_json(begun))
    if act == "end":
        ended = clear_session(call.memory, named)
        kept = f"{format_count(ended.messages, 'message')} {agree_verb(ended.messages, 'are')} in {ended.path}"
        data = ended._asdict() | {"checkpoint": cite("checkpoint", ended.checkpoint)}
        return Outcome(f"Session {ended.session} is over: its last {kept}.", lambda: data)
    if act != "flush":
        raise InvalidInput("A session can be started, flushed and ended.", "session start NAME, or session end.")
    retry_given_up(call.memory.database)
    done = flush_session(call.memory, named)
    number = len(done.summaries)
    taken = cite("checkpoint", done.checkpoint) if done.checkpoint else None
    said = f"Session {done.session}: {number:,} {'summary' if number == 1 else 'summaries'}"
    said += f", checkpoint {taken}." if taken else "; nothing else is new."
    return Outcome(
        said,
        lambda: {
            "session": done.session,
            "summaries": [cite("summary", number) for number in done.summaries],
            "checkpoint": taken,
            "learned": done.read.as_dict(),
        },
        done.read.describe(),
    )
