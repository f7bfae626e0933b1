"""Cues that two sentences may say the same or contradict each other. They only select candidates.

Two texts are split into the words both have, and those of each alone. A negation on one side, an opposite, another
number, day or version, another value of the same name: these are probably a contradiction, however similar the texts
are to a model, which hardly notices any of them (bench.duplicates).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from store.text import vocabulary
from store.text.folding import normalize
from store.text.similarity.word_forms import shared_start
from store.text.tokens import WORD

folded = normalize
SAME, ALIKE, AGAINST, APART = "same", "alike", "contradicts", ""
ENOUGH = 0.6  # of the words of the shorter text that both must have, for a cue to count
CLOSE = 0.8  # similarity of two words, as rapidfuzz's ratio from 0 to 1: another ending or a typo
TELLING = 0.75  # calibrated similarity from which two texts mean the same

_NUMBER = re.compile(r"v?\d[\d.,:/-]*(?:st|nd|rd|th|[ap]m|[a-z]{1,2}|%)?")
_DIGITS = re.compile(r"\d[\d.,:/-]*")
_AFTER_NOT = frozenset("longer mas anymore".split())  # `no longer`, `ya no`: part of the negation
_PRONOUNS = ("one", "once")  # they seldom mean a number
_MAY = frozenset(("may",))  # seldom a month
_IS = re.compile(r"^(?P<name>[^:=]{2,60}?)\s*(?::|=|->|→)\s+(?P<value>\S.*)$", re.DOTALL)
_COPULA = re.compile(
    r"^(?P<name>(?:the|our|my|his|her|their|el|la|los|las|nuestr[oa]s?|mis?|sus?|[\w-]+'s)\b.{2,60}?)\s+"
    r"(?:is|are|es|son|is called|is named|se llama|sera|will be)\s+(?:called |named )?(?P<value>\S.*)$"
)
_LIVES = re.compile(
    r"^(?P<name>.{0,60}?\b(?:lives?|vive|vivo|works?|trabaja|trabajo|based|born|nacio)\b)\s+(?:in|at|en|para|for)\s+"
    r"(?P<value>\S.*)$"
)


WordLists = tuple[Sequence[frozenset[str]], ...]


@cache
def _counts() -> dict[str, str]:
    return {word: str(number) for word, number in vocabulary.numbers().items() if word not in _PRONOUNS}


@cache
def _lists() -> WordLists:
    """Return the closed lists, of which a thing has one member."""
    return (
        vocabulary.in_order("dates", "weekdays"),
        tuple(month - _MAY for month in vocabulary.in_order("dates", "months")),
        *vocabulary.groups("closed_lists").values(),
    )


@cache
def _opposites() -> WordLists:
    return tuple(vocabulary.groups("opposites").values())


@cache
def _in_list() -> dict[str, tuple[int, int]]:
    return _index(_lists())


@cache
def _in_opposites() -> dict[str, tuple[int, int]]:
    return _index(_opposites())


def _index(lists: Iterable[Sequence[frozenset[str]]]) -> dict[str, tuple[int, int]]:
    """Return word → (index of the list, index of its group)."""
    return {
        word: (which, place)
        for which, places in enumerate(lists)
        for place, group in enumerate(places)
        for word in group
    }


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A text in parts: its plain words, the number of negations, the `words` that carry meaning, its `values` (numbers
    and members of closed lists), and `capitals`, the capitalised words except the first."""

    plain: str
    negations: int
    words: tuple[str, ...]
    values: frozenset[str]
    capitals: frozenset[str]


def taken_apart(text: str) -> ParsedSentence:
    """Return the parts that `compare` compares; computed once for each text of many."""
    plain = normalize(text)
    capitals = frozenset(
        normalize(match[0])
        for match in list(WORD.finditer(text))[1:]  # the first word is always capitalised
        if any(letter.isupper() for letter in match[0])
    )
    negations, words, values = 0, list[str](), set[str]()
    negating = vocabulary.words("negations", "core", "nobody", "comparison")
    empty, counts, in_list = vocabulary.stop_words("comparison"), _counts(), _in_list()
    found = [match[0].strip("'\u2019") for match in WORD.finditer(re.sub(r"n['\u2019]t\b", " not", plain))]
    for place, word in enumerate(found):
        if word in negating:
            negations += 1
            if word in _in_opposites() and word != "no":
                words.append(word)
        elif word in _AFTER_NOT and place and found[place - 1] in negating:
            continue
        elif _NUMBER.fullmatch(word) or word in counts:
            figures = _DIGITS.search(word)
            values.add(figures[0].rstrip(".,:/-") if figures else counts[word])
        elif (listed := in_list.get(word) or in_list.get(word.removesuffix("s"))) is not None:
            values.add(f"={listed[0]}/{listed[1]}")
        elif word not in empty:
            words.append(word)
    return ParsedSentence(plain, negations, tuple(words), frozenset(values), capitals)


