"""The clauses that a request keeps: after its marker, before it, or in the next or previous sentence; lists become
several."""

import re
from collections.abc import Iterator, Sequence

from store.learning.grammar import WINDOW, pattern, sign
from store.learning.rules import request_markers
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
from store.learning.rules.request_markers import Clause, Marker
from store.learning.rules.sentences import MOST, WORDS, Sentence
from store.learning.rules.statements import FIGURE

ITEMS = 12  # most items of one list
OPENS = ("asked", "to_do", "politely", "corrects", "denies", "confirms")
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)(?:\d{1,2}|[a-h])[.)]\s|[;•]\s|(?<=\s)[-*–]\s")
_NUMBERED = re.compile("(?:\\d{1,2}|[a-h])[.)]\\s+|[-*•\u2013\u2014]\\s+")


def _behind_words(folded: str, marker: Marker) -> int:
    """Return where the text after a marker begins: before a "no" at its end that belongs to the text."""
    negation = sign("negates_next").search(folded, marker.start, marker.end)
    return negation.start() if negation and folded[marker.end : marker.end + 2].lstrip()[:1].isalnum() else marker.end


def content(turn: Sequence[Sentence], number: int, marker: Marker, taken: set[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (sentence number, start, end) of what a marker refers to."""
    sentence = turn[number]
    folded = sentence.folded
    parts = request_markers.clauses(folded)
    part = parts[marker.clause]
    end = _end(folded, parts, marker)
    colon = behind_colon(folded[:end], parts, marker)
    if marker.kind in ("corrected", "confirmed"):
        yield number, colon if colon > marker.end else marker.start, end
        return
    if marker.kind in ("denies", "corrects") and 0 < len(folded[marker.end : end].strip(TRIM).split()) < WORDS:
        yield number, marker.start, end
        return
    if marker.kind in OPENS and folded[marker.end : end].strip(TRIM):
        yield (
            number,
            colon if colon and marker.kind not in ("asked", "to_do", "politely") else _behind_words(folded, marker),
            end,
        )
        return
    if marker.kind == "lasting" and (
        folded[marker.end : part.end].strip(TRIM) or (not colon and integral(folded, marker))
    ):
        yield number, marker.start, end
        return
    adverb = marker.kind == "lasts" and pattern("adverb").match(folded[part.start : part.end].strip())
    if adverb and folded[: part.start].strip(TRIM):
        yield number, 0, part.end
        return
    back = bool(pattern("back").search(folded[marker.start : marker.end])) and not colon
    after = colon or (part.end + 1 if part.mark else end), end
    before = 0, part.start if marker.kind in ("lasts", "hints") else marker.start
    fits_after, fits_before = _full(sentence, *after), _full(sentence, *before)
    if marker.kind == "hints" and not colon:
        fits_after, fits_before = fits_after and _tells(sentence, *after), fits_before and _tells(sentence, *before)
    last = number + 1
    if fits_after and not back:
        yield number, *after
    elif fits_before:
        yield number, *before
    elif not back and marker.kind != "lasts" and last < len(turn) and _usable(turn, last, taken, marker):
        yield from _following(turn, last, taken, marker)
    elif number and _usable(turn, number - 1, taken, marker):
        yield number - 1, 0, len(turn[number - 1].text)
    elif fits_after:
        yield number, *after
    elif last < len(turn) and _usable(turn, last, taken, marker):
        yield from _following(turn, last, taken, marker)
    elif marker.kind == "pointing" and len(sentence.text.split()) >= LONG and number - 1 not in taken:
        yield number, 0, len(sentence.text)  # keep the request itself: what it refers to is not in the turn


def _end(folded: str, parts: list[Clause], marker: Marker) -> int:
    """Return where the text after a marker ends: before the next clause that is a marker itself."""
    end = len(folded)
    for part in parts[: marker.clause : -1]:
        if not any(request_markers.whole(kind, folded, part) for kind in ("pointing", "storing", "lasts")):
            break
        end = part.start
    return end if marker.kind in (*REQUESTS, "politely", "to_do") else len(folded)


def _full(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence has content to keep."""
    rest = sentence.folded[start:end].strip(TRIM)
    if len(rest.split()) < WORDS:
        return False
    parts = request_markers.clauses(rest)
    return not all(request_markers.empty(rest, part) or request_markers.whole("lasts", rest, part) for part in parts)


def _tells(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence is a statement by itself, or a general order."""
    rest = sentence.folded[start:end].strip(TRIM)
    return len(rest.split()) >= LONG and stated(rest, sentence.text[start:end]) and not passing.refused(rest)


def _usable(turn: Sequence[Sentence], number: int, taken: set[int], marker: Marker) -> bool:
    """Return whether a sentence beside the marker's can be what the marker refers to."""
    sentence = turn[number]
    if number in taken or sentence.question or sentence.passed or len(sentence.text.split()) < WORDS:
        return False
    return marker.kind not in ("storing", "announces", "corrects", "hints") or stated(sentence.folded, sentence.text)


def _following(
    turn: Sequence[Sentence], number: int, taken: set[int], marker: Marker
) -> Iterator[tuple[int, int, int]]:
    """Yield the sentence after an announcement, or the list after it."""
    several = pattern("both").search(turn[number - 1].folded)
    for place in range(number, min(number + ITEMS, len(turn))):
        goes_on = turn[place].bullet or (several and _tells(turn[place], 0, len(turn[place].text)))
        if place > number and not goes_on:
            return
        if _usable(turn, place, taken, marker):
            yield place, 0, len(turn[place].text)


def split_list(sentence: Sentence, start: int, end: int, marker: Marker) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each thing that a part of a sentence says."""
    folded = sentence.folded
    start, end = _trimmed(folded, start, end)
    spans = [(start, end)]
    if len(folded) <= MOST and marker.kind not in STATED:
        inner = start
        if marker.kind == "lasting" and marker.start <= start < marker.end:
            inner, _ = _trimmed(folded, marker.end, end)
        spans = _several(folded, inner, end)
        spans = spans if len(spans) > 1 else [(start, end)]
    for first, last in spans[:ITEMS]:
        if match := _NUMBERED.match(folded, first, last):
            first = match.end()
        first, last = _trimmed(folded, first, last)
        if len(folded[first:last].split()) >= WORDS or FIGURE.search(folded[first:last]):
            yield first, last


def _several(folded: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of an enumeration, of "that … and that …", or of a list of statements."""
    for mark in (_ENUMERATED, pattern("and_that")):
        found = list(mark.finditer(folded, start, end))
        if mark is _ENUMERATED and len(found) < 2 and not (found and found[0][0][0] in ";"):
            continue
        cuts = [match.start() for match in found]
        ends = [match.end() for match in found]
        spans = [(one, two) for one, two in zip([start, *ends], [*cuts, end], strict=True) if two > one]
        spans = [span for span in spans if len(folded[span[0] : span[1]].split()) >= WORDS]
        if len(spans) > 2 and all(_begins(folded[one:two]) for one, two in spans):
            return spans  # "A is at 1; B at 2; C is not there"
        loose = mark is _ENUMERATED and any(match[0][0] == ";" for match in found)
        if loose and not all(_subject_and_verb(folded[one:two]) for one, two in spans):
            continue
        if len(spans) > 1 and all(_stands(folded[one:two]) for one, two in spans):
            return [piece for span in spans for piece in _several(folded, *span)]
    found_clauses = [part for part in request_markers.clauses(folded[start:end]) if part.end > part.start]
    counted = bool(pattern("both").search(folded, 0, start))
    if (
        len(found_clauses) > 1
        and all(one.mark in ",;" for one in found_clauses)
        and all(
            _subject_and_verb(clause) or (counted and place and verb(clause))
            for place, one in enumerate(found_clauses)
            if (clause := folded[start + one.start : start + one.end]) is not None
        )
    ) and not any(pattern("adverbs").match(folded[start + one.start : end].lstrip()) for one in found_clauses[1:]):
        return [piece for one in found_clauses for piece in _several(folded, start + one.start, start + one.end)]
    for conjunction in list(pattern("and").finditer(folded, start, end))[:ITEMS]:
        left, right = folded[start : conjunction.start()], folded[conjunction.end() : end]
        listed = [clause for clause in request_markers.clauses(left) if left[clause.start : clause.end].strip(TRIM)]
        whole = [left[one.start : one.end].strip(TRIM) for one in listed]
        if (
            len(listed) > 1
            and all(one.mark in ",;" for one in listed)
            and all(_stands(clause) for clause in whole)
            and _stands(right)
        ):
            pieces = [(start + one.start, start + one.end) for one in listed]
            return [*pieces, *_several(folded, conjunction.end(), end)]
        if _stands(left) and _stands(right) and _subject_and_verb(right):
            return [(start, conjunction.start()), *_several(folded, conjunction.end(), end)]
    return [(start, end)]


def _subject_and_verb(folded: str) -> bool:
    """Return whether words begin with a possible subject, with a verb soon after it."""
    right = folded.lstrip(TRIM)
    subject = pattern("subject").match(right)
    if subject is None:
        return False
    if pattern("rests").match(right):
        return False  # "never on Fridays"
    rest = right[subject.end() : subject.end() + WINDOW]
    return verb(" ".join(rest.split()[:6]), strict=True)


def _begins(folded: str) -> bool:
    """Return whether words begin like a statement: with a subject, and a verb or a figure."""
    right = folded.strip(TRIM)
    return bool(pattern("subject").match(right)) and bool(_subject_and_verb(right) or FIGURE.search(right))


def _stands(folded: str) -> bool:
    """Return whether words can be remembered by themselves."""
    rest = folded.strip(TRIM)
    if len(rest.split()) < WORDS:
        return False
    return bool(verb(rest) or pattern("subject").match(rest) or ordered(rest))


_LINK = re.compile(r"[\s,¡!]*+")


def _trimmed(folded: str, start: int, end: int) -> tuple[int, int]:
    """Return a part without punctuation around it and without linking words before it."""
    while start < end and folded[start] in TRIM:
        start += 1
    for _ in range(request_markers.LEADS):
        link = pattern("links").match(folded, start, end)
        after = _LINK.match(folded, link.end()).end() if link else start  # type: ignore[union-attr]
        if after == start or len(folded[after:end].split()) < WORDS:
            break
        start = after
    while end > start and folded[end - 1] in TRIM:
        end -= 1
    return start, end
