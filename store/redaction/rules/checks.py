"""The checks of a match that its prefix or its context identifies: whether the value is one that was drawn by lot."""

import re

from store.redaction.placeholders import (
    is_basic,
    is_credential,
    is_grouped,
    is_naming,
    is_number,
    is_opaque,
    is_random,
    is_serial,
    is_template,
    is_token,
    is_uuid,
)

# --- Tokens with a prefix ---


def is_drawn(match: re.Match[str], value: str) -> bool:
    """Judge a token with a short prefix that ordinary names begin with too."""
    return is_random(value)


def is_after_filler(match: re.Match[str], value: str) -> bool:
    """Judge a token with a prefix that is itself a filler."""
    return is_random(value.lstrip("A"))


def is_long_lived(match: re.Match[str], value: str) -> bool:
    """Judge a token with a prefix of ten letters A, which would count as a filler."""
    return is_random(value[21:])


def is_aws_key(match: re.Match[str], value: str) -> bool:
    """Accept AWS's own examples too, which end in EXAMPLE: cutting one does no harm."""
    return value.endswith("EXAMPLE") or is_token(match, value)


def has_password(match: re.Match[str], value: str) -> bool:
    """Return whether the password in the address of a database is none of a sample."""
    return not is_template(match[1]) and "://user:pass@" not in match[0].lower()


# --- Headers, addresses, sentences ---


def has_digit(match: re.Match[str], value: str) -> bool:
    return any(map(str.isdigit, value))


def is_bearer(match: re.Match[str], value: str) -> bool:
    return is_random(value) or is_serial(value, 24)


def is_sent(match: re.Match[str], value: str) -> bool:
    """Judge a value after `Authorization: Bearer`: any with a digit, or too long for a word, unless it is a
    placeholder."""
    if not is_credential(value) or is_naming(value.rstrip("0123456789")):
        return False
    return any(map(str.isdigit, value)) or is_opaque(value)


def is_base64(match: re.Match[str], value: str) -> bool:
    return is_basic(value)


def is_npm_login(match: re.Match[str], value: str) -> bool:
    return match[0].startswith("_p") or is_basic(value)


def is_random_user(match: re.Match[str], value: str) -> bool:
    """Judge the user of an address that has no password."""
    return is_random(value, 20)


def is_webhook(match: re.Match[str], value: str) -> bool:
    """Return whether the last part of a webhook's address is random."""
    return is_random(value, 20) or is_serial(value, 24) or (is_uuid(value) and any(map(str.isdigit, value)))


def is_parameter(match: re.Match[str], value: str) -> bool:
    return is_random(value, 24) or is_opaque(value, 24)


def is_short(match: re.Match[str], value: str) -> bool:
    """Judge a short value after a prefix that a name may begin with."""
    return is_random(value, 11) or is_opaque(value, 11)


_NO_WORDS = frozenset(
    "a an the and or for with was were are is from not but his has had of to in on at by be it as".split()
)


def is_phrase(match: re.Match[str], value: str) -> bool:
    """Return whether a run of words is no sentence: the lists for such phrases do not contain these words."""
    return _NO_WORDS.isdisjoint(value.split())


# --- Keys of services ---

_SUMS = ("h1:", "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "md5:")  # of files, in lists of installed packages
_VERSION = "v0.0.0-"
# what a service's message of an error names; each is written in four ways
_NUMBERED = tuple(
    f"{what}{sign}id" for what in ("request", "trace", "correlation", "message", "run") for sign in ("_", "-", " ", "")
)
_SHORTEST = 16
_SHORTEST_NUMBER = 32
"""Digits: longer than any identifier of a service."""
_SHORTEST_GIVEN = 10
"""Directly after `name_key=`."""


def is_service_key(match: re.Match[str], value: str) -> bool:
    text, start = match.string, match.start("value")
    if text.endswith(_SUMS, 0, start) or value.startswith(_VERSION):
        return False
    if text[max(0, start - 24) : start].rstrip(" :=\"'`").lower().endswith(_NUMBERED):
        return False
    given = text[max(0, start - 4) : start].rstrip(" \"'")[-1:] in ("=", ":")
    if is_random(value, _SHORTEST_GIVEN if given else _SHORTEST):
        return True
    value = value.rstrip("=")
    if is_uuid(value):
        return any(map(str.isdigit, value))
    return is_serial(value, 20) or is_opaque(value) or is_number(value, _SHORTEST_NUMBER) or is_grouped(value)


def is_service_value(match: re.Match[str], value: str) -> bool:
    """Judge a value directly after a service's name."""
    return len(value) >= 20 and is_service_key(match, value)
