"""Where the person is: the pane, the preview, the text that is edited, a moment of the past.

Track which pane is the current one: it alone is visible.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, cast

from store.base.citations import parse_typed_citation
from store.base.clock import format_local_time
from store.base.errors import MemorandaError
from store.base.models import Fact, GlobalFact, Record, Step, Task
from store.base.vocabulary import unpack_key
from store.config.configuration import user_settings_path, write_setting
from store.upkeep.as_of import PastMemory, PastState, PointInTime
from tui.input.key_table import (
    CONTEXT,
    FACTS,
    HISTORY,
    HITS,
    INBOX,
    PANE_NAMES,
    PANES_BY_NAME,
    PREVIEW,
    TASKS,
    TIMELINE,
    key_name,
)
from tui.lists.filters import active_filters
from tui.lists.pane_rows import ContextRows
from tui.lists.record_rows import HitRows, KeyedRows
from tui.lists.view_state import View, missing_lines
from tui.main_screen.commands import PROMPT_KEY_STYLE
from tui.main_screen.controller import try_steps
from tui.panes.controllers import Host, PaneController
from tui.render.lines import LABEL_WIDTH, StyledLine
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, pieces_width
from tui.widgets.inputs import TextEditor
from tui.widgets.preview import Preview, PreviewPane
from tui.widgets.record_list import RecordList, first_of_group

# Show the memory as of an earlier moment, read-only and marked as such, until escape.
#
# The lists, the preview and the search read another memory through the same interface (`store.upkeep.as_of`). Leaving
# restores the previous view.


class ScreenPosition(NamedTuple):
    """The state to restore: the lists' view, and each list's cursor."""

    view: View
    cursors: Mapping[str, Hashable]


class AsOfController:
    """Switches the screen to a past moment, and back to now."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._left: ScreenPosition | None = None  # what to restore when leaving the past

    @property
    def moment(self) -> PointInTime | None:
        """Return the moment shown; None is now."""
        past = self.host.view.past
        return past.moment if past is not None else None

    def refuses(self) -> bool:
        """Return whether the view is read-only, and if so say so."""
        if self.moment is None:
            return False
        when = format_local_time(self.moment.at)
        text = f"You are looking at {when}; {key_name('screen.leave')} comes back to now."
        self.host.say(text, "warning", alone=True)
        return True

    def look_back(self, text: str) -> None:
        """Show everything as of a moment; for `now`, leave the past."""
        if text.strip() == "now":
            self.action_come_back()
        elif self.host.engine is not None and text.strip():
            work = lambda: self._read_past(text)  # noqa: E731
            self.host.in_background(work, "past", "read how things were", exclusive=True)

    def _read_past(self, text: str) -> None:
        assert self.host.engine is not None
        try:
            found = self.host.engine.look_back(text)
        except MemorandaError as error:
            self.host.later(self.host.say, str(error), "warning", 8)
            return
        self.host.later(self._show_past, *found)

    def _show_past(self, past: PastState, then: PastMemory) -> None:
        assert self.host.engine is not None
        cursors = self._cursors()
        if self._left is None:
            self._left = ScreenPosition(self.host.view, cursors)
        self.host.end_search()
        self.host.engine.enter(past, then)
        self._turn_to(past, cursors)

    def action_come_back(self) -> None:
        """Show the present again, with the previous view, in the pane that is being read."""
        left, self._left = self._left, None
        if self.host.engine is None or left is None:
            return
        self.host.end_search()
        self.host.engine.come_back()
        pane = (
            self.host.current
            if self.host.list_if_mounted(self.host.current) is not None
            else self.host.current_list
        )
        self.host.return_to(left.view, pane)
        self._turn_to(None, left.cursors)
        self.host.say("Back to now.", alone=True)

    def leave(self) -> bool:
        """Return to now; return False if it is shown already."""
        if self.moment is None:
            return False
        self.action_come_back()
        return True

    def _turn_to(self, past: PastState | None, cursors: Mapping[str, Hashable]) -> None:
        """Show this past, or now, with each list's cursor restored if its row exists."""
        self.host.set_class(past is not None, "-past")
        self.host.footer.looking = past is not None
        self.host.footer.show_pane("")
        for name in PANE_NAMES:
            if (found := self.host.list_if_mounted(name)) is not None:
                found.unmark()
        self.host.pane.follow(None)
        self.host.turn_to(past, cursors)
        self.draw_band()
        self.host.set_focus(self.host.list_of(self.host.current_list))
        self.host.draw_footer()

    def draw_band(self) -> None:
        """Draw the line that names the moment; in fewer words if there is little room."""
        moment, band = self.moment, self.host.bar("past")
        if moment is None or band is None:
            return
        back = (key_name("screen.leave"), "bold", "come_back")
        compare = (key_name("history.since"), "bold", "change('history.since')")
        other = (key_name("past.look"), "bold", "ask_for('history.as_of')")
        right: list[Piece] = [other, (" another  ", "", "ask_for('history.as_of')")]
        right += [compare, (" compare  ", "", "change('history.since')"), back, (" now ", "", "come_back")]
        for words in (moment.words, format_local_time(moment.at)):
            left: list[Piece] = [("  AS OF ", ""), (visible(words), "bold"), ("  read-only", "")]
            if pieces_width(left) + pieces_width(right) < self.host.app.size.width:
                break
        band.put_both(left, right)

    def _cursors(self) -> dict[str, Hashable]:
        lists = {name: self.host.list_if_mounted(name) for name in PANE_NAMES}
        return {name: found.cursor_key for name, found in lists.items() if found is not None}


