"""A model of any server with OpenAI's chat API: llama.cpp, LM Studio, vLLM. Its address ends in `/v1`."""

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from store.llm import endpoint as addresses
from store.llm.clients import server_errors
from store.llm.clients.chat_client import FIRST, ChatClient, Request


class OpenAIChat(ChatClient):
    """One model of such a server."""

    def _connect(self, options: dict[str, Any]) -> Any:
        import httpx

        return httpx.Client(headers=addresses.headers(self._address), **options)

    def _pieces(self, request: Request) -> Generator[str, None, None]:
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
            body |= {"logprobs": True, "top_logprobs": FIRST}
        events = self._call.each(lambda: self._events(body), self._connection.abort)
        with closing(events):
            for event in events:
                if "error" in event:
                    raise server_errors.status(self._address, 500, "", self.name)
                for choice in event.get("choices") or ():
                    self._begins((choice.get("logprobs") or {}).get("content"))
                    self._ended = choice.get("finish_reason") or self._ended
                    if piece := (choice.get("delta") or {}).get("content"):
                        yield piece

    def _events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the objects of a stream of server-sent events."""
        with self._client.stream("POST", f"{self._address}/chat/completions", json=body) as answer:
            if answer.status_code != 200:
                text = answer.read()[:2_000].decode("utf-8", "replace")
                raise server_errors.status(self._address, answer.status_code, text, self.name)
            for line in answer.iter_lines():
                data = line.strip().removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                if data and line.startswith("data:"):
                    yield dict(json.loads(data))
