"""The model server: its address, a circuit breaker, its errors in our own words; and a chat model, of Ollama or of any
server with the API of OpenAI.
"""

from __future__ import annotations

import json
import math
import os
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
from urllib.parse import SplitResult, urlsplit

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.text.display import format_bytes, format_seconds
from store.text.words import count_tokens, read_language_file

if TYPE_CHECKING:
    import httpx

# Circuit breaker: after failures a server is not asked for a while, longer each time, so that nobody waits
# repeatedly.

# consecutive failures that open the breaker
FAILURES_TO_OPEN = 3
# kinds of which one failure opens it; it closes when the server is seen again
GONE_KINDS = ("absent", "missing")
# seconds it stays open: the first time, and at most
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 30.0, 300.0
# failures of the server
COUNTED_KINDS = (*GONE_KINDS, "busy", "slow", "cut", "broken", "refused", "unloaded")

_breakers: dict[str, CircuitBreaker] = {}


class CircuitBreaker:
    """The breaker of one server. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Close it: the server may be asked at once."""
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: ModelFailed | None = None

    def record_failure(self, failure: ModelFailed) -> ModelFailed:
        """Count a failure and return it; open the breaker after FAILURES_TO_OPEN of them, or one of GONE_KINDS."""
        if failure.kind not in COUNTED_KINDS:
            return failure
        self._failures = FAILURES_TO_OPEN if failure.kind in GONE_KINDS else self._failures + 1
        if self._failures >= FAILURES_TO_OPEN:
            self._pause = min(LONGEST_PAUSE_SECONDS, self._pause * 2 or FIRST_PAUSE_SECONDS)
            self._until = self._clock() + self._pause
            self._last = failure
        return failure

    def record_answer(self) -> None:
        """Forget the failures after an answer."""
        self.reset()

    def note_reachable(self) -> None:
        """Close it if it is open for a failure of GONE_KINDS: the server was seen, with a model. Other failures stay
        counted, as a list of models does not show that the server answers."""
        if self._last is not None and self._last.kind in GONE_KINDS:
            self.reset()

    def why_open(self, *, ends: bool = False) -> ModelFailed | None:
        """Return why the server may not be asked now, with the seconds left; None when it may be. `ends`: the process
        does, and asks nothing again."""
        left = self._until - self._clock()
        if self._last is None or left <= 0:
            return None
        again = "" if ends else f"It is asked again in {max(1, round(left))} s."
        return ModelFailed(self._last.kind, self._last.message, f"{again} {self._last.next}".strip())


def breaker_of(address: str) -> CircuitBreaker:
    """Return the breaker of a server in this process."""
    return _breakers.setdefault(address, CircuitBreaker())


def reset_breakers() -> None:
    """Close all breakers."""
    _breakers.clear()


SCHEME_PORTS = {"http": 80, "https": 443}
# default where no scheme is given
DEFAULT_PORT = 11434
# default host
DEFAULT_HOST = "127.0.0.1"
LOCAL_HOSTS = (DEFAULT_HOST, "localhost", "::1", "0.0.0.0")
# characters of a displayed address
MAX_SHOWN_ADDRESS = 80


def get_server_address(config: Config) -> str:
    """Return the configured address, with scheme, host and port."""
    return complete_address(get_written_address(config))


def get_written_address(config: Config) -> str:
    """Return the configured address as it was written; empty for the default."""
    return str(config["agent.host"]) or os.environ.get("OLLAMA_HOST", "")


def complete_address(written: str) -> str:
    """Return an address as written by a person or in `OLLAMA_HOST`, completed with scheme and port like Ollama's client
    does.

    A name and password before an `@` are removed: the client does not send them, and they must not be shown. A password
    that contains `/`, `?` or `#` makes the result an invalid address.
    """
    scheme, there, rest = written.strip().partition("://")
    if not there:
        scheme, rest = "http", written.strip()
    scheme = scheme.lower()
    before, _, rest = rest.rpartition("@")
    if any(sign in before for sign in "/?#"):
        return f"{scheme}:///@{rest}"
    host, slash, path = rest.partition("/")
    port = str(SCHEME_PORTS.get(scheme, DEFAULT_PORT) if there else DEFAULT_PORT)
    if host.count(":") > 1 and "]" not in host:
        host = f"[{host}]"
    start, colon, last = host.rpartition(":")
    if colon and last.isdigit():
        host, port = start, last
    return f"{scheme}://{host or DEFAULT_HOST}:{port}{slash}{path}".rstrip("/")


def is_openai_server(address: str) -> bool:
    """Return whether the server at an address has OpenAI's API: its path ends in `/v1`."""
    return complete_address(address).endswith("/v1")