# Edit the text of a record where it stands in the preview; in the bottom line where it does not stand there.

LEAST_LINES = 2  # lines that a text needs


class EditController:
    """Shows the editor, and passes its text on."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._answer: Callable[[str], None] = lambda text: None
        self._label = ""

    def edit_text(self, label: str, text: str, answer: Callable[[str], None]) -> None:
        """Have a text edited in the preview, or in a prompt where it cannot be seen there; then call `answer`."""
        preview = self.host.pane.preview
        place = preview.place_of(text, (0, LABEL_WIDTH))
        if place is None or preview.size.height - place[1] < LEAST_LINES:
            self.host.ask(label, text, answer)
            return
        self._answer, self._label = answer, label
        self.host.app.hold_keys()  # type: ignore[attr-defined]
        self.host.in_background(lambda: self._load(text, place), "edit", "load the editor", exclusive=True)

    def _load(self, text: str, place: tuple[int, int]) -> None:
        self.host.later(self._open_editor, text, place)

    def _open_editor(self, text: str, place: tuple[int, int]) -> None:
        self.close_editor()
        editor = TextEditor(text, *place)
        editor.styles.width = self.host.pane.preview.size.width - place[0]
        self.host.pane.mount(editor)
        self.host.pane.call_after_refresh(self._begin, editor)

    def _begin(self, editor: TextEditor) -> None:
        self.host.set_focus(editor)
        self.host.footer.hint(
            (f" {visible(self._label)}", "bold $text-accent"),
            ("  enter", PROMPT_KEY_STYLE, "end_edit(True)"),
            (" saves ", "", "end_edit(True)"),
            (" ^j", PROMPT_KEY_STYLE),
            (" new line ", ""),
            (" ^u", PROMPT_KEY_STYLE),
            (" empties the line ", ""),
            (" esc", PROMPT_KEY_STYLE, "end_edit(False)"),
            (" leaves", "", "end_edit(False)"),
        )
        self.host.app.release_keys()  # type: ignore[attr-defined]

    def action_end_edit(self, keep: bool) -> None:
        """Keep the text, or leave it as it was, for a click."""
        if (editor := self.host.widget_of_kind(TextEditor)) is not None:
            self.end_edit(editor.text if keep else None)

    def close_editor(self) -> None:
        """Remove the editor, if there is one."""
        if (editor := self.host.widget_of_kind(TextEditor)) is not None:
            editor.remove()

    def end_edit(self, text: str | None) -> None:
        """Remove the editor, give the focus back to the list, and pass its text on."""
        self.close_editor()
        self.host.set_focus(self.host.list_of(self.host.current_list))
        self.host.draw_footer()
        if text is not None:
            self._answer(text)
        self.host.app.release_keys()  # type: ignore[attr-defined]


LEAST_PERCENT = 20  # percent of the screen that a list or a preview keeps


class NavigationController:
    """Owns the current pane, and the list focused last."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.current: str = FACTS
        self.place: str = FACTS  # the list focused last
        self._behind: str = FACTS  # the one before the hits
        self._alone = ""
        self._split: int | None = None  # the percent of the screen that the lists have; None until it is read

    def focus_moved(self) -> None:
        """Handle a change of the focus."""
        focused = self.host.focused
        name = focused.id if focused is not None else None
        held = next((pane for pane in PANE_NAMES if self.host.controller_of(pane).holds(name)), None)
        if held is not None:
            self.show_pane(held)
            self.host.controller_of(held).take_focus()
        elif isinstance(focused, RecordList) and name:
            self.place = name
            if name != HITS:
                self._behind = name
                self.show_pane(name)
            self.host.follow(focused)
        self.host.set_class(held is not None, "-talking")
        self.host.fit_hits()
        self.host.draw_footer()

    def leave_hits(self) -> None:
        """Make the list before the hits the current one again; a pane such as the Librarian has no list."""
        if self.place == HITS:
            self.place = self.current if self.host.list_if_mounted(self.current) is not None else self._behind

    def show_pane(self, name: str) -> None:
        """Make a pane the current pane, and hide the others."""
        fresh, self.current = name != self.current, name
        if fresh and self._alone:
            self.action_zoom(self._alone)
        for pane in PANE_NAMES:
            self.host.hide_pane(pane, pane != name)
        if fresh and PANES_BY_NAME[name].read:
            self.host.read_side()
        elif fresh and self.host.list_if_mounted(name) is None:
            self.host.pane.follow(None)  # what is there was chosen in another pane
        if fresh and name == FACTS:
            self.host.sort_again()
        self.arrange()

    def action_split(self, step: int) -> None:
        """Give the list more of the screen, or less, and keep that."""
        now = self._split or (50 if self.host.form == "-huge" else 60)
        self._split = max(LEAST_PERCENT, min(100 - LEAST_PERCENT, now + step))
        self.arrange()
        work = lambda: write_setting(user_settings_path(), "split", str(self._split))  # noqa: E731
        self.host.in_background(work, "split", "keep how the screen is divided", exclusive=True)

    def arrange(self) -> None:
        """Draw what depends on the current pane and on the width."""
        if self._split is None:
            self._split = int(self.host.setting("split"))
        self.host.take_split(self._split)
        self.host.fit_hits()
        self.host.draw_titles_soon()  # after the layout
        self.host.draw_past()

    def action_pane(self, name: str) -> None:
        """Focus a pane; do nothing while it is not mounted."""
        if not self.host.has_pane(name):
            return
        if name in PANES_BY_NAME:
            self.host.end_search()
            if self.host.controller_of(name).go():
                return
            self.show_pane(name)
        self.host.list_of(name).focus()

    def action_next_pane(self, step: int) -> None:
        lists = [HITS] if self.host.searching else [name for name in PANE_NAMES if self.host.has_pane(name)]
        order = [*lists, PREVIEW]
        focused = self.host.focused.id if self.host.focused is not None else None
        place = order.index(focused) if focused in order else -1 if step > 0 else 0
        name = order[(place + step) % len(order)]
        if name == PREVIEW:
            self.host.pane.preview.focus()
        else:
            self.action_pane(name)

    def go_to_list(self) -> None:
        """Focus the last list, and make its pane visible."""
        self.action_pane(self.place)

    def go_to_day(self, text: str) -> None:
        """Move the cursor to the newest entry of a day, or the first one before it."""
        engine = self.host.engine
        if engine is None or not text.strip():
            return
        name = self.current if self.current in (TIMELINE, HISTORY) else TIMELINE
        try:
            key, day, found = engine.at_day(name, text, self.host.view)
        except MemorandaError as error:
            self.host.say(str(error), "warning")
            return
        self.action_pane(name)
        filtered = active_filters(self.host.view, PANES_BY_NAME[name].filters)
        shown, back = (
            (" among what the filter shows", f"; {key_name('screen.leave')} shows all") if filtered else ("", "")
        )
        if key is None or not self.host.list_of(name).select(key):
            self.host.say(f"There is nothing on {day} or before{shown}{back}.", "warning")
        elif found != day:
            self.host.say(f"Nothing is on {day}{shown}; this is the newest before it{back}.")

    @property
    def alone(self) -> str:
        """Return what has the screen for itself, `preview` or `list`; empty if neither."""
        return self._alone

    def action_zoom(self, what: str) -> None:
        """Give the screen to the preview, or to the list, alone; or to both again."""
        shown = "" if what == self._alone else what
        if shown == "preview":
            self.host.pane.preview.focus()
        self._alone = shown
        for name in ("preview", "list"):
            self.host.set_class(name == shown, f"-{name}-alone")
        if shown != "preview" and self.host.list_if_mounted(self.place) is not None:
            self.host.list_of(self.place).focus()

    def action_heading(self, step: int) -> None:
        """Move the cursor of the list to the first record below the next heading, or the one before."""
        found = self.host.list_if_mounted(self.place)
        if found is not None and found.rows and found.cursor_index is not None:
            index = first_of_group(found.rows, found.cursor_index, step)
            if index is not None:
                found.select(found.rows.key(index))

    def leave(self) -> bool:
        """Leave one mode of the current pane."""
        if self._alone:
            self.action_zoom(self._alone)
            return True
        return self.host.controller_of(self.current).leave()


