"""Task `slug`: a few words of a conversation that make a file's name."""

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
FEWEST = 2  # words


@dataclass(frozen=True, slots=True)
class Slug:
    """A name without its ending, `2026-11-21-despliegue-docker`, and its author."""

    name: str
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class Form:
    words: list[str]


def ask(asking: ModelSession, turns: Sequence[Turn], day: str) -> Slug:
    """Return the name that a model gives to a conversation of this day, of words that occur in it; the rule's where
    too few do, or where a turn orders a memory what to keep: that is shown to no model. Raises ModelFailed."""
    if any(hostile(turn.text) for turn in turns):
        return Slug(session_snapshot.slug(turns, day))
    each = LONGEST // max(1, len(turns))
    text = "\n".join(f"{turn.role}: {token_count.cut(' '.join(harmless(turn.text).split()), each)}" for turn in turns)
    form = asking.ask(TASK, Form, [*prompt(TASK, text), ("user", text)], PREDICT)
    occurring = {word for turn in turns for word in WORD.findall(fold(turn.text))}
    words = [word for words in form.words for word in words.split() if fold(word) in occurring]
    if len(words) < FEWEST:
        asking.drop(TASK, f"Fewer than {FEWEST} of its words occur in the conversation.")
        return Slug(session_snapshot.slug(turns, day))
    return Slug(session_snapshot.named(" ".join(words), day), asking.name)


def answer(asking: ModelSession, turns: Sequence[Turn], day: str) -> Slug:
    """Return the same; where the model fails, the first words of the conversation."""
    return asking.or_rule(TASK, lambda: ask(asking, turns, day), lambda: Slug(session_snapshot.slug(turns, day)))
