"""Trying a model: one small real question, and how quickly the answer came."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from time import monotonic

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.llm import circuit_breaker, endpoint, model_selection
from store.llm.clients.deadline_transport import Call
from store.llm.model_selection import USUAL
from store.llm.status import ModelStatus
from store.text.fence import plain

QUESTION = "In one short sentence: what is a memory good for?"
PREDICT = 48  # tokens
COLD = 0.3  # seconds of loading from which it is shown
LOADING = 120.0  # seconds that it may take, its loading included


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of it: the answer, `seconds` in all, of which `loading` the model took so many, and how many `tokens`
    were written, at `rate` a second (None where the server does not tell)."""

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
    """Try the model that is asked, or the one of this name. Raises ModelFailed: there is none, or whatever kept it from
    answering."""
    if not (name or found.model):
        trouble = found.trouble
        raise trouble or ModelFailed("missing", "There is no model to be tried.", f"memoranda model pull {USUAL}")
    where, started = endpoint.of(config), monotonic()
    circuit_breaker.of(where).reset()  # a person asks for it
    chat = model_selection.client(where, Call(cancelled), lambda: None, name or found.model, warm=False)
    with closing(chat):
        text = " ".join(plain(chat.sample(QUESTION, PREDICT, LOADING)).split())
    rate = chat.tokens / chat.writing if chat.tokens and chat.writing else None
    return ProbeResult(chat.name, text, monotonic() - started, chat.loading, chat.tokens, rate)
