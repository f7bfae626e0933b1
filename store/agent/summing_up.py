"""Summaries by a model, in the background. One is written once, so the model is asked before the rule writes it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from store.agent import model
from store.agent.asking import Asking
from store.clock import days_before
from store.conversation.summarising import Summarised, by_rule
from store.memory import Memory

if TYPE_CHECKING:
    from store.agent.client import OllamaChat
    from store.conversation.summaries import Summarise
    from store.models import Turn

MOST = 8  # summaries of one run; the rule makes the rest
RECENT_DAYS = 1  # of a turn: what was said longer ago, and is read only now, is too much for a model


@contextmanager
def by_model(memory: Memory, cancelled: Callable[[], bool]) -> "Iterator[Summarise]":
    """What makes summaries as long as this lasts: the model of this memory, if there is one, and where it fails the
    rule. It is looked for when the first is to be made. Raises ModelFailed when it is `cancelled`: then nothing is
    written, and all of it is made another time."""
    maker = _Maker(memory, cancelled)
    try:
        yield maker.make
    finally:
        maker.close()


class _Maker:
    def __init__(self, memory: Memory, cancelled: Callable[[], bool]) -> None:
        self._memory = memory
        self._cancelled = cancelled
        self._since = days_before(memory.now, RECENT_DAYS)
        self._chat: OllamaChat | None = None
        self._left = MOST
        self._looked = False

    def make(self, turns: "Sequence[Turn]") -> Summarised:
        if not self._left or turns[-1].at < self._since:
            return by_rule(turns)
        if not self._looked:
            self._looked = True
            self._chat = model.found(self._memory.config, cancelled=self._cancelled)
        if self._chat is None:
            return by_rule(turns)
        from store.agent.tasks import summarize

        self._left -= 1
        asking = Asking(self._chat, float(self._memory.config["agent.patience"]), self._memory.database)
        return summarize.answer(asking, turns)

    def close(self) -> None:
        if self._chat is not None:
            self._chat.close()
