"""Configured additions to every request to an embedding server: headers, and input types."""

import os
import re
from collections.abc import Sequence

from store.embedding.provider import ProviderDown

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OWN = frozenset(("content-length", "content-type", "host", "transfer-encoding", "connection"))
"""Headers that the client itself sets."""


def request_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of `NAME: VALUE` lines; a value of `$NAME` is read from that environment variable. Raise
    ProviderDown for a line in another form, and for an empty variable."""
    mend = "memoranda config embedding.headers"
    found = {}
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not value or not _NAME.fullmatch(name) or name.lower() in OWN:
            raise ProviderDown(f"“{name[:40]}” is not a header that can be sent.", f"{mend} 'NAME: VALUE'")
        if value.startswith("$"):
            variable, value = value[1:], os.environ.get(value[1:], "")
            if not value:
                raise ProviderDown(f"The environment variable {variable[:80]} is empty.", f"export {variable[:80]}=…")
        if not (value.isascii() and value.isprintable()):
            raise ProviderDown(f"The value of the header {name} cannot be sent.", mend)
        found[name] = value
    return found


def input_types(names: Sequence[str]) -> tuple[str, str] | None:
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
