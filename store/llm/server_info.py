"""A look at the server that has the models: what it is, which it has, which of them are in memory.

By the standard library alone: the status line looks twice a minute, whether anybody asks a model or not, and Ollama's
own client takes 0.3 s to import. No proxy is used and no redirect followed, so that nothing goes anywhere but to the
address that was set. What comes back is data, and believed only where it has the form that it should have.
"""

import json
import os
from dataclasses import dataclass, replace
from typing import Any

from store.base.errors import ModelFailed
from store.llm import endpoint as addresses
from store.llm.chat import figure
from store.llm.clients import server_errors
from store.llm.clients.deadline_transport import Call, Cancelled, DeadlineExceeded, break_off

LOOK_SECONDS = 2.0  # for all of an answer, however it trickles
LARGEST = 4 << 20  # bytes of an answer
NAME, FEW = 200, 40  # characters of a model's name, and of what else is shown of it
_NO_TALKERS = ("embed", "minilm", "bge-", "-e5", "rerank", "whisper")  # in the names of models that answer nothing


def cloud(name: str) -> bool:
    """Whether a model of this name runs on somebody else's machines."""
    return name.endswith(("-cloud", ":cloud"))


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that the server has. `size` in bytes; `parameters` and `quantization` as Ollama writes them ("3.1B",
    "Q4_K_M"), empty where it does not say; `loaded`: it is in memory and answers at once; `elsewhere`: it is only
    listed here, and runs on somebody else's machines."""

    name: str
    size: int = 0
    parameters: str = ""
    quantization: str = ""
    loaded: bool = False
    elsewhere: bool = False

    @property
    def talks(self) -> bool:
        """Whether it may answer here: it is one of this server, and not one for vectors alone."""
        return not self.elsewhere and not any(part in self.name.lower() for part in _NO_TALKERS)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a look at the server found; `trouble` is why it found nothing, None where it answered."""

    address: str
    version: str = ""
    models: tuple[Installed, ...] = ()
    trouble: ModelFailed | None = None

    def model(self, name: str) -> Installed | None:
        """The model of this name, with or without its `:latest`."""
        return next((model for model in self.models if model.name in (name, f"{name}:latest")), None)


def look(address: str, seconds: float = LOOK_SECONDS) -> ServerInfo:
    """What the server at `address` is and has; each of its three answers may take so many seconds. Never raises: why it
    does not answer is in the look."""
    call = Call(lambda: False)
    if addresses.openai(address):
        try:
            return ServerInfo(address, "", tuple(replace(one, loaded=True) for one in models(address, call, seconds)))
        except ModelFailed as error:
            return ServerInfo(address, trouble=error)
    try:
        version = _get(address, "/api/version", seconds, call).get("version")
        if not isinstance(version, str):
            raise server_errors.unexpected_reply(address)
        found = models(address, call, seconds)
        running = _get(address, "/api/ps", seconds, call).get("models")
    except ModelFailed as error:
        return ServerInfo(address, trouble=error)
    awake = {_name(entry) for entry in (running if isinstance(running, list) else [])}
    return ServerInfo(address, version[:FEW], tuple(replace(model, loaded=model.name in awake) for model in found))


def models(address: str, call: Call, seconds: float = LOOK_SECONDS) -> list[Installed]:
    """The models that the server has, in its order; which of them are in memory it does not say here. Raises
    ModelFailed."""
    path, part = ("/models", "data") if addresses.openai(address) else ("/api/tags", "models")
    listed = _get(address, path, seconds, call).get(part)
    if not isinstance(listed, list):
        raise server_errors.unexpected_reply(address)
    return [_installed(entry) for entry in listed if _name(entry)]


def _name(entry: object) -> str:
    """The model's name of an entry of a list; empty where it has none that could be typed."""
    if not isinstance(entry, dict):
        return ""
    name = entry.get("model") or entry.get("name") or entry.get("id")
    return name if isinstance(name, str) and name.isprintable() and len(name) <= NAME else ""


def _installed(entry: dict[str, Any]) -> Installed:
    name, details = _name(entry), entry.get("details")
    if not isinstance(details, dict):
        details = {}
    parameters, quantization = (str(details.get(key) or "")[:FEW] for key in ("parameter_size", "quantization_level"))
    elsewhere = cloud(name) or bool(entry.get("remote_host") or entry.get("remote_model"))
    return Installed(name, figure(entry.get("size")), parameters, quantization, elsewhere=elsewhere)


def _get(address: str, path: str, seconds: float, call: Call) -> dict[str, Any]:
    """The object that the server answers, within so many seconds. Raises ModelFailed."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead, RemoteDisconnected

    parts = addresses.split(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)

    def talk() -> bytes:
        try:
            connection.connect()
        except UnicodeError:
            raise addresses.none(address) from None
        connection.request("GET", parts.path + path, headers=_headers(address))
        answer = connection.getresponse()
        body = answer.read(LARGEST)
        if answer.status != 200:
            raise server_errors.status(address, answer.status)
        if answer.length:
            raise server_errors.truncated(address)
        return body

    def abort() -> None:
        if connection.sock is not None:
            break_off(connection.sock)
        connection.close()

    call.begin(seconds)
    try:
        found = json.loads(call.beside(talk, abort))
    except Cancelled:
        raise server_errors.stopped() from None
    except (DeadlineExceeded, TimeoutError):
        raise server_errors.timed_out(f"Ollama at {addresses.short(address)}") from None
    except (RemoteDisconnected, IncompleteRead, ConnectionResetError, BrokenPipeError):
        raise server_errors.truncated(address) from None
    except OSError:
        raise server_errors.server_unreachable(address) from None
    except (HTTPException, ValueError, RecursionError):
        raise server_errors.unexpected_reply(address) from None
    if not isinstance(found, dict):
        raise server_errors.unexpected_reply(address)
    return found


def _headers(address: str) -> dict[str, str]:
    """As the client of the server sends them; a key only where the person has set one for it."""
    if addresses.openai(address):
        from store.llm.clients.openai_client import key

        own = key()
    else:
        own = os.environ.get("OLLAMA_API_KEY", "")
    return {"Accept": "application/json"} | ({"Authorization": f"Bearer {own}"} if own else {})
