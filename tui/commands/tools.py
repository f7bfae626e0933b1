"""files: the memory files of other tools: every version is kept, put back, and corrected in place; and what import
reads of them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from typing import Annotated, Any

from store.base.clock import format_local_time, from_ms, utc_now
from store.base.errors import Conflict, ExitStatus, InvalidInput
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import load_config
from store.database.values import clean_text
from store.purge.file_eraser import guard_path
from tui.commands.call import Call, Interrupt, Outcome, Preview, select_fields
from tui.commands.record_lines import shorten
from tui.input.arguments import Shown, UsageError, require_text, verb
from tui.render.lines import agree_verb, format_count
from tui.theme.escape import visible, visible_lines

try:
    from store.tools import (
        guard_database,
        guard_moments,
        guard_restoring,
        guests,
        machine_scan,
        source_import,
        transcript_scan,
    )
    from store.tools.guard_database import open_guard
    from store.tools.guard_moments import current_ms
    from store.tools.source_import import this_machine
except ModuleNotFoundError:  # the verb is there without its part, and refused before it uses any of these
    pass

PERMISSION_DENIED = "permission denied"
LISTED_FILES = 10  # files named below a moment
TOOL_CELLS = 12  # cells for the name of a tool
LONGEST_LISTED = 160  # characters of a text in a list
NO_GUEST_TEXTS = "No memory of Claude Code, basic-memory, OpenClaw or Engram was found on this machine."
NOTHING_CHANGED = "Nothing was changed."
# each act of `files`: how many words it takes, at least and at most, and what they are
ACTS = {
    "scan": (0, 99, ""),
    "keep": (0, 0, ""),
    "versions": (0, 2, "a moment and a file"),
    "restore": (1, 2, "a moment"),
    "list": (0, 99, ""),
    "show": (1, 99, "a name"),
    "correct": (2, 99, "a name and a text"),
    "forget": (1, 99, "a name"),
    "undo": (0, 0, ""),
}
SCAN, KEEP, CHANGES = ("scan",), ("keep",), tuple(act for act in ACTS if act != "scan")


@verb(opens="nothing", apart=True, part="tools")
def files(
    call: Call,
    act: Annotated[str, Shown("|".join(ACTS), tuple(ACTS))] = "scan",
    words: Annotated[list[str], Shown("FOLDER|M|FILE|NAME|TEXT", file=True)] = [],
    *,
    tool: Annotated[str, Shown("T", GUEST_TOOLS, acts=CHANGES)] = "",
    once: Annotated[bool, Shown(acts=CHANGES)] = False,
    watch: Annotated[bool, Shown(acts=CHANGES)] = False,
    off: Annotated[bool, Shown(acts=KEEP)] = False,
    md: Annotated[bool, Shown(acts=SCAN)] = False,
    check: Annotated[bool, Shown(acts=SCAN)] = False,
    no_transcripts: Annotated[bool, Shown(acts=SCAN)] = False,
    save: Annotated[bool, Shown(acts=SCAN)] = False,
    limit: int | None = None,
    dry_run: Annotated[bool, Shown(acts=CHANGES)] = False,
    yes: Annotated[bool, Shown(acts=CHANGES)] = False,
) -> Outcome:
    """Report on the memories of other tools, keep every version of their files, correct them in place.

    act: scan: what there is and what is wrong with it, nothing is changed; keep: look now, and say what changed since;
        versions: what changed, or how, M#3; restore: put it back, undo restore takes that back; list: what other tools
        remember, or what has these words; show: one of them; correct and forget show first what changes, undo takes
        the last one back
    words: folders of Markdown to scan too; what changed together, M#3, and only FILE of it, of restore FILE:3 or
        FILE:3-8; the name of a text, 3f2a9c1, and its new words
    tool: only this tool
    once: for a timer: keep what changed, print a line for each moment, nothing else
    watch: stay, and keep what changed whenever a file does
    off: forget all kept versions
    md: the report as a Markdown document
    check: exit status 5 if something is wrong, for CI
    no_transcripts: do not search conversations for secrets
    save: copy conversations that are about to be deleted, without their secrets
    limit: how many at the most (50), of a report findings of each kind (5)
    """
    restores = act == "restore" or (act == "undo" and list(words[:1]) == ["restore"])
    _check_words(act, words[1:] if act == "undo" and restores else words)
    if (once or watch) and act != "keep":
        raise InvalidInput("--once and --watch are for a look.", "memoranda files keep --once")
    match act:
        case "scan":
            return _report_tools(call, words, md, check, not no_transcripts, save, limit or 5)
        case "keep" if off:
            return _forget_versions(call, dry_run, yes)
        case "keep":
            return _watch_files(call) if watch else _look_at_files(call, once)
        case "versions":
            return _show_moment(*words) if words else _list_moments(limit or 50)
        case "list":
            return _list_texts(call, " ".join(words), tool, limit or 50)
        case "show":
            return _show_text(words[0])
    if restores:
        return _restore_moment(call, [] if act == "undo" else words, dry_run, yes)
    return _change_text(call, act, words, dry_run, yes)


def _check_words(act: str, words: Sequence[str]) -> None:
    """Raise InvalidInput for an act that there is not, and for more or fewer words than it takes."""
    if act not in ACTS:
        raise InvalidInput(f"files does not know “{visible(act[:40])}”.", "See `memoranda files --help`.")
    fewest, most, wanted = ACTS[act]
    if len(words) < fewest:
        known = "As in: memoranda files restore M#3"
        raise InvalidInput(
            f"files {act} wants {wanted}.",
            known if act == "restore" else "memoranda files list shows what there is.",
        )
    if len(words) > most:
        raise InvalidInput(
            f"files {act} takes {'a moment and a file' if most else 'no words'}.", "See `memoranda files --help`."
        )
    if act != "scan":  # a folder may be called anything
        for word in words:
            require_text(word)


# keep


def _look_at_files(call: Call, once: bool) -> Outcome:
    config = load_config(call.location)
    call.wait("Looking at the memory files")
    found = guard_moments.look_at_files(config, this_machine(), current_ms())
    with open_guard(config) as kept:
        moments = guard_moments.untold_moments(kept)
        if once:
            moments = [guard_moments.get_moment(kept, one) for one in found.moments]
        else:
            guard_moments.mark_told(kept, moments)
    if not once:
        lines = [line for one in moments for line in _moment_lines(one)] + _guard_summary(found, moments)
    else:
        lines = [moment_title(one) for one in moments] if not found.first else [_first_look(found)]
    return Outcome(lines=lines + _guard_troubles(found), data=lambda: _look_json(found, moments))


def _watch_files(call: Call) -> Outcome:
    """Return a document that grows by a line for each moment, or an object, until the person ends it."""

    def document() -> Generator[str, None, None]:
        stop, told = threading.Event(), False
        try:
            for found in guard_moments.watch_guarded_files(load_config(call.location), this_machine(), stop):
                moments: list[guard_moments.GuardMoment] = []
                if found.moments:
                    with open_guard() as kept:
                        moments = [guard_moments.get_moment(kept, number) for number in found.moments]
                lines = [moment_title(one) for one in moments]
                if not told:
                    watching = f"Watching {format_count(found.files, 'file')}."
                    lines.insert(0, _first_look(found) if found.first else watching)
                lines += _guard_troubles(found) if not told or not found.files else []
                if call.json and (moments or not told):
                    yield json.dumps(_look_json(found, moments), ensure_ascii=False) + "\n"
                elif lines and not call.json:
                    yield "\n".join(map(visible_lines, lines)) + "\n"
                told = True
                sys.stdout.flush()
        except KeyboardInterrupt:
            return
        finally:
            stop.set()

    return Outcome(document=document)


def _guard_troubles(found: guard_moments.LookResult) -> list[str]:
    """Return a line for each file that could not be kept."""
    return [
        f"Not kept: {home_path(one.path)}: {one.why}" if one.path else f"Note: {one.why}" for one in found.troubles
    ]


def _count_kept(found: guard_moments.LookResult) -> str:
    return f"{format_count(found.files, 'file')} of {format_count(found.tools, 'tool')}"


def _first_look(found: guard_moments.LookResult) -> str:
    """Return what the first look found."""
    if not found.files:
        return "No memory file of another tool was found on this machine."
    return f"Kept {_count_kept(found)}. From now on every change is kept."


def _guard_summary(found: guard_moments.LookResult, moments: list[guard_moments.GuardMoment]) -> list[str]:
    """Return the lines at the end of a look: what changed, and what can be done about it."""
    if found.first:
        again = (
            "Look again with memoranda files keep; memoranda files keep --watch keeps each version as it comes."
        )
        return [_first_look(found), again]
    if not moments:
        return [f"Nothing changed since you looked last: {_count_kept(found)}."]
    name = moments[0].name
    return ["", f"See how: memoranda files versions {name}   Put it back: memoranda files restore {name}"]


def _forget_versions(call: Call, dry_run: bool, yes: bool) -> Outcome:
    if dry_run:
        return Outcome(f"{visible(guard_path())} would be deleted, with its key.")
    call.agree(yes, "Forget all kept versions? No change before now can be put back then.")
    size = guard_database.delete_guard()
    return Outcome(
        f"Forgot all kept versions, {size / 1e6:,.1f} MB, and their key.",
        lambda: {"bytes": size},
        ["The tools' own files are as they are. A timer or --watch that still runs begins with a first look."],
    )


# versions, and putting back


def _list_moments(limit: int) -> Outcome:
    with open_guard() as kept:
        moments = guard_moments.recent_moments(kept, limit)
    lines = [moment_title(one) for one in moments] or ["Nothing changed since the first look."]
    return Outcome(lines=lines, data=lambda: [_moment_json(one) for one in moments])


def _show_moment(name: str, file: str = "") -> Outcome:
    """Show what changed at a moment, file by file."""
    with open_guard() as kept:
        moment = guard_moments.get_moment(kept, guard_moments.parse_moment_number(name))
        found = [
            (
                one.file.path,
                one.effect,
                guard_restoring.compare_lines(
                    guard_restoring.version_lines(kept, one.file, one.before),
                    guard_restoring.version_lines(kept, one.file, one.after),
                ),
            )
            for one in guard_moments.find_changes(moment, file)
        ]
    lines = [moment_title(moment), *(line for one in found for line in ("", *_file_lines(*one)))]
    return Outcome(lines=lines, data=lambda: _moment_json(moment) | {"files": [_file_json(*one) for one in found]})


def _restore_moment(call: Call, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Put a moment back, or a file of it; without words undo the last restore."""
    config, machine = load_config(call.location), this_machine()
    number = guard_moments.parse_moment_number(words[0]) if words else None
    plan = guard_restoring.plan_guard_restore(
        config,
        machine,
        current_ms(),
        number,
        *guard_restoring.parse_restore_target("".join(words[1:])),
    )
    name = plan.moment.name
    stay = [f"{home_path(path)} stays: {why}." for path, why in plan.stay]
    again = f", which changed again after {name}"
    shown = [
        (one.change.file.path, f"{one.effect}{again if one.again else ''}", one.difference) for one in plan.files
    ]
    preview = [*_preview_lines(shown), *stay]
    if dry_run or not plan.files:
        nothing = f"Nothing to put back: the files are as they were before {name}."
        said = NOTHING_CHANGED if plan.files else nothing
        return Outcome(said, lambda: _restore_json(plan, None), preview)
    if yes and (newer := [one.change.file.path for one in plan.files if one.again]):
        raise Conflict(
            f"{home_path(newer[0])} changed again after {name}; nothing was put back.",
            "Look at what would be lost, and answer there: the same without --yes.",
        )
    many = format_count(len(plan.files), "file")
    call.agree(yes, f"Put back {many} to before {name}?" if words else f"Undo {name}, in {many}?", preview)
    done = guard_restoring.run_guard_restore(config, machine, current_ms(), plan)
    said = f"Put back {many} to before {name}" if words else f"Undid {name}"
    back = f"Take it back: memoranda files {'undo restore' if words else f'restore M#{done}'}"
    return Outcome(f"{said}: M#{done}.", lambda: _restore_json(plan, done), [*stay, back])


