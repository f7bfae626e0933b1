"""guard, guest, scan, import: the memories of other tools."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator
from typing import Any

from store.base.clock import format_local_time, from_ms, utc_now
from store.base.errors import Conflict, Declined, ExitStatus, InvalidInput
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import Config, load_config
from store.database.values import clean_text
from store.purge.file_eraser import guard_path
from store.tools.guard_database import delete_guard, open_guard
from store.tools.guard_moments import (
    GuardedChange,
    GuardMoment,
    LookResult,
    current_ms,
    find_changes,
    get_moment,
    look_at_files,
    mark_told,
    parse_moment_number,
    recent_moments,
    untold_moments,
    watch_guarded_files,
)
from store.tools.guard_restoring import (
    DiffLine,
    GuardRestorePlan,
    compare_lines,
    parse_restore_target,
    plan_guard_restore,
    run_guard_restore,
    version_lines,
)
from store.tools.guests import (
    GuestPlan,
    GuestText,
    cut_secrets,
    filter_guest_texts,
    find_guest_text,
    list_guest_texts,
    plan_guest_correction,
    plan_guest_deletion,
    plan_guest_undo,
    run_guest_plan,
)
from store.tools.machine_scan import scan_machine
from store.tools.source_import import (
    SourceImport,
    SourceImportReport,
    SourcePreview,
    find_sources,
    get_source,
    this_machine,
)
from store.tools.transcript_scan import (
    PRICE_PER_MILLION,
    SavedTranscripts,
    ScanFinding,
    ScanReport,
    SourceInventory,
    cost_in_dollars,
    save_transcripts,
)
from tui.commands.call import Interrupt, Outcome, Session
from tui.commands.record_lines import shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import agree_verb, format_count
from tui.theme.escape import visible, visible_lines

PERMISSION_DENIED = "permission denied"
LISTED_FILES = 10  # files named below a moment


def guard(session: Session, given: ParsedArguments) -> Outcome:
    """Run the guard's verb: look at the files, list changes, show a change, restore, undo, or forget all versions."""
    _check_guard_words(given)
    if given.what == "list":
        return _list_moments(given)
    if given.what == "show":
        return _show_moment(given)
    if given.what in ("restore", "undo"):
        return _restore_moment(session, given)
    if given.what == "off":
        return _forget_versions(session, given)
    return _watch_files(session) if given.watch else _look_at_files(session, given)


def _check_guard_words(given: ParsedArguments) -> None:
    """Raise InvalidInput for words that do not fit together."""
    if given.what not in (None, "list", "show", "restore", "undo", "off"):
        raise InvalidInput(f"guard does not know “{visible(given.what[:40])}”.", "See `memoranda guard --help`.")
    if given.what in ("show", "restore") and not given.moment:
        raise InvalidInput(f"guard {given.what} wants a moment.", f"As in: memoranda guard {given.what} M#3")
    if given.what and (given.once or given.watch):
        raise InvalidInput("--once and --watch are for a look.", "memoranda guard --once")


# looking


def _look_at_files(session: Session, given: ParsedArguments) -> Outcome:
    session.wait("Looking at the memory files")
    try:
        found = look_at_files(guard_config(session), this_machine(), current_ms())
    finally:
        session.wait("")
    with open_guard() as kept:
        new = [get_moment(kept, number) for number in found.moments]
        moments = new if given.once else untold_moments(kept)
    lines = [line for one in moments for line in ([moment_title(one)] if given.once else _moment_lines(one))]
    if not given.once:
        with open_guard(guard_config(session)) as kept:
            mark_told(kept, moments)
        lines += _guard_summary(found, moments)
    elif found.first:
        lines = [_first_look(found)]
    lines += _guard_troubles(found)
    return Outcome(lines=lines, data=lambda: _look_json(found, moments))


def _watch_files(session: Session) -> Outcome:
    """Return a document that grows by a line for each moment, or an object, until the person ends it."""

    def document() -> Generator[str, None, None]:
        stop, told = threading.Event(), False
        try:
            for found in watch_guarded_files(guard_config(session), this_machine(), stop):
                moments: list[GuardMoment] = []
                if found.moments:
                    with open_guard() as kept:
                        moments = [get_moment(kept, number) for number in found.moments]
                lines = [moment_title(one) for one in moments]
                if not told:
                    lines.insert(
                        0, _first_look(found) if found.first else f"Watching {format_count(found.files, 'file')}."
                    )
                lines += _guard_troubles(found) if not told or not found.files else []
                if session.json and (moments or not told):
                    yield json.dumps(_look_json(found, moments), ensure_ascii=False) + "\n"
                elif lines and not session.json:
                    yield "\n".join(map(visible_lines, lines)) + "\n"
                told = True
                sys.stdout.flush()
        except KeyboardInterrupt:
            return
        finally:
            stop.set()

    return Outcome(document=document)


