"""Answer the librarian's questions, each on a thread with its own connection and model client."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from tui.render.plurals import count
from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.librarian.answer import Answer, CitedSentence
    from store.memory import Memory

KEPT = 30  # maximum exchanges of one conversation

Progress = Callable[[str], None]  # the current step, as text
First = Callable[["tuple[CitedSentence, ...]"], None]


@dataclass
class Exchange:
    """A question, `first` the sentences of the search's hits, and its answer; `status` is the current step, `unindexed`
    what was not searched by meaning, `began` the start. Set `stop` to cancel the model."""

    question: str
    first: tuple[CitedSentence, ...] = ()
    status: str = "looking …"
    unindexed: str = ""
    answer: Answer | None = None
    error: str = ""
    stop: Event = field(default_factory=Event)
    began: float = field(default_factory=time.monotonic)

    @property
    def open(self) -> bool:
        """Return whether the answer is incomplete."""
        return self.answer is None and not self.error

    @property
    def seconds(self) -> int:
        """Return the elapsed seconds."""
        return int(time.monotonic() - self.began)


def unindexed(memory: Memory) -> str:
    """Return that some texts are not indexed yet, as a sentence; empty if all are, or none will be."""
    from store.embedding.vectors import Vectors

    found = Vectors(memory.database).status()
    if not found.left or not (found.serving or found.building):
        return ""
    return f"{found.left:,} of {count(found.total, 'text')} are not indexed yet: ask again when they are."


class LibrarianWorker(Worker):
    """Answers questions about one memory."""

    def answer(self, exchange: Exchange, last: Answer | None, progress: Progress, first: First) -> Answer:
        """Answer a question; call `first` with the search's hits before a model reads them. It ends within
        `agent.patience`. Raises MemorandaError."""
        from store.librarian.librarian import Librarian
        from store.llm.model_selection import found
        from store.llm.model_selection import why_none as why_no_model
        from tui.commands.librarian import LOADING, reading

        stopped = exchange.stop.is_set
        with self.memory() as memory:
            exchange.unindexed = unindexed(memory)
            limit = float(memory.config["agent.patience"])
            chat = found(memory.config, cancelled=stopped, loading=lambda: progress(LOADING), seconds=limit)
            try:
                name = chat.name if chat is not None else ""
                return Librarian(memory).ask(
                    exchange.question,
                    chat,
                    last=last,
                    why="" if chat else why_no_model(memory.config),
                    first=first,
                    cancelled=stopped,
                    waiting=lambda done, total: progress(reading(name, done, total)),
                )
            finally:
                if chat is not None:
                    chat.close()
