"""A look at the server that has the models: what it is, which it has, which of them are in memory.

By the standard library alone: the status line looks twice a minute, whether anybody asks a model or not, and Ollama's
own client takes 0.3 s to import. No proxy is used and no redirect followed, so that nothing goes anywhere but to the
address that was set. What comes back is data, and believed only where it has the form that it should have.
"""

import json
import os
import threading
from dataclasses import dataclass
from typing import Any

from store.errors import ModelFailed

PORTS = {"http": 80, "https": 443}
USUAL_PORT = 11434  # where nobody said how it is spoken to
LOOK_SECONDS = 2.0  # for all of an answer, however it trickles
LARGEST = 4 << 20  # bytes of an answer
NAME, FEW = 200, 40  # characters of a model's name, and of what else is told of it
AGAIN = "Look whether it runs: ollama ps"


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that the server has. `size` in bytes; `parameters` and `quantization` as Ollama writes them ("3.1B",
    "Q4_K_M"), empty where it does not say; `loaded`: it is in memory and answers at once."""

    name: str
    size: int
    parameters: str
    quantization: str
    loaded: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the server found; `trouble` is why it found nothing, None where it answered."""

    address: str
    version: str = ""
    models: tuple[Installed, ...] = ()
    trouble: ModelFailed | None = None

    def model(self, name: str) -> Installed | None:
        """The model of this name, with or without its `:latest`."""
        return next((model for model in self.models if model.name in (name, f"{name}:latest")), None)


def look(address: str, seconds: float = LOOK_SECONDS) -> Look:
    """What the server at `address` is and has; each of its three answers may take so many seconds. Never raises: why it
    does not answer is in the look."""
    try:
        version = _get(address, "/api/version", seconds).get("version")
        tags = _get(address, "/api/tags", seconds).get("models")
        running = _get(address, "/api/ps", seconds).get("models")
    except ModelFailed as error:
        return Look(address, trouble=error)
    if not isinstance(version, str) or not isinstance(tags, list):
        return Look(address, trouble=_strange(address))
    awake = {_name(entry) for entry in (running if isinstance(running, list) else [])}
    models = [_installed(entry, awake) for entry in tags if _name(entry)]
    return Look(address, version[:FEW], tuple(models))


def _name(entry: object) -> str:
    """The model's name of an entry of a list; empty where it has none that could be typed."""
    if not isinstance(entry, dict):
        return ""
    name = entry.get("model") or entry.get("name")
    return name if isinstance(name, str) and name.isprintable() and len(name) <= NAME else ""


def _installed(entry: dict[str, Any], awake: set[str]) -> Installed:
    details, size = entry.get("details"), entry.get("size")
    if not isinstance(details, dict):
        details = {}
    parameters, quantization = (str(details.get(key) or "")[:FEW] for key in ("parameter_size", "quantization_level"))
    whole = size if isinstance(size, int) and size > 0 else 0
    return Installed(_name(entry), whole, parameters, quantization, _name(entry) in awake)


def whole(address: str) -> str:
    """An address as a person, or `OLLAMA_HOST`, may write it, with scheme and port, as Ollama's own client reads it."""
    scheme, there, rest = address.strip().partition("://")
    if not there:
        scheme, rest = "http", address.strip()
    host, slash, path = rest.partition("/")
    port = str(PORTS.get(scheme, USUAL_PORT) if there else USUAL_PORT)
    if host.count(":") > 1 and "]" not in host:
        host = f"[{host}]"
    start, colon, last = host.rpartition(":")
    if colon and last.isdigit():
        host, port = start, last
    return f"{scheme}://{host or '127.0.0.1'}:{port}{slash}{path}".rstrip("/")


def short(address: str) -> str:
    """An address as it is told: without the scheme that goes without saying, and without a password."""
    scheme, _, rest = whole(address).partition("://")
    host, slash, path = rest.partition("/")
    rest = f"{host.rpartition('@')[2]}{slash}{path}"
    return rest if scheme == "http" else f"{scheme}://{rest}"


def host(address: str) -> str:
    """The name of the machine of an address; empty where it names none."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(whole(address)).hostname or ""
    except ValueError:
        return ""


def _get(address: str, path: str, seconds: float) -> dict[str, Any]:
    """The object that the server answers. Raises ModelFailed."""
    import http.client
    from urllib.parse import urlsplit

    late = threading.Event()
    connection: Any = None
    watch = None
    try:
        parts = urlsplit(whole(address))
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError(address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname, parts.port, timeout=seconds)
    except (ValueError, http.client.InvalidURL):
        raise ModelFailed(
            "absent",
            f"{address[:80]} is no address of a server.",
            "memoranda config agent.host http://127.0.0.1:11434",
        ) from None
    try:
        connection.connect()
        # a timeout is for each read: one that sends a byte now and then would be waited for for ever
        watch = threading.Timer(seconds, _break_off, (connection.sock, late))
        watch.daemon = True
        watch.start()
        connection.request("GET", parts.path + path, headers=_headers())
        answer = connection.getresponse()
        body = answer.read(LARGEST)
        if late.is_set():
            raise TimeoutError
        if answer.status != 200:
            raise _refusal(address, answer.status)
        if answer.length:
            raise _cut(address)
        found = json.loads(body)
    except TimeoutError:
        raise _slow(address, seconds) from None
    except (http.client.RemoteDisconnected, http.client.IncompleteRead, ConnectionResetError, BrokenPipeError):
        raise (_slow(address, seconds) if late.is_set() else _cut(address)) from None
    except OSError:
        raise absent(address) from None
    except (http.client.HTTPException, ValueError, RecursionError):
        raise (_slow(address, seconds) if late.is_set() else _strange(address)) from None
    finally:
        if watch is not None:
            watch.cancel()
        connection.close()
    if not isinstance(found, dict):
        raise _strange(address)
    return found


def _break_off(socket: Any, late: threading.Event) -> None:
    """End a call that has had its seconds: whoever reads it hears that at once."""
    from socket import SHUT_RDWR
    from socket import socket as plain

    late.set()
    try:
        plain.shutdown(socket, SHUT_RDWR)
    except OSError:
        pass  # it is closed already


def _headers() -> dict[str, str]:
    """As Ollama's own client sends them; a key only where the person has set one for it."""
    key = os.environ.get("OLLAMA_API_KEY", "")
    return {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})


def absent(address: str) -> ModelFailed:
    return ModelFailed("absent", f"Nothing answers at {short(address)}.", "Start Ollama: ollama serve")


def _slow(address: str, seconds: float) -> ModelFailed:
    return ModelFailed("slow", f"{short(address)} did not answer within {seconds:g} s.", AGAIN)


def _cut(address: str) -> ModelFailed:
    return ModelFailed("cut", f"The connection to {short(address)} broke.", AGAIN)


def _strange(address: str) -> ModelFailed:
    says = f"What answers at {short(address)} does not talk like Ollama."
    return ModelFailed("broken", says, "memoranda config agent.host names another address.")


def _refusal(address: str, status: int) -> ModelFailed:
    if status == 404 or 300 <= status < 400:
        return _strange(address)
    if status in (408, 429, 502, 503, 504):
        return ModelFailed("busy", f"Ollama at {short(address)} is too busy (status {status}).", AGAIN)
    return ModelFailed("refused", f"{short(address)} would not answer (status {status}).", AGAIN)