def _guard_troubles(found: LookResult) -> list[str]:
    """Return a line for each file that could not be kept."""
    return [
        f"Not kept: {home_path(one.path)}: {one.why}" if one.path else f"Note: {one.why}" for one in found.troubles
    ]


def _first_look(found: LookResult) -> str:
    """Return what the first look found."""
    if not found.files:
        return "No memory file of another tool was found on this machine."
    return (
        f"Kept {format_count(found.files, 'file')} of "
        f"{format_count(found.tools, 'tool')}. From now on every change is kept."
    )


def _guard_summary(found: LookResult, moments: list[GuardMoment]) -> list[str]:
    """Return the lines at the end of a look: what changed, and what can be done about it."""
    if found.first:
        return [
            _first_look(found),
            "Look again with memoranda guard; memoranda guard --watch keeps each version as it comes.",
        ]
    if not moments:
        return [
            "Nothing changed since you looked last: "
            f"{format_count(found.files, 'file')} of {format_count(found.tools, 'tool')}."
        ]
    name = moments[0].name
    return ["", f"See how: memoranda guard show {name}   Put it back: memoranda guard restore {name}"]


def guard_config(session: Session) -> Config:
    return load_config(session.location)


# moments


def _list_moments(given: ParsedArguments) -> Outcome:
    with open_guard() as kept:
        moments = recent_moments(kept, given.limit)
    lines = [moment_title(one) for one in moments] or ["Nothing changed since the first look."]
    return Outcome(lines=lines, data=lambda: [_moment_json(one) for one in moments])


def _show_moment(given: ParsedArguments) -> Outcome:
    """Show what changed at a moment, file by file."""
    with open_guard() as kept:
        moment = get_moment(kept, parse_moment_number(given.moment))
        files = find_changes(moment, given.file or "")
        found = [
            (
                one,
                compare_lines(version_lines(kept, one.file, one.before), version_lines(kept, one.file, one.after)),
            )
            for one in files
        ]
    lines = [moment_title(moment)]
    for one, difference in found:
        lines += ["", f"{home_path(one.file.path)}  {one.effect}", *map(diff_line, difference)]
    return Outcome(
        lines=lines, data=lambda: _moment_json(moment) | {"files": [_changed_file_json(*one) for one in found]}
    )


# putting back


def _restore_moment(session: Session, given: ParsedArguments) -> Outcome:
    config, machine = guard_config(session), this_machine()
    undo = given.what == "undo"
    number = None if undo else parse_moment_number(given.moment)
    name, lines = parse_restore_target(given.file or "")
    plan = plan_guard_restore(config, machine, current_ms(), number, name, lines)
    preview = _restore_preview(plan)
    if not plan.files:
        return Outcome(
            f"Nothing to put back: the files are as they were before {plan.moment.name}.",
            lambda: _restore_json(plan, None),
            preview,
        )
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _restore_json(plan, None), preview)
    if given.yes and (again := [one for one in plan.files if one.again]):
        raise Conflict(
            f"{home_path(again[0].change.file.path)} changed again after {plan.moment.name}; nothing was put back.",
            "Look at what would be lost, and answer there: the same without --yes.",
        )
    files = format_count(len(plan.files), "file")
    question = (
        f"Undo {plan.moment.name}, in {files}?" if undo else f"Put back {files} to before {plan.moment.name}?"
    )
    if not given.yes and not session.ask(question, preview):
        raise Declined("Nothing was changed.")
    done = run_guard_restore(config, machine, current_ms(), plan)
    said = f"Undid {plan.moment.name}" if undo else f"Put back {files} to before {plan.moment.name}"
    return Outcome(
        f"{said}: M#{done}.",
        lambda: _restore_json(plan, done),
        [*_staying_files(plan), f"Take it back: memoranda guard {'restore M#' + str(done) if undo else 'undo'}"],
    )


