"""Requests: what a person marks to be kept, sets as a rule, corrects or confirms, and the words that it consists of.

A marker (`request_markers`) shows that something is to be kept; whole clauses beside it are kept word by word: after
it, before it, in the sentence before or after. Several things in one sentence become several requests. An explicit
request keeps something whatever its form; what only has the form of a rule, a correction or a confirmation must be a
statement.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from store.learning.grammar import WINDOW, pattern, sign
from store.learning.rules import imperatives, request_markers
from store.learning.rules import small_talk as passing
from store.learning.rules.request_clauses import (
    LONG,
    REQUESTS,
    STATED,
    TRIM,
    behind_colon,
    integral,
    ordered,
    stated,
    verb,
)
from store.learning.rules.request_content import content, split_list
from store.learning.rules.request_markers import COLONS, Clause, Marker
from store.learning.rules.sentences import Sentence
from store.learning.rules.statements import FIGURE, NAME, states

WHY = {
    "asked": "you asked for it",
    "pointing": "you asked for it",
    "storing": "you asked for it, or for a file to be saved",
    "politely": "you asked for it, as a question",
    "to_do": "perhaps it holds for every time",
    "announces": "you announced it as something to know",
    "lasting": "it sounds like a rule",
    "lasts": "it sounds like a rule",
    "hints": "it may ask to be remembered",
    "corrects": "it puts something right",
    "denies": "it may put something right",
    "corrected": "it says what is no longer so, or is so instead",
    "confirms": "it says that something is still so",
    "confirmed": "it says that something is still so",
}
REVISES = frozenset(WHY[kind] for kind in STATED)
_QUOTE = re.compile(r"(?<!\d)\"")


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
            sure = marker.kind == "asked" or (
                marker.kind == "pointing" and (where, start) != (number, _behind(marker, sentence))
            )
            under = _condition(sentence.folded, marker) if where == number else end
            if under < start:  # kept whole with its condition, as a proposal
                yield Request(where, under, end, marker.kind, False)
                continue
            for first, last in split_list(turn[where], start, end, marker):
                sure = sure and first < max(turn[where].own, 1)
                text = turn[where].text
                announces = text.endswith(":") and last >= len(text) - 1
                if marker.kind not in REQUESTS and (announces or _quotes_on(text[first:last])):
                    continue  # continues in the next sentence: half of it may say the opposite
                asking = pattern("asking").match(turn[where].folded, first)
                if asking and marker.kind not in (*REQUESTS, "lasting"):
                    continue
                if pattern("conditions").match(turn[where].folded, first, last) and "," not in text[first:last]:
                    last = len(text.rstrip(".!… "))  # a condition alone says nothing
                yield Request(where, first, last, marker.kind, sure)


def _quotes_on(text: str) -> bool:
    """Return whether a quotation mark is opened in a text and not closed; `19"` is a length."""
    return len(_QUOTE.findall(text)) % 2 == 1 or text.count("“") > text.count("”") or text.count("«") > text.count("»")


def _condition(folded: str, marker: Marker) -> int:
    """Return where the condition of a request begins, before its marker; the length of the text where there is none."""
    for part in request_markers.clauses(folded)[: marker.clause + 1] if marker.kind not in STATED else ():
        for place in request_markers.starts(folded, part.start, part.end):
            if place < marker.start and pattern("conditions").match(folded, place, marker.start):
                return place
    return len(folded)


def _behind(marker: Marker, sentence: Sentence) -> int:
    """Return where the text after the marker's clause begins if no colon announces it; -1 if one does."""
    part = request_markers.clauses(sentence.folded)[marker.clause]
    return -1 if part.mark in COLONS else part.end + 1


def _marker(sentence: Sentence) -> Marker | None:
    """Return the marker that counts in a sentence: a request before a rule, a rule before a correction."""
    folded = sentence.folded
    parts = request_markers.clauses(folded)
    if sentence.question:
        marker = request_markers.first("politely", folded, parts)
        return None if marker is None or pattern("asking").match(folded, marker.end) else marker
    if pattern("refuses").search(folded[: 2 * WINDOW]):
        return None
    own = [part for part in parts if part.start < max(sentence.own, 1)]
    for kind in ("asked", "pointing", "storing", "politely", "to_do"):
        marker = request_markers.first(kind, folded, own, inside=kind != "to_do")
        if marker is None or request_markers.reported(folded, marker.start) or _past(sentence, marker):
            continue
        if kind != "to_do" or verb(folded[marker.end :]):
            return marker
    if sentence.text.endswith("?") or sentence.doubt:
        return None
    parts = own
    for kind in ("lasts", "lasting", "announces"):
        marker = _rule(kind, sentence, parts)
        if marker and not request_markers.reported(folded, marker.start):
            return marker
    for kind in STATED:
        marker = request_markers.first(kind, folded, parts[:2])
        if marker and not request_markers.reported(folded, marker.start) and _states(sentence, kind, marker, parts):
            return marker
    return _hinted(sentence, parts)


