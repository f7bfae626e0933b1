"""Clauses of a sentence, and markers in them: words that ask for memory, set a rule, correct or confirm.

Matched on folded text, within `WINDOW` letters of the beginning of each clause.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from store.learning.grammar import WINDOW, form, pattern, sign
from store.text.language import language

LEADS = 6  # most filler words before a marker, and most words that join two requests
HEADS = ("asked", "pointing", "storing", "lasting", "corrects")  # kinds that a colon may follow
COLONS = frozenset(":—–-")
TRIM = " \t.!;,…:\u2014\u2013-?¿("

_MARK = re.compile(
    r"\s*+(?:(?<![,;:.…—–()])(?:[,;:…]|(?<=\w\w)\)|\.\.)[,;:.…—–()]*+(?=\s|$)|(?<=\s)[-–—]{1,2}(?=\s)|—|(?<=\s)\((?=\w))"
    r"[\s¡¿]*+"
)
_SPACE = re.compile(r"[\s¡!¿.,;*_\"'-]*")


class Clause(NamedTuple):
    """A clause of a sentence: start, end, and the punctuation mark after it, empty at the end."""

    start: int
    end: int
    mark: str

    def of(self, text: str) -> str:
        """Return the words of the clause in its sentence."""
        return text[self.start : self.end]


class Marker(NamedTuple):
    """A marker: its kind, which is the name of its pattern; its clause; start and end."""

    kind: str
    clause: Clause
    start: int
    end: int


def clauses(folded: str) -> list[Clause]:
    """Return the clauses of a sentence, separated by punctuation."""
    found, start = list[Clause](), len(folded) - len(folded.lstrip(" ¡¿"))
    for match in _MARK.finditer(folded):
        if match.start() > start:
            found.append(Clause(start, match.start(), match[0].lstrip()[0]))
        start = match.end()
    end = len(folded.rstrip(" .!?…"))
    if end > start:
        found.append(Clause(start, end, ""))
    return found


def starts(folded: str, start: int, end: int) -> list[int]:
    """Return where the content of a clause may begin: after none, one, … of its filler words."""
    found = [_SPACE.match(folded, start, end).end()]  # type: ignore[union-attr]
    while len(found) <= LEADS and (lead := form("lead").match(folded, found[-1], end)) and lead.end() > found[-1]:
        found.append(lead.end())
    return found


def begins(folded: str) -> int:
    """Return where the content of a sentence begins, after all its filler words."""
    return starts(folded, 0, len(folded))[-1]


def leading(kind: str, folded: str) -> re.Match[str] | None:
    """Return the match of a pattern at the beginning of a text, or after some of its filler words."""
    places = (0, *starts(folded, 0, len(folded)))
    return next(filter(None, (pattern(kind).match(folded, place) for place in places)), None)


def first(kind: str, folded: str, parts: Sequence[Clause], inside: bool = False, whole: bool = False) -> Marker | None:
    """Return the first marker of a kind at the beginning of a clause; `inside`: also after an "and" within one;
    `whole`: that is all of its clause."""
    for part in parts:
        places = starts(folded, part.start, part.end)
        if inside:
            for conjunction in list(sign("joins_requests").finditer(folded, part.start, part.end))[:LEADS]:
                places += starts(folded, conjunction.end(), part.end)
        for place in places:
            match = pattern(kind).match(folded, place, place + WINDOW)
            if match and not (whole and folded[match.end() : part.end].strip(" .!")):
                return Marker(kind, part, place, match.end())
    return None


def within(kind: str, folded: str, parts: list[Clause]) -> Marker | None:
    """Return the first marker of a kind anywhere in a clause."""
    for part in parts:
        place = starts(folded, part.start, part.end)[0]
        if match := pattern(kind).search(folded[place : min(part.end, place + WINDOW)]):
            return Marker(kind, part, place + match.start(), place + match.end())
    return None


def reported(folded: str, end: int) -> bool:
    """Return whether the text before `end` attributes what follows to somebody else, or supposes it."""
    return bool(leading("supposes", folded) or leading("reports", folded[max(0, end - WINDOW) : end]))


def heads(folded: str) -> bool:
    """Return whether a text before a colon announces the person's own words, to be remembered."""
    text = folded[-WINDOW:] + ":"
    return any(first(kind, text, clauses(text), inside=True) for kind in HEADS)


def behind_colon(folded: str, marker: Marker) -> int:
    """Return where the text after the colon begins that ends the marker's clause or a later one; 0 if there is none, or
    if somebody else speaks after it."""
    for part in clauses(folded):
        if part >= marker.clause and part.mark and part.mark in COLONS and folded[part.end + 1 :].strip(TRIM):
            return 0 if reported(folded, part.end) else part.end + 1
    return 0


def verb(rest: str, strict: bool = False) -> bool:
    """Return whether there is a verb, by its form. An ending of one language does not count in a text of the other;
    with `strict` it does not count in a text of unknown language either."""
    if pattern("finite").search(rest):
        return True
    tongue = language(rest)
    tongues = [tongue] if tongue else [] if strict else ["es", "en"]
    return any(pattern(f"finite_{one}").search(rest) for one in tongues)