# what other tools remember


def _list_texts(call: Call, query: str, tool: str, limit: int) -> Outcome:
    call.wait("Reading what other tools remember")
    found = guests.list_guest_texts(this_machine(), (tool,) if tool else GUEST_TOOLS)
    texts = guests.filter_guest_texts(found.texts, query)
    shown = texts[:limit]
    lines = [_text_line(one) for one in shown]
    if len(texts) > limit:
        lines.append(f"… and {len(texts) - limit:,} more: --limit {len(texts)}")
    if not texts:
        lines = [f"Nothing has the words “{visible(query)}”." if query and found.texts else NO_GUEST_TEXTS]
    lines += [f"Not read: {home_path(one.path)}: {one.why}" for one in found.troubles]
    troubles = [select_fields(one, "path", "why") for one in found.troubles]
    return Outcome(lines=lines, data=lambda: {"texts": [_text_json(one) for one in shown], "troubles": troubles})


def _text_line(one: guests.GuestText) -> str:
    """Return a text in one line, with its name and its tool."""
    text = guest_line(one)
    shown = text if len(text) <= LONGEST_LISTED else f"{text[:LONGEST_LISTED]}…"
    return f"{one.short}  {guest_tool(one):<{TOOL_CELLS}}  {shown}"


def guest_tool(one: guests.GuestText) -> str:
    """Return the name of the tool that keeps a text."""
    return source_import.get_source(one.tool).title


