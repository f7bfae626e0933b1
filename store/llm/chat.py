"""The interface of a chat model, independent of the server."""

from __future__ import annotations

import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from math import inf
from queue import Empty, SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from store.base.errors import ModelFailed
from store.llm.endpoint import (
    breaker_of,
    complete_address,
    failure_of_error,
    failure_of_status,
    make_key_headers,
    make_server_failure,
    split_address,
)
from store.text.words import count_tokens

if TYPE_CHECKING:
    import httpx


ChatMessage = tuple[str, str]
"""(role, text); a role is "system", "user" or "assistant"."""

CONTEXT_TOKENS = 4_096
"""Tokens of a prompt and its answer together. Constant, as Ollama reloads the model for another value."""
MAX_FIGURE = 2**63  # upper bound of a server's numbers: a much larger integer cannot be converted to a float
WORD_ONLY_ODDS = 2.0
"""Log odds of a word where the server returns no likelihoods."""


class JudgeModel(Protocol):
    """A model that answers yes or no. Raise ModelFailed."""

    def log_odds(
        self, messages: Sequence[ChatMessage], *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        """Return the log odds that the answer begins with a word of `yes` against one of `no`; where the server returns
        no likelihoods, WORD_ONLY_ODDS or its negative by the first word of the answer."""
        ...


class ChatModel(JudgeModel, Protocol):
    """A model, for one thread. All methods raise ModelFailed."""

    name: str

    def answer(
        self, messages: Sequence[ChatMessage], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """Return the whole answer, at most `predict` tokens, in JSON of this `schema` if one is given."""
        ...


def parse_figure(value: object) -> int:
    """Return a positive integer of a server's reply, at most MAX_FIGURE; 0 where there is none."""
    return min(value, MAX_FIGURE) if isinstance(value, int) and value > 0 else 0


# Calls to a model server that end at a deadline, and as soon as they are cancelled.
#
# A client's own timeout applies to each read, so a server that sends a byte now and then would never time out. Here the
# client runs on a thread of its own; the caller watches the clock and aborts the connection.

SERVER_CONNECT_SECONDS = 2.0  # seconds for connecting
CHECK_SECONDS = 0.05  # seconds between two checks of the deadline and of `cancelled`
MAX_RESPONSE_BYTES = 8 << 20  # bytes of one answer

Item = TypeVar("Item")
_END_OF_ITEMS = object()


class DeadlineExceeded(Exception):
    """The call did not end within its seconds."""


class Cancelled(Exception):
    """The call was cancelled."""


class ResponseTooLarge(Exception):
    """The answer is longer than MAX_RESPONSE_BYTES."""


class DeadlineCall:
    """Runs calls one after another, each with a deadline, and all of them within `altogether` seconds from now."""

    def __init__(self, cancelled: Callable[[], bool], altogether: float = inf) -> None:
        self._cancelled = cancelled
        self._last = time.monotonic() + altogether
        self._ends = 0.0

    def set_deadline(self, seconds: float) -> None:
        """Set the deadline of the next call, in seconds from now."""
        self._ends = min(time.monotonic() + seconds, self._last)

    @property
    def seconds(self) -> float:
        """Seconds left. Raise DeadlineExceeded or Cancelled."""
        if self._cancelled():
            raise Cancelled
        left = self._ends - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        return left

    def wait(self, seconds: float) -> None:
        """Sleep for so long. Raise DeadlineExceeded or Cancelled when the call ends earlier."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, CHECK_SECONDS, self.seconds))

    def run_beside(self, work: Callable[[], Item], abort: Callable[[], None] = lambda: None) -> Item:
        """Run `work` on a thread and return its result; call `abort` where the call ends before it. Raise
        DeadlineExceeded, Cancelled, and what `work` raises."""
        return next(self.iterate_beside(lambda: [work()], abort))

    def iterate_beside(
        self, work: Callable[[], Iterable[Item]], abort: Callable[[], None]
    ) -> Generator[Item, None, None]:
        """Run `work` on a thread and yield its items; call `abort` at the end. Raise as `run_beside` does."""
        came: SimpleQueue[Any] = SimpleQueue()

        def run() -> None:
            try:
                for item in work():
                    came.put((item, None))
                came.put((_END_OF_ITEMS, None))
            except BaseException as error:
                came.put((_END_OF_ITEMS, error))

        Thread(target=run, name="model call", daemon=True).start()
        try:
            while True:
                try:
                    item, error = came.get(timeout=min(CHECK_SECONDS, self.seconds))
                except Empty:
                    continue
                if error is not None:
                    raise error
                if item is _END_OF_ITEMS:
                    return
                yield item
        finally:
            abort()


class AbortableConnection:
    """The connection of an httpx client that another thread can abort. `options` are arguments for the client: no
    redirects and no proxies, so that texts are sent only to the configured address."""

    def __init__(self) -> None:
        import httpx

        self._sockets = list[socket]()  # of the current request
        self.options: dict[str, Any] = {
            "follow_redirects": False,
            "trust_env": False,
            "timeout": httpx.Timeout(None, connect=SERVER_CONNECT_SECONDS),
            "limits": httpx.Limits(max_keepalive_connections=0),
            "event_hooks": {"request": [self._trace], "response": [_limit_response]},
        }

    def abort(self) -> None:
        """Shut the connection down: the server stops, and the reading thread ends at once, or as soon as it is
        connected."""
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            shut_down_socket(one)

    def _trace(self, request: httpx.Request) -> None:
        own = self._sockets = []

        def note(event: str, info: dict[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                own.append(info["return_value"].get_extra_info("socket"))
                if own is not self._sockets:  # it was aborted meanwhile
                    shut_down_socket(own[-1])

        request.extensions["trace"] = note


def shut_down_socket(connection: socket) -> None:
    """Shut a socket down while another thread reads from it."""
    with suppress(OSError):  # already closed
        socket.shutdown(connection, SHUT_RDWR)


def _limit_response(response: httpx.Response) -> None:
    """Limit a response to MAX_RESPONSE_BYTES; reading more raises ResponseTooLarge."""
    import httpx

    whole: Any = response.stream

    class Bounded(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            left = MAX_RESPONSE_BYTES
            for part in whole:
                left -= len(part)
                if left < 0:
                    raise ResponseTooLarge
                yield part

        def close(self) -> None:
            whole.close()

    response.stream = Bounded()


# Common part of the clients of model servers: circuit breaker, retries, deadlines. `ollama_client` and `openai_client`
# add the protocol.

RETRY_PAUSES = (0.2, 0.6)  # seconds before each retry
RETRIED_KINDS = ("busy", "cut", "broken")  # kinds of failure that are retried, as they may be temporary
TOKEN_MARGIN = 1.15  # factor of our count of a question's tokens: models count more than we do
TOKENS_PER_MESSAGE = 12  # tokens around a message
CHARACTERS_PER_TOKEN = 12  # most characters of a token
MAX_LIKELY_WORDS = 20  # most likely first words of an answer that a server is asked for
MIN_LIKELIHOOD = 1e-6  # likelihood assumed for a word that is not among them
_DIGIT_PATTERN = re.compile(r"\d")


class ChatRequest(NamedTuple):
    """A question, for an answer of at most `predict` tokens, in JSON of the `schema` if one is given. `first`: the
    likelihoods of its first word are wanted; `early`: it may be incomplete."""

    messages: Sequence[ChatMessage]
    predict: int
    schema: dict[str, Any] | None = None
    first: bool = False
    early: bool = False


class ChatClient(ABC):
    """One model, `name`, of one server, for one thread. All requests run through `call`."""

    def __init__(self, address: str, call: DeadlineCall, name: str = "") -> None:
        """Set the model and server. Raise ModelFailed if the address is invalid."""
        self.name = name
        self._address = complete_address(address)
        self._call = call
        self._first: dict[str, float] = {}  # word → likelihood as the first of the last answer
        self._ended = ""  # why the server ended the last answer
        # of the last answer: number of tokens, seconds of writing, seconds of loading the model
        self.tokens, self.writing, self.loading = 0, 0.0, 0.0
        split_address(address)
        try:
            self._connection = AbortableConnection()
            self._client = self._connect(self._connection.options)
        except ImportError:
            raise ModelFailed("absent", "The client of Ollama is not installed.", "pip install ollama") from None
        except Exception as error:
            raise self._failure_of_error(error) from None

    def answer(
        self, messages: Sequence[ChatMessage], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """Return the whole answer, in JSON of this schema if one is given. Raise ModelFailed."""
        return self.send_request(ChatRequest(messages, predict, schema), seconds)

    def log_odds(
        self, messages: Sequence[ChatMessage], *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        """Return the log odds that the answer begins with a word of `yes` against one of `no`; 0 where it begins with
        neither. For a server that returns no likelihoods, use the word that it answers (WORD_ONLY_ODDS). Raise
        ModelFailed."""
        word = self.send_request(ChatRequest(messages, 1, first=True, early=True), seconds)
        likely = self._first or {normalize_word(word): 1.0}
        odds = [sum(likely.get(normalize_word(one), 0.0) for one in words) for words in (yes, no)]
        if not self._first:
            return WORD_ONLY_ODDS * (odds[0] - odds[1])
        return math.log(max(odds[0], MIN_LIKELIHOOD) / max(odds[1], MIN_LIKELIHOOD))

    def send_request(self, request: ChatRequest, seconds: float) -> str:
        """Return the answer within the seconds; retry failures in RETRIED_KINDS. Raise ModelFailed."""
        server = breaker_of(self._address)
        if tripped := server.why_open():
            raise tripped
        if _estimate_tokens(request.messages) + request.predict > CONTEXT_TOKENS:
            raise self._make_failure("long", asked=self.name)
        self._warm_up()
        self._call.set_deadline(seconds)
        for pause in (0.0, *RETRY_PAUSES):
            began, failure = time.monotonic(), None
            try:
                self._call.wait(pause)
                answer = self._attempt(request)
            except Exception as error:
                failure = self._failure_of_error(error)
            if failure is None or failure.kind not in RETRIED_KINDS:
                break
        if failure is not None:
            raise server.record_failure(failure)
        server.record_answer()
        self.writing = self.writing or time.monotonic() - began
        if not (answer.strip() or request.first):
            raise self._make_failure("silent")
        if self._ended == "length" and not request.early:
            raise self._make_failure("unfinished")
        return answer

    def _attempt(self, request: ChatRequest) -> str:
        """Return the answer of one attempt. Raise ModelFailed, or what the client raises."""
        self._first, self._ended, self.tokens, self.writing, answer = {}, "", 0, 0.0, ""
        with closing(self._stream_pieces(request)) as pieces:
            for piece in pieces:
                answer += piece
                self.tokens += 1
                if len(answer) > request.predict * CHARACTERS_PER_TOKEN + 200:
                    raise self._make_failure("endless")
        if not self._ended:
            raise self._make_failure("early")
        return answer

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    @abstractmethod
    def _connect(self, options: dict[str, Any]) -> Any:
        """Return the client of the protocol, with these options of an httpx client."""

    def _warm_up(self) -> None:  # noqa: B027
        """Prepare the server for a question; one that loads its model when it starts needs none. Raise ModelFailed."""

    @abstractmethod
    def _stream_pieces(self, request: ChatRequest) -> Generator[str, None, None]:
        """Yield the pieces of one attempt; set `_ended` to the reason why the server ended it."""

    def _note_first_word(self, tokens: Sequence[Any] | None) -> None:
        """Note the likelihoods of an answer's first word from the tokens that a server returns, if it returns any."""
        if not tokens or self._first:
            return
        for one in tokens[0].get("top_logprobs") or tokens[:1]:
            word, logprob = normalize_word(str(one.get("token", ""))), one.get("logprob")
            if isinstance(logprob, int | float):
                self._first[word] = self._first.get(word, 0.0) + math.exp(min(0.0, logprob))

    def _make_failure(self, name: str, /, **parts: object) -> ModelFailed:
        """Return the failure of that name, about this server and model."""
        return make_server_failure(name, self._address, name=self.name, **parts)

    def _failure_of_error(self, error: Exception) -> ModelFailed:
        """Return the failure for an error, in a sentence without the server's words. Raise an unknown error."""
        return failure_of_error(error, self._address, self.name)


def normalize_word(word: str) -> str:
    """Return a word in the form that is compared."""
    return word.strip().strip(".,:;!*\"'").casefold()


def _estimate_tokens(messages: Sequence[ChatMessage]) -> int:
    """Return an upper estimate of the messages' tokens; a model makes one token of each digit."""
    return round(
        sum(
            (count_tokens(text) + len(_DIGIT_PATTERN.findall(text))) * TOKEN_MARGIN + TOKENS_PER_MESSAGE
            for _, text in messages
        )
    )


# A model of any server with OpenAI's chat API: llama.cpp, LM Studio, vLLM. Its address ends in `/v1`.


class OpenAIChat(ChatClient):
    """One model of such a server."""

    def _connect(self, options: dict[str, Any]) -> Any:
        import httpx

        return httpx.Client(headers=make_key_headers(self._address), **options)

    def _stream_pieces(self, request: ChatRequest) -> Generator[str, None, None]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "stream": True,
            "temperature": 0,
            "seed": 1,
            "max_tokens": request.predict,
        }
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if request.first:
            body |= {"logprobs": True, "top_logprobs": MAX_LIKELY_WORDS}
        events = self._call.iterate_beside(lambda: self._stream_events(body), self._connection.abort)
        with closing(events):
            for event in events:
                if "error" in event:
                    raise failure_of_status(self._address, 500, "", self.name)
                for choice in event.get("choices") or ():
                    self._note_first_word((choice.get("logprobs") or {}).get("content"))
                    self._ended = choice.get("finish_reason") or self._ended
                    if piece := (choice.get("delta") or {}).get("content"):
                        yield piece

    def _stream_events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the objects of a stream of server-sent events."""
        with self._client.stream("POST", f"{self._address}/chat/completions", json=body) as answer:
            if answer.status_code != 200:
                text = answer.read()[:2_000].decode("utf-8", "replace")
                raise failure_of_status(self._address, answer.status_code, text, self.name)
            for line in answer.iter_lines():
                data = line.strip().removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                if data and line.startswith("data:"):
                    yield dict(json.loads(data))
