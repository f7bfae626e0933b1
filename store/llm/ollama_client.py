"""Ollama as the model server: how it is asked, and how a model is pulled.

Pull a model: the server downloads it, reports progress, and resumes a download that was interrupted.
"""

import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Any

from store.base.errors import ModelFailed
from store.llm.chat import CONTEXT_TOKENS, MAX_LIKELY_WORDS, ChatClient, ChatRequest, DeadlineCall, parse_figure
from store.llm.endpoint import breaker_of, failure_of_status, is_openai_server, shorten_address
from store.text.words import read_language_file

# A model served by Ollama, through its own client. Whatever is wrong with the server (down, loading, out of memory,
# slow, without the model, invalid replies) ends in time as a ModelFailed that says so.

KEEP_ALIVE = "5m"  # time that a model stays loaded after an answer
WARM_SECONDS = 240.0  # for so long after an answer it is taken as loaded without a check
LOADING_SECONDS = 120.0  # timeout in seconds of loading a model
NANOSECONDS = 1e9
LIST_SECONDS = 2.0  # timeout in seconds of listing the loaded models


class OllamaChat(ChatClient):
    """One model of an Ollama server."""

    def __init__(
        self, address: str, call: DeadlineCall, loading: Callable[[], None] | None, name: str = "", warm: bool = True
    ) -> None:
        """Create the client; all requests run through `call`, and with `warm` a cold model is loaded before it is
        asked. Raise ModelFailed: no client is installed, or the address is invalid."""
        super().__init__(address, call, name)
        self._loading = loading
        self._warm_until = 0.0 if warm else math.inf

    def _connect(self, options: dict[str, Any]) -> Any:
        import ollama

        return ollama.Client(self._address, **options)

    def _stream_pieces(self, request: ChatRequest) -> Generator[str, None, None]:
        parts = self._call.iterate_beside(
            lambda: self._client.chat(
                self.name,
                [{"role": role, "content": text} for role, text in request.messages],
                stream=True,
                format=request.schema,
                logprobs=request.first or None,
                top_logprobs=MAX_LIKELY_WORDS if request.first else None,
                options={"temperature": 0, "seed": 1, "num_ctx": CONTEXT_TOKENS, "num_predict": request.predict},
                keep_alive=KEEP_ALIVE,
            ),
            self._connection.abort,
        )
        with closing(parts) as lines:
            for line in lines:
                self._note_first_word(line.logprobs)
                if line.message.content:
                    yield line.message.content
                if line.done:
                    self._ended = line.done_reason or "stop"
                    self._warm_until = max(self._warm_until, time.monotonic() + WARM_SECONDS)
                    self.tokens = parse_figure(line.eval_count)
                    self.writing, self.loading = (
                        parse_figure(line.eval_duration) / NANOSECONDS,
                        parse_figure(line.load_duration) / NANOSECONDS,
                    )
                    if (line.prompt_eval_count or 0) + request.predict > CONTEXT_TOKENS:
                        raise self._make_failure("long", asked=self.name)
                    return

    def _warm_up(self) -> None:
        """Load the model if it is not loaded, with a longer timeout than an answer has."""
        if time.monotonic() < self._warm_until:
            return
        self._call.set_deadline(LIST_SECONDS)
        try:
            running = self._call.run_beside(self._client.ps, self._connection.abort).models
        except Exception as error:
            failure = self._failure_of_error(error)
            if failure.kind in ("absent", "stopped"):
                raise breaker_of(self._address).record_failure(failure) from None
            return  # unknown; asking the question will show it
        names = (self.name, f"{self.name}:latest")
        if any(
            (model.model or model.name) in names and model.context_length in (None, CONTEXT_TOKENS)
            for model in running
        ):
            self._warm_until = time.monotonic() + WARM_SECONDS
            return
        if self._loading is None:
            raise ModelFailed("cold", f"{self.name} is not loaded.", f"Load it: ollama run {self.name}")
        self._loading()
        self._call.set_deadline(LOADING_SECONDS)
        try:
            self._call.run_beside(
                lambda: self._client.chat(self.name, [], options={"num_ctx": CONTEXT_TOKENS}, keep_alive=KEEP_ALIVE),
                self._connection.abort,
            )
        except Exception as error:
            failure = self._failure_of_error(error)
            if failure.kind in ("slow", "cut", "broken"):  # the question is not at fault
                failure = self._make_failure("unloaded", why=failure.message)
            raise breaker_of(self._address).record_failure(failure) from None
        self._warm_until = time.monotonic() + WARM_SECONDS

    def _failure_of_error(self, error: Exception) -> ModelFailed:
        import ollama

        if isinstance(error, ollama.ResponseError):
            return self._refusal_failure(error.status_code, error.error)
        return super()._failure_of_error(error)

    def _refusal_failure(self, status: int, text: str) -> ModelFailed:
        """Return the failure for a status other than 200."""
        return failure_of_status(self._address, status, text, self.name)


