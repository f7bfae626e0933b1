"""Task `reconfirm`: whether what a person said repeats or contradicts something that is known.

The model is shown facts that share words or meaning with it, and answers only about these. It is asked only what the
rule left open, and its answers only become proposals.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from store.learning.grammar import sign
from store.learning.rules import reconfirm_rules
from store.learning.rules.reconfirm_rules import NONE, PROPOSE, SUPERSEDE, ComparedText, share
from store.learning.rules.sentences import fold
from store.learning.tasks.prompts import beside, prompt
from store.llm.structured_output import ModelChoice, ModelSession

TASK = "reconfirm"
PREDICT = 160
SHOWN = 5  # facts in one question
HALF = 0.5  # least share of a fact's words in a repetition
LEAST = 0.2  # least share where the text says that it still holds, or that it changed
_PART = re.compile(r"[,;:.!?…]+(?=\s|$)")
SAYS = ("again", "against", "nothing")


@dataclass(frozen=True, slots=True)
class One:
    fact: int
    says: Annotated[str, ModelChoice(SAYS)]


@dataclass(frozen=True, slots=True)
class Form:
    answers: list[One]


def ask(model: ModelSession, message: str, facts: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return what a sentence does to those of these (id, text) facts that it concerns according to the model: fact id →
    a verdict of `reconfirm_rules`. Raise ModelFailed."""
    facts = facts[:SHOWN]
    if not facts:
        return {}
    asked = beside("message", message, [text for _, text in facts])
    form = model.ask(TASK, Form, [*prompt(TASK, message), ("user", asked)], PREDICT)
    named = [one for one in form.answers if 0 < one.fact <= len(facts) and one.says in ("again", "against")]
    found: dict[int, str] = {}
    for one in named:
        number, text = facts[one.fact - 1]
        verdict = _held(one.says, fold(message), ComparedText(text))
        if verdict != NONE:
            found.setdefault(number, verdict)
    if len(found) < len(named):
        model.drop(TASK, f"{len(named) - len(found)} of {len(named)} do not rest on what was said.")
    return found


def _held(says: str, message: str, fact: ComparedText) -> str:
    """Return the verdict that may be proposed. Numbers and negations override the model, which finds a repetition even
    in sentences that share only a name."""
    common = share(ComparedText(message), fact)
    nearest = max((ComparedText(part) for part in _PART.split(message)), key=lambda part: share(part, fact))
    contrary = reconfirm_rules.against(nearest, fact)
    if not common:
        return NONE
    if says == "against" or contrary:
        changed = contrary or sign("changed").search(message)
        return SUPERSEDE if changed and common >= LEAST else NONE
    return PROPOSE if common >= HALF or (common >= LEAST and sign("holds_still").search(message)) else NONE