def guest_line(one: guests.GuestText) -> str:
    """Return a text in a line, without secrets; one that has a title and lines of its own begins with that."""
    title = f"{one.title}: " if one.title and (one.whole or one.tool == "engram") else ""
    return visible(" ".join(guests.cut_secrets(f"{title}{one.text}").split()))


def guest_place(one: guests.GuestText) -> str:
    """Return where a text is kept: the file and the line, or the row of a database."""
    return f"{home_path(one.path)}, observation {one.line}" if not one.end else f"{home_path(one.path)}:{one.line}"


def _show_text(name: str) -> Outcome:
    """Show a text in full."""
    one = guests.find_guest_text(this_machine(), name)
    about = " · ".join(filter(None, (guest_tool(one), one.note, guests.cut_secrets(one.title))))
    lines = [f"{one.short}  {about}", guest_place(one), "", *guests.cut_secrets(one.text).split("\n")]
    return Outcome(lines=lines, data=lambda: _text_json(one))


def _change_text(call: Call, act: str, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Correct or forget a text in its tool's own file, or undo the last of that."""
    config, machine, now = load_config(call.location), this_machine(), current_ms()
    if act == "undo":
        plan = guests.plan_guest_undo(config, machine, now)
        question = f"Undo M#{plan.undoes}?"
        said = f"Undid M#{plan.undoes}"
    else:
        one = guests.find_guest_text(machine, words[0])
        own = f"{guest_tool(one)}'s own file?"
        if act == "correct":
            plan = guests.plan_guest_correction(
                config, machine, now, one, call.text(words[1:], "files correct NAME")
            )
            question = f"Correct it in {own}"
            said = f"Corrected {one.short}"
        else:
            plan = guests.plan_guest_deletion(config, machine, now, one)
            question = f"Delete it from {own}"
            said = f"Deleted {one.short}"
    shown = [(one.change.file.path, plan.effect_on(one), one.difference) for one in plan.files]
    preview = _preview_lines(shown)

    def data(done: int | None) -> dict[str, Any]:
        return {
            "moment": done and f"M#{done}",
            "undoes": f"M#{plan.undoes}" if plan.undoes else None,
            "files": [_file_json(*one) for one in shown],
        }

    if dry_run:
        return Outcome(NOTHING_CHANGED, lambda: data(None), preview)
    call.agree(yes, question, preview)
    done = guests.run_guest_plan(config, machine, current_ms(), plan)
    back = f"Take it back: memoranda files {f'restore M#{done}' if plan.undoes else 'undo'}"
    return Outcome(f"{said}: M#{done}.", lambda: data(done), [back])


# lines, and JSON


def moment_title(moment: guard_moments.GuardMoment) -> str:
    """Return a moment in a sentence, as in `M#3  23 files of …`."""
    number = len(moment.files)
    many, when = format_count(number, "file"), moment_times(moment)
    what = ", ".join(f"{n:,} {word}" if number > 1 else word for word, n in moment.effect_counts.items())
    whose = moment.title if moment.title.startswith("your") else f"{moment.title}'s memory"
    said = f"{many} of {whose} changed {when}"
    if moment.restores is not None:
        said = f"You put {many} back to before M#{moment.restores} {when}"
    if moment.is_edit:
        said = f"You changed {many} of {moment.title}'s memory {when}"
    return f"{moment.name}  {said}: {what}"


def moment_times(moment: guard_moments.GuardMoment) -> str:
    today = format_local_time(utc_now()).rpartition(" ")[0]
    first, last = (format_local_time(from_ms(at)) for at in (moment.first_at, moment.last_at))
    if first == last:
        return f"at {first.removeprefix(f'{today} ')}"
    day = first.rpartition(" ")[0]
    return f"between {first.removeprefix(f'{today} ')} and {last.removeprefix(f'{day} ')}"


def _moment_lines(moment: guard_moments.GuardMoment) -> list[str]:
    """Return a moment, and a line for each of its files, up to a limit."""
    shown = moment.files[:LISTED_FILES]
    lines = [moment_title(moment), *(f"  {one.effect:<9}  {home_path(one.file.path)}" for one in shown)]
    if len(moment.files) > LISTED_FILES:
        lines.append(f"  … and {len(moment.files) - LISTED_FILES:,} more")
    return lines


def _file_lines(path: str, effect: str, difference: Iterable[guard_restoring.DiffLine]) -> list[str]:
    """Return a file, what becomes of it, and the lines that differ."""
    return [f"{home_path(path)}  {effect}", *map(diff_line, difference)]


def _preview_lines(shown: Iterable[tuple[str, str, Iterable[guard_restoring.DiffLine]]]) -> list[str]:
    """Return what would become of files, each with an empty line after it."""
    return [
        line for path, effect, lines in shown for line in (*_file_lines(path, f"would be {effect}", lines), "")
    ]


def diff_line(line: guard_restoring.DiffLine) -> str:
    """Return a line of a difference."""
    if line.sign == "…":
        return "       …"
    return f"  {line.sign} {line.before or '':>4} {visible(line.text)}".rstrip()


def home_path(path: str) -> str:
    """Return a path with ~ for the home directory, escaped."""
    home = os.path.join(os.path.expanduser("~"), "")
    return visible(f"~/{path.removeprefix(home)}" if path.startswith(home) else path)


def _look_json(found: guard_moments.LookResult, moments: list[guard_moments.GuardMoment]) -> dict[str, Any]:
    """Return what a look found, for scripts."""
    return {
        **select_fields(found, "first", "files", "bytes"),
        "moments": [_moment_json(one) for one in moments],
        "troubles": [select_fields(one, "path", "why") for one in found.troubles],
    }


def _moment_json(moment: guard_moments.GuardMoment) -> dict[str, Any]:
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


def _restore_json(plan: guard_restoring.GuardRestorePlan, done: int | None) -> dict[str, Any]:
    """Return a restore for scripts; `done` is the number of the moment that it made."""
    return {
        "moment": plan.moment.name,
        "restored": done and f"M#{done}",
        "files": [
            {**_file_json(one.change.file.path, one.effect, one.difference), "again": one.again}
            for one in plan.files
        ],
        "stay": [{"path": path, "why": why} for path, why in plan.stay],
    }


def _file_json(path: str, effect: str, difference: Iterable[guard_restoring.DiffLine]) -> dict[str, Any]:
    """Return a changed file and its difference for scripts."""
    lines = [[line.sign, line.before, line.text] for line in difference]
    return {"path": path, "change": effect, "lines": lines}


def _text_json(one: guests.GuestText) -> dict[str, Any]:
    """Return a text for scripts."""
    cut = {"title": guests.cut_secrets(one.title), "text": guests.cut_secrets(one.text)}
    return {**select_fields(one, "name", "tool", "path", "line", "note"), **cut}


# scan

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
    "expiring": "`memoranda files --save` copies them; `memoranda import claude-code` keeps what was said in a"
    " project's"
}


