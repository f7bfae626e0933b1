"""Guests: what other tools remember, in their own files. `/` searches, `c` corrects a text and `f` deletes it, after
showing what changes; `u` undoes the last change, `E` corrects in the editor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from store.base.errors import MemorandaError
from store.base.vocabulary import GUEST_TOOLS
from store.config.configuration import load as load_config
from store.guard.looking import now_ms as guard_now
from store.guests.changing import GuestPlan
from store.guests.changing import plan_correction as plan_guest_correction
from store.guests.changing import plan_deletion as plan_guest_deletion
from store.guests.changing import plan_undo as plan_guest_undo
from store.guests.changing import run as run_guest_plan
from store.guests.guest_text import GuestText
from store.guests.listing import GuestList
from store.guests.listing import listed as guest_texts
from store.guests.listing import matching as matching_guest_texts
from store.guests.secrets import shown as shown_guest_text
from store.services.source_import import machine as this_machine
from tui.commands.files.guard import home_path
from tui.commands.files.guest import NOTHING, guest_tool
from tui.render.field_diff import Line
from tui.render.plurals import count
from tui.screens.guard.rows import difference_lines
from tui.screens.guests.rows import GuestRows, text_lines
from tui.screens.planned import PlannedScreen
from tui.theme.escape import visible
from tui.widgets.prompt_bar import AskBar
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.location import Location
    from store.config.configuration import Config
    from store.sources.source import Machine
    from tui.screens.application import Application
    from tui.widgets.text_editor import TextEditor

LEAST = 2  # lines that the editor needs
Planned = Callable[["Config", "Machine", int], GuestPlan]


class GuestsScreen(PlannedScreen["GuestPlan"]):
    """Shows the texts and changes them, each on a thread. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="guests.close", tooltip="Leave what is asked or searched, then close"),
        Binding("slash", "search", "Search", id="guests.search", tooltip="Show only texts with these words"),
        Binding("c", "correct", "Correct", id="guests.correct", tooltip="Give the text other words"),
        Binding("f", "delete", "Delete", id="guests.delete", tooltip="Show what deleting the text changes"),
        Binding("u", "undo", "Undo", id="guests.undo", tooltip="Show what undoing the last change here changes"),
        Binding("y", "yes", "Yes", id="guests.yes", tooltip="Do what is shown"),
        Binding("n", "no", "No", id="guests.no", tooltip="Leave it as it is"),
        Binding("E", "edit", "Edit", id="guests.edit", tooltip="Give the text other words in your editor"),
        Binding("l", "look", "Look", id="guests.look", tooltip="Read all of it again"),
    ]
    NAME, EMPTY = "guests", NOTHING
    DEFAULT_CSS = "GuestsScreen #guests-more { layers: default over; }"

    def __init__(self, location: Location, tools: Sequence[str] = (), query: str = "", editor: str = "") -> None:
        super().__init__()
        self._config = load_config(location)
        self._tools = tools or GUEST_TOOLS
        self._query = query
        self._editor = editor
        self._found = GuestList()
        self._rows = GuestRows([])
        self._at: GuestText | None = None
        self._does = ""

    def first_rows(self) -> GuestRows:
        return self._rows

    def bars(self) -> Iterable[Widget]:
        return (AskBar(id="guests-ask"),)

    def on_mount(self) -> None:
        self.put_title("", "reading …")
        self.draw_keys()
        self.listed.focus()
        self._read()

    def usual_keys(self) -> None:
        keys = [("c", "correct", "correct"), ("E", "in editor", "edit"), ("f", "delete", "delete")] if self._at else []
        keys += [("u", "undo", "undo"), ("/", "search", "search")]
        self.put_keys([*keys, ("l", "look", "look")], "shows all" if self._query else "closes")

    # reading

    @work(thread=True, group="guests", exclusive=True, exit_on_error=False, description="read other tools' memories")
    def _read(self, at: int = 0) -> None:
        """Read all texts again; the cursor goes to the one it was on, else to row `at`."""
        found = guest_texts(this_machine(), self._tools)
        self._narrow(found, at)

    def _narrow(self, found: GuestList, at: int) -> None:
        query = self._query
        texts = matching_guest_texts(found.texts, query)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, found, texts, query, at)

    @work(thread=True, group="guests", exclusive=True, exit_on_error=False, description="search other tools' memories")
    def _search(self) -> None:
        self._narrow(self._found, 0)

    def _show(self, found: GuestList, texts: list[GuestText], query: str, at: int) -> None:
        if not self.is_attached or query != self._query:
            return
        self._found, self._rows = found, GuestRows(texts)
        many = count(len(found.texts), "text")
        says = f"{len(texts):,} of {many}" if query else many
        self.put_title(f"“{query}”" if query else "", says + _unread(found))
        shown = self.listed
        shown.set_rows(self._rows)
        place = self._rows.index_of(self._at.name) if self._at else None
        self._at = None
        if texts:
            place = min(at, len(texts) - 1) if place is None else place
            shown.select(self._rows.key(place))
            self._take(place)
        else:
            self.told.show([[(f"Nothing has the words “{visible(query)}”.", "dim")]] if query and found.texts else [])
            self.draw_keys()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = self._rows.index_of(event.key)
        if index is not None and self._rows.texts[index] is not self._at:
            self._take(index)

    def _take(self, index: int) -> None:
        self._at, self.plan = self._rows.texts[index], None
        self._close_editor()
        self._tell()
        self.draw_keys()

    def _tell(self) -> None:
        """Show the text under the cursor."""
        lines = text_lines(self._at) if self._at else []
        self.told.show([*lines, *_troubles(self._found)])

    def action_look(self) -> None:
        """Read all of it again."""
        self.put_title("", "reading …")
        self._read()

    def action_search(self) -> None:
        """Ask for words, and show only texts that have them."""
        self.query_one(AskBar).ask("search", self._query, self._searched, over=True)

    def _searched(self, text: str) -> None:
        self._query = text.strip()
        self._search()

    # changing

    def action_correct(self) -> None:
        """Edit the text where it stands, or where it is not seen in the line below; in the person's own editor where
        neither can show it as it is."""
        if self._at is None or self.plan is not None:
            return
        text = shown_guest_text(self._at.text)
        flat, place = text.replace("\n", " "), self.told.place_of(text, (0,))
        if visible(flat) != flat or "⏎" in flat:
            self.action_edit()
        elif place is None or self.told.size.height - place[1] < LEAST:
            self.query_one(AskBar).ask("correct", text, self._corrected)
        else:
            cast("Application", self.app).hold_keys()
            self._load_editor(text, place)

    @work(thread=True, group="guests-editor", exclusive=True, exit_on_error=False, description="load the editor")
    def _load_editor(self, text: str, place: tuple[int, int]) -> None:
        import tui.widgets.text_editor  # noqa: F401  (a tenth of a second, once)

        self.app.call_from_thread(self._open_editor, text, place)

    def _open_editor(self, text: str, place: tuple[int, int]) -> None:
        from tui.widgets.text_editor import TextEditor

        self._close_editor()
        editor = TextEditor(text, *place)
        editor.styles.width = editor.styles.max_width = self.told.size.width - place[0]
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
        self.listed.focus()
        self.draw_keys()
        if text is not None:
            self._corrected(text)
        cast("Application", self.app).release_keys()

    def action_edit(self) -> None:
        """Ask for other words in the person's editor."""
        if self._at is None:
            return
        from tui.desktop.editor import edit

        try:
            new = edit(self.app, shown_guest_text(self._at.text), command=self._editor)
        except MemorandaError as error:
            self.say(str(error), "warning")
            return
        if new is None:
            self.say("Nothing was changed.")
        else:
            self._corrected(new)

    def _corrected(self, text: str) -> None:
        one = self._at
        if one is not None and text != shown_guest_text(one.text):
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
    def _prepare(self, question: str, does: str, planned: Planned) -> None:
        try:
            plan = planned(self._config, this_machine(), guard_now())
        except MemorandaError as error:
            self.app.call_from_thread(self.refused, error)
            return
        self.app.call_from_thread(self._planned, question, does, plan)

    def _planned(self, question: str, does: str, plan: GuestPlan) -> None:
        if not self.is_attached:
            return
        self.plan, self._does = plan, does
        lines: list[Line] = [[(question, "own")], []]
        for one in plan.files:
            lines += difference_lines(f"{home_path(one.change.file.path)}  would be {plan.what(one)}", one.difference)
        self.told.show(lines)
        self.draw_keys()

    @work(thread=True, group="guests", exclusive=True, exit_on_error=False, description="change a text")
    def carry_out(self, plan: GuestPlan) -> None:
        try:
            number = run_guest_plan(self._config, this_machine(), guard_now(), plan)
        except MemorandaError as error:
            self.app.call_from_thread(self.refused, error)
        else:
            back = f"memoranda guard restore M#{number} redoes it" if plan.undoes else "u to undo"
            self.app.call_from_thread(self.say, f"{self._does}: M#{number}, {back}")
        self.app.call_from_thread(self._again)

    def _again(self) -> None:
        self._read(self._place())

    def _place(self) -> int:
        return (self._rows.index_of(self._at.name) or 0) if self._at else 0

    def show_current(self) -> None:
        self._tell()

    def action_leave(self) -> None:
        """Leave what is asked, then the search, then the screen."""
        if self.plan is None and self._query:
            self._searched("")
        else:
            super().action_leave()


def _unread(found: GuestList) -> str:
    return f", {count(len(found.troubles), 'file')} not read" if found.troubles else ""


def _troubles(found: GuestList) -> list[Line]:
    if not found.troubles:
        return []
    return [[], *([(f"Not read: {home_path(one.path)}: {one.why}", "warning")] for one in found.troubles)]
