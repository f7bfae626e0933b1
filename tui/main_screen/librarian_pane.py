"""The main screen's librarian: questions, and answers whose citations open the records they rest on.

Nothing here waits for an answer: a worker hands over what the search found first, then the answer in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from store import Defect, MemorandaError
from store import purged_times as times
from tui.input.key_table import LIBRARIAN, named
from tui.main_screen.health_pane import HealthScreen
from tui.widgets.bars import Footer
from tui.widgets.chat_pane import Question, Talk, TalkPane
from tui.widgets.preview import Preview
from tui.workers.librarian_worker import KEPT, Exchange, LibrarianWorker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.timer import Timer

    from store import CitedSentence
    from store import LibrarianAnswer as Answer
    from tui.render.field_diff import Line
    from tui.workers.engine import Lists

HERE = (LIBRARIAN, "question")  # the ids of what has the keys in the pane
GONE = "The conversation with the librarian went with what was purged."
EXAMPLES = (
    "why do we use SQLite?",
    "¿qué decidimos en octubre?",
    "what happened last week?",
    "how many tasks are open?",
)


class LibrarianScreen(HealthScreen):
    """The screen's way to the Librarian, and back from what it cites."""

    _answered: Answer | None = None  # the last one, on which the next question may lean

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._exchanges: list[Exchange] = []
        self._waits: Timer | None = None
        self._purges = 0  # of the memory, when it was last looked for them

    @property
    def talk(self) -> Talk:
        return self.query_one(Talk)

    @property
    def asking(self) -> Exchange | None:
        """The exchange that is being answered and still wanted; None if none is."""
        return next((one for one in reversed(self._exchanges) if one.open and not one.stop.is_set()), None)

    @property
    def last_answer(self) -> Answer | None:
        return self._answered

    # going there, and away

    def action_pane(self, name: str) -> None:
        if name != LIBRARIAN:
            super().action_pane(name)
        elif self.query(Talk):
            self._end_search()
            again = self.focused is self.talk
            self.show_pane(LIBRARIAN)
            self.set_focus(self.query_one(Question) if again else self.talk)

    def action_ask_librarian(self) -> None:
        """To the line to ask in, from anywhere."""
        if self.query(Talk) and not self.refuses():
            self._end_search()
            self.show_pane(LIBRARIAN)
            self.set_focus(self.query_one(Question))

    def ask_librarian(self, question: str) -> None:
        """Ask, as if it had been typed there."""
        self.action_pane(LIBRARIAN)
        self.query_one(Question).keep(question)
        self.query_one(TalkPane).post_message(TalkPane.Asked(question))

    def on_descendant_focus(self) -> None:
        focused = self.focused.id if self.focused is not None else None
        if focused in HERE:
            self.show_pane(LIBRARIAN)
            self.teach()
            self.draw_footer()
        else:
            super().on_descendant_focus()
        self.set_class(focused in HERE, "-talking")

    def draw_footer(self) -> None:
        if self.focused is None or self.focused.id != "question":
            super().draw_footer()
            return
        cites = self._answered is not None and bool(self._answered.citations or self._answered.near)
        leaves = " stops the answer" if self.asking else " leaves"
        self.query_one("#footer", Footer).hint(
            (" enter", "$footer-key-foreground bold", "submit_question"),
            (" asks ", "", "submit_question"),
            (" ↑", "$footer-key-foreground bold"),
            (" asked before ", ""),
            *([(" ↓", "$footer-key-foreground bold", "sources"), (" sources ", "", "sources")] if cites else []),
            (f" {named('screen.leave')}", "$footer-key-foreground bold", "leave"),
            (leaves, "", "leave"),
        )

    def action_sources(self) -> None:
        """From the line to what the last answer cites, if it cites something."""
        if self.talk.select_last():
            self.set_focus(self.talk)

    async def action_submit_question(self) -> None:
        """Enter, for a mouse."""
        await self.query_one(Question).action_submit()

    def action_leave(self) -> None:
        focused = self.focused.id if self.focused is not None else None
        if focused in HERE and self.asking:
            self.stop_answer()
        elif focused == "question":
            self.set_focus(self.talk)
        elif focused == LIBRARIAN:
            super().action_pane(self._list_id)
        elif self._from_talk():
            self.set_focus(self.talk)
        else:
            super().action_leave()

    def _from_talk(self) -> bool:
        """Whether the person reads a record that they came to from an answer."""
        return self._current == LIBRARIAN and self.focused is self.pane.preview

    # citations

    def action_citation(self, step: int) -> None:
        if self.focused is self.talk:
            self.talk.select(step)
        else:
            super().action_citation(step)

    def action_open(self) -> None:
        if self.focused is not self.talk:
            super().action_open()
        elif not self.talk.open_selected():
            self.action_ask_librarian()

    def on_preview_opened(self, event: Preview.Opened) -> None:
        """A citation of an answer; going back from its record leads here again."""
        event.stop()
        self.pane.follow(None)
        self.pane.open(event.citation)

    def action_back(self) -> None:
        if not self._from_talk():
            super().action_back()
        elif not self.pane.back():
            self.set_focus(self.talk)

    # asking

    def on_talk_pane_asked(self, event: TalkPane.Asked) -> None:
        event.stop()
        self.app.release_keys()  # type: ignore[attr-defined]
        if not event.question:
            self.action_sources()
            return
        if self.engine is None or self.refuses():
            return
        if self.unsay():
            self.query_one(Question).keep(event.question)
        self.stop_answer()
        if self._waits is None:
            self._waits = self.set_interval(1, self._count_seconds)
        exchange = Exchange(event.question)
        self._exchanges = [*self._exchanges[1 - KEPT :], exchange]
        self.teach()
        self.talk.to_end()
        self.draw_footer()
        self._give(exchange, self._answered)

    @work(thread=True, group="librarian", exit_on_error=False, description="answer a question")
    def _give(self, exchange: Exchange, last: Answer | None) -> None:
        engine = self.engine
        if engine is None:
            return

        def told(words: str) -> None:
            if not exchange.stop.is_set():
                self.later(self._told, exchange, words)

        def first(found: tuple[CitedSentence, ...]) -> None:
            self.later(self._first, exchange, found)

        try:
            with engine.learner.set_aside():
                answer = LibrarianWorker(engine.location, engine.clock).answer(exchange, last, told, first)
        except MemorandaError as error:
            self.later(self._ended, exchange, None, str(error))
        except Exception as error:
            from store import understood_error as understood

            told_of = understood(error, self._location.path)
            self.later(self._ended, exchange, None, str(told_of))
            if isinstance(told_of, Defect):
                raise
        else:
            self.later(self._ended, exchange, answer, "")

    def _told(self, exchange: Exchange, words: str) -> None:
        if exchange.open:
            exchange.status = words
            self.teach()

    def _first(self, exchange: Exchange, found: tuple[CitedSentence, ...]) -> None:
        """What the search found, before a model has put it in order."""
        if exchange.open:
            exchange.first = found
            self.teach()

    def _count_seconds(self) -> None:
        """Let the clock of the answer that is waited for go on."""
        if self.asking is not None:
            self.teach()

    def _ended(self, exchange: Exchange, answer: Answer | None, error: str) -> None:
        if not exchange.open:
            return
        exchange.answer, exchange.error = answer, error
        if answer is not None and exchange in self._exchanges[-1:]:
            self._answered = answer
            if answer.filter and answer.filter != answer.question:
                self.query_one(Question).offer(answer.filter)
        self.teach()
        self.draw_footer()

    def stop_answer(self) -> None:
        """Want no more of the model: what the search found stays, in its order."""
        exchange = self.asking
        if exchange is not None:
            exchange.stop.set()
            exchange.status = "stopped; the order of the search …"
            self.teach()
            self.draw_footer()

    def _show_lists(self, lists: Lists) -> None:
        super()._show_lists(lists)
        self.unsay()

    def unsay(self) -> bool:
        """Let go of the conversation once something was purged, here or elsewhere: an answer may quote it, a question
        name it, and neither is on the disk any more. Whether there was one."""
        if self.engine is None:
            return False
        before, self._purges = self._purges, times(self.engine.present.database)
        if not self._exchanges or self._purges <= before:
            return False
        self.stop_answer()
        self._exchanges, self._answered = [], None
        self.query_one(Question).forget()
        self.say(GONE, timeout=8, stays=True)
        self.teach()
        self.draw_footer()
        return True

    def leave_answers(self) -> None:
        """The memory is left: nobody reads what would still be answered, and no model is to hold up the end."""
        for exchange in self._exchanges:
            exchange.stop.set()

    def teach(self) -> None:
        """Show the conversation, or how one begins."""
        self.talk.show_talk(self._exchanges, self._beginning())

    def _beginning(self) -> Sequence[Line]:
        from tui.lists.view_state import empty

        return [
            [(empty(LIBRARIAN), "dim")],
            [],
            *([("  ", ""), (example, "accent")] for example in EXAMPLES),
        ]
