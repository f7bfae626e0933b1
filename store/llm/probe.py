"""Trying a model: one small real question, and how quickly the answer came."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from time import monotonic

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.llm import circuit_breaker
from store.llm import endpoint as address
from store.llm.chat import CONTEXT
from store.llm.clients import server_errors
from store.llm.clients.chat_client import LONGEST
from store.llm.clients.deadline_transport import Call
from store.llm.clients.ollama_client import KEEP, LOADING, OllamaChat
from store.llm.model_selection import USUAL
from store.llm.server_info import figure
from store.llm.status import ModelStatus
from store.text.fence import plain

QUESTION = "In one short sentence: what is a memory good for?"
PREDICT = 48  # tokens
COLD = 0.3  # seconds of loading from which it is shown
NANO = 1e9


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


class ModelProbe(OllamaChat):
    """Asks a model of the server, on one thread; whoever makes it closes it."""

    def __init__(self, address: str, name: str, cancelled: Callable[[], bool]) -> None:
        super().__init__(address, Call(cancelled), None, name)

    def ask(self, seconds: float = LOADING) -> ProbeResult:
        """One small question, loading included, within so many seconds. Raises ModelFailed."""
        started, said, last = monotonic(), "", None
        room = PREDICT * LONGEST
        try:
            self._call.begin(seconds)
            parts = self._client.chat(
                self.name,
                [{"role": "user", "content": QUESTION}],
                stream=True,
                options={"temperature": 0, "num_ctx": CONTEXT, "num_predict": PREDICT},
                keep_alive=KEEP,
            )
            with closing(parts):  # type: ignore[type-var]
                for last in parts:
                    said += last.message.content or ""
                    if last.done or len(said) > room:
                        break
        except Exception as error:
            raise self._failure(error) from None
        if len(said) > room:
            raise ModelFailed("broken", f"{self.name} does not come to an end.", server_errors.LOOK)
        if last is None or not last.done:
            raise ModelFailed("cut", f"{self.name} broke off its answer.", "Try it again.")
        if not said.strip():
            raise ModelFailed("broken", f"{self.name} said nothing.", "Choose another model.")
        circuit_breaker.of(self._address).record_answer()
        spent = figure(last.eval_duration) / NANO
        tokens = figure(last.eval_count)
        rate = tokens / spent if tokens and spent else None
        loading = figure(last.load_duration) / NANO
        return ProbeResult(self.name, " ".join(plain(said).split()), monotonic() - started, loading, tokens, rate)


def probe(
    config: Config, found: ModelStatus, name: str = "", cancelled: Callable[[], bool] = lambda: False
) -> ProbeResult:
    """Try the model that is asked, or the one of this name. Raises ModelFailed: there is none, or whatever kept it from
    answering."""
    if not (name or found.model):
        trouble = found.trouble
        raise trouble or ModelFailed("missing", "There is no model to be tried.", f"memoranda model pull {USUAL}")
    if address.openai(address.of(config)):
        return _openai(address.of(config), name or found.model, cancelled)
    trier = ModelProbe(address.of(config), name or found.model, cancelled)
    try:
        return trier.ask()
    finally:
        trier.close()


def _openai(where: str, name: str, cancelled: Callable[[], bool]) -> ProbeResult:
    """Try the model of a server that returns no figures: each piece of the answer is taken for a token."""
    from store.llm.clients.openai_client import OpenAIChat

    chat, started = OpenAIChat(where, Call(cancelled), name), monotonic()
    try:
        pieces = list(chat.stream([("user", QUESTION)], predict=PREDICT, seconds=LOADING))
    except ModelFailed as failed:
        if failed.next != server_errors.LESS:
            raise
        pieces = [failed.message]
    finally:
        chat.close()
    spent = monotonic() - started
    said = " ".join(plain("".join(pieces)).split())
    return ProbeResult(name, said, spent, 0.0, len(pieces), len(pieces) / spent if spent > 0 else None)
