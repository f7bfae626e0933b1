"""Tests on a clause beside a marker: whether it states, orders or has a verb. Used by `requests` and
`request_content`."""

from store.learning.grammar import pattern
from store.learning.rules import request_markers
from store.learning.rules import small_talk as passing
from store.learning.rules.request_markers import COLONS, Clause, Marker
from store.learning.rules.statements import FIGURE, NAME
from store.text.language import language
from store.text.small_talk import small_talk

LONG = 3  # least words of a clause by itself
STATED = ("corrects", "denies", "corrected", "confirms", "confirmed")
REQUESTS = ("asked", "pointing", "storing")
TRIM = " \t.!;,…:\u2014\u2013-?¿("


def integral(folded: str, marker: Marker) -> bool:
    """Return whether a marker is the whole rule: "no uses X nunca más"."""
    rule = folded[marker.start : marker.end]
    return len(rule.split()) >= LONG and bool(pattern("orders").match(rule))


def behind_colon(folded: str, parts: list[Clause], marker: Marker) -> int:
    """Return where the text after the colon begins that ends the marker's clause or a later one; 0 if there is none. In
    a correction, a colon after which somebody else speaks does not count."""
    for part in parts[marker.clause :]:
        if part.mark and part.mark in COLONS and folded[part.end + 1 :].strip(TRIM):
            return 0 if marker.kind in STATED and request_markers.reported(folded, part.end) else part.end + 1
    return 0


def stated(rest: str, text: str) -> bool:
    """Return whether words may be a statement: with a verb, a name or a figure, and nothing to be done now."""
    if passing.asks(rest) or small_talk(text):
        return False
    return verb(rest) or bool(FIGURE.search(rest) or NAME.search(text))


def verb(rest: str, strict: bool = False) -> bool:
    """Return whether there is a verb, by its form. An ending of one language does not count in a text of the other;
    with `strict` it does not count in a text of unknown language either."""
    if pattern("finite").search(rest):
        return True
    tongue = language(rest)
    return bool(
        (tongue != "en" and not (strict and not tongue) and pattern("finite_es").search(rest))
        or (tongue != "es" and not (strict and not tongue) and pattern("finite_en").search(rest))
    )


def ordered(rest: str) -> bool:
    """Return whether words order or forbid something."""
    return passing.requests(rest) or bool(pattern("orders").match(rest))
