"""A model served by Ollama, through its own client. The server may be down, loading, without the model, or answer
nonsense."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from store.embedding.provider import PROBE, EmbeddingError, ProviderDown, prefixed

if TYPE_CHECKING:
    from typing import Any

ADDRESS = "http://127.0.0.1:11434"
SECONDS = 60.0  # timeout of a request, which may have to load the model
CONNECT_SECONDS = 0.2  # for connecting to a server on this machine
# order of preference among installed models where none is configured: multilingual ones first
PREFERRED = (
    "multilingual-e5 bge-m3 embeddinggemma qwen3-embedding paraphrase-multilingual snowflake-arctic-embed2"
    " granite-embedding nomic-embed mxbai-embed snowflake-arctic-embed bge all-minilm embed"
).split()


class OllamaModel:
    """A model of an Ollama server. Raise ProviderDown: nothing answers, the model is not there, or it makes no vectors.
    `headers` are sent with every request."""

    name = "ollama"
    stamp = ""
    batch = 16

    def __init__(
        self, model: str = "", address: str = "", seconds: float = SECONDS, headers: "Mapping[str, str] | None" = None
    ) -> None:
        self._address = address or os.environ.get("OLLAMA_HOST") or ADDRESS
        try:
            import httpx
            import ollama
        except ImportError:
            raise ProviderDown("The client of Ollama is not installed.", "pip install ollama") from None
        try:
            # no redirects: texts are sent only to the configured address
            timeout = httpx.Timeout(seconds, connect=min(seconds, 3.0))
            self._client = ollama.Client(
                self._address, headers=dict(headers or {}), timeout=timeout, follow_redirects=False
            )
        except (ValueError, httpx.InvalidURL):
            raise ProviderDown(
                f"{self._address[:80]} is not the address of a server.", "memoranda config embedding.address"
            ) from None
        installed = self._installed()
        self.model = _choose(model, installed)
        self.weights = installed.get(self.model) or installed.get(f"{self.model}:latest", "")
        self.dimension = 0
        rows = list(self.encode([PROBE], query=False))
        try:
            self.dimension = len(rows[0])
        except (IndexError, TypeError):
            self.dimension = 0
        if not self.dimension:
            raise ProviderDown(f"Ollama's model {self.model} makes no vectors.", "ollama pull embeddinggemma")

    def _installed(self) -> dict[str, str]:
        """Return model name → the beginning of its digest."""
        answer = self._call(lambda: self._client.list())
        return {model.model: (model.digest or "")[:16] for model in answer.models if model.model}

    def encode(self, texts: Sequence[str], query: bool) -> "Iterable[Any]":
        inputs = prefixed(self.model, texts, query)
        return list(self._call(lambda: self._client.embed(model=self.model, input=inputs, truncate=True)).embeddings)

    def _call(self, ask: "Any") -> "Any":
        """Return Ollama's answer. Raise ProviderDown for what is wrong with the server, EmbeddingError for what may be
        the text's fault."""
        import httpx
        import ollama

        look = "Look whether it runs: ollama ps"
        try:
            return ask()
        except ollama.ResponseError as error:
            if error.status_code == 404:
                raise ProviderDown(
                    f"Ollama has no model {getattr(self, 'model', '')}.", f"ollama pull {getattr(self, 'model', '')}"
                ) from None
            if error.status_code in (400, 413, 422, 500):
                raise EmbeddingError(f"Ollama could not embed a text (status {error.status_code}).", look) from None
            raise ProviderDown(f"Ollama refused for now (status {error.status_code}).", look) from None
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout):
            raise ProviderDown(f"Nothing answers at {self._address}.", "Start Ollama: ollama serve") from None
        except httpx.TimeoutException:
            raise ProviderDown(f"Ollama at {self._address} did not answer in time.", look) from None
        except (httpx.HTTPError, ollama.RequestError):
            raise ProviderDown(f"The connection to {self._address} broke.", look) from None
        except (ValueError, httpx.InvalidURL):  # not JSON, or JSON of another shape
            raise EmbeddingError(f"What answers at {self._address} is not Ollama's embeddings.", look) from None

    def close(self) -> None:
        self._client._client.close()


def _choose(model: str, installed: dict[str, str]) -> str:
    if model:
        return model
    for wanted in PREFERRED:
        for name in sorted(installed):
            if wanted in name.lower():
                return name
    raise ProviderDown("Ollama has no model for embeddings.", "ollama pull embeddinggemma")


def listening(address: str = "") -> bool:
    """Return whether something on this machine listens at Ollama's address, without its client, whose import takes 300
    ms.

    Return False for an address on another machine, without connecting.
    """
    import socket
    from urllib.parse import urlsplit

    where = address or os.environ.get("OLLAMA_HOST") or ADDRESS
    try:
        parts = urlsplit(where if "://" in where else f"//{where}")
        host, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        return False
    if host not in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
        return False
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
