"""Task `extract_facts` by rule: what a turn says that should be remembered. A model returns the same type.

Only requests, rules, corrections and what is told plainly as lasting (a choice, prices, hours, what happens each week)
in the person's own words are used; the rest is left to a model. What follows a trigger phrase is `explicit`; what is
doubtful or only told becomes a proposal.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from store.learning.sentences import (
    COLON_MARKS,
    FIGURE_PATTERN,
    LONGEST_SENTENCE,
    MARKER_WINDOW,
    MIN_WORDS,
    MOST_LEADS,
    NAME_PATTERN,
    READ_EACH_END,
    TRIM_MARKS,
    Clause,
    Marker,
    Sentence,
    asks_for_action,
    begins_with_request,
    content_start,
    content_starts,
    find_first_marker,
    find_marker_within,
    find_triggers,
    form_pattern,
    has_verb,
    is_reported,
    load_rule_words,
    match_leading,
    rule_certainty,
    sign_pattern,
    split_clauses,
    split_own_sentences,
    start_behind_colon,
    states_lasting,
    states_nothing_lasting,
    tells_what_fails,
    word_pattern,
)
from store.text.fence import is_suspicious
from store.text.sentences import is_small_talk
from store.text.words import fold_text, load_rapidfuzz, shared_prefix_length

# The clauses that a request keeps: after its marker, before it, or in the next or previous sentence; lists become
# several.

# most items of one list
MOST_LIST_ITEMS = 12
STATING_KINDS = ("corrects", "denies", "corrected", "confirms", "confirmed")
REQUEST_KINDS = ("asked", "pointing", "storing")
# what they ask for follows, whatever it is
OPENING_KINDS = ("asked", "to_do", "politely")
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)(?:\d{1,2}|[a-h])[.)]\s|[;•]\s|(?<=\s)[-*–]\s")
_COMMA = re.compile(r"[,;]\s")
_LINK = re.compile(r"[\s,¡!]*+")
TextSpan = tuple[int, int]


def find_content(
    turn: Sequence[Sentence], number: int, marker: Marker, taken: set[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield (sentence number, start, end) of what a marker refers to."""
    folded, kind = turn[number].folded, marker.kind
    part = marker.clause
    end = len(folded)
    itself = word_pattern("orders").match(
        folded, marker.start, marker.end
    )  # "no uses X nunca más" is the whole rule
    colon = start_behind_colon(folded, marker)
    if kind in ("corrected", "confirmed"):
        yield number, colon if colon > marker.end else marker.start, end
    elif kind in (*OPENING_KINDS, "corrects", "denies", "confirms") and folded[marker.end : end].strip(TRIM_MARKS):
        yield number, colon if colon and kind not in OPENING_KINDS else _start_behind_words(folded, marker), end
    elif kind == "lasting" and (folded[marker.end : part.end].strip(TRIM_MARKS) or (itself and not colon)):
        yield number, marker.start, end
    elif kind == "lasts" and part.start and word_pattern("adverb").match(part.text_in(folded).strip()):
        yield number, 0, part.end
    else:
        yield from _find_beside(turn, number, marker, taken, colon, end)


def _find_beside(
    turn: Sequence[Sentence], number: int, marker: Marker, taken: set[int], colon: int, end: int
) -> list[tuple[int, int, int]]:
    """Return what a marker points at: the rest of its sentence, the next sentences, or the one before."""
    sentence, kind = turn[number], marker.kind
    part = marker.clause
    back = bool(word_pattern("back").search(sentence.folded[marker.start : marker.end]))
    after = colon or (part.end + 1 if part.mark else end), end
    before = 0, part.start if kind in ("lasts", "hints") else marker.start
    full = _is_statement if kind == "hints" and not colon else _has_content
    behind = [(number, *after)] if full(sentence, *after) else []
    ahead = [(number, *before)] if full(sentence, *before) else []
    following = list(_find_following(turn, number + 1, taken, marker))
    usable = number and _can_be_meant(turn, number - 1, taken, marker)
    previous = [(number - 1, 0, len(turn[number - 1].text))] if usable else []
    # the request itself is kept where what it refers to is not in the turn
    alone = kind == "pointing" and number - 1 not in taken
    itself = [(number, 0, len(sentence.text))] if alone else []
    backwards = [ahead, previous, behind, following, itself]
    forwards = [behind, ahead, *([] if kind == "lasts" else [following]), *backwards]
    return next(filter(None, backwards if back else forwards), [])


def may_be_statement(sentence: Sentence, start: int = 0, end: int | None = None) -> bool:
    """Tell whether part of a sentence states something: it has a verb and asks for nothing."""
    rest = sentence.folded[start:end].strip(TRIM_MARKS)
    return has_verb(rest) and not asks_for_action(rest)


def _start_behind_words(folded: str, marker: Marker) -> int:
    """Return where the text after a marker begins: before a "no" at its end that belongs to the text."""
    negation = sign_pattern("negates_next").search(folded, marker.start, marker.end)
    return (
        negation.start() if negation and folded[marker.end : marker.end + 2].lstrip()[:1].isalnum() else marker.end
    )


