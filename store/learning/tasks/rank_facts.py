"""Task `rank_facts`: which of some facts bear on a question, the ones that do first. None is lost and none is added.

Its rule is the search's own order, in which the facts come."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.context.selection import RankedFact
from store.learning.tasks.prompts import labelled, prompt
from store.llm.structured_output import ModelSession, numbered
from store.text.fence import harmless

TASK = "rank_facts"
PREDICT = 120
SHOWN = 12  # facts of one question; the rest follow as they came


@dataclass(frozen=True, slots=True)
class Form:
    order: list[int]


def ask(asking: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
    """The ids of these facts, (id, text) each, as a model orders them; what it does not name follows as it came.
    Raises ModelFailed."""
    came = [number for number, _ in facts]
    shown = facts[:SHOWN]
    if not shown:
        return RankedFact((), asking.name)
    asked = labelled("question", " ".join(harmless(question).split()))
    listed = numbered([text for _, text in shown])
    form = asking.ask(TASK, Form, [*prompt(TASK, question), ("user", f"{asked}\n{listed}")], PREDICT)
    first = list(dict.fromkeys(came[place - 1] for place in form.order if 0 < place <= len(shown)))
    return RankedFact((*first, *(number for number in came if number not in first)), asking.name)


def answer(asking: ModelSession, question: str, facts: Sequence[tuple[int, str]]) -> RankedFact:
    """The same; where the model fails, as they came."""
    came = RankedFact(tuple(number for number, _ in facts))
    return asking.or_rule(TASK, lambda: ask(asking, question, facts), lambda: came)