MAX_SILENCE_SECONDS = 120.0  # seconds without a report before giving up: verifying a large layer takes long
RESUME_HINT = "Pull it again: it continues where it stopped."
MAX_SERVER_MESSAGE = 160  # characters of a server's message that are shown


@dataclass(frozen=True, slots=True)
class PullResult:
    """Progress of a pull: the server's status text, bytes `done` of `total`; both 0 until the size is known."""

    status: str
    done: int = 0
    total: int = 0


class ModelPuller(OllamaChat):
    """Pulls models on one thread; the caller closes it. A pull ends within a twentieth of a second once `cancelled`
    returns True; it is called as often. Raise ModelFailed: the server is not Ollama, no client is installed, or the
    address is invalid."""

    def __init__(self, address: str, cancelled: Callable[[], bool]) -> None:
        if is_openai_server(address):
            message = f"Only Ollama fetches models, and {shorten_address(address)} is another server."
            raise ModelFailed("refused", message, "Start that server with the model.")
        super().__init__(address, DeadlineCall(cancelled), None)

    def pull(self, name: str, silence: float = MAX_SILENCE_SECONDS) -> Iterator[PullResult]:
        """Pull a model; yield the progress until it is complete.

        Raise ModelFailed: `stopped` when cancelled, another kind for what prevents the pull, also `silence` seconds
        without a report. What was downloaded stays on the server.
        """
        self.name = name
        layers: dict[str, tuple[int, int]] = {}  # digest → (bytes done, bytes in total)
        try:
            self._call.set_deadline(silence)
            lines = self._call.iterate_beside(lambda: self._client.pull(name, stream=True), self._connection.abort)
            with closing(lines):
                for line in lines:
                    self._call.set_deadline(silence)
                    if line.status == "success":
                        there = sum(size for _, size in layers.values())
                        yield PullResult("success", there, there)
                        return
                    if line.digest and (total := parse_figure(line.total)):
                        layers[line.digest] = (min(parse_figure(line.completed), total), total)
                    yield PullResult(
                        _shorten_message(line.status or ""), *map(sum, zip(*layers.values(), strict=True))
                    )
        except Exception as error:
            raise self._resumable_failure(self._failure_of_error(error), silence) from None
        raise ModelFailed("cut", f"The server stopped before {name} was complete.", RESUME_HINT)

    def _resumable_failure(self, failed: ModelFailed, silence: float) -> ModelFailed:
        """Return a failure of a pull with the hint that it can be resumed, where it broke off."""
        where = shorten_address(self._address)
        told = {"slow": f"{where} reported nothing for {silence:g} s.", "cut": f"The connection to {where} broke."}
        if failed.kind not in told or failed.next == RESUME_HINT:
            return failed
        return ModelFailed(failed.kind, told[failed.kind], RESUME_HINT)

    def _refusal_failure(self, status: int, text: str) -> ModelFailed:
        """Return the error for a refused pull, in our own words where the cause is known."""
        for one in read_language_file(os.path.dirname(__file__), "pull_errors")["error"]:
            if any(part in text.lower() for part in one["says"]):
                return ModelFailed(one["kind"], one["message"].format(name=self.name), one["next"])
        if status in (502, 503, 504):
            return ModelFailed("busy", f"Ollama is too busy (status {status}).", RESUME_HINT)
        return ModelFailed("refused", f"Ollama could not fetch {self.name}: {_shorten_message(text)}.", RESUME_HINT)


def _shorten_message(text: str) -> str:
    """Return the beginning of a message, on one line, at most MAX_SERVER_MESSAGE characters."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= MAX_SERVER_MESSAGE else f"{line[: MAX_SERVER_MESSAGE - 1]}…"


class RateMeter:
    """The rate at which bytes arrive, averaged over the last seconds; `clock` returns seconds."""

    WINDOW, LEAST = 8.0, 1.0  # seconds averaged over, and seconds that must have passed

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: list[tuple[float, int]] = []
        self._total = 0

    def add_report(self, done: int, total: int) -> None:
        """Add a report: bytes `done` of `total`."""
        now = self._clock()
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()  # the server started again
        self._seen.append((now, done))
        self._total = total
        while len(self._seen) > 2 and self._seen[1][0] < now - self.WINDOW:
            self._seen.pop(0)

    @property
    def rate(self) -> float | None:
        """Bytes a second, decreasing while none arrive; None until it is known."""
        if len(self._seen) < 2:
            return None
        (start, before), done, now = self._seen[0], self._seen[-1][1], self._clock()
        return (done - before) / (now - start) if now - start >= self.LEAST and done > before else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the end at this rate; None while the rate is not known."""
        rate = self.rate
        return (self._total - self._seen[-1][1]) / rate if rate else None