def make_key_headers(address: str) -> dict[str, str]:
    """Return the header with the key that the server gets, if one is set: that of Ollama's client, or for another
    server MEMORANDA_API_KEY or OPENAI_API_KEY. It is sent to no other address."""
    names = ("MEMORANDA_API_KEY", "OPENAI_API_KEY") if is_openai_server(address) else ("OLLAMA_API_KEY",)
    key = next(filter(None, map(os.environ.get, names)), "")
    return {"Authorization": f"Bearer {key}"} if key else {}


def name_server(address: str, begins: bool = True) -> str:
    """Return what to call the server in a message, at the beginning of a sentence or within one."""
    return "Ollama" if not is_openai_server(address) else "The server" if begins else "the server"


def split_address(address: str) -> SplitResult:
    """Return the parts of a valid address. Raise ModelFailed."""
    try:
        parts = urlsplit(complete_address(address))
        host = parts.hostname or ""
        if parts.scheme in SCHEME_PORTS and parts.port and host and host.isprintable() and " " not in host:
            return parts
    except ValueError:
        pass
    raise ModelFailed(
        "absent",
        f"{shorten_address(address)} is not the address of a server.",
        "memoranda config agent.host http://127.0.0.1:11434",
    ) from None


def shorten_address(address: str) -> str:
    """Return an address for display: without `http://`, at most MAX_SHOWN_ADDRESS characters."""
    scheme, _, rest = complete_address(address).partition("://")
    return (rest if scheme == "http" else f"{scheme}://{rest}")[:MAX_SHOWN_ADDRESS]


def get_host_name(address: str) -> str:
    """Return the host name of an address; empty for an invalid one."""
    try:
        return split_address(address).hostname or ""
    except ModelFailed:
        return ""


# Errors of a model server in our own words, from `server_errors.toml`: each a ModelFailed with the cause and the next
# step, without the server's text.

ERRORS_FOLDER = os.path.join(os.path.dirname(__file__), "errors")
BUSY_STATUSES = (408, 429, 502, 503, 504)
TOO_LONG_STATUSES = (413, 414, 422, 431)


def make_server_failure(name: str, address: str, /, **parts: object) -> ModelFailed:
    """Return the failure of that name of the server at an address; `parts` fill in its message."""
    told, other = read_language_file(ERRORS_FOLDER, "server_errors")["failures"][name], is_openai_server(address)
    parts |= {"where": shorten_address(address), "who": name_server(address)}
    parts["a_server"] = "a server of OpenAI's protocol" if other else "an Ollama server"
    next_step = told.get("other" if other else "ollama", "")
    return ModelFailed(told["kind"], told["message"].format(**parts), next_step.format(**parts))


def failure_of_status(address: str, number: int, text: str = "", name: str = "") -> ModelFailed:
    """Return the error for a status other than 200; `name` is the model that was asked, if any."""
    if "memory" in text and number not in (404, 503):
        return make_server_failure("memory", address, name=name)
    if number == 404:
        return make_server_failure("missing" if name else "unexpected", address, name=name)
    if number in TOO_LONG_STATUSES:
        return make_server_failure("long", address, asked=name or _describe_server(address))
    kind = "busy" if number in BUSY_STATUSES else "refused" if 300 <= number < 500 else "internal"
    return make_server_failure(kind, address, status=number)


def failure_of_error(error: Exception, address: str, who: str = "") -> ModelFailed:
    """Return the failure for an error of a client, found by its name, as the clients are imported late; `who` was
    asked. Raise an unknown error."""
    if isinstance(error, ModelFailed):
        return error
    listed = read_language_file(ERRORS_FOLDER, "server_errors")["exceptions"].items()
    for one in type(error).__mro__:
        for name, exceptions in listed:
            if one.__name__ in exceptions.split():
                return make_server_failure(name, address, asked=who or _describe_server(address))
    raise error


def _describe_server(address: str) -> str:
    """Return what to call a server with its address, in a message."""
    return f"{name_server(address)} at {shorten_address(address)}"


ChatMessage = tuple[str, str]
"""(role, text); a role is "system", "user" or "assistant"."""

CONTEXT_TOKENS = 4_096
"""Tokens of a prompt and its answer together. Constant, as Ollama reloads the model for another value."""
# upper bound of a server's numbers: a much larger integer cannot be converted to a float
MAX_FIGURE = 2**63
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

# seconds for connecting
SERVER_CONNECT_SECONDS = 2.0
# seconds between two checks of the deadline and of `cancelled`
CHECK_SECONDS = 0.05
# bytes of one answer
MAX_RESPONSE_BYTES = 8 << 20

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

        # of the current request
        self._sockets = list[socket]()
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
                # it was aborted meanwhile
                if own is not self._sockets:
                    shut_down_socket(own[-1])

        request.extensions["trace"] = note


def shut_down_socket(connection: socket) -> None:
    """Shut a socket down while another thread reads from it."""
    # already closed
    with suppress(OSError):
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

