"""files: the memory files of other tools: every version is kept, put back, and corrected in place; and what import
reads of them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Annotated, Any

from store.base.clock import utc_now
from store.base.errors import Conflict, ExitStatus, InvalidInput
from store.base.location import Location
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import load_config
from store.purge.file_eraser import guard_path
from store.text.display import format_count, home_path, visible, visible_lines
from tui.commands.call import Call, Interrupt, Outcome, Preview
from tui.input.arguments import Shown, UsageError, require_text, verb

try:
    from store.tools import guard_moments, guests, source_import, transcript_scan
    from store.tools.guard_database import delete_guard, open_guard
    from store.tools.machine_scan import scan_machine
    from store.tools.source_import import this_machine
except ModuleNotFoundError:  # the verb is there without its part, and refused before it uses any of these
    pass

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
            lines = [one.describe() for one in moments] or ["Nothing changed since the first look."]
            return Outcome(lines=lines, data=lambda: [one.as_dict() for one in moments])
        case "list":
            return _list_texts(call, " ".join(words), tool, limit or 50)
        case "show":
            one = guests.find_guest_text(this_machine(), words[0])
            about = " · ".join(filter(None, (one.tool_title, one.note, guests.cut_secrets(one.title))))
            lines = [f"{one.short}  {about}", one.place, "", *guests.cut_secrets(one.text).split("\n")]
            return Outcome(lines=lines, data=one.as_dict)
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


def guard_of(location: Location) -> guard_moments.Occasion:
    """Return what a look at the files needs: the settings of a memory, this machine, and the time."""
    return guard_moments.Occasion(load_config(location), this_machine(), guard_moments.current_ms())


def _look_at_files(call: Call, once: bool) -> Outcome:
    config, machine, now = guard_of(call.location)
    call.wait("Looking at the memory files")
    found = guard_moments.look_at_files(config, machine, now)
    with open_guard(config) as kept:
        if once:
            moments = [guard_moments.get_moment(kept, one) for one in found.moments]
            lines = [found.describe_first()] if found.first else [one.describe() for one in moments]
        else:
            moments = guard_moments.untold_moments(kept)
            guard_moments.mark_told(kept, moments)
            lines = []
            for moment in moments:
                lines.append(moment.describe())
                lines += [f"  {one.effect:<9}  {home_path(one.file.path)}" for one in moment.files[:LISTED_FILES]]
                more = len(moment.files) - LISTED_FILES
                lines += [f"  … and {more:,} more"] if more > 0 else []
            if found.first:
                lines = [found.describe_first(), LOOK_AGAIN]
            elif moments:
                name = moments[0].name
                see = f"See how: memoranda files versions {name}   Put it back: memoranda files restore {name}"
                lines += ["", see]
            else:
                lines = [f"Nothing changed since you looked last: {found.describe_files()}."]
    lines += [one.describe("Not kept") for one in found.troubles]
    return Outcome(lines=lines, data=lambda: found.as_dict(moments))


def _watch_files(call: Call) -> Outcome:
    """Return a document that grows by a line for each moment, or an object, until the person ends it."""

    def document() -> Generator[str, None, None]:
        stop, told = threading.Event(), False
        try:
            for found in guard_moments.watch_guarded_files(load_config(call.location), this_machine(), stop):
                moments = list[guard_moments.GuardMoment]()
                if found.moments:
                    with open_guard() as kept:
                        moments = [guard_moments.get_moment(kept, number) for number in found.moments]
                watching = f"Watching {format_count(found.files, 'file')}."
                lines = [] if told else [found.describe_first() if found.first else watching]
                lines += [one.describe() for one in moments]
                if not told or not found.files:
                    lines += [one.describe("Not kept") for one in found.troubles]
                if call.json and (moments or not told):
                    yield json.dumps(found.as_dict(moments), ensure_ascii=False) + "\n"
                elif lines and not call.json:
                    yield "\n".join(map(visible_lines, lines)) + "\n"
                told = True
                sys.stdout.flush()
        except KeyboardInterrupt:
            return
        finally:
            stop.set()

    return Outcome(document=document)


# versions, and putting back


def _show_moment(name: str, file: str = "") -> Outcome:
    """Show what changed at a moment, file by file."""
    with open_guard() as kept:
        moment = guard_moments.get_moment(kept, guard_moments.parse_moment_number(name))
        changes = guard_moments.find_changes(moment, file)
        found = [guard_moments.show_change(kept, one) for one in changes]
    lines = [moment.describe(), *(line for one in found for line in ("", *one.describe()))]
    return Outcome(lines=lines, data=lambda: moment.as_dict() | {"files": [one.as_dict() for one in found]})


def _restore_moment(call: Call, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Put a moment back, or a file of it; without words undo the last restore."""
    number = guard_moments.parse_moment_number(words[0]) if words else None
    target = guard_moments.parse_restore_target("".join(words[1:]))
    plan = guard_moments.plan_guard_restore(guard_of(call.location), number, *target)
    name, preview, data = plan.moment.name, plan.preview(), plan.as_dict()
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
    done = guard_moments.run_guard_restore(guard_of(call.location), plan)
    said = f"Put back {many} to before {name}" if words else f"Undid {name}"
    back = f"Take it back: memoranda files {'undo restore' if words else f'restore M#{done}'}"
    return Outcome(f"{said}: M#{done}.", lambda: data | {"restored": f"M#{done}"}, [*plan.stay_lines, back])


# what other tools remember


