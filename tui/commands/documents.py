"""sync: files that say what the memory says."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from threading import current_thread, main_thread
from typing import Annotated

from store.base.citations import cite
from store.base.errors import Conflict, ExitStatus, ForeignFile, InvalidInput, MemorandaError
from store.base.extensions import require_extension
from store.database.values import clean_text
from store.documents.documents import DocumentScan
from store.embedding.fastembed import FastEmbed, download_model
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.search.fulltext import check_text_index, rebuild_text_index
from store.sync.sync import SyncReport, find_movable_parts, is_large_file
from store.upkeep.background_embedding import embed_waiting, is_embedding_due, uses_other_provider
from store.upkeep.maintenance import run_maintenance
from store.upkeep.optional import ExchangeReport, OpenTeam, Sharing, has_shared_records
from tui.commands.call import Call, Interrupt, Outcome, Session
from tui.commands.record_lines import shorten, sync_message
from tui.desktop.editor_process import NoEditor, editor_command, run_editor
from tui.input.arguments import ParsedArguments, Shown, verb
from tui.render.lines import format_count
from tui.theme.escape import visible, visible_lines

# index documents.


def index_documents(session: Session) -> Outcome:
    result = session.memory.documents.update_index()
    problems = [f"{visible(path)}: {visible(why)}" for path, why in result.problems]
    said = scan_summary(result)
    unread = bool(problems) and not (said or result.unchanged or result.remaining)
    nothing = f"Nothing changed: {format_count(result.unchanged, 'document')}"
    return Outcome(
        message="" if unread else f"{said or nothing}.",
        status=ExitStatus.CANNOT if unread else ExitStatus.DONE,
        error="No document could be read; mend what is named and try again." if unread else "",
        lines=problems,
        data=lambda: {
            "new": result.new,
            "changed": result.changed,
            "gone": result.gone,
            "unchanged": result.unchanged,
            "remaining": result.remaining,
            "problems": [{"path": path, "problem": why} for path, why in result.problems],
        },
    )


def scan_summary(result: DocumentScan) -> str:
    """Summarise a scan in a few words; empty if nothing changed."""
    if result.elsewhere:
        return "Another process is reading the documents right now"
    words = [
        f"{number:,} {word}" for number, word in ((result.changed, "changed"), (result.gone, "gone")) if number
    ]
    if result.new:
        words.insert(0, format_count(result.new, "new document"))
    if not words:
        return ""
    rest = f"; {result.unchanged:,} as they were" if result.unchanged else ""
    return f"Read the documents: {', '.join(words)}{rest}"


# index.

RATE_AFTER_SECONDS = 2.0  # seconds from which on the rate is shown


def index(session: Session, given: ParsedArguments) -> Outcome:
    database = session.memory.database
    if given.what == "documents":
        return index_documents(session)
    if given.what not in (None, "rebuild", "download"):
        raise InvalidInput("index is checked, or rebuilt, or reads the documents.", "memoranda index rebuild")
    if given.what == "download":
        config = session.memory.config
        download_model(config["embedding.model"] if config["embedding.provider"] == FastEmbed.name else "")
    embedding = _Embedding()
    embedding.read_sources(session)
    if given.what == "rebuild":
        rows = rebuild_text_index(database)
        Vectors(database).rebuild()
        said = f"Made the index again: {format_count(rows, 'record')}."
    else:
        try:
            rows = check_text_index(database)
        except ForeignFile:
            raise Conflict(
                "The search index does not agree with the records.", "memoranda index rebuild mends it."
            ) from None
        said = f"The index agrees with the records: {format_count(rows, 'record')}."
    embedding.embed(session.memory)
    if embedding.left and not embedding.stopped:
        said = f"{said} {embedding.waits}."
    return Outcome(
        said, lambda: {"records": rows, **embedding.data}, embedding.report_lines, status=embedding.status
    )


class _Embedding:
    """Read git's history and the documents to their end, and embed all pending records, with progress on a terminal,
    until ^C. In the application, which does both in the background, only report how many are pending."""

    def __init__(self) -> None:
        self._works = current_thread() is main_thread()
        self.status = ExitStatus.DONE
        self.stopped = False
        self.notes: list[str] = []
        self.embedded = 0
        self.left = 0

    def read_sources(self, session: Session) -> None:
        """Read what no command has read yet: another would read for two seconds."""
        memory = session.memory
        if not self._works:
            return
        with Interrupt() as interrupt:
            try:
                run_maintenance(
                    memory,
                    session.cwd,
                    show_progress("reading commits"),
                    lambda: interrupt.asked,
                    self.notes.append,
                )
                memory.documents.update_index(cancelled=lambda: interrupt.asked)
            except MemorandaError as error:
                self.notes.append(str(error))
        self.stopped = interrupt.asked

    def embed(self, memory: Memory) -> None:
        """Embed what is pending, unless stopped before, and count what is left."""
        if self._works and not self.stopped:
            self._embed_pending(memory)
        self.left, _ = Vectors(memory.database).pending_counts()
        self.status = ExitStatus.UNFINISHED if self.stopped else ExitStatus.DONE

    @property
    def data(self) -> dict[str, object]:
        return {"embedded": self.embedded, "left": self.left, "notes": self.notes}

    @property
    def report_lines(self) -> list[str]:
        """Return what was embedded, the notes, and what is left."""
        lines = [f"Embedded {format_count(self.embedded, 'text')}."] if self.embedded else []
        lines += self.notes
        if self.stopped and self.left:
            lines.append(f"Stopped: {self.waits}; memoranda index continues.")
        return lines

    @property
    def waits(self) -> str:
        return f"{format_count(self.left, 'text')} {'waits' if self.left == 1 else 'wait'} to be embedded"

    def _embed_pending(self, memory: Memory) -> None:
        """Embed the pending texts with progress, until ^C."""
        fallback = memory.config["embedding.fallback"] != "none"  # only asking tells whether it is wanted
        if not (fallback or is_embedding_due(memory) or uses_other_provider(memory)):
            return
        with Interrupt() as interrupt:
            try:
                result = embed_waiting(
                    memory, show_progress("embedding"), lambda: interrupt.asked, self.notes.append
                )
                if result is None:
                    self.notes.append("Another program is indexing already.")
                else:
                    self.embedded = result.embedded + result.reused
            except MemorandaError as error:
                self.notes.append(str(error))
        self.stopped = interrupt.asked


def show_progress(what: str) -> Callable[[int, int], None]:
    """Return a function that shows progress on one line of the terminal, if there is one, with the rate after
    RATE_AFTER_SECONDS seconds, and clears it at the end."""
    began: list[tuple[int, float]] = []

    def show(done: int, total: int) -> None:
        if not began:
            began.append((done, time.monotonic()))
        first, start = began[0]
        seconds = time.monotonic() - start
        rate = (
            f", {(done - first) / seconds:,.0f} a second" if seconds >= RATE_AFTER_SECONDS and done > first else ""
        )
        text = f"{what} {done:,} of {total:,}{rate}; ^C stops" if done < total else ""
        print(f"\r\x1b[K{text}", end="", flush=True, file=sys.stderr)

    return show if sys.stderr.isatty() else _ignore_progress


def _ignore_progress(done: int, total: int) -> None:
    """Ignore progress, where there is no terminal."""


QUESTION_LINES = 20  # lines of a question
WATCH_SECONDS = 0.5  # between two looks, of a file's state and a row


@verb()
def sync(
    call: Call,
    file: Annotated[str | None, Shown("FILE", file=True)] = None,
    *,
    edit: bool = False,
    accept: bool = False,
    watch: bool = False,
    off: bool = False,
    files: bool = False,
    team: bool = False,
    yes: bool = False,
) -> Outcome:
    """Keep MEMORY.md, or another Markdown file, and the memory saying the same; and exchange with the team.

    file: MEMORY.md without one; CLAUDE.md, AGENTS.md, docs/notes.md
    edit: open it in your editor: what you change there is your own word
    accept: accept what other editors wrote into it, so that agents are sent it
    watch: go on until ^C, whenever the file or the memory changes
    off: keep it in sync no longer; the file stays as it is
    files: the files alone, without the exchange with the team
    team: the exchange with the team alone
    """
    name = _synced_name(call, file)
    ways = edit + accept + watch + off
    if ways > 1:
        raise InvalidInput("--edit, --accept, --watch and --off go one at a time.", f"As in: memoranda sync {name}")
    if team and (files or file or ways):
        raise InvalidInput(
            "--team is the exchange with the team alone.", "Leave the file and the other options out."
        )
    if team:
        return _exchange_too(call, Outcome(), [])
    synced = call.memory.sync
    if off:
        synced.stop_file(name)
        said = f"{visible(name)} is no longer kept in sync; it stays as it is."
        return Outcome(said, lambda: {"path": name, "synced": False})
    kept = [one.path for one in synced.files()]
    if file is None and kept and not (edit or accept):
        reports = [synced.sync_file(path) for path in kept]
    else:
        synced.start_file(name)
        reports = [synced.sync_file(name)]
    if edit:
        reports = [edit_copy(call, name, reports[0])]
    elif accept:
        return _accept_lines(call, name, yes)
    elif watch:
        return _watch_and_sync(call, reports)
    said = " ".join(sync_message(report, report.path not in kept) for report in reports)
    lines = [line for report in reports for line in (*_refused_lines(report), *_size_advice(call, report))]
    done = Outcome(said, lambda: {"files": [sync_json(report) for report in reports], "team": None}, lines)
    if files or file or not has_shared_records(call.memory):
        return done
    return _exchange_too(call, done, reports)


def _exchange_too(call: Call, done: Outcome, reports: list[SyncReport]) -> Outcome:
    """Exchange with the team, and add the result to the outcome. Files stay synced where the team cannot be
    reached."""
    with require_extension("team", Sharing).open_team(call.memory) as team:
        try:
            exchanged = show_exchange(call, team)
        except MemorandaError as error:
            if not reports:
                raise
            done.lines.append(f"The team could not be reached: {error}")
            done.status = ExitStatus.CANNOT
            return done
    files = [sync_json(report) for report in reports]
    return Outcome(
        f"{done.message} {exchanged.message}".strip(),
        lambda: {"files": files, "team": exchanged.data},
        [*done.lines, *exchanged.lines],
    )


def show_exchange(call: Call, team: OpenTeam) -> ExchangeReport:
    """Exchange with the team, and show progress. Raise what `Team.exchange` does."""
    done = team.report_exchange(call.wait)
    return replace(done, lines=[*map(visible, done.lines)])


def _synced_name(call: Call, typed: str | None) -> str:
    """Return the name of a synced file as citations have it: relative to the project's folder."""
    if typed is None:
        return "MEMORY.md"
    base = call.memory.sync.path_of_file().anchor
    path = os.path.join(call.cwd, os.path.expanduser(typed))
    folder = os.path.realpath(os.path.dirname(path))
    name = os.path.relpath(os.path.join(folder, os.path.basename(path)), os.path.realpath(base))
    return call.memory.sync.path_of_file(name.replace(os.sep, "/")).name


