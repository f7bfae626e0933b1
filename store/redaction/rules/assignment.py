"""The assignment rule: a value assigned to a credential's name, in the syntax of programs, files and shells.

In quotes it is cut unless it is a placeholder. Without quotes, as a function's argument, or where the name is just
"key", it must look random too (`is_random`).
"""

import re
from functools import cache

from store.redaction.placeholders import (
    is_credential,
    is_number,
    is_opaque,
    is_random,
    is_serial,
    is_short_password,
    is_uuid,
)
from store.redaction.rules.family import expand, expand_words

LABEL = "HARDCODED_CREDENTIAL"
_SHORTEST_BARE = 12
_SHORTEST_LOT = 16
_LONGER = 24
_SHORTEST_NUMBER = 15
"""Digits; a shorter number is a count, a time or an id."""
_LONGEST_NAME = 64
_LONGEST_WORD = 40
"""Letters of a word in a language that joins them."""

_NAMING = ("token", "key", "secret", "password", "credential")
_WEAK = ("key", "access", "private", "auth", "clave")
# A key that is no credential: it names a row, an entry, a translation.
_NO_LOCK = (
    "digi",
    "public",
    "primary",
    "foreign",
    "cache",
    "sort",
    "partition",
    "lookup",
    "dict",
    "hash",
    "group",
    "publish",
)
_SPOKEN = ("pass", "pwd", "pw", "psw", "pword", "contrase")
_UNQUOTED = ("bare", "env", "cell", "word", "argument")
_IS = ("is", "was", "es", "era")
_PATHS = ("/", "./", "../", "~/", "#", "arn:", "http://", "https://")
_FILES = tuple(".json .env .txt .md .yml .yaml .toml .ini .cfg .conf .js .ts .py .sh .pem".split())


@cache
def _name_words() -> tuple[str, ...]:
    return expand_words("{names}")


@cache
def _name_pattern() -> re.Pattern[str]:
    return re.compile(expand("{credential_name}"), re.IGNORECASE | re.ASCII)


def names_credential(name: str) -> bool:
    """Return whether a key of a mapping is one of the names of the assignment rule: `password`, `apiKey`,
    `client_secret`."""
    low = name.lower()
    return any(word in low for word in _name_words()) and bool(_name_pattern().search(name[-_LONGEST_NAME:]))


def is_assigned(match: re.Match[str], value: str) -> bool:
    """Return whether a match of the assignment rule is cut; `match` has the groups of its pattern."""
    how = match.lastgroup or ""
    text = match.string
    name = match["name"].lower()
    if how in _UNQUOTED and not any(map(str.isdigit, value)) and not _is_run(value):
        return False  # the rules for random values would find it too, at more cost
    spoken = name.startswith(_SPOKEN)
    if not is_credential(value):
        return spoken and how not in _UNQUOTED and is_short_password(value)
    inner = value.rstrip(" =:")
    if len(inner) < len(value) and names_credential(inner):  # quotes within quotes: this is a name
        return False
    if (value.startswith(_PATHS) or names_file(value)) and not is_random(value):
        return False
    if _is_name(value) and (names_credential(value) or (not spoken and any(map(value.lower().__contains__, _NAMING)))):
        return False
    if not spoken and not value.isascii() and not is_random(value.encode("ascii", "ignore").decode()):
        return False
    if value.partition("=")[2].startswith(_PATHS):  # the name of a setting and an address
        return False
    if not spoken and value[0] in "[(^\\" and not is_random(value):  # a pattern of a lexer
        return False
    before = "" if spoken else _before(text, match.start())
    if any(word in before for word in _NO_LOCK):
        return False
    if len(value) < _LONGEST_WORD and value[1:].isalpha() and value[1:].islower() and _is_weak(match):
        return False
    if how in ("bare", "env", "cell"):
        return _is_bare(match, value, how)
    if how == "argument":
        return (
            is_random(value)
            or is_serial(value)
            or is_opaque(value)
            or (not _is_weak(match) and is_number(value, _SHORTEST_NUMBER))
        )
    if how == "word":
        return _is_said(match, value, before)
    if _is_weak(match):
        return "\\" not in value and (is_random(value, 20) or is_serial(value, 24))
    if name == "pass" and " " in value:
        return False
    if how == "back" and _names_code(value):
        return False
    if " " in value and not spoken:  # a sentence about a token
        return any(is_random(word) for word in value.split())
    return True


