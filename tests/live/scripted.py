"""An engine that says what it was told to, for tests of the wire itself: nothing of a model is in it but its shape."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from .engine import Counted, Message, Refused, TooLong, unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .engine import Piece

PIECES = ("Ro", "jo,", " azul", " y ¡verde!")
_FIRST = {"token": "Ro", "logprob": -0.1}
LIKELY = ({**_FIRST, "top_logprobs": [_FIRST, {"token": " ver", "logprob": -3.0}]},)  # of any piece
LONG = 1_000  # characters, from which a text is too long to be embedded


class Scripted:
    """Says PIECES, as many as `num_predict` allows; a prompt that holds `refuse` is refused. While `open` is not set
    it goes on reading the prompt."""

    def __init__(self, context: int) -> None:
        self.context = context
        self.open = threading.Event()
        self.open.set()
        self.asked: list[Any] = []
        self.left = False  # whether it was told that nobody wants more

    def chat(self, messages: Sequence[Message], request: dict[str, Any], piece: Piece) -> Counted:
        self.asked.append((list(messages), request))
        if any("refuse" in one["content"] for one in messages):
            raise Refused("that grammar cannot be parsed")
        while not self.open.wait(0.01):
            if piece(""):
                self.left = True
                return Counted("stop", 0, 0, 0, 0)
        most = (request.get("options") or {}).get("num_predict", len(PIECES))
        for place, text in enumerate(PIECES[:most]):
            if piece(text, LIKELY if request.get("logprobs") else ()):
                self.left = True
                return Counted("stop", 7, 1, place, 1)
        return Counted("length" if most < len(PIECES) else "stop", 7, 1_000, min(most, len(PIECES)), 2_000)

    def complete(self, prompt: str, request: dict[str, Any], piece: Piece) -> Counted:
        return self.chat([{"role": "raw", "content": prompt}], request, piece)

    def embed(self, texts: Sequence[str], truncate: bool) -> tuple[list[list[float]], int]:
        if not truncate and any(len(text) > LONG for text in texts):
            raise TooLong
        return [unit([float(len(text)), 3.0, 4.0, 1.0]) for text in texts], sum(len(text.split()) for text in texts)
