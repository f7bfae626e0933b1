"""Markers: words in a clause that ask for memory, set a rule, correct or confirm; and their places.

Matched on folded text, in a bounded number of clauses and within `WINDOW` letters of the beginning of each.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from store.learning.grammar import WINDOW, pattern, sign

FIRST, LAST = 14, 4  # clauses at the beginning and end of a sentence that are searched
LEADS = 6  # most filler words before a marker
COLONS = frozenset(":—–-")

_MARK = re.compile(
    r"(?<![,;:.…—–()])(?:[,;:…]|(?<=\w\w)\)|\.\.)[,;:.…—–()]*+(?=\s|$)|(?<=\s)[-–—]{1,2}(?=\s)|—|(?<=\s)\((?=\w)"
)


class Clause(NamedTuple):
    """A clause of a sentence: start, end, and the punctuation mark after it, empty at the end."""

    start: int
    end: int
    mark: str


class Marker(NamedTuple):
    """A marker: its kind, which is the name of its pattern; the number of its clause; start and end."""

    kind: str
    clause: int
    start: int
    end: int


def clauses(folded: str) -> list[Clause]:
    """Return the clauses of a sentence, separated by punctuation."""
    found, start = list[Clause](), 0
    for match in _MARK.finditer(folded):
        if match.start() > start:
            found.append(Clause(start, match.start(), match[0][0]))
        start = match.end()
    end = len(folded.rstrip(" .!?…"))
    if end > start:
        found.append(Clause(start, end, ""))
    return found


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(rf"[\s¡!¿.,;*_\"'-]*{pattern('leads').pattern}(?![\w'])[\s,.:;!¡-]*")


_SPACE = re.compile(r"[\s¡!¿.,;*_\"'-]*")


def starts(folded: str, start: int, end: int) -> list[int]:
    """Return where the content of a clause may begin: after none, one, … of its filler words."""
    found = [_SPACE.match(folded, start, end).end()]  # type: ignore[union-attr]
    while len(found) <= LEADS and (lead := _lead().match(folded, found[-1], end)) and lead.end() > found[-1]:
        found.append(lead.end())
    return found


def begins(folded: str) -> int:
    """Return where the content of a sentence begins, after all its filler words."""
    return starts(folded, 0, len(folded))[-1]


def looked_at(parts: list[Clause]) -> list[int]:
    """Return the numbers of the clauses that are searched."""
    return [number for number in range(len(parts)) if number < FIRST or number >= len(parts) - LAST]


def first(kind: str, folded: str, parts: list[Clause], inside: bool = False) -> Marker | None:
    """Return the first marker of a kind at the beginning of a clause; `inside`: also after an "and" within one."""
    wanted = pattern(kind)
    for number in looked_at(parts):
        part = parts[number]
        places = starts(folded, part.start, part.end)
        if inside:
            for conjunction in list(sign("joins_requests").finditer(folded, part.start, part.end))[:LEADS]:
                places += starts(folded, conjunction.end(), part.end)
        for place in places:
            if match := wanted.match(folded, place, place + WINDOW):
                return Marker(kind, number, place, match.end())
    return None


def within(kind: str, folded: str, parts: list[Clause]) -> Marker | None:
    """Return the first marker of a kind anywhere in a clause."""
    for number in looked_at(parts):
        part = parts[number]
        place = _SPACE.match(folded, part.start, part.end).end()  # type: ignore[union-attr]
        clause = folded[place : min(part.end, place + WINDOW)]
        if match := pattern(kind).search(clause):
            return Marker(kind, number, place + match.start(), place + match.end())
    return None


def whole(kind: str, folded: str, part: Clause) -> bool:
    """Return whether a clause is nothing but a marker of a kind."""
    return any(
        (match := pattern(kind).match(folded, place, part.end)) and not folded[match.end() : part.end].strip(" .!")
        for place in starts(folded, part.start, part.end)
    )


def empty(folded: str, part: Clause) -> bool:
    """Return whether a clause has only filler words."""
    return not folded[starts(folded, part.start, part.end)[-1] : part.end].strip(" .!")


def reported(folded: str, end: int) -> bool:
    """Return whether the text before `end` attributes what follows to somebody else, or supposes it."""
    before = folded[max(0, end - WINDOW) : end]
    return bool(
        any(pattern("supposes").match(folded, place) for place in starts(folded, 0, len(folded)))
        or any(pattern("reports").match(before, place) for place in starts(before, 0, len(before)))
    )


def heads(folded: str) -> bool:
    """Return whether a text before a colon announces the person's own words, to be remembered."""
    parts = clauses(folded[-WINDOW:] + ":")
    text = folded[-WINDOW:] + ":"
    if not parts or reported(text, len(text)):
        return False
    kinds = ("asked", "pointing", "storing", "lasting", "corrects")
    if pattern("heralds").search(text) and not pattern("unheralded").search(text):
        return True
    return (
        any(_kinds(kinds, text, parts))
        or within("announces", text, parts) is not None
        or any(whole(kind, text, part) for kind in ("denies", "confirms", "lasts") for part in parts)
    )


def _kinds(kinds: tuple[str, ...], folded: str, parts: list[Clause]) -> Iterator[bool]:
    for kind in kinds:
        yield first(kind, folded, parts, inside=True) is not None
