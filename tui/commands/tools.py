"""files: the memory files of other tools: every version is kept, put back, and corrected in place; and what import
reads of them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Annotated, Any

from store.base.clock import format_local_time, from_ms, utc_now
from store.base.errors import Conflict, ExitStatus, InvalidInput
from store.base.location import Location
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import Config, load_config
from store.database.values import clean_text
from store.purge.file_eraser import guard_path
from store.text.display import agree_verb, format_count, visible, visible_lines
from tui.commands.call import Call, Interrupt, Outcome, Preview, select_fields
from tui.commands.record_lines import shorten
from tui.input.arguments import Shown, UsageError, require_text, verb

try:
    from store.tools import guard_moments, guard_restoring, guests, source_import, transcript_scan
    from store.tools.guard_database import KeptVersions, delete_guard, open_guard
    from store.tools.guard_moments import GuardedChange, GuardMoment, LookResult, current_ms
    from store.tools.guard_restoring import DiffLine
    from store.tools.guests import GuestText, cut_secrets
    from store.tools.machine_scan import scan_machine
    from store.tools.source import Machine, ReadTrouble
    from store.tools.source_import import SourceImportReport, SourcePreview, get_source, this_machine
    from store.tools.transcript_scan import SavedTranscripts, ScanReport
except ModuleNotFoundError:  # the verb is there without its part, and refused before it uses any of these
    pass

PERMISSION_DENIED = "permission denied"
LOOK_AGAIN = "Look again with memoranda files keep; memoranda files keep --watch keeps each version as it comes."
# files named below a moment
LISTED_FILES = 10
# characters of a text in a list
LONGEST_LISTED = 160
NO_VERSIONS_NOW = (
    "The tools' own files are as they are. A timer or --watch that still runs begins with a first look."
)
NO_GUEST_TEXTS = "No memory of Claude Code, basic-memory, OpenClaw or Engram was found on this machine."
NOTHING_CHANGED = "Nothing was changed."
HELP_HINT = "See `memoranda files --help`."
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
SCAN, CHANGES = ("scan",), tuple(act for act in ACTS if act != "scan")


OfChanges = Annotated[bool, Shown(acts=CHANGES)]
OfScan = Annotated[bool, Shown(acts=SCAN)]


@verb(opens="nothing", apart=True, part="tools")
def files(
    call: Call,
    act: Annotated[str, Shown("|".join(ACTS), tuple(ACTS))] = "scan",
    words: Annotated[list[str], Shown("FOLDER|M|FILE|NAME|TEXT", file=True)] = [],
    *,
    tool: Annotated[str, Shown("T", GUEST_TOOLS, acts=CHANGES)] = "",
    once: OfChanges = False,
    watch: OfChanges = False,
    off: Annotated[bool, Shown(acts=("keep",))] = False,
    md: OfScan = False,
    check: OfScan = False,
    no_transcripts: OfScan = False,
    save: OfScan = False,
    limit: int | None = None,
    dry_run: OfChanges = False,
    yes: OfChanges = False,
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
        case "keep" if off and dry_run:
            return Outcome(f"{visible(guard_path())} would be deleted, with its key.")
        case "keep" if off:
            call.agree(yes, "Forget all kept versions? No change before now can be put back then.")
            size = delete_guard()
            said = f"Forgot all kept versions, {size / 1e6:,.1f} MB, and their key."
            return Outcome(said, lambda: {"bytes": size}, [NO_VERSIONS_NOW])
        case "keep":
            return _watch_files(call) if watch else _look_at_files(call, once)
        case "versions" if words:
            return _show_moment(*words)
        case "versions":
            with open_guard() as kept:
                moments = guard_moments.recent_moments(kept, limit or 50)
            lines = [moment_title(one) for one in moments] or ["Nothing changed since the first look."]
            return Outcome(lines=lines, data=lambda: [_moment_json(one) for one in moments])
        case "list":
            return _list_texts(call, " ".join(words), tool, limit or 50)
        case "show":
            one = guests.find_guest_text(this_machine(), words[0])
            about = " · ".join(filter(None, (guest_tool(one), one.note, cut_secrets(one.title))))
            lines = [f"{one.short}  {about}", guest_place(one), "", *cut_secrets(one.text).split("\n")]
            return Outcome(lines=lines, data=lambda: _text_json(one))
    if restores:
        return _restore_moment(call, [] if act == "undo" else words, dry_run, yes)
    return _change_text(call, act, words, dry_run, yes)


def _check_words(act: str, words: Sequence[str]) -> None:
    """Raise InvalidInput for an act that there is not, and for more or fewer words than it takes."""
    if act not in ACTS:
        raise InvalidInput(f"files does not know “{visible(act[:40])}”.", HELP_HINT)
    fewest, most, wanted = ACTS[act]
    if len(words) < fewest:
        known = "memoranda files list shows what there is."
        known = "As in: memoranda files restore M#3" if act == "restore" else known
        raise InvalidInput(f"files {act} wants {wanted}.", known)
    if len(words) > most:
        takes = "a moment and a file" if most else "no words"
        raise InvalidInput(f"files {act} takes {takes}.", HELP_HINT)
    # a folder may be called anything
    if act != "scan":
        for word in words:
            require_text(word)


# keep


def guard_of(location: Location) -> tuple[Config, Machine, int]:
    """Return what a look at the files needs: the settings of a memory, this machine, and the time."""
    return load_config(location), this_machine(), current_ms()


def _look_at_files(call: Call, once: bool) -> Outcome:
    config, machine, now = guard_of(call.location)
    call.wait("Looking at the memory files")
    found = guard_moments.look_at_files(config, machine, now)
    with open_guard(config) as kept:
        if once:
            moments = [guard_moments.get_moment(kept, one) for one in found.moments]
            lines = [_first_look(found)] if found.first else [moment_title(one) for one in moments]
        else:
            moments = guard_moments.untold_moments(kept)
            guard_moments.mark_told(kept, moments)
            lines = []
            for moment in moments:
                lines.append(moment_title(moment))
                lines += [f"  {one.effect:<9}  {home_path(one.file.path)}" for one in moment.files[:LISTED_FILES]]
                more = len(moment.files) - LISTED_FILES
                lines += [f"  … and {more:,} more"] if more > 0 else []
            if found.first:
                lines = [_first_look(found), LOOK_AGAIN]
            elif moments:
                name = moments[0].name
                see = f"See how: memoranda files versions {name}   Put it back: memoranda files restore {name}"
                lines += ["", see]
            else:
                lines = [f"Nothing changed since you looked last: {count_kept(found)}."]
    lines += trouble_lines("Not kept", found.troubles)
    return Outcome(lines=lines, data=lambda: _look_json(found, moments))


def _watch_files(call: Call) -> Outcome:
    """Return a document that grows by a line for each moment, or an object, until the person ends it."""

    def document() -> Generator[str, None, None]:
        stop, told = threading.Event(), False
        try:
            for found in guard_moments.watch_guarded_files(load_config(call.location), this_machine(), stop):
                moments = list[GuardMoment]()
                if found.moments:
                    with open_guard() as kept:
                        moments = [guard_moments.get_moment(kept, number) for number in found.moments]
                watching = f"Watching {format_count(found.files, 'file')}."
                lines = [] if told else [_first_look(found) if found.first else watching]
                lines += map(moment_title, moments)
                lines += trouble_lines("Not kept", found.troubles) if not told or not found.files else []
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


def trouble_lines(says: str, troubles: Sequence[ReadTrouble]) -> list[str]:
    """Return a line for each file that could not be kept, or read, as it `says`, and for what else is to be known."""
    return [f"{says}: {home_path(one.path)}: {one.why}" if one.path else f"Note: {one.why}" for one in troubles]


def count_kept(found: LookResult) -> str:
    """Return how many files there are, and of how many tools."""
    return f"{format_count(found.files, 'file')} of {format_count(found.tools, 'tool')}"


def _first_look(found: LookResult) -> str:
    """Return what the first look found."""
    if not found.files:
        return "No memory file of another tool was found on this machine."
    return f"Kept {count_kept(found)}. From now on every change is kept."


# versions, and putting back


def _show_moment(name: str, file: str = "") -> Outcome:
    """Show what changed at a moment, file by file."""
    with open_guard() as kept:
        moment = guard_moments.get_moment(kept, guard_moments.parse_moment_number(name))
        changes = guard_moments.find_changes(moment, file)
        found = [(one.file.path, one.effect, compare_versions(kept, one)) for one in changes]
    lines = [moment_title(moment), *(line for one in found for line in ("", *_file_lines(*one)))]
    return Outcome(lines=lines, data=lambda: _moment_json(moment) | {"files": [_file_json(*one) for one in found]})


def compare_versions(kept: KeptVersions, one: GuardedChange) -> list[DiffLine]:
    """Return what differs between the versions of a file before and after a change."""
    before, after = (guard_restoring.version_lines(kept, one.file, at) for at in (one.before, one.after))
    return guard_restoring.compare_lines(before, after)


def _restore_moment(call: Call, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Put a moment back, or a file of it; without words undo the last restore."""
    number = guard_moments.parse_moment_number(words[0]) if words else None
    target = guard_restoring.parse_restore_target("".join(words[1:]))
    plan = guard_restoring.plan_guard_restore(*guard_of(call.location), number, *target)
    name = plan.moment.name
    stay = [f"{home_path(path)} stays: {why}." for path, why in plan.stay]
    again = f", which changed again after {name}"
    shown = [
        (one.change.file.path, f"{one.effect}{again if one.again else ''}", one.difference) for one in plan.files
    ]
    preview = [*_preview_lines(shown), *stay]
    data = {
        "moment": name,
        "restored": None,
        "files": [
            _file_json(one.change.file.path, one.effect, one.difference) | {"again": one.again}
            for one in plan.files
        ],
        "stay": [{"path": path, "why": why} for path, why in plan.stay],
    }
    if dry_run or not plan.files:
        nothing = f"Nothing to put back: the files are as they were before {name}."
        return Outcome(NOTHING_CHANGED if plan.files else nothing, lambda: data, preview)
    if yes and (newer := [one.change.file.path for one in plan.files if one.again]):
        raise Conflict(
            f"{home_path(newer[0])} changed again after {name}; nothing was put back.",
            "Look at what would be lost, and answer there: the same without --yes.",
        )
    many = format_count(len(plan.files), "file")
    call.agree(yes, f"Put back {many} to before {name}?" if words else f"Undo {name}, in {many}?", preview)
    done = guard_restoring.run_guard_restore(*guard_of(call.location), plan)
    said = f"Put back {many} to before {name}" if words else f"Undid {name}"
    back = f"Take it back: memoranda files {'undo restore' if words else f'restore M#{done}'}"
    return Outcome(f"{said}: M#{done}.", lambda: data | {"restored": f"M#{done}"}, [*stay, back])


