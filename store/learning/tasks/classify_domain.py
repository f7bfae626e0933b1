"""Task `classify_domain`: what a question or a text is about."""

from dataclasses import dataclass, field
from typing import Annotated

from store.base import token_count
from store.base.vocabulary import DOMAINS
from store.learning.rules.sentences import fold
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelChoice, ModelSession
from store.text.fence import harmless

TASK = "classify_domain"
PREDICT = 80
LONGEST = 300  # tokens that are looked at
CHOICES = tuple(domain for domain in DOMAINS if domain != "self_correction")
BELIEVED = ("personal", "decisions")


@dataclass(frozen=True, slots=True)
class Domain:
    """The domain of a text, up to three words of it that tell so, and who says so; by rule always `general`."""

    name: str = "general"
    words: tuple[str, ...] = ()
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class Form:
    domain: Annotated[str, ModelChoice(CHOICES)]
    keywords: list[str] = field(default_factory=list)


def ask(asking: ModelSession, text: str) -> Domain:
    """What a model says a text is about. Raises ModelFailed.

    It is believed only where it says one of BELIEVED: of 26 sentences the 1.5B called none general, and put whatever it
    did not place into projects and preferences."""
    shown = token_count.cut(" ".join(harmless(text).split()), LONGEST)
    form = asking.ask(TASK, Form, [*prompt(TASK, shown), ("user", shown)], PREDICT)
    folded = fold(shown)
    words = [fold(word) for word in form.keywords[:3] if word.strip() and fold(word) in folded]
    if form.domain not in BELIEVED:
        asking.drop(TASK, f"Only {' and '.join(BELIEVED)} are believed.")
    return Domain(form.domain if form.domain in BELIEVED else "general", tuple(dict.fromkeys(words)), asking.name)


def answer(asking: ModelSession, text: str) -> Domain:
    """The same; where the model fails, `general`."""
    return asking.or_rule(TASK, lambda: ask(asking, text), Domain)
