"""Requests: what a person marks as to be kept, sets as a rule, corrects or confirms, and which words of theirs that is.

A marker (`markers`) tells that something is to be kept; what is kept are whole clauses beside it, word by word: behind
it, before it, in the sentence before or after. Several things in one sentence become several. A request leaves
something whatever its form; what only has the form of a rule, a correction or a confirmation has to state something.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from store.learning import imperatives, request_markers
from store.learning import small_talk as passing
from store.learning.grammar import WINDOW, pattern
from store.learning.request_markers import COLONS, Clause, Marker
from store.learning.sentences import MOST, WORDS, Sentence
from store.learning.statements import FIGURE, NAME, states
from store.text.language import language
from store.text.small_talk import small_talk

ITEMS = 12  # things of one list
LONG = 3  # words of a clause that stands by itself
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
    "rule_words": "it may be a rule",
    "heralds": "you announced it",
    "corrects": "it puts something right",
    "denies": "it may put something right",
    "corrected": "it says what is no longer so, or is so instead",
    "confirms": "it says that something is still so",
    "confirmed": "it says that something is still so",
}
STATED = ("corrects", "denies", "corrected", "confirms", "confirmed")
REVISES = frozenset(WHY[kind] for kind in STATED)
_NEGATION = re.compile(r"\b(?:no|not|never|nunca|jamas|tampoco|nor|ni|without|sin)\s*$")
OPENS = ("asked", "to_do", "politely", "corrects", "denies", "confirms")
REQUESTS = ("asked", "pointing", "storing")
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)(?:\d{1,2}|[a-h])[.)]\s|[;•]\s|(?<=\s)[-*–]\s")
_TRIM = " \t.!;,…:\u2014\u2013-?¿("
_QUOTE = re.compile(r"(?<!\d)\"")
_OVER = re.compile(r"\b(?:era|fue|was)\b")  # says that something was so before
_QUESTION = re.compile(
    r"(?:do|does|did|is|are|was|were|can|could|would|will|should|shall|have|has|may|write|add|make|create|implement)\b"
)
_NUMBERED = re.compile("(?:\\d{1,2}|[a-h])[.)]\\s+|[-*•\u2013\u2014]\\s+")


class Request(NamedTuple):
    """A thing to keep: of which sentence (its number), where in it the words stand, by what kind of marker (a key of
    WHY), and whether its form is certain."""

    sentence: int
    start: int
    end: int
    kind: str
    sure: bool


def requests(said: Sequence[Sentence]) -> Iterator[Request]:
    """What the sentences of a turn ask for, in order."""
    taken = set[int]()
    for number, sentence in enumerate(said):
        if number in taken or small_talk(sentence.text):
            continue
        marker = _marker(sentence)
        if marker is None:
            continue
        for where, start, end in _content(said, number, marker, taken):
            taken.add(where)
            sure = marker.kind == "asked" or (
                marker.kind == "pointing" and (where, start) != (number, _behind(marker, sentence))
            )
            under = _condition(sentence.folded, marker) if where == number else end
            if under < start:  # with its condition it is kept whole, and asked about
                yield Request(where, under, end, marker.kind, False)
                continue
            for first, last in _parted(said[where], start, end, marker):
                sure = sure and first < max(said[where].own, 1)
                text = said[where].text
                announces = text.endswith(":") and last >= len(text) - 1
                if marker.kind not in REQUESTS and (announces or _quotes_on(text[first:last])):
                    continue  # it goes on in the next sentence: half of it may say the opposite
                if marker.kind in (*REQUESTS, "lasting") or not pattern("asking").match(said[where].folded, first):
                    whole = marker.kind == "hints" and pattern("conditions").match(said[where].folded, first, last)
                    if whole and "," not in text[first:last]:
                        last = len(text.rstrip(".!… "))  # a condition without what holds under it says nothing
                    yield Request(where, first, last, marker.kind, sure)


def _quotes_on(text: str) -> bool:
    """Whether a mark of quotation is opened in a text, and not closed in it; `19"` is a length."""
    return len(_QUOTE.findall(text)) % 2 == 1 or text.count("“") > text.count("”") or text.count("«") > text.count("»")


def _condition(folded: str, marker: Marker) -> int:
    """Where the condition begins under which something is asked for, before its marker; the end where there is none."""
    for part in request_markers.clauses(folded)[: marker.clause + 1] if marker.kind not in STATED else ():
        for place in request_markers.starts(folded, part.start, part.end):
            if place < marker.start and pattern("conditions").match(folded, place, marker.start):
                return place
    return len(folded)


def _behind_words(folded: str, marker: Marker) -> int:
    """Where what follows a marker begins: before a "no" at its end that no sign parts from it, for that denies it."""
    negation = _NEGATION.search(folded, marker.start, marker.end)
    return negation.start() if negation and folded[marker.end : marker.end + 2].lstrip()[:1].isalnum() else marker.end


def _behind(marker: Marker, sentence: Sentence) -> int:
    """Where what stands behind the clause of a marker begins, if no colon announces it; -1 if one does."""
    part = request_markers.clauses(sentence.folded)[marker.clause]
    return -1 if part.mark in COLONS else part.end + 1


def _marker(sentence: Sentence) -> Marker | None:
    """The marker that counts in a sentence: a request before a rule, a rule before a correction."""
    folded = sentence.folded
    parts = request_markers.clauses(folded)
    if sentence.question:
        marker = request_markers.first("politely", folded, parts)
        if marker is None or pattern("or_else").search(folded[-WINDOW:]):
            return None
        return None if pattern("asking").match(folded, marker.end) else marker
    if pattern("refuses").search(folded[: 2 * WINDOW]):
        return None
    own = [part for part in parts if part.start < max(sentence.own, 1)]
    for kind in ("asked", "pointing", "storing", "politely", "to_do"):
        marker = request_markers.first(kind, folded, own, inside=kind != "to_do")
        if marker is None or request_markers.reported(folded, marker.start) or _past(sentence, marker):
            continue
        if kind != "to_do" or _verb(folded[marker.end :]):
            return marker
    if sentence.text.endswith("?") or sentence.passed or sentence.doubt or len(folded) > MOST:
        return None
    parts = own
    once = pattern("once").search(folded)
    for kind in ("lasts", "lasting", "announces"):
        marker = None if once else _rule(kind, sentence, parts)
        if marker and not request_markers.reported(folded, marker.start):
            return marker
    for kind in ("confirms", "confirmed") if once else ("corrects", "denies", "corrected", "confirms", "confirmed"):
        marker = request_markers.first(kind, folded, parts[:2])
        if marker and not request_markers.reported(folded, marker.start) and _states(sentence, kind, marker, parts):
            return marker
    return None if once else _hinted(sentence, parts)


def _hinted(sentence: Sentence, parts: list[Clause]) -> Marker | None:
    """A marker in no form that is known: a word of memory, an order for every time, a heading."""
    folded = sentence.folded
    if pattern("unsure").search(folded) or pattern("or_else").search(folded):
        return None
    for kind in ("hints", "heralds"):
        marker = request_markers.within(kind, folded, parts)
        if marker is None or request_markers.reported(folded, marker.start):
            continue
        colon = _colon(folded, parts, marker)
        if kind == "hints" and pattern("unhinted").search(folded):
            continue
        head = folded[request_markers.starts(folded, 0, len(folded))[-1] : colon]
        if kind == "heralds" and (pattern("unheralded").search(head) or passing.asks(head)):
            continue
        rest = folded[colon:] if colon else ""
        if (
            colon
            and _stated(rest.strip(_TRIM), sentence.text[colon:])
            and not imperatives.goes_wrong(rest.strip(_TRIM))
        ):
            return Marker(kind, marker.clause, marker.start, parts[marker.clause].end)
        if kind == "hints" and not passing.asks(folded):
            return Marker(kind, marker.clause, parts[marker.clause].start, parts[marker.clause].end)
    start = request_markers.starts(folded, 0, len(folded))[-1]
    lasting = passing.requests(folded[start:]) and not pattern("asking").match(folded, start)
    if (
        lasting
        and not _QUESTION.match(folded, start)
        and pattern("rule_words").search(folded)
        and not passing.asks(folded[start:])
    ):
        return Marker("rule_words", 0, start, start)
    return None


def _past(sentence: Sentence, marker: Marker) -> bool:
    """Whether what looks like a request tells what the person did: "tomé nota", "anoté"."""
    first = sentence.text[marker.start : marker.end].split(maxsplit=1)[:1]
    return bool(first) and first[0].lower().endswith("é") and not first[0].lower().endswith(("ené", "oné"))


def _rule(kind: str, sentence: Sentence, parts: list[Clause]) -> Marker | None:
    """A marker of a rule, or of something to know, if the sentence can be one."""
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
    rest = folded[marker.end :].strip(_TRIM)
    text = sentence.text[marker.end :].strip(_TRIM)
    if not rest:
        header = parts[marker.clause].mark == ":" or folded.endswith(":")
        return marker if header or _integral(folded, marker) else None
    if imperatives.depends(
        folded[marker.start : marker.end]
    ):  # a rule for a case: what is to be done in it has to follow
        main = [folded[part.start : part.end].strip() for part in parts[marker.clause + 1 :]]
        inside = pattern("orders_within").search(folded, marker.end, parts[marker.clause].end)
        return marker if inside or any(_ordered(clause) or _bare(clause) for clause in main) else None
    if imperatives.goes_wrong(rest) or pattern("asking").match(rest) or pattern("unsure").search(folded):
        return None
    return marker if _ordered(rest) or _stated(rest, text) or len(rest.split()) >= LONG else None


def _integral(folded: str, marker: Marker) -> bool:
    """Whether a marker is all of a rule: "no uses X nunca más"."""
    rule = folded[marker.start : marker.end]
    return len(rule.split()) >= LONG and bool(pattern("orders").match(rule))


def _announced(sentence: Sentence, marker: Marker, parts: list[Clause]) -> bool:
    """Whether there is something to know beside the words that announce it."""
    folded, part = sentence.folded, parts[marker.clause]
    if pattern("unsure").search(folded):
        return False
    if folded.endswith(":") and marker.clause == len(parts) - 1:
        return True
    if part.mark in COLONS and part.mark:
        return bool(folded[part.end :].strip(_TRIM))
    for start, end in ((marker.end, len(folded)), (0, marker.start)):
        text, rest = sentence.text[start:end].strip(_TRIM), folded[start:end].strip(_TRIM)
        if len(rest.split()) >= WORDS and _stated(rest, text) and (_firm(text) or not passing.refused(rest)):
            return True
    return False


def _states(sentence: Sentence, kind: str, marker: Marker, parts: list[Clause]) -> bool:
    """Whether what a correction or a confirmation says is a statement that can be kept."""
    folded = sentence.folded
    whole = kind in ("corrected", "confirmed")
    start = marker.start if whole else marker.end
    if colon := _colon(folded, parts, marker):
        start = colon
    rest, text = folded[start:].strip(_TRIM), sentence.text[start:].strip(_TRIM)
    if folded[marker.end : parts[marker.clause].end].strip() and not _goes_on(folded[marker.start : marker.end], kind):
        return False  # "yes", "update" as the first word of something else
    if not rest:
        return kind == "corrects"
    if pattern("unsure").search(folded) or pattern("asking").match(rest):
        return False
    if imperatives.goes_wrong(rest) and not FIGURE.search(rest):
        return False
    if len(rest.split()) < (WORDS if whole else 1) or passing.asks(rest) or small_talk(text):
        return False
    if whole:
        now = kind == "corrected" and passing.refused(rest.removeprefix("ahora ")) and not _firm(text)
        return len(rest.split()) >= LONG and not now
    if pattern("goes_on").search(folded[marker.start : marker.end]):
        return True  # "I meant the blue one": in the place of something that was said
    if kind == "corrects" or colon:
        return _stated(rest, text)
    if _OVER.search(folded[marker.start : marker.end]):
        return _stated(rest.removeprefix("ahora ").removeprefix("now "), text)
    figure = bool(_firm(text) or pattern("corrected").match(rest))
    if passing.refused(rest) and not (figure and kind == "denies" and pattern("to_be").search(rest)):
        return False
    own = states(rest, text) or pattern("confirmed").match(rest) or pattern("corrected").match(rest)
    if kind == "denies":
        return (bool(own) and bool(figure or pattern("to_be").search(rest))) or (figure and _stated(rest, text))
    return bool(own)


def _firm(text: str) -> bool:
    """Whether a name, a figure or something in quotation marks stands in it."""
    return bool(FIGURE.search(text) or NAME.search(text) or _QUOTE.search(text))


def _goes_on(marker: str, kind: str) -> bool:
    """Whether what is said may follow these words without a sign between."""
    return kind in ("corrected", "confirmed", "denies") or bool(pattern("goes_on").search(marker))


def _colon(folded: str, parts: list[Clause], marker: Marker) -> int:
    """Where what stands behind the colon begins that the clause of a marker, or one after it, ends with; 0 if none. In
    a correction no colon counts behind which somebody else speaks."""
    for part in parts[marker.clause :]:
        if part.mark and part.mark in COLONS and folded[part.end + 1 :].strip(_TRIM):
            return 0 if marker.kind in STATED and request_markers.reported(folded, part.end) else part.end + 1
    return 0


def _stated(rest: str, text: str) -> bool:
    """Whether words may be a statement: a verb, a name or a figure, and nothing to be done now."""
    if passing.asks(rest) or small_talk(text):
        return False
    return _verb(rest) or bool(FIGURE.search(rest) or NAME.search(text))


def _verb(rest: str, strict: bool = False) -> bool:
    """Whether there is a verb in it, as far as its form tells. What ends like a verb of one language is none in the
    other; `strict`: nor is it where the words are of neither."""
    if pattern("finite").search(rest):
        return True
    tongue = language(rest)
    return bool(
        (tongue != "en" and not (strict and not tongue) and pattern("finite_es").search(rest))
        or (tongue != "es" and not (strict and not tongue) and pattern("finite_en").search(rest))
    )


def _bare(rest: str) -> bool:
    """Whether words may begin with a verb that orders: neither with who does it nor with a question."""
    return not (pattern("subject").match(rest) or pattern("asking").match(rest) or pattern("finite").match(rest))


def _ordered(rest: str) -> bool:
    """Whether words order or forbid something."""
    return passing.requests(rest) or bool(pattern("orders").match(rest))


# which words ------------------------------------------------------------------------------------------------------


def _content(said: Sequence[Sentence], number: int, marker: Marker, taken: set[int]) -> Iterator[tuple[int, int, int]]:
    """(number of a sentence, start, end) of what a marker speaks of."""
    sentence = said[number]
    folded = sentence.folded
    parts = request_markers.clauses(folded)
    part = parts[marker.clause]
    end = _end(folded, parts, marker)
    colon = _colon(folded[:end], parts, marker)
    if marker.kind in ("corrected", "confirmed", "rule_words"):
        yield number, colon if colon > marker.end else marker.start, end
        return
    if marker.kind in ("denies", "corrects") and 0 < len(folded[marker.end : end].strip(_TRIM).split()) < WORDS:
        yield number, marker.start, end
        return
    if marker.kind in OPENS and folded[marker.end : end].strip(_TRIM):
        yield (
            number,
            colon if colon and marker.kind not in ("asked", "to_do", "politely") else _behind_words(folded, marker),
            end,
        )
        return
    if marker.kind == "lasting" and (
        folded[marker.end : part.end].strip(_TRIM) or (not colon and _integral(folded, marker))
    ):
        yield number, marker.start, end
        return
    adverb = marker.kind == "lasts" and pattern("adverb").match(folded[part.start : part.end].strip())
    if adverb and folded[: part.start].strip(_TRIM):
        yield number, 0, part.end
        return
    closed = not colon and marker.end < part.end and marker.kind in ("pointing", "storing")  # "save it so that …"
    back = bool(pattern("back").search(folded[marker.start : marker.end])) and not colon
    after = colon or (part.end + 1 if part.mark else end), end
    before = 0, part.start if marker.kind == "lasts" else marker.start
    if marker.kind == "announces" and not colon and len(folded[marker.end : part.end].split()) >= WORDS:
        after = marker.end, end
    fits_after = not closed and _full(sentence, *after)
    if marker.kind == "hints" and not colon:
        fits_after = fits_after and _tells(sentence, *after)
        before = (0, part.start) if _tells(sentence, 0, part.start) else (0, 0)
    fits_before = _full(sentence, *before) and not _only_leads(folded, before[1])
    last = number + 1
    if fits_after and not back and not (fits_before and marker.kind == "lasts"):
        yield number, *after
    elif fits_before:
        yield number, *before
    elif not back and marker.kind != "lasts" and last < len(said) and _usable(said, last, taken, marker):
        yield from _following(said, last, taken, marker)
    elif number and _usable(said, number - 1, taken, marker):
        yield number - 1, 0, len(said[number - 1].text)
    elif fits_after:
        yield number, *after
    elif last < len(said) and _usable(said, last, taken, marker):
        yield from _following(said, last, taken, marker)
    elif marker.kind == "pointing" and len(sentence.text.split()) >= LONG and number - 1 not in taken:
        yield number, 0, len(sentence.text)  # never nothing: what it speaks of stands elsewhere


def _end(folded: str, parts: list[Clause], marker: Marker) -> int:
    """Where what follows a marker ends: before the next clause that is a marker itself."""
    end = len(folded)
    for number in range(len(parts) - 1, marker.clause, -1):
        part = parts[number]
        if len(parts) - number > request_markers.LAST or parts[number - 1].mark in COLONS:
            break
        tail = any(request_markers.whole(kind, folded, part) for kind in ("pointing", "storing", "lasts"))
        if not tail or part.start <= marker.end:
            break
        end = part.start
    return end if marker.kind in (*REQUESTS, "politely", "to_do") else len(folded)


def _full(sentence: Sentence, start: int, end: int) -> bool:
    """Whether there is something in a part of a sentence that can be kept."""
    rest = sentence.folded[start:end].strip(_TRIM)
    if len(rest.split()) < WORDS or small_talk(sentence.text[start:end]) or pattern("only_marks").fullmatch(rest):
        return False
    parts = request_markers.clauses(rest)
    return not all(request_markers.empty(rest, part) or request_markers.whole("lasts", rest, part) for part in parts)


def _tells(sentence: Sentence, start: int, end: int) -> bool:
    """Whether a part of a sentence is a statement by itself, or an order for every time."""
    rest = sentence.folded[start:end].strip(_TRIM)
    return len(rest.split()) >= LONG and _stated(rest, sentence.text[start:end]) and not passing.refused(rest)


def _only_leads(folded: str, end: int) -> bool:
    return all(request_markers.empty(folded[:end], part) for part in request_markers.clauses(folded[:end]))


def _usable(said: Sequence[Sentence], number: int, taken: set[int], marker: Marker) -> bool:
    """Whether a sentence beside the one with the marker can be what it speaks of."""
    sentence = said[number]
    if number in taken or sentence.question or small_talk(sentence.text) or len(sentence.text.split()) < WORDS:
        return False
    if sentence.passed or len(sentence.text) > MOST:
        return False
    if marker.kind in ("storing", "announces", "corrects", "hints", "heralds"):
        return _stated(sentence.folded, sentence.text)
    return True


def _following(
    said: Sequence[Sentence], number: int, taken: set[int], marker: Marker
) -> Iterator[tuple[int, int, int]]:
    """The sentence behind an announcement, or the list."""
    listed = said[number].bullet
    several = marker.kind != "corrects" and pattern("both").search(said[number - 1].folded)
    for place in range(number, min(number + ITEMS, len(said))):
        if place > number and not (listed and said[place].bullet) and not (several and _tells(said[place], 0, MOST)):
            return
        if _usable(said, place, taken, marker):
            yield place, 0, len(said[place].text)


# several ----------------------------------------------------------------------------------------------------------


def _parted(sentence: Sentence, start: int, end: int, marker: Marker) -> Iterator[tuple[int, int]]:
    """The things that a part of a sentence says, each as (start, end)."""
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
    """The parts of an enumeration, of "that … and that …", or of a list of statements."""
    for sign in (_ENUMERATED, pattern("and_that")):
        found = list(sign.finditer(folded, start, end))
        if sign is _ENUMERATED and len(found) < 2 and not (found and found[0][0][0] in ";"):
            continue
        cuts = [match.start() for match in found]
        ends = [match.end() for match in found]
        spans = [(one, two) for one, two in zip([start, *ends], [*cuts, end], strict=True) if two > one]
        spans = [span for span in spans if len(folded[span[0] : span[1]].split()) >= WORDS]
        if len(spans) > 2 and all(_begins(folded[one:two]) for one, two in spans):
            return spans  # "A is at 1; B at 2; C is not there"
        loose = sign is _ENUMERATED and any(match[0][0] == ";" for match in found)
        if loose and not all(_subject_and_verb(folded[one:two]) for one, two in spans):
            continue
        if len(spans) > 1 and all(_stands(folded[one:two]) for one, two in spans):
            return [piece for span in spans for piece in _several(folded, *span)]
    told = [part for part in request_markers.clauses(folded[start:end]) if part.end > part.start]
    counted = bool(pattern("both").search(folded, 0, start))
    if (
        len(told) > 1
        and all(one.mark in ",;" for one in told)
        and all(
            _subject_and_verb(said) or (counted and place and _verb(said))
            for place, one in enumerate(told)
            if (said := folded[start + one.start : start + one.end]) is not None
        )
    ) and not any(pattern("adverbs").match(folded[start + one.start : end].lstrip()) for one in told[1:]):
        return [piece for one in told for piece in _several(folded, start + one.start, start + one.end)]
    for conjunction in list(pattern("and").finditer(folded, start, end))[:ITEMS]:
        left, right = folded[start : conjunction.start()], folded[conjunction.end() : end]
        listed = [clause for clause in request_markers.clauses(left) if left[clause.start : clause.end].strip(_TRIM)]
        whole = [left[one.start : one.end].strip(_TRIM) for one in listed]
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
    """Whether words begin with what may be a subject, and have a verb soon after it."""
    right = folded.lstrip(_TRIM)
    subject = pattern("subject").match(right)
    if subject is None:
        return False
    if pattern("rests").match(right):
        return False  # "never on Fridays"
    rest = right[subject.end() : subject.end() + WINDOW]
    return _verb(" ".join(rest.split()[:6]), strict=True)


def _begins(folded: str) -> bool:
    """Whether words begin like a statement of their own, with a verb or in the place of one a figure."""
    right = folded.strip(_TRIM)
    return bool(pattern("subject").match(right)) and bool(_subject_and_verb(right) or FIGURE.search(right))


def _stands(folded: str) -> bool:
    """Whether words can stand by themselves as one thing to remember."""
    rest = folded.strip(_TRIM)
    if len(rest.split()) < WORDS:
        return False
    return bool(_verb(rest) or pattern("subject").match(rest) or _ordered(rest))


_LINK = re.compile(r"[\s,¡!]*+")


def _trimmed(folded: str, start: int, end: int) -> tuple[int, int]:
    """A part without the signs around it, and the words before it that only lead to it."""
    while start < end and folded[start] in _TRIM:
        start += 1
    for _ in range(request_markers.LEADS):
        link = pattern("links").match(folded, start, end)
        after = _LINK.match(folded, link.end()).end() if link else start  # type: ignore[union-attr]
        if after == start or len(folded[after:end].split()) < WORDS:
            break
        start = after
    while end > start and folded[end - 1] in _TRIM:
        end -= 1
    return start, end
