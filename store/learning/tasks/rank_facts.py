"""Task `rank_facts`: order facts by how much they concern a question. No fact is added or removed. The rule keeps the
order of the search."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.context.selection import RankedFact
from store.learning.tasks.prompts import beside, prompt
from store.llm.structured_output import ModelSession

TASK = "rank_facts"
PREDICT = 120
SHOWN = 12  # facts in one question; the others follow in their order


@dataclass(frozen=True, slots=True)
class Form:
    order: list[int]


def ask(model: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
    """Return the ids of these (id, text) facts in the model's order; those it does not name follow in their order.
    Raise ModelFailed."""
    came = [number for number, _ in facts]
    shown = facts[:SHOWN]
    asked = beside("question", question, [text for _, text in shown])
    form = model.ask(TASK, Form, [*prompt(TASK, question), ("user", asked)], PREDICT)
    named = (came[place - 1] for place in form.order if 0 < place <= len(shown))
    return RankedFact(tuple(dict.fromkeys([*named, *came])), model.name)


def answer(model: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
    """Return the same; if the model fails, the given order."""
    came = RankedFact(tuple(number for number, _ in facts))
    return model.or_rule(TASK, lambda: ask(model, question, facts), lambda: came)