def _restore_preview(plan: GuardRestorePlan) -> list[str]:
    """Return what a restore would change, file by file."""
    lines: list[str] = []
    for one in plan.files:
        again = f", which changed again after {plan.moment.name}" if one.again else ""
        lines += [
            f"{home_path(one.change.file.path)}  would be {one.effect}{again}",
            *map(diff_line, one.difference),
            "",
        ]
    return [*lines, *_staying_files(plan)]


def _staying_files(plan: GuardRestorePlan) -> list[str]:
    """Return a line for each file that a restore leaves as it is."""
    return [f"{home_path(path)} stays: {why}." for path, why in plan.stay]


def _forget_versions(session: Session, given: ParsedArguments) -> Outcome:
    if given.dry_run:
        return Outcome(f"{visible(guard_path())} would be deleted, with its key.")
    if not given.yes and not session.ask("Forget all kept versions? No change before now can be put back then."):
        raise Declined("Nothing was changed.")
    size = delete_guard()
    return Outcome(
        f"Forgot all kept versions, {size / 1e6:,.1f} MB, and their key.",
        lambda: {"bytes": size},
        ["The tools' own files are as they are. A timer or --watch that still runs begins with a first look."],
    )


# output


def moment_title(moment: GuardMoment) -> str:
    """Return a moment in a sentence, as in `M#3  23 files of …`."""
    number = len(moment.files)
    what = ", ".join(f"{many:,} {word}" if number > 1 else word for word, many in moment.effect_counts.items())
    if moment.is_edit:
        whose = f"{format_count(number, 'file')} of {moment.title}'s memory"
        return f"{moment.name}  You changed {whose} {moment_times(moment)}: {what}"
    if moment.restores is not None:
        done = f"You put {format_count(number, 'file')} back to before M#{moment.restores}"
        return f"{moment.name}  {done} {moment_times(moment)}: {what}"
    whose = moment.title if moment.title.startswith("your") else f"{moment.title}'s memory"
    return f"{moment.name}  {format_count(number, 'file')} of {whose} changed {moment_times(moment)}: {what}"


def moment_times(moment: GuardMoment) -> str:
    today = format_local_time(utc_now()).rpartition(" ")[0]
    first, last = (format_local_time(from_ms(at)) for at in (moment.first_at, moment.last_at))
    if first == last:
        return f"at {first.removeprefix(f'{today} ')}"
    day = first.rpartition(" ")[0]
    return f"between {first.removeprefix(f'{today} ')} and {last.removeprefix(f'{day} ')}"


def _moment_lines(moment: GuardMoment) -> list[str]:
    """Return a moment, and a line for each of its files, up to a limit."""
    lines = [
        moment_title(moment),
        *(f"  {one.effect:<9}  {home_path(one.file.path)}" for one in moment.files[:LISTED_FILES]),
    ]
    if len(moment.files) > LISTED_FILES:
        lines.append(f"  … and {len(moment.files) - LISTED_FILES:,} more")
    return lines


def diff_line(line: DiffLine) -> str:
    """Return a line of a difference."""
    if line.sign == "…":
        return "       …"
    return f"  {line.sign} {line.before or '':>4} {visible(line.text)}".rstrip()


def home_path(path: str) -> str:
    """Return a path with ~ for the home directory, escaped."""
    home = os.path.join(os.path.expanduser("~"), "")
    return visible(f"~/{path.removeprefix(home)}" if path.startswith(home) else path)


def _look_json(found: LookResult, moments: list[GuardMoment]) -> dict[str, Any]:
    """Return what a look found, for scripts."""
    return {
        "first": found.first,
        "files": found.files,
        "bytes": found.bytes,
        "moments": [_moment_json(one) for one in moments],
        "troubles": [{"path": one.path, "why": one.why} for one in found.troubles],
    }


def _moment_json(moment: GuardMoment) -> dict[str, Any]:
    """Return a moment for scripts."""
    return {
        "moment": moment.name,
        "tool": moment.tool,
        "first_at": from_ms(moment.first_at),
        "last_at": from_ms(moment.last_at),
        "restores": f"M#{moment.restores}" if moment.restores else None,
        "edited": moment.is_edit,
        "files": [{"path": one.file.path, "change": one.effect} for one in moment.files],
    }


def _restore_json(plan: GuardRestorePlan, done: int | None) -> dict[str, Any]:
    """Return a restore for scripts; `done` is the number of the moment that it made."""
    return {
        "moment": plan.moment.name,
        "restored": done and f"M#{done}",
        "files": [
            {
                "path": one.change.file.path,
                "change": one.effect,
                "again": one.again,
                "lines": [[line.sign, line.before, line.text] for line in one.difference],
            }
            for one in plan.files
        ],
        "stay": [{"path": path, "why": why} for path, why in plan.stay],
    }


