"""The screens of other tools' memories: guard, guests, scan.

Scan: what other tools remember on this machine, and what is wrong with it. Each number is a row, and enter opens
what it counts; `s` saves conversations that are about to be deleted, `t` searches conversations for secrets, `E` opens
a file.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import Config, load_config
from store.database.values import clean_text
from store.tools.guard_database import open_guard
from store.tools.guard_moments import (
    GuardedChange,
    GuardMoment,
    LookResult,
    current_ms,
    look_at_files,
    mark_told,
    recent_moments,
)
from store.tools.guard_restoring import (
    DiffLine,
    GuardRestorePlan,
    compare_lines,
    plan_guard_restore,
    run_guard_restore,
    version_lines,
)
from store.tools.guests import (
    GuestList,
    GuestPlan,
    GuestText,
    cut_secrets,
    filter_guest_texts,
    list_guest_texts,
    plan_guest_correction,
    plan_guest_deletion,
    plan_guest_undo,
    run_guest_plan,
)
from store.tools.machine_scan import scan_machine
from store.tools.source import Machine
from store.tools.source_import import this_machine
from store.tools.transcript_scan import ScanFinding, ScanReport, save_transcripts
from tui.commands.tools import (
    FINDING_TITLES,
    NO_GUEST_TEXTS,
    UNREAD_TITLE,
    guest_line,
    guest_place,
    guest_tool,
    home_path,
    moment_title,
    saved_words,
)
from tui.desktop import programs
from tui.desktop.programs import open_in_editor
from tui.lists.record_rows import ListedRows, RowLine, row_lines
from tui.render.lines import StyledLine, format_count
from tui.screens.base import Application, HelpedScreen, PlannedScreen
from tui.screens.settings import UNDO_KEY
from tui.theme.escape import visible
from tui.widgets.bars import Bar, SaysDefects, Split
from tui.widgets.inputs import AskBar, TextEditor
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

# Rows of the guard: moments, each with its files below, and the lines of a difference.

FILES_OF_MOMENT = 200  # files of one moment that are listed
DIFF_LOOKS = {"+": "added", "-": "removed", "…": "hunk", " ": "plain"}
FILE_SIGNS = {"removed": ("− ", "removed"), "added": ("+ ", "added")}


class GuardEntry(NamedTuple):
    """A moment, or one file of it."""

    moment: GuardMoment
    file: GuardedChange | None

    @property
    def key(self) -> tuple[int, int]:
        return self.moment.number, self.file.number if self.file else 0


def guard_rows(moments: Iterable[GuardMoment]) -> ListedRows[GuardEntry]:
    """Return the rows of moments, in their order, and below each its files."""
    entries = []
    for moment in moments:
        entries.append(GuardEntry(moment, None))
        entries += [GuardEntry(moment, file) for file in moment.files[:FILES_OF_MOMENT]]
    return ListedRows(entries, _guard_lines, lambda entry: entry.key)


def _guard_lines(entry: GuardEntry, width: int) -> list[RowLine]:
    moment, file = entry
    if file is None:
        name, _, title = moment_title(moment).partition("  ")
        return row_lines([(f"{name:<6} ", "cite")], visible(title), "bold", [], width)
    sign, look = FILE_SIGNS.get(file.effect, ("~ ", "dim"))
    return row_lines([("       ", ""), (sign, look)], home_path(file.file.path), "", [(file.effect, "dim")], width)


def difference_lines(title: str, lines: Sequence[DiffLine]) -> list[StyledLine]:
    """Return a file's name and what differs in it."""
    shown: list[StyledLine] = [[(title, "title")]]
    for line in lines:
        look, number = DIFF_LOOKS[line.sign], str(line.before or "")
        shown.append([(f"{line.sign} {number:>4} {visible(line.text)}", look)])
    return [*shown, []]


# Guard: what changed in the memory files of other tools, by moments. `r` shows what putting one, or a file, back
# would change, `y` does it, `u` shows the undo of the last time.

SHOWN_MOMENTS = 50  # moments
SHOWN_FILES = 20  # files of a moment whose differences are shown together
NO_FILE_CHANGED = (
    "Nothing changed yet. Every change from now on is kept when you look, or by `memoranda files keep --watch`."
)


