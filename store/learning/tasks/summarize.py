"""Task `summarize`: a few turns in a few words. What was decided must have been decided by the person, in these words;
what is open must have been asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from store.base import token_count
from store.base.models import Turn
from store.base.vocabulary import PERSON
from store.conversations.rule_summary import MOST, Summarised, by_rule, decides, fitted, said_in
from store.learning.candidate_filter import hostile
from store.learning.grounding import Ground, best
from store.learning.rules.sentences import fold
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import LONGEST, ModelSession, spanish
from store.text.fence import harmless

TASK = "summarize"
PREDICT = 300


@dataclass(frozen=True, slots=True)
class Form:
    topic: str
    discussed: list[str] = field(default_factory=list)
    outcome: str | None = ""
    decisions: list[str] = field(default_factory=list)
    open_questions: list[str] = field(default_factory=list)


def ask(asking: ModelSession, turns: Sequence[Turn]) -> Summarised:
    """What a model makes of a few turns, TOKENS at most; its topic and outcome are the rule's where they do not hold,
    and what the rule finds decided or open is never left out. Turns that order a memory what to keep are shown to no
    model. Raises ModelFailed."""
    if any(hostile(turn.text) for turn in turns):
        return by_rule(turns)
    each = LONGEST // max(1, len(turns))
    said = "\n".join(f"{turn.role}: {token_count.cut(' '.join(harmless(turn.text).split()), each)}" for turn in turns)
    form = asking.ask(TASK, Form, [*prompt(TASK, spanish(said)), ("user", said)], PREDICT)
    rule = by_rule(turns)
    shown = [(turn.role, said_in(token_count.cut(turn.text, each))) for turn in turns]
    sentences = [sentence for _, said in shown for sentence in said]
    told = [Ground(sentence) for sentence in sentences if not sentence.endswith("?")]
    asked = [Ground(sentence) for sentence in shown[-1][1] if sentence.endswith("?")] if shown else []
    deciding = [Ground(one) for role, said in shown if role == PERSON for one in said if decides(one)]
    whole = Ground(" ".join(sentences))
    decided = _decided(form.decisions, deciding)
    decided += [one for one in rule.decisions if not any(Ground(one).holds(other) for other in decided)]
    outcome = next(iter(_held([form.outcome or ""], told)), rule.outcome)
    open_questions = _held(form.open_questions, asked)
    open_questions += [one for one in rule.open_questions if not any(Ground(one).holds(q) for q in open_questions)]
    return fitted(
        whole.mended(form.topic) if whole.mentions(form.topic) else rule.topic,
        [whole.mended(one) for one in form.discussed[:4] if whole.mentions(one)] or rule.discussed,
        outcome if outcome not in decided and not any(Ground(one).holds(outcome) for one in decided) else "",
        decided[:MOST],
        open_questions[:MOST],
        by=asking.name,
    )


def answer(asking: ModelSession, turns: Sequence[Turn]) -> Summarised:
    """The same; where the model fails, what the rule makes of them."""
    return asking.or_rule(TASK, lambda: ask(asking, turns), lambda: by_rule(turns))


def _decided(told: Iterable[str], grounds: Sequence[Ground]) -> list[str]:
    """The decisions of an answer: a part of a sentence that decides, where the part does, or else all of it."""
    found = dict[str, str]()
    for one in told:
        text = " ".join(one.split())
        if text and (place := best(text, grounds)) is not None:
            ground = grounds[place]
            kept = ground.mended(text) if ground.says(text) and decides(text) else ground.said
            found.setdefault(fold(kept), kept)
    return list(found.values())


def _held(told: Iterable[str], grounds: Sequence[Ground]) -> list[str]:
    """What of an answer rests on one of these sentences, once each."""
    found = dict[str, str]()
    for one in told:
        text = " ".join(one.split())
        if text and (place := best(text, grounds)) is not None:
            found.setdefault(fold(text), grounds[place].mended(text))
    return list(found.values())