# seconds before each retry
RETRY_PAUSES = (0.2, 0.6)
# kinds of failure that are retried, as they may be temporary
RETRIED_KINDS = ("busy", "cut", "broken")
# factor of our count of a question's tokens: models count more than we do
TOKEN_MARGIN = 1.15
# tokens around a message
TOKENS_PER_MESSAGE = 12
# most characters of a token
CHARACTERS_PER_TOKEN = 12
# most likely first words of an answer that a server is asked for
MAX_LIKELY_WORDS = 20
# likelihood assumed for a word that is not among them
MIN_LIKELIHOOD = 1e-6
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
        # word → likelihood as the first of the last answer
        self._first: dict[str, float] = {}
        # why the server ended the last answer
        self._ended = ""
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


# A model served by Ollama, through its own client. Whatever is wrong with the server (down, loading, out of memory,
# slow, without the model, invalid replies) ends in time as a ModelFailed that says so.

# time that a model stays loaded after an answer
KEEP_ALIVE = "5m"
# for so long after an answer it is taken as loaded without a check
WARM_SECONDS = 240.0
# timeout in seconds of loading a model
LOADING_SECONDS = 120.0
NANOSECONDS = 1e9
# timeout in seconds of listing the loaded models
LIST_SECONDS = 2.0


class OllamaChat(ChatClient):
    """One model of an Ollama server."""

    def __init__(
        self,
        address: str,
        call: DeadlineCall,
        loading: Callable[[], None] | None,
        name: str = "",
        warm: bool = True,
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
            # unknown; asking the question will show it
            return
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
                lambda: self._client.chat(
                    self.name, [], options={"num_ctx": CONTEXT_TOKENS}, keep_alive=KEEP_ALIVE
                ),
                self._connection.abort,
            )
        except Exception as error:
            failure = self._failure_of_error(error)
            # the question is not at fault
            if failure.kind in ("slow", "cut", "broken"):
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


# seconds without a report before giving up: verifying a large layer takes long
MAX_SILENCE_SECONDS = 120.0
RESUME_HINT = "Pull it again: it continues where it stopped."
# characters of a server's message that are shown
MAX_SERVER_MESSAGE = 160


PULL_BAR_CELLS = 20  # cells


class PullResult(NamedTuple):
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
        # digest → (bytes done, bytes in total)
        layers: dict[str, tuple[int, int]] = {}
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
        told = {
            "slow": f"{where} reported nothing for {silence:g} s.",
            "cut": f"The connection to {where} broke.",
        }
        if failed.kind not in told or failed.next == RESUME_HINT:
            return failed
        return ModelFailed(failed.kind, told[failed.kind], RESUME_HINT)

    def _refusal_failure(self, status: int, text: str) -> ModelFailed:
        """Return the error for a refused pull, in our own words where the cause is known."""
        for one in read_language_file(ERRORS_FOLDER, "pull_errors")["error"]:
            if any(part in text.lower() for part in one["says"]):
                return ModelFailed(one["kind"], one["message"].format(name=self.name), one["next"])
        if status in (502, 503, 504):
            return ModelFailed("busy", f"Ollama is too busy (status {status}).", RESUME_HINT)
        return ModelFailed(
            "refused", f"Ollama could not fetch {self.name}: {_shorten_message(text)}.", RESUME_HINT
        )


def _shorten_message(text: str) -> str:
    """Return the beginning of a message, on one line, at most MAX_SERVER_MESSAGE characters."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= MAX_SERVER_MESSAGE else f"{line[: MAX_SERVER_MESSAGE - 1]}…"


class RateMeter:
    """The rate at which bytes arrive, averaged over the last seconds; `clock` returns seconds."""

    # seconds averaged over, and seconds that must have passed
    WINDOW, LEAST = 8.0, 1.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: list[tuple[float, int]] = []
        self._total = 0

    def add_report(self, done: int, total: int) -> None:
        """Add a report: bytes `done` of `total`."""
        now = self._clock()
        if self._seen and done < self._seen[-1][1]:
            # the server started again
            self._seen.clear()
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

    def describe(self, far: PullResult, cells: int = PULL_BAR_CELLS) -> str:
        """Return progress as `▇▇▇▇░░░░ 41 %  812 MB of 1.9 GB  12 MB/s  1 min 35 s left`; without a total, as the
        current step."""
        if not far.total:
            return far.status
        words = [f"{100 * far.done // far.total:>3} %", f"{format_bytes(far.done)} of {format_bytes(far.total)}"]
        if far.done == far.total:
            words.append(far.status)
        if self.rate:
            words.append(f"{format_bytes(self.rate)}/s")
        if self.seconds_left:
            words.append(f"{format_seconds(self.seconds_left)} left")
        filled = cells * far.done // far.total
        bar = f"{'▇' * filled}{'░' * (cells - filled)} " if cells else ""
        return bar + "  ".join(words)
