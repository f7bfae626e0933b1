"""The agent's model: a stand-in until the client is merged."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from store.config import Config

Message = tuple[str, str]


class Chat(Protocol):
    name: str

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str: ...

    def stream(self, messages: Sequence[Message], *, predict: int, seconds: float) -> Iterator[str]: ...

    def close(self) -> None: ...


def found(
    config: "Config",
    *,
    cancelled: Callable[[], bool] = lambda: False,
    loading: Callable[[], None] = lambda: None,
) -> "Chat | None":
    return None