# what happened, in words


def _refused_lines(report: SyncReport) -> list[str]:
    """Return a line for each line of the file that was not accepted."""
    return [
        f"Line {number:,} of {visible(report.path)} stays as it is: {why}" if number else why
        for number, why in report.applied.left
    ]


def _size_advice(call: Call, report: SyncReport) -> list[str]:
    """Return advice on a file that is too large to be loaded at each start."""
    if not report.bytes > 2_500:
        return []
    file = call.memory.sync.parse_file(report.path)
    text = "\n".join([file.before, *file.lines, file.after])
    if not is_large_file(text):
        return []
    lines = [
        f"{visible(report.path)} has {report.bytes / 1_000:,.0f} KB, some {len(text.encode()) // 4:,} tokens, which a"
        " session loads as a whole. What could move to a file in memory/, where it is found when it is needed:"
    ]
    lines += [
        f"  lines {part.first:,} to {part.last:,}, some {part.tokens:,} "
        f"tokens: {visible(shorten(clean_text(part.title)))}"
        for part in find_movable_parts(file)
    ]
    return lines


def sync_json(report: SyncReport) -> dict[str, object]:
    """Return what a sync did, for scripts."""
    done = report.applied
    return {
        "path": report.path,
        "synced": True,
        "facts": report.facts,
        "waiting": report.waiting,
        "written": report.written,
        "bytes": report.bytes,
        "step": report.step,
        "added": [cite("fact", number) for number in done.added],
        "corrected": [{"old": cite("fact", old), "new": cite("fact", new)} for old, new in done.corrected],
        "forgotten": [cite("fact", number) for number in done.forgotten],
        "moved": [cite("fact", number) for number in done.moved],
        "proposed": [cite("proposal", number) for number in done.proposed],
        "left": [{"line": number, "problem": why} for number, why in done.left],
    }