# Show the record at the cursor in the preview, and follow citations there.


class PreviewController:
    """Shows the record under the cursor: through the search or a pane's controller if they add to it, else directly."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def follow(self, source: RecordList) -> None:
        """Show the row at a list's cursor in the preview; not while a pane without a list is the current one."""
        host = self.host
        if source.id != HITS and host.list_if_mounted(host.current) is None:
            return
        providers = [host.preview_hit, *(controller.preview for controller in host.pane_controllers)]
        if not try_steps([lambda show=show: show(source) for show in providers]):  # type: ignore[misc]
            record = self._record(source)
            host.pane.follow(record, () if record is not None else self._missing(source))

    def _missing(self, source: RecordList) -> Sequence[StyledLine]:
        """Return what an empty list waits for; nothing if it is only narrowed, or of the past."""
        host, name = self.host, source.id or ""
        if (
            host.engine is None
            or source.rows is None
            or len(source.rows)
            or name not in PANES_BY_NAME
            or host.view.past
        ):
            return ()
        if PANES_BY_NAME[name].is_narrowed(host.view):
            return ()
        return missing_lines(host.engine.screen, name)

    def _record(self, source: RecordList) -> Record | Step | None:
        rows, index = source.rows, source.cursor_index
        if self.host.engine is None or rows is None or index is None:
            return None
        return cast("KeyedRows | HitRows", rows).record(index)

    def follow_cursor(self, event: RecordList.Highlighted) -> None:
        """Handle a cursor move. A reload of a list does not replace a text shown as output."""
        if self.host.pane.reading_out and self.host.focused is not event.record_list:
            return
        if event.record_list.id == self.host.current_list:
            self.follow(event.record_list)
            if self.host.focused is event.record_list:
                self.host.footer.show_kind(kind_at_cursor(event.record_list), states_at_cursor(event.record_list))

    def choose(self) -> None:
        """Open the row under the cursor: by its pane's controller, else by focusing the preview."""
        if not self._pane.choose():
            self.host.pane.enter()

    @property
    def _pane(self) -> PaneController:
        return self.host.controller_of(self.host.current)

    def report_failure(self, event: PreviewPane.Failed) -> None:
        self.host.say(str(event.error), "warning")

    def action_open(self) -> None:
        pane = self.host.pane
        if self._pane.open() or pane.preview.open_selected():
            return
        if self.host.focused is pane.preview:
            pane.preview.select(1)
        else:
            pane.enter()

    def action_citation(self, step: int) -> None:
        if not self._pane.select_citation(step):
            self.host.pane.preview.focus()
            self.host.pane.preview.select(step)

    def action_back(self) -> None:
        if not (self._pane.go_back() or self.host.pane.go_back()) and self.host.focused is self.host.pane.preview:
            self.host.list_of(self.host.current_list).focus()

    def action_forward(self) -> None:
        self.host.pane.forward()

    def action_scroll_preview(self, step: int) -> None:
        self.host.pane.preview.scroll_relative(y=step * 4, animate=False, force=True)

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        try:
            self.host.pane.open(parse_typed_citation(text, "fact"))
        except MemorandaError as error:
            self.host.say(str(error), "warning")

    def update_selection(self, event: Preview.Selected) -> None:
        """Update the pane and the footer when another citation is selected, in the preview or in a pane that works
        like it, if it has the focus."""
        if self.host.focused is event.preview:
            self._pane.update_selection()
            self.host.draw_footer()

    def leave(self) -> bool:
        """Return from the preview to the list."""
        if self.host.focused is not self.host.pane.preview:
            return False
        self.host.list_of(self.host.current_list).focus()
        return True