def _hinted(sentence: Sentence, parts: list[Clause]) -> Marker | None:
    """Return the marker of a word about memory in an unknown form."""
    folded = sentence.folded
    marker = request_markers.within("hints", folded, parts)
    if marker is None or request_markers.reported(folded, marker.start):
        return None
    colon = behind_colon(folded, parts, marker)
    rest = folded[colon:].strip(TRIM) if colon else ""
    if colon and stated(rest, sentence.text[colon:]) and not imperatives.goes_wrong(rest):
        return Marker("hints", marker.clause, marker.start, parts[marker.clause].end)
    if passing.asks(folded):
        return None
    return Marker("hints", marker.clause, parts[marker.clause].start, parts[marker.clause].end)


def _past(sentence: Sentence, marker: Marker) -> bool:
    """Return whether what looks like a request is the person's own past action: "tomé nota", "anoté"."""
    first = sentence.text[marker.start : marker.end].split(maxsplit=1)[:1]
    return bool(first) and first[0].lower().endswith("é") and not first[0].lower().endswith(("ené", "oné"))


def _rule(kind: str, sentence: Sentence, parts: list[Clause]) -> Marker | None:
    """Return a marker of a rule, or of something to know, if the sentence can be one."""
    folded = sentence.folded
    if kind == "lasts":
        for number in request_markers.looked_at(parts):
            if request_markers.whole("lasts", folded, parts[number]):
                return Marker("lasts", number, parts[number].start, parts[number].end)
        return None
    if kind == "announces":
        marker = request_markers.within(kind, folded, parts)
        return marker if marker and _announced(sentence, marker, parts) else None
    marker = request_markers.first(kind, folded, parts)
    if marker is None:
        return None
    rest, text = folded[marker.end :].strip(TRIM), sentence.text[marker.end :].strip(TRIM)
    if not rest:
        return marker if folded.endswith(":") or integral(folded, marker) else None
    if imperatives.depends(folded[marker.start : marker.end]):  # what to do in that case must follow
        main = [folded[part.start : part.end].strip() for part in parts[marker.clause + 1 :]]
        inside = pattern("orders_within").search(folded, marker.end, parts[marker.clause].end)
        return marker if inside or any(ordered(clause) or _bare(clause) for clause in main) else None
    if imperatives.goes_wrong(rest):
        return None
    return marker if ordered(rest) or stated(rest, text) or len(rest.split()) >= LONG else None


def _announced(sentence: Sentence, marker: Marker, parts: list[Clause]) -> bool:
    """Return whether there is something to know beside the words that announce it."""
    folded, part = sentence.folded, parts[marker.clause]
    if part.mark:
        return bool(folded[part.end :].strip(TRIM))
    sides = ((marker.end, len(folded)), (0, marker.start))
    return any(stated(folded[start:end].strip(TRIM), sentence.text[start:end].strip(TRIM)) for start, end in sides)


def _states(sentence: Sentence, kind: str, marker: Marker, parts: list[Clause]) -> bool:
    """Return whether a correction or confirmation is a statement that can be kept."""
    folded = sentence.folded
    whole = kind in ("corrected", "confirmed")
    start = marker.start if whole else marker.end
    if colon := behind_colon(folded, parts, marker):
        start = colon
    rest, text = folded[start:].strip(TRIM), sentence.text[start:].strip(TRIM)
    if folded[marker.end : parts[marker.clause].end].strip() and not _goes_on(folded[marker.start : marker.end], kind):
        return False  # "yes", "update" as the first word of another sentence
    if not rest:
        return kind == "corrects"
    if pattern("unsure").search(folded) or (imperatives.goes_wrong(rest) and not FIGURE.search(rest)):
        return False
    if whole:
        return _firm(text) or not passing.refused(sign("now_first").sub("", rest))
    if kind == "corrects" or colon:
        return stated(rest, text)
    if sign("was_so").search(folded[marker.start : marker.end]):
        return stated(sign("now_first").sub("", rest), text)
    to_be = bool(pattern("to_be").search(rest))
    if passing.refused(rest) and not to_be:
        return False
    own = states(rest, text) or bool(pattern("confirmed").match(rest))
    return _firm(text) or (own and to_be) if kind == "denies" else own


def _firm(text: str) -> bool:
    """Return whether a text contains a name, a figure or a quotation mark."""
    return bool(FIGURE.search(text) or NAME.search(text) or _QUOTE.search(text))


def _goes_on(marker: str, kind: str) -> bool:
    """Return whether content may follow these words without punctuation."""
    return kind in ("corrected", "confirmed", "denies") or bool(pattern("goes_on").search(marker))


def _bare(rest: str) -> bool:
    """Return whether words may begin with an imperative: not with a subject, a question or a finite verb."""
    return not (pattern("subject").match(rest) or pattern("asking").match(rest) or pattern("finite").match(rest))