def _report_tools(
    call: Call, words: Sequence[str], md: bool, check: bool, transcripts: bool, save: bool, limit: int
) -> Outcome:
    """Report on what other tools keep here, and in the folders that are named."""
    folders = [call.path(one) for one in words]

    def progress(what: str, done: int, total: int) -> None:
        call.wait(f"Reading {what}: {100 * done // total} %" if total else f"Reading {what}")

    early: list[str] = []

    def first(report: transcript_scan.ScanReport) -> None:
        if call.tell is not None and not call.json and not md and transcripts:
            call.wait("")
            early.extend(_source_lines(report))
            for line in early:
                call.tell(line)

    report = machine_scan.scan_machine(
        this_machine(), utc_now(), call.cwd, folders, progress, first, search_transcripts=transcripts
    )
    status = ExitStatus.PERSON if check and report.findings else ExitStatus.DONE
    status = ExitStatus.CANNOT if _all_unread(report) else status
    if md and not call.json:
        return Outcome(document=lambda: _scan_document(report), status=status)
    lines = [*([] if early else _source_lines(report)), *_finding_lines(report, limit), *_start_lines(report)]
    if not save:
        return Outcome(lines=lines, data=report.as_dict, status=status)
    saved = transcript_scan.save_transcripts(one.path for one in report.list_findings("expiring"))
    status = ExitStatus.CANNOT if saved.troubles else status
    return Outcome(
        lines=[*lines, "", saved_words(saved)],
        data=lambda: {**report.as_dict(), "saved": saved.as_dict()},
        status=status,
    )


