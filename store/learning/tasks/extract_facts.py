"""Task `extract_facts`: which sentences of a turn state something that will still hold next month.

The model names sentences by their numbers; what is proposed is the sentence as it was written. Only sentences in the
person's own voice are shown, so what they quoted, pasted or passed on never reaches the model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from store.base.vocabulary import DOMAINS
from store.learning.candidate_filter import lasting
from store.learning.rules.extract_rules import ExtractedFact, Extraction
from store.learning.rules.sentences import Sentence
from store.learning.tasks import classify_domain
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelChoice, ModelSession, numbered

TASK = "extract_facts"
EACH = 6  # sentences of one question: of more a small model takes too long
CLASSIFIED = 2  # facts of a turn without a domain that are asked about once more
PREDICT = 200
OWN_DOMAINS = tuple(domain for domain in DOMAINS if domain != "self_correction")


@dataclass(frozen=True, slots=True)
class NumberedFact:
    sentence: int
    domain: Annotated[str, ModelChoice(OWN_DOMAINS)] = "general"


@dataclass(frozen=True, slots=True)
class Form:
    facts: list[NumberedFact]


def ask(asking: ModelSession, role: str, text: str) -> Extraction:
    """Return the sentences that a model names. Raises ModelFailed."""
    shown = lasting(role, text)
    found: dict[str, str] = {}  # the quote → its domain
    for start in range(0, len(shown), EACH):
        some = shown[start : start + EACH]
        question = numbered([sentence.text for sentence in some])
        messages = [*prompt(TASK, " ".join(one.text for one in shown)), ("user", question)]
        for one in asking.ask(TASK, Form, messages, PREDICT).facts:
            if 0 < one.sentence <= len(some):
                domain = one.domain if one.domain in OWN_DOMAINS else "general"
                found.setdefault(some[one.sentence - 1].quote, domain)
    return Extraction(tuple(_facts(asking, shown, found)), asking.name)


def _facts(asking: ModelSession, shown: Sequence[Sentence], found: dict[str, str]) -> Iterator[ExtractedFact]:
    left = CLASSIFIED
    for sentence in shown:
        domain = found.pop(sentence.quote, "")
        if domain == "general" and left:
            left -= 1
            domain = classify_domain.answer(asking, sentence.text).name
        if domain:
            why = f"it states something lasting, as {asking.name} reads it"
            yield ExtractedFact(sentence.text.rstrip(".!;,… "), domain, "medium", sentence.quote, False, False, why)
