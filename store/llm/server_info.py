"""State of the model server: version, models, which of them are loaded.

Uses only the standard library, as the status line refreshes twice a minute even when no model is used, and importing
Ollama's client takes 0.3 s. No proxy is used and no redirect followed, so that only the configured address is
contacted. Replies are data, and every field is checked.
"""

import json
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from store.base.cancelling import never
from store.base.errors import ModelFailed
from store.llm import endpoint as addresses
from store.llm.chat import figure
from store.llm.clients import server_errors
from store.llm.clients.deadline_transport import Call, break_off

LOOK_SECONDS = 2.0  # for a whole reply, even one that arrives byte by byte
LARGEST = 4 << 20  # bytes of a reply
NAME, FEW = 200, 40  # characters of a model's name, and of each other field
_NO_CHAT = ("embed", "minilm", "bge-", "-e5", "rerank", "whisper")  # in the names of models that cannot chat

Value = TypeVar("Value")


def cloud(name: str) -> bool:
    """Return whether a model of this name runs on Ollama's cloud and not on the server."""
    return name.endswith(("-cloud", ":cloud"))


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that the server lists. `size` in bytes; `parameters` and `quantization` as Ollama writes them ("3.1B",
    "Q4_K_M"), empty where unknown; `loaded`: it is in memory and answers at once; `remote`: it runs on other
    machines."""

    name: str
    size: int = 0
    parameters: str = ""
    quantization: str = ""
    loaded: bool = False
    remote: bool = False

    @property
    def can_chat(self) -> bool:
        """Whether it can answer questions on this server: not remote, and not for vectors only."""
        return not self.remote and not any(part in self.name.lower() for part in _NO_CHAT)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The state of the server; `trouble` is why it could not be read, None where it answered."""

    address: str
    version: str = ""
    models: tuple[Installed, ...] = ()
    trouble: ModelFailed | None = None

    def model(self, name: str) -> Installed | None:
        """Return the model of this name, with or without `:latest`; None if the server has none."""
        return next((model for model in self.models if model.name in (name, f"{name}:latest")), None)


def look(address: str, seconds: float = LOOK_SECONDS) -> ServerInfo:
    """Read the state of the server at `address`; each of its three requests may take so many seconds. Never raises: a
    failure is in the result."""
    call, version = Call(never), ""
    try:
        found = models(address, call, seconds)
        loaded = {model.name for model in found}
        if not addresses.openai(address):
            version = _get(address, "/api/version", "version", str, seconds, call)
            loaded = {_name(entry) for entry in _get(address, "/api/ps", "models", list, seconds, call)}
    except ModelFailed as error:
        return ServerInfo(address, trouble=error)
    return ServerInfo(address, version[:FEW], tuple(replace(model, loaded=model.name in loaded) for model in found))


def models(address: str, call: Call, seconds: float = LOOK_SECONDS) -> list[Installed]:
    """Return the server's models in its order; `loaded` is not set here. Raise ModelFailed."""
    path, part = ("/models", "data") if addresses.openai(address) else ("/api/tags", "models")
    return [_installed(entry) for entry in _get(address, path, part, list, seconds, call) if _name(entry)]


def _name(entry: object) -> str:
    """Return the model's name in a list entry; empty where it has no valid one."""
    if not isinstance(entry, dict):
        return ""
    name = entry.get("model") or entry.get("name") or entry.get("id")
    return name if isinstance(name, str) and name.isprintable() and len(name) <= NAME else ""


def _installed(entry: dict[str, Any]) -> Installed:
    name, details = _name(entry), entry.get("details")
    if not isinstance(details, dict):
        details = {}
    parameters, quantization = (str(details.get(key) or "")[:FEW] for key in ("parameter_size", "quantization_level"))
    remote = cloud(name) or bool(entry.get("remote_host") or entry.get("remote_model"))
    return Installed(name, figure(entry.get("size")), parameters, quantization, remote=remote)


def _get(address: str, path: str, part: str, kind: type[Value], seconds: float, call: Call) -> Value:
    """Return a part of the JSON object that the server replies, within so many seconds. Raise ModelFailed, also where
    it is not of this kind."""
    from http.client import HTTPConnection, HTTPSConnection

    parts = addresses.split(address)
    protocol = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = protocol(parts.hostname or "", parts.port, timeout=seconds)

    def talk() -> bytes:
        connection.request("GET", parts.path + path, headers=addresses.headers(address))
        answer = connection.getresponse()
        body = answer.read(LARGEST)
        if answer.status != 200:
            raise server_errors.status(address, answer.status)
        if answer.length:
            raise server_errors.failed("broken_off", address)
        return body

    def abort() -> None:
        if connection.sock is not None:
            break_off(connection.sock)
        connection.close()

    call.begin(seconds)
    try:
        found = json.loads(call.beside(talk, abort)).get(part)
    except Exception as error:
        raise server_errors.failure(error, address) from None
    if not isinstance(found, kind):
        raise server_errors.failed("unexpected", address)
    return found