def _changed_file_json(one: GuardedChange, difference: list[DiffLine]) -> dict[str, Any]:
    """Return a changed file and its difference for scripts."""
    return {
        "path": one.file.path,
        "change": one.effect,
        "lines": [[line.sign, line.before, line.text] for line in difference],
    }


# guest.

TOOL_CELLS = 12  # cells for the name of a tool
LONGEST_LISTED = 160  # characters of a text in a list
GUEST_VERBS = ("list", "search", "show", "correct", "delete", "undo")
GUEST_WANTS = {"search": "words", "show": "a name", "correct": "a name and a text", "delete": "a name"}
GUEST_UNDO = "memoranda guest undo"


def guest(session: Session, given: ParsedArguments) -> Outcome:
    """Run the guest verb: list, search, show, correct, delete or undo texts that other tools keep."""
    act, words = given.what or "list", given.words
    if act not in GUEST_VERBS:
        raise InvalidInput(f"guest does not know “{visible(act[:40])}”.", "See `memoranda guest --help`.")
    fewest = 2 if act == "correct" else 1 if act in GUEST_WANTS else 0
    if len(words) < fewest:
        raise InvalidInput(f"guest {act} wants {GUEST_WANTS[act]}.", "memoranda guest list shows what there is.")
    if act in ("list", "undo") and words:
        raise InvalidInput(
            f"guest {act} takes no words.", f"memoranda guest search {visible(' '.join(words)[:40])}"
        )
    if act == "show":
        return _show_text(words[0])
    if act in ("list", "search"):
        return _list_texts(session, given, " ".join(words))
    return _change_text(session, given, act, words)


# reading


def _list_texts(session: Session, given: ParsedArguments, query: str) -> Outcome:
    session.wait("Reading what other tools remember")
    try:
        found = list_guest_texts(this_machine(), (given.tool,) if given.tool else GUEST_TOOLS)
    finally:
        session.wait("")
    texts = filter_guest_texts(found.texts, query)
    shown = texts[: given.limit]
    lines = [_text_line(one) for one in shown]
    if len(texts) > len(shown):
        lines.append(f"… and {len(texts) - len(shown):,} more: --limit {len(texts)}")
    if not texts:
        lines = [f"Nothing has the words “{visible(query)}”." if query and found.texts else NO_GUEST_TEXTS]
    lines += [f"Not read: {home_path(one.path)}: {one.why}" for one in found.troubles]
    return Outcome(
        lines=lines,
        data=lambda: {
            "texts": [_text_json(one) for one in shown],
            "troubles": [{"path": one.path, "why": one.why} for one in found.troubles],
        },
    )


NO_GUEST_TEXTS = "No memory of Claude Code, basic-memory, OpenClaw or Engram was found on this machine."


def _text_line(one: GuestText) -> str:
    """Return a text in one line, with its name and its tool."""
    text = guest_line(one)
    shown = text if len(text) <= LONGEST_LISTED else f"{text[:LONGEST_LISTED]}…"
    return f"{one.short}  {guest_tool(one):<{TOOL_CELLS}}  {shown}"


def guest_tool(one: GuestText) -> str:
    """Return the name of the tool that keeps a text."""
    return get_source(one.tool).title


def guest_line(one: GuestText) -> str:
    """Return a text in a line, without secrets; one that has a title and lines of its own begins with that."""
    title = f"{one.title}: " if one.title and (one.whole or one.tool == "engram") else ""
    return visible(" ".join(cut_secrets(f"{title}{one.text}").split()))


def guest_place(one: GuestText) -> str:
    """Return where a text is kept: the file and the line, or the row of a database."""
    return f"{home_path(one.path)}, observation {one.line}" if not one.end else f"{home_path(one.path)}:{one.line}"


def _show_text(name: str) -> Outcome:
    """Show a text in full."""
    one = find_guest_text(this_machine(), name)
    about = " · ".join(filter(None, (guest_tool(one), one.note, cut_secrets(one.title))))
    lines = [f"{one.short}  {about}", guest_place(one), "", *cut_secrets(one.text).split("\n")]
    return Outcome(lines=lines, data=lambda: _text_json(one))


# changing


