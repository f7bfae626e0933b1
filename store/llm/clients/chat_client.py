"""What every client of a model server has in common: the breaker, one more attempt where a failure may pass, and an end
in time. What differs is how a server is spoken to (`ollama_client`, `openai_client`)."""

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any

from store.base import token_count
from store.base.errors import ModelFailed
from store.llm import circuit_breaker
from store.llm import endpoint as addresses
from store.llm.chat import CONTEXT, WORD_ONLY, Message
from store.llm.clients import server_errors
from store.llm.clients.deadline_transport import Call, Cancelled, DeadlineExceeded, ResponseTooLarge

BACKOFF = (0.2, 0.6)  # seconds before it is asked again …
AGAIN = ("busy", "cut", "broken")  # … when it failed in a way that may pass
SAFE = 1.15  # tokens of a question for each that is counted: models count otherwise than we do
EACH = 12  # tokens around a message
LONGEST = 12  # characters of a token, at the very most
FIRST = 20  # likeliest first words of an answer that a server returns
LEAST = 1e-6  # likelihood of a word that is not among them
_DIGIT = re.compile(r"\d")


class ChatClient(ABC):
    """One model of one server, for one thread. It is asked by `name`; all that is asked goes by this `call`."""

    def __init__(self, address: str, call: Call, name: str = "") -> None:
        """Raises ModelFailed: that is no address."""
        self.name = name
        self._address = addresses.whole(address)
        self._call = call
        self._first: dict[str, float] = {}  # likelihoods of the words that the last answer might have begun with
        self._ended = ""  # why the server ended the last answer
        # of the last answer: its tokens, the seconds in which they were written, and in which the model was loaded
        self.tokens, self.writing, self.loading = 0, 0.0, 0.0
        addresses.split(address)

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """The whole answer, in JSON of this schema if one is given. Raises ModelFailed."""
        found = self._ask(messages, schema, predict, seconds)
        if not found.strip():
            raise ModelFailed("broken", f"{self.name} said nothing.", server_errors.LOOK)
        return found

    def sample(self, question: str, predict: int, seconds: float) -> str:
        """The beginning of an answer; `tokens`, `writing` and `loading` are its figures then. Raises ModelFailed."""
        found = self._ask([("user", question)], None, predict, seconds, early=True)
        if not found.strip():
            raise ModelFailed("broken", f"{self.name} said nothing.", "Choose another model.")
        return found

    def leaning(self, messages: Sequence[Message], *, yes: Sequence[str], no: Sequence[str], seconds: float) -> float:
        """How much likelier a word of `yes` begins the answer than one of `no`, as the logarithm of the odds; 0 where
        it begins with neither. Of a server that returns no likelihoods by the word that it answers (WORD_ONLY). Raises
        ModelFailed."""
        word = self._ask(messages, None, 1, seconds, first=True, early=True)
        likely = self._first or {folded(word): 1.0}
        odds = [sum(likely.get(folded(one), 0.0) for one in words) for words in (yes, no)]
        if not self._first:
            return WORD_ONLY * (odds[0] - odds[1])
        return math.log(max(odds[0], LEAST) / max(odds[1], LEAST))

    def _ask(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any] | None,
        predict: int,
        seconds: float,
        first: bool = False,
        early: bool = False,
    ) -> str:
        """The answer, within the seconds; asked for again where the server failed in a way that may pass. `first`: with
        the likelihoods of its first word; `early`: it may end before it is complete."""
        server = circuit_breaker.of(self._address)
        if tripped := server.why_open():
            raise tripped
        if _tokens(messages) + predict > CONTEXT:
            raise server_errors.prompt_too_long(self.name)
        self._warm()
        self._call.begin(seconds)
        for pause in (*BACKOFF, 0.0):
            self._first, self._ended, self.tokens, self.writing = {}, "", 0, 0.0
            began = time.monotonic()
            answer = ""
            try:
                with closing(self._pieces(messages, schema, predict, first)) as pieces:
                    for piece in pieces:
                        answer += piece
                        self.tokens += 1
                        if len(answer) > predict * LONGEST + 200:
                            raise ModelFailed("broken", f"{self.name} does not come to an end.", server_errors.LOOK)
                if not self._ended:
                    raise ModelFailed("cut", "The server broke off its answer.", server_errors.LOOK)
                break
            except Exception as error:
                failure = self._failure(error)
            if failure.kind in AGAIN and pause:
                try:
                    self._call.wait(pause)
                    continue
                except Exception as error:
                    failure = self._failure(error)
            server.record_failure(failure)
            raise failure
        server.record_answer()
        self.writing = self.writing or time.monotonic() - began
        if self._ended == "length" and not early:
            raise ModelFailed("cut", f"{self.name} had more to say than there was room for.", server_errors.LESS)
        return answer

    @abstractmethod
    def close(self) -> None:
        """Close the connection to the server."""

    @abstractmethod
    def _warm(self) -> None:
        """Do what has to be done before a question. Raises ModelFailed."""

    @abstractmethod
    def _pieces(
        self, messages: Sequence[Message], schema: dict[str, Any] | None, predict: int, first: bool
    ) -> Generator[str, None, None]:
        """Yield the pieces of one attempt; at its end `_ended` is why the server ended it."""

    def _failure(self, error: Exception) -> ModelFailed:
        """Return what went wrong, in a sentence without the server's words. Raises an error that is not known."""
        import httpx

        match error:
            case ModelFailed():
                return error
            case Cancelled():
                return server_errors.stopped()
            case DeadlineExceeded():
                return server_errors.timed_out(self.name or "Ollama")
            case ConnectionError() | httpx.ConnectError() | httpx.ConnectTimeout():
                return server_errors.server_unreachable(self._address)
            case httpx.NetworkError() | httpx.RemoteProtocolError() | httpx.TimeoutException():
                return server_errors.truncated(self._address)
            case (
                ValueError()
                | TypeError()
                | AttributeError()
                | KeyError()
                | RecursionError()
                | ResponseTooLarge()
                | httpx.HTTPError()
                | httpx.InvalidURL()
            ):
                return server_errors.unexpected_reply(self._address)
        raise error


def likelihoods(tokens: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The likelihoods of first words, of the (token, logprob) that a server returns."""
    likely: dict[str, float] = {}
    for one in tokens:
        word = folded(str(one.get("token", "")))
        logprob = one.get("logprob")
        if isinstance(logprob, int | float):
            likely[word] = likely.get(word, 0.0) + math.exp(min(0.0, logprob))
    return likely


def folded(word: str) -> str:
    """A word as it is compared."""
    return word.strip().strip(".,:;!*\"'").casefold()


def _tokens(messages: Sequence[Message]) -> int:
    """As many as the model makes of them, or more: of digits it makes one each."""
    return round(sum((token_count.count(text) + len(_DIGIT.findall(text))) * SAFE + EACH for _, text in messages))
