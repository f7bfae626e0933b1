"""sync: files that say what the memory says."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator
from typing import Annotated

from store.base.citations import cite
from store.base.errors import ExitStatus, InvalidInput, MemorandaError
from store.base.runtime import require_extension
from store.database.values import clean_text
from store.sync.sync import SyncReport
from store.text.display import format_count, shorten, visible, visible_lines
from store.upkeep.optional import ExchangeReport, OpenTeam, Sharing, has_shared_records
from tui.commands.call import Call, Interrupt, Outcome
from tui.desktop.editor_process import NoEditor, editor_command, run_editor
from tui.input.arguments import Shown, verb

# lines of a question
QUESTION_LINES = 20
# between two looks, of a file's state and a row
WATCH_SECONDS = 0.5


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
        raise InvalidInput(
            "--edit, --accept, --watch and --off go one at a time.", f"As in: memoranda sync {name}"
        )
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
    said = " ".join(one.describe(one.path not in kept) for one in reports)
    lines = [line for one in reports for line in (*one.refused_lines(), *synced.size_advice(one))]
    done = Outcome(said, lambda: {"files": [one.as_dict() for one in reports], "team": None}, lines)
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
    done.message = f"{done.message} {exchanged.message}".strip()
    done.data = lambda: {"files": [one.as_dict() for one in reports], "team": exchanged.data}
    done.lines += exchanged.lines
    return done


def show_exchange(call: Call, team: OpenTeam) -> ExchangeReport:
    """Exchange with the team, and show progress. Raise what `Team.exchange` does."""
    done = team.report_exchange(call.wait)
    return done._replace(lines=[*map(visible, done.lines)])


def _synced_name(call: Call, typed: str | None) -> str:
    """Return the name of a synced file as citations have it: relative to the project's folder."""
    if typed is None:
        return "MEMORY.md"
    base = call.memory.sync.path_of_file().anchor
    path = os.path.join(call.cwd, os.path.expanduser(typed))
    folder = os.path.realpath(os.path.dirname(path))
    name = os.path.relpath(os.path.join(folder, os.path.basename(path)), os.path.realpath(base))
    return call.memory.sync.path_of_file(name.replace(os.sep, "/")).name


# --accept


def _accept_lines(call: Call, name: str, yes: bool) -> Outcome:
    """Accept what other editors wrote into a file, after a question."""
    files = call.memory.sync
    proposals, lines = files.waiting(name)
    if not proposals and not lines:
        return Outcome(f"Nothing of {visible(name)} waits to be accepted.", lambda: {"facts": [], "lines": []})
    shown = [f"+ {proposal.citation}  {shorten(proposal.text)}" for proposal in proposals]
    shown += [f"  {shorten(clean_text(line))}" for line in lines]
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
        report.refused_lines(),
    )


# --edit


def edit_copy(call: Call, name: str, before: SyncReport) -> SyncReport:
    """Let the person edit a copy of a synced file, and sync what they changed as their own words."""
    place = call.memory.sync.path_of_file(name)
    words = editor_command(call.memory.config["editor"], os.environ)
    # of mode 0700
    folder = tempfile.mkdtemp(prefix="memoranda-")
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
        # until it is taken
        keep = True
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
    if call.memory.database.door == "app":
        raise InvalidInput("The application watches synced files by itself.", "`sync` reads and writes them now.")
    files = call.memory.sync

    def document() -> Generator[str, None, None]:
        yield "".join(f"{visible_lines(report.describe())}\n" for report in reports) + "Watching; ^C ends it.\n"
        with Interrupt() as interrupt:
            while not interrupt.asked:
                sys.stdout.flush()
                for report in files.sync_due():
                    yield f"{visible_lines(report.describe())}\n"
                    reports.append(report)
                sys.stdout.flush()
                time.sleep(WATCH_SECONDS)

    if not call.json:
        return Outcome(document=document)
    for _ in document():
        pass
    return Outcome("", lambda: [one.as_dict() for one in reports])
