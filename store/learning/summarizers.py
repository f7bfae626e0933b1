"""What a model sums up: turns, facts about one thing, a conversation in a name; and where there is none, the rule.

Summaries of turns are made in the background, and written once, so the model is asked before the rule writes them. A
person waits for the rest: there it is asked only if they want it so (`agent.mode = smart`), and not for long.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from store.base.clock import days_before
from store.conversations import session_snapshot
from store.conversations.rule_summary import Summarised, by_rule
from store.inbox.merge_text import summed_up
from store.llm import model_selection
from store.llm.structured_output import ModelSession
from store.memory import Memory

if TYPE_CHECKING:
    from store.base.models import Turn
    from store.conversations.summaries import Summarise
    from store.llm.clients.chat_client import ChatClient

MOST = 8  # summaries of one run; the rule makes the rest
BEGUN = 0.5  # of the seconds that a person may be kept waiting, after which no other question is begun
RECENT_DAYS = 1  # of a turn: what was said longer ago, and is read only now, is too much for a model


@contextmanager
def by_model(memory: Memory, cancelled: Callable[[], bool]) -> "Iterator[Summarise]":
    """What makes summaries as long as this lasts: the model of this memory, if there is one, and where it fails the
    rule. It is looked for when the first is to be made. Raises ModelFailed when it is `cancelled`: that one is made
    another time."""
    maker = _Maker(memory, cancelled)
    try:
        yield maker.make
    finally:
        maker.close()


@contextmanager
def before_an_answer(memory: Memory) -> Iterator[ModelSession | None]:
    """A model that may be asked while a person waits; None where they did not want that, or there is none. A cold one
    is not waited for: the rule answers. Looking for it and all that is asked of it have `agent.seconds` from now."""
    seconds = float(memory.config["agent.seconds"])
    smart = memory.config["agent.mode"] == "smart"
    chat = model_selection.found(memory.config, loading=None, seconds=seconds) if smart else None
    try:
        yield ModelSession(chat, seconds, memory.database) if chat else None
    finally:
        if chat is not None:
            chat.close()


@contextmanager
def of_facts(memory: Memory) -> "Iterator[Callable[[Sequence[str]], str]]":
    """What says several facts in one sentence, for `duplicates`: by a model as long as a person may be kept waiting."""
    began = time.monotonic()
    with before_an_answer(memory) as asking:

        def summarize_facts(texts: Sequence[str]) -> str:
            if asking is None or time.monotonic() - began > asking.seconds * BEGUN:
                return summed_up(texts)
            from store.learning.tasks import consolidate

            return consolidate.answer(asking, texts).sentence

        yield summarize_facts


def name(memory: Memory, turns: "Sequence[Turn]", day: str) -> str:
    """What the snapshot of a conversation is called."""
    with before_an_answer(memory) as asking:
        if asking is None:
            return session_snapshot.slug(turns, day)
        from store.learning.tasks import slug

        return slug.answer(asking, turns, day).name


class _Maker:
    def __init__(self, memory: Memory, cancelled: Callable[[], bool]) -> None:
        self._memory = memory
        self._cancelled = cancelled
        self._since = days_before(memory.now, RECENT_DAYS)
        self._chat: ChatClient | None = None
        self._left = MOST
        self._looked = False

    def make(self, turns: "Sequence[Turn]") -> Summarised:
        if not self._left or turns[-1].at < self._since:
            return by_rule(turns)
        if not self._looked:
            self._looked = True
            self._chat = model_selection.found(self._memory.config, cancelled=self._cancelled)
        if self._chat is None:
            return by_rule(turns)
        from store.learning.tasks import summarize

        self._left -= 1
        asking = ModelSession(self._chat, float(self._memory.config["agent.patience"]), self._memory.database)
        return summarize.answer(asking, turns)

    def close(self) -> None:
        if self._chat is not None:
            self._chat.close()
