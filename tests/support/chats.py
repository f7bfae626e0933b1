"""A stand-in for a model: returns scripted answers piece by piece, and records its requests.

It fakes the texts alone; the real client and its network failures have tests of their own."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from store.base.errors import ModelFailed
from store.librarian.chat import ChatMessage

PIECE = 7  # characters


class Scripted:
    """Returns `answers` one for each request, then the last one again; `fails` is raised after it. `between` is called
    before each piece. `leans` scores how likely a record answers the question."""

    name = "scripted:1b"

    def __init__(
        self,
        *answers: str,
        fails: ModelFailed | None = None,
        between: Callable[[], object] = lambda: None,
        leans: Callable[[str], float] = lambda asked: 1.0,
    ) -> None:
        self._answers = list(answers)
        self._fails = fails
        self._between = between
        self._leans = leans
        self.judged: list[str] = []
        self.asked: list[Sequence[ChatMessage]] = []
        self.closed = self.broken_off = False

    def answer(
        self, messages: Sequence[ChatMessage], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        return "".join(self.stream(messages, predict=predict, seconds=seconds))

    def stream(self, messages: Sequence[ChatMessage], *, predict: int, seconds: float) -> Iterator[str]:
        self.asked.append(messages)
        text = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        try:
            for start in range(0, len(text), PIECE):
                self._between()
                yield text[start : start + PIECE]
        except GeneratorExit:
            self.broken_off = True
            raise
        if self._fails is not None:
            raise self._fails

    def log_odds(
        self, messages: Sequence[ChatMessage], *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        self.judged.append(messages[-1][1])
        return self._leans(messages[-1][1])

    def close(self) -> None:
        self.closed = True
