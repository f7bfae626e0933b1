"""Task `extract_facts`: which sentences of a turn state something that will still hold next month.

The model names sentences by number; the sentence itself is proposed. Only sentences in the person's own voice are
shown, so quoted, pasted or forwarded text never reaches the model.
"""

from dataclasses import dataclass
from typing import Annotated

from store.learning.candidate_filter import lasting
from store.learning.rules.extract_rules import ExtractedFact
from store.learning.tasks import classify_domain
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelChoice, ModelSession, numbered

TASK = "extract_facts"
EACH = 6  # sentences in one question: with more a small model takes too long
CLASSIFIED = 2  # most facts of a turn whose domain is asked for separately
PREDICT = 200


@dataclass(frozen=True, slots=True)
class NumberedFact:
    sentence: int
    domain: Annotated[str, ModelChoice(classify_domain.CHOICES)] = "general"


@dataclass(frozen=True, slots=True)
class Form:
    facts: list[NumberedFact]


def ask(model: ModelSession, role: str, text: str) -> list[ExtractedFact]:
    """Return the sentences that a model names. Raise ModelFailed."""
    shown = lasting(role, text)
    domains: dict[int, str] = {}  # place in `shown` → domain
    for start in range(0, len(shown), EACH):
        some = shown[start : start + EACH]
        question = numbered([sentence.text for sentence in some])
        messages = [*prompt(TASK, " ".join(one.text for one in shown)), ("user", question)]
        for one in model.ask(TASK, Form, messages, PREDICT).facts:
            if 0 < one.sentence <= len(some):
                domain = one.domain if one.domain in classify_domain.CHOICES else "general"
                domains.setdefault(start + one.sentence - 1, domain)
    unsure = [place for place, domain in sorted(domains.items()) if domain == "general"]
    for place in unsure[:CLASSIFIED]:
        domains[place] = classify_domain.answer(model, shown[place].text)
    why = f"it states something lasting, as {model.name} reads it"
    facts = []
    for place, domain in sorted(domains.items()):
        text, quote = shown[place].text.rstrip(".!;,… "), shown[place].quote
        facts.append(ExtractedFact(text, domain, "medium", quote, False, False, why))
    return facts