def kind_at_cursor(shown: RecordList) -> str:
    """Return the kind of the record at the cursor, in lists of several kinds; in the inbox, whether a proposal is
    only accepted or rejected. Return "" elsewhere, or with marks."""
    key, at = shown.cursor_key, shown.cursor_index
    if shown.id == CONTEXT and at is not None and not shown.marks:  # the prompt and the fixed text are no records
        return unpack_key(key)[0] if isinstance(key, int) else "text"
    if shown.marks or not isinstance(key, int):
        return ""
    if shown.id == INBOX and at is not None:
        kind = getattr(cast("KeyedRows", shown.rows).record(at), "kind", "")
        return f"{kind} proposal" if kind in ("merge", "forget") else "proposal"
    return unpack_key(key)[0] if shown.id in (TIMELINE, HITS) else ""


def states_at_cursor(shown: RecordList) -> frozenset[str]:
    """Return the states of the record at the cursor by which keys are named; none with marks."""
    rows, at = shown.rows, shown.cursor_index
    if shown.marks or at is None or shown.id not in (FACTS, TASKS, CONTEXT):
        return frozenset()
    record = cast("KeyedRows | ContextRows", rows).record(at)
    record = record.own if isinstance(record, GlobalFact) else record
    if isinstance(record, Task):
        return frozenset((record.status,))
    pinned = isinstance(record, Fact) and record.pinned
    muted = isinstance(rows, ContextRows) and rows.is_muted(at)
    return frozenset([*(["pinned"] if pinned else []), *(["muted"] if muted else [])])
