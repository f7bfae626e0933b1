"""sync: files that say what the memory says."""

import os
import shutil
import sys
import tempfile

from store.base.citations import cite
from store.base.errors import Declined, InvalidInput, MemorandaError
from store.database.values import clean as clean_text
from store.sync.file_run import SyncReport
from store.team.exchange import Team
from store.team.sharing import shares
from tui.commands import Outcome, Session
from tui.commands.record_lines import cut
from tui.render.plurals import count
from tui.theme.escape import plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from tui.input.argument_parser import ParsedArguments

SHOWN = 20  # lines of a question
WATCH_SECONDS = 0.5  # between two looks, of a file's state and a row


def sync(session: Session, given: "ParsedArguments") -> Outcome:
    name = _name(session, given.file)
    one_file = given.edit or given.accept or given.watch or given.off
    if sum((given.edit, given.accept, given.watch, given.off)) > 1:
        raise InvalidInput("--edit, --accept, --watch and --off go one at a time.", f"As in: memoranda sync {name}")
    if given.team and (given.files or given.file or one_file):
        raise InvalidInput("--team is the exchange with the team alone.", "Leave the file and the other options out.")
    if given.team:
        return _with_team(session, Outcome(), [])
    if given.off:
        return _off(session, name)
    files = session.memory.sync
    kept = [file.path for file in files.files()]
    if given.file is None and kept and not (given.edit or given.accept):
        reports = [files.run(path) for path in kept]
    else:
        files.start(name)
        reports = [files.run(name)]
    if given.edit:
        reports = [edited(session, name, reports[0])]
    elif given.accept:
        return _accept(session, name, given.yes)
    elif given.watch:
        return _watch(session, reports)
    said = " ".join(told(report, report.path not in kept) for report in reports)
    lines = [line for report in reports for line in (*_left(report), *_advice(session, report))]
    done = Outcome(said, lambda: {"files": [data(report) for report in reports], "team": None}, lines)
    if given.files or given.file or not shares(session.memory):
        return done
    return _with_team(session, done, reports)


def _with_team(session: Session, done: Outcome, reports: list[SyncReport]) -> Outcome:
    """Exchange with the team, and say so behind what was done. Files stay synced where it cannot be reached."""
    from tui.commands.files.team import exchange, exchanged_data, exchanged_lines, exchanged_message

    with Team(session.memory) as team:
        try:
            exchanged = exchange(session, team)
        except MemorandaError as error:
            if not reports:
                raise
            done.lines.append(f"The team could not be reached: {error}")
            done.status = 1
            return done
        lines = exchanged_lines(team, exchanged)
    files = [data(report) for report in reports]
    return Outcome(
        f"{done.message} {exchanged_message(exchanged)}".strip(),
        lambda: {"files": files, "team": exchanged_data(exchanged)},
        [*done.lines, *lines],
    )


def _name(session: Session, typed: str | None) -> str:
    """Return the name of a file as its citations have it: below the project's folder."""
    if typed is None:
        return "MEMORY.md"
    base = session.memory.sync.place().anchor
    path = os.path.join(session.cwd, os.path.expanduser(typed))
    folder = os.path.realpath(os.path.dirname(path))
    name = os.path.relpath(os.path.join(folder, os.path.basename(path)), os.path.realpath(base))
    return session.memory.sync.place(name.replace(os.sep, "/")).name


def _off(session: Session, name: str) -> Outcome:
    session.memory.sync.stop(name)
    said = f"{visible(name)} is no longer kept in sync; it stays as it is."
    return Outcome(said, lambda: {"path": name, "synced": False})


# what happened, in words


def told(report: SyncReport, begins: bool = False) -> str:
    """Return what a run did, in sentences."""
    if report.problem:
        return visible(report.problem)
    name, done = visible(report.path), report.applied
    parts = []
    if done.added:
        parts.append(f"{count(len(done.added), 'new line')} ({_cited(done.added)})")
    if done.corrected:
        parts.append(f"{len(done.corrected):,} changed ({_cited([new for _, new in done.corrected])})")
    if done.forgotten:
        parts.append(f"{len(done.forgotten):,} forgotten ({_cited(done.forgotten)})")
    if done.moved:
        parts.append(f"{len(done.moved):,} under another heading ({_cited(done.moved)})")
    sentences = []
    if parts:
        back = f" `undo {report.step}` takes that back." if report.step else ""
        sentences.append(f"Read {name}: {', '.join(parts)}.{back}")
    if waiting := len(done.proposed):
        of = "it" if parts else name
        sentences.append(f"{count(waiting, 'proposal')} of {of} wait{'s' if waiting == 1 else ''} in the inbox.")
    if begins:
        sentences.append(
            f"{name} is kept in sync from now on, with {count(report.facts, 'fact')}. Edit it in any editor: what you"
            " add, change and delete in its section is read by the next command and by the application."
        )
    elif report.written and not parts:
        sentences.append(f"Wrote {name}: {count(report.facts, 'fact')}.")
    elif not sentences:
        sentences.append(f"{name} and the memory say the same: {count(report.facts, 'fact')}.")
    if report.others:
        sentences.append(f"{count(report.others, 'line')} of it are no facts, and stand below its section now.")
    if report.too_many:
        sentences.append("More facts than 2,000 would belong there: the least important are left out.")
    return " ".join(sentences)