# what other tools remember


def _list_texts(call: Call, query: str, tool: str, limit: int) -> Outcome:
    call.wait("Reading what other tools remember")
    found = guests.list_guest_texts(this_machine(), (tool,) if tool else GUEST_TOOLS)
    texts = guests.filter_guest_texts(found.texts, query)
    shown = texts[:limit]
    lines = [f"{one.short}  {guest_tool(one):<12}  {guest_line(one, LONGEST_LISTED)}" for one in shown]
    lines += [f"… and {len(texts) - limit:,} more: --limit {len(texts)}"] if len(texts) > limit else []
    if not texts:
        lines = [f"Nothing has the words “{visible(query)}”." if query and found.texts else NO_GUEST_TEXTS]
    lines += trouble_lines("Not read", found.troubles)
    return Outcome(
        lines=lines,
        data=lambda: {"texts": [_text_json(one) for one in shown], "troubles": _troubles_json(found.troubles)},
    )


def guest_tool(one: GuestText) -> str:
    """Return the name of the tool that keeps a text."""
    return get_source(one.tool).title


def guest_line(one: GuestText, longest: int) -> str:
    """Return the beginning of a text in a line, without secrets; one that has a title and lines of its own begins with
    that."""
    title = f"{one.title}: " if one.title and (one.whole or one.tool == "engram") else ""
    text = visible(" ".join(cut_secrets(f"{title}{one.text}").split()))
    return text if len(text) <= longest else f"{text[:longest]}…"


