"""The doctor: the current check, the findings, and below them details of the finding under the cursor. Enter runs its
next step, if that is one of our verbs."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.health.doctor import examine
from store.health.finding import NOTE, OK, WRONG, Finding
from tui.commands.system.health import verdict
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.screens.list_screen import ListScreen
from tui.theme.escape import visible
from tui.theme.line_filters import fit
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.clock import Clock
    from store.base.location import Location

SIGNS = {OK: ("✓ ", "added"), NOTE: ("· ", "warning"), WRONG: ("✕ ", "removed")}
SUBJECT = 11  # cells of the check's subject
OFTEN = 0.1  # minimum seconds between two progress updates


class FindingRows(NumberedRows):
    """Findings, one a line, in the order in which they were made."""

    def __init__(self, found: list[Finding]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def lines(self, index: int, width: int) -> list[Pairs]:
        found = self._found[index]
        look = "dim" if found.state == OK else ""
        return row([SIGNS[found.state], (fit(found.subject, SUBJECT), look)], visible(found.says), look, [], width)


class DoctorScreen(ListScreen["str | None"]):
    """Checks a memory on a thread of its own. Dismisses with the line of a verb to run, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="doctor.close", tooltip="Close the doctor"),
    ]
    NAME, EMPTY, CLOSE = "doctor", "Looking …", "dismiss"
    DEFAULT_CSS = "DoctorScreen { #doctor-more { height: 8; } }"

    def __init__(self, location: Location, clock: Clock, quick: bool) -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._quick = quick
        self._found: list[Finding] = []
        self._left = False
        self._reported = 0.0

    def on_mount(self) -> None:
        self._say("looking …")
        self._keys("")
        self.listed.focus()
        self._look()

    def on_unmount(self) -> None:
        self._left = True

    @work(thread=True, group="doctor", exit_on_error=False, description="look for what is wrong with the memory")
    def _look(self) -> None:
        def progress(what: str, done: int, total: int) -> None:
            if monotonic() - self._reported > OFTEN:
                self._reported = monotonic()
                self._later(self._say, f"checking {what}{f' {done:,} of {total:,}' if total else ''}")

        for found in examine(
            self._location, self._quick, "", progress, lambda: self._left, door="app", clock=self._clock
        ):
            self._later(self._add, found)
        self._later(self._end)

    def _later(self, function: Callable[..., None], *arguments: object) -> None:
        if not self._left and self.app.is_running:
            self.app.call_from_thread(function, *arguments)

    def _say(self, status: str) -> None:
        if self._left:
            return
        self.put_title(self._location.name, status, "")

    def _add(self, found: Finding) -> None:
        if not self._left:
            self._found.append(found)
            self.listed.set_rows(FindingRows(list(self._found)))

    def _end(self) -> None:
        """Show the summary, and select the first problem unless the user moved the cursor."""
        self._say(verdict(self._found))
        shown = self.listed
        first = next((number for number, one in enumerate(self._found) if one.state == WRONG), None)
        if first is not None and not shown.cursor_index:
            shown.select(first)

    def _keys(self, command: str) -> None:
        self.put_keys([("enter", command, "choose")] if command else [])

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.listed.action_choose()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if isinstance(event.key, int) and event.key < len(self._found):
            found = self._found[event.key]
            self.told.show(_more(found))
            self._keys(found.command)

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        command = self._found[event.key].command if isinstance(event.key, int) else ""
        if command:
            self.dismiss(command)


def _more(found: Finding) -> list[Line]:
    """Describe a finding in full."""
    lines: list[Line] = [[(f"{found.subject}  {found.state}", "title")], [(found.says, "")]]
    if found.next:
        lines += [[], [("Next  ", "label"), (found.next, "")]]
    return lines