def compare(one: ParsedSentence, other: ParsedSentence, likeness: float, meaning: float | None = None) -> str:
    """Return SAME, ALIKE, AGAINST or APART. `likeness` is rapidfuzz's ratio of the texts and `meaning` their calibrated
    similarity, both from 0 to 1; None where there is no model."""
    if one.plain.rstrip(".!;, ") == other.plain.rstrip(".!;, "):
        return SAME
    shared, mine, yours = _parted(one.words, other.words)
    smaller = min(len(one.words), len(other.words))
    near = shared >= ENOUGH * smaller and shared >= 1 if smaller else likeness >= CLOSE
    opposed = _opposed(mine, yours)
    if opposed and shared + 1 >= ENOUGH * smaller and not _even(one, other):
        return AGAINST
    close = meaning is not None and meaning >= TELLING
    if (near or close) and (one.negations + other.negations) % 2 and not (mine and yours):
        return AGAINST
    if (near and not (mine and yours)) or (close and not len(mine) == 1 == len(yours)):
        for which in (None, *range(len(_lists()))):
            first, second = _of(one.values, which), _of(other.values, which)
            if first and second and not first <= second and not second <= first:
                return AGAINST
    if _another_value(one, other):
        return AGAINST
    if (one.negations + other.negations) % 2 or opposed:
        return APART
    if close and not _substituted(one, other, mine, yours) and not (smaller == shared == 1 and (mine or yours)):
        return ALIKE
    if likeness >= CLOSE and not (mine and yours) and one.values == other.values:
        return ALIKE
    return APART


def _even(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Return whether a negation cancels an opposite: `never` and `not always`."""
    return (one.negations + other.negations) % 2 == 1 and not ({"never", "nunca", "jamas"} & {*one.words, *other.words})


def _of(values: frozenset[str], which: int | None) -> set[str]:
    """Return the numbers among values, or the members of one closed list."""
    if which is None:
        return {value for value in values if not value.startswith("=")}
    return {value for value in values if value.startswith(f"={which}/")}


def _parted(one: Sequence[str], other: Sequence[str]) -> tuple[int, list[str], list[str]]:
    """Return (how many words both have, in any form; those only in the one; those only in the other)."""
    from rapidfuzz.fuzz import ratio

    left = list(dict.fromkeys(other))
    mine, shared = [], 0
    for word in dict.fromkeys(one):
        if word in left:
            left.remove(word)
            shared += 1
            continue
        best = max(left, key=lambda candidate: ratio(word, candidate), default=None)
        if best is not None and _form_of(word, best) and ratio(word, best) >= 100 * CLOSE:
            left.remove(best)
            shared += 1
        else:
            mine.append(word)
    return shared, mine, left


def _form_of(word: str, other: str) -> bool:
    """Return whether two words may be forms of one: they begin alike."""
    if word in _in_list() or word in _in_opposites():  # another form of it may mean the opposite
        return False
    return shared_start(word, other) >= min(3, max(len(word), len(other)))


def _opposed(mine: Iterable[str], yours: Iterable[str]) -> bool:
    """Return whether a word of the one is an opposite of a word of the other."""
    opposites = _in_opposites()
    places: dict[int, set[int]] = {}
    for word in yours:
        if word in opposites:
            which, place = opposites[word]
            places.setdefault(which, set()).add(place)
    return any(word in opposites and places.get(opposites[word][0], set()) - {opposites[word][1]} for word in mine)


def contrary(one: str, other: str) -> bool:
    """Return whether one question asks for the opposite of the other: they contain opposites, or different members of a
    closed list."""
    first, second = ({match[0] for match in WORD.finditer(normalize(text))} for text in (one, other))
    # more opposites than in one text, which may contain both
    for group in (*_opposites(), *vocabulary.groups("contraries").values(), *_lists()):
        held = [{place for place, words in enumerate(group) if words & side} for side in (first, second)]
        if held[0] - held[1] and held[1] - held[0]:
            return True
    return False


def _another_value(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Return whether both give the value of the same name, and not the same value: `primary LLM: Kimi` and `primary
    LLM: Qwen`."""
    for form in (_IS, _COPULA, _LIVES):
        first, second = form.match(one.plain), form.match(other.plain)
        if not first or not second or first["name"] != second["name"]:
            continue
        values = first["value"].rstrip(".!;, "), second["value"].rstrip(".!;, ")
        if values[0] == values[1] or values[0] in values[1] or values[1] in values[0]:
            return False
        if form is not _COPULA:
            return True
        names = [match[0] if (match := WORD.search(value)) else "" for value in values]
        return names[0] in one.capitals and names[1] in other.capitals
    return False


def _substituted(one: ParsedSentence, other: ParsedSentence, mine: Sequence[str], yours: Sequence[str]) -> bool:
    """Return whether they are one sentence about two things: `Ana likes tea`, `Eva likes tea`. A model finds such
    sentences the same."""
    if one.values and other.values and one.values != other.values:
        return True
    names = [word for word in mine if word in one.capitals], [word for word in yours if word in other.capitals]
    if names[0] and names[1]:
        return True
    return len(mine) == 1 == len(yours) and len(one.words) == len(other.words)
