"""Task `slug`: what a conversation was about, in a few words that make a file's name."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.base import token_count
from store.base.models import Turn
from store.conversations import session_snapshot
from store.learning.candidate_filter import hostile
from store.learning.grounding import Ground
from store.learning.tasks.prompts import prompt
from store.llm.structured_output import LONGEST, ModelSession, spanish
from store.text.fence import harmless

TASK = "slug"
PREDICT = 60
FEWEST = 2  # words that must hold


@dataclass(frozen=True, slots=True)
class Slug:
    """A name without its ending, `2026-11-21-despliegue-docker`, and who gave it."""

    name: str
    by: str = "rules"


@dataclass(frozen=True, slots=True)
class Form:
    words: list[str]


def ask(asking: ModelSession, turns: Sequence[Turn], day: str) -> Slug:
    """What a model calls a conversation of this day; the rule, where a turn orders a memory what to keep: that is shown
    to no model. Raises ModelFailed."""
    if any(hostile(turn.text) for turn in turns):
        return Slug(session_snapshot.slug(turns, day))
    each = LONGEST // max(1, len(turns))
    said = "\n".join(f"{turn.role}: {token_count.cut(' '.join(harmless(turn.text).split()), each)}" for turn in turns)
    form = asking.ask(TASK, Form, [*prompt(TASK, spanish(said)), ("user", said)], PREDICT)
    ground = Ground(" ".join(turn.text for turn in turns))
    words = [one for word in form.words for one in word.split() if ground.has(one)]
    if len(words) < FEWEST:
        asking.drop(TASK, f"Fewer than {FEWEST} of its words occur in what was said.")
        return Slug(session_snapshot.slug(turns, day))
    return Slug(session_snapshot.named(" ".join(words), day), asking.name)


def answer(asking: ModelSession, turns: Sequence[Turn], day: str) -> Slug:
    """The same; where the model fails, by the first words that were said."""
    return asking.or_rule(TASK, lambda: ask(asking, turns, day), lambda: Slug(session_snapshot.slug(turns, day)))
