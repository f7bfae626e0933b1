"""What only one pane does: the context, the librarian, the health; and what a pane sees of the main screen.

Ask the librarian questions, and show answers whose citations open records.

Nothing here blocks: a worker passes on what the search found first, then the answer in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from textual.worker import Worker

from store.base.citations import parse_citation
from store.base.clock import Clock, to_ms
from store.base.errors import Defect, MemorandaError
from store.base.location import Location
from store.database.connection import to_memoranda_error
from store.database.tombstones import count_removals
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.search.results import SearchAnswer
from store.upkeep.as_of import PastState
from tui.actions.support import ActionHost
from tui.input.key_table import CONTEXT, FACTS, HEALTH, LIBRARIAN, key_name
from tui.input.verb_table import typed_command
from tui.lists.filters import (
    KIND_FILTER,
    Facet,
    complete_filter,
    facet_chips,
    filter_completions,
    filters_in_query,
    found_kinds,
    narrow_query,
    next_choice,
    search_facets,
)
from tui.lists.pane_rows import WHOLE_TEXT, ContextRows, HealthRows
from tui.lists.view_state import View, empty_pane_text
from tui.render.lines import StyledLine
from tui.theme.line_filters import Piece
from tui.widgets.bars import Footer, Split
from tui.widgets.chat_pane import Question, Talk, TalkPane
from tui.widgets.inputs import AskBar, SearchBar
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList
from tui.workers.engine import LoadedLists
from tui.workers.model_worker import KEPT_EXCHANGES, Exchange, LibrarianWorker
from tui.workers.queries import SideRows

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget

    from tui.workers.engine import Engine


# The interface that a controller has of the main screen.


class Host(ActionHost, Protocol):
    """The screen, as its controllers see it."""

    @property
    def search_filters(self) -> SearchFilters: ...
    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def is_current(self) -> bool: ...
    @property
    def location(self) -> Location: ...
    @property
    def cwd(self) -> str: ...
    @property
    def embed(self) -> Callable[[], object]: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def footer(self) -> Footer: ...
    @property
    def current(self) -> str: ...
    @property
    def pane_controllers(self) -> Sequence[PaneController]: ...
    @property
    def search_bar(self) -> SearchBar: ...
    @property
    def embedding_under_way(self) -> str | None: ...
    @property
    def alone(self) -> str: ...
    @property
    def searching(self) -> bool: ...
    @property
    def run_worker(self) -> Callable[..., Worker[Any]]: ...

    def model_forms(self) -> Sequence[Sequence[Piece]]: ...
    def set_status(self, status: str) -> None: ...
    def set_backups(self, trouble: str) -> None: ...
    def vectors_came(self, all_of_them: bool) -> None: ...
    def mount(self, *widgets: Split, before: str) -> object: ...
    def bar(self, name: str) -> Split | None: ...
    def refuses(self) -> bool: ...
    def ask_librarian(self, question: str) -> None: ...
    def open_citation(self, text: str) -> None: ...
    def search_for(self, query: str) -> None: ...
    def show_model(self, pull: str = "", trying: str | None = None) -> None: ...
    def open_screen(self, name: str, *arguments: object) -> None: ...
    async def run_action(self, action: str) -> object: ...
    def call_later(self, callback: Callable[..., Any], *arguments: Any) -> bool: ...
    def ask_bar(self) -> AskBar | None: ...
    def has_sidebar(self) -> bool: ...
    def follow(self, source: RecordList) -> None: ...
    def set_held(self, held: bool) -> None: ...
    def set_size(self, name: str, size: int | None) -> None: ...
    def set_waiting(self, count: int) -> None: ...
    def memory_changed(self) -> None: ...
    def side_shown(self, name: str, rows: SideRows) -> None: ...
    def lists_shown(self) -> None: ...
    def controller_of(self, name: str) -> PaneController: ...
    def draw_found(self) -> None: ...
    def show_first_rows(self, engine: Engine, first: LoadedLists) -> None: ...
    def opened_beside(self, engine: Engine) -> None: ...
    def reload(self) -> None: ...
    def facet_of(self, name: str) -> Facet | None: ...
    def set_class(self, add: bool, *names: str) -> object: ...
    def end_search(self) -> None: ...
    def return_to(self, view: View, pane: str) -> None: ...
    def turn_to(self, past: PastState | None, cursors: Mapping[str, Hashable]) -> None: ...
    def widget_of_kind(self, kind: type[Any]) -> Any: ...
    def has_pane(self, name: str) -> bool: ...
    def hide_pane(self, name: str, hidden: bool) -> None: ...
    def fit_hits(self) -> None: ...
    def draw_past(self) -> None: ...
    def draw_titles_soon(self) -> None: ...
    def read_side(self) -> None: ...
    def sort_again(self) -> None: ...
    def take_split(self, percent: int) -> None: ...
    def preview_hit(self, source: RecordList) -> bool: ...
    def enter_hits(self) -> None: ...
    def leave_hits(self) -> None: ...
    def size_hits(self, height: int | str) -> None: ...
    def select_wanted(self, *names: str) -> None: ...
    def background_pieces(self) -> Sequence[Piece]: ...
    def list_if_mounted(self, name: str) -> RecordList | None: ...
    def set_focus(self, widget: Widget | None) -> None: ...
    def in_background(
        self, work: Callable[[], object], group: str, description: str, exclusive: bool = False
    ) -> object: ...
    def call_after(self, seconds: float, function: Callable[[], object]) -> Timer: ...
    def draw_top(self) -> None: ...
    def draw_titles(self) -> None: ...
    def draw_footer(self) -> None: ...
    def show_pane(self, name: str) -> None: ...
    def go_to_list(self) -> None: ...


class SearchFilters:
    """Reads and changes the filters of the query. `query` returns it, `ask` searches for another one."""

    def __init__(self, host: Host, query: Callable[[], str], ask: Callable[[str], None]) -> None:
        self.host = host
        self._query, self._ask = query, ask
        self._kinds = found_kinds({})  # of what was found without the filter for a kind
        self._asked: str | None = None  # the query without that filter, of which they are
        self._facets: Sequence[Facet] = ()  # by what a search can be narrowed, once counted

    def now(self) -> dict[str, str]:
        """Return the filters of the query: field → value."""
        return filters_in_query(self._query())

    @property
    def kinds(self) -> Facet:
        """The kinds of what was found."""
        return self._kinds

    def narrow(self, filters: Mapping[str, str]) -> None:
        """Search with these filters in place of the query's filters of equal fields; an empty value removes a
        filter."""
        self._ask(narrow_query(self._query(), filters))

    def next_kind(self) -> None:
        """Narrow the search to the next kind of what was found, at last to none."""
        self.narrow({KIND_FILTER: next_choice(self._kinds, self.now().get(KIND_FILTER)) or ""})

    def count_found(self, answer: SearchAnswer) -> None:
        """Count what was found by kind; under a filter for a kind the others stay as they were counted without it."""
        asked = narrow_query(self._query(), {KIND_FILTER: ""})
        filtered = KIND_FILTER in self.now()
        if not filtered or asked != self._asked:
            whole = not filtered and answer.total == len(answer.hits)
            self._asked = asked
            shown = Counter(hit.kind for hit in answer.hits)
            self._kinds = found_kinds(shown, whole)._replace(total=None if filtered else answer.total)
            if not whole and (engine := self.host.engine) is not None:
                work = lambda: self.host.later(self._show_numbers, asked, shown, engine.seeker.kinds(asked))  # noqa: E731
                self.host.in_background(work, "kinds", "count what was found by kind", exclusive=True)

    def _show_numbers(self, asked: str, shown: Counter[str], counts: Mapping[str, int]) -> None:
        """Show how many records of each kind were found; by meaning alone at least those that are `shown`."""
        if counts and asked == self._asked:
            every = {kind: max(counts.get(kind, 0), shown[kind]) for kind in {*counts, *shown}}
            known = self._kinds.total
            self._kinds = found_kinds(every)._replace(total=sum(every.values()) if known is None else known)
            self.host.draw_titles()

    def chips(self, room: int) -> list[Piece]:
        """Return the chips of the search."""
        return facet_chips(self._kinds, self.now(), room)

    # completion

    def facets(self, engine: Engine) -> Sequence[Facet]:
        """Return by what a search can be narrowed; for a worker thread."""
        return search_facets(engine.facets(FACTS), *engine.searchable())

    def count_facets(self) -> None:
        """Count what completes a filter, on a worker thread."""
        engine = self.host.engine
        if engine is not None:
            work = lambda: self._count(engine)  # noqa: E731
            self.host.in_background(work, "facets", "count what each filter leaves", exclusive=True)

    def _count(self, engine: Engine) -> None:
        try:
            facets = self.facets(engine)
        except MemorandaError:
            return  # the search itself says what is wrong
        self.host.later(self._set_facets, facets)

    def _set_facets(self, facets: Sequence[Facet]) -> None:
        self._facets = facets
        self.host.draw_footer()

    def completions(self) -> Sequence[tuple[str, int | None]]:
        """Return how the filter that is being typed may go on, with numbers of records."""
        return filter_completions(self._query(), self._facets)

    def complete(self, text: str = "") -> bool:
        """Complete the filter that is being typed by `text`, or by the first completion; return False if there is
        none."""
        found = self.completions()
        if found:
            self._ask(complete_filter(self._query(), text or found[0][0]))
        return bool(found)


class PaneController:
    """The behaviour of a pane beyond showing its rows; every method is optional. Those that return a bool say whether
    they handled the event; if not, the default of all panes applies."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def preview(self, source: RecordList) -> bool:
        """Show the row at a list's cursor in the preview."""
        return False

    def update_rows(self, rows: object) -> None:
        """Update what depends on the rows, after they were loaded and shown."""

    def update_lists(self) -> None:
        """Update what depends on the lists, after they were reloaded, whichever pane is visible."""

    def holds(self, focused: str | None) -> bool:
        """Return whether the widget of this id belongs to the pane; for a pane that is no list."""
        return False

    def take_focus(self) -> None:
        """Update the pane when a widget of it receives the focus."""

    def go(self) -> bool:
        """Focus the pane, for its own key."""
        return False

    def choose(self) -> bool:
        """Open the row under the cursor."""
        return False

    def open(self) -> bool:
        """Open the selected citation."""
        return False

    def select_citation(self, step: int) -> bool:
        """Select another citation."""
        return False

    def update_selection(self) -> None:
        """React to another selected citation, here or in the preview."""

    def go_back(self) -> bool:
        """Go back to where a citation was followed from."""
        return False

    def refuses_marks(self) -> bool:
        """Say that nothing can be marked here, if so."""
        return False

    def footer(self) -> Sequence[Piece]:
        """Return the footer's text instead of keys; empty for the keys."""
        return ()

    def leave(self) -> bool:
        """Leave one mode, on Escape."""
        return False

    def close(self) -> None:
        """Stop before the memory is closed."""


