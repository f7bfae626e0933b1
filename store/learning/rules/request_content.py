"""The clauses that a request keeps: after its marker, before it, or in the next or previous sentence; lists become
several."""

import re
from collections.abc import Iterator, Sequence

from store.learning.grammar import WINDOW, pattern, sign
from store.learning.rules import clauses, statements
from store.learning.rules.clauses import TRIM, Marker
from store.learning.rules.sentences import MOST, WORDS, Sentence

ITEMS = 12  # most items of one list
STATED = ("corrects", "denies", "corrected", "confirms", "confirmed")
REQUESTS = ("asked", "pointing", "storing")
OPENS = ("asked", "to_do", "politely")  # what they ask for follows, whatever it is
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)(?:\d{1,2}|[a-h])[.)]\s|[;•]\s|(?<=\s)[-*–]\s")
_COMMA = re.compile(r"[,;]\s")
_LINK = re.compile(r"[\s,¡!]*+")
Span = tuple[int, int]


def content(turn: Sequence[Sentence], number: int, marker: Marker, taken: set[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (sentence number, start, end) of what a marker refers to."""
    folded, kind = turn[number].folded, marker.kind
    part = marker.clause
    end = len(folded)
    itself = pattern("orders").match(folded, marker.start, marker.end)  # "no uses X nunca más" is the whole rule
    colon = clauses.behind_colon(folded, marker)
    if kind in ("corrected", "confirmed"):
        yield number, colon if colon > marker.end else marker.start, end
    elif kind in (*OPENS, "corrects", "denies", "confirms") and folded[marker.end : end].strip(TRIM):
        yield number, colon if colon and kind not in OPENS else _behind_words(folded, marker), end
    elif kind == "lasting" and (folded[marker.end : part.end].strip(TRIM) or (itself and not colon)):
        yield number, marker.start, end
    elif kind == "lasts" and part.start and pattern("adverb").match(part.of(folded).strip()):
        yield number, 0, part.end
    else:
        yield from _beside(turn, number, marker, taken, colon, end)


def _beside(
    turn: Sequence[Sentence], number: int, marker: Marker, taken: set[int], colon: int, end: int
) -> list[tuple[int, int, int]]:
    """Return what a marker points at: the rest of its sentence, the next sentences, or the one before."""
    sentence, kind = turn[number], marker.kind
    part = marker.clause
    back = bool(pattern("back").search(sentence.folded[marker.start : marker.end]))
    after = colon or (part.end + 1 if part.mark else end), end
    before = 0, part.start if kind in ("lasts", "hints") else marker.start
    full = _tells if kind == "hints" and not colon else _full
    behind = [(number, *after)] if full(sentence, *after) else []
    ahead = [(number, *before)] if full(sentence, *before) else []
    following = list(_following(turn, number + 1, taken, marker))
    usable = number and _usable(turn, number - 1, taken, marker)
    previous = [(number - 1, 0, len(turn[number - 1].text))] if usable else []
    # the request itself is kept where what it refers to is not in the turn
    alone = kind == "pointing" and number - 1 not in taken
    itself = [(number, 0, len(sentence.text))] if alone else []
    backwards = [ahead, previous, behind, following, itself]
    forwards = [behind, ahead, *([] if kind == "lasts" else [following]), *backwards]
    return next(filter(None, backwards if back else forwards), [])


def stated(sentence: Sentence, start: int = 0, end: int | None = None) -> bool:
    """Return whether a part of a sentence may be a statement: with a verb, and nothing to be done now."""
    rest = sentence.folded[start:end].strip(TRIM)
    return clauses.verb(rest) and not statements.asks(rest)


def _behind_words(folded: str, marker: Marker) -> int:
    """Return where the text after a marker begins: before a "no" at its end that belongs to the text."""
    negation = sign("negates_next").search(folded, marker.start, marker.end)
    return negation.start() if negation and folded[marker.end : marker.end + 2].lstrip()[:1].isalnum() else marker.end


def _full(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence has content to keep."""
    rest = sentence.folded[start:end].strip(TRIM)
    only = all(clauses.first("lasts", rest, [part], whole=True) for part in clauses.clauses(rest))
    return len(rest.split()) >= WORDS and not only


def _tells(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence is a statement by itself, or a general order."""
    return _full(sentence, start, end) and not statements.refused(sentence.folded[start:end].strip(TRIM))


def _usable(turn: Sequence[Sentence], number: int, taken: set[int], marker: Marker) -> bool:
    """Return whether a sentence beside the marker's can be what the marker refers to."""
    sentence = turn[number]
    if number in taken or sentence.question or sentence.passed:
        return False
    return marker.kind not in ("storing", "announces", "corrects", "hints") or stated(sentence)


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


def split_list(sentence: Sentence, start: int, end: int, marker: Marker) -> list[Span]:
    """Return (start, end) of each thing that a part of a sentence says."""
    folded = sentence.folded
    start, end = _trimmed(folded, start, end)
    inner = _trimmed(folded, marker.end, end)[0] if marker.start <= start < marker.end else start
    listed = _several(folded, inner, end) if len(folded) <= MOST and marker.kind not in STATED else []
    return [_trimmed(folded, *span) for span in (listed if len(listed) > 1 else [(start, end)])[:ITEMS]]


def _several(folded: str, start: int, end: int) -> list[Span]:
    """Return the parts of an enumeration, of "that … and that …", or of a list of statements."""
    listed, loose = _cut(folded, start, end, _ENUMERATED), ";" in folded[start:end]
    if len(listed) > 2:
        return listed  # "A is at 1; B at 2; C is not there"
    counted = pattern("both").search(folded, 0, start)
    for spans, stands in (
        (listed, _subject_and_verb if loose else _stands),
        (_cut(folded, start, end, pattern("and_that")), _stands),
        (_cut(folded, start, end, _COMMA), clauses.verb if counted else _subject_and_verb),
    ):
        if len(spans) > 1 and all(stands(folded[one:two]) for one, two in spans):
            return [piece for span in spans for piece in _several(folded, *span)]
    for conjunction in list(pattern("and").finditer(folded, start, end))[:ITEMS]:
        left, right = _cut(folded, start, conjunction.start(), _COMMA), folded[conjunction.end() : end]
        whole = all(_stands(folded[one:two]) for one, two in left) and _stands(right)
        if left and whole and (len(left) > 1 or _subject_and_verb(right)):
            return [*left, *_several(folded, conjunction.end(), end)]
    return [(start, end)]


def _cut(folded: str, start: int, end: int, mark: re.Pattern[str]) -> list[Span]:
    """Return the parts of a text between marks that have words to keep."""
    found = list(mark.finditer(folded, start, end))
    spans = zip([start, *(one.end() for one in found)], [*(one.start() for one in found), end], strict=True)
    return [(one, two) for one, two in spans if len(folded[one:two].split()) >= WORDS]


def _subject_and_verb(folded: str) -> bool:
    """Return whether words begin with a possible subject, with a verb soon after it."""
    right = folded.lstrip(TRIM)
    subject = pattern("subject").match(right)
    if subject is None or pattern("rests").match(right):  # "never on Fridays"
        return False
    rest = right[subject.end() : subject.end() + WINDOW]
    return clauses.verb(" ".join(rest.split()[:6]), strict=True)


def _stands(folded: str) -> bool:
    """Return whether words can be remembered by themselves."""
    rest = folded.strip(TRIM)
    if len(rest.split()) < WORDS:
        return False
    return bool(clauses.verb(rest) or pattern("subject").match(rest))


def _trimmed(folded: str, start: int, end: int) -> Span:
    """Return a part without punctuation around it and without linking words before it."""
    while start < end and folded[start] in TRIM:
        start += 1
    for _ in range(clauses.LEADS):
        link = pattern("links").match(folded, start, end)
        after = _LINK.match(folded, link.end()).end() if link else start  # type: ignore[union-attr]
        if after == start or len(folded[after:end].split()) < WORDS:
            break
        start = after
    while end > start and folded[end - 1] in TRIM:
        end -= 1
    return start, end
