"""Task `classify_domain`: the domain of a text."""

from dataclasses import dataclass, field
from typing import Annotated

from store.base import token_count
from store.base.vocabulary import DOMAINS
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelChoice, ModelSession
from store.text.fence import harmless

TASK = "classify_domain"
PREDICT = 80
LONGEST = 300  # tokens of the text that are shown
CHOICES = tuple(domain for domain in DOMAINS if domain != "self_correction")
BELIEVED = ("personal", "decisions")


@dataclass(frozen=True, slots=True)
class Form:
    domain: Annotated[str, ModelChoice(CHOICES)]
    keywords: list[str] = field(default_factory=list)  # so that the model names its reasons


def ask(model: ModelSession, text: str) -> str:
    """Return a text's domain according to the model. Raise ModelFailed.

    Only the domains in BELIEVED are accepted: of 26 sentences the 1.5B model called none general, and put those that it
    could not place into projects and preferences.
    """
    shown = token_count.cut(" ".join(harmless(text).split()), LONGEST)
    form = model.ask(TASK, Form, [*prompt(TASK, shown), ("user", shown)], PREDICT)
    if form.domain not in BELIEVED:
        model.drop(TASK, f"Only {' and '.join(BELIEVED)} are believed.")
    return form.domain if form.domain in BELIEVED else "general"


def answer(model: ModelSession, text: str) -> str:
    """Return the same; if the model fails, `general`."""
    return model.or_rule(TASK, lambda: ask(model, text), lambda: "general")