class GuardScreen(PlannedScreen["GuardRestorePlan"]):
    """Shows what changed and puts it back, each on a thread. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q", "leave", "Close", id="guard.close", tooltip="Leave what is asked, then close the guard"
        ),
        Binding("r", "restore", "Put back", id="guard.restore", tooltip="Show what putting it back would change"),
        Binding(
            UNDO_KEY, "undo", "Undo", id="guard.undo", tooltip="Show what undoing the last restore would change"
        ),
        Binding("y", "yes", "Yes", id="guard.yes", tooltip="Do what is shown"),
        Binding("n", "no", "No", id="guard.no", tooltip="Leave it as it is"),
        Binding("l", "look", "Look", id="guard.look", tooltip="Look at the files again"),
    ]
    NAME = "guard"

    def __init__(self, location: Location) -> None:
        super().__init__()
        self._config = load_config(location)
        self._rows = guard_rows([])
        self._entry: GuardEntry | None = None

    def first_rows(self) -> ListedRows[GuardEntry]:
        return self._rows

    def on_mount(self) -> None:
        self._draw_title("looking …")
        self.draw_keys()
        self.row_list.focus()
        self._look_at_files()

    def _draw_title(self, says: str) -> None:
        self.put_title("", says)

    def usual_keys(self) -> None:
        back = [("r", "put back", "restore")] if self._entry else []
        self.put_keys([*back, (UNDO_KEY, "undo", "undo"), ("l", "look", "look")])

    # reading

    @work(thread=True, group="guard", exclusive=True, exit_on_error=False, description="look at the memory files")
    def _look_at_files(self, newest: bool = False) -> None:
        """Look at all files, and read the moments; `newest` puts the cursor on the last one."""
        try:
            found = look_at_files(self._config, this_machine(), current_ms())
            with open_guard(self._config) as kept:
                moments = recent_moments(kept, SHOWN_MOMENTS)
                mark_told(kept, moments)
        except MemorandaError as error:
            self.app.call_from_thread(self.report_refusal, error)
            return
        self.app.call_from_thread(self._show_rows, found, moments, newest)

    def _show_rows(self, found: LookResult, moments: list[GuardMoment], newest: bool) -> None:
        troubles = f", {format_count(len(found.troubles), 'file')} not kept" if found.troubles else ""
        self._draw_title(f"{format_count(found.files, 'file')} of {format_count(found.tools, 'tool')}{troubles}")
        rows = guard_rows(moments)
        at = rows.index_of(self._entry.key) if self._entry and not newest else 0
        self._rows, self._entry = rows, None
        shown = self.row_list
        shown.set_rows(self._rows)
        if self._rows.entries:
            shown.select(self._rows.entries[at or 0].key)
            self._take(at or 0)
        else:
            self.query_one(Preview).show_lines([[(NO_FILE_CHANGED, "dim")]])
        self.draw_keys()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = self._rows.index_of(event.key)
        if index is not None and self._rows.entries[index] is not self._entry:
            self._take(index)

    def _take(self, index: int) -> None:
        """Take the entry under the cursor, and compare its versions."""
        self._entry, self.plan = self._rows.entries[index], None
        self.draw_keys()
        self._read_versions(self._entry)

    @work(thread=True, group="guard-preview", exclusive=True, exit_on_error=False, description="compare versions")
    def _read_versions(self, entry: GuardEntry) -> None:
        files = [entry.file] if entry.file else entry.moment.files[:SHOWN_FILES]
        lines: list[StyledLine] = []
        try:
            with open_guard() as kept:
                for one in files:
                    before, after = (version_lines(kept, one.file, version) for version in (one.before, one.after))
                    title = f"{home_path(one.file.path)}  {one.effect}"
                    lines += difference_lines(title, compare_lines(before, after))
        except MemorandaError as error:
            lines = [[(visible(str(error)), "warning")]]
        if len(entry.moment.files) > len(files) and entry.file is None:
            lines.append([(f"… and {format_count(len(entry.moment.files) - len(files), 'more file')}", "dim")])
        self.app.call_from_thread(self._show_difference, entry, lines)

    def _show_difference(self, entry: GuardEntry, lines: list[StyledLine]) -> None:
        if entry is self._entry and self.plan is None:
            self.query_one(Preview).show_lines(lines)

    def action_look(self) -> None:
        """Look at all files again."""
        self._look_at_files()

    # putting back

    def action_restore(self) -> None:
        """Show what putting back the moment or the file under the cursor would change."""
        if self._entry is not None:
            moment, file = self._entry
            self._prepare(moment.number, file.file.path if file else "")

    def action_undo(self) -> None:
        """Show what undoing the last restore would change."""
        self._prepare(None, "")

    @work(thread=True, group="guard", exclusive=True, exit_on_error=False, description="plan a restore")
    def _prepare(self, number: int | None, name: str) -> None:
        try:
            plan = plan_guard_restore(self._config, this_machine(), current_ms(), number, name)
        except MemorandaError as error:
            self.app.call_from_thread(self.report_refusal, error)
            return
        self.app.call_from_thread(self._show_plan, plan)

    def _show_plan(self, plan: GuardRestorePlan) -> None:
        if not plan.files:
            stay = "".join(f" {home_path(path)} stays: {why}." for path, why in plan.stay)
            self.say(f"Nothing to put back: it is as it was before {plan.moment.name}.{stay}", "warning")
            return
        self.plan = plan
        lines: list[StyledLine] = [
            [(f"Put {format_count(len(plan.files), 'file')} back to before {plan.moment.name}?", "own")],
            [],
        ]
        for one in plan.files:
            again = f", which changed again after {plan.moment.name}" if one.again else ""
            lines += difference_lines(
                f"{home_path(one.change.file.path)}  would be {one.effect}{again}", one.difference
            )
        lines += [[(f"{home_path(path)} stays: {why}.", "dim")] for path, why in plan.stay]
        self.query_one(Preview).show_lines(lines)
        self.draw_keys()

    @work(thread=True, group="guard", exclusive=True, exit_on_error=False, description="put files back")
    def carry_out(self, plan: GuardRestorePlan) -> None:
        try:
            number = run_guard_restore(self._config, this_machine(), current_ms(), plan)
        except MemorandaError as error:
            self.app.call_from_thread(self.report_refusal, error)
            self.app.call_from_thread(self._look_at_files, True)  # what is there instead is shown
            return
        back = f"{format_count(len(plan.files), 'file')} back to before {plan.moment.name}"
        done = f"Put {back}: M#{number}, {UNDO_KEY} to undo"
        self.app.call_from_thread(self.say, done)
        self.app.call_from_thread(self._look_at_files, True)

    def show_current(self) -> None:
        if self._entry is not None:
            self._read_versions(self._entry)


# Rows of the guests: a text each, below the name of its tool.

GUEST_TEXT_CELLS = 400  # characters of a text in the list
GUEST_TOOL_CELLS = 12  # cells for a tool's name


def guest_rows(texts: Sequence[GuestText]) -> ListedRows[GuestText]:
    """Return the rows of texts, in the order of their files."""
    return ListedRows(texts, _guest_lines, lambda one: one.name)


def _guest_lines(one: GuestText, width: int) -> list[RowLine]:
    text = guest_line(one)
    shown = text if len(text) <= GUEST_TEXT_CELLS else f"{text[:GUEST_TEXT_CELLS]}…"
    tool = f"{guest_tool(one):<{GUEST_TOOL_CELLS}} "
    return row_lines([(tool, "cite")], shown, "", [(visible(one.note), "dim")], width)


def guest_text_lines(one: GuestText) -> list[StyledLine]:
    """Return a text in full, without secrets, and where it is."""
    about = " · ".join(filter(None, (one.note, one.short)))
    lines: list[StyledLine] = [
        [(guest_tool(one), "cite"), (f"  {visible(cut_secrets(one.title))}", "title"), (f"  {about}", "dim")],
        [(guest_place(one), "dim")],
        [],
    ]
    return [*lines, *([(visible(line), "")] for line in cut_secrets(one.text).split("\n"))]


# Guests: what other tools remember, in their own files. `/` searches, `c` corrects a text and `f` deletes it, after
# showing what changes; `u` undoes the last change, `E` corrects in the editor.

LEAST_EDITOR_LINES = 2  # lines that the editor needs
GuestPlanner = Callable[["Config", "Machine", int], GuestPlan]


class GuestsScreen(PlannedScreen["GuestPlan"]):
    """Shows the texts and changes them, each on a thread. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q", "leave", "Close", id="guests.close", tooltip="Leave what is asked or searched, then close"
        ),
        Binding("slash", "search", "Search", id="guests.search", tooltip="Show only texts with these words"),
        Binding("c", "correct", "Correct", id="guests.correct", tooltip="Give the text other words"),
        Binding("f", "delete", "Delete", id="guests.delete", tooltip="Show what deleting the text changes"),
        Binding(
            UNDO_KEY, "undo", "Undo", id="guests.undo", tooltip="Show what undoing the last change here changes"
        ),
        Binding("y", "yes", "Yes", id="guests.yes", tooltip="Do what is shown"),
        Binding("n", "no", "No", id="guests.no", tooltip="Leave it as it is"),
        Binding("E", "edit", "Edit", id="guests.edit", tooltip="Give the text other words in your editor"),
        Binding("l", "look", "Look", id="guests.look", tooltip="Read all of it again"),
    ]
    NAME, EMPTY = "guests", NO_GUEST_TEXTS
    DEFAULT_CSS = "GuestsScreen #guests-more { layers: default over; }"

    def __init__(self, location: Location, tools: Sequence[str] = (), query: str = "", editor: str = "") -> None:
        super().__init__()
        self._config = load_config(location)
        self._tools = tools or GUEST_TOOLS
        self._query = query
        self._editor = editor
        self._found = GuestList()
        self._rows = guest_rows([])
        self._at: GuestText | None = None
        self._does = ""

    def first_rows(self) -> ListedRows[GuestText]:
        return self._rows

    def bars(self) -> Iterable[Widget]:
        return (AskBar(id="guests-ask"),)

    def on_mount(self) -> None:
        self.put_title("", "reading …")
        self.draw_keys()
        self.row_list.focus()
        self._read_texts()

    def usual_keys(self) -> None:
        keys = (
            [("c", "correct", "correct"), ("E", "in editor", "edit"), ("f", "delete", "delete")] if self._at else []
        )
        keys += [(UNDO_KEY, "undo", "undo"), ("/", "search", "search")]
        self.put_keys([*keys, ("l", "look", "look")], "shows all" if self._query else "closes")

    # reading

    @work(
        thread=True, group="guests", exclusive=True, exit_on_error=False, description="read other tools' memories"
    )
    def _read_texts(self, at: int = 0) -> None:
        """Read all texts again; the cursor goes to the one it was on, else to row `at`."""
        found = list_guest_texts(this_machine(), self._tools)
        self._narrow(found, at)

    def _narrow(self, found: GuestList, at: int) -> None:
        query = self._query
        texts = filter_guest_texts(found.texts, query)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_rows, found, texts, query, at)

    @work(
        thread=True, group="guests", exclusive=True, exit_on_error=False, description="search other tools' memories"
    )
    def _search(self) -> None:
        self._narrow(self._found, 0)

    def _show_rows(self, found: GuestList, texts: list[GuestText], query: str, at: int) -> None:
        if not self.is_attached or query != self._query:
            return
        self._found, self._rows = found, guest_rows(texts)
        many = format_count(len(found.texts), "text")
        says = f"{len(texts):,} of {many}" if query else many
        self.put_title(f"“{query}”" if query else "", says + _unread_words(found))
        shown = self.row_list
        shown.set_rows(self._rows)
        place = self._rows.index_of(self._at.name) if self._at else None
        self._at = None
        if texts:
            place = min(at, len(texts) - 1) if place is None else place
            shown.select(self._rows.key(place))
            self._take(place)
        else:
            self.preview.show_lines(
                [[(f"Nothing has the words “{visible(query)}”.", "dim")]] if query and found.texts else []
            )
            self.draw_keys()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = self._rows.index_of(event.key)
        if index is not None and self._rows.entries[index] is not self._at:
            self._take(index)

    def _take(self, index: int) -> None:
        self._at, self.plan = self._rows.entries[index], None
        self._close_editor()
        self._tell()
        self.draw_keys()

    def _tell(self) -> None:
        """Show the text under the cursor."""
        lines = guest_text_lines(self._at) if self._at else []
        self.preview.show_lines([*lines, *_trouble_lines(self._found)])

    def action_look(self) -> None:
        """Read all of it again."""
        self.put_title("", "reading …")
        self._read_texts()

    def action_search(self) -> None:
        """Ask for words, and show only texts that have them."""
        self.query_one(AskBar).ask("search", self._query, self._search_for, over=True)

    def _search_for(self, text: str) -> None:
        self._query = text.strip()
        self._search()

    # changing

    def action_correct(self) -> None:
        """Edit the text where it stands, or where it is not seen in the line below; in the person's own editor where
        neither can show it as it is."""
        if self._at is None or self.plan is not None:
            return
        text = cut_secrets(self._at.text)
        flat, place = text.replace("\n", " "), self.preview.place_of(text, (0,))
        if visible(flat) != flat or "⏎" in flat:
            self.action_edit()
        elif place is None or self.preview.size.height - place[1] < LEAST_EDITOR_LINES:
            self.query_one(AskBar).ask("correct", text, self._plan_correction)
        else:
            cast("Application", self.app).hold_keys()
            self._load_editor(text, place)

    @work(thread=True, group="guests-editor", exclusive=True, exit_on_error=False, description="load the editor")
    def _load_editor(self, text: str, place: tuple[int, int]) -> None:
        self.app.call_from_thread(self._open_editor, text, place)

    def _open_editor(self, text: str, place: tuple[int, int]) -> None:
        self._close_editor()
        editor = TextEditor(text, *place)
        editor.styles.width = editor.styles.max_width = self.preview.size.width - place[0]
        self.query_one("#guests-more").mount(editor)
        self.put_keys([("enter", "shows what changes", "keep"), ("^j", "new line", "")], "leaves it", "drop")
        self.call_after_refresh(cast("Application", self.app).release_keys)

    def _close_editor(self) -> str | None:
        """Remove the editor, if there is one; return its text."""
        editors = self.query("#edit")
        text = next((str(getattr(one, "text", "")) for one in editors), None)
        editors.remove()
        return text

    def on_text_editor_left(self, event: TextEditor.Left) -> None:
        self._end_edit(event.text)

    def action_keep(self) -> None:
        """Enter in the editor, for a click."""
        self._end_edit(self._close_editor())

    def action_drop(self) -> None:
        """Escape in the editor, for a click."""
        self._end_edit(None)

    def _end_edit(self, text: str | None) -> None:
        self._close_editor()
        self.row_list.focus()
        self.draw_keys()
        if text is not None:
            self._plan_correction(text)
        cast("Application", self.app).release_keys()

    def action_edit(self) -> None:
        """Ask for other words in the person's editor."""
        if self._at is None:
            return
        try:
            new = programs.edit_in_editor(self.app, cut_secrets(self._at.text), command=self._editor)
        except MemorandaError as error:
            self.say(str(error), "warning")
            return
        if new is None:
            self.say("Nothing was changed.")
        else:
            self._plan_correction(new)

    def _plan_correction(self, text: str) -> None:
        one = self._at
        if one is not None and text != cut_secrets(one.text):
            self._prepare(
                f"Correct it in {guest_tool(one)}'s own file?",
                "Corrected",
                lambda config, machine, now: plan_guest_correction(config, machine, now, one, text),
            )

    def action_delete(self) -> None:
        """Show what deleting the text under the cursor would change."""
        one = self._at
        if one is not None:
            self._prepare(
                f"Delete it from {guest_tool(one)}'s own file?",
                "Deleted",
                lambda config, machine, now: plan_guest_deletion(config, machine, now, one),
            )

    def action_undo(self) -> None:
        """Show what undoing the last change would change."""
        self._prepare("Undo the last change?", "Undone", plan_guest_undo)

    @work(thread=True, group="guests", exclusive=True, exit_on_error=False, description="plan a change")
    def _prepare(self, question: str, does: str, planned: GuestPlanner) -> None:
        try:
            plan = planned(self._config, this_machine(), current_ms())
        except MemorandaError as error:
            self.app.call_from_thread(self.report_refusal, error)
            return
        self.app.call_from_thread(self._show_plan, question, does, plan)

    def _show_plan(self, question: str, does: str, plan: GuestPlan) -> None:
        if not self.is_attached:
            return
        self.plan, self._does = plan, does
        lines: list[StyledLine] = [[(question, "own")], []]
        for one in plan.files:
            lines += difference_lines(
                f"{home_path(one.change.file.path)}  would be {plan.effect_on(one)}", one.difference
            )
        self.preview.show_lines(lines)
        self.draw_keys()

    @work(thread=True, group="guests", exclusive=True, exit_on_error=False, description="change a text")
    def carry_out(self, plan: GuestPlan) -> None:
        try:
            number = run_guest_plan(self._config, this_machine(), current_ms(), plan)
        except MemorandaError as error:
            self.app.call_from_thread(self.report_refusal, error)
        else:
            back = f"memoranda files restore M#{number} redoes it" if plan.undoes else f"{UNDO_KEY} to undo"
            self.app.call_from_thread(self.say, f"{self._does}: M#{number}, {back}")
        self.app.call_from_thread(self._read_again)

    def _read_again(self) -> None:
        self._read_texts((self._rows.index_of(self._at.name) or 0) if self._at else 0)

    def show_current(self) -> None:
        self._tell()

    def action_leave(self) -> None:
        """Leave what is asked, then the search, then the screen."""
        if self.plan is None and self._query:
            self._search_for("")
        else:
            super().action_leave()


