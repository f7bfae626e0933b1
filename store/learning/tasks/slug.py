"""Task `slug`: a few words of a conversation as a file name."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.base import token_count
from store.base.models import Turn
from store.conversations import session_snapshot
from store.learning.candidate_filter import hostile
from store.learning.rules.sentences import fold
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import LONGEST, ModelSession
from store.text.fence import harmless
from store.text.tokens import WORD

TASK = "slug"
PREDICT = 60
FEWEST = 2  # least words of a name


@dataclass(frozen=True, slots=True)
class Form:
    words: list[str]


def ask(model: ModelSession, turns: Sequence[Turn], day: str) -> str:
    """Return the model's file name for a conversation of this day, without its extension, as in
    `2026-11-21-despliegue-docker`: of words that occur in it. Use the rule's where too few
    do, or where a turn tells a memory what to keep: such a turn is not shown to a model. Raise ModelFailed."""
    if any(hostile(turn.text) for turn in turns):
        return session_snapshot.slug(turns, day)
    each = LONGEST // max(1, len(turns))
    text = "\n".join(f"{turn.role}: {token_count.cut(' '.join(harmless(turn.text).split()), each)}" for turn in turns)
    form = model.ask(TASK, Form, [*prompt(TASK, text), ("user", text)], PREDICT)
    occurring = {word for turn in turns for word in WORD.findall(fold(turn.text))}
    words = [word for words in form.words for word in words.split() if fold(word) in occurring]
    if len(words) < FEWEST:
        model.drop(TASK, f"Fewer than {FEWEST} of its words occur in the conversation.")
        return session_snapshot.slug(turns, day)
    return session_snapshot.named(" ".join(words), day)


def answer(model: ModelSession, turns: Sequence[Turn], day: str) -> str:
    """Return the same; if the model fails, the first words of the conversation."""
    return model.or_rule(TASK, lambda: ask(model, turns, day), lambda: session_snapshot.slug(turns, day))
