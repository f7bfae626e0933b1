"""The interface of a chat model, independent of the server."""

from collections.abc import Sequence
from typing import Any, Protocol

Message = tuple[str, str]
"""(role, text); a role is "system", "user" or "assistant"."""

CONTEXT = 4_096
"""Tokens of a prompt and its answer together. Constant, as Ollama reloads the model for another value."""
HUGE = 2**63  # upper bound of a server's numbers: a much larger integer cannot be converted to a float
WORD_ONLY = 2.0
"""Log odds of a word where the server returns no likelihoods."""


class Judge(Protocol):
    """A model that answers yes or no. Raise ModelFailed."""

    def log_odds(self, messages: Sequence[Message], *, yes: Sequence[str], no: Sequence[str], seconds: float) -> float:
        """Return the log odds that the answer begins with a word of `yes` against one of `no`; where the server returns
        no likelihoods, WORD_ONLY or -WORD_ONLY by the first word of the answer."""
        ...


class Chat(Judge, Protocol):
    """A model, for one thread. All methods raise ModelFailed."""

    name: str

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """Return the whole answer, at most `predict` tokens, in JSON of this `schema` if one is given."""
        ...


def figure(value: object) -> int:
    """Return a positive integer of a server's reply, at most HUGE; 0 where there is none."""
    return min(value, HUGE) if isinstance(value, int) and value > 0 else 0