def saved_words(saved: transcript_scan.SavedTranscripts) -> str:
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


def source_words(one: transcript_scan.SourceInventory) -> str:
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


def _all_unread(report: transcript_scan.ScanReport) -> bool:
    """Return whether nothing of what was found could be read."""
    held = any(one.memories or one.documents or one.conversations for one in report.sources)
    return bool(report.troubles) and not held


def _source_lines(report: transcript_scan.ScanReport) -> list[str]:
    if not report.sources:
        return ["No memory of another tool was found on this machine."]
    lines = []
    for one in report.sources:
        where = visible(one.places[0]) + (f" and {len(one.places) - 1} more" if len(one.places) > 1 else "")
        lines.append(f"{one.title:<18}  {source_words(one)}  ({where})")
    return lines


def _finding_lines(report: transcript_scan.ScanReport, limit: int) -> list[str]:
    """Return the findings by kind, at most `limit` of each."""
    nothing = "Nothing could be read." if _all_unread(report) else "Nothing is wrong with what was read."
    lines = ["", nothing] if report.troubles and not report.findings else []
    if not report.findings and not report.troubles:
        return ["", "Nothing is wrong with them."] if report.sources else []
    for kind, title in FINDING_TITLES.items():
        several = report.list_findings(kind)
        if several:
            lines += ["", f"{title}: {len(several):,}", *(f"  {_finding_line(one)}" for one in several[:limit])]
            if kind in FINDING_ADVICE:
                lines.append(f"  {FINDING_ADVICE[kind]}")
            if len(several) > limit:
                lines.append(f"  … and {len(several) - limit:,} more; --limit shows them")
    return [*lines, *_unread_lines(report, limit)]


