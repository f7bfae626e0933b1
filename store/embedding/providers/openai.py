"""A server with OpenAI's interface for embeddings, at the configured address only."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from store.embedding.provider import PROBE, EmbeddingError, ProviderDown, prefixed

if TYPE_CHECKING:
    from typing import Any

MODEL = "text-embedding-3-small"
SECONDS = 30.0


class OpenAIModel:
    """A model of such a server. Raise ProviderDown: no address, an empty key variable, no answer, or refused.

    The key is read from the environment variable named `key_variable`; no key is stored. `headers` are sent with every
    request. `types` are the server's names for (a query, a passage), sent as `input_type`: the server then adds its own
    prefixes, and none are added here.
    """

    name = "openai"
    stamp = ""
    batch = 32

    def __init__(
        self,
        model: str = "",
        address: str = "",
        key_variable: str = "",
        seconds: float = SECONDS,
        headers: "Mapping[str, str] | None" = None,
        types: tuple[str, str] | None = None,
    ) -> None:
        if not address:
            raise ProviderDown(
                "No address of a server is set.", "memoranda config embedding.address https://api.openai.com/v1"
            )
        key = os.environ.get(key_variable, "") if key_variable else ""
        if key_variable and not key:
            raise ProviderDown(f"The environment variable {key_variable} is empty.", f"export {key_variable}=…")
        try:
            import httpx
        except ImportError:
            raise ProviderDown("httpx is not installed.", "pip install httpx") from None
        self.model = model or MODEL
        self._address = address.rstrip("/")
        try:
            url = httpx.URL(self._address)
            if url.scheme not in ("http", "https") or not url.host:
                raise ValueError
            path = url.path.rstrip("/") or "/v1"
            self._url = url.copy_with(path=path if path.endswith("/embeddings") else f"{path}/embeddings")
            sent = {**({"Authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
            self._client = httpx.Client(
                headers=sent, timeout=httpx.Timeout(seconds, connect=min(seconds, 5.0)), follow_redirects=False
            )
        except (ValueError, httpx.InvalidURL):
            raise ProviderDown(
                f"{address[:80]} is not the address of a server.", "memoranda config embedding.address"
            ) from None
        self._types = types
        self.weights = "/".join((f"at:{url.host}", *(types or ())))  # two servers may use one name for two models
        rows = list(self.encode([PROBE], query=False))
        self.dimension = len(rows[0]) if rows and isinstance(rows[0], list) else 0
        if not self.dimension:
            raise ProviderDown(f"{self._address} gave no vector.", "memoranda config embedding.address")

    def encode(self, texts: Sequence[str], query: bool) -> "Iterable[Any]":
        import httpx

        look = "Look at the server, and at `memoranda config embedding.address`."
        inputs = list(texts) if self._types else prefixed(self.model, texts, query)
        request: dict[str, Any] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if self._types:
            request["input_type"] = self._types[0 if query else 1]
        try:
            answer = self._client.post(self._url, json=request)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise ProviderDown(f"Nothing answers at {self._address}.", look) from None
        except httpx.TimeoutException:
            raise ProviderDown(f"{self._address} did not answer in time.", look) from None
        except httpx.HTTPError:
            raise ProviderDown(f"The connection to {self._address} broke.", look) from None
        status = answer.status_code
        if status in (400, 413, 422, 500):
            raise EmbeddingError(f"{self._address} could not embed a text (status {status}).", look)
        if status in (401, 403):
            raise ProviderDown(f"{self._address} does not accept the key.", "memoranda config embedding.key_variable")
        if status != 200:
            raise ProviderDown(f"{self._address} refused (status {status}).", look)
        try:
            data = answer.json()["data"]
            return [item["embedding"] for item in sorted(data, key=lambda item: int(item.get("index", 0)))]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise EmbeddingError(f"What {self._address} answers is not a list of embeddings.", look) from None

    def close(self) -> None:
        self._client.close()
