"""Split identifiers into words: getUserName, XMLParser2, ERR_TIMEOUT, path/to/file."""

import re

_NAME = re.compile(r"(?<![^\W_])[^\W_]{3,80}(?![^\W_])")
_MIXED = re.compile(r"[^\W\d_][A-Z]|[^\W\d_]\d|\d[^\W\d_]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_JOINED = re.compile(r"(?<![^\W_])[^\W_]++(?:[<>=~.:/\\_@#+*-]++[^\W_]++)++")
MOST = 200  # names of one text that are split
LONGEST = 32  # words of one name that symbols join


def parts(word: str) -> list[str]:
    """Return the words of one identifier, [] where it is one word: getUserName → get User Name."""
    found = _PARTS.findall(word)
    return found if len(found) > 1 else []


def words(text: str) -> str:
    """Return the words in the compound names of a text, each with a space before it."""
    names = list(dict.fromkeys(filter(_MIXED.search, _NAME.findall(text))))[:MOST]
    found = dict.fromkeys(part for name in names for part in parts(name) if len(part) > 1)
    return "".join(f" {part}" for part in found)


def compounds(text: str) -> list[str]:
    """Return what symbols join into one name, as the words that follow each other, the first LONGEST of them:
    `sphinx<9` → `sphinx 9`."""
    names = list(dict.fromkeys(_JOINED.findall(text)))[:MOST]
    return [" ".join(re.findall(r"[^\W_]+", one)[:LONGEST]) for one in names]
