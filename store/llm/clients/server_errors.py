"""Errors of a model server in our own words, from `server_errors.toml`: each a ModelFailed with the cause and the next
step, without the server's text."""

import os

from store.base.errors import ModelFailed
from store.llm.endpoint import openai, server, short
from store.text.vocabulary import whole_file

FOLDER = os.path.dirname(__file__)
BUSY = (408, 429, 502, 503, 504)
LONG = (413, 414, 422, 431)


def failed(name: str, address: str, /, **parts: object) -> ModelFailed:
    """Return the failure of that name of the server at an address; `parts` fill in its message."""
    told, other = whole_file(FOLDER, "server_errors")["failures"][name], openai(address)
    parts |= {"where": short(address), "who": server(address)}
    parts["a_server"] = "a server of OpenAI's protocol" if other else "an Ollama server"
    next_step = told.get("other" if other else "ollama", "")
    return ModelFailed(told["kind"], told["message"].format(**parts), next_step.format(**parts))


def status(address: str, number: int, text: str = "", name: str = "") -> ModelFailed:
    """Return the error for a status other than 200; `name` is the model that was asked, if any."""
    if "memory" in text and number not in (404, 503):
        return failed("memory", address, name=name)
    if number == 404:
        return failed("missing" if name else "unexpected", address, name=name)
    if number in LONG:
        return failed("long", address, asked=name or _at(address))
    kind = "busy" if number in BUSY else "refused" if 300 <= number < 500 else "internal"
    return failed(kind, address, status=number)


def failure(error: Exception, address: str, who: str = "") -> ModelFailed:
    """Return the failure for an error of a client, found by its name, as the clients are imported late; `who` was
    asked. Raise an unknown error."""
    if isinstance(error, ModelFailed):
        return error
    listed = whole_file(FOLDER, "server_errors")["exceptions"].items()
    for one in type(error).__mro__:
        for name, exceptions in listed:
            if one.__name__ in exceptions.split():
                return failed(name, address, asked=who or _at(address))
    raise error


def _at(address: str) -> str:
    return f"{server(address)} at {short(address)}"