def _unread_words(found: GuestList) -> str:
    """Return how many files could not be read, in words."""
    return f", {format_count(len(found.troubles), 'file')} not read" if found.troubles else ""


def _trouble_lines(found: GuestList) -> list[StyledLine]:
    """Return a line for each file that could not be read."""
    if not found.troubles:
        return []
    return [[], *([(f"Not read: {home_path(one.path)}: {one.why}", "warning")] for one in found.troubles)]


LINES_AROUND = 12  # lines of a file before and after the one that is shown
LARGEST_SHOWN = 2_000_000  # bytes of a file that is shown
NO_OTHER_TOOL = "No other tool keeps a memory on this machine. Name a folder of Markdown: :scan ~/notes"
KIND_PLURALS = {"memory": "memories", "document": "documents", "conversation": "conversations"}


class ScanNumber(NamedTuple):
    """A number of the report: what it counts (`kind`, of the tool or folder `name`), and how it is said."""

    kind: str
    name: str
    number: int
    says: str
    about: str = ""


def _number_lines(one: ScanNumber, width: int) -> list[RowLine]:
    look = "removed" if one.kind in FINDING_TITLES or one.kind == "unread" else "accent"
    number = f"{one.number:>7,}  "
    return row_lines([(number, look)], visible(one.says), "", [(visible(one.about), "dim")], width)