def _change_text(session: Session, given: ParsedArguments, act: str, words: list[str]) -> Outcome:
    config, machine, now = guard_config(session), this_machine(), current_ms()
    if act == "undo":
        plan = plan_guest_undo(config, machine, now)
        question, said = f"Undo M#{plan.undoes}?", f"Undid M#{plan.undoes}"
    else:
        one = find_guest_text(machine, words[0])
        if act == "correct":
            plan = plan_guest_correction(config, machine, now, one, _text_or_piped(words[1:]))
            question, said = f"Correct it in {guest_tool(one)}'s own file?", f"Corrected {one.short}"
        else:
            plan = plan_guest_deletion(config, machine, now, one)
            question, said = f"Delete it from {guest_tool(one)}'s own file?", f"Deleted {one.short}"
    preview = guest_preview(plan)
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _guest_plan_json(plan, None), preview)
    if not given.yes and not session.ask(question, preview):
        raise Declined("Nothing was changed.")
    done = run_guest_plan(config, machine, current_ms(), plan)
    back = f"memoranda guard restore M#{done}" if plan.undoes else GUEST_UNDO
    return Outcome(f"{said}: M#{done}.", lambda: _guest_plan_json(plan, done), [f"Take it back: {back}"])


def _text_or_piped(words: list[str]) -> str:
    """Return the text of the words; a single `-` stands for standard input. Raise InvalidInput if standard input
    is a terminal."""
    text = " ".join(words)
    if text != "-":
        return text
    if sys.stdin.isatty():
        raise InvalidInput(
            "Standard input is a terminal here.", "Pipe the text into it: … | memoranda guest correct NAME -"
        )
    return sys.stdin.read()


def guest_preview(plan: GuestPlan) -> list[str]:
    """Return what a plan would change, file by file."""
    lines: list[str] = []
    for one in plan.files:
        lines += [
            f"{home_path(one.change.file.path)}  would be {plan.effect_on(one)}",
            *map(diff_line, one.difference),
            "",
        ]
    return lines


# output


def _text_json(one: GuestText) -> dict[str, Any]:
    """Return a text for scripts."""
    return {
        "name": one.name,
        "tool": one.tool,
        "path": one.path,
        "line": one.line,
        "title": cut_secrets(one.title),
        "note": one.note,
        "text": cut_secrets(one.text),
    }


def _guest_plan_json(plan: GuestPlan, done: int | None) -> dict[str, Any]:
    """Return a planned change for scripts; `done` is the number of the moment that it made."""
    return {
        "moment": done and f"M#{done}",
        "undoes": f"M#{plan.undoes}" if plan.undoes else None,
        "files": [
            {
                "path": one.change.file.path,
                "change": plan.effect_on(one),
                "lines": [[line.sign, line.before, line.text] for line in one.difference],
            }
            for one in plan.files
        ],
    }


# scan.

FINDING_TITLES = {
    "secret": "Secrets in clear",
    "contradiction": "Likely contradictions",
    "duplicate": "Duplicates",
    "missing-file": "Files that no longer exist",
    "missing-symbol": "Functions that no longer exist",
    "dead-link": "Links of an index to nothing",
    "bleed": "Memories under another project",
    "instruction": "Instructions to agents",
    "expiring": "Conversations about to be deleted",
}
UNREAD_TITLE = "Could not be read"
FINDING_ADVICE = {
    "expiring": "`memoranda scan --save` copies them; `memoranda import claude-code` keeps what was said in a project's"
}


def scan(session: Session, given: ParsedArguments) -> Outcome:
    folders = [os.path.abspath(os.path.join(session.cwd, os.path.expanduser(one))) for one in given.folder]

    def progress(what: str, done: int, total: int) -> None:
        session.wait(f"Reading {what}: {100 * done // total} %" if total else f"Reading {what}")

    early: list[str] = []

    def first(report: ScanReport) -> None:
        if session.tell is not None and not session.json and not given.md and not given.no_transcripts:
            session.wait("")
            early.extend(_source_lines(report))
            for line in early:
                session.tell(line)

    try:
        report = scan_machine(
            this_machine(),
            utc_now(),
            session.cwd,
            folders,
            progress,
            first,
            search_transcripts=not given.no_transcripts,
        )
    finally:
        session.wait("")
    status = ExitStatus.PERSON if given.check and report.findings else ExitStatus.DONE
    status = ExitStatus.CANNOT if _all_unread(report) else status
    if given.md and not session.json:
        return Outcome(document=lambda: _scan_document(report), status=status)
    lines = [*([] if early else _source_lines(report)), *_finding_lines(report, given.limit), *_start_lines(report)]
    if not given.save:
        return Outcome(lines=lines, data=report.as_dict, status=status)
    saved = save_transcripts(one.path for one in report.list_findings("expiring"))
    status = ExitStatus.CANNOT if saved.troubles else status
    return Outcome(
        lines=[*lines, "", saved_words(saved)],
        data=lambda: {**report.as_dict(), "saved": saved.as_dict()},
        status=status,
    )