def _list_texts(call: Call, query: str, tool: str, limit: int) -> Outcome:
    call.wait("Reading what other tools remember")
    found = guests.list_guest_texts(this_machine(), (tool,) if tool else GUEST_TOOLS)
    texts = guests.filter_guest_texts(found.texts, query)
    shown = texts[:limit]
    lines = [f"{one.short}  {one.tool_title:<12}  {one.shorten(LONGEST_LISTED)}" for one in shown]
    lines += [f"… and {len(texts) - limit:,} more: --limit {len(texts)}"] if len(texts) > limit else []
    if not texts:
        lines = [f"Nothing has the words “{visible(query)}”." if query and found.texts else NO_GUEST_TEXTS]
    lines += [one.describe("Not read") for one in found.troubles]
    troubles = [one.as_dict() for one in found.troubles]
    return Outcome(lines=lines, data=lambda: {"texts": [one.as_dict() for one in shown], "troubles": troubles})


def plan_text(
    location: Location, one: guests.GuestText, text: str | None
) -> tuple[str, guard_moments.GuardRestorePlan]:
    """Plan to give a text other words in its tool's own file, or to delete it there; return the question too."""
    own = f"{one.tool_title}'s own file?"
    if text is None:
        return f"Delete it from {own}", guests.plan_guest_deletion(guard_of(location), one)
    return f"Correct it in {own}", guests.plan_guest_correction(guard_of(location), one, text)


def _change_text(call: Call, act: str, words: Sequence[str], dry_run: bool, yes: bool) -> Outcome:
    """Correct or forget a text in its tool's own file, or undo the last of that."""
    if act == "undo":
        plan = guests.plan_guest_undo(guard_of(call.location))
        question = f"Undo {plan.moment.name}?"
        said = f"Undid {plan.moment.name}"
    else:
        one = guests.find_guest_text(this_machine(), words[0])
        text = call.text(words[1:], "files correct NAME") if act == "correct" else None
        question, plan = plan_text(call.location, one, text)
        said = f"{'Deleted' if text is None else 'Corrected'} {one.short}"
    shown = [one.show() for one in plan.files]
    preview = guard_moments.preview_changes(shown)
    undoes = plan.moment.name if act == "undo" else None
    data = {"moment": None, "undoes": undoes, "files": [one.as_dict() for one in shown]}
    if dry_run:
        return Outcome(NOTHING_CHANGED, lambda: data, preview)
    call.agree(yes, question, preview)
    done = guests.run_guest_plan(guard_of(call.location), plan)
    back = f"Take it back: memoranda files {f'restore M#{done}' if undoes else 'undo'}"
    return Outcome(f"{said}: M#{done}.", lambda: data | {"moment": f"M#{done}"}, [back])


# scan


def _report_tools(
    call: Call, words: Sequence[str], md: bool, check: bool, transcripts: bool, save: bool, limit: int
) -> Outcome:
    """Report on what other tools keep here, and in the folders that are named."""
    folders = [call.path(one) for one in words]

    def progress(what: str, done: int, total: int) -> None:
        call.wait(f"Reading {what}: {100 * done // total} %" if total else f"Reading {what}")

    early = call.tell if transcripts and not (call.json or md) else None

    def first(report: transcript_scan.ScanReport) -> None:
        if early is not None:
            call.wait("")
            for line in report.source_lines():
                early(line)

    report = scan_machine(
        this_machine(), utc_now(), call.cwd, folders, progress, first, search_transcripts=transcripts
    )
    done = Outcome(
        lines=[*([] if early else report.source_lines()), *report.finding_lines(limit), *report.start_lines()],
        data=report.as_dict,
        document=report.as_markdown if md and not call.json else None,
        status=ExitStatus.PERSON if check and report.findings else ExitStatus.DONE,
    )
    if report.all_unread or (report.troubles and done.status == ExitStatus.DONE):
        done.status = ExitStatus.CANNOT
    if save and done.document is None:
        saved = transcript_scan.save_transcripts(one.path for one in report.list_findings("expiring"))
        done.lines += ["", saved.describe()]
        done.data = lambda: report.as_dict() | {"saved": saved.as_dict()}
        done.status = ExitStatus.CANNOT if saved.troubles else done.status
    return done


# import, of the memory of another tool.


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


def import_source(call: Call, named: Sequence[str], trust: bool, how: Preview, limits: dict[str, Any]) -> Outcome:
    """Import the memory of a tool: `named` are its name and, perhaps, its path. Raise UsageError."""
    name, *paths = named
    if paths[1:]:
        raise UsageError("import takes one tool, and one path.", "See `memoranda import --help`.")
    source = source_import.SourceImport(call.memory, name, call.path(paths[0]) if paths else "", **limits)
    title, done = source.reader.title, source_import.SourceImportReport()
    seen = source.read_preview(lambda done: call.wait(f"Reading {title}: {done:,}"))
    call.wait("")
    result = Outcome("", lambda: source.as_dict(done, how.limit), seen.describe(how.limit))
    result.status = ExitStatus.CANNOT if seen.troubles else ExitStatus.DONE
    amount = seen.amount
    if how.dry_run or not (seen.fresh or seen.turns):
        nothing = seen.say_nothing(title)
        would = f"Importing {title} would bring {amount}."
        result.message = would if how.dry_run and (seen.read or not seen.troubles) else nothing
        return result
    becomes = "as they are" if trust else "as proposals"
    call.agree(how.yes, f"Import {title}: {amount} would come, {becomes}. Go on?", result.lines)
    # on the command line, ^C stops it
    with Interrupt() as interrupt:
        done = source.import_found(
            trust, lambda done: call.wait(f"Importing {title}: {done:,}"), lambda: interrupt.asked
        )
    call.wait("")
    result.message = done.describe(title)
    result.status = ExitStatus.UNFINISHED if done.stopped else result.status
    return result