def _finding_lines(one: ScanFinding, width: int) -> list[RowLine]:
    """Draw one of what a number counts."""
    place = f"{home_path(one.path)}:{one.line}" if one.line > 1 else home_path(one.path)
    if says := " ".join(clean_text(one.says).split()):
        return row_lines([("  ", "")], visible(says), "", [], width, second=[(place, "dim")])
    return row_lines([("  ", "")], place, "", [], width, second=[])


def scan_numbers(report: ScanReport) -> list[ScanNumber]:
    """Return the numbers of a report, what is wrong first."""
    found = [
        ScanNumber(kind, "", len(several), title)
        for kind, title in FINDING_TITLES.items()
        if (several := report.list_findings(kind))
    ]
    if report.troubles:
        found.append(ScanNumber("unread", "", len(report.troubles), UNREAD_TITLE))
    for one in report.sources:
        for kind, many in KIND_PLURALS.items():
            if several := report.list_findings(kind, one.source):
                old = f"{one.old:,} older than half a year" if kind == "memory" and one.old else ""
                what = kind if len(several) == 1 else many
                found.append(ScanNumber(kind, one.source, len(several), f"{what} of {one.title}", old))
    for start in report.starts:
        tokens = sum(layer.tokens for layer in start.layers)
        found.append(
            ScanNumber("layer", start.folder, tokens, f"tokens loaded at a start in {home_path(start.folder)}")
        )
    return found


