"""llama.cpp under the wire: real Qwen2.5 weights on one thread, so that a test waits and the machine does not.

Two spinning threads fall to two tokens a second as soon as anything else runs, hence OMP_WAIT_POLICY and one thread;
without `cache_prompt` the same question has the same answer (`starting.py` sets the first, and says when not to).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

Message = dict[str, str]
BATCH = 64  # tokens of a prompt between two looks whether somebody still wants the answer
EMBEDDED = 2_048  # tokens of a text that is embedded
CUT = 0.9  # of a text that is too long, what is tried next
PASSED = ("temperature", "seed", "stop", "top_p", "top_k", "min_p", "repeat_penalty", "presence_penalty")


class TooLong(Exception):
    """A text has more tokens than there is room for."""


class Refused(Exception):
    """The engine cannot do that; its own words."""


class Counted(NamedTuple):
    """How an answer ended, `stop` or `length`, and what it took: tokens and nanoseconds."""

    reason: str
    prompt: int
    prompt_ns: int
    answer: int
    answer_ns: int


class Piece(Protocol):
    """What takes each piece of an answer, and empty ones while the prompt is read, with what might have stood there as
    OpenAI's API tells it, where that is asked for; True when nobody wants more."""

    def __call__(self, text: str, likely: Sequence[dict[str, Any]] = ()) -> bool: ...


class Engine(Protocol):
    """One model, loaded."""

    context: int

    def chat(self, messages: Sequence[dict[str, str]], request: dict[str, Any], piece: Piece) -> Counted:
        """Answer the messages. Raises Refused."""

    def complete(self, prompt: str, request: dict[str, Any], piece: Piece) -> Counted:
        """Go on after the prompt as it is, without the model's template. Raises Refused."""

    def embed(self, texts: Sequence[str], truncate: bool) -> tuple[list[list[float]], int]:
        """Vectors of unit length, and the tokens read. Raises TooLong where a text is, and may not be cut."""


class Qwen:
    """A GGUF file behind xllamacpp; what embeds is loaded the first time something is embedded."""

    def __init__(self, path: str, context: int, cached: bool = False) -> None:
        self.context = context
        self._path = path
        self._cached = cached
        self._chat = self._load(context, BATCH)
        self._embed: Any = None

    def _load(self, context: int, batch: int, embedding: bool = False) -> Any:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = self._path
        parameters.n_ctx = context
        parameters.n_batch = parameters.n_ubatch = batch
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        parameters.cache_prompt = self._cached
        parameters.warmup = False
        if embedding:
            parameters.embedding = True
            parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        return xllamacpp.Server(parameters)

    def chat(self, messages: Sequence[dict[str, str]], request: dict[str, Any], piece: Piece) -> Counted:
        """As a true Ollama does, what does not fit is left out without a word: the oldest messages, then the beginning
        of the last."""
        kept = list(messages)
        while True:
            try:
                return self._run(self._chat.handle_chat_completions, {"messages": kept}, request, piece)
            except TooLong:
                old = next((place for place, one in enumerate(kept[:-1]) if one["role"] != "system"), None)
                if old is not None:
                    del kept[old]
                else:
                    last = kept[-1]["content"]
                    kept[-1] = {**kept[-1], "content": last[len(last) - int(len(last) * CUT) :]}

    def complete(self, prompt: str, request: dict[str, Any], piece: Piece) -> Counted:
        while True:
            try:
                return self._run(self._chat.handle_completions, {"prompt": prompt}, request, piece)
            except TooLong:
                prompt = prompt[len(prompt) - int(len(prompt) * CUT) :]

    def _run(self, handle: Any, said: dict[str, Any], request: dict[str, Any], piece: Piece) -> Counted:
        options = request.get("options") or {}
        asked = {
            **said,
            **{name: options[name] for name in PASSED if name in options},
            "max_tokens": options.get("num_predict", -1),
            "cache_prompt": self._cached,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
        }
        if request.get("logprobs"):
            asked |= {"logprobs": True, "top_logprobs": request.get("top_logprobs") or 1}
        form = request.get("format")
        if form == "json":
            asked["response_format"] = {"type": "json_object"}
        elif form:
            asked["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": form}}
        last: dict[str, Any] = {}
        reason, failed, tokens = "stop", None, 0
        started = time.monotonic_ns()

        def each(chunk: dict[str, Any]) -> bool:
            nonlocal reason, failed, last, tokens
            if error := chunk.get("error"):
                failed = error
                return True
            if "timings" in chunk:
                last = chunk["timings"]
            text, likely = "", list[dict[str, Any]]()
            for choice in chunk.get("choices", ()):
                reason = choice.get("finish_reason") or reason
                text += (choice.get("delta") or {}).get("content") or choice.get("text") or ""
                likely += (choice.get("logprobs") or {}).get("content") or ()
            tokens += bool(text)
            return piece(text, likely)

        try:
            whole = handle(asked, each)
        except ValueError as error:
            raise Refused(str(error)) from None
        failed = failed or (whole or {}).get("error")
        if failed:
            if failed.get("type") == "exceed_context_size_error":
                raise TooLong
            raise Refused(failed.get("message", "the engine failed"))
        read, made = int(last.get("cache_n", 0) + last.get("prompt_n", 0)), int(last.get("predicted_n", tokens))
        reading = round(last.get("prompt_ms", 0.0) * 1e6) or time.monotonic_ns() - started
        making = round(last.get("predicted_ms", 0.0) * 1e6)
        return Counted("length" if reason == "length" else "stop", read, reading, made, making)

    def embed(self, texts: Sequence[str], truncate: bool) -> tuple[list[list[float]], int]:
        if self._embed is None:
            self._embed = self._load(EMBEDDED, EMBEDDED, embedding=True)
        vectors, tokens = [], 0
        for text in texts:
            while True:
                found = self._embed.handle_embeddings({"input": [text]})
                if "error" not in found:
                    break
                if not truncate:
                    raise TooLong
                text = text[: int(len(text) * CUT)]
            vectors.append(unit(found["data"][0]["embedding"]))
            tokens += found["usage"]["prompt_tokens"]
        return vectors, tokens


def unit(vector: Sequence[float]) -> list[float]:
    """The same direction, of length 1."""
    length = math.sqrt(math.fsum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