def saved_words(saved: SavedTranscripts) -> str:
    """Return what was saved, and where, in a sentence."""
    if not (saved.new or saved.before or saved.troubles):
        return "No conversation is about to be deleted."
    said = f"Saved {format_count(len(saved.new), 'conversation')} to {visible(saved.folder)}, without secrets"
    were = "was" if saved.before == 1 else "were"
    said += f"; {saved.before:,} {were} saved before" if saved.before else ""
    said += (
        f"; {format_count(len(saved.troubles), 'one')} could not be saved: {saved.troubles[0].why}"
        if saved.troubles
        else ""
    )
    return f"{said}."


def source_words(one: SourceInventory) -> str:
    """Return what a tool keeps, in numbers."""
    parts = [f"{one.memories:,} {'memory' if one.memories == 1 else 'memories'}"] if one.memories else []
    if one.old:
        parts.append(f"{one.old:,} older than half a year")
    if one.documents:
        parts.append(format_count(one.documents, "document"))
    if one.conversations:
        size = f", {one.bytes / 1_000_000:,.1f} MB" if one.bytes else ""
        parts.append(format_count(one.conversations, "conversation") + size)
    if one.unread:
        parts.append(f"{format_count(one.unread, 'part')} cannot be read")
    return "; ".join(parts) or "nothing"


def _all_unread(report: ScanReport) -> bool:
    """Return whether nothing of what was found could be read."""
    held = any(one.memories or one.documents or one.conversations for one in report.sources)
    return bool(report.troubles) and not held


def _source_lines(report: ScanReport) -> list[str]:
    if not report.sources:
        return ["No memory of another tool was found on this machine."]
    lines = []
    for one in report.sources:
        where = visible(one.places[0]) + (f" and {len(one.places) - 1} more" if len(one.places) > 1 else "")
        lines.append(f"{one.title:<18}  {source_words(one)}  ({where})")
    return lines


def _finding_lines(report: ScanReport, limit: int) -> list[str]:
    """Return the findings by kind, at most `limit` of each."""
    nothing = "Nothing could be read." if _all_unread(report) else "Nothing is wrong with what was read."
    lines = ["", nothing] if report.troubles and not report.findings else []
    if not report.findings and not report.troubles:
        return ["", "Nothing is wrong with them."] if report.sources else []
    for kind, title in FINDING_TITLES.items():
        several = [one for one in report.findings if one.kind == kind]
        if several:
            lines += ["", f"{title}: {len(several):,}", *(f"  {_finding_line(one)}" for one in several[:limit])]
            if kind in FINDING_ADVICE:
                lines.append(f"  {FINDING_ADVICE[kind]}")
            if len(several) > limit:
                lines.append(f"  … and {len(several) - limit:,} more; --limit shows them")
    return [*lines, *_unread_lines(report, limit)]


def _unread_lines(report: ScanReport, limit: int) -> list[str]:
    unread = len(report.troubles)
    if not unread:
        return []
    lines = ["", f"{UNREAD_TITLE}: {unread:,}"]
    for one in report.troubles[:limit]:
        lines.append(f"  {visible(one.path)}{f':{one.line}' if one.line else ''}  {one.why}")
    lines += [f"  … and {unread - limit:,} more; --limit shows them"] if unread > limit else []
    shut = any(one.why == PERMISSION_DENIED for one in report.troubles)
    return [*lines, *(["  Look at the permissions of these, and of the folders above them."] if shut else [])]


def _finding_line(one: ScanFinding) -> str:
    other = f" ({visible(one.other)})" if one.other else ""
    return f"{visible(one.path)}:{one.line}  {visible(clean_text(one.says))}{other}"


