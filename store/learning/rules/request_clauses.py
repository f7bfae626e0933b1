"""Whether a clause beside a marker states something: what requests and what they keep both ask."""

import re

from store.learning.grammar import pattern
from store.learning.rules import request_markers
from store.learning.rules import small_talk as passing
from store.learning.rules.request_markers import COLONS, Clause, Marker
from store.learning.rules.statements import FIGURE, NAME
from store.text.language import language
from store.text.small_talk import small_talk

LONG = 3  # words of a clause that stands by itself
STATED = ("corrects", "denies", "corrected", "confirms", "confirmed")
NEGATION = re.compile(r"\b(?:no|not|never|nunca|jamas|tampoco|nor|ni|without|sin)\s*$")
REQUESTS = ("asked", "pointing", "storing")
TRIM = " \t.!;,…:\u2014\u2013-?¿("


def integral(folded: str, marker: Marker) -> bool:
    """Whether a marker is all of a rule: "no uses X nunca más"."""
    rule = folded[marker.start : marker.end]
    return len(rule.split()) >= LONG and bool(pattern("orders").match(rule))


def behind_colon(folded: str, parts: list[Clause], marker: Marker) -> int:
    """Where what stands behind the colon begins that the clause of a marker, or one after it, ends with; 0 if none. In
    a correction no colon counts behind which somebody else speaks."""
    for part in parts[marker.clause :]:
        if part.mark and part.mark in COLONS and folded[part.end + 1 :].strip(TRIM):
            return 0 if marker.kind in STATED and request_markers.reported(folded, part.end) else part.end + 1
    return 0


def stated(rest: str, text: str) -> bool:
    """Whether words may be a statement: a verb, a name or a figure, and nothing to be done now."""
    if passing.asks(rest) or small_talk(text):
        return False
    return verb(rest) or bool(FIGURE.search(rest) or NAME.search(text))


def verb(rest: str, strict: bool = False) -> bool:
    """Whether there is a verb in it, as far as its form tells. What ends like a verb of one language is none in the
    other; `strict`: nor is it where the words are of neither."""
    if pattern("finite").search(rest):
        return True
    tongue = language(rest)
    return bool(
        (tongue != "en" and not (strict and not tongue) and pattern("finite_es").search(rest))
        or (tongue != "es" and not (strict and not tongue) and pattern("finite_en").search(rest))
    )


def ordered(rest: str) -> bool:
    """Whether words order or forbid something."""
    return passing.requests(rest) or bool(pattern("orders").match(rest))
