"""A context as it is sent, and its content."""

from collections.abc import Iterator
from dataclasses import dataclass

from store.base import token_count as tokens
from store.context.budget import ANSWER, PROMPT, WARN, Part
from store.context.reasons import Considered


@dataclass(frozen=True, slots=True)
class Context:
    """One context. `text` is all of it as it is sent, of `tokens`; `parts` by name in order, the question last;
    `considered` are the facts that were considered, those in it first. `turn` is the number of the session's last turn.
    `notes` list what could not be read, `ranked_by` is who ordered the facts."""

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
    def costs(self) -> dict[str, int]:
        """The tokens of each part by name, which add up to `tokens`: the lines between the parts are of the last that
        is sent, the question, so that what is the same for all questions costs the same."""
        costs = {part.name: part.tokens for part in self.parts}
        last = next((name for name in reversed(costs) if costs[name]), "static")
        return {**costs, last: costs[last] + self.tokens - sum(costs.values())}

    @property
    def limit(self) -> int:
        return PROMPT

    @property
    def warning(self) -> str:
        """The warning to show; empty if prompt and answer are well within the model's limits."""
        if self.tokens + ANSWER <= WARN:
            return ""
        return f"More than {WARN:,} tokens with the answer's {ANSWER:,}: a small model may lose the beginning."

    def records(self) -> Iterator[tuple[int, int]]:
        """Yield (key, tokens) of each record that is in it."""
        for part in self.parts:
            for piece in part.pieces:
                if piece.key is not None:
                    yield piece.key, tokens.count(piece.line)