def _is_name(value: str) -> bool:
    """Return whether a value is words joined by punctuation, which names a credential: `X-Access-Token`,
    `HOUSE_API_KEY`."""
    words = value.replace("-", "_").replace(".", "_").split("_")
    return len(words) > 1 and all(not word or (word.isascii() and word.isalpha()) for word in words)


def names_file(value: str) -> bool:
    """Return whether a value is the place of a file: `config/keys.json`, `C:/keys.json`, `.env`."""
    place = value.partition(":")[0] if value[1:3] not in (":/", ":\\") else value[3:]
    if value.startswith(".") and "/" not in value:
        return value.replace(".", "").replace("-", "").isalpha()
    return ("/" in place or "\\" in place) and place.lower().endswith(_FILES)


def _names_code(value: str) -> bool:
    """Return whether a value in back quotes is a name or a call, as in a sentence about code."""
    if value.endswith(")"):
        return True
    return value.replace(".", "_").isidentifier() and not any(map(str.isdigit, value))


def _is_bare(match: re.Match[str], value: str, how: str) -> bool:
    shortest = _SHORTEST_LOT if _is_weak(match) else _SHORTEST_BARE
    if is_random(value, shortest):
        return True
    if _is_run(value):
        return True
    if not _is_weak(match) and (is_serial(value, 16) or is_uuid(value)):
        return how != "cell" or not value.isdigit()
    if not _is_weak(match) and how != "cell" and is_number(value, _SHORTEST_NUMBER):  # of a table it is an id
        return True
    # ENV style, API_KEY=…: in most code a lower-case name is an argument or an attribute.
    return (
        how == "env"
        and len(value) >= _SHORTEST_LOT
        and not _is_weak(match)
        and match["name"].isupper()
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
    )


def _is_said(match: re.Match[str], value: str, before: str) -> bool:
    """Judge a word that follows the name without a sign of assignment: `--token …`, `the token is …`, `a key …`."""
    if _is_weak(match):
        start = match.start() - len(before)
        if any(word in _before(match.string, start - 1) for word in _NO_LOCK) or (not before and is_uuid(value)):
            return False
    preceding = match.string[match.end("name") : match.start("word")].strip(" \t\"'`").rpartition(" ")[2] in _IS
    if preceding and not _is_weak(match):
        return is_random(value, _SHORTEST_BARE) or is_serial(value, _SHORTEST_BARE)
    return (
        is_random(value, _SHORTEST_LOT if before.startswith("--") else 20) or is_serial(value, 32) or is_opaque(value)
    )


def _is_run(value: str) -> bool:
    """Return whether a value, or the part after its prefix, is opaque: `live_…`."""
    value = value.rstrip("=")
    return is_opaque(value) or ("_" in value and is_opaque(value.rpartition("_")[2], _LONGER))


def _is_weak(match: re.Match[str]) -> bool:
    """Return whether the name is "key" without a qualifier (`api`, `access`, also before a blank), or another word
    that seldom names a credential."""
    end = match.end("name")
    return match["name"].lower() in _WEAK and not names_credential(match.string[max(0, end - _LONGEST_NAME) : end])


def _before(text: str, at: int) -> str:
    """Return the part of the name before `at`, in lower case."""
    start = at
    while start > 0 and at - start < _LONGEST_NAME and (text[start - 1].isalnum() or text[start - 1] in "-_"):
        start -= 1
    return text[start:at].lower()


def is_set(match: re.Match[str], value: str) -> bool:
    before = _before(match.string, match.start())
    if before.startswith(("get", "find", "has", "read", "fetch", "load", "is_", "delete", "remove")):
        return False
    if match["name"].lower().startswith(_SPOKEN) and (is_short_password(value) or is_credential(value)):
        return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not names_credential(value)
    return is_assigned(match, value)


def is_element(match: re.Match[str], value: str) -> bool:
    """Return whether an element's value is cut: between tags, where a page has its labels, only with a digit."""
    if _is_weak(match):
        return is_random(value, 20)
    if not is_credential(value) and not (match["name"].lower().startswith(_SPOKEN) and is_short_password(value)):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
