"""Task `extract_decision`: what a sentence decides: what was chosen, instead of what, and why, in its own words."""

from dataclasses import dataclass, field

from store.learning.rules.sentences import Sentence
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelSession
from store.text.fence import harmless

TASK = "extract_decision"
PREDICT = 160
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision as it was told; every part of it stands in the sentence as it is."""

    title: str
    chosen: str
    alternatives: tuple[str, ...] = ()
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    chosen: str
    alternatives: list[str] = field(default_factory=list)
    rationale: str = ""


def ask(asking: ModelSession, sentence: Sentence) -> DecisionDraft | None:
    """The decision of a sentence; None where what the model names as chosen does not stand in it. What else does not is
    left out. Raises ModelFailed."""
    text = " ".join(harmless(sentence.text).split())
    form = asking.ask(TASK, Form, [*prompt(TASK, text), ("user", text)], PREDICT)
    chosen = _quoted(form.chosen, sentence.text)
    if not chosen:
        asking.drop(TASK, "What it names as chosen does not occur in the sentence.")
        return None
    options = [_quoted(one, sentence.text) for one in form.alternatives[:OPTIONS]]
    left = tuple(one for one in dict.fromkeys(options) if one and one.casefold() not in chosen.casefold())
    title = sentence.text.rstrip(".!;,… ")
    return DecisionDraft(title, chosen, left, _quoted(form.rationale, sentence.text))


def _quoted(quote: str, text: str) -> str:
    """What was told, as the sentence has it; empty where it does not stand there."""
    part = " ".join(quote.split()).strip(" .,;:\"'“”«»")
    at = text.casefold().find(part.casefold()) if part else -1
    return text[at : at + len(part)] if at >= 0 else ""