# --accept


def _accept_lines(call: Call, name: str, yes: bool) -> Outcome:
    """Accept what other editors wrote into a file, after a question."""
    files = call.memory.sync
    proposals, lines = files.waiting(name)
    if not proposals and not lines:
        return Outcome(f"Nothing of {visible(name)} waits to be accepted.", lambda: {"facts": [], "lines": []})
    shown = [f"+ {proposal.citation}  {shorten(proposal.text)}" for proposal in proposals]
    shown += [f"  {shorten(visible(clean_text(line)))}" for line in lines]
    if len(shown) > QUESTION_LINES:
        shown = [*shown[:QUESTION_LINES], f"… and {len(shown) - QUESTION_LINES:,} more"]
    parts = [format_count(len(proposals), "fact")] if proposals else []
    parts += [f"{format_count(len(lines), 'line')} of your own text"] if lines else []
    call.agree(yes, f"Accept {' and '.join(parts)}, for agents to be sent?", shown, "Nothing was accepted.")
    step = files.accept(name, [proposal.id for proposal in proposals], lines)
    report = files.sync_file(name)
    back = f" `undo {step}` takes the facts back." if step else ""
    return Outcome(
        f"Accepted {' and '.join(parts)} of {visible(name)}.{back}",
        lambda: {"facts": [cite("fact", one.made or one.target or 0) for one in proposals], "lines": lines},
        _refused_lines(report),
    )


