"""A model with scripted answers, and the tasks that call it. No network: `ollama_server` has that."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from store.base.errors import ModelFailed
from store.database.database import Database
from store.librarian.chat import ChatMessage
from store.librarian.structured_output import ModelSession

Said = str | dict[str, Any] | ModelFailed


class Scripted:
    """Returns one answer after the other, the last for ever; `asked` are the messages received, `schemas` the
    formats."""

    name = "qwen2.5:test"

    def __init__(self, *says: Said | Callable[[Sequence[ChatMessage]], Said]) -> None:
        self._says = list(says)
        self.asked: list[list[ChatMessage]] = []
        self.schemas: list[dict[str, Any] | None] = []

    def answer(
        self, messages: Sequence[ChatMessage], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        self.asked.append(list(messages))
        self.schemas.append(schema)
        says = self._says.pop(0) if len(self._says) > 1 else self._says[0]
        if callable(says):
            says = says(messages)
        if isinstance(says, ModelFailed):
            raise says
        return says if isinstance(says, str) else json.dumps(says, ensure_ascii=False)

    def stream(self, messages: Sequence[ChatMessage], *, predict: int, seconds: float) -> Iterator[str]:
        yield self.answer(messages, schema=None, predict=predict, seconds=seconds)

    def log_odds(
        self, messages: Sequence[ChatMessage], *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        raise NotImplementedError("no task asks that")

    @property
    def shown(self) -> str:
        """Return the subject of the last request."""
        return self.asked[-1][-1][1]


def asking(
    *says: Said | Callable[[Sequence[ChatMessage]], Said], database: Database | None = None
) -> tuple[ModelSession, Scripted]:
    """Return a task's session with a model of these answers."""
    chat = Scripted(*says)
    return ModelSession(chat, 5.0, database), chat


def failing(kind: str = "slow") -> ModelFailed:
    return ModelFailed(kind, "It does not answer.", "Look.")
