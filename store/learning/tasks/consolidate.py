"""Task `consolidate`: several facts about one thing in one sentence that says all of them and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.inbox.merge_text import LONGEST, Summed, summed_up
from store.learning.grounding import Ground
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import ModelSession, numbered, spanish
from store.text.similarity import contradiction

TASK = "consolidate"
PREDICT = 200
SAID = 0.5  # of the words of each fact, at least, that the sentence must have


@dataclass(frozen=True, slots=True)
class Form:
    sentence: str


def ask(asking: ModelSession, texts: Sequence[str]) -> Summed:
    """One sentence for several facts, as a model says it; the rule's where it says more or less than they do. Raises
    ModelFailed."""
    told = prompt(TASK, spanish(" ".join(texts)))
    form = asking.ask(TASK, Form, [*told, ("user", numbered(texts))], PREDICT)
    sentence = " ".join(form.sentence.split()).rstrip(".!;,… ")
    whole = Ground("; ".join(texts))
    if not sentence or len(sentence) > LONGEST or not whole.holds(sentence) or not _all_of(sentence, texts):
        asking.drop(TASK, "It says more or less than the facts.")
        return Summed(summed_up(texts))
    return Summed(whole.mended(sentence), asking.name)


def answer(asking: ModelSession, texts: Sequence[str]) -> Summed:
    """The same; where the model fails, as the rule says it."""
    return asking.or_rule(TASK, lambda: ask(asking, texts), lambda: Summed(summed_up(texts)))


def _all_of(sentence: str, texts: Sequence[str]) -> bool:
    """Whether a sentence has the figures, the negations and most words of every fact, and turns none round."""
    said = contradiction.taken_apart(sentence)
    ground = Ground(sentence)
    for text in texts:
        one = contradiction.taken_apart(text)
        if not one.values <= said.values or (one.negations and not said.negations) or not ground.agrees(text):
            return False
        if one.words and sum(ground.has(word) for word in one.words) < SAID * len(one.words):
            return False
    return True