# --edit


def edit_copy(call: Call, name: str, before: SyncReport) -> SyncReport:
    """Let the person edit a copy of a synced file, and sync what they changed as their own words."""
    place = call.memory.sync.path_of_file(name)
    words = editor_command(call.memory.config["editor"], os.environ)
    folder = tempfile.mkdtemp(prefix="memoranda-")  # 0700
    path = os.path.join(folder, os.path.basename(name))
    keep = False
    try:
        shutil.copyfile(place.path, path)
        with open(path, "rb") as file:
            old = file.read()
        status = run_editor([*words, path], lambda: shutil.rmtree(folder, ignore_errors=True))
        if isinstance(status, OSError):
            raise NoEditor(f"{words[0]} cannot be started: {status.strerror}.", "Set $VISUAL to an editor.")
        with open(path, "rb") as file:
            new = file.read()
        if status != 0 or new == old:
            return before
        keep = True  # until it is taken
        report = call.memory.sync.sync_edited(name, old, new)
        keep = False
        return report
    except MemorandaError as error:
        if keep:
            error.next = f"What you wrote is in {path}. {error.next}"
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


# --watch


def _watch_and_sync(call: Call, reports: list[SyncReport]) -> Outcome:
    """Sync whenever something changes, until ^C; a line for each time, as soon as it is done."""
    if current_thread() is not main_thread():
        raise InvalidInput("The application watches synced files by itself.", "`sync` reads and writes them now.")
    files = call.memory.sync

    def document() -> Generator[str, None, None]:
        yield "".join(f"{visible_lines(sync_message(report))}\n" for report in reports) + "Watching; ^C ends it.\n"
        with Interrupt() as interrupt:
            while not interrupt.asked:
                sys.stdout.flush()
                for report in files.sync_due():
                    yield f"{visible_lines(sync_message(report))}\n"
                    reports.append(report)
                sys.stdout.flush()
                time.sleep(WATCH_SECONDS)

    if not call.json:
        return Outcome(document=document)
    for _ in document():
        pass
    return Outcome("", lambda: [sync_json(report) for report in reports])
