"""Common part of the clients of model servers: circuit breaker, retries, deadlines. `ollama_client` and `openai_client`
add the protocol."""

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from store.base import token_count
from store.base.errors import ModelFailed
from store.llm import circuit_breaker
from store.llm import endpoint as addresses
from store.llm.chat import CONTEXT, WORD_ONLY, Message
from store.llm.clients import server_errors
from store.llm.clients.deadline_transport import Call, Connection

BACKOFF = (0.2, 0.6)  # seconds before each retry
AGAIN = ("busy", "cut", "broken")  # kinds of failure that are retried, as they may be temporary
SAFE = 1.15  # factor of our count of a question's tokens: models count more than we do
EACH = 12  # tokens around a message
LONGEST = 12  # most characters of a token
FIRST = 20  # most likely first words of an answer that a server is asked for
LEAST = 1e-6  # likelihood assumed for a word that is not among them
_DIGIT = re.compile(r"\d")


class Request(NamedTuple):
    """A question, for an answer of at most `predict` tokens, in JSON of the `schema` if one is given. `first`: the
    likelihoods of its first word are wanted; `early`: it may be incomplete."""

    messages: Sequence[Message]
    predict: int
    schema: dict[str, Any] | None = None
    first: bool = False
    early: bool = False


class ChatClient(ABC):
    """One model, `name`, of one server, for one thread. All requests run through `call`."""

    def __init__(self, address: str, call: Call, name: str = "") -> None:
        """Set the model and server. Raise ModelFailed if the address is invalid."""
        self.name = name
        self._address = addresses.whole(address)
        self._call = call
        self._first: dict[str, float] = {}  # word → likelihood as the first of the last answer
        self._ended = ""  # why the server ended the last answer
        # of the last answer: number of tokens, seconds of writing, seconds of loading the model
        self.tokens, self.writing, self.loading = 0, 0.0, 0.0
        addresses.split(address)
        try:
            self._connection = Connection()
            self._client = self._connect(self._connection.options)
        except ImportError:
            raise ModelFailed("absent", "The client of Ollama is not installed.", "pip install ollama") from None
        except Exception as error:
            raise self._failure(error) from None

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """Return the whole answer, in JSON of this schema if one is given. Raise ModelFailed."""
        return self.ask(Request(messages, predict, schema), seconds)

    def log_odds(self, messages: Sequence[Message], *, yes: Sequence[str], no: Sequence[str], seconds: float) -> float:
        """Return the log odds that the answer begins with a word of `yes` against one of `no`; 0 where it begins with
        neither. For a server that returns no likelihoods, use the word that it answers (WORD_ONLY). Raise
        ModelFailed."""
        word = self.ask(Request(messages, 1, first=True, early=True), seconds)
        likely = self._first or {folded(word): 1.0}
        odds = [sum(likely.get(folded(one), 0.0) for one in words) for words in (yes, no)]
        if not self._first:
            return WORD_ONLY * (odds[0] - odds[1])
        return math.log(max(odds[0], LEAST) / max(odds[1], LEAST))

    def ask(self, request: Request, seconds: float) -> str:
        """Return the answer within the seconds; retry failures in AGAIN. Raise ModelFailed."""
        server = circuit_breaker.of(self._address)
        if tripped := server.why_open():
            raise tripped
        if _tokens(request.messages) + request.predict > CONTEXT:
            raise self._failed("long", asked=self.name)
        self._warm()
        self._call.begin(seconds)
        for pause in (0.0, *BACKOFF):
            began, failure = time.monotonic(), None
            try:
                self._call.wait(pause)
                answer = self._attempt(request)
            except Exception as error:
                failure = self._failure(error)
            if failure is None or failure.kind not in AGAIN:
                break
        if failure is not None:
            raise server.record_failure(failure)
        server.record_answer()
        self.writing = self.writing or time.monotonic() - began
        if not (answer.strip() or request.first):
            raise self._failed("silent")
        if self._ended == "length" and not request.early:
            raise self._failed("unfinished")
        return answer

    def _attempt(self, request: Request) -> str:
        """Return the answer of one attempt. Raise ModelFailed, or what the client raises."""
        self._first, self._ended, self.tokens, self.writing, answer = {}, "", 0, 0.0, ""
        with closing(self._pieces(request)) as pieces:
            for piece in pieces:
                answer += piece
                self.tokens += 1
                if len(answer) > request.predict * LONGEST + 200:
                    raise self._failed("endless")
        if not self._ended:
            raise self._failed("early")
        return answer

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    @abstractmethod
    def _connect(self, options: dict[str, Any]) -> Any:
        """Return the client of the protocol, with these options of an httpx client."""

    def _warm(self) -> None:  # noqa: B027
        """Prepare the server for a question; one that loads its model when it starts needs none. Raise ModelFailed."""

    @abstractmethod
    def _pieces(self, request: Request) -> Generator[str, None, None]:
        """Yield the pieces of one attempt; set `_ended` to the reason why the server ended it."""

    def _begins(self, tokens: Sequence[Any] | None) -> None:
        """Note the likelihoods of an answer's first word from the tokens that a server returns, if it returns any."""
        if not tokens or self._first:
            return
        for one in tokens[0].get("top_logprobs") or tokens[:1]:
            word, logprob = folded(str(one.get("token", ""))), one.get("logprob")
            if isinstance(logprob, int | float):
                self._first[word] = self._first.get(word, 0.0) + math.exp(min(0.0, logprob))

    def _failed(self, name: str, /, **parts: object) -> ModelFailed:
        return server_errors.failed(name, self._address, name=self.name, **parts)

    def _failure(self, error: Exception) -> ModelFailed:
        """Return the failure for an error, in a sentence without the server's words. Raise an unknown error."""
        return server_errors.failure(error, self._address, self.name)


def folded(word: str) -> str:
    """Return a word in the form that is compared."""
    return word.strip().strip(".,:;!*\"'").casefold()


def _tokens(messages: Sequence[Message]) -> int:
    """Return an upper estimate of the messages' tokens; a model makes one token of each digit."""
    return round(sum((token_count.count(text) + len(_DIGIT.findall(text))) * SAFE + EACH for _, text in messages))