def guest_place(one: GuestText) -> str:
    """Return where a text is kept: the file and the line, or the row of a database."""
    return f"{home_path(one.path)}, observation {one.line}" if not one.end else f"{home_path(one.path)}:{one.line}"


def plan_text(location: Location, one: GuestText, text: str | None) -> tuple[str, guests.GuestPlan]:
    """Plan to give a text other words in its tool's own file, or to delete it there; return the question too."""
    own = f"{guest_tool(one)}'s own file?"
    if text is None:
        return f"Delete it from {own}", guests.plan_guest_deletion(*guard_of(location), one)
    return f"Correct it in {own}", guests.plan_guest_correction(*guard_of(location), one, text)


def _change_text(call: Call, act: str, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Correct or forget a text in its tool's own file, or undo the last of that."""
    if act == "undo":
        plan = guests.plan_guest_undo(*guard_of(call.location))
        question = f"Undo M#{plan.undoes}?"
        said = f"Undid M#{plan.undoes}"
    else:
        one = guests.find_guest_text(this_machine(), words[0])
        text = call.text(words[1:], "files correct NAME") if act == "correct" else None
        question, plan = plan_text(call.location, one, text)
        said = f"{'Deleted' if text is None else 'Corrected'} {one.short}"
    shown = [(one.change.file.path, plan.effect_on(one), one.difference) for one in plan.files]
    preview = _preview_lines(shown)
    undoes = f"M#{plan.undoes}" if plan.undoes else None
    data = {"moment": None, "undoes": undoes, "files": [_file_json(*one) for one in shown]}
    if dry_run:
        return Outcome(NOTHING_CHANGED, lambda: data, preview)
    call.agree(yes, question, preview)
    done = guests.run_guest_plan(*guard_of(call.location), plan)
    back = f"Take it back: memoranda files {f'restore M#{done}' if undoes else 'undo'}"
    return Outcome(f"{said}: M#{done}.", lambda: data | {"moment": f"M#{done}"}, [back])


# lines, and JSON


def moment_title(moment: GuardMoment) -> str:
    """Return a moment in a sentence, as in `M#3  23 files of …`."""
    number = len(moment.files)
    many = format_count(number, "file")
    today = format_local_time(utc_now()).rpartition(" ")[0]
    first, last = (format_local_time(from_ms(at)) for at in (moment.first_at, moment.last_at))
    when = first.removeprefix(f"{today} ")
    last = last.removeprefix(f"{first.rpartition(' ')[0]} ") if last != first else ""
    when = f"between {when} and {last}" if last else f"at {when}"
    what = ", ".join(f"{n:,} {word}" if number > 1 else word for word, n in moment.effect_counts.items())
    whose = moment.title if moment.title.startswith("your") else f"{moment.title}'s memory"
    said = f"{many} of {whose} changed {when}"
    if moment.restores is not None:
        said = f"You put {many} back to before M#{moment.restores} {when}"
    if moment.is_edit:
        said = f"You changed {many} of {moment.title}'s memory {when}"
    return f"{moment.name}  {said}: {what}"


def _file_lines(path: str, effect: str, difference: Iterable[DiffLine]) -> list[str]:
    """Return a file, what becomes of it, and the lines that differ."""
    lines = [
        "       …" if one.sign == "…" else f"  {one.sign} {one.before or '':>4} {visible(one.text)}".rstrip()
        for one in difference
    ]
    return [f"{home_path(path)}  {effect}", *lines]


def _preview_lines(shown: Iterable[tuple[str, str, Iterable[DiffLine]]]) -> list[str]:
    """Return what would become of files, each with an empty line after it."""
    return [
        line for path, effect, lines in shown for line in (*_file_lines(path, f"would be {effect}", lines), "")
    ]


def home_path(path: str) -> str:
    """Return a path with ~ for the home directory, escaped."""
    home = os.path.join(os.path.expanduser("~"), "")
    return visible(f"~/{path.removeprefix(home)}" if path.startswith(home) else path)


def _look_json(found: LookResult, moments: Sequence[GuardMoment]) -> dict[str, Any]:
    """Return what a look found, for scripts."""
    return {
        **select_fields(found, "first", "files", "bytes"),
        "moments": [_moment_json(one) for one in moments],
        "troubles": _troubles_json(found.troubles),
    }


def _troubles_json(troubles: Sequence[ReadTrouble]) -> list[dict[str, Any]]:
    return [select_fields(one, "path", "why") for one in troubles]


def _moment_json(moment: GuardMoment) -> dict[str, Any]:
    """Return a moment for scripts."""
    return {
        "moment": moment.name,
        "tool": moment.tool,
        "first_at": from_ms(moment.first_at),
        "last_at": from_ms(moment.last_at),
        "edited": moment.is_edit,
        "restores": f"M#{moment.restores}" if moment.restores else None,
        "files": [{"path": one.file.path, "change": one.effect} for one in moment.files],
    }


def _file_json(path: str, effect: str, difference: Iterable[DiffLine]) -> dict[str, Any]:
    """Return a changed file and its difference for scripts."""
    return {"path": path, "change": effect, "lines": list(map(list, difference))}


def _text_json(one: GuestText) -> dict[str, Any]:
    """Return a text for scripts."""
    cut = {"title": cut_secrets(one.title), "text": cut_secrets(one.text)}
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
EXPIRING_ADVICE = (
    "`memoranda files --save` copies them; `memoranda import claude-code` keeps what was said in a project's"
)


def _report_tools(
    call: Call, words: Sequence[str], md: bool, check: bool, transcripts: bool, save: bool, limit: int
) -> Outcome:
    """Report on what other tools keep here, and in the folders that are named."""
    folders = [call.path(one) for one in words]

    def progress(what: str, done: int, total: int) -> None:
        call.wait(f"Reading {what}: {100 * done // total} %" if total else f"Reading {what}")

    early = call.tell if transcripts and not (call.json or md) else None

    def first(report: ScanReport) -> None:
        if early is not None:
            call.wait("")
            for line in _source_lines(report):
                early(line)

    report = scan_machine(
        this_machine(), utc_now(), call.cwd, folders, progress, first, search_transcripts=transcripts
    )
    done = Outcome(
        lines=[*([] if early else _source_lines(report)), *_finding_lines(report, limit), *_start_lines(report)],
        data=report.as_dict,
        document=(lambda: _scan_document(report)) if md and not call.json else None,
        status=ExitStatus.PERSON if check and report.findings else ExitStatus.DONE,
    )
    if _all_unread(report):
        done.status = ExitStatus.CANNOT
    if save and done.document is None:
        saved = transcript_scan.save_transcripts(one.path for one in report.list_findings("expiring"))
        done.lines += ["", saved_words(saved)]
        done.data = lambda: report.as_dict() | {"saved": saved.as_dict()}
        done.status = ExitStatus.CANNOT if saved.troubles else done.status
    return done


def saved_words(saved: SavedTranscripts) -> str:
    """Return what was saved, and where, in a sentence."""
    if not (saved.new or saved.before or saved.troubles):
        return "No conversation is about to be deleted."
    said = [f"Saved {format_count(len(saved.new), 'conversation')} to {visible(saved.folder)}, without secrets"]
    said += [f"{saved.before:,} {'was' if saved.before == 1 else 'were'} saved before"] if saved.before else []
    for one in saved.troubles[:1]:
        said.append(f"{format_count(len(saved.troubles), 'one')} could not be saved: {one.why}")
    return f"{'; '.join(said)}."


def _all_unread(report: ScanReport) -> bool:
    """Return whether nothing of what was found could be read."""
    held = any(one.memories or one.documents or one.conversations for one in report.sources)
    return bool(report.troubles) and not held


def _source_lines(report: ScanReport) -> list[str]:
    if not report.sources:
        return ["No memory of another tool was found on this machine."]
    lines = []
    for one in report.sources:
        size = f", {one.bytes / 1_000_000:,.1f} MB" if one.bytes else ""
        counts = (
            (one.memories, f"{one.memories:,} {'memory' if one.memories == 1 else 'memories'}"),
            (one.old, f"{one.old:,} older than half a year"),
            (one.documents, format_count(one.documents, "document")),
            (one.conversations, format_count(one.conversations, "conversation") + size),
            (one.unread, f"{format_count(one.unread, 'part')} cannot be read"),
        )
        says = "; ".join(says for number, says in counts if number) or "nothing"
        more = f" and {len(one.places) - 1} more" if len(one.places) > 1 else ""
        lines.append(f"{one.title:<18}  {says}  ({visible(one.places[0])}{more})")
    return lines


def _list_wrongs(report: ScanReport) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the lines of each kind of findings, and of what could not be read."""
    for kind, title in FINDING_TITLES.items():
        lines = []
        for one in report.list_findings(kind):
            other = f" ({one.other})" if one.other else ""
            lines.append(visible(f"{one.path}:{one.line}  {clean_text(one.says)}{other}"))
        yield title, lines
    lines = [f"{visible(one.path)}{f':{one.line}' if one.line else ''}  {one.why}" for one in report.troubles]
    yield UNREAD_TITLE, lines


def _finding_lines(report: ScanReport, limit: int) -> list[str]:
    """Return what is wrong by kind, at most `limit` of each."""
    if not report.findings and not report.troubles:
        return ["", "Nothing is wrong with them."] if report.sources else []
    nothing = "Nothing could be read." if _all_unread(report) else "Nothing is wrong with what was read."
    lines = [] if report.findings else ["", nothing]
    for title, found in _list_wrongs(report):
        if found:
            lines += ["", f"{title}: {len(found):,}", *(f"  {line}" for line in found[:limit])]
            lines += [f"  {EXPIRING_ADVICE}"] if title == FINDING_TITLES["expiring"] else []
            more = len(found) - limit
            lines += [f"  … and {more:,} more; --limit shows them"] if more > 0 else []
    return [*lines, *(f"  {line}" for line in _unread_advice(report))]


def _unread_advice(report: ScanReport) -> list[str]:
    shut = any(one.why == PERMISSION_DENIED for one in report.troubles)
    return ["Look at the permissions of these, and of the folders above them."] if shut else []


def _start_lines(report: ScanReport) -> list[str]:
    if not report.starts:
        return []
    lines = ["", "Loaded at each start:"]
    for start in report.starts:
        sums = ", ".join(f"{agent} {tokens:,} tokens" for agent, tokens in start.tokens.items())
        lines.append(f"  {visible(start.folder)}: {sums}")
        for layer in start.layers:
            by = f", imported by {layer.by}" if layer.by else ""
            lines.append(visible(f"    {layer.tokens:>7,}  {layer.path}{by}"))
    month = sum(start.month_tokens for start in report.starts)
    if month:
        dollars = f"{transcript_scan.cost_in_dollars(month):,.2f} dollars"
        lines.append(
            f"  In 30 days Claude Code loaded some {month:,} tokens of these, {dollars} at"
            f" {transcript_scan.PRICE_PER_MILLION:g} dollars a million."
        )
    return lines


def _scan_document(report: ScanReport) -> Generator[str, None, None]:
    """Yield the report as Markdown, with every finding."""
    yield "# Memories on this machine\n\n"
    yield from (f"- {line}\n" for line in _source_lines(report))
    for title, found in _list_wrongs(report):
        if found:
            yield f"\n## {title} ({len(found):,})\n\n"
            yield from (f"- {line}\n" for line in found)
    yield from (f"- {line}\n" for line in _unread_advice(report))
    if report.starts:
        yield "\n## Loaded at each start\n\n"
        yield from (f"- {line.strip()}\n" for line in _start_lines(report)[2:])


# import, of the memory of another tool.

NOTHING_NEW = "Nothing of {} is new here; nothing was changed."
# troubles that are listed one by one
LISTED_TROUBLES = 10


def list_sources(call: Call) -> Outcome:
    found = source_import.find_sources(call.memory)
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


def import_source(call: Call, named: Sequence[str], trust: bool, every: bool, part: str, how: Preview) -> Outcome:
    """Import the memory of a tool: `named` are its name and, perhaps, its path. Raise UsageError."""
    name, *paths = named
    if paths[1:]:
        raise UsageError("import takes one tool, and one path.", "See `memoranda import --help`.")
    source = source_import.SourceImport(call.memory, name, call.path(paths[0]) if paths else "", every, part)
    title = source.reader.title
    done = SourceImportReport()
    seen = source.read_preview(lambda done: call.wait(f"Reading {title}: {done:,}"))
    call.wait("")
    result = Outcome("", lambda: _source_json(source, seen, done, how.limit), _source_preview(seen, how.limit))
    numbers = ((len(seen.fresh) - seen.decisions, "fact"), (seen.decisions, "decision"), (seen.turns, "turn"))
    *parts, last = [format_count(number, word) for number, word in numbers if number] or ["nothing"]
    amount = f"{', '.join(parts)} and {last}" if parts else last
    if how.dry_run or not (seen.fresh or seen.turns):
        would = f"Importing {title} would bring {amount}."
        result.message = would if how.dry_run else NOTHING_NEW.format(title)
        kept = seen.fresh, seen.known, seen.purged, seen.elsewhere, seen.turns_elsewhere, seen.long, seen.turns
        if not any((*kept, seen.documents)) and any(not trouble.line for trouble in seen.troubles):
            result.message = f"Nothing of {title} could be read; nothing was changed."
            result.status = ExitStatus.CANNOT
        return result
    becomes = "as they are" if trust else "as proposals"
    call.agree(how.yes, f"Import {title}: {amount} would come, {becomes}. Go on?", result.lines)
    # on the command line, ^C stops it
    with Interrupt() as interrupt:
        done = source.import_found(
            trust, lambda done: call.wait(f"Importing {title}: {done:,}"), lambda: interrupt.asked
        )
    call.wait("")
    result.message = _import_message(title, done)
    result.status = ExitStatus.UNFINISHED if done.stopped else ExitStatus.DONE
    return result


def _import_message(title: str, done: SourceImportReport) -> str:
    """Return the message about what was imported, and how to undo it."""
    number = done.proposed
    parts = [f"{format_count(number, 'proposal')} {agree_verb(number, 'wait in the inbox')}"] if number else []
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
    counts = (
        (seen.secret, "hold a secret, which is cut out"),
        (seen.flagged, "look like instructions to agents"),
        (seen.known, "repeat what is known, was decided on or stands above"),
        (seen.purged, "stay out, as erased here once"),
        (seen.elsewhere + seen.turns_elsewhere, "are left out, as of other projects; --all brings them"),
        (seen.long, "are too long for a fact, and left out"),
    )
    lines += [f"{number:,} {agree_verb(number, says)}" for number, says in counts if number]
    if prose := len(seen.documents):
        stays = agree_verb(prose, "stay in place")
        lines.append(
            f"{format_count(prose, 'file')} of prose {stays}; documents.extraPaths makes prose searchable"
        )
    for bad in seen.troubles[:LISTED_TROUBLES]:
        at = f", line {bad.line:,}" if bad.line else ""
        lines.append(f"{visible(bad.path)}{at}: {bad.why}")
    if len(seen.troubles) > LISTED_TROUBLES:
        lines.append(f"… and {len(seen.troubles) - LISTED_TROUBLES:,} more that cannot be read")
    if any(one.why == PERMISSION_DENIED for one in seen.troubles):
        lines.append("Look at the permissions of what is named, and of the folders above it, then import again.")
    return lines


def _source_json(
    source: source_import.SourceImport, seen: SourcePreview, done: SourceImportReport, limit: int
) -> dict[str, object]:
    """Return an import for scripts."""
    return {
        **select_fields(seen, "decisions", "turns", "known", "purged", "long", "flagged", "documents"),
        **select_fields(done, "steps", "proposed", "stopped"),
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
        "taken": done.accepted,
        "added_turns": done.turns,
    }
