"""Task `extract_facts`: what a person told that will still hold next month, and did not ask to have remembered.

Only sentences in the person's own voice are shown, so what they quoted, pasted or passed on never reaches the model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from store.base.vocabulary import CONFIDENCES, DOMAINS
from store.learning.candidate_filter import stands, tellings
from store.learning.grammar import either
from store.learning.grounding import Ground, best, open_ended
from store.learning.rules.extract_rules import ExtractedFact, Extraction
from store.learning.rules.sentences import WORDS, Sentence, fold
from store.learning.tasks import classify_domain
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelChoice, ModelSession, numbered, spanish

TASK = "extract_facts"
EACH = 6  # sentences of one question: of more a small model takes too long
PLACED = 2  # of them, that are asked about once more where nothing tells what they are about
PREDICT = 400
OWN_DOMAINS = tuple(domain for domain in DOMAINS if domain != "self_correction")


@dataclass(frozen=True, slots=True)
class One:
    sentence: int
    fact: str
    domain: Annotated[str, ModelChoice(OWN_DOMAINS)] = "general"
    confidence: Annotated[str, ModelChoice(CONFIDENCES)] = "medium"


@dataclass(frozen=True, slots=True)
class Form:
    facts: list[One]


def ask(asking: ModelSession, role: str, text: str) -> Extraction:
    """What a model finds in a turn beside what the rule does. Raises ModelFailed."""
    shown = tellings(role, text)
    if not shown:
        return Extraction((), asking.name)
    said = "\n".join(sentence.text for sentence in shown)
    told = prompt(TASK, spanish(said))
    held: dict[str, ExtractedFact] = {}
    for start in range(0, len(shown), EACH):
        some = shown[start : start + EACH]
        question = ("user", numbered([sentence.text for sentence in some]))
        form = asking.ask(TASK, Form, [*told, question], PREDICT)
        mine = _held(form.facts, some, asking.name)
        if len(mine) < len(form.facts):
            left = len(form.facts) - len(mine)
            asking.drop(TASK, f"{left} of {len(form.facts)} do not rest on what was said, or do not last.")
        held = {**held, **mine}
    return Extraction(tuple(_placed(asking, list(held.values()))), asking.name)


def _placed(asking: ModelSession, held: Sequence[ExtractedFact]) -> Iterator[ExtractedFact]:
    """These facts, the first few that no word and no reading put anywhere asked about on their own."""
    left = PLACED
    for one in held:
        if one.domain == "general" and left:
            left -= 1
            yield replace(one, domain=classify_domain.answer(asking, one.text).name)
        else:
            yield one


def _held(told: Sequence[One], shown: Sequence[Sentence], name: str) -> dict[str, ExtractedFact]:
    """What of an answer rests on the sentences that were shown, by its text, folded."""
    grounds = [Ground(sentence.text) for sentence in shown]
    found: dict[str, ExtractedFact] = {}
    for one in told[: 2 * EACH]:
        text = " ".join(re.sub(either("subject_of_user"), "", one.fact.strip(), flags=re.IGNORECASE).split()).rstrip(
            ".!;,… "
        )
        place = best(text, grounds, one.sentence - 1)
        if place is None or len(text.split()) < WORDS or open_ended(text) or grounds[place].tells_for_now():
            continue
        if not stands(text, shown[place].text):
            continue
        text = grounds[place].mended(text)
        text = text[0].upper() + text[1:]
        domain = one.domain if one.domain in OWN_DOMAINS else "general"
        confidence = "low" if one.confidence == "low" else "medium"
        why = f"it is what {name} makes of it"
        found.setdefault(fold(text), ExtractedFact(text, domain, confidence, shown[place].quote, False, False, why))
    return found
