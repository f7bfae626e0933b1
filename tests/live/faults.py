"""What can go wrong between a client and Ollama, to be asked for by name."""

from typing import NamedTuple

KINDS = {
    "missing": "404, as for a model that is not there",
    "busy": "503, as of a full queue",
    "gateway": "502 and a page, as of a proxy",
    "error": "an error as a line in mid-stream",
    "undone": "the stream ends, and nobody said that it is done",
    "cut": "the connection is reset",
    "empty": "a body of nothing",
    "page": "a page of HTML in the place of JSON",
    "other": "JSON, and not what was asked for",
    "fields": "the answer without the fields it is read by",
    "hang": "nothing comes, for `seconds`",
    "trickle": "a line every `seconds`",
    "slow": "`seconds` before anything, as of a cold model",
}


class Fault(NamedTuple):
    """What is to go wrong."""

    kind: str
    path: str = "/api/chat"
    after: int = 0
    times: int = 1
    seconds: float = 60.0


class Said(Exception):
    """All was said that is to be said; the connection stays."""


class Gone(Exception):
    """Whoever asked has closed the connection."""


BODIES = {  # whole answers: status, body, content type
    "gateway": (502, b"<html><body>502 Bad Gateway</body></html>", "text/html"),
    "empty": (200, b"", "application/json"),
    "page": (200, b"<!DOCTYPE html><html><body>Sign in</body></html>", "text/html"),
    "other": (200, b"[1, 2]\n", "application/json"),
    "fields": (200, b'{"done": true}\n', "application/json"),
}