def _has_content(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence has content to keep."""
    rest = sentence.folded[start:end].strip(TRIM_MARKS)
    only = all(find_first_marker("lasts", rest, [part], whole=True) for part in split_clauses(rest))
    return len(rest.split()) >= MIN_WORDS and not only


def _is_statement(sentence: Sentence, start: int, end: int) -> bool:
    """Return whether a part of a sentence is a statement by itself, or a general order."""
    return _has_content(sentence, start, end) and not states_nothing_lasting(
        sentence.folded[start:end].strip(TRIM_MARKS)
    )


def _can_be_meant(turn: Sequence[Sentence], number: int, taken: set[int], marker: Marker) -> bool:
    """Return whether a sentence beside the marker's can be what the marker refers to."""
    sentence = turn[number]
    if number in taken or sentence.question or sentence.passed:
        return False
    return marker.kind not in ("storing", "announces", "corrects", "hints") or may_be_statement(sentence)


def _find_following(
    turn: Sequence[Sentence], number: int, taken: set[int], marker: Marker
) -> Iterator[tuple[int, int, int]]:
    """Yield the sentence after an announcement, or the list after it."""
    several = word_pattern("both").search(turn[number - 1].folded)
    for place in range(number, min(number + MOST_LIST_ITEMS, len(turn))):
        goes_on = turn[place].bullet or (several and _is_statement(turn[place], 0, len(turn[place].text)))
        if place > number and not goes_on:
            return
        if _can_be_meant(turn, place, taken, marker):
            yield place, 0, len(turn[place].text)


def split_list_items(sentence: Sentence, start: int, end: int, marker: Marker) -> list[TextSpan]:
    """Return (start, end) of each thing that a part of a sentence says."""
    folded = sentence.folded
    start, end = _trim_part(folded, start, end)
    inner = _trim_part(folded, marker.end, end)[0] if marker.start <= start < marker.end else start
    listed = (
        _split_several(folded, inner, end)
        if len(folded) <= LONGEST_SENTENCE and marker.kind not in STATING_KINDS
        else []
    )
    return [
        _trim_part(folded, *span) for span in (listed if len(listed) > 1 else [(start, end)])[:MOST_LIST_ITEMS]
    ]


def _split_several(folded: str, start: int, end: int) -> list[TextSpan]:
    """Return the parts of an enumeration, of "that … and that …", or of a list of statements."""
    listed, loose = _split_at(folded, start, end, _ENUMERATED), ";" in folded[start:end]
    if len(listed) > 2:
        # "A is at 1; B at 2; C is not there"
        return listed
    counted = word_pattern("both").search(folded, 0, start)
    for spans, stands in (
        (listed, _has_subject_and_verb if loose else _stands_alone),
        (_split_at(folded, start, end, word_pattern("and_that")), _stands_alone),
        (_split_at(folded, start, end, _COMMA), has_verb if counted else _has_subject_and_verb),
    ):
        if len(spans) > 1 and all(stands(folded[one:two]) for one, two in spans):
            return [piece for span in spans for piece in _split_several(folded, *span)]
    for conjunction in list(word_pattern("and").finditer(folded, start, end))[:MOST_LIST_ITEMS]:
        left, right = _split_at(folded, start, conjunction.start(), _COMMA), folded[conjunction.end() : end]
        whole = all(_stands_alone(folded[one:two]) for one, two in left) and _stands_alone(right)
        if left and whole and (len(left) > 1 or _has_subject_and_verb(right)):
            return [*left, *_split_several(folded, conjunction.end(), end)]
    return [(start, end)]


def _split_at(folded: str, start: int, end: int, mark: re.Pattern[str]) -> list[TextSpan]:
    """Return the parts of a text between marks that have words to keep."""
    found = list(mark.finditer(folded, start, end))
    spans = zip([start, *(one.end() for one in found)], [*(one.start() for one in found), end], strict=True)
    return [(one, two) for one, two in spans if len(folded[one:two].split()) >= MIN_WORDS]


def _has_subject_and_verb(folded: str) -> bool:
    """Return whether words begin with a possible subject, with a verb soon after it."""
    right = folded.lstrip(TRIM_MARKS)
    subject = word_pattern("subject").match(right)
    # "never on Fridays"
    if subject is None or word_pattern("rests").match(right):
        return False
    rest = right[subject.end() : subject.end() + MARKER_WINDOW]
    return has_verb(" ".join(rest.split()[:6]), strict=True)


def _stands_alone(folded: str) -> bool:
    """Return whether words can be remembered by themselves."""
    rest = folded.strip(TRIM_MARKS)
    if len(rest.split()) < MIN_WORDS:
        return False
    return bool(has_verb(rest) or word_pattern("subject").match(rest))


def _trim_part(folded: str, start: int, end: int) -> TextSpan:
    """Return a part without punctuation around it and without linking words before it."""
    while start < end and folded[start] in TRIM_MARKS:
        start += 1
    for _ in range(MOST_LEADS):
        link = word_pattern("links").match(folded, start, end)
        after = _LINK.match(folded, link.end()).end() if link else start  # type: ignore[union-attr]
        if after == start or len(folded[after:end].split()) < MIN_WORDS:
            break
        start = after
    while end > start and folded[end - 1] in TRIM_MARKS:
        end -= 1
    return start, end


# Requests: what a person marks to be kept, sets as a rule, corrects or confirms, and the words that it consists of.
#
# A marker (`clauses`) shows that something is to be kept; whole clauses beside it are kept word by word: after it,
# before it, in the sentence before or after. Several things in one sentence become several requests. An explicit
# request keeps something whatever its form; what only has the form of a rule, a correction or a confirmation must be
# a statement.

# kinds of markers, the first that a sentence has counts, and why something beside it is kept
REQUEST_REASONS = {
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
ASKING_KINDS = (*REQUEST_KINDS, "politely", "to_do")
REVISING_REASONS = frozenset(REQUEST_REASONS[kind] for kind in STATING_KINDS)


class Request(NamedTuple):
    """A thing to keep: the number of its sentence, start and end in it, the kind of its marker (a key of
    REQUEST_REASONS), and whether its form is certain."""

    sentence: int
    start: int
    end: int
    kind: str
    sure: bool


def find_requests(turn: Sequence[Sentence]) -> Iterator[Request]:
    """Yield the requests of a turn's sentences, in order."""
    taken = set[int]()
    for number, sentence in enumerate(turn):
        marker = _find_marker(sentence)
        if marker is None:
            continue
        for where, start, end in find_content(turn, number, marker, taken):
            taken.add(where)
            under = _condition_start(sentence.folded, marker) if where == number else end
            # kept whole with its condition, as a proposal
            if under < start:
                yield Request(where, under, end, marker.kind, False)
                continue
            part = marker.clause
            loose = (where, start) == (number, part.end + 1) and part.mark not in COLON_MARKS
            sure = marker.kind == "asked" or (marker.kind == "pointing" and not loose)
            for begin, last in split_list_items(turn[where], start, end, marker):
                folded = turn[where].folded
                if marker.kind not in REQUEST_KINDS and _continues_after(turn[where].text[begin:], last - begin):
                    continue
                if word_pattern("conditions").match(folded, begin, last) and "," not in folded[begin:last]:
                    # a condition alone says nothing
                    last = len(folded.rstrip(".!… "))
                if marker.kind in (*REQUEST_KINDS, "lasting") or not word_pattern("asking").match(folded, begin):
                    yield Request(where, begin, last, marker.kind, sure and begin < max(turn[where].own, 1))


def _continues_after(text: str, end: int) -> bool:
    """Return whether a text goes on in the next sentence, which may turn it round: it ends with a colon, or a quotation
    mark in it up to `end` is not closed; `19"` is a length."""
    unclosed = any(text.count(opens, 0, end) > text.count(closes, 0, end) for opens, closes in ("“”", "«»"))
    return text.endswith(":") or unclosed or len(_QUOTE.findall(text, 0, end)) % 2 == 1


def _condition_start(folded: str, marker: Marker) -> int:
    """Return where the condition of a request begins, before its marker; the length of the text where there is none."""
    for part in split_clauses(folded):
        for place in content_starts(folded, part.start, part.end):
            if word_pattern("conditions").match(folded, place, marker.start):
                return place
    return len(folded)


def _find_marker(sentence: Sentence) -> Marker | None:
    """Return the marker that counts in a sentence."""
    folded = sentence.folded
    parts = [part for part in split_clauses(folded) if part.start < max(sentence.own, 1)]
    if sentence.question:
        return find_first_marker("politely", folded, parts)
    if word_pattern("refuses").search(folded[: 2 * MARKER_WINDOW]):
        return None
    for kind in ASKING_KINDS if sentence.doubt else REQUEST_REASONS:
        if kind in ("announces", "hints"):
            marker = find_marker_within(kind, folded, parts)
        else:
            marker = find_first_marker(kind, folded, parts, inside=kind in ASKING_KINDS, whole=kind == "lasts")
        if marker and not is_reported(folded, marker.start) and _is_valid_marker(sentence, marker):
            return marker
    return None


def _is_valid_marker(sentence: Sentence, marker: Marker) -> bool:
    """Return whether a sentence can be what its marker says."""
    folded, kind = sentence.folded, marker.kind
    if kind == "to_do":
        return has_verb(folded[marker.end :])
    # "tomé nota", "anoté" is no request
    if kind in ASKING_KINDS:
        return not sign_pattern("own_past").match(sentence.text.lower(), marker.start)
    if kind == "lasting":
        return not tells_what_fails(folded[marker.end :].strip(TRIM_MARKS))
    if kind == "announces":
        return may_be_statement(sentence, marker.end) or may_be_statement(sentence, 0, marker.start)
    if kind == "hints":
        return bool(start_behind_colon(folded, marker)) or not asks_for_action(folded)
    return kind == "lasts" or _is_keepable(sentence, marker)


def _is_keepable(sentence: Sentence, marker: Marker) -> bool:
    """Return whether a correction or confirmation is a statement that can be kept."""
    folded, kind = sentence.folded, marker.kind
    itself = kind in ("corrected", "confirmed")
    colon = start_behind_colon(folded, marker)
    start = colon or (marker.start if itself else marker.end)
    rest, text = (
        sign_pattern("now_first").sub("", folded[start:].strip(TRIM_MARKS)),
        sentence.text[start:].strip(TRIM_MARKS),
    )
    if folded[marker.end : marker.clause.end].strip() and not itself and kind != "denies":
        # "yes", "update" as the first word of another sentence
        return False
    if not rest:
        return kind == "corrects"
    if word_pattern("unsure").search(folded) or (tells_what_fails(rest) and not FIGURE_PATTERN.search(rest)):
        return False
    if itself:
        return _is_firm(text) or not states_nothing_lasting(rest)
    if kind == "corrects" or colon:
        return may_be_statement(sentence, start)
    own = states_lasting(rest, text) or bool(word_pattern("confirmed").match(rest))
    return _is_firm(text) or (own and bool(word_pattern("to_be").search(folded))) if kind == "denies" else own


def _is_firm(text: str) -> bool:
    """Return whether a text contains a name, a figure or something in quotation marks."""
    return bool(FIGURE_PATTERN.search(text) or NAME_PATTERN.search(text) or '"' in text)


# Candidate sentences of a turn for the model: the person's own, and no questions, small talk, requests, or remarks
# about the moment.
#
# A small model makes a fact of anything it is shown, so the sentences shown must have the form of a fact: about the
# person, their project, how they work. Its answers are checked by the same filters.

# most sentences of one turn
MOST_CANDIDATES = 12


def find_candidates(role: str, text: str) -> list[Sentence]:
    """Return the candidate sentences of a turn: sentences that may state something and that the person certainly
    said themselves, and sentences that ask for memory. In a turn that tells an agent what to remember, only the
    latter."""
    if role != "user":
        return []
    turn = split_own_sentences(text)
    asked = {at for at, start, end, *_ in find_requests(turn) if not is_hostile(turn[at].text[start:end])}
    friendly = not is_hostile(text)
    return [
        sentence
        for number, sentence in enumerate(turn)
        # certainly the person's own
        if not (sentence.question or sentence.doubt or is_suspicious(sentence.quote))
        and (number in asked or (friendly and _may_state(sentence)))
    ][:MOST_CANDIDATES]


def find_lasting_sentences(role: str, text: str) -> list[Sentence]:
    """Return the candidates that state something lasting, by their form: not about the moment, not considered or
    supposed. Asides at their beginning and end are cut off."""
    found = []
    for sentence in find_candidates(role, text):
        folded, written = sentence.folded, sentence.text
        if is_hostile(written) or _is_undecided(folded):
            continue
        parts = _long_clauses(sentence)
        if any(states_lasting(part.text_in(folded), part.text_in(written)) for part in parts):
            kept = [part for part in parts if not states_nothing_lasting(part.text_in(folded))]
            start, end = kept[0].start, len(written) if kept[-1] == parts[-1] else kept[-1].end
            found.append(sentence._replace(text=written[start:end], folded=folded[start:end]))
    return found


def is_settled_statement(text: str) -> bool:
    """Return whether a sentence states something, and not about the moment, considered, supposed or asked."""
    folded = fold_text(text)
    return not (text.endswith("?") or _is_undecided(folded) or sign_pattern("hypothetical").match(folded))


def _is_undecided(folded: str) -> bool:
    """Tell whether a sentence is about the moment, or only considered or supposed."""
    rest = sign_pattern("lasting_time").sub("", folded)
    return bool(word_pattern("passing").search(rest)) or any(
        sign_pattern(name).search(folded) for name in ("weighed", "supposed")
    )


def is_hostile(text: str) -> bool:
    """Return whether a text tells the keeper of the memory what to keep, or that everything is allowed."""
    seen = (
        text if len(text) <= 2 * READ_EACH_END else f"{text[:READ_EACH_END]}\n{text[-READ_EACH_END:]}"
    )  # the rest is not used
    return bool(form_pattern("orders_memory").search(fold_text(seen)))


def _may_state(sentence: Sentence) -> bool:
    """Return whether a sentence may state something."""
    folded = sentence.folded
    idle = (
        is_small_talk(sentence.text)
        or sign_pattern("introduces").search(folded)
        or asks_for_action(folded.lstrip("¡!¿ "))
    )
    return not idle and any(not states_nothing_lasting(part.text_in(folded)) for part in _long_clauses(sentence))


def _long_clauses(sentence: Sentence) -> list[Clause]:
    """Return the clauses of at least MIN_WORDS words."""
    return [
        part for part in split_clauses(sentence.folded) if len(part.text_in(sentence.folded).split()) >= MIN_WORDS
    ]


# Statements in a turn beside words that are not a known marker but may be one: "pin this to your wall. …".
#
# No list of phrases is complete. So where a turn has no marker, asks nothing, wants nothing done now, states something
# lasting and has a few other words, its statements are proposed to the person; they are never stored without asking.

# most words of a possible marker
MOST_MARKER_WORDS = 9
NOT_LASTING_PATTERNS = ("once", "unsure", "hedged", "unhinted", "passing")
_QUOTED = re.compile(r"[\"“”«»]\W*\w+\W+\w+\W+\w+")


def find_unmarked_statements(turn: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return (sentence number, start of the statement) for each statement of such a turn; an empty list for other
    turns."""
    found, marked = list[tuple[int, int]](), False
    for number, sentence in enumerate(turn):
        start = content_start(sentence.folded)
        rest = sentence.folded[start:]
        short = len(rest.split()) <= MOST_MARKER_WORDS
        # "pin this", "lo guardás?"
        points = short and bool(word_pattern("points").search(rest))
        heard = bool(word_pattern("heard").search(sentence.folded))
        asks = not heard and (sentence.text.endswith("?") or bool(word_pattern("questions").match(rest)))
        if _is_of_others(sentence, rest):
            return []
        if asks or begins_with_request(rest) or word_pattern("orders_now").match(rest):
            if not points:
                return []
            marked = True
        elif told := _lasting_clauses(sentence, rest):
            found.append((number, start))
            marked = marked or not all(told)
        else:
            marked = marked or short
    return found if marked else []


def _is_of_others(sentence: Sentence, rest: str) -> bool:
    """Return whether a sentence is somebody else's, comments on what was said, or is for another rule."""
    folded = sentence.folded
    if (
        sentence.doubt
        or sentence.passed
        or _QUOTED.search(sentence.text)
        or word_pattern("comments").search(folded)
    ):
        return True
    if ":" in rest and word_pattern("unheralded").search(rest.partition(":")[0]):
        return True
    ruled = any(rule.phrase.match(text) for rule in find_triggers("kept") for text in (folded, rest))
    return ruled or is_reported(folded, len(folded))


def _lasting_clauses(sentence: Sentence, rest: str) -> list[bool]:
    """Return for each clause of a sentence whether it states something lasting; an empty list where none does, or where
    one asks for something now."""
    if any(word_pattern(name).search(rest) for name in NOT_LASTING_PATTERNS):
        return []
    told = []
    for part in split_clauses(sentence.folded):
        clause = sentence.folded[content_starts(sentence.folded, part.start, part.end)[-1] : part.end]
        if (
            asks_for_action(clause)
            and not word_pattern("points").search(clause)
            and not word_pattern("hints").search(clause)
        ):
            return []
        if clause.strip(" .!"):
            told.append(_states_lasting_thing(clause.strip(), part.text_in(sentence.text).strip()))
    return told if any(told) else []


def _states_lasting_thing(clause: str, text: str) -> bool:
    """Tell whether a clause states something lasting, and asks and tells of no failure."""
    if (
        len(clause.split()) < MIN_WORDS
        or word_pattern("asking").match(clause)
        or word_pattern("loose").match(clause)
    ):
        return False
    return not tells_what_fails(sign_pattern("contracted").sub("", clause)) and states_lasting(clause, text)


# explicit facts of one turn; of more, the text was probably pasted
MOST_EXPLICIT = 5
# most facts of one turn
MOST_FACTS = 20
TOLD_ALONE = "you told it, and asked for nothing else"
# most characters of a correction, or of the words that announce steps
LONGEST_CORRECTION = 400
# most words of a correction to which the next sentence belongs
SHORT_CORRECTION = 5
CORRECTS_REASON = "it puts right what was done"
_STEP = re.compile(r"(?:(?<=\s)|(?<=^))(\d{1,2})[.)]\s")
_STEP_END = re.compile(r"\n\s*\n|\n(?!\s*\d{1,2}[.)]\s)|(?<=[.!?])\s+(?=[A-ZÁÉÍÓÚ¿¡])")
TOLD_REASON = "you told it as something that lasts"
# what such a sentence says does not last
NOT_TOLD_PATTERNS = ("passing", "once", "unsure", "hedged")
# quoted, or code
_OTHERS = re.compile(r"[\"“”«»{}`]|;$|[=(]\S*[=)];?")
_NOTE = re.compile(
    r"\A\s*#\s+(?=\w[^\n]+\s*\Z)"
)  # a line that is meant for the memory, as agents' own prompts have it
# what a secret was cut out of
_REDACTED_PART = re.compile(r"(?<![^,;.])[^,;.]*\[REDACTED:\w+\][^,;.]*")
LATER_REASON = "it stands behind a paragraph or a log, and may have been pasted with it"


class ExtractedFact(NamedTuple):
    """One thing to remember. `quote` is the sentence as it stands in the turn; `explicit`: the person asked for it, so
    it needs no confirmation; `own`: the person certainly said it themselves; `why` is the reason in words, or why to
    ask about it."""

    text: str
    domain: str
    confidence: str
    quote: str
    explicit: bool
    own: bool
    why: str


def extract_by_rule(role: str, text: str) -> list[ExtractedFact]:
    """Return what should be remembered of a turn; nothing of what the assistant says."""
    if role != "user":
        return []
    text = _NOTE.sub("", text)
    turn = split_own_sentences(text)
    found = _merge_steps(text, turn, list(_find_everything(turn)))
    if sum(one.explicit for one in found) > MOST_EXPLICIT:
        found = [_to_be_asked(one, "there are too many in one turn to be one's own words") for one in found]
    return found[:MOST_FACTS]


def _find_everything(turn: Sequence[Sentence]) -> Iterable[ExtractedFact]:
    """Yield everything that a turn asks for, corrects or sets as a rule, in order."""
    corrected = dict(_find_corrections(turn))
    marked = [request for request in find_requests(turn) if request.sentence not in corrected]
    held = {request.sentence for request in marked}.union(corrected)
    everything: list[tuple[int, ExtractedFact | None]] = [*corrected.items()]
    everything += [(request.sentence, _fact_of_request(turn[request.sentence], request)) for request in marked]
    everything += [(at, _standing_rule(one) or _fact_told(one)) for at, one in enumerate(turn) if at not in held]
    if not any(found for _, found in everything):
        everything = [
            (number, _make_fact(turn[number], start, "", TOLD_ALONE, False))
            for number, start in find_unmarked_statements(turn)
        ]
    seen = set[str]()
    for number, found in sorted(everything, key=lambda one: one[0]):
        if found is None or found.text.casefold() in seen:
            continue
        seen.add(found.text.casefold())
        doubt = turn[number].doubt
        if found.explicit and doubt:
            found = _to_be_asked(found, doubt)
        elif found.explicit and is_suspicious(turn[number].quote):
            found = _to_be_asked(found, "it looks like an instruction to an agent")
        elif doubt and number not in held:
            # neither marked nor certain
            continue
        yield found


def _find_corrections(turn: Sequence[Sentence]) -> Iterable[tuple[int, ExtractedFact]]:
    """Yield (sentence number, fact) for corrections of what an agent did: the whole sentence, and after a short one
    also the next."""
    for number, sentence in enumerate(turn):
        text, others = sentence.text, sentence.question or sentence.passed or sentence.doubt
        wrong = (
            None if others or len(text) > LONGEST_CORRECTION else match_leading("corrects_agent", sentence.folded)
        )
        if wrong is None:
            continue
        brief = len(text.split()) <= SHORT_CORRECTION or len(text[wrong.end() :].split()) < MIN_WORDS
        if brief and number + 1 < len(turn) and not turn[number + 1].question:
            text = f"{text} {turn[number + 1].text}"
        if len(text[wrong.end() :].split()) >= MIN_WORDS:
            yield (
                number,
                ExtractedFact(text, "self_correction", "medium", sentence.quote, False, True, CORRECTS_REASON),
            )


def find_steps(text: str) -> tuple[int, int] | None:
    """Return (start, end) of numbered steps with the words that announce them, "To release: 1. … 2. …"; None without
    any."""
    begin = number = last = 0
    for step in _STEP.finditer(text):
        if number and step[1] == str(number + 1):
            number, last = number + 1, step.end()
        elif step[1] == "1" and number < 2 and (head := _announcing_words(text, step.start())):
            begin, number = step.start() - len(head), 1
    if number < 2:
        return None
    stop = _STEP_END.search(text, last)
    return begin, stop.start() if stop else len(text)


def _announcing_words(text: str, start: int) -> str:
    """Return the words before `start` that announce steps; empty where none do."""
    near, before = max(0, start - LONGEST_CORRECTION - 2), max(0, start - 2)
    head = text[max(text.rfind(end, near, before) + 1 for end in ("\n\n", ". ", "! ", "? ")) : start]
    return (
        head.lstrip() if len(head) <= LONGEST_CORRECTION and word_pattern("how_to").search(fold_text(head)) else ""
    )


def _merge_steps(text: str, turn: Sequence[Sentence], found: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """Return what was found, with numbered steps that are asked for merged into one fact, without what asks for
    them."""
    span = find_steps(text)
    if span is None:
        return list(found)
    block = text[span[0] : span[1]].strip()
    asked = match_leading("keeps_steps", fold_text(block))
    own = any(block.startswith(sentence.quote) and not sentence.doubt for sentence in turn)
    parts = [one for one in found if one.quote in block or block in one.quote]
    if not parts and not (asked and own):
        return list(found)
    steps = " ".join(block[asked.end() if asked else 0 :].split()).rstrip(".;, ")
    steps = steps[:1].upper() + steps[1:]
    explicit = any(one.explicit for one in parts)
    whole = ExtractedFact(
        steps, "general", "high" if explicit else "medium", block, explicit, True, REQUEST_REASONS["asked"]
    )
    return [whole, *(one for one in found if one not in parts)]


def _fact_of_request(sentence: Sentence, request: Request) -> ExtractedFact | None:
    """Return what a request keeps; in a sentence that is a certain rule, what the rule keeps."""
    found = _make_fact(sentence, request.start, "", REQUEST_REASONS[request.kind], request.sure, request.end)
    if found is None:
        return None
    lasting = sign_pattern("lasting_time").sub("", fold_text(found.text))
    if request.kind == "asked" and word_pattern("passing").search(lasting):
        return _to_be_asked(found, "it speaks of these days")
    if request.kind in ("pointing", "storing", "to_do") and sign_pattern("for_now").search(lasting):
        return None
    rule = None if request.kind in REQUEST_KINDS else _standing_rule(sentence)
    if rule is None:
        return found
    if rule.text.casefold().endswith(found.text.casefold()):
        # the same words, in a certain form
        return rule
    return _make_fact(sentence, request.start, rule.domain, rule.why, rule.explicit, request.end)


def _to_be_asked(found: ExtractedFact, why: str) -> ExtractedFact:
    """Return a fact as a fact to ask about."""
    return found._replace(confidence="medium", explicit=False, own=False, why=why) if found.explicit else found


def _standing_rule(sentence: Sentence) -> ExtractedFact | None:
    """Return the fact in a sentence that starts with a trigger and does not ask for memory."""
    if sentence.question or sentence.passed:
        return None
    folded = sentence.folded
    start = content_start(folded)
    rest = folded[start:]
    for trigger in find_triggers("kept"):
        match = trigger.find_phrase(rest)
        if match is None:
            continue
        written = sentence.text[start:]
        verb = slice(*match.span("verb")) if trigger.sure else slice(0)
        sure = rule_certainty(trigger.sure, written[verb], rest)
        if sure is False:
            return None
        why = f"you said “{written[: match.end()]}”"
        found = _make_fact(sentence, start, trigger.domain, why, explicit=bool(sure))
        return _to_be_asked(found, LATER_REASON) if found and sentence.later and not sentence.doubt else found
    return None


def _fact_told(sentence: Sentence) -> ExtractedFact | None:
    """Return what a sentence tells plainly as something that lasts, without asking for memory; of a question only what
    a trigger keeps of it."""
    start = content_start(sentence.folded)
    rest = sentence.folded[start:]
    lasting = sign_pattern("lasting_time").sub("", rest)
    others = sentence.passed or sentence.doubt or is_reported(sentence.folded, len(sentence.folded))
    supposed = sign_pattern("hypothetical").match(rest) or sign_pattern("for_now").search(lasting)
    if (
        others
        or supposed
        or _OTHERS.search(sentence.text)
        or any(word_pattern(one).search(lasting) for one in NOT_TOLD_PATTERNS)
    ):
        return None
    for trigger in find_triggers("told"):
        match = trigger.find_phrase(rest, anywhere=True)
        if match is None or (
            trigger.sure and not (NAME_PATTERN.search(sentence.text) or FIGURE_PATTERN.search(rest))
        ):
            continue
        kept = match.start("kept") if "kept" in trigger.phrase.groupindex else 0
        if kept or not sentence.question:
            return _make_fact(
                sentence, start + kept, trigger.domain, TOLD_REASON, False, len(sentence.text.rstrip("? "))
            )
    return None


def _make_fact(
    sentence: Sentence, start: int, domain: str, why: str, explicit: bool = True, end: int | None = None
) -> ExtractedFact | None:
    """Return the sentence from `start` to `end` as a fact; None where too few words are left."""
    text = sentence.text[start:end].strip().rstrip(".!;,… ").strip()
    left = _REDACTED_PART.sub("", text)
    if len(text.split()) < MIN_WORDS or (
        left != text and not explicit and not states_lasting(fold_text(left), left)
    ):
        return None
    text = text[0].upper() + text[1:]
    hedged = word_pattern("hedged").search(sentence.folded, start)
    confidence = "high" if explicit and not hedged else "medium"
    return ExtractedFact(
        text, domain or _find_domain(fold_text(text)), confidence, sentence.quote, explicit, True, why
    )


def _find_domain(folded: str) -> str:
    """Return the domain of what a person asks to remember: that of the first trigger in it."""
    rest = folded[content_start(folded) :]
    rules = [trigger for trigger in find_triggers("kept") if trigger.phrase.match(rest)]
    told = [trigger for trigger in find_triggers("told") if trigger.phrase.search(rest)]
    return next((trigger.domain for trigger in (*rules, *told)), "general")


# Task `reconfirm` by rule: whether a person repeated something that is known, or withdrew it.
#
# Only the same words in the same order confirm, apart from articles, a plural and two exchanged letters: another
# number, a negation elsewhere, "or" for "and", one letter less ("cansado", "casado") may mean something else.
# Similar texts become a proposal.

# least share of a fact's words in a sentence, to ask whether it says the same
MIN_CONFIRM_SHARE = 0.75
# least share where the sentence contradicts the fact
MIN_CONFLICT_SHARE = 0.6
# least letters of a word in which exchanged letters count as a typo
MIN_SWAP_LETTERS = 6
# least letters that two forms of a word have in common at the beginning
MIN_COMMON_START = 3

_WORD = re.compile(r"\w+(?:[.'/+-]\w+)*")

CONFIRM_FACT, PROPOSE_FACT, SUPERSEDE_FACT, NO_VERDICT = "confirm", "propose", "supersede", "none"


@dataclass(slots=True, eq=False, repr=False)
class ComparedText:
    """A text prepared for comparison: `text` folded, `every` word but articles, `words` with meaning, in order;
    `negated`."""

    text: str
    every: list[str] = field(init=False)
    words: list[str] = field(init=False)
    negated: bool = field(init=False)

    def __post_init__(self) -> None:
        every = _WORD.findall(fold_text(self.text))
        self.every = [word for word in every if word not in load_rule_words("articles")]
        self.text = " ".join(every)
        self.negated = any(word in load_rule_words("negation") or word.endswith("n't") for word in every)
        self.words = [
            word
            for word in every
            if word not in load_rule_words("hollow") and word not in load_rule_words("negation")
        ]


def text_to_compare(sentence: Sentence) -> ComparedText:
    """Return what a sentence says, without filler words."""
    return ComparedText(sentence.folded[content_start(sentence.folded) :])


def judge_text(one: ComparedText, fact: ComparedText) -> str:
    """Return what a text does to a fact: `confirm`, `propose` to confirm, `supersede` (as a proposal), or `none`."""
    if len(one.every) == len(fact.every) and all(map(_is_almost_equal, one.every, fact.every)):
        # word by word, apart from articles, a plural, and exchanged letters
        return CONFIRM_FACT
    common = shared_word_ratio(one, fact)
    supposed = sign_pattern("hypothetical").match(one.text) and not sign_pattern("hypothetical").match(fact.text)
    if common < MIN_CONFLICT_SHARE or common * len(fact.words) < 2 or supposed:
        return NO_VERDICT
    if contradicts_fact(one, fact):
        return SUPERSEDE_FACT
    if len(one.words) == len(fact.words):
        differing = sum(not alike for alike in map(_is_almost_equal, one.words, fact.words))
        if (differing == 1 and len(fact.words) > 2) or sorted(one.words) == sorted(fact.words):
            return SUPERSEDE_FACT
    return PROPOSE_FACT if common >= MIN_CONFIRM_SHARE and len(one.words) <= 2 * len(fact.words) else NO_VERDICT


def says_still_holds(text: str, fact: ComparedText) -> bool:
    """Return whether a sentence says that a fact still holds: "sigo usando Kimi". Everything else it says must be in
    the fact, and nothing may contradict it."""
    folded = fold_text(text)
    match = word_pattern("still").match(folded)
    if match is None:
        return False
    rest = ComparedText(folded[match.end() :])
    telling = [word for word in rest.words if word not in load_rule_words("using")]
    if contradicts_fact(rest, fact) or sign_pattern("hypothetical").search(rest.text):
        return False
    return bool(telling) and all(any(_is_almost_equal(word, other) for other in fact.words) for word in telling)


def contradicts_fact(one: ComparedText, fact: ComparedText) -> bool:
    """Return whether a sentence about a fact contradicts it: a negation, an end, another number, another thing
    instead."""
    if one.negated != fact.negated or bool(sign_pattern("ended").search(one.text)) != bool(
        sign_pattern("ended").search(fact.text)
    ):
        return True
    instead = set(form_pattern("instead").findall(one.text)) & set(fact.text.split())
    if instead and not form_pattern("instead").search(fact.text):
        return True
    mine, theirs = _number_words(one.words), _number_words(fact.words)
    return bool(mine and theirs and mine != theirs)


def shared_word_ratio(one: ComparedText, fact: ComparedText) -> float:
    """Return the share (0 to 1) of a fact's words that a text has in any form."""
    shared = [word for word in fact.words if any(is_form_of_word(word, other) for other in one.words)]
    return len(shared) / max(1, len(fact.words))


def is_form_of_word(one: str, other: str) -> bool:
    """Return whether two words are forms of one word: the same beginning, most of the shorter."""
    if one == other:
        return True
    common = shared_prefix_length(one, other)
    return (
        common >= MIN_COMMON_START
        and common >= 0.6 * min(len(one), len(other))
        and not _number_words([one, other])
    )


def _is_almost_equal(one: str, other: str) -> bool:
    """Return whether two words are the same, apart from a plural, or from two letters exchanged that make no other
    word."""
    short, long = sorted((one, other), key=len)
    if one == other or _number_words([long]):
        return one == other
    if long in (short + "s", short + "es"):
        return len(short) > 2
    if len(one) < MIN_SWAP_LETTERS or sorted(one) != sorted(other):
        return False
    return (
        load_rapidfuzz().distance.OSA.distance(one, other) == 1
        and one[0] == other[0]
        and not {one, one.removesuffix("s")} & load_rule_words("exchanged_words")
    )


def _number_words(words: Sequence[str]) -> list[str]:
    """Return the words that contain a digit, sorted."""
    return sorted(word for word in words if any(char.isdigit() for char in word))
