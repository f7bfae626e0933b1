"""Task `reconfirm`: whether what a person said says again, or speaks against, something that is known.

The model is shown facts that share words or meaning with it, and answers about these alone. It is only ever asked what
the rule left open, and what it answers is only ever asked of the person.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from store.learning.grammar import sign
from store.learning.rules import reconfirm_rules
from store.learning.rules.reconfirm_rules import NONE, PROPOSE, SUPERSEDE, ComparedText, share
from store.learning.rules.sentences import fold
from store.learning.tasks.prompts import labelled, prompt
from store.llm.structured_output import ModelChoice, ModelSession, numbered
from store.text.fence import harmless

TASK = "reconfirm"
PREDICT = 160
SHOWN = 5  # facts of one question
HALF = 0.5  # of a fact's words, that what says it again has at least …
LEAST = 0.2  # … or where it says that it still holds, or that it changed
_PART = re.compile(r"[,;:.!?…]+(?=\s|$)")
SAYS = ("again", "against", "nothing")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a sentence does to each fact that it was held against, by the fact's id (a word of `confirming`), and who
    says so."""

    facts: dict[int, str]
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class One:
    fact: int
    says: Annotated[str, ModelChoice(SAYS)]


@dataclass(frozen=True, slots=True)
class Form:
    answers: list[One]


def ask(asking: ModelSession, message: str, facts: Sequence[tuple[int, str]]) -> Verdicts:
    """What a model says a sentence does to these facts, (id, text) each. Raises ModelFailed."""
    facts = facts[:SHOWN]
    if not facts:
        return Verdicts({}, asking.name)
    question = labelled("message", " ".join(harmless(message).split()))
    listed = numbered([text for _, text in facts])
    form = asking.ask(TASK, Form, [*prompt(TASK, message), ("user", f"{question}\n{listed}")], PREDICT)
    found: dict[int, str] = {}
    for one in form.answers:
        if 0 < one.fact <= len(facts) and one.says in ("again", "against"):
            number, text = facts[one.fact - 1]
            verdict = _held(one.says, fold(message), ComparedText(fold(text)))
            if verdict != NONE:
                found.setdefault(number, verdict)
    named = sum(one.says in ("again", "against") for one in form.answers)
    if len(found) < named:
        asking.drop(TASK, f"{named - len(found)} of {named} do not rest on what was said.")
    return Verdicts(found, asking.name)


def _held(says: str, message: str, fact: ComparedText) -> str:
    """What of a model's answer may be asked of a person. What a number or a denial says is believed before the model;
    and a model sees the same in two sentences that have no more than a name in common."""
    common = share(ComparedText(message), fact)
    nearest = max((ComparedText(part) for part in _PART.split(message)), key=lambda part: share(part, fact))
    contrary = reconfirm_rules.against(nearest, fact)
    if not common:
        return NONE
    if says == "against" or contrary:
        changed = contrary or sign("changed").search(message)
        return SUPERSEDE if changed and common >= LEAST else NONE
    return PROPOSE if common >= HALF or (common >= LEAST and sign("holds_still").search(message)) else NONE
