"""Scan: what other tools remember on this machine, and what is wrong with it. Each number is a row, and enter opens
what it counts; `s` saves conversations that are about to be deleted, `t` searches conversations for secrets, `E` opens
a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from store.base.errors import MemorandaError
from store.database.values import clean as clean_text
from store.scan.machine_scan import scan as scan_machine
from store.scan.report import ScanFinding, ScanReport
from store.scan.saving import save as save_transcripts
from store.services.source_import import machine as this_machine
from tui.commands.files.guard import home_path
from tui.commands.files.scan import TITLES, UNREAD, saved_words
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.render.plurals import count
from tui.screens.help import HelpedScreen
from tui.theme.escape import visible
from tui.widgets.bars import Bar, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList
from tui.workers.threads import SaysDefects

if TYPE_CHECKING:
    from store.base.clock import Clock

AROUND = 12  # lines of a file before and after the one that is shown
LARGEST = 2_000_000  # bytes of a file that is shown
NOTHING = "No other tool keeps a memory on this machine. Name a folder of Markdown: :scan ~/notes"
MANY = {"memory": "memories", "document": "documents", "conversation": "conversations"}


class ScanNumber(NamedTuple):
    """A number of the report: what it counts (`kind`, of the tool or folder `name`), and how it is said."""

    kind: str
    name: str
    number: int
    says: str
    about: str = ""


class NumberRows(NumberedRows):
    """The numbers of a report."""

    def __init__(self, entries: Sequence[ScanNumber]) -> None:
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries)

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self.entries[index]
        wrong = one.kind in TITLES or one.kind == "unread"
        look = "removed" if wrong else "accent"
        return row([(f"{one.number:>7,}  ", look)], visible(one.says), "", [(visible(one.about), "dim")], width)


class CountedRows(NumberedRows):
    """What one number counts."""

    def __init__(self, entries: Sequence[ScanFinding]) -> None:
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries)

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self.entries[index]
        place = f"{home_path(one.path)}:{one.line}" if one.line > 1 else home_path(one.path)
        says = " ".join(clean_text(one.says).split())
        return row(
            [("  ", "")], place if not says else visible(says), "", [], width, second=[(place, "dim")] if says else []
        )


def numbers(report: ScanReport) -> list[ScanNumber]:
    """Return the numbers of a report, what is wrong first."""
    found = [
        ScanNumber(kind, "", len(several), title) for kind, title in TITLES.items() if (several := report.listed(kind))
    ]
    if report.troubles:
        found.append(ScanNumber("unread", "", len(report.troubles), UNREAD))
    for one in report.sources:
        for kind, many in MANY.items():
            if several := report.listed(kind, one.source):
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
        Binding("t", "search", "Search", id="scan.search", tooltip="Search conversations for secrets; takes a while"),
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
        yield RecordList(NumberRows([]), id="scan", empty_text=NOTHING)
        with Vertical(id="scan-more"):
            yield Preview(id="scan-preview")
        yield Bar(id="scan-keys")

    def on_mount(self) -> None:
        self._title("reading …")
        self._keys()
        self.query_one("#scan", RecordList).focus()
        self._scan()

    def _title(self, says: str) -> None:
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
        self.query_one("#scan-keys", Bar).put(*pieces, (" esc", look, "leave"), (back, "", "leave"))

    # reading

    @work(thread=True, group="scan", exclusive=True, exit_on_error=False, description="scan this machine")
    def _scan(self) -> None:
        try:
            report = scan_machine(this_machine(), self._clock(), self._cwd, self._folders, search_transcripts=False)
        except MemorandaError as error:
            self.app.call_from_thread(self._say, str(error), "error")
            return
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, report)

    def _show(self, report: ScanReport) -> None:
        if not self.is_attached:
            return
        self._report = report
        self._numbers = numbers(report)
        wrong = sum(report.counts.values())
        searched = "" if report.transcripts else "; conversations not searched"
        self._title(f"{count(len(report.sources), 'tool')}, {wrong:,} to look at{searched}")
        if self._open is None:
            self._show_numbers()

    def _show_numbers(self) -> None:
        self._open = self._shown = None
        self.remove_class("-list")
        shown = self.query_one("#scan", RecordList)
        shown.set_rows(NumberRows(self._numbers))
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
        self._open = self._report.listed(one.kind, one.name)
        self.add_class("-list")
        shown = self.query_one("#scan", RecordList)
        shown.set_rows(CountedRows(self._open))
        shown.select(0)
        self._keys()
        if self._open:
            self._take(self._open[0])

    def _take(self, one: ScanFinding) -> None:
        self._shown = one
        self._read(one)

    @work(thread=True, group="scan-preview", exclusive=True, exit_on_error=False, description="read a file")
    def _read(self, one: ScanFinding) -> None:
        lines: list[Line] = [[(home_path(one.path), "title"), (f"  line {one.line}", "dim")], []]
        if one.other:
            lines.append([(f"with {visible(one.other)}", "dim")])
        lines += around(one.path, one.line)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._put, one, lines)

    def _put(self, one: ScanFinding, lines: list[Line]) -> None:
        if self.is_attached and one is self._shown:
            self.query_one(Preview).show(lines)

    def action_edit(self) -> None:
        """Open the file in the person's editor, at its line."""
        if self._shown is None:
            return
        from tui.desktop.editor import open_at

        try:
            open_at(self.app, self._shown.path, self._shown.line, command=self._editor)
        except MemorandaError as error:
            self._say(str(error), "warning")

    # acting

    def action_save(self) -> None:
        """Save conversations that are about to be deleted."""
        self._save([one.path for one in self._report.listed("expiring")])

    @work(thread=True, group="scan-save", exclusive=True, exit_on_error=False, description="save conversations")
    def _save(self, paths: list[str]) -> None:
        saved = save_transcripts(paths)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._say, saved_words(saved), "warning" if saved.troubles else "information")

    def action_search(self) -> None:
        """Search conversations for secrets, in a process of its own."""
        if not self._report.transcripts:
            self._title("searching conversations …")
            self._search()

    @work(thread=True, group="scan", exclusive=True, exit_on_error=False, description="search conversations")
    def _search(self) -> None:
        command = [sys.executable, "-P", "-m", "tui.main", "scan", "--json", *self._folders]
        done = subprocess.run(
            command, cwd=self._cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        try:
            found = [ScanFinding(**one) for one in json.loads(done.stdout)["findings"]]
        except (ValueError, KeyError, TypeError):
            self.app.call_from_thread(self._say, "The conversations could not be searched: memoranda scan", "error")
            return
        report = self._report
        report.findings, report.transcripts = found, True
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, report)

    def _say(self, text: str, severity: str = "information") -> None:
        self.app.clear_notifications()
        self.app.notify(visible(text), severity=severity, markup=False)  # type: ignore[arg-type]

    def action_leave(self) -> None:
        """Go back to the numbers, or close the scan."""
        if self._open is not None:
            self._show_numbers()
        else:
            self.dismiss(None)


def around(path: str, line: int) -> list[Line]:
    """Return the lines of a file around one, without secrets; of a database or a large file that it is one."""
    import stat

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
        if status.st_size > LARGEST:
            return [[(f"{status.st_size / 1_000_000:,.1f} MB: E opens it", "dim")]]
        text = (first + file.read(LARGEST)).decode("utf-8", "replace")
    found: list[Line] = []
    for number, one in enumerate(clean_text(text).split("\n"), start=1):
        if abs(number - line) <= AROUND:
            look = "own" if number == line else "dim"
            found.append([(f"{number:>6}  ", look), (visible(one[:2_000]), "")])
    return found
