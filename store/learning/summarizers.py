"""Summaries by a model (of turns, of several facts, a conversation's name) and the order of the facts in a context; by
rule, or by the search, where there is no model.

Summaries of turns are made once, in the background, so the model is asked first. For the others a person waits: the
model is asked only with `agent.mode = smart`, and for a limited time.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING

from store.base.clock import days_before
from store.conversations import session_snapshot
from store.conversations.rule_summary import Summarised, by_rule
from store.inbox.merge_text import summed_up
from store.llm.structured_output import ModelSession, selected
from store.memory import Memory

if TYPE_CHECKING:
    from store.base.models import Turn
    from store.context.selection import Rank
    from store.conversations.summaries import Summarise

MOST = 8  # summaries of one run by the model; the rule makes the rest
BEGUN = 0.5  # share of the seconds that a person may wait, after which no other question is started
RECENT_DAYS = 1  # age up to which turns are summarised by the model; older ones, read late, would be too many


@contextmanager
def by_model(memory: Memory, cancelled: Callable[[], bool]) -> "Iterator[Summarise]":
    """Yield a function that summarises turns with the memory's model, or by rule without one or if it fails. The model
    is selected at the first call. The function raises ModelFailed when `cancelled`: that summary is made another
    time."""
    since, made = days_before(memory.now, RECENT_DAYS), count()
    with ExitStack() as stack:

        @cache
        def model() -> ModelSession | None:
            return stack.enter_context(selected(memory.config, memory.database, "agent.patience", cancelled=cancelled))

        def summarise(turns: "Sequence[Turn]") -> Summarised:
            session = None if turns[-1].at < since else model()
            if session is None or next(made) >= MOST:
                return by_rule(turns)
            from store.learning.tasks import summarize

            return summarize.answer(session, turns)

        yield summarise


def before_an_answer(memory: Memory) -> AbstractContextManager[ModelSession | None]:
    """Return a model that may be asked while a person waits; None unless `agent.mode` is smart and there is one. A cold
    model is not loaded: asking it fails, and the rule is used. Selecting it and all questions end within
    `agent.seconds` from now."""
    if memory.config["agent.mode"] != "smart":
        return nullcontext()
    seconds = float(memory.config["agent.seconds"])
    return selected(memory.config, memory.database, "agent.seconds", loading=None, seconds=seconds)


@contextmanager
def of_facts(memory: Memory) -> "Iterator[Callable[[Sequence[str]], str]]":
    """Yield a function that states several facts in one sentence, for `duplicates`: by a model while a person may be
    kept waiting, else by rule."""
    began = time.monotonic()
    with before_an_answer(memory) as model:

        def summarize_facts(texts: Sequence[str]) -> str:
            if model is None or time.monotonic() - began > model.seconds * BEGUN:
                return summed_up(texts)
            from store.learning.tasks import consolidate

            return consolidate.answer(model, texts)

        yield summarize_facts


@contextmanager
def before_a_context(memory: Memory) -> "Iterator[Rank | None]":
    """Yield the `rank` argument for `memory.context`: a function that asks the model; None where the search alone
    ranks."""
    with before_an_answer(memory) as model:
        if model is None:
            yield None
            return
        from store.learning.tasks import rank_facts

        yield partial(rank_facts.answer, model)


def name(memory: Memory, turns: "Sequence[Turn]", day: str) -> str:
    """Return the file name of a conversation's snapshot."""
    with before_an_answer(memory) as model:
        if model is None:
            return session_snapshot.slug(turns, day)
        from store.learning.tasks import slug

        return slug.answer(model, turns, day)
