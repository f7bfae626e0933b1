"""Task `consolidate`: which of several facts about one thing states all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.inbox.merge_text import Summed, summed_up
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelSession, numbered
from store.text.similarity import contradiction

TASK = "consolidate"
PREDICT = 20


@dataclass(frozen=True, slots=True)
class Form:
    fact: int


def ask(asking: ModelSession, texts: Sequence[str]) -> Summed:
    """Return the fact that states all of the others, as a model names it; all of them where none does, or where it has
    not every number and negation. Raises ModelFailed."""
    messages = [*prompt(TASK, " ".join(texts)), ("user", numbered(texts))]
    number = asking.ask(TASK, Form, messages, PREDICT).fact
    if not 0 < number <= len(texts):
        return Summed(summed_up(texts), asking.name)
    chosen, *others = map(contradiction.taken_apart, [texts[number - 1], *texts])
    if any(not one.values <= chosen.values or one.negations != chosen.negations for one in others):
        asking.drop(TASK, "A number or a negation of the others is not in the fact that it names.")
        return Summed(summed_up(texts))
    return Summed(texts[number - 1], asking.name)


def answer(asking: ModelSession, texts: Sequence[str]) -> Summed:
    """Return the same; where the model fails, all of the facts."""
    return asking.or_rule(TASK, lambda: ask(asking, texts), lambda: Summed(summed_up(texts)))
