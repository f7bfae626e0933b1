"""Files: what other tools remember on this machine: what is wrong with it, what changed in it, and every text of it.

Every version of these files is kept, and a moment or a file is put back as it was; a text is corrected or deleted in
its tool's own file. What would be written there is shown first, as a plan, and nothing else is done."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from store.base.errors import Conflict, MemorandaError, NotFound
from store.config.configuration import load_config
from store.database.values import clean_text
from store.memory import Memory
from store.text.display import format_count, home_path, visible
from store.tools import guard_moments, guests, transcript_scan
from store.tools.guard_database import open_guard
from store.tools.guard_moments import GuardedChange, GuardMoment
from store.tools.guests import GuestText, cut_secrets
from store.tools.machine_scan import scan_machine
from store.tools.source import ReadTrouble, read_file_bytes
from store.tools.source_import import this_machine
from tui.actions.action import Action, ActionScreen, Done
from tui.commands import tools
from tui.commands.tools import guard_of
from tui.desktop import programs
from tui.input.key_table import FILES
from tui.lists.filters import Facet, FacetChoice
from tui.lists.record_rows import RowLine, row_lines
from tui.panes.pane import Entry, EntryRows, Heading, Loaded, Pane, Reading, View
from tui.render.lines import StyledLine
from tui.screens.plans import Plan, PlanLine

PARTS = WRONG, CHANGES, TEXTS = "wrong", "changes", "texts"
# moments, alone and above the texts
SHOWN_MOMENTS = 50
NEWEST_MOMENTS = 5
# files of a moment in the list, and in the preview
FILES_OF_MOMENT = 200
COMPARED_FILES = 20
# characters of a text in the list
LONGEST_LISTED = 400
# lines of a file before and after one; bytes of a file that is shown
LINES_AROUND = 12
LARGEST_SHOWN = 2_000_000
NOT_CHANGED = (
    "Nothing changed yet. Every change from now on is kept when you look, or by `memoranda files keep --watch`."
)
KIND_PLURALS = {"memory": "memories", "document": "documents", "conversation": "conversations"}
DIFF_LOOKS = {"+": "added", "-": "removed", "…": "hunk", " ": "plain"}
SIGNS = {"removed": ("− ", "removed"), "added": ("+ ", "added"), "put back": ("+ ", "added")}


class RowJob(NamedTuple):
    """What Enter does in a row."""

    run: Callable[[ActionScreen], object]


class ScanNumber(NamedTuple):
    """A number of the scan: what it counts (`kind`, of the tool or folder `name`), what says so, and what its chip."""

    kind: str
    name: str
    number: int
    says: str
    chip: str
    about: str = ""

    def run(self, screen: ActionScreen) -> None:
        """List what it counts."""
        screen.go_to(FILES, shows=self.chip)


class ChangedFile(NamedTuple):
    """A moment, or one file of it."""

    moment: GuardMoment
    file: GuardedChange | None = None


@dataclass
class FilesRead:
    """What was read for a view: the scan, with `folders` beside the tools; what changed; the texts. None: not yet.
    `said` is the number of each part, None before it was read, and what the title says of it."""

    view: View | None = None
    folders: str = ""
    report: transcript_scan.ScanReport | None = None
    changes: tuple[guard_moments.LookResult, Sequence[GuardMoment]] | None = None
    texts: guests.GuestList | None = None
    searching: bool = False
    said: dict[str, tuple[int | None, str]] = field(default_factory=lambda: dict.fromkeys(PARTS, (None, "")))


def read_files(reading: Reading) -> Loaded:
    """Read the parts that are shown. If the view is the same, as after something was done, the files are looked at
    again; the scan is made again only if that is asked for, or if other folders are named for it."""
    view, read = reading.view, reading.kept or FilesRead()
    shows = TEXTS if view.get("words") else view.get("shows")
    if read.view == view:
        read.changes = read.texts = None
    if (folders := view.get("folders") or "") != read.folders:
        read.folders, read.report = folders, None
    read.view = view
    parts = [name for name in READERS if shows in (None, name)] or [WRONG]
    rows = list[Entry | Heading]()
    for name in parts:
        rows.append(Heading(shows if shows and shows not in READERS else name.capitalize()))
        try:
            rows += READERS[name](reading, read)
        except MemorandaError as error:
            rows.append(_note(str(error), "warning"))
    rows.append(_job("Look again", "at all of it", partial(_look_again, read)))
    chips = tuple(FacetChoice(name, name.capitalize(), number) for name, (number, _) in read.said.items())
    _, says = read.said[parts[0]]
    return Loaded(EntryRows(rows), [Facet("shows", "Shows", chips)], [(says, "$dim")], kept=read)


def _draw(
    text: str, head: RowLine = [], note: str = "", look: str = "", below: str = ""
) -> Callable[[int], list[RowLine]]:
    """Return what draws a text with what stands before, at the right edge and below it."""
    aside, second = [(visible(note), "dim")], [(below, "dim")]
    return lambda width: row_lines(head, visible(text), look, aside, width, second=second)


def _note(text: str, look: str = "dim") -> Entry:
    """Return a row that only says something."""
    return Entry(text, None, _draw(text, look=look))


def _job(says: str, about: str, run: Callable[[ActionScreen], object]) -> Entry:
    return Entry(says, RowJob(run), _draw(says, [("      ↵  ", "accent")], about))


# What is wrong: the numbers of a scan, and what each counts.


def _read_wrong(reading: Reading, read: FilesRead) -> Iterator[Entry]:
    """Yield the numbers of the scan, or what the chosen one counts."""
    if read.report is None:
        reading.tell("reading …")
        now, cwd = reading.engine.clock(), reading.engine.cwd
        folders = [
            os.path.abspath(os.path.join(cwd, os.path.expanduser(one))) for one in shlex.split(read.folders)
        ]
        read.report = scan_machine(this_machine(), now, cwd, folders, search_transcripts=False)
    report = read.report
    chip = reading.view.get("shows")
    wrong = sum(report.counts.values())
    searched = "" if report.transcripts else "; conversations not searched"
    searched = "; searching conversations …" if read.searching else searched
    read.said[WRONG] = wrong, f"{format_count(len(report.sources), 'tool')}{searched}"
    numbers = list(_scan_numbers(report))
    for one in numbers if chip in (None, WRONG) else ():
        look = "removed" if one.kind in transcript_scan.WRONG_KINDS else "accent"
        yield Entry(one[:2], one, _draw(one.says, [(f"{one.number:>7,}  ", look)], one.about))
    counted = [each for one in numbers if one.chip == chip for each in report.list_findings(one.kind, one.name)]
    for at, each in enumerate(counted):
        place = f"{home_path(each.path)}:{each.line}" if each.line > 1 else home_path(each.path)
        says = " ".join(clean_text(each.says).split())
        draw = _draw(says or place, [("  ", "")], below=place if says else "")
        yield Entry((at, place), each, draw, partial(describe_finding, each), slow=True)
    if not numbers:
        yield _note("No other tool keeps a memory on this machine. Name a folder of Markdown: :files scan ~/notes")
    elif chip in (None, WRONG, transcript_scan.FINDING_TITLES["secret"]) and not (
        report.transcripts or read.searching
    ):
        search = partial(_search_conversations, read, report)
        yield _job("Search conversations for secrets", "takes a while", search)
    paths = [one.path for one in report.list_findings("expiring")]
    if chip in (None, WRONG, transcript_scan.FINDING_TITLES["expiring"]) and paths:
        save = partial(_save_conversations, paths)
        yield _job("Save conversations that are about to be deleted", "without secrets", save)


def _scan_numbers(report: transcript_scan.ScanReport) -> Iterator[ScanNumber]:
    """Yield the numbers of a report, what is wrong first."""
    for kind, title in (transcript_scan.FINDING_TITLES | transcript_scan.OTHER_TITLES).items():
        if several := report.list_findings(kind):
            yield ScanNumber(kind, "", len(several), title, title)
    for one in report.sources:
        for kind, many in KIND_PLURALS.items():
            if several := report.list_findings(kind, one.source):
                old = f"{one.old:,} older than half a year" if kind == "memory" and one.old else ""
                says = f"{kind if len(several) == 1 else many} of {one.title}"
                yield ScanNumber(kind, one.source, len(several), says, f"{many} of {one.title}", old)
    for start in report.starts:
        says = f"tokens loaded at a start in {home_path(start.folder)}"
        yield ScanNumber("layer", start.folder, sum(layer.tokens for layer in start.layers), says, says)


def describe_finding(one: transcript_scan.ScanFinding) -> list[StyledLine]:
    """Return the lines of a file around one, without secrets; of a database only what it is."""
    lines: list[StyledLine] = [[(home_path(one.path), "title"), (f"  line {one.line}", "dim")], []]
    lines += [[(f"with {visible(one.other)}", "dim")]] if one.other else []
    troubles = list[ReadTrouble]()
    raw = read_file_bytes(one.path, troubles, LARGEST_SHOWN)
    if raw is None:
        return [*lines, [(troubles[0].why, "warning")]]
    if b"\0" in raw[:16]:
        return [*lines, [(f"record {one.line:,} of a database", "dim")]]
    for number, text in enumerate(clean_text(raw.decode("utf-8", "replace")).split("\n"), start=1):
        if abs(number - one.line) <= LINES_AROUND:
            look = "own" if number == one.line else "dim"
            lines.append([(f"{number:>6}  ", look), (visible(text[:2_000]), "")])
    return lines


def _look_again(read: FilesRead, screen: ActionScreen) -> None:
    read.report = None
    screen.refresh_rows()


def _search_conversations(read: FilesRead, report: transcript_scan.ScanReport, screen: ActionScreen) -> None:
    """Search conversations for secrets, in a process of its own."""
    command = [sys.executable, "-P", "-m", "tui.main", "files", "scan", "--json", *read.folders.split()]
    run = partial(subprocess.run, command, cwd=screen.engine.cwd, stdin=subprocess.DEVNULL, capture_output=True)

    def search() -> None:
        try:
            report.findings = [transcript_scan.ScanFinding(**one) for one in json.loads(run().stdout)["findings"]]
            report.transcripts = True
        except (OSError, ValueError, KeyError, TypeError):
            screen.later(screen.say, "The conversations could not be searched: memoranda files", "error")
        read.searching = False
        screen.later(screen.refresh_rows)

    read.searching = True
    screen.in_background(search, FILES)
    screen.refresh_rows()


def _save_conversations(paths: Sequence[str], screen: ActionScreen) -> None:
    def save() -> None:
        saved = transcript_scan.save_transcripts(paths)
        screen.later(screen.say, saved.describe(), "warning" if saved.troubles else "information")

    screen.in_background(save, FILES)


# What changed, by moments; where they stand alone, each with its files below.


def _read_changes(reading: Reading, read: FilesRead) -> Iterator[Entry]:
    """Look at all files, and yield the moments in which some changed."""
    if read.changes is None:
        reading.tell("looking …")
        config, machine, now = guard_of(reading.engine.location)
        look = guard_moments.look_at_files(config, machine, now)
        with open_guard(config) as kept:
            read.changes = look, guard_moments.recent_moments(kept, SHOWN_MOMENTS)
            guard_moments.mark_told(kept, read.changes[1])
    look, moments = read.changes
    alone = reading.view.get("shows") == CHANGES
    unkept = f", {format_count(len(look.troubles), 'file')} not kept" if look.troubles else ""
    read.said[CHANGES] = len(moments), f"{look.describe_files()}{unkept}"
    for moment in moments[: SHOWN_MOMENTS if alone else NEWEST_MOMENTS]:
        name, _, title = moment.describe().partition("  ")
        draw = _draw(title, [(f"{name:<6} ", "cite")], look="bold")
        more = partial(describe_change, moment, moment.files[:COMPARED_FILES])
        yield Entry((name, 0), ChangedFile(moment), draw, more, slow=True)
        for one in moment.files[:FILES_OF_MOMENT] if alone else ():
            sign = SIGNS.get(one.effect, ("~ ", "dim"))
            path = home_path(one.file.path)
            draw = _draw(path, [("       ", ""), sign], one.effect)
            more = partial(describe_change, moment, (one,))
            yield Entry((name, one.number), ChangedFile(moment, one), draw, more, slow=True)
    if not moments:
        yield _note(NOT_CHANGED)
    yield from (_note(one.describe("Not kept"), "warning") for one in look.troubles)


def describe_change(moment: GuardMoment, files: Sequence[GuardedChange]) -> list[StyledLine]:
    """Return what changed in files of a moment."""
    lines: list[StyledLine] = []
    try:
        with open_guard() as kept:
            for one in files:
                lines += difference_lines(guard_moments.show_change(kept, one))
    except MemorandaError as error:
        return [[(visible(str(error)), "warning")]]
    more = len(moment.files) - COMPARED_FILES if len(files) == COMPARED_FILES else 0
    return [*lines, [(f"… and {format_count(more, 'more file')}", "dim")]] if more else lines


def difference_lines(change: guard_moments.ShownChange, says: str = "") -> list[StyledLine]:
    """Return a file, what becomes of it as it `says`, and what differs in it."""
    shown = [
        [(f"{one.sign} {one.before or '':>4} {visible(one.text)}", DIFF_LOOKS[one.sign])]
        for one in change.difference
    ]
    return [[(f"{home_path(change.path)}  {says}{change.effect}", "title")], *shown, []]


# The texts, each in its tool's own file.


def _read_texts(reading: Reading, read: FilesRead) -> Iterator[Entry]:
    """Yield the texts that have the words typed, of the chosen tool."""
    if read.texts is None:
        reading.tell("reading …")
        read.texts = guests.list_guest_texts(this_machine())
    every = read.texts.texts
    troubles = read.texts.troubles
    words = reading.view.get("words") or ""
    tool = reading.view.get("tool")
    texts = [one for one in guests.filter_guest_texts(every, words) if tool in (None, one.tool)]
    some = f"{len(texts):,} of " if len(texts) < len(every) else ""
    unread = f", {format_count(len(troubles), 'file')} not read" if troubles else ""
    read.said[TEXTS] = len(every), f"{some}{format_count(len(every), 'text')}{unread}"
    for one in texts:
        yield Entry(one.name, one, partial(_text_lines, one), partial(describe_text, one))
    if not texts:
        yield _note(f"Nothing has the words “{words}”." if words and every else tools.NO_GUEST_TEXTS)
    yield from (_note(one.describe("Not read"), "warning") for one in troubles)


READERS = {WRONG: _read_wrong, CHANGES: _read_changes, TEXTS: _read_texts}


def _text_lines(one: GuestText, width: int) -> list[RowLine]:
    head = [(f"{one.tool_title:<12} ", "cite")]
    return row_lines(head, one.shorten(LONGEST_LISTED), "", [(visible(one.note), "dim")], width)


def describe_text(one: GuestText) -> list[StyledLine]:
    """Return a text in full, without secrets, and where it is."""
    title = visible(cut_secrets(one.title))
    about = visible(" · ".join(filter(None, (one.note, one.short))))
    lines: list[StyledLine] = [[(one.tool_title, "cite"), (f"  {title}", "title"), (f"  {about}", "dim")]]
    lines += [[(one.place, "dim")], []]
    return [*lines, *([(visible(line), "")] for line in cut_secrets(one.text).split("\n"))]


def correct_text(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Ask for other words where the text stands; in the person's own editor where that cannot show it as it is."""
    one, text = things[0], cut_secrets(things[0].text)
    flat = text.replace("\n", " ")
    if visible(flat) != flat or "⏎" in flat:
        open_editor(screen, things)
    else:
        label = f"correct it in {one.tool_title}'s own file"
        screen.edit_text(label, text, partial(_show_correction, screen, one), "shows the change")


