"""Task `consolidate`: which of several facts about one thing includes all the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.inbox.merge_text import summed_up
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelSession, numbered
from store.text.similarity import contradiction

TASK = "consolidate"
PREDICT = 20


@dataclass(frozen=True, slots=True)
class Form:
    fact: int


def ask(model: ModelSession, texts: Sequence[str]) -> str:
    """Return the fact that, according to the model, includes all the others. Return all of them where none does, or
    where it lacks a number or a negation of the others. Raise ModelFailed."""
    messages = [*prompt(TASK, " ".join(texts)), ("user", numbered(texts))]
    number = model.ask(TASK, Form, messages, PREDICT).fact
    if not 0 < number <= len(texts):
        return summed_up(texts)
    chosen, *others = map(contradiction.taken_apart, [texts[number - 1], *texts])
    if any(not one.values <= chosen.values or one.negations != chosen.negations for one in others):
        model.drop(TASK, "A number or a negation of the others is not in the fact that it names.")
        return summed_up(texts)
    return texts[number - 1]


def answer(model: ModelSession, texts: Sequence[str]) -> str:
    """Return the same; if the model fails, all of the facts."""
    return model.or_rule(TASK, lambda: ask(model, texts), lambda: summed_up(texts))