def _start_lines(report: ScanReport) -> list[str]:
    if not report.starts:
        return []
    lines = ["", "Loaded at each start:"]
    for start in report.starts:
        sums = ", ".join(f"{agent} {tokens:,} tokens" for agent, tokens in start.tokens.items())
        lines.append(f"  {visible(start.folder)}: {sums}")
        lines += [
            f"    {layer.tokens:>7,}  {visible(layer.path)}"
            + (f", imported by {visible(layer.by)}" if layer.by else "")
            for layer in start.layers
        ]
    month = sum(start.month_tokens for start in report.starts)
    if month:
        lines.append(
            f"  In 30 days Claude Code loaded some {month:,} tokens of these, {cost_in_dollars(month):,.2f} dollars at"
            f" {PRICE_PER_MILLION:g} dollars a million."
        )
    return lines


def _scan_document(report: ScanReport) -> Generator[str, None, None]:
    """Yield the report as Markdown, with every finding."""
    yield "# Memories on this machine\n\n"
    for line in _source_lines(report):
        yield f"- {line}\n"
    for kind, title in FINDING_TITLES.items():
        several = [one for one in report.findings if one.kind == kind]
        if several:
            yield f"\n## {title} ({len(several):,})\n\n"
            yield from (f"- {_finding_line(one)}\n" for one in several)
    unread = [line.strip() for line in _unread_lines(report, len(report.troubles))[2:]]
    if unread:
        yield f"\n## {UNREAD_TITLE} ({len(unread):,})\n\n"
        yield from (f"- {line}\n" for line in unread)
    starts = [line.strip() for line in _start_lines(report)[2:]]
    if starts:
        yield "\n## Loaded at each start\n\n"
        yield from (f"- {line}\n" for line in starts)


# import, of the memory of another tool.

NOTHING_NEW = "Nothing of {} is new here; nothing was changed."
SOURCE_UNREAD = "Nothing of {} could be read; nothing was changed."
LISTED_TROUBLES = 10  # troubles that are listed one by one


def list_sources(session: Session) -> Outcome:
    found = find_sources(session.memory)
    lines = [
        f"{name:<18}  {get_source(name).title}: {visible(place)}"
        for name, places in found.items()
        for place in places
    ]
    return Outcome(
        "" if found else "No other tool's memory was found here. Name one: memoranda import SOURCE PATH.",
        lambda: [{"source": name, "places": places} for name, places in found.items()],
        lines,
    )


def import_source(session: Session, given: ParsedArguments) -> Outcome:
    path = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.path))) if given.path else ""
    source = SourceImport(session.memory, given.source, path, given.all, given.only or "")
    title = source.reader.title
    try:
        seen = source.read_preview(lambda done: session.wait(f"Reading {title}: {done:,}"))
    finally:
        session.wait("")
    lines = _source_preview(seen, given.limit)
    if given.dry_run:
        said = (
            SOURCE_UNREAD.format(title)
            if _is_unreadable(seen)
            else f"Importing {title} would bring {_import_amount(seen)}."
        )
        return Outcome(said, lambda: _source_json(source, seen, given), lines, status=_preview_status(seen))
    if not seen.fresh and not seen.turns:
        said = (SOURCE_UNREAD if _is_unreadable(seen) else NOTHING_NEW).format(title)
        return Outcome(said, lambda: _source_json(source, seen, given), lines, status=_preview_status(seen))
    becomes = "as they are" if given.trust else "as proposals"
    question = f"Import {title}: {_import_amount(seen)} would come, {becomes}. Go on?"
    if not given.yes and not session.ask(question, lines):
        raise Declined("Nothing was changed.")
    try:
        done = _apply_import(session, source, given.trust)
    finally:
        session.wait("")
    status = ExitStatus.UNFINISHED if done.stopped else ExitStatus.DONE
    return Outcome(
        _import_message(title, done), lambda: _source_json(source, seen, given, done), lines, status=status
    )


def _apply_import(session: Session, source: SourceImport, trust: bool) -> SourceImportReport:
    """Import with progress; on the command line, ^C stops it."""

    def progress(done: int) -> None:
        session.wait(f"Importing {source.reader.title}: {done:,}")

    with Interrupt() as interrupt:
        return source.import_found(trust, progress, lambda: interrupt.asked)


def _import_amount(seen: SourcePreview) -> str:
    """Return how many facts, decisions and turns would be imported, in words."""
    numbers = ((len(seen.fresh) - seen.decisions, "fact"), (seen.decisions, "decision"), (seen.turns, "turn"))
    *parts, last = [format_count(number, word) for number, word in numbers if number] or ["nothing"]
    return f"{', '.join(parts)} and {last}" if parts else last