class ScanScreen(SaysDefects, HelpedScreen["str | None"]):
    """Shows a scan of this machine. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="scan.close", tooltip="Back to the numbers, then close the scan"),
        Binding("s", "save", "Save", id="scan.save", tooltip="Save conversations that are about to be deleted"),
        Binding(
            "t", "search", "Search", id="scan.search", tooltip="Search conversations for secrets; takes a while"
        ),
        Binding("E", "edit", "Edit", id="scan.edit", tooltip="Open the file in your editor"),
    ]
    DEFAULT_CSS = """
    ScanScreen {
        layout: vertical; overflow: hidden;
        Split { height: 1; background: $panel; }
        #scan { height: 1fr; }
        #scan-keys { height: 1; background: $footer-background; }
        #scan-more { height: 1fr; border-top: solid $line; padding: 0 0 0 1; display: none; }
        &.-list #scan-more { display: block; }
    }
    """

    def __init__(self, cwd: str, folders: Sequence[str], clock: Clock, editor: str = "") -> None:
        super().__init__()
        self._cwd = cwd
        self._folders = [os.path.abspath(os.path.join(cwd, os.path.expanduser(one))) for one in folders]
        self._clock = clock
        self._editor = editor
        self._report = ScanReport()
        self._numbers: list[ScanNumber] = []
        self._at = 0  # among the numbers
        self._open: list[ScanFinding] | None = None
        self._shown: ScanFinding | None = None

    def compose(self) -> ComposeResult:
        yield Split(id="scan-title")
        yield RecordList(ListedRows([], _number_lines), id="scan", empty_text=NO_OTHER_TOOL)
        with Vertical(id="scan-more"):
            yield Preview(id="scan-preview")
        yield Bar(id="scan-keys")

    def on_mount(self) -> None:
        self._draw_title("reading …")
        self._keys()
        self.query_one("#scan", RecordList).focus()
        self._scan()

    def _draw_title(self, says: str) -> None:
        self.query_one("#scan-title", Split).put_both(
            [(" SCAN  ", "bold $text-accent")], [(f"{visible(says)} ", "$dim")]
        )

    def _keys(self) -> None:
        look = "$footer-key-foreground bold"
        if self._open is None:
            keys = [("enter", " opens the list", "open"), ("s", " save", "save")]
            keys += [] if self._report.transcripts else [("t", " search conversations", "search")]
        else:
            keys = [("E", " editor", "edit"), ("s", " save", "save")]
        pieces = [piece for key, says, act in keys for piece in ((f" {key}", look, act), (f"{says} ", "", act))]
        back = " back " if self._open is not None else " closes "
        self.query_one("#scan-keys", Bar).set_pieces(*pieces, (" esc", look, "leave"), (back, "", "leave"))

    # reading

    @work(thread=True, group="scan", exclusive=True, exit_on_error=False, description="scan this machine")
    def _scan(self) -> None:
        try:
            report = scan_machine(this_machine(), self._clock(), self._cwd, self._folders, search_transcripts=False)
        except MemorandaError as error:
            self.app.call_from_thread(self._say, str(error), "error")
            return
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_report, report)

    def _show_report(self, report: ScanReport) -> None:
        if not self.is_attached:
            return
        self._report = report
        self._numbers = scan_numbers(report)
        wrong = sum(report.counts.values())
        searched = "" if report.transcripts else "; conversations not searched"
        self._draw_title(f"{format_count(len(report.sources), 'tool')}, {wrong:,} to look at{searched}")
        if self._open is None:
            self._show_numbers()

    def _show_numbers(self) -> None:
        self._open = self._shown = None
        self.remove_class("-list")
        shown = self.query_one("#scan", RecordList)
        shown.set_rows(ListedRows(self._numbers, _number_lines))
        if self._numbers:
            shown.select(min(self._at, len(self._numbers) - 1))
        self._keys()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if not isinstance(event.key, int):
            return
        if self._open is None:
            self._at = event.key
        elif event.key < len(self._open):
            self._take(self._open[event.key])

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open what the number under the cursor counts."""
        if self._open is not None or not self._numbers:
            return
        one = self._numbers[self._at]
        self._open = self._report.list_findings(one.kind, one.name)
        self.add_class("-list")
        shown = self.query_one("#scan", RecordList)
        shown.set_rows(ListedRows(self._open, _finding_lines))
        shown.select(0)
        self._keys()
        if self._open:
            self._take(self._open[0])

    def _take(self, one: ScanFinding) -> None:
        self._shown = one
        self._read_file(one)

    @work(thread=True, group="scan-preview", exclusive=True, exit_on_error=False, description="read a file")
    def _read_file(self, one: ScanFinding) -> None:
        lines: list[StyledLine] = [[(home_path(one.path), "title"), (f"  line {one.line}", "dim")], []]
        if one.other:
            lines.append([(f"with {visible(one.other)}", "dim")])
        lines += lines_around(one.path, one.line)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._put_lines, one, lines)

    def _put_lines(self, one: ScanFinding, lines: list[StyledLine]) -> None:
        if self.is_attached and one is self._shown:
            self.query_one(Preview).show_lines(lines)

    def action_edit(self) -> None:
        """Open the file in the person's editor, at its line."""
        if self._shown is None:
            return
        try:
            open_in_editor(self.app, self._shown.path, self._shown.line, command=self._editor)
        except MemorandaError as error:
            self._say(str(error), "warning")

    # acting

    def action_save(self) -> None:
        """Save conversations that are about to be deleted."""
        self._save([one.path for one in self._report.list_findings("expiring")])

    @work(thread=True, group="scan-save", exclusive=True, exit_on_error=False, description="save conversations")
    def _save(self, paths: list[str]) -> None:
        saved = save_transcripts(paths)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._say, saved_words(saved), "warning" if saved.troubles else "information")

    def action_search(self) -> None:
        """Search conversations for secrets, in a process of its own."""
        if not self._report.transcripts:
            self._draw_title("searching conversations …")
            self._search()

    @work(thread=True, group="scan", exclusive=True, exit_on_error=False, description="search conversations")
    def _search(self) -> None:
        command = [sys.executable, "-P", "-m", "tui.main", "files", "scan", "--json", *self._folders]
        done = subprocess.run(
            command, cwd=self._cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        try:
            found = [ScanFinding(**one) for one in json.loads(done.stdout)["findings"]]
        except (ValueError, KeyError, TypeError):
            self.app.call_from_thread(
                self._say, "The conversations could not be searched: memoranda files", "error"
            )
            return
        report = self._report
        report.findings, report.transcripts = found, True
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_report, report)

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.clear_notifications()
        self.app.notify(visible(text), severity=severity, markup=False)  # type: ignore[arg-type]

    def action_leave(self) -> None:
        """Go back to the numbers, or close the scan."""
        if self._open is not None:
            self._show_numbers()
        else:
            self.dismiss(None)


def lines_around(path: str, line: int) -> list[StyledLine]:
    """Return the lines of a file around a line, without secrets; for a database or a large file, only say what it
    is."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return [[((error.strerror or "it cannot be read").lower(), "warning")]]
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return [[("it is not a plain file", "warning")]]
        first = file.read(16)
        if first.startswith(b"SQLite format 3") or b"\0" in first:
            return [[(f"record {line:,} of a database", "dim")]]
        if status.st_size > LARGEST_SHOWN:
            return [[(f"{status.st_size / 1_000_000:,.1f} MB: E opens it", "dim")]]
        text = (first + file.read(LARGEST_SHOWN)).decode("utf-8", "replace")
    found: list[StyledLine] = []
    for number, one in enumerate(clean_text(text).split("\n"), start=1):
        if abs(number - line) <= LINES_AROUND:
            look = "own" if number == line else "dim"
            found.append([(f"{number:>6}  ", look), (visible(one[:2_000]), "")])
    return found