def _cited(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else ""
    return " ".join(cite("fact", number) for number in numbers[:5]) + more


def _left(report: SyncReport) -> list[str]:
    """Return what could not be taken, a line each."""
    return [
        f"Line {number:,} of {visible(report.path)} stays as it is: {why}" if number else why
        for number, why in report.applied.left
    ]


def _advice(session: Session, report: SyncReport) -> list[str]:
    """Return advice on a file that has grown too large to be loaded at each start."""
    if not report.bytes > 2_500:
        return []
    from store.sync.advice import large as large_file
    from store.sync.advice import movable as movable_parts

    file = session.memory.sync.file(report.path)
    text = "\n".join([file.before, *file.lines, file.after])
    if not large_file(text):
        return []
    lines = [
        f"{visible(report.path)} has {report.bytes / 1_000:,.0f} KB, some {len(text.encode()) // 4:,} tokens, which a"
        " session loads as a whole. What could move to a file in memory/, where it is found when it is needed:"
    ]
    lines += [
        f"  lines {part.first:,} to {part.last:,}, some {part.tokens:,} tokens: {visible(cut(clean_text(part.title)))}"
        for part in movable_parts(file)
    ]
    return lines


def data(report: SyncReport) -> dict[str, object]:
    """Return a report for scripts."""
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


def _accept(session: Session, name: str, yes: bool) -> Outcome:
    files = session.memory.sync
    proposals, lines = files.waiting(name)
    if not proposals and not lines:
        return Outcome(f"Nothing of {visible(name)} waits to be accepted.", lambda: {"facts": [], "lines": []})
    shown = [f"+ {proposal.citation}  {cut(proposal.text)}" for proposal in proposals]
    shown += [f"  {cut(visible(clean_text(line)))}" for line in lines]
    if len(shown) > SHOWN:
        shown = [*shown[:SHOWN], f"… and {len(shown) - SHOWN:,} more"]
    parts = []
    if proposals:
        parts.append(count(len(proposals), "fact"))
    if lines:
        parts.append(f"{count(len(lines), 'line')} of your own text")
    if not yes and not session.ask(f"Accept {' and '.join(parts)}, for agents to be sent?", shown):
        raise Declined("Nothing was accepted.")
    step = files.accept(name, [proposal.id for proposal in proposals], lines)
    report = files.run(name)
    back = f" `undo {step}` takes the facts back." if step else ""
    return Outcome(
        f"Accepted {' and '.join(parts)} of {visible(name)}.{back}",
        lambda: {"facts": [cite("fact", one.made or one.target or 0) for one in proposals], "lines": lines},
        _left(report),
    )


# --edit


def edited(session: Session, name: str, before: SyncReport) -> SyncReport:
    """Let the person edit a copy of the file in their editor, and take what they changed as their own word."""
    from tui.desktop.editor_process import NoEditor, editor, run

    place = session.memory.sync.place(name)
    words = editor(session.memory.config["editor"], os.environ)
    folder = tempfile.mkdtemp(prefix="memoranda-")  # 0700
    path = os.path.join(folder, os.path.basename(name))
    keep = False
    try:
        shutil.copyfile(place.path, path)
        with open(path, "rb") as file:
            old = file.read()
        status = run([*words, path], lambda: shutil.rmtree(folder, ignore_errors=True))
        if isinstance(status, OSError):
            raise NoEditor(f"{words[0]} cannot be started: {status.strerror}.", "Set $VISUAL to an editor.")
        with open(path, "rb") as file:
            new = file.read()
        if status != 0 or new == old:
            return before
        keep = True  # until it is taken
        report = session.memory.sync.run_edited(name, old, new)
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


def _watch(session: Session, reports: list[SyncReport]) -> Outcome:
    """Sync whenever something changes, until ^C; a line for each time, as soon as it is done."""
    import time
    from threading import current_thread, main_thread

    from tui.commands.interrupt import Interrupt

    if current_thread() is not main_thread():
        raise InvalidInput("The application watches synced files by itself.", "`sync` reads and writes them now.")
    files = session.memory.sync

    def document() -> "Generator[str, None, None]":
        yield "".join(f"{plain(told(report))}\n" for report in reports) + "Watching; ^C ends it.\n"
        with Interrupt() as interrupt:
            while not interrupt.asked:
                sys.stdout.flush()
                for report in files.run_due():
                    yield f"{plain(told(report))}\n"
                    reports.append(report)
                sys.stdout.flush()
                time.sleep(WATCH_SECONDS)

    if not session.json:
        return Outcome(document=document)
    for _ in document():
        pass
    return Outcome("", lambda: [data(report) for report in reports])
