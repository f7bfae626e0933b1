"""A model that Ollama serves, through its own client. The server may be down, cold, full, slow, without the model, or
talk nonsense: each of it ends in time, as a ModelFailed that says so."""

import math
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

from store.base import token_count
from store.base.errors import ModelFailed
from store.llm import circuit_breaker, server_errors
from store.llm import endpoint as addresses
from store.llm.chat import CONTEXT, SAID, Message
from store.llm.deadline_transport import Call, Cancelled, DeadlineExceeded, ResponseTooLarge

if TYPE_CHECKING:
    from ollama import ChatResponse

KEEP = "5m"  # that a model stays loaded after an answer
KEEP_SECONDS = 240.0  # for so long nobody looks whether it is
LOADING = 120.0  # seconds in which a cold model has to be loaded
RUNNING = 2.0  # seconds in which a server says what it has in memory
BACKOFF = (0.2, 0.6)  # seconds before it is asked again …
AGAIN = ("busy", "cut", "broken")  # … when it failed in a way that may pass
SAFE = 1.15  # tokens of a question for each that is counted: models count otherwise than we do
EACH = 12  # tokens around a message
LONGEST = 12  # characters of a token, at the very most
FIRST = 20  # likeliest first words of an answer that a server tells
LEAST = 1e-6  # likelihood of a word that is not among them
_DIGIT = re.compile(r"\d")


