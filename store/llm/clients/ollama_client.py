"""A model served by Ollama, through its own client. Whatever is wrong with the server (down, loading, out of memory,
slow, without the model, invalid replies) ends in time as a ModelFailed that says so."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from store.base.errors import ModelFailed
from store.llm import circuit_breaker
from store.llm.chat import CONTEXT, figure
from store.llm.clients import server_errors
from store.llm.clients.chat_client import FIRST, ChatClient, Request
from store.llm.clients.deadline_transport import Call

KEEP = "5m"  # time that a model stays loaded after an answer
KEEP_SECONDS = 240.0  # for so long after an answer it is taken as loaded without a check
LOADING = 120.0  # timeout in seconds of loading a model
NANO = 1e9
RUNNING = 2.0  # timeout in seconds of listing the loaded models


class OllamaChat(ChatClient):
    """One model of an Ollama server."""

    def __init__(
        self, address: str, call: Call, loading: Callable[[], None] | None, name: str = "", warm: bool = True
    ) -> None:
        """Create the client; all requests run through `call`, and with `warm` a cold model is loaded before it is
        asked. Raise ModelFailed: no client is installed, or the address is invalid."""
        super().__init__(address, call, name)
        self._loading = loading
        self._warm_until = 0.0 if warm else math.inf

    def _connect(self, options: dict[str, Any]) -> Any:
        import ollama

        return ollama.Client(self._address, **options)

    def _pieces(self, request: Request) -> Generator[str, None, None]:
        parts = self._call.each(
            lambda: self._client.chat(
                self.name,
                [{"role": role, "content": text} for role, text in request.messages],
                stream=True,
                format=request.schema,
                logprobs=request.first or None,
                top_logprobs=FIRST if request.first else None,
                options={"temperature": 0, "seed": 1, "num_ctx": CONTEXT, "num_predict": request.predict},
                keep_alive=KEEP,
            ),
            self._connection.abort,
        )
        with closing(parts) as lines:
            for line in lines:
                self._begins(line.logprobs)
                if line.message.content:
                    yield line.message.content
                if line.done:
                    self._ended = line.done_reason or "stop"
                    self._warm_until = max(self._warm_until, time.monotonic() + KEEP_SECONDS)
                    self.tokens = figure(line.eval_count)
                    self.writing, self.loading = figure(line.eval_duration) / NANO, figure(line.load_duration) / NANO
                    if (line.prompt_eval_count or 0) + request.predict > CONTEXT:
                        raise self._failed("long", asked=self.name)
                    return

    def _warm(self) -> None:
        """Load the model if it is not loaded, with a longer timeout than an answer has."""
        if time.monotonic() < self._warm_until:
            return
        self._call.begin(RUNNING)
        try:
            running = self._call.beside(self._client.ps, self._connection.abort).models
        except Exception as error:
            failure = self._failure(error)
            if failure.kind in ("absent", "stopped"):
                raise circuit_breaker.of(self._address).record_failure(failure) from None
            return  # unknown; asking the question will show it
        names = (self.name, f"{self.name}:latest")
        if any((model.model or model.name) in names and model.context_length in (None, CONTEXT) for model in running):
            self._warm_until = time.monotonic() + KEEP_SECONDS
            return
        if self._loading is None:
            raise ModelFailed("cold", f"{self.name} is not loaded.", f"Load it: ollama run {self.name}")
        self._loading()
        self._call.begin(LOADING)
        try:
            self._call.beside(
                lambda: self._client.chat(self.name, [], options={"num_ctx": CONTEXT}, keep_alive=KEEP),
                self._connection.abort,
            )
        except Exception as error:
            failure = self._failure(error)
            if failure.kind in ("slow", "cut", "broken"):  # the question is not at fault
                failure = self._failed("unloaded", why=failure.message)
            raise circuit_breaker.of(self._address).record_failure(failure) from None
        self._warm_until = time.monotonic() + KEEP_SECONDS

    def _failure(self, error: Exception) -> ModelFailed:
        import ollama

        if isinstance(error, ollama.ResponseError):
            return self._refusal(error.status_code, error.error)
        return super()._failure(error)

    def _refusal(self, status: int, text: str) -> ModelFailed:
        return server_errors.status(self._address, status, text, self.name)