# The context pane: the preview explains each record; the title counts tokens.


class ContextController(PaneController):
    """Shows why a record is sent to agents, or not, above the record."""

    def preview(self, source: RecordList) -> bool:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, ContextRows) or index is None:
            return False
        if rows.key(index) == WHOLE_TEXT:
            self.host.pane.tell(rows.full_text())
        else:
            self.host.pane.follow(rows.record(index), rows.lines_above(index))
        return True

    def update_rows(self, rows: object) -> None:
        if not isinstance(rows, ContextRows):
            return
        self.host.counts["tokens"] = rows.built.tokens
        self.host.set_size(CONTEXT, None)
        found = self.host.list_of(CONTEXT)
        if self.host.current_list == CONTEXT and self.host.focused is found:
            self.host.follow(found)  # the reason may have changed under an unmoved cursor


# The health pane: the preview explains a figure, and Enter opens its subject.


class HealthController(PaneController):
    """Explains figures, and requests new measurements when they are due."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._explained: list[StyledLine] | None = None  # the explanation in the preview
        self._timer: Timer | None = None  # until the next measurement

    def preview(self, source: RecordList) -> bool:
        rows, index = source.rows, source.cursor_index
        if not isinstance(rows, HealthRows) or index is None:
            return False
        lines, record = rows.explanation(index), rows.record(index)
        if record is not None:
            self.host.pane.follow(record, lines)
        else:
            self.host.pane.tell(lines)
        self._explained = lines
        return True

    def choose(self) -> bool:
        found = self.host.list_of(self.host.current_list)
        rows, index = found.rows, found.cursor_index
        line = rows.leads(index) if isinstance(rows, HealthRows) and index is not None else ""
        if line:
            self.host.run_line(line)
        return bool(line)

    def update_rows(self, rows: object) -> None:
        if not isinstance(rows, HealthRows):
            return
        self.host.counts["measured"] = to_ms(rows.at)
        self.host.set_size(HEALTH, None)
        found = self.host.list_of(HEALTH)
        index = found.cursor_index
        here = self.host.current_list == HEALTH and self.host.focused is found
        if here and index is not None and rows.explanation(index) != self._explained:
            self.host.follow(found)  # the figure may have changed under an unmoved cursor
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.host.call_after(rows.due, self.host.read_side) if rows.due else None

    def refuses_marks(self) -> bool:
        among = self.host.current_list == HEALTH and self.host.focused is not self.host.pane.preview
        if among:
            self.host.say("Figures are not marked: Enter goes to what one is about.", "warning", alone=True)
        return among


FOCUSABLE_IDS = (LIBRARIAN, "question")  # ids of the pane's focusable widgets
TALK_ERASED = "The conversation with the librarian was erased with what was purged."
QUESTION_EXAMPLES = (
    "why do we use SQLite?",
    "¿qué decidimos en octubre?",
    "what happened last week?",
    "how many tasks are open?",
)


class LibrarianController(PaneController):
    """Keeps the conversation, and starts questions."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._exchanges: list[Exchange] = []
        self._answer: LibrarianAnswer | None = None  # the last answer; the next question may refer to it
        self._clock: Timer | None = None  # updates the elapsed time of a pending answer
        self._source = -1  # the place in the conversation of the citation that was opened last
        self._purges = 0  # the memory's count of purges at the last check

    @property
    def talk(self) -> Talk:
        return cast("Talk", self.host.widget_of_kind(Talk))

    @property
    def question(self) -> Question:
        return cast("Question", self.host.widget_of_kind(Question))

    @property
    def asking(self) -> Exchange | None:
        """Return the exchange that is being answered and not cancelled; None if none is."""
        return next((one for one in reversed(self._exchanges) if one.open and not one.stop.is_set()), None)

    @property
    def last_answer(self) -> LibrarianAnswer | None:
        return self._answer

    # focus

    def holds(self, focused: str | None) -> bool:
        return focused in FOCUSABLE_IDS

    def take_focus(self) -> None:
        self.show_talk()
        if self._answer is not None and self.host.pane.record is None and not self.host.pane.reading_out:
            self._show_source(self._answer)

    def go(self) -> bool:
        again = self.host.focused is self.talk
        self.host.show_pane(LIBRARIAN)
        self.host.set_focus(self.question if again else self.talk)
        return True

    def action_ask_librarian(self) -> None:
        """Focus the question's input, from anywhere."""
        if self.host.widget_of_kind(Talk) is not None and not self.host.refuses():
            self.host.end_search()
            self.host.show_pane(LIBRARIAN)
            self.host.set_focus(self.question)

    def footer(self) -> Sequence[Piece]:
        focused = self.host.focused
        if focused is None or focused.id != "question":
            return ()
        cites = self._answer is not None and bool(self._answer.citations or self._answer.near)
        leaves = " stops the answer" if self.asking else " leaves"
        return (
            (" enter", "$footer-key-foreground bold", "submit_question"),
            (" asks ", "", "submit_question"),
            *self.talk.paging("PgUp PgDn"),
            (" ↑", "$footer-key-foreground bold"),
            (" asked before ", ""),
            *([(" ↓", "$footer-key-foreground bold", "sources"), (" sources ", "", "sources")] if cites else []),
            (f" {key_name('screen.leave')}", "$footer-key-foreground bold", "leave"),
            (leaves, "", "leave"),
        )

    def action_sources(self) -> None:
        """Move the focus from the input to the citations of the last answer, if it has any."""
        if self.talk.select_last():
            self.host.set_focus(self.talk)

    def action_page_answer(self, pages: int) -> None:
        """Scroll the conversation by so many pages."""
        self.talk.action_scroll_by_page(pages)

    async def action_submit_question(self) -> None:
        """Enter, for a click."""
        await self.question.action_submit()

    def leave(self) -> bool:
        focused = self.host.focused.id if self.host.focused is not None else None
        if focused in FOCUSABLE_IDS and self.asking:
            self.stop_answer()
        elif focused == "question":
            self.host.set_focus(self.talk)
        elif focused == LIBRARIAN:
            self.host.go_to_list()
        elif self._reads_a_source():
            self._return_to_source()
        else:
            return False
        return True

    def _reads_a_source(self) -> bool:
        """Return whether the preview has the focus and shows a record that an answer cites."""
        return self.host.focused is self.host.pane.preview

    # citations

    def select_citation(self, step: int) -> bool:
        if self.host.focused is not self.talk:
            return False
        self.talk.select(step)
        return True

    def update_selection(self) -> None:
        """Show the source that is selected in the conversation beside it."""
        if self.host.focused is self.talk and self.talk.link:
            self._show_beside(self.talk.link)

    def open(self) -> bool:
        if self.host.focused is not self.talk:
            return False
        if not self.talk.open_selected():
            self.action_ask_librarian()
        return True

    def follow_citation(self, event: Preview.Opened) -> None:
        """Open a citation of an answer; going back from its record returns here."""
        event.stop()
        marked = self.talk.link == str(event.citation)  # not by a click
        self._source = self.talk.selected if marked else self.talk.citations.index(event.citation)
        self.host.pane.follow(None)
        self.host.pane.open(event.citation)

    def go_back(self) -> bool:
        if not self._reads_a_source():
            return False
        if not self.host.pane.go_back():
            self._return_to_source()
        return True

    def _return_to_source(self) -> None:
        """Focus the conversation, with the source that was opened selected."""
        self.host.set_focus(self.talk)
        if self._source < len(self.talk.citations):
            self.talk.select_at(self._source)

    # questions

    def ask_question(self, question: str) -> None:
        """Ask a question, as if it had been typed."""
        self.question.keep_question(question)
        self.host.widget_of_kind(TalkPane).post_message(TalkPane.Asked(question))

    def answer_typed(self, event: TalkPane.Asked) -> None:
        """Answer the question that was typed; run `:command` and `/memory …`, typed here by habit, as commands."""
        event.stop()
        self.host.app.release_keys()  # type: ignore[attr-defined]
        if not event.question:
            self.action_sources()
            return
        if event.question.startswith(":") or typed_command(event.question)[1]:
            self.host.run_line(event.question.removeprefix(":"))
            return
        if self.host.engine is None or self.host.refuses():
            return
        if self.forget_if_purged():
            self.question.keep_question(event.question)
        self.stop_answer()
        if self._clock is None:
            self._clock = self.host.app.set_interval(1, self._count_seconds)
        exchange, last = Exchange(event.question), self._answer
        self._exchanges = [*self._exchanges[1 - KEPT_EXCHANGES :], exchange]
        self.show_talk()
        self.talk.to_end()
        self.host.draw_footer()
        self.host.in_background(lambda: self._give(exchange, last), "librarian", "answer a question")

    def _give(self, exchange: Exchange, last: LibrarianAnswer | None) -> None:
        engine = self.host.engine
        if engine is None:
            return

        def on_progress(words: str) -> None:
            if not exchange.stop.is_set():
                self.host.later(self._show_status, exchange, words)

        def first(found: tuple[CitedSentence, ...]) -> None:
            self.host.later(self._show_hits, exchange, found)

        try:
            with engine.learner.set_aside():
                answer = LibrarianWorker(engine.location, engine.clock).answer_exchange(
                    exchange, last, on_progress, first
                )
        except MemorandaError as error:
            self.host.later(self._show_answer, exchange, None, str(error))
        except Exception as error:
            reason = to_memoranda_error(error, engine.location.path)
            self.host.later(self._show_answer, exchange, None, str(reason))
            if isinstance(reason, Defect):
                raise
        else:
            self.host.later(self._show_answer, exchange, answer, "")

    def _show_status(self, exchange: Exchange, words: str) -> None:
        if exchange.open:
            exchange.status = words
            self.show_talk()

    def _show_hits(self, exchange: Exchange, found: tuple[CitedSentence, ...]) -> None:
        """Show the search's hits, before a model has ordered them."""
        if exchange.open:
            exchange.first = found
            self.show_talk()

    def _count_seconds(self) -> None:
        """Show the elapsed time of the pending answer, unless the screen is being closed."""
        if self.asking is not None and self.host.widget_of_kind(Talk) is not None:
            self.show_talk()

    def _show_answer(self, exchange: Exchange, answer: LibrarianAnswer | None, error: str) -> None:
        if not exchange.open:
            return
        exchange.answer, exchange.error = answer, error
        if answer is not None and exchange in self._exchanges[-1:]:
            self._answer = answer
            if answer.filter and answer.filter != answer.asked.text:
                self.question.offer(answer.filter)
            self._show_source(answer)
        self.show_talk()
        self.host.app.call_after_refresh(self.host.draw_footer)  # by then it is known whether the answer fits

    def _show_source(self, answer: LibrarianAnswer) -> None:
        """Show the first record that the answer cites, so that keys about a record are about no other; the focus and
        what the person reads stay."""
        if self.holds(self.host.focused.id if self.host.focused is not None else None):
            self._show_beside(*answer.citations[:1])

    def _show_beside(self, *citations: str) -> None:
        self.host.pane.follow(None)
        for citation in citations:
            self.host.pane.show_citation(parse_citation(citation))

    def stop_answer(self) -> None:
        """Stop the model: the search's hits stay, in their order."""
        exchange = self.asking
        if exchange is not None:
            exchange.stop.set()
            exchange.status = "stopped; the order of the search …"
            self.show_talk()
            self.host.draw_footer()

    def update_lists(self) -> None:
        self.forget_if_purged()

    def forget_if_purged(self) -> bool:
        """Clear the conversation after any purge, here or elsewhere, since it may quote purged text that is no longer
        on the disk. Return whether there was one."""
        if self.host.engine is None:
            return False
        before, self._purges = self._purges, count_removals(self.host.engine.present.database)
        if not self._exchanges or self._purges <= before:
            return False
        self.stop_answer()
        self._exchanges, self._answer = [], None
        self.question.forget()
        self.host.say(TALK_ERASED, timeout=8, stays=True)
        self.show_talk()
        self.host.draw_footer()
        return True

    def close(self) -> None:
        """Stop all answers, so that no model delays the exit."""
        for exchange in self._exchanges:
            exchange.stop.set()

    def show_talk(self) -> None:
        """Show the conversation, or examples if there is none."""
        beginning = [
            [(empty_pane_text(LIBRARIAN), "dim")],
            [],
            *([("  ", ""), (example, "accent")] for example in QUESTION_EXAMPLES),
        ]
        self.talk.show_talk(self._exchanges, beginning)
