"""Requests: what a person marks to be kept, sets as a rule, corrects or confirms, and the words that it consists of.

A marker (`clauses`) shows that something is to be kept; whole clauses beside it are kept word by word: after it, before
it, in the sentence before or after. Several things in one sentence become several requests. An explicit request keeps
something whatever its form; what only has the form of a rule, a correction or a confirmation must be a statement.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from store.learning.grammar import WINDOW, pattern, sign
from store.learning.rules import clauses, imperatives, statements
from store.learning.rules.clauses import TRIM, Marker
from store.learning.rules.request_content import REQUESTS, STATED, content, split_list, stated
from store.learning.rules.sentences import Sentence
from store.learning.rules.statements import FIGURE, NAME, states

# kinds of markers, the first that a sentence has counts, and why something beside it is kept
WHY = {
    "asked": "you asked for it",
    "pointing": "you asked for it",
    "storing": "you asked for it, or for a file to be saved",
    "politely": "you asked for it, as a question",
    "to_do": "perhaps it holds for every time",
    "lasts": "it sounds like a rule",
    "lasting": "it sounds like a rule",
    "announces": "you announced it as something to know",
    "corrects": "it puts something right",
    "denies": "it may put something right",
    "corrected": "it says what is no longer so, or is so instead",
    "confirms": "it says that something is still so",
    "confirmed": "it says that something is still so",
    "hints": "it may ask to be remembered",
}
_QUOTE = re.compile(r"(?<!\d)\"")
ASKS = (*REQUESTS, "politely", "to_do")
REVISES = frozenset(WHY[kind] for kind in STATED)


class Request(NamedTuple):
    """A thing to keep: the number of its sentence, start and end in it, the kind of its marker (a key of WHY), and
    whether its form is certain."""

    sentence: int
    start: int
    end: int
    kind: str
    sure: bool


def requests(turn: Sequence[Sentence]) -> Iterator[Request]:
    """Yield the requests of a turn's sentences, in order."""
    taken = set[int]()
    for number, sentence in enumerate(turn):
        marker = _marker(sentence)
        if marker is None:
            continue
        for where, start, end in content(turn, number, marker, taken):
            taken.add(where)
            under = _condition(sentence.folded, marker) if where == number else end
            if under < start:  # kept whole with its condition, as a proposal
                yield Request(where, under, end, marker.kind, False)
                continue
            part = marker.clause
            loose = (where, start) == (number, part.end + 1) and part.mark not in clauses.COLONS
            sure = marker.kind == "asked" or (marker.kind == "pointing" and not loose)
            for begin, last in split_list(turn[where], start, end, marker):
                folded = turn[where].folded
                if marker.kind not in REQUESTS and _goes_on(turn[where].text[begin:], last - begin):
                    continue
                if pattern("conditions").match(folded, begin, last) and "," not in folded[begin:last]:
                    last = len(folded.rstrip(".!… "))  # a condition alone says nothing
                if marker.kind in (*REQUESTS, "lasting") or not pattern("asking").match(folded, begin):
                    yield Request(where, begin, last, marker.kind, sure and begin < max(turn[where].own, 1))


def _goes_on(text: str, end: int) -> bool:
    """Return whether a text goes on in the next sentence, which may turn it round: it ends with a colon, or a quotation
    mark in it up to `end` is not closed; `19"` is a length."""
    unclosed = any(text.count(opens, 0, end) > text.count(closes, 0, end) for opens, closes in ("“”", "«»"))
    return text.endswith(":") or unclosed or len(_QUOTE.findall(text, 0, end)) % 2 == 1


def _condition(folded: str, marker: Marker) -> int:
    """Return where the condition of a request begins, before its marker; the length of the text where there is none."""
    for part in clauses.clauses(folded):
        for place in clauses.starts(folded, part.start, part.end):
            if pattern("conditions").match(folded, place, marker.start):
                return place
    return len(folded)


def _marker(sentence: Sentence) -> Marker | None:
    """Return the marker that counts in a sentence."""
    folded = sentence.folded
    parts = [part for part in clauses.clauses(folded) if part.start < max(sentence.own, 1)]
    if sentence.question:
        return clauses.first("politely", folded, parts)
    if pattern("refuses").search(folded[: 2 * WINDOW]):
        return None
    for kind in ASKS if sentence.doubt else WHY:
        if kind in ("announces", "hints"):
            marker = clauses.within(kind, folded, parts)
        else:
            marker = clauses.first(kind, folded, parts, inside=kind in ASKS, whole=kind == "lasts")
        if marker and not clauses.reported(folded, marker.start) and _counts(sentence, marker):
            return marker
    return None


def _counts(sentence: Sentence, marker: Marker) -> bool:
    """Return whether a sentence can be what its marker says."""
    folded, kind = sentence.folded, marker.kind
    if kind == "to_do":
        return clauses.verb(folded[marker.end :])
    if kind in ASKS:  # "tomé nota", "anoté" is no request
        return not sign("own_past").match(sentence.text.lower(), marker.start)
    if kind == "lasting":
        return not imperatives.goes_wrong(folded[marker.end :].strip(TRIM))
    if kind == "announces":
        return stated(sentence, marker.end) or stated(sentence, 0, marker.start)
    if kind == "hints":
        return bool(clauses.behind_colon(folded, marker)) or not statements.asks(folded)
    return kind == "lasts" or _states(sentence, marker)


def _states(sentence: Sentence, marker: Marker) -> bool:
    """Return whether a correction or confirmation is a statement that can be kept."""
    folded, kind = sentence.folded, marker.kind
    itself = kind in ("corrected", "confirmed")
    colon = clauses.behind_colon(folded, marker)
    start = colon or (marker.start if itself else marker.end)
    rest, text = sign("now_first").sub("", folded[start:].strip(TRIM)), sentence.text[start:].strip(TRIM)
    if folded[marker.end : marker.clause.end].strip() and not itself and kind != "denies":
        return False  # "yes", "update" as the first word of another sentence
    if not rest:
        return kind == "corrects"
    if pattern("unsure").search(folded) or (imperatives.goes_wrong(rest) and not FIGURE.search(rest)):
        return False
    if itself:
        return _firm(text) or not statements.refused(rest)
    if kind == "corrects" or colon:
        return stated(sentence, start)
    own = states(rest, text) or bool(pattern("confirmed").match(rest))
    return _firm(text) or (own and bool(pattern("to_be").search(folded))) if kind == "denies" else own


def _firm(text: str) -> bool:
    """Return whether a text contains a name, a figure or something in quotation marks."""
    return bool(FIGURE.search(text) or NAME.search(text) or '"' in text)