def _unread_lines(report: transcript_scan.ScanReport, limit: int) -> list[str]:
    unread = len(report.troubles)
    if not unread:
        return []
    lines = ["", f"{UNREAD_TITLE}: {unread:,}"]
    for one in report.troubles[:limit]:
        lines.append(f"  {visible(one.path)}{f':{one.line}' if one.line else ''}  {one.why}")
    lines += [f"  … and {unread - limit:,} more; --limit shows them"] if unread > limit else []
    shut = any(one.why == PERMISSION_DENIED for one in report.troubles)
    return [*lines, *(["  Look at the permissions of these, and of the folders above them."] if shut else [])]


def _finding_line(one: transcript_scan.ScanFinding) -> str:
    other = f" ({visible(one.other)})" if one.other else ""
    return f"{visible(one.path)}:{one.line}  {visible(clean_text(one.says))}{other}"


def _start_lines(report: transcript_scan.ScanReport) -> list[str]:
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
        dollars = f"{transcript_scan.cost_in_dollars(month):,.2f} dollars"
        lines.append(
            f"  In 30 days Claude Code loaded some {month:,} tokens of these, {dollars} at"
            f" {transcript_scan.PRICE_PER_MILLION:g} dollars a million."
        )
    return lines


def _scan_document(report: transcript_scan.ScanReport) -> Generator[str, None, None]:
    """Yield the report as Markdown, with every finding."""
    yield "# Memories on this machine\n\n"
    for line in _source_lines(report):
        yield f"- {line}\n"
    for kind, title in FINDING_TITLES.items():
        several = report.list_findings(kind)
        if several:
            yield f"\n## {title} ({len(several):,})\n\n"
            yield from (f"- {_finding_line(one)}\n" for one in several)
    unread = [line.strip() for line in _unread_lines(report, len(report.troubles))[2:]]
    if unread:
        yield f"\n## {UNREAD_TITLE} ({len(report.troubles):,})\n\n"
        yield from (f"- {line}\n" for line in unread)
    starts = [line.strip() for line in _start_lines(report)[2:]]
    if starts:
        yield "\n## Loaded at each start\n\n"
        yield from (f"- {line}\n" for line in starts)