def open_editor(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Ask for other words in the person's editor; open a file that the scan names there, at its line."""
    one, command = things[0], screen.setting("editor")
    try:
        if isinstance(one, transcript_scan.ScanFinding):
            programs.open_in_editor(screen.app, one.path, one.line, command=command)
        elif (new := programs.edit_in_editor(screen.app, cut_secrets(one.text), command=command)) is not None:
            _show_correction(screen, one, new)
        else:
            screen.say("Nothing was changed.")
    except MemorandaError as error:
        screen.say(str(error), "warning")


def _show_correction(screen: ActionScreen, one: GuestText, text: str) -> None:
    if text != cut_secrets(one.text):
        screen.show_plan(partial(plan_correction, one, text))


# Plans of what would be written to other tools' files.


def plan_correction(one: GuestText, text: str, memory: Memory) -> Plan:
    """Plan to give a text other words."""
    return _plan_for_text(*tools.plan_text(memory.location, one, text), "correct", "Corrected")


def plan_deletion(memory: Memory, things: Sequence[Any]) -> Plan:
    """Plan to delete a text."""
    return _plan_for_text(*tools.plan_text(memory.location, things[0], None), "delete", "Deleted")


def plan_undo(memory: Memory, things: Sequence[Any]) -> Plan:
    """Plan to undo the last change that was made here: that of a text, or what was put back."""
    later = False
    with suppress(NotFound), open_guard(load_config(memory.location)) as kept:
        edit = guard_moments.find_last_edit(kept)
        later = guard_moments.find_last_restore(kept).number > (edit.number if edit else 0)
    if later:
        return plan_putting_back(memory, ())
    plan = guests.plan_guest_undo(guard_of(memory.location))
    return _plan_for_text("Undo the last change?", plan, "undo", "Undone")


def plan_putting_back(memory: Memory, things: Sequence[Any]) -> Plan:
    """Plan to put a moment, or a file of it, back as it was before; without things what undoes the last such."""
    moment, file = things[0] if things else (None, None)
    number = moment.number if moment else None
    path = file.file.path if file else ""
    plan = guard_moments.plan_guard_restore(guard_of(memory.location), number, path)
    before = f"before {plan.moment.name}"
    if not plan.files:
        raise Conflict(f"Nothing to put back: it is as it was {before}.", " ".join(plan.stay_lines))

    def do(memory: Memory, chosen: frozenset[Any]) -> Done:
        some = tuple(one for one in plan.files if one.change.file.path in chosen)
        done = guard_moments.run_guard_restore(guard_of(memory.location), plan._replace(files=some))
        return Done(f"Put {format_count(len(some), 'file')} back to {before}: M#{done}", select=(f"M#{done}", 0))

    lines = [_plan_line(one, one.effect, warned=one.again) for one in plan.files]
    chosen = frozenset(one.key for one in lines if not one.warned)
    lines += [PlanLine(path, home_path(path), "stays", why, stuck=f"It stays: {why}.") for path, why in plan.stay]
    title = f"Put {format_count(len(plan.files), 'file')} back to {before}?"
    return Plan(title, lines, do, chosen, does="put back")


def _plan_for_text(title: str, plan: guard_moments.GuardRestorePlan, does: str, did: str) -> Plan:
    """Return a plan of a change of a text, of which no file can be left out."""

    def do(memory: Memory, chosen: frozenset[Any]) -> Done:
        done = guests.run_guest_plan(guard_of(memory.location), plan)
        again = f", memoranda files restore M#{done} redoes it" if plan.moment.number else ""
        return Done(f"{did}: M#{done}{again}", undo=not plan.moment.number)

    lines = [_plan_line(one, one.effect, stays="It is one change, all of it.") for one in plan.files]
    return Plan(title, lines, do, does=does)


def _plan_line(one: guard_moments.FileRestore, effect: str, stays: str = "", warned: bool = False) -> PlanLine:
    """Return what becomes of a file, with what would differ in it."""
    path = one.change.file.path
    name = home_path(path)
    sign = SIGNS.get(effect, ("~ ", "dim"))
    note = "changed again since" if one.again else ""
    shown = difference_lines(one.show(effect), "would be ")
    return PlanLine(path, name, effect, note, sign, describe=lambda chosen: shown, stays=stays, warned=warned)


PANE = Pane(
    FILES,
    "Memory files of other tools",
    read_files,
    finds=True,
    actions=(
        Action("preview.follow", "list", (ScanNumber,), run=lambda screen, rows: rows[0].run(screen), looks=True),
        Action("preview.follow", "do it", (RowJob,), run=lambda screen, rows: rows[0].run(screen)),
        Action("checkpoint.restore", "put back…", (ChangedFile,), plan=plan_putting_back, one=True),
        Action("record.correct", "correct", (GuestText,), run=correct_text, one=True),
        Action("record.edit", "editor", (GuestText, transcript_scan.ScanFinding), run=open_editor, one=True),
        Action("record.purge", "delete…", (GuestText,), plan=plan_deletion, one=True),
        Action("memory.undo", "", plan=plan_undo),
    ),
)
