"""Answer the librarian's questions, each on a thread with its own connection and model client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store import LibrarianAnswer as Answer

KEPT = 30  # maximum exchanges of one conversation

Told = Callable[[str, str], None]  # `said` or `status`, and the text


@dataclass
class Exchange:
    """A question and its answer so far; `status` is the current step while no text arrives. Set `stop` to cancel the
    model."""

    question: str
    said: list[str] = field(default_factory=list)
    status: str = "looking …"
    answer: Answer | None = None
    error: str = ""
    stop: Event = field(default_factory=Event)

    @property
    def open(self) -> bool:
        """Return whether the answer is incomplete."""
        return self.answer is None and not self.error


class LibrarianWorker(Worker):
    """Answers questions about one memory."""

    def answer(self, exchange: Exchange, last: Answer | None, told: Told) -> Answer:
        """Answer a question; call `told` with each complete sentence. Raises MemorandaError."""
        from store import Librarian
        from store import found_models as found
        from tui.commands.librarian import LOADING, reading

        stopped = exchange.stop.is_set
        with self.memory() as memory:
            chat = found(memory.config, cancelled=stopped, loading=lambda: told("status", LOADING))
            try:
                name = chat.name if chat is not None else ""
                return Librarian(memory).ask(
                    exchange.question,
                    chat,
                    last=last,
                    said=lambda sentence: told("said", sentence),
                    cancelled=stopped,
                    waiting=lambda records: told("status", reading(name, records)),
                )
            finally:
                if chat is not None:
                    chat.close()
