"""Task `extract_decision`: the decision in a sentence, in its own words: what was chosen, instead of what, and why."""

from dataclasses import dataclass

from store.learning.grammar import form
from store.learning.rules.clauses import TRIM
from store.learning.rules.sentences import LONG, Sentence, fold
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelSession
from store.text.fence import harmless

TASK = "extract_decision"
PREDICT = 160
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision, as a model answers it. What `ask` returns is quoted from the sentence, in every part; a rule may name
    as the alternative what another decision chose."""

    chosen: str
    alternatives: tuple[str, ...] = ()
    rationale: str = ""


def ask(model: ModelSession, sentence: Sentence) -> DecisionDraft | None:
    """Return the decision in a sentence; None where the model's choice is not in the sentence. Other parts that are not
    in it are left out. Raise ModelFailed."""
    text = " ".join(harmless(sentence.text).split())
    form = model.ask(TASK, DecisionDraft, [*prompt(TASK, text), ("user", text)], PREDICT)
    chosen = _quoted(form.chosen, sentence.text)
    if not chosen:
        model.drop(TASK, "What it names as chosen does not occur in the sentence.")
        return None
    options = [_quoted(one, sentence.text) for one in form.alternatives[:OPTIONS]]
    left = tuple(one for one in dict.fromkeys(options) if one and one.casefold() not in chosen.casefold())
    return DecisionDraft(chosen, left, _quoted(form.rationale, sentence.text))


def by_rule(text: str) -> DecisionDraft | None:
    """Return the decision in a sentence, each part as it stands there; None where its words do not tell what was
    chosen, and of a text that nobody types as one sentence."""
    if len(text) > LONG or (found := form("decision").search(fold(text))) is None:
        return None
    chosen, others, why = (text[slice(*found.span(part))].strip(TRIM) for part in ("chosen", "others", "why"))
    return DecisionDraft(chosen, tuple(filter(None, form("or").split(others))), why) if chosen else None


def _quoted(quote: str, text: str) -> str:
    """Return a quote as it stands in the sentence; empty where it does not."""
    part = " ".join(quote.split()).strip(" .,;:\"'“”«»")
    at = text.casefold().find(part.casefold()) if part else -1
    return text[at : at + len(part)] if at >= 0 else ""
