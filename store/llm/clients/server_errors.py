"""Errors of a model server in our own words: each a ModelFailed with the cause and the next step, without the server's
text."""

from collections.abc import Callable

from store.base.errors import ModelFailed
from store.llm.endpoint import short

LOOK = "Look whether it runs: ollama ps"
SMALLER = "Use a smaller one: memoranda config agent.model qwen2.5:1.5b"
LESS = "Ask about less at a time."


def server_unreachable(address: str) -> ModelFailed:
    return ModelFailed("absent", f"Nothing answers at {short(address)}.", "Start Ollama: ollama serve")


def timed_out(who: str) -> ModelFailed:
    return ModelFailed("slow", f"{who} did not answer in time.", LOOK)


def stopped(address: str = "") -> ModelFailed:
    return ModelFailed("stopped", "The question was cancelled.")


def truncated(address: str) -> ModelFailed:
    return ModelFailed("cut", f"The connection to {short(address)} broke.", LOOK)


def unexpected_reply(address: str) -> ModelFailed:
    says = f"What answers at {short(address)} is not an Ollama server."
    return ModelFailed("broken", says, "memoranda config agent.host names another address.")


def prompt_too_long(name: str) -> ModelFailed:
    return ModelFailed("long", f"The question is longer than {name} reads.", LESS)


def unloaded(failed: ModelFailed, name: str) -> ModelFailed:
    """Return the error for a model that could not be loaded. A timeout or a broken connection then has the kind
    `unloaded`, as the question is not at fault."""
    if failed.kind not in ("slow", "cut", "broken"):
        return failed
    return ModelFailed("unloaded", f"{name} could not be loaded. {failed.message}", SMALLER)


def status(address: str, number: int, text: str = "", name: str = "") -> ModelFailed:
    """Return the error for a status other than 200; `name` is the model that was asked, if any."""
    where = f"Ollama at {short(address)}"
    if "memory" in text and number not in (404, 503):
        return ModelFailed("refused", f"Ollama does not have enough memory for {name}.", SMALLER)
    if number == 404:
        if not name:
            return unexpected_reply(address)
        return ModelFailed("missing", f"Ollama has no model {name}.", f"ollama pull {name}")
    if number in (408, 429, 502, 503, 504):
        return ModelFailed("busy", f"{where} is too busy (status {number}).", LOOK)
    if number in (413, 414, 422, 431):
        return prompt_too_long(name or where)
    if 300 <= number < 500:
        return ModelFailed("refused", f"{short(address)} refused the request (status {number}).", LOOK)
    return ModelFailed("broken", f"{where} reported an internal error (status {number}).", LOOK)


_FAILURES: dict[Callable[[str], ModelFailed], str] = {
    stopped: "Cancelled",
    timed_out: "DeadlineExceeded TimeoutError",
    server_unreachable: "ConnectError ConnectTimeout ConnectionError OSError",
    truncated: "NetworkError RemoteProtocolError TimeoutException RemoteDisconnected IncompleteRead"
    " ConnectionResetError BrokenPipeError",
    unexpected_reply: "ValueError TypeError AttributeError KeyError RecursionError ResponseTooLarge HTTPError"
    " InvalidURL HTTPException RequestError",
}
_BY_NAME = {name: failure for failure, names in _FAILURES.items() for name in names.split()}
"""Name of an exception, of ours, Python's, httpx's or Ollama's client, → the error for it; by name, as the clients are
imported late."""


def failure(error: Exception, address: str, who: str = "") -> ModelFailed:
    """Return the failure for an error of a client, in our words; `who` was asked. Raise an unknown error."""
    if isinstance(error, ModelFailed):
        return error
    found = next((_BY_NAME[one.__name__] for one in type(error).__mro__ if one.__name__ in _BY_NAME), None)
    if found is None:
        raise error
    return found(who or f"Ollama at {short(address)}" if found is timed_out else address)
