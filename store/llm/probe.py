"""Probe of a model: ask one short question and measure the answer."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from time import monotonic

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.llm import circuit_breaker, endpoint, model_selection
from store.llm.clients.chat_client import Request
from store.llm.clients.deadline_transport import Call
from store.llm.model_selection import USUAL
from store.llm.status import ModelStatus
from store.text.fence import plain

QUESTION = "In one short sentence: what is a memory good for?"
PREDICT = 48  # tokens
COLD = 0.3  # seconds of loading from which the model counts as cold
LOADING = 120.0  # timeout in seconds, loading included


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result: the answer, `seconds` in all, of which `loading` the model took so many, and the number of `tokens`
    written, at `rate` a second (None where the server does not report it)."""

    model: str
    answer: str
    seconds: float
    loading: float
    tokens: int
    rate: float | None

    @property
    def cold(self) -> bool:
        """Whether the model had to be loaded first."""
        return self.loading >= COLD


def probe(
    config: Config, found: ModelStatus, name: str = "", cancelled: Callable[[], bool] = lambda: False
) -> ProbeResult:
    """Probe the selected model, or the one named `name`. Raise ModelFailed: there is none, or it did not answer."""
    if not (name or found.model):
        trouble = found.look.trouble
        raise trouble or ModelFailed("missing", "There is no model to test.", f"memoranda model pull {USUAL}")
    where, started = endpoint.of(config), monotonic()
    circuit_breaker.of(where).reset()  # a person asked for the probe
    chat = model_selection.client(where, Call(cancelled), lambda: None, name or found.model, warm=False)
    with closing(chat):
        said = chat.ask(Request([("user", QUESTION)], PREDICT, early=True), LOADING)
    text = " ".join(plain(said).split())
    rate = chat.tokens / chat.writing if chat.tokens and chat.writing else None
    return ProbeResult(chat.name, text, monotonic() - started, chat.loading, chat.tokens, rate)
