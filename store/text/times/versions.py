"""Versions in a question as times: since 2.1, between v3 and v4."""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime, timedelta

from store.base.clock import from_ms

Releases = Mapping[str, tuple[str, str]]  # version → (sha, committed_at)
_PLAIN = re.compile(r"\d+(?:\.\d+)+")
_VERSION = re.compile(r"(v?)(\d+(?:\.\d+)*(?:[-.]?[a-z]+[-.]?\d*|-\d+)?)")


def timed(
    terms: Sequence[str], load: Callable[[], Releases], names: Container[tuple[str, ...]]
) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """Return (the words of a question with the second after its release in the place of each known version; that second
    → the version as it was written, the sha of the release). A number without a dot is one only behind one of the
    `names` for it, or with a `v`."""
    left: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    for word in terms:
        match, told = _VERSION.fullmatch(word), bool(left) and (left[-1],) in names
        if match and (match[1] or told or "." in word):
            known = load()
            named = [match[2] + end for end in ("", ".0", ".0.0")]
            if release := next((known[name] for name in named if name in known), None):
                after = datetime.fromisoformat(release[1]) + timedelta(seconds=1)
                second = from_ms(round(after.timestamp() * 1000)).lower()
                found[second], word = (word, release[0]), second
                left = left[: len(left) - told]
        left.append(word)
    return left, found


def newest(known: Releases) -> tuple[str, str]:
    """Return (sha, committed_at) of the last release of the whole repository; empty where there is none."""
    return max((one for name, one in known.items() if _PLAIN.fullmatch(name)), key=lambda one: one[1], default=("", ""))
