"""Clauses that state nothing lasting: requests, exclamations, praise, remarks about now; and orders to the keeper of
the memory. Matched on text without capitals and accents (`folding.fold`)."""

import re
from functools import cache

from store.learning.grammar import either, sign
from store.learning.rules.imperatives import commands


@cache
def _begins(*names: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that begins, after polite words, with one of these signs."""
    told = f"(?!{either('told_we')})" if "request" in names else ""  # "cambiamos a Vue" states a fact
    return re.compile(rf"(?:{either('polite')}[\s,]+)*{told}(?:{'|'.join(map(either, names))})\b")


@cache
def _exclaims(name: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that begins, after interjections, with a sign."""
    return re.compile(rf"\W*(?:{either('interjection')}\W+)*{either(name)}")


@cache
def _exclamations() -> re.Pattern[str]:
    return re.compile(rf"(?:\W*{either('short_answer')}\b)+\W*")


@cache
def _orders_memory() -> re.Pattern[str]:
    verbs = rf"(?<!\bwe )(?<!\bi )(?<!\bthey )\b{either('memory_verb')}"
    return re.compile(rf"{verbs}\b[^.!?\n]{{0,40}}\b{either('memory_thing')}\b|{either('commands_keeper')}")


def asks(folded: str) -> bool:
    """Return whether a sentence begins with a request to do something now."""
    return requests(folded) and not sign("every_time").search(folded)


def requests(folded: str) -> bool:
    """Return whether a sentence begins with an order or a request, for now or in general."""
    return bool(
        _begins("request").match(folded) or _begins("bare_request").match(folded) or sign("asked_whether").match(folded)
    ) or commands(folded)


def introduces(folded: str) -> bool:
    """Return whether a sentence only introduces pasted text."""
    return bool(sign("introduces").search(folded))


def refused(folded: str) -> bool:
    """Return whether a clause states nothing lasting: it asks, exclaims, praises, points at something, or is only about
    now."""
    if _exclamations().fullmatch(folded):
        return True
    if not sign("every_time").search(folded) and (
        requests(folded) or sign("asked_for").search(folded) or _exclaims("to_you").match(folded)
    ):
        return True
    if _begins("let_go").match(folded) or sign("you_did").search(folded):
        return True
    if _exclaims("exclaims").match(folded) or _exclaims("points_at").match(folded) or sign("under_way").search(folded):
        return True
    return bool(sign("for_now").search(sign("lasting_time").sub("", folded)))


def hostile(folded: str) -> bool:
    """Return whether a text tells the keeper of the memory what to keep, or that everything is allowed."""
    return bool(_orders_memory().search(folded))