# import, of the memory of another tool.

NOTHING_NEW = "Nothing of {} is new here; nothing was changed."
SOURCE_UNREAD = "Nothing of {} could be read; nothing was changed."
LISTED_TROUBLES = 10  # troubles that are listed one by one


def list_sources(call: Call) -> Outcome:
    found = source_import.find_sources(call.memory)
    lines = [
        f"{name:<18}  {source_import.get_source(name).title}: {visible(place)}"
        for name, places in found.items()
        for place in places
    ]
    return Outcome(
        "" if found else "No other tool's memory was found here. Name one: memoranda import SOURCE PATH.",
        lambda: [{"source": name, "places": places} for name, places in found.items()],
        lines,
    )


def import_source(call: Call, named: Sequence[str], trust: bool, every: bool, part: str, how: Preview) -> Outcome:
    """Import the memory of a tool: `named` are its name and, perhaps, its path. Raise UsageError."""
    name, *paths = named
    if paths[1:]:
        raise UsageError("import takes one tool, and one path.", "See `memoranda import --help`.")
    source = source_import.SourceImport(call.memory, name, call.path(paths[0]) if paths else "", every, part)
    title = source.reader.title
    try:
        seen = source.read_preview(lambda done: call.wait(f"Reading {title}: {done:,}"))
    finally:
        call.wait("")
    lines = _source_preview(seen, how.limit)
    unread = SOURCE_UNREAD.format(title) if _is_unreadable(seen) else ""
    if how.dry_run or not (seen.fresh or seen.turns):
        would = f"Importing {title} would bring {_import_amount(seen)}."
        said = unread or (would if how.dry_run else NOTHING_NEW.format(title))
        status = ExitStatus.CANNOT if unread else ExitStatus.DONE
        return Outcome(said, lambda: _source_json(source, seen, how.limit), lines, status=status)
    becomes = "as they are" if trust else "as proposals"
    call.agree(how.yes, f"Import {title}: {_import_amount(seen)} would come, {becomes}. Go on?", lines)

    def progress(done: int) -> None:
        call.wait(f"Importing {title}: {done:,}")

    try:
        with Interrupt() as interrupt:  # on the command line, ^C stops it
            done = source.import_found(trust, progress, lambda: interrupt.asked)
    finally:
        call.wait("")
    status = ExitStatus.UNFINISHED if done.stopped else ExitStatus.DONE
    return Outcome(
        _import_message(title, done), lambda: _source_json(source, seen, how.limit, done), lines, status=status
    )


