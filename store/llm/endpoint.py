"""The address of the model server: parse, normalise, shorten for display."""

import os
from typing import TYPE_CHECKING

from store.base.errors import ModelFailed

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from store.config.configuration import Config

PORTS = {"http": 80, "https": 443}
PORT = 11434  # default where no scheme is given
HERE = "127.0.0.1"  # default host
NEAR = (HERE, "localhost", "::1", "0.0.0.0")
SHOWN = 80  # characters of a displayed address


def of(config: "Config") -> str:
    """Return the configured address, with scheme, host and port."""
    return whole(named(config))


def named(config: "Config") -> str:
    """Return the address as somebody wrote it; empty for the default."""
    return str(config["agent.host"]) or os.environ.get("OLLAMA_HOST", "")


def whole(written: str) -> str:
    """Return an address as written by a person or in `OLLAMA_HOST`, completed with scheme and port like Ollama's client
    does.

    A name and password before an `@` are removed: the client does not send them, and they must not be shown. A password
    that contains `/`, `?` or `#` makes the result an invalid address.
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
    """Return whether the server at an address has OpenAI's API: its path ends in `/v1`."""
    return whole(address).endswith("/v1")


def headers(address: str) -> dict[str, str]:
    """Return the header with the key that the server gets, if one is set: that of Ollama's client, or for another
    server MEMORANDA_API_KEY or OPENAI_API_KEY. It is sent to no other address."""
    names = ("MEMORANDA_API_KEY", "OPENAI_API_KEY") if openai(address) else ("OLLAMA_API_KEY",)
    key = next(filter(None, map(os.environ.get, names)), "")
    return {"Authorization": f"Bearer {key}"} if key else {}


def server(address: str, begins: bool = True) -> str:
    """Return what to call the server in a message, at the beginning of a sentence or within one."""
    return "Ollama" if not openai(address) else "The server" if begins else "the server"


def split(address: str) -> "SplitResult":
    """Return the parts of a valid address. Raise ModelFailed."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(whole(address))
        host = parts.hostname or ""
        if parts.scheme in PORTS and parts.port and host and host.isprintable() and " " not in host:
            return parts
    except ValueError:
        pass
    raise ModelFailed(
        "absent",
        f"{short(address)} is not the address of a server.",
        "memoranda config agent.host http://127.0.0.1:11434",
    ) from None


def short(address: str) -> str:
    """Return an address for display: without `http://`, at most SHOWN characters."""
    scheme, _, rest = whole(address).partition("://")
    return (rest if scheme == "http" else f"{scheme}://{rest}")[:SHOWN]


def host(address: str) -> str:
    """Return the host name of an address; empty for an invalid one."""
    try:
        return split(address).hostname or ""
    except ModelFailed:
        return ""
