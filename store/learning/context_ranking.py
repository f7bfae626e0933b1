"""Ranking of the facts in a context: by the search, or by a model where the person wants it used before an answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from store.context.selection import Rank, RankedFact
from store.learning.summarizers import before_an_answer
from store.memory import Memory


@contextmanager
def before_a_context(memory: Memory) -> Iterator[Rank | None]:
    """Yield the `rank` argument for `memory.context`: a function that asks the model, within the seconds that a person
    may wait; None where the search alone ranks."""
    with before_an_answer(memory) as model:
        if model is None:
            yield None
            return

        def ranked(question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
            from store.learning.tasks import rank_facts

            return rank_facts.answer(model, question, facts)

        yield ranked
