"""The words inside of identifiers: getUserName, XMLParser2, ERR_TIMEOUT, path/to/file."""

import re

_NAME = re.compile(r"(?<![^\W_])[^\W_]{3,80}(?![^\W_])")
_MIXED = re.compile(r"[^\W\d_][A-Z]|[^\W\d_]\d|\d[^\W\d_]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
MOST = 200  # names of one text that are split


def parts(word: str) -> list[str]:
    """The words of one identifier, [] where it is one word: getUserName → get User Name."""
    found = _PARTS.findall(word)
    return found if len(found) > 1 else []


def words(text: str) -> str:
    """The words inside of the names in a text that no space and no mark parts, each with a space before it."""
    names = list(dict.fromkeys(filter(_MIXED.search, _NAME.findall(text))))[:MOST]
    found = dict.fromkeys(part for name in names for part in parts(name) if len(part) > 1)
    return "".join(f" {part}" for part in found)