class OllamaChat:
    """One model of one server, for one thread. It is asked by `name`."""

    def __init__(self, address: str, call: Call, loading: Callable[[], None] | None, name: str = "") -> None:
        """All that is asked goes by this `call`. Raises ModelFailed: no client is installed, or that is no address."""
        self.name = name
        self._address = addresses.whole(address)
        self._call = call
        self._loading = loading
        self._warm_until = 0.0
        self._end: ChatResponse | None = None
        self._first: dict[str, float] = {}  # likelihoods of the words that the last answer might have begun with
        addresses.split(address)
        try:
            import httpx
            import ollama

            from store.llm.deadline_transport import transport
        except ImportError:
            raise ModelFailed("absent", "The client of Ollama is not installed.", "pip install ollama") from None
        try:
            # no redirects and no proxies: texts go to the address that was written down, and to no other
            self._client = ollama.Client(self._address, transport=transport(self._call), follow_redirects=False)
        except (ValueError, httpx.InvalidURL):
            raise addresses.none(address) from None

    def close(self) -> None:
        """Leave the server."""
        self._client._client.close()

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """The whole answer, in JSON of this schema if one is given. It is streamed on the way, so that it ends with
        whoever wants it. Raises ModelFailed."""
        found = "".join(self._asked(messages, schema, predict, seconds, whole=True))
        if not found.strip():
            raise ModelFailed("broken", f"{self.name} said nothing.", server_errors.LOOK)
        return found

    def stream(self, messages: Sequence[Message], *, predict: int, seconds: float) -> Iterator[str]:
        """The answer piece by piece. Raises ModelFailed at any piece."""
        return self._asked(messages, None, predict, seconds, whole=False)

    def leaning(self, messages: Sequence[Message], *, yes: Sequence[str], no: Sequence[str], seconds: float) -> float:
        """How much likelier a word of `yes` begins the answer than one of `no`, as the logarithm of the odds; 0 where
        it begins with neither. Ollama tells the likelihoods since 0.12.11; of one that does not, by the word that it
        says (SAID). Raises ModelFailed."""
        word = "".join(self._asked(messages, None, 1, seconds, whole=True, first=True))
        likely = self._first or {_folded(word): 1.0}
        odds = [sum(likely.get(_folded(one), 0.0) for one in words) for words in (yes, no)]
        if not self._first:
            return SAID * (odds[0] - odds[1])
        return math.log(max(odds[0], LEAST) / max(odds[1], LEAST))

    def _asked(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None,
        predict: int,
        seconds: float,
        *,
        whole: bool,
        first: bool = False,
    ) -> Iterator[str]:
        """The pieces of an answer, or the whole as one; asked for again where the server failed in a way that may pass,
        before the first of them. All of it within the seconds. With `first` its first word is all that is wanted."""
        server = circuit_breaker.of(self._address)
        if tripped := server.tripped():
            raise tripped
        if _tokens(messages) + predict > CONTEXT:
            raise server_errors.prompt_too_long(self.name)
        self._warm()
        self._call.begin(seconds)
        for pause in (*BACKOFF, 0.0):
            told = False
            try:
                with closing(self._pieces(messages, schema, predict, first)) as pieces:
                    for piece in ["".join(pieces)] if whole else pieces:
                        told = True
                        yield piece
                break
            except ModelFailed as failed:
                failure = failed
            if not told and failure.kind in AGAIN and pause:
                try:
                    self._call.wait(pause)
                    continue
                except Exception as error:
                    failure = self._told(error)
            server.failed(failure)
            raise failure
        server.worked()
        self._warm_until = time.monotonic() + KEEP_SECONDS
        self._look_at_end(predict, first)

    def _pieces(
        self, messages: Sequence[Message], schema: dict[str, Any] | None, predict: int, first: bool
    ) -> Generator[str, None, None]:
        """The pieces of one attempt; `_end` is then the last that the server said."""
        left = predict * LONGEST + 200
        self._end, self._first = None, {}
        try:
            parts = self._client.chat(
                self.name,
                [{"role": role, "content": text} for role, text in messages],
                stream=True,
                format=schema,
                logprobs=first or None,
                top_logprobs=FIRST if first else None,
                options={"temperature": 0, "seed": 1, "num_ctx": CONTEXT, "num_predict": predict},
                keep_alive=KEEP,
            )
            with closing(cast("Generator[ChatResponse, None, None]", parts)) as lines:
                for line in lines:
                    if first and not self._first:
                        self._first = _likely(line)
                    if piece := line.message.content:
                        left -= len(piece)
                        if left < 0:
                            break
                        yield piece
                    if line.done:
                        self._end = line
                        return
        except Exception as error:
            raise self._told(error) from None
        if left < 0:
            raise ModelFailed("broken", f"{self.name} does not come to an end.", server_errors.LOOK)
        raise ModelFailed("cut", "Ollama broke off its answer.", server_errors.LOOK)

    def _look_at_end(self, predict: int, first: bool) -> None:
        """Whether the whole question was read, and the whole answer said."""
        assert self._end is not None
        if (self._end.prompt_eval_count or 0) + predict > CONTEXT:
            raise server_errors.prompt_too_long(self.name)
        if self._end.done_reason == "length" and not first:
            raise ModelFailed("cut", f"{self.name} had more to say than there was room for.", server_errors.LESS)

    def _warm(self) -> None:
        """Load the model if it is cold; it has more seconds for that than for an answer."""
        if time.monotonic() < self._warm_until:
            return
        self._call.begin(RUNNING)
        try:
            running = self._client.ps().models
        except Exception as error:
            failure = self._told(error)
            if failure.kind in ("absent", "stopped"):
                circuit_breaker.of(self._address).failed(failure)
                raise failure from None
            return  # it cannot tell, and the question itself will
        names = (self.name, f"{self.name}:latest")
        if any((model.model or model.name) in names and model.context_length in (None, CONTEXT) for model in running):
            self._warm_until = time.monotonic() + KEEP_SECONDS
            return
        if self._loading is None:
            raise ModelFailed("cold", f"{self.name} is not loaded.", f"Load it: ollama run {self.name}")
        self._loading()
        self._call.begin(LOADING)
        try:
            self._client.chat(self.name, [], options={"num_ctx": CONTEXT}, keep_alive=KEEP)
        except Exception as error:
            failure = server_errors.unloaded(self._told(error), self.name)
            circuit_breaker.of(self._address).failed(failure)
            raise failure from None
        self._warm_until = time.monotonic() + KEEP_SECONDS

    def _told(self, error: Exception) -> ModelFailed:
        """What went wrong, in a sentence that holds nothing of what the server said. Raises what is none of that."""
        import httpcore
        import httpx
        import ollama

        match error:
            case ModelFailed():
                return error
            case Cancelled():
                return server_errors.stopped()
            case DeadlineExceeded():
                return server_errors.timed_out(self.name or "Ollama")
            case ollama.ResponseError():
                return self._refusal(error.status_code, error.error)
            case ConnectionError() | httpcore.ConnectError() | httpcore.ConnectTimeout():
                return server_errors.server_unreachable(self._address)
            case httpcore.NetworkError() | httpcore.RemoteProtocolError() | httpcore.TimeoutException():
                return server_errors.truncated(self._address)
            case (
                ValueError()
                | TypeError()
                | AttributeError()
                | RecursionError()
                | ResponseTooLarge()
                | httpcore.UnsupportedProtocol()
                | httpcore.LocalProtocolError()
                | httpx.HTTPError()
                | httpx.InvalidURL()
                | ollama.RequestError()
            ):
                return server_errors.unexpected_reply(self._address)
        raise error

    def _refusal(self, status: int, said: str) -> ModelFailed:
        return server_errors.status(self._address, status, said, self.name)


def _likely(line: "ChatResponse") -> dict[str, float]:
    """The likelihoods of the words that may stand where this piece of an answer does; empty where none are told."""
    likely: dict[str, float] = {}
    for one in (line.logprobs or [])[:1]:
        for other in one.top_logprobs or [one]:
            word = _folded(other.token)
            likely[word] = likely.get(word, 0.0) + math.exp(min(0.0, other.logprob))
    return likely


def _folded(word: str) -> str:
    return word.strip().strip(".,:;!*\"'").casefold()


def _tokens(messages: Sequence[Message]) -> int:
    """As many as the model makes of them, or more: of digits it makes one each."""
    return round(sum((token_count.count(text) + len(_DIGIT.findall(text))) * SAFE + EACH for _, text in messages))
