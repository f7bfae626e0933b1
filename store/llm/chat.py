"""What a model is asked with, whoever serves it."""

from collections.abc import Sequence
from typing import Any, Protocol

Message = tuple[str, str]
"""Who speaks ("system", "user" or "assistant"), and the words."""

CONTEXT = 4_096
"""Tokens of a question and its answer together. Always the same: for another number Ollama loads the model anew."""
HUGE = 2**63  # that no number of a server's exceeds: a larger one is no fraction any more
WORD_ONLY = 2.0
"""Logarithm of the odds of a word, where the server returns the word alone."""


class Chat(Protocol):
    """A model that may be asked, by one thread. All raise ModelFailed."""

    name: str

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """The whole answer, `predict` tokens at most, in JSON of this `schema` if one is given."""
        ...

    def leaning(self, messages: Sequence[Message], *, yes: Sequence[str], no: Sequence[str], seconds: float) -> float:
        """How much likelier the model is to begin its answer with a word of `yes` than with one of `no`: the logarithm
        of the odds. Where the server returns no likelihoods, WORD_ONLY or less WORD_ONLY by its first word."""
        ...


def figure(value: object) -> int:
    """Return a number of a server's reply, 0 where there is none."""
    return min(value, HUGE) if isinstance(value, int) and value > 0 else 0
