"""A model behind any server that speaks OpenAI's chat API: llama.cpp, LM Studio, vLLM. Its address ends in `/v1`; a
key, where the server wants one, comes from MEMORANDA_API_KEY or OPENAI_API_KEY and is sent to no other address."""

import json
import os
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from store.base.errors import ModelFailed
from store.llm import endpoint as addresses
from store.llm.chat import Message
from store.llm.clients import server_errors
from store.llm.clients.chat_client import FIRST, LONGEST, ChatClient, likelihoods
from store.llm.clients.deadline_transport import Call

KEYS = ("MEMORANDA_API_KEY", "OPENAI_API_KEY")
LINE = 1 << 20  # characters of one event of a stream


def key() -> str:
    """The key for the server; empty where there is none."""
    return next((value for name in KEYS if (value := os.environ.get(name, ""))), "")


class OpenAIChat(ChatClient):
    """One model of such a server."""

    def __init__(self, address: str, call: Call, name: str) -> None:
        super().__init__(address, call, name)
        import httpx

        from store.llm.clients.deadline_transport import transport

        headers = {"Authorization": f"Bearer {key()}"} if key() else {}
        try:
            # no redirects and no proxies: texts go to the address that was written down, and to no other
            self._client = httpx.Client(transport=transport(call), headers=headers, follow_redirects=False)
        except (ValueError, httpx.InvalidURL):
            raise addresses.none(address) from None
        self._reason = ""

    def close(self) -> None:
        self._client.close()

    def _warm(self) -> None:
        """Do nothing: such a server loads its model when it starts."""

    def _pieces(
        self, messages: Sequence[Message], schema: dict[str, Any] | None, predict: int, first: bool
    ) -> Generator[str, None, None]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "stream": True,
            "temperature": 0,
            "seed": 1,
            "max_tokens": predict,
        }
        if schema is not None:
            form = {"name": "answer", "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if first:
            body |= {"logprobs": True, "top_logprobs": FIRST}
        left, self._reason = predict * LONGEST + 200, ""
        try:
            with self._client.stream("POST", f"{self._address}/chat/completions", json=body) as answer:
                if answer.status_code != 200:
                    said = answer.read()[:2_000].decode("utf-8", "replace")
                    raise server_errors.status(self._address, answer.status_code, said, self.name)
                for event in _events(answer.iter_text()):
                    if "error" in event:
                        raise server_errors.status(self._address, 500, "", self.name)
                    for choice in event.get("choices") or ():
                        tokens = (choice.get("logprobs") or {}).get("content") or ()
                        if first and tokens and not self._first:
                            self._first = likelihoods(tokens[0].get("top_logprobs") or tokens[:1])
                        self._reason = choice.get("finish_reason") or self._reason
                        if piece := (choice.get("delta") or {}).get("content"):
                            left -= len(piece)
                            if left < 0:
                                raise ModelFailed("broken", f"{self.name} does not come to an end.", server_errors.LOOK)
                            yield piece
        except Exception as error:
            raise self._failure(error) from None
        if not self._reason:
            raise ModelFailed("cut", "The server broke off its answer.", server_errors.LOOK)

    def _look_at_end(self, predict: int, first: bool) -> None:
        if self._reason == "length" and not first:
            raise ModelFailed("cut", f"{self.name} had more to say than there was room for.", server_errors.LESS)


def _events(parts: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The objects of a stream of server-sent events, up to its end. Raises ValueError for what is none."""
    held = ""
    for part in parts:
        held += part
        while "\n" in held:
            line, _, held = held.partition("\n")
            line = line.strip()
            if not line.startswith("data:"):
                continue
            said = line[5:].strip()
            if said == "[DONE]":
                return
            event = json.loads(said)
            if not isinstance(event, dict):
                raise ValueError(said[:40])
            yield event
        if len(held) > LINE:
            raise ValueError("too long")
