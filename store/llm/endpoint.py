"""The model server: its address, a circuit breaker, and its errors in our own words.

The address of the model server: parse, normalise, shorten for display.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.text.words import read_language_file

# Circuit breaker: after failures a server is not asked for a while, longer each time, so that nobody waits
# repeatedly.

FAILURES_TO_OPEN = 3  # consecutive failures that open the breaker
GONE_KINDS = ("absent", "missing")  # kinds of which one failure opens it; it closes when the server is seen again
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 30.0, 300.0  # seconds it stays open: the first time, and at most
COUNTED_KINDS = (*GONE_KINDS, "busy", "slow", "cut", "broken", "refused", "unloaded")  # failures of the server

_breakers: dict[str, CircuitBreaker] = {}


class CircuitBreaker:
    """The breaker of one server. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Close it: the server may be asked at once."""
        self._failures = 0
        self._pause = 0.0
        self._until = 0.0
        self._last: ModelFailed | None = None

    def record_failure(self, failure: ModelFailed) -> ModelFailed:
        """Count a failure and return it; open the breaker after FAILURES_TO_OPEN of them, or one of GONE_KINDS."""
        if failure.kind not in COUNTED_KINDS:
            return failure
        self._failures = FAILURES_TO_OPEN if failure.kind in GONE_KINDS else self._failures + 1
        if self._failures >= FAILURES_TO_OPEN:
            self._pause = min(LONGEST_PAUSE_SECONDS, self._pause * 2 or FIRST_PAUSE_SECONDS)
            self._until = self._clock() + self._pause
            self._last = failure
        return failure

    def record_answer(self) -> None:
        """Forget the failures after an answer."""
        self.reset()

    def note_reachable(self) -> None:
        """Close it if it is open for a failure of GONE_KINDS: the server was seen, with a model. Other failures stay
        counted, as a list of models does not show that the server answers."""
        if self._last is not None and self._last.kind in GONE_KINDS:
            self.reset()

    def why_open(self, *, ends: bool = False) -> ModelFailed | None:
        """Return why the server may not be asked now, with the seconds left; None when it may be. `ends`: the process
        does, and asks nothing again."""
        left = self._until - self._clock()
        if self._last is None or left <= 0:
            return None
        again = "" if ends else f"It is asked again in {max(1, round(left))} s."
        return ModelFailed(self._last.kind, self._last.message, f"{again} {self._last.next}".strip())


def breaker_of(address: str) -> CircuitBreaker:
    """Return the breaker of a server in this process."""
    return _breakers.setdefault(address, CircuitBreaker())


def reset_breakers() -> None:
    """Close all breakers."""
    _breakers.clear()


SCHEME_PORTS = {"http": 80, "https": 443}
DEFAULT_PORT = 11434  # default where no scheme is given
DEFAULT_HOST = "127.0.0.1"  # default host
LOCAL_HOSTS = (DEFAULT_HOST, "localhost", "::1", "0.0.0.0")
MAX_SHOWN_ADDRESS = 80  # characters of a displayed address


def get_server_address(config: Config) -> str:
    """Return the configured address, with scheme, host and port."""
    return complete_address(get_written_address(config))


def get_written_address(config: Config) -> str:
    """Return the configured address as it was written; empty for the default."""
    return str(config["agent.host"]) or os.environ.get("OLLAMA_HOST", "")


def complete_address(written: str) -> str:
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
    port = str(SCHEME_PORTS.get(scheme, DEFAULT_PORT) if there else DEFAULT_PORT)
    if host.count(":") > 1 and "]" not in host:
        host = f"[{host}]"
    start, colon, last = host.rpartition(":")
    if colon and last.isdigit():
        host, port = start, last
    return f"{scheme}://{host or DEFAULT_HOST}:{port}{slash}{path}".rstrip("/")


def is_openai_server(address: str) -> bool:
    """Return whether the server at an address has OpenAI's API: its path ends in `/v1`."""
    return complete_address(address).endswith("/v1")


