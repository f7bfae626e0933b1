"""A context as it is sent, and what is in it."""

from collections.abc import Iterator
from dataclasses import dataclass

from store.base import token_count as tokens
from store.context.budget import ANSWER, PROMPT, WARN, Part
from store.context.reasons import Considered


@dataclass(frozen=True, slots=True)
class Context:
    """One context. `text` is all of it as it is sent, of `tokens`; `parts` by name in their order, the question last;
    `considered` are the facts that were thought of, those that are in it first. `turn` is the number of the session's
    last turn. `notes` say what could not be looked at, `ranked_by` who ordered the facts."""

    question: str
    session: str
    turn: int
    text: str
    tokens: int
    parts: tuple[Part, ...]
    considered: tuple[Considered, ...]
    notes: tuple[str, ...]
    milliseconds: float
    ranked_by: str = "rules"

    @property
    def limit(self) -> int:
        return PROMPT

    @property
    def warning(self) -> str:
        """What a person is warned of; empty if prompt and answer are well within the model's means."""
        if self.tokens + ANSWER <= WARN:
            return ""
        return f"More than {WARN:,} tokens with the answer's {ANSWER:,}: a small model may lose the beginning."

    def records(self) -> Iterator[tuple[int, int]]:
        """(key, tokens) of each record that is in it."""
        for part in self.parts:
            for piece in part.pieces:
                if piece.key is not None:
                    yield piece.key, tokens.count(piece.line)