def _import_message(title: str, done: SourceImportReport) -> str:
    """Return the message about what was imported, and how to undo it."""
    parts = []
    if done.proposed:
        parts.append(f"{format_count(done.proposed, 'proposal')} {agree_verb(done.proposed, 'wait in the inbox')}")
    if done.accepted:
        parts.append(f"{format_count(done.accepted, 'record')} imported unchanged")
    if done.turns:
        parts.append(f"{format_count(done.turns, 'turn')} of {format_count(done.sessions, 'session')} imported")
    if not parts and not done.stopped:
        return NOTHING_NEW.format(title)
    said = f"{'Stopped importing' if done.stopped else 'Imported'} {title}: {', '.join(parts) or 'nothing yet'}."
    if done.steps:
        *steps, last = [f"`undo {step}`" for step in reversed(done.steps)]
        said = f"{said} {', '.join(steps)} and {last} undo it." if steps else f"{said} {last} undoes it."
    return f"{said} The same import continues." if done.stopped else said


def _source_preview(seen: SourcePreview, limit: int) -> list[str]:
    """Preview an import: the first memories, what is left out and why, what could not be read."""
    lines = []
    for one in seen.fresh[:limit]:
        kind = "decision" if one.decision else "fact"
        name = os.path.basename(one.path)
        place = f"{name}, {one.place}" if one.place else f"{name}:{one.line}"
        lines.append(f"+ {kind:<9} {shorten(clean_text(one.text))}  {visible(place)}")
    if len(seen.fresh) > limit:
        lines.append(f"… and {len(seen.fresh) - limit:,} more; --limit shows them")
    for number, says in (
        (seen.secret, "hold a secret, which is cut out"),
        (seen.flagged, "look like instructions to agents"),
        (seen.known, "repeat what is known, was decided on or stands above"),
        (seen.purged, "stay out, as erased here once"),
        (seen.elsewhere + seen.turns_elsewhere, "are left out, as of other projects; --all brings them"),
        (seen.long, "are too long for a fact, and left out"),
    ):
        if number:
            lines.append(f"{number:,} {agree_verb(number, says)}")
    if prose := len(seen.documents):
        stays = agree_verb(prose, "stay in place")
        lines.append(f"{format_count(prose, 'file')} of prose {stays}; documents.extraPaths makes prose searchable")
    for trouble in seen.troubles[:LISTED_TROUBLES]:
        at = f", line {trouble.line:,}" if trouble.line else ""
        lines.append(f"{visible(trouble.path)}{at}: {trouble.why}")
    if len(seen.troubles) > LISTED_TROUBLES:
        lines.append(f"… and {len(seen.troubles) - LISTED_TROUBLES:,} more that cannot be read")
    if any(trouble.why == PERMISSION_DENIED for trouble in seen.troubles):
        lines.append("Look at the permissions of what is named, and of the folders above it, then import again.")
    return lines


def _is_unreadable(seen: SourcePreview) -> bool:
    """Tell whether nothing was read of a source because its files cannot be read."""
    found = seen.fresh, seen.known, seen.purged, seen.elsewhere, seen.turns_elsewhere, seen.long, seen.turns
    return not any((*found, seen.documents)) and any(not trouble.line for trouble in seen.troubles)


def _preview_status(seen: SourcePreview) -> ExitStatus:
    """Return how an import ends that changes nothing."""
    return ExitStatus.CANNOT if _is_unreadable(seen) else ExitStatus.DONE


def _source_json(
    source: SourceImport, seen: SourcePreview, given: ParsedArguments, done: SourceImportReport | None = None
) -> dict[str, object]:
    """Return an import for scripts."""
    return {
        "source": source.name,
        "places": source.places,
        "new": len(seen.fresh),
        "decisions": seen.decisions,
        "turns": seen.turns,
        "known": seen.known,
        "purged": seen.purged,
        "elsewhere": seen.elsewhere + seen.turns_elsewhere,
        "long": seen.long,
        "flagged": seen.flagged,
        "secrets": seen.secret,
        "documents": seen.documents,
        "troubles": [{"path": one.path, "line": one.line, "problem": one.why} for one in seen.troubles],
        "records": [
            {
                "kind": "decision" if one.decision else "fact",
                "text": clean_text(one.text),
                "path": one.path,
                "line": one.line,
                "created": one.created,
            }
            for one in seen.fresh[: given.limit]
        ],
        "steps": done.steps if done else [],
        "proposed": done.proposed if done else 0,
        "taken": done.accepted if done else 0,
        "added_turns": done.turns if done else 0,
        "stopped": bool(done and done.stopped),
    }