def make_key_headers(address: str) -> dict[str, str]:
    """Return the header with the key that the server gets, if one is set: that of Ollama's client, or for another
    server MEMORANDA_API_KEY or OPENAI_API_KEY. It is sent to no other address."""
    names = ("MEMORANDA_API_KEY", "OPENAI_API_KEY") if is_openai_server(address) else ("OLLAMA_API_KEY",)
    key = next(filter(None, map(os.environ.get, names)), "")
    return {"Authorization": f"Bearer {key}"} if key else {}


def name_server(address: str, begins: bool = True) -> str:
    """Return what to call the server in a message, at the beginning of a sentence or within one."""
    return "Ollama" if not is_openai_server(address) else "The server" if begins else "the server"


def split_address(address: str) -> SplitResult:
    """Return the parts of a valid address. Raise ModelFailed."""
    try:
        parts = urlsplit(complete_address(address))
        host = parts.hostname or ""
        if parts.scheme in SCHEME_PORTS and parts.port and host and host.isprintable() and " " not in host:
            return parts
    except ValueError:
        pass
    raise ModelFailed(
        "absent",
        f"{shorten_address(address)} is not the address of a server.",
        "memoranda config agent.host http://127.0.0.1:11434",
    ) from None


def shorten_address(address: str) -> str:
    """Return an address for display: without `http://`, at most MAX_SHOWN_ADDRESS characters."""
    scheme, _, rest = complete_address(address).partition("://")
    return (rest if scheme == "http" else f"{scheme}://{rest}")[:MAX_SHOWN_ADDRESS]


def get_host_name(address: str) -> str:
    """Return the host name of an address; empty for an invalid one."""
    try:
        return split_address(address).hostname or ""
    except ModelFailed:
        return ""


# Errors of a model server in our own words, from `server_errors.toml`: each a ModelFailed with the cause and the next
# step, without the server's text.

ERRORS_FOLDER = os.path.dirname(__file__)
BUSY_STATUSES = (408, 429, 502, 503, 504)
TOO_LONG_STATUSES = (413, 414, 422, 431)


def make_server_failure(name: str, address: str, /, **parts: object) -> ModelFailed:
    """Return the failure of that name of the server at an address; `parts` fill in its message."""
    told, other = read_language_file(ERRORS_FOLDER, "server_errors")["failures"][name], is_openai_server(address)
    parts |= {"where": shorten_address(address), "who": name_server(address)}
    parts["a_server"] = "a server of OpenAI's protocol" if other else "an Ollama server"
    next_step = told.get("other" if other else "ollama", "")
    return ModelFailed(told["kind"], told["message"].format(**parts), next_step.format(**parts))


def failure_of_status(address: str, number: int, text: str = "", name: str = "") -> ModelFailed:
    """Return the error for a status other than 200; `name` is the model that was asked, if any."""
    if "memory" in text and number not in (404, 503):
        return make_server_failure("memory", address, name=name)
    if number == 404:
        return make_server_failure("missing" if name else "unexpected", address, name=name)
    if number in TOO_LONG_STATUSES:
        return make_server_failure("long", address, asked=name or _describe_server(address))
    kind = "busy" if number in BUSY_STATUSES else "refused" if 300 <= number < 500 else "internal"
    return make_server_failure(kind, address, status=number)


def failure_of_error(error: Exception, address: str, who: str = "") -> ModelFailed:
    """Return the failure for an error of a client, found by its name, as the clients are imported late; `who` was
    asked. Raise an unknown error."""
    if isinstance(error, ModelFailed):
        return error
    listed = read_language_file(ERRORS_FOLDER, "server_errors")["exceptions"].items()
    for one in type(error).__mro__:
        for name, exceptions in listed:
            if one.__name__ in exceptions.split():
                return make_server_failure(name, address, asked=who or _describe_server(address))
    raise error


def _describe_server(address: str) -> str:
    """Return what to call a server with its address, in a message."""
    return f"{name_server(address)} at {shorten_address(address)}"
