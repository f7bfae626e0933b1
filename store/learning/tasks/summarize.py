"""Task `summarize`: which sentences of a few turns give their topic and outcome. Decisions and open questions are found
by rule."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.base import token_count
from store.base.models import Turn
from store.conversations.rule_summary import TOPIC, Summarised, by_rule, fitted, said_in
from store.learning.candidate_filter import hostile
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import LONGEST, ModelSession, numbered

TASK = "summarize"
PREDICT = 40
SHOWN = 24  # most sentences, from the end


@dataclass(frozen=True, slots=True)
class Form:
    topic: int
    outcome: int = 0


def ask(model: ModelSession, turns: Sequence[Turn]) -> Summarised:
    """Return a summary of a few turns of at most TOKENS, made of whole sentences: topic and outcome as the model names
    them, the rest by rule. Turns that tell a memory what to keep are not shown to a model. Raise ModelFailed."""
    each = LONGEST // max(1, len(turns))
    texts = [one for turn in turns for one in said_in(token_count.cut(turn.text, each))][-SHOWN:]
    rule = by_rule(turns)
    if not texts or any(hostile(turn.text) for turn in turns):
        return rule
    messages = [*prompt(TASK, " ".join(texts)), ("user", numbered(texts))]
    form = model.ask(TASK, Form, messages, PREDICT)
    elsewhere = {*rule.decisions, *rule.open_questions}

    def named(number: int, otherwise: str) -> str:
        text = texts[number - 1] if 0 < number <= len(texts) else ""
        return text if text and text not in elsewhere and token_count.count(text) <= TOPIC else otherwise

    topic = named(form.topic, rule.topic)
    outcome = named(form.outcome if form.outcome > form.topic else 0, rule.outcome)
    outcome = "" if outcome == topic or outcome.endswith("?") else outcome
    return fitted(topic, rule.discussed, outcome, rule.decisions, rule.open_questions, by=model.name)


def answer(model: ModelSession, turns: Sequence[Turn]) -> Summarised:
    """Return the same; if the model fails, the rule's summary."""
    return model.or_rule(TASK, lambda: ask(model, turns), lambda: by_rule(turns))