def _import_amount(seen: source_import.SourcePreview) -> str:
    """Return how many facts, decisions and turns would be imported, in words."""
    numbers = ((len(seen.fresh) - seen.decisions, "fact"), (seen.decisions, "decision"), (seen.turns, "turn"))
    *parts, last = [format_count(number, word) for number, word in numbers if number] or ["nothing"]
    return f"{', '.join(parts)} and {last}" if parts else last


def _import_message(title: str, done: source_import.SourceImportReport) -> str:
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


def _source_preview(seen: source_import.SourcePreview, limit: int) -> list[str]:
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
        lines.append(
            f"{format_count(prose, 'file')} of prose {stays}; documents.extraPaths makes prose searchable"
        )
    for trouble in seen.troubles[:LISTED_TROUBLES]:
        at = f", line {trouble.line:,}" if trouble.line else ""
        lines.append(f"{visible(trouble.path)}{at}: {trouble.why}")
    if len(seen.troubles) > LISTED_TROUBLES:
        lines.append(f"… and {len(seen.troubles) - LISTED_TROUBLES:,} more that cannot be read")
    if any(trouble.why == PERMISSION_DENIED for trouble in seen.troubles):
        lines.append("Look at the permissions of what is named, and of the folders above it, then import again.")
    return lines


def _is_unreadable(seen: source_import.SourcePreview) -> bool:
    """Tell whether nothing was read of a source because its files cannot be read."""
    found = seen.fresh, seen.known, seen.purged, seen.elsewhere, seen.turns_elsewhere, seen.long, seen.turns
    return not any((*found, seen.documents)) and any(not trouble.line for trouble in seen.troubles)


def _source_json(
    source: source_import.SourceImport,
    seen: source_import.SourcePreview,
    limit: int,
    done: source_import.SourceImportReport | None = None,
) -> dict[str, object]:
    """Return an import for scripts."""
    seen_names = ("decisions", "turns", "known", "purged", "long", "flagged", "documents")
    return select_fields(seen, *seen_names) | {
        "source": source.name,
        "places": source.places,
        "new": len(seen.fresh),
        "elsewhere": seen.elsewhere + seen.turns_elsewhere,
        "secrets": seen.secret,
        "troubles": [{"path": one.path, "line": one.line, "problem": one.why} for one in seen.troubles],
        "records": [
            select_fields(one, "path", "line", "created")
            | {"kind": "decision" if one.decision else "fact", "text": clean_text(one.text)}
            for one in seen.fresh[:limit]
        ],
        "steps": done.steps if done else [],
        "proposed": done.proposed if done else 0,
        "taken": done.accepted if done else 0,
        "added_turns": done.turns if done else 0,
        "stopped": bool(done and done.stopped),
    }
