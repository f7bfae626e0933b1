"""Who orders the facts of a context: the search, or a model where a person wants it asked before an answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from store.context.selection import Rank, RankedFact
from store.learning.summarizers import before_an_answer
from store.memory import Memory


@contextmanager
def before_a_context(memory: Memory) -> Iterator[Rank | None]:
    """What orders the facts that a search found, for `memory.context(…, rank=…)`: a model, as long as a person may be
    kept waiting; None where only the search does."""
    with before_an_answer(memory) as asking:
        if asking is None:
            yield None
            return

        def ranked(question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
            from store.learning.tasks import rank_facts

            return rank_facts.answer(asking, question, facts)

        yield ranked
