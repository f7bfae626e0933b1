"""Versions in a question as times: since 2.1, between v3 and v4."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime, timedelta

from store.base.clock import from_ms

Releases = Mapping[str, str]  # version → when it was committed
_PLAIN = re.compile(r"\d+(?:\.\d+)+")
_VERSION = re.compile(r"(v?)(\d+(?:\.\d+)*(?:[-.]?[a-z]+[-.]?\d*|-\d+)?)")


def timed(
    terms: Sequence[str], load: Callable[[], Releases], names: Container[tuple[str, ...]]
) -> tuple[list[str], dict[str, str]]:
    """Return (the words of a question with the second after its release in the place of each known version; that second
    → the version as it was written). A number without a dot is one only behind one of the
    `names` for it, or with a `v`."""
    left: list[str] = []
    found: dict[str, str] = {}
    for word in terms:
        told = bool(left) and (left[-1],) in names
        named = is_version(word) or (told and _VERSION.fullmatch(word))
        if named and (release := release_of(word, load())):
            after = datetime.fromisoformat(release) + timedelta(seconds=1)
            second = from_ms(round(after.timestamp() * 1000)).lower()
            found[second], word = word, second
            left = left[: len(left) - told]
        left.append(word)
    return left, found


def is_version(word: str) -> bool:
    """Return whether a small word is written as versions are: `v3`, `2.1`, `2.0-rc1`."""
    match = _VERSION.fullmatch(word)
    return bool(match and (match[1] or "." in word))


def release_of(name: str, known: Releases) -> str:
    """Return when a version or a tag was committed, with or without a `v` before it and zeros behind; empty where it is
    not known."""
    plain = name.lower().removeprefix("v")
    return next((known[plain + end] for end in ("", ".0", ".0.0") if plain + end in known), "")


def newest(known: Releases) -> str:
    """Return when the last version of the whole repository was committed; empty where there is none."""
    return max((at for name, at in known.items() if _PLAIN.fullmatch(name)), default="")
