"""Ask the librarian questions, and show answers whose citations open records.

Nothing here blocks: a worker passes on what the search found first, then the answer in its order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from store.base.citations import parse as parse_citation
from store.base.errors import Defect, MemorandaError
from store.database.erasure.tombstones import times as purged_times
from tui.input.commands.command_table import typed_command
from tui.input.key_table import LIBRARIAN, named
from tui.lists.view_state import empty
from tui.panes.host import PaneController, PaneHost
from tui.widgets.chat_pane import Question, Talk, TalkPane
from tui.workers.librarian_worker import KEPT, Exchange, LibrarianWorker

if TYPE_CHECKING:
    from textual.timer import Timer

    from store.librarian.answer import Answer, CitedSentence
    from tui.theme.pieces import Piece
    from tui.widgets.preview import Preview

PARTS = (LIBRARIAN, "question")  # ids of the pane's focusable widgets
FORGOTTEN = "The conversation with the librarian was erased with what was purged."
EXAMPLES = (
    "why do we use SQLite?",
    "¿qué decidimos en octubre?",
    "what happened last week?",
    "how many tasks are open?",
)


class LibrarianController(PaneController):
    """Keeps the conversation, and starts questions."""

    def __init__(self, host: PaneHost) -> None:
        super().__init__(host)
        self._exchanges: list[Exchange] = []
        self._answer: Answer | None = None  # the last answer; the next question may refer to it
        self._clock: Timer | None = None  # updates the elapsed time of a pending answer
        self._source = -1  # the place in the conversation of the citation that was opened last
        self._purges = 0  # the memory's count of purges at the last check

    @property
    def talk(self) -> Talk:
        return cast("Talk", self.host.find(Talk))

    @property
    def question(self) -> Question:
        return cast("Question", self.host.find(Question))

    @property
    def asking(self) -> Exchange | None:
        """Return the exchange that is being answered and not cancelled; None if none is."""
        return next((one for one in reversed(self._exchanges) if one.open and not one.stop.is_set()), None)

    @property
    def last_answer(self) -> Answer | None:
        return self._answer

    # focus

    def holds(self, focused: str | None) -> bool:
        return focused in PARTS

    def entered(self) -> None:
        self.show()
        if self._answer is not None and self.host.pane.record is None and not self.host.pane.reading_out:
            self._show_source(self._answer)

    def go(self) -> bool:
        again = self.host.focused is self.talk
        self.host.show_pane(LIBRARIAN)
        self.host.set_focus(self.question if again else self.talk)
        return True

    def action_ask_librarian(self) -> None:
        """Focus the question's input, from anywhere."""
        if self.host.find(Talk) is not None and not self.host.refuses():
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
            (f" {named('screen.leave')}", "$footer-key-foreground bold", "leave"),
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
        if focused in PARTS and self.asking:
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

    def citation(self, step: int) -> bool:
        if self.host.focused is not self.talk:
            return False
        self.talk.select(step)
        return True

    def selected(self) -> None:
        """Show the source that is selected in the conversation beside it."""
        if self.host.focused is self.talk and self.talk.link:
            self._show_beside(self.talk.link)

    def open(self) -> bool:
        if self.host.focused is not self.talk:
            return False
        if not self.talk.open_selected():
            self.action_ask_librarian()
        return True

    def opened(self, event: Preview.Opened) -> None:
        """Open a citation of an answer; going back from its record returns here."""
        event.stop()
        marked = self.talk.link == str(event.citation)  # not by a click
        self._source = self.talk.selected if marked else self.talk.citations.index(event.citation)
        self.host.pane.follow(None)
        self.host.pane.open(event.citation)

    def back(self) -> bool:
        if not self._reads_a_source():
            return False
        if not self.host.pane.back():
            self._return_to_source()
        return True

    def _return_to_source(self) -> None:
        """Focus the conversation, with the source that was opened selected."""
        self.host.set_focus(self.talk)
        if self._source < len(self.talk.citations):
            self.talk.select_at(self._source)

    # questions

    def ask(self, question: str) -> None:
        """Ask a question, as if it had been typed."""
        self.question.keep(question)
        self.host.find(TalkPane).post_message(TalkPane.Asked(question))

    def asked(self, event: TalkPane.Asked) -> None:
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
            self.question.keep(event.question)
        self.stop_answer()
        if self._clock is None:
            self._clock = self.host.app.set_interval(1, self._count_seconds)
        exchange, last = Exchange(event.question), self._answer
        self._exchanges = [*self._exchanges[1 - KEPT :], exchange]
        self.show()
        self.talk.to_end()
        self.host.draw_footer()
        self.host.in_background(lambda: self._give(exchange, last), "librarian", "answer a question")

    def _give(self, exchange: Exchange, last: Answer | None) -> None:
        engine = self.host.engine
        if engine is None:
            return

        def on_progress(words: str) -> None:
            if not exchange.stop.is_set():
                self.host.later(self._advanced, exchange, words)

        def first(found: tuple[CitedSentence, ...]) -> None:
            self.host.later(self._found, exchange, found)

        try:
            with engine.learner.set_aside():
                answer = LibrarianWorker(engine.location, engine.clock).answer(exchange, last, on_progress, first)
        except MemorandaError as error:
            self.host.later(self._ended, exchange, None, str(error))
        except Exception as error:
            from store.database.connection import understood as understood_error

            reason = understood_error(error, engine.location.path)
            self.host.later(self._ended, exchange, None, str(reason))
            if isinstance(reason, Defect):
                raise
        else:
            self.host.later(self._ended, exchange, answer, "")

    def _advanced(self, exchange: Exchange, words: str) -> None:
        if exchange.open:
            exchange.status = words
            self.show()

    def _found(self, exchange: Exchange, found: tuple[CitedSentence, ...]) -> None:
        """Show the search's hits, before a model has ordered them."""
        if exchange.open:
            exchange.first = found
            self.show()

    def _count_seconds(self) -> None:
        """Show the elapsed time of the pending answer, unless the screen is being closed."""
        if self.asking is not None and self.host.find(Talk) is not None:
            self.show()

    def _ended(self, exchange: Exchange, answer: Answer | None, error: str) -> None:
        if not exchange.open:
            return
        exchange.answer, exchange.error = answer, error
        if answer is not None and exchange in self._exchanges[-1:]:
            self._answer = answer
            if answer.filter and answer.filter != answer.asked.text:
                self.question.offer(answer.filter)
            self._show_source(answer)
        self.show()
        self.host.app.call_after_refresh(self.host.draw_footer)  # by then it is known whether the answer fits

    def _show_source(self, answer: Answer) -> None:
        """Show the first record that the answer cites, so that keys about a record are about no other; the focus and
        what the person reads stay."""
        if self.holds(self.host.focused.id if self.host.focused is not None else None):
            self._show_beside(*answer.citations[:1])

    def _show_beside(self, *citations: str) -> None:
        self.host.pane.follow(None)
        for citation in citations:
            self.host.pane.show(parse_citation(citation))

    def stop_answer(self) -> None:
        """Stop the model: the search's hits stay, in their order."""
        exchange = self.asking
        if exchange is not None:
            exchange.stop.set()
            exchange.status = "stopped; the order of the search …"
            self.show()
            self.host.draw_footer()

    def reloaded(self) -> None:
        self.forget_if_purged()

    def forget_if_purged(self) -> bool:
        """Clear the conversation after any purge, here or elsewhere, since it may quote purged text that is no longer
        on the disk. Return whether there was one."""
        if self.host.engine is None:
            return False
        before, self._purges = self._purges, purged_times(self.host.engine.present.database)
        if not self._exchanges or self._purges <= before:
            return False
        self.stop_answer()
        self._exchanges, self._answer = [], None
        self.question.forget()
        self.host.say(FORGOTTEN, timeout=8, stays=True)
        self.show()
        self.host.draw_footer()
        return True

    def close(self) -> None:
        """Stop all answers, so that no model delays the exit."""
        for exchange in self._exchanges:
            exchange.stop.set()

    def show(self) -> None:
        """Show the conversation, or examples if there is none."""
        beginning = [[(empty(LIBRARIAN), "dim")], [], *([("  ", ""), (example, "accent")] for example in EXAMPLES)]
        self.talk.show_talk(self._exchanges, beginning)
