"""Panes and tabs, the preview that follows the cursor, marks, filters, jumps to a day."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from textual import work
from textual.widgets import Input

from store.base.citations import parse
from store.base.errors import MemorandaError
from tui.input.key_table import FACTS, HEALTH, HISTORY, INBOX, LIBRARIAN, PANES, PREVIEW, TIMELINE, named
from tui.lists.view_state import DOMAIN_ORDER, KIND_ORDER, SORT_ORDER, slots
from tui.main_screen.search import SearchingScreen
from tui.widgets.bars import Footer
from tui.widgets.preview import Preview
from tui.widgets.preview_pane import PreviewPane
from tui.widgets.record_list import MOST_MARKS, RecordList

Choice = TypeVar("Choice")

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.base.models import Record, Step

# What is typed right after these keys is for the bar that they open, even if all of it came at once, as a slow line
# sends it: so they are heard before the keys behind them are given to the list.
TYPING = ("search", "command", "ask_for")


class BrowsingScreen(SearchingScreen):
    """The screen's moves. Nothing here changes the memory."""

    # the bars under the person's hands

    def on_descendant_focus(self) -> None:
        focused = self.focused
        if isinstance(focused, RecordList) and focused.id:
            self._list_id = focused.id
            if focused.id != "hits":
                self.show_pane(focused.id)
            self.follow(focused)
        self._fit_hits()
        self.draw_footer()

    def _fit_hits(self) -> None:
        """Where it is narrow, a few hits take no more room than they need once they are gone through: the rest is the
        preview's. While one types they keep their half, so that nothing jumps."""
        for hits in self.query("#hits").results(RecordList):
            found = len(hits.rows or ())
            few = self.form == "-narrow" and 0 < found < self.size.height // 2 - 3
            typing = self.focused is not None and self.focused.id == "query"
            self.query_one("#hits-pane").styles.height = found + 1 if few and not typing else "1fr"

    def draw_footer(self) -> None:
        footer = self.query_one("#footer", Footer)
        if isinstance(self.focused, RecordList | Preview):
            footer.show_pane(self.focused.id or "")
        elif self.focused is not None and self.focused.id == "query":
            footer.hint(
                (" enter", "$footer-key-foreground bold", "to_hits"),
                (" goes to what was found ", "", "to_hits"),
                (" esc", "$footer-key-foreground bold", "leave"),
                (" leaves   kind: domain: is: tag: author: iteration: since: before: related:", "", "leave"),
            )

    # the preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if self.pane.reading_out and self.focused is not event.record_list:
            return  # a list that was read again does not take away what is being read
        if event.record_list.id == self._list_id:
            self.follow(event.record_list)

    def on_record_list_chosen(self) -> None:
        self.choose()

    def choose(self) -> None:
        """Go on from the row under the cursor: into the preview."""
        self.pane.enter()

    def on_record_list_asked(self) -> None:
        """The right button: the palette, which names first what is about the list's records."""
        self.app.action_command_palette()

    def on_preview_pane_failed(self, event: PreviewPane.Failed) -> None:
        self.say(str(event.error), "warning")

    def action_open(self) -> None:
        if not self.pane.preview.open_selected():
            if self.focused is self.pane.preview:
                self.pane.preview.select(1)
            else:
                self.pane.enter()

    def action_citation(self, step: int) -> None:
        self.pane.preview.focus()
        self.pane.preview.select(step)

    def action_back(self) -> None:
        if not self.pane.back() and self.focused is self.pane.preview:
            self.list_of(self._list_id).focus()

    def action_forward(self) -> None:
        self.pane.forward()

    def action_scroll_preview(self, step: int) -> None:
        self.pane.preview.scroll_relative(y=step * 4, animate=False, force=True)

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        try:
            self.pane.open(parse(text, "fact"))
        except MemorandaError as error:
            self.say(str(error), "warning")

    # panes

    def action_pane(self, name: str) -> None:
        if not self.query(f"#{name}"):
            return  # not mounted yet: it comes right after the first rows
        if name in PANES:
            self._end_search()
            self.show_pane(name)
        self.list_of(name).focus()

    def show_pane(self, name: str) -> None:
        """Give a pane its place, and take those that have none out of sight."""
        if name not in (FACTS, INBOX, LIBRARIAN, HEALTH):
            self._second = name
        if name not in (FACTS, TIMELINE):
            self._third = name
        self._current = name
        self.place_panes()

    def place_panes(self) -> None:
        """Show the panes that have a place at this width."""
        seen = slots(self.form, self._current, self._second, self._third)
        fresh = [name for name in seen if name not in self._seen_panes]
        self._seen_panes = seen
        for name in PANES:
            for pane in self.query(f"#{name}-pane"):
                pane.set_class(name not in seen, "-behind")
        if any(name not in (FACTS, TIMELINE) for name in fresh):
            self.read_side()
        self._fit_hits()
        self.call_after_refresh(self._draw_titles)  # once they have their sizes

    def action_next_pane(self, step: int) -> None:
        seen = PANES if self.form == "-narrow" else self._seen_panes
        lists = ["hits"] if self.has_class("-searching") else [name for name in seen if self.query(f"#{name}")]
        order = [*lists, PREVIEW]
        focused = self.focused.id if self.focused is not None else None
        place = order.index(focused) if focused in order else -1 if step > 0 else 0
        name = order[(place + step) % len(order)]
        if name == PREVIEW:
            self.pane.preview.focus()
        else:
            self.action_pane(name)

    def action_leave(self) -> None:
        marked = self.list_of(self._list_id)
        if isinstance(self.focused, Input):
            self._leave_search()
        elif self.focused is self.pane.preview:
            marked.focus()
        elif marked.marks:
            marked.unmark()
        elif self.has_class("-searching"):
            self._leave_search()
        elif not self._leave_more():
            self._unfilter()

    def _leave_more(self) -> bool:
        """Stop what is under way behind the screen, one thing at a time; False if nothing is."""
        if self.engine is not None and self.engine.upkeep.stop_reading_git():
            self.say("Stopped reading git; what was read stays, and the next start goes on.")
        elif self.engine is not None and self.engine.embedder.stop():
            self.say("Stopped embedding; what was made stays, and :index goes on.")
        else:
            return False
        return True

    # marks

    def action_mark(self) -> None:
        if self.focused is self.pane.preview:
            self.pane.preview.action_scroll_by_page(1)
            return
        self.list_of(self._list_id).mark()

    def action_mark_range(self) -> None:
        marking = self.list_of(self._list_id)
        marking.mark_range()
        if marking.marking:
            self.query_one("#footer", Footer).hint(
                (" Move to mark more; ", ""),
                (named("mark.range"), "$footer-key-foreground bold", "mark_range"),
                (" ends it, ", "", "mark_range"),
                (named("screen.leave"), "$footer-key-foreground bold", "leave"), (" unmarks", "", "leave"),
            )  # fmt: skip
        else:
            self.draw_footer()

    def action_mark_all(self) -> None:
        self.set_focus(self.list_of(self._list_id))  # what follows is about the marks, not about the preview
        if not self.list_of(self._list_id).mark_all():
            self.say(
                f"Marks hold {MOST_MARKS:,} records: narrow the list with {named('list.filter')}, "
                f"{named('list.origin')} or a search first.",
                "warning",
            )

    def _unfilter(self) -> None:
        """Show all of the list the person is in again."""
        if self._current == FACTS and not self.view.shows_all:
            self.action_all_facts()
        elif self._current == TIMELINE and self.view.kind:
            self.change_view(kind=None)
        elif self._current == HISTORY and self.view.actor:
            self.change_view(actor=None)
        elif self._current == INBOX and self.view.asker:
            self.change_view(asker=None)

    def action_unmark(self) -> None:
        self.list_of(self._list_id).unmark()

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        if event.record_list.id == "hits":
            self._draw_found()
        self._draw_titles()
        if not event.record_list.marking:  # while a range grows, the footer says how it ends
            self.draw_footer()

    # order and filters

    def change_view(self, **changes: object) -> None:
        """Show other records, or in another order."""
        self.view = replace(self.view, **changes)  # type: ignore[arg-type]
        self._draw_titles()
        self.reload()

    def _narrows(self) -> bool:
        """Whether the lists are in sight that these keys are about; a search is narrowed by its own words."""
        searching = self.has_class("-searching")
        if searching:
            self.say("A search is narrowed in its words: kind: domain: is: tag: author: iteration: since:", "warning")
        return not searching

    def action_sort(self) -> None:
        if not self._narrows():
            return
        self.change_view(sort=_next(SORT_ORDER, self.view.sort))

    def action_filter(self) -> None:
        if not self._narrows():
            return
        if self._current == TIMELINE:
            self.change_view(kind=_next(KIND_ORDER, self.view.kind))
        else:
            self.change_view(domain=_next(DOMAIN_ORDER, self.view.domain))

    @work(thread=True, group="origins", exclusive=True, exit_on_error=False, description="find out who wrote")
    def action_origin(self) -> None:
        if self.engine is not None:
            field = {HISTORY: "actor", INBOX: "asker"}.get(self._current, "origin")
            order = (None, *self.engine.origins(self._current))
            self.later(lambda: self.change_view(**{field: _next(order, getattr(self.view, field))}))

    def action_hidden(self) -> None:
        if not self._narrows():
            return
        self.change_view(hidden=not self.view.hidden)

    def action_all_facts(self) -> None:
        self.change_view(words="", domain=None, origin=None)

    def go_to_day(self, text: str) -> None:
        """Put the cursor on the newest entry of a day, or on the first one before it."""
        if self.engine is None or not text.strip():
            return
        name = self._current if self._current in (TIMELINE, HISTORY) else TIMELINE
        try:
            key = self.engine.at_day(name, text, self.view)
        except MemorandaError as error:
            self.say(str(error), "warning")
            return
        self.action_pane(name)
        if key is None or not self.list_of(name).select(key):
            self.say("Nothing stands there or before.", "warning")

    # what a key is about

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a bar these keys are letters."""
        return not (action in TYPING and isinstance(self.focused, Input))

    def target(self) -> Record | Step | None:
        """The record that a key is about: the one in the preview, which is the one under the cursor."""
        if self.pane.record is None:
            self.say("Nothing is selected.", "warning")
        return self.pane.record

    def targets(self) -> Sequence[Record | Step]:
        """The marked records of the list the person is in; without marks the one under the cursor."""
        marked = self.list_of(self._list_id)
        if marked.marks and self.engine is not None and self.focused is marked:
            return self.engine.read_marked(self._list_id, marked.marks)
        record = self.target()
        return [] if record is None else [record]


def _next(order: Sequence[Choice], now: Choice) -> Choice:
    """What follows `now`; the first again after the last, or when `now` is not among them."""
    return order[(order.index(now) + 1) % len(order)] if now in order else order[0]
