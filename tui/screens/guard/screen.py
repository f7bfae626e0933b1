"""Guard: what changed in the memory files of other tools, by moments. `r` shows what putting one, or a file, back
would change, `y` does it, `u` shows the undo of the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.errors import MemorandaError
from store.config.configuration import load as load_config
from store.guard.comparing import difference as guard_difference
from store.guard.comparing import lines_of as guard_lines
from store.guard.database import opened as opened_guard
from store.guard.looking import look as look_guard
from store.guard.looking import now_ms as guard_now
from store.guard.moments import recent as recent_guard_moments
from store.guard.moments import tell as tell_guard_moments
from store.guard.restoring import RestorePlan as GuardRestore
from store.guard.restoring import plan as plan_guard_restore
from store.guard.restoring import run as restore_guard
from store.services.source_import import machine as this_machine
from tui.commands.files.guard import home_path
from tui.render.field_diff import Line
from tui.render.plurals import count
from tui.screens.guard.rows import Entry, GuardRows, difference_lines
from tui.screens.planned import PlannedScreen
from tui.theme.escape import visible
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.location import Location
    from store.guard.looking import LookResult as GuardLook
    from store.guard.moments import Moment as GuardMoment

SHOWN = 50  # moments
FILES = 20  # files of a moment whose differences are shown together
NOTHING = "Nothing changed yet. Every change from now on is kept when you look, or by `memoranda guard --watch`."


class GuardScreen(PlannedScreen["GuardRestore"]):
    """Shows what changed and puts it back, each on a thread. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="guard.close", tooltip="Leave what is asked, then close the guard"),
        Binding("r", "restore", "Put back", id="guard.restore", tooltip="Show what putting it back would change"),
        Binding("u", "undo", "Undo", id="guard.undo", tooltip="Show what undoing the last restore would change"),
        Binding("y", "yes", "Yes", id="guard.yes", tooltip="Do what is shown"),
        Binding("n", "no", "No", id="guard.no", tooltip="Leave it as it is"),
        Binding("l", "look", "Look", id="guard.look", tooltip="Look at the files again"),
    ]
    NAME = "guard"

    def __init__(self, location: Location) -> None:
        super().__init__()
        self._config = load_config(location)
        self._rows = GuardRows([])
        self._entry: Entry | None = None

    def first_rows(self) -> GuardRows:
        return self._rows

    def on_mount(self) -> None:
        self._title("looking …")
        self.draw_keys()
        self.listed.focus()
        self._look()

    def _title(self, says: str) -> None:
        self.put_title("", says)

    def usual_keys(self) -> None:
        back = [("r", "put back", "restore")] if self._entry else []
        self.put_keys([*back, ("u", "undo", "undo"), ("l", "look", "look")])

    # reading

    @work(thread=True, group="guard", exclusive=True, exit_on_error=False, description="look at the memory files")
    def _look(self, newest: bool = False) -> None:
        """Look at all files, and read the moments; `newest` puts the cursor on the last one."""
        try:
            found = look_guard(self._config, this_machine(), guard_now())
            with opened_guard(self._config) as kept:
                moments = recent_guard_moments(kept, SHOWN)
                tell_guard_moments(kept, moments)
        except MemorandaError as error:
            self.app.call_from_thread(self.refused, error)
            return
        self.app.call_from_thread(self._show, found, moments, newest)

    def _show(self, found: GuardLook, moments: list[GuardMoment], newest: bool) -> None:
        troubles = f", {count(len(found.troubles), 'file')} not kept" if found.troubles else ""
        self._title(f"{count(found.files, 'file')} of {count(found.tools, 'tool')}{troubles}")
        rows = GuardRows(moments)
        at = rows.index_of(self._entry.key) if self._entry and not newest else 0
        self._rows, self._entry = rows, None
        shown = self.listed
        shown.set_rows(self._rows)
        if self._rows.entries:
            shown.select(self._rows.entries[at or 0].key)
            self._take(at or 0)
        else:
            self.query_one(Preview).show([[(NOTHING, "dim")]])
        self.draw_keys()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = self._rows.index_of(event.key)
        if index is not None and self._rows.entries[index] is not self._entry:
            self._take(index)

    def _take(self, index: int) -> None:
        """Take the entry under the cursor, and compare its versions."""
        self._entry, self.plan = self._rows.entries[index], None
        self.draw_keys()
        self._read(self._entry)

    @work(thread=True, group="guard-preview", exclusive=True, exit_on_error=False, description="compare versions")
    def _read(self, entry: Entry) -> None:
        files = [entry.file] if entry.file else entry.moment.files[:FILES]
        lines: list[Line] = []
        try:
            with opened_guard() as kept:
                for one in files:
                    before, after = (guard_lines(kept, one.file, version) for version in (one.before, one.after))
                    title = f"{home_path(one.file.path)}  {one.what}"
                    lines += difference_lines(title, guard_difference(before, after))
        except MemorandaError as error:
            lines = [[(visible(str(error)), "warning")]]
        if len(entry.moment.files) > len(files) and entry.file is None:
            lines.append([(f"… and {count(len(entry.moment.files) - len(files), 'more file')}", "dim")])
        self.app.call_from_thread(self._compared, entry, lines)

    def _compared(self, entry: Entry, lines: list[Line]) -> None:
        if entry is self._entry and self.plan is None:
            self.query_one(Preview).show(lines)

    def action_look(self) -> None:
        """Look at all files again."""
        self._look()

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
            plan = plan_guard_restore(self._config, this_machine(), guard_now(), number, name)
        except MemorandaError as error:
            self.app.call_from_thread(self.refused, error)
            return
        self.app.call_from_thread(self._planned, plan)

    def _planned(self, plan: GuardRestore) -> None:
        if not plan.files:
            stay = "".join(f" {home_path(path)} stays: {why}." for path, why in plan.stay)
            self.say(f"Nothing to put back: it is as it was before {plan.moment.name}.{stay}", "warning")
            return
        self.plan = plan
        lines: list[Line] = [[(f"Put {count(len(plan.files), 'file')} back to before {plan.moment.name}?", "own")], []]
        for one in plan.files:
            again = f", which changed again after {plan.moment.name}" if one.again else ""
            lines += difference_lines(f"{home_path(one.change.file.path)}  would be {one.what}{again}", one.difference)
        lines += [[(f"{home_path(path)} stays: {why}.", "dim")] for path, why in plan.stay]
        self.query_one(Preview).show(lines)
        self.draw_keys()

    @work(thread=True, group="guard", exclusive=True, exit_on_error=False, description="put files back")
    def carry_out(self, plan: GuardRestore) -> None:
        try:
            number = restore_guard(self._config, this_machine(), guard_now(), plan)
        except MemorandaError as error:
            self.app.call_from_thread(self.refused, error)
            self.app.call_from_thread(self._look, True)  # what is there instead is shown
            return
        done = f"Put {count(len(plan.files), 'file')} back to before {plan.moment.name}: M#{number}, u to undo"
        self.app.call_from_thread(self.say, done)
        self.app.call_from_thread(self._look, True)

    def show_current(self) -> None:
        if self._entry is not None:
            self._read(self._entry)
