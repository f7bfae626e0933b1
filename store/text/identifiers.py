"""The words inside of identifiers: getUserName, XMLParser2, ERR_TIMEOUT, path/to/file."""

import re

_HUMP = re.compile(r"\b(?=\w*[^\W\d_][A-Z]|\w*[A-Z][A-Z][a-z]|\w*[^\W\d_]\d|\w*\d[^\W\d_])[^\W_]{3,80}\b|(?<=_)[^\W_]{3,80}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_NAMED = re.compile(r"[_/\\:.#@-]\w|[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]")
MOST = 200  # names of one text that are split


def parts(word: str) -> list[str]:
    """The words of one identifier, [] where it is one word: getUserName → get User Name."""
    found = _PARTS.findall(word)
    return found if len(found) > 1 else []


def words(text: str) -> str:
    """The words inside of the names in a text that no space and no mark parts, each with a space before it."""
    names = list(dict.fromkeys(_HUMP.findall(text)))[:MOST]
    return "".join(f" {part}" for part in dict.fromkeys(part for name in names for part in parts(name) if len(part) > 1))


def is_identifier(word: str) -> bool:
    """Whether a word is written as a name in code, a path, a number of an issue or an error's code."""
    return bool(_NAMED.search(word))
