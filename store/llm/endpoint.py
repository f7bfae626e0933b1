"""The address of the server that has the models: which one it is, whole and as it is shown."""

import os
from typing import TYPE_CHECKING

from store.base.errors import ModelFailed

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from store.config.configuration import Config

PORTS = {"http": 80, "https": 443}
PORT = 11434  # where no scheme is given
HERE = "127.0.0.1"  # where no host is given
NEAR = (HERE, "localhost", "::1", "0.0.0.0")
SHOWN = 80  # characters of it


def of(config: "Config") -> str:
    """The one server that is asked, whole."""
    return whole(str(config["agent.host"]) or os.environ.get("OLLAMA_HOST", ""))


def whole(written: str) -> str:
    """An address as a person, or `OLLAMA_HOST`, may write it, with scheme and port, as Ollama's own client reads it.

    Without the name and the password that stand before an `@`: that client sends none, and nobody is to see them. A
    password with a `/` in it, or the like, makes an address that is none.
    """
    scheme, there, rest = written.strip().partition("://")
    if not there:
        scheme, rest = "http", written.strip()
    scheme = scheme.lower()
    before, _, rest = rest.rpartition("@")
    if any(sign in before for sign in "/?#"):
        return f"{scheme}:///@{rest}"
    host, slash, path = rest.partition("/")
    port = str(PORTS.get(scheme, PORT) if there else PORT)
    if host.count(":") > 1 and "]" not in host:
        host = f"[{host}]"
    start, colon, last = host.rpartition(":")
    if colon and last.isdigit():
        host, port = start, last
    return f"{scheme}://{host or HERE}:{port}{slash}{path}".rstrip("/")


def openai(address: str) -> bool:
    """Whether the server at an address speaks OpenAI's API: its path ends in `/v1`."""
    return whole(address).endswith("/v1")


def server(address: str) -> str:
    """What a server is called."""
    return "the server" if openai(address) else "Ollama"


def split(address: str) -> "SplitResult":
    """The parts of an address that can be asked. Raises ModelFailed."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(whole(address))
        host = parts.hostname or ""
        if parts.scheme in PORTS and parts.port and host and host.isprintable() and " " not in host:
            return parts
    except ValueError:
        pass
    raise none(address) from None


def short(address: str) -> str:
    """Return an address as it is shown: without `http://`."""
    scheme, _, rest = whole(address).partition("://")
    return (rest if scheme == "http" else f"{scheme}://{rest}")[:SHOWN]


def host(address: str) -> str:
    """The name of the machine of an address; empty where it names none."""
    try:
        return split(address).hostname or ""
    except ModelFailed:
        return ""


def none(address: str) -> ModelFailed:
    """That it is no address."""
    return ModelFailed(
        "absent",
        f"{short(address)} is no address of a server.",
        "memoranda config agent.host http://127.0.0.1:11434",
    )
