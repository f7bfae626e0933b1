"""Decide whether two words are forms of one: by their beginning, and by their endings."""

import re
from functools import cache, lru_cache

from store.text import vocabulary


def shared_start(one: str, other: str) -> int:
    """Return how many letters two words share at their start."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def akin(one: str, other: str, least: int = 3, share: float = 0.6) -> bool:
    """Return whether two words share `least` letters at their start, and this share of the longer."""
    shared = shared_start(one, other)
    return shared >= least and shared >= share * max(len(one), len(other))


def inflected(one: str, other: str, least: int = 4, ending: int = 2) -> bool:
    """Return whether two words share `least` letters at their start, and all of the shorter but its last `ending`."""
    return shared_start(one, other) >= max(least, min(len(one), len(other)) - ending)


def same(one: str, other: str) -> bool:
    """Return whether two words are equal, have one stem, or begin alike."""
    return one == other or stem(one) == stem(other) or akin(one, other)


@lru_cache(4_096)
def stem(word: str) -> str:
    """Return a word without its ending, two letters at least; unchanged if it is short or a number."""
    found = _endings().sub("", word)
    return found if len(found) > 1 and word.isalpha() else word


@cache
def _endings() -> re.Pattern[str]:
    every = frozenset[str]().union(*vocabulary.endings("stem"))
    return re.compile(f"(?:{vocabulary.alternatives(every)})$")
