"""Cues that two sentences may say the same or contradict each other. They only select candidates.

Two texts are split into the words both have, and those of each alone. A negation on one side, an opposite, another
number, day or version, another value of the same name: these are probably a contradiction, however similar the texts
are to a model, which hardly notices any of them (bench.duplicates).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from store.text.language import extract_names
from store.text.words import (
    WORD_PATTERN,
    any_of_regex,
    is_inflection,
    load_number_words,
    load_ordered_words,
    load_rapidfuzz,
    load_stop_words,
    load_word_groups,
    load_words,
    normalize_text,
    shared_prefix_length,
)

folded = normalize_text
SAME_STATEMENT, SIMILAR_STATEMENT, CONTRADICTS, NO_RELATION = "same", "alike", "contradicts", ""
# of the words of the shorter text that both must have, for a cue to count
MIN_SHARED_WORDS = 0.6
# similarity of two words, as rapidfuzz's ratio from 0 to 1: another ending or a typo
CLOSE_RATIO = 0.8
# calibrated similarity from which two texts mean the same
SAME_MEANING = 0.75

_NUMBER = re.compile(r"v?\d[\d.,:/-]*(?:st|nd|rd|th|[ap]m|[a-z]{1,2}|%)?")
_DIGITS = re.compile(r"\d[\d.,:/-]*")
# `no longer`, `ya no`: part of the negation
_AFTER_NOT = frozenset("longer mas anymore".split())
# they seldom mean a number
_PRONOUNS = ("one", "once")
# seldom a month
_MAY = frozenset(("may",))
_NAME_VALUE = re.compile(r"^(?P<name>[^:=]{2,60}?)\s*(?::|=|->|→)\s+(?P<value>\S.*)$", re.DOTALL)
_COPULA = re.compile(
    r"^(?P<name>(?:the|our|my|his|her|their|el|la|los|las|nuestr[oa]s?|mis?|sus?|[\w-]+'s)\b.{2,60}?)\s+"
    r"(?:is|are|es|son|is called|is named|se llama|sera|will be)\s+(?:called |named )?(?P<value>\S.*)$"
)
_LIVES = re.compile(
    r"^(?P<name>.{0,60}?\b(?:lives?|vive|vivo|works?|trabaja|trabajo|based|born|nacio)\b)\s+(?:in|at|en|para|for)\s+"
    r"(?P<value>\S.*)$"
)


def text_ratio(one: str, other: str, lowest: float = 0) -> float:
    """Return rapidfuzz's ratio of two texts, from 0 to 100; 0 where it is below `lowest`."""
    ratio: float = load_rapidfuzz().fuzz.ratio(one, other, score_cutoff=lowest)
    return ratio


WordLists = tuple[Sequence[frozenset[str]], ...]


@cache
def _counts() -> dict[str, str]:
    return {word: str(number) for word, number in load_number_words().items() if word not in _PRONOUNS}


@cache
def _lists() -> WordLists:
    """Return the closed lists, of which a thing has one member."""
    return (
        load_ordered_words("dates", "weekdays"),
        tuple(month - _MAY for month in load_ordered_words("dates", "months")),
        *load_word_groups("closed_lists").values(),
    )


@cache
def _opposites() -> WordLists:
    return tuple(load_word_groups("opposites").values())


@cache
def _in_list() -> dict[str, tuple[int, int]]:
    return _index_lists(_lists())


@cache
def _in_opposites() -> dict[str, tuple[int, int]]:
    return _index_lists(_opposites())


def _index_lists(lists: Iterable[Sequence[frozenset[str]]]) -> dict[str, tuple[int, int]]:
    """Return word → (index of the list, index of its group)."""
    return {
        word: (which, place)
        for which, places in enumerate(lists)
        for place, group in enumerate(places)
        for word in group
    }


class ParsedSentence(NamedTuple):
    """A text in parts: its plain words, the number of negations, the `words` that carry meaning, its `values` (numbers
    and members of closed lists), and `capitals`, the capitalised words except the first."""

    plain: str
    negations: int
    words: tuple[str, ...]
    values: frozenset[str]
    capitals: frozenset[str]


def parse_sentence(text: str) -> ParsedSentence:
    """Return the parts of a sentence that `compare_sentences` compares; computed once for each text of many."""
    plain = normalize_text(text)
    capitals = frozenset(
        normalize_text(match[0])
        # the first word is always capitalised
        for match in list(WORD_PATTERN.finditer(text))[1:]
        if any(letter.isupper() for letter in match[0])
    )
    negations, words, values = 0, list[str](), set[str]()
    negating = load_words("negations", "core", "nobody", "comparison")
    empty, counts, in_list = load_stop_words("comparison"), _counts(), _in_list()
    found = [match[0].strip("'\u2019") for match in WORD_PATTERN.finditer(re.sub(r"n['\u2019]t\b", " not", plain))]
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


def compare_sentences(
    one: ParsedSentence, other: ParsedSentence, likeness: float, meaning: float | None = None
) -> str:
    """Return SAME, SIMILAR_STATEMENT, CONTRADICTS or NO_RELATION. `likeness` is rapidfuzz's ratio of the texts and
    `meaning` their calibrated similarity, both from 0 to 1; None where there is no model."""
    if one.plain.rstrip(".!;, ") == other.plain.rstrip(".!;, "):
        return SAME_STATEMENT
    shared, mine, yours = _split_shared_words(one.words, other.words)
    smaller = min(len(one.words), len(other.words))
    near = shared >= MIN_SHARED_WORDS * smaller and shared >= 1 if smaller else likeness >= CLOSE_RATIO
    opposed = _has_opposites(mine, yours)
    if opposed and shared + 1 >= MIN_SHARED_WORDS * smaller and not _negation_cancels(one, other):
        return CONTRADICTS
    close = meaning is not None and meaning >= SAME_MEANING
    if (near or close) and (one.negations + other.negations) % 2 and not (mine and yours):
        return CONTRADICTS
    if (near and not (mine and yours)) or (close and not len(mine) == 1 == len(yours)):
        for which in (None, *range(len(_lists()))):
            first, second = _values_of_list(one.values, which), _values_of_list(other.values, which)
            if first and second and not first <= second and not second <= first:
                return CONTRADICTS
    if _has_other_value(one, other):
        return CONTRADICTS
    if (one.negations + other.negations) % 2 or opposed:
        return NO_RELATION
    if (
        close
        and not _is_about_other_thing(one, other, mine, yours)
        and not (smaller == shared == 1 and (mine or yours))
    ):
        return SIMILAR_STATEMENT
    if likeness >= CLOSE_RATIO and not (mine and yours) and one.values == other.values:
        return SIMILAR_STATEMENT
    return NO_RELATION


def _negation_cancels(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Return whether a negation cancels an opposite: `never` and `not always`."""
    return (one.negations + other.negations) % 2 == 1 and not (
        {"never", "nunca", "jamas"} & {*one.words, *other.words}
    )


def _values_of_list(values: frozenset[str], which: int | None) -> set[str]:
    """Return the numbers among values, or the members of a closed list."""
    if which is None:
        return {value for value in values if not value.startswith("=")}
    return {value for value in values if value.startswith(f"={which}/")}


def _split_shared_words(one: Sequence[str], other: Sequence[str]) -> tuple[int, list[str], list[str]]:
    """Return how many words both texts have, in any form, and the words that only the first has, and only the
    second."""
    left = list(dict.fromkeys(other))
    mine, shared = [], 0
    for word in dict.fromkeys(one):
        if word in left:
            left.remove(word)
            shared += 1
            continue
        best = max(left, key=lambda candidate: text_ratio(word, candidate), default=None)
        if best is not None and _is_form_of(word, best) and text_ratio(word, best) >= 100 * CLOSE_RATIO:
            left.remove(best)
            shared += 1
        else:
            mine.append(word)
    return shared, mine, left


def _is_form_of(word: str, other: str) -> bool:
    """Tell whether two words may be forms of a single word: they begin alike."""
    # another form of it may mean the opposite
    if word in _in_list() or word in _in_opposites():
        return False
    return shared_prefix_length(word, other) >= min(3, max(len(word), len(other)))


def _has_opposites(mine: Iterable[str], yours: Iterable[str]) -> bool:
    """Return whether a word of the one is an opposite of a word of the other."""
    opposites = _in_opposites()
    places: dict[int, set[int]] = {}
    for word in yours:
        if word in opposites:
            which, place = opposites[word]
            places.setdefault(which, set()).add(place)
    return any(word in opposites and places.get(opposites[word][0], set()) - {opposites[word][1]} for word in mine)


def is_contrary_question(one: str, other: str) -> bool:
    """Return whether one question asks for the opposite of the other: they contain opposites, or different members of a
    closed list."""
    first, second = ({match[0] for match in WORD_PATTERN.finditer(normalize_text(text))} for text in (one, other))
    # more opposites than in one text, which may contain both
    for group in (*_opposites(), *load_word_groups("contraries").values(), *_lists()):
        held = [{place for place, words in enumerate(group) if words & side} for side in (first, second)]
        if held[0] - held[1] and held[1] - held[0]:
            return True
    return False


def _has_other_value(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Tell whether two sentences give different values for a name: `primary LLM: Kimi` and `primary LLM: Qwen`."""
    for form in (_NAME_VALUE, _COPULA, _LIVES):
        first, second = form.match(one.plain), form.match(other.plain)
        if not first or not second or first["name"] != second["name"]:
            continue
        values = first["value"].rstrip(".!;, "), second["value"].rstrip(".!;, ")
        if values[0] == values[1] or values[0] in values[1] or values[1] in values[0]:
            return False
        if form is not _COPULA:
            return True
        names = [match[0] if (match := WORD_PATTERN.search(value)) else "" for value in values]
        return names[0] in one.capitals and names[1] in other.capitals
    return False


def _is_about_other_thing(
    one: ParsedSentence, other: ParsedSentence, mine: Sequence[str], yours: Sequence[str]
) -> bool:
    """Tell whether two sentences differ only in what they are about: `Ana likes tea`, `Eva likes tea`. A model
    finds such sentences alike."""
    if one.values and other.values and one.values != other.values:
        return True
    names = [word for word in mine if word in one.capitals], [word for word in yours if word in other.capitals]
    if names[0] and names[1]:
        return True
    return len(mine) == 1 == len(yours) and len(one.words) == len(other.words)


# Compare questions: which ones are the same, which have an answer that can be cached, and which only look alike.
#
# Rules of words, in Spanish and English. They are strict: an answer that is not cached is only computed again.

# a word, or a sign that changes the question: a comparison, a currency, a minus before a number
_QUESTION_WORD = re.compile(r"[\w+#]+(?:[.\-/'’:][\w+#]+)*|[<>=≤≥≠]+|[$€£¥%&|*^~]|[-−](?=\s*[\d$€£¥])")

_TIMES = (
    "second|minute|hour|day|morning|noon|afternoon|evening|night|week|weekend|month|quarter|year|sprint"
    "|segundo|minuto|hora|dia|mañana|tarde|noche|semana|finde|fin de semana|mes|trimestre|año"
)
_RELATIVE = "this|next|last|past|coming|previous|este|esta|estos|estas|proxim[oa]|pasad[oa]|ultim[oa]s?|es[ae]"
_SELF = re.compile(r"\b(?:am i|i am|how are you|como (?:estas|ando|andas|te va|me va))\b")
# words that ask for all records of a kind, or for those in some state: every new record may be one of them
_RECORDS = (
    "tasks|todos|decisions|facts|notes|commits|proposals|reminders|iterations|checkpoints|questions|sessions"
    "|tareas|pendientes|decisiones|hechos|notas|propuestas|recordatorios|iteraciones|preguntas|sesiones"
)


@cache
def _period() -> re.Pattern[str]:
    times = f"{_TIMES}|{any_of_regex(frozenset[str]().union(*load_ordered_words('dates', 'weekdays')))}"
    return re.compile(
        rf"\b(?:(?:{_RELATIVE}) (?:{times})(?:e?s)?|(?:{times}) (?:pasad[oa]|que viene|proxim[oa])"
        r"|(?:what|the) (?:time|day|date|month|year)$|what (?:time|day|date|month|year)|these days|so far|right away"
        r"|at (?:the moment|present)|how (?:long|old|many days|much time)|since when|as of|up to date"
        r"|que (?:hora|dia|fecha|mes|año|edad)|estos dias|la (?:hora|fecha)$|hasta el momento|de momento"
        r"|cuanto (?:falta|tiempo)|cuantos dias"
        r"|hace (?:\d+|un|una|unos|unas|dos|tres|poco|mucho|cuanto|rato))\b"
    )


@cache
def _list_question() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:pending|overdue|unfinished|outstanding|remaining|in progress|to-?do|(?:is|are|still) (?:open|left|due)"
        r"|pendiente|vencid[oa]s?|sin terminar|en curso|por hacer|queda|quedan|falta|faltan)\b"
        rf"|\b(?:which|what|how many|list|show|all|any|every|open|que|cuales|cuant[oa]s|tod[oa]s|lista|hay|abiert[oa]s)"
        rf" (?:[\w'-]+ ){{0,3}}(?:{_RECORDS})\b"
    )


@cache
def _kinds_asked_for() -> dict[str, str]:
    """Return the words that ask for a kind of thing: two questions that ask for different kinds are not the same."""
    kinds = ("who", "when", "where", "why", "many", "much")
    return {word: kind for kind in kinds for word in load_words("questions", kind)}


def split_question(question: str) -> list[str]:
    """Return the words of a question, without capitals, accents and punctuation; `C++`, `v1.2` and `F#12` are one
    each."""
    return _QUESTION_WORD.findall(normalize_text(unicodedata.normalize("NFKC", question), keep="ñ"))


def normalize_question(question: str) -> str:
    """Return the normal form of a question. The order of the words is kept: whether A depends on B is another question
    than whether B depends on A."""
    return " ".join(split_question(question))


def is_deterministic(question: str) -> bool:
    """Return whether the current records alone decide the answer: not the time, not somebody's mood, and not which
    other records of a kind exist."""
    asked = split_question(question)
    parts = {part for word in asked for part in re.split(r"[-/'’:.]", word)} | set(asked)
    joined = " ".join(asked)
    return (
        bool(asked)
        # whose answer depends on when it is given, or is different each time
        and parts.isdisjoint(load_words("questions", "moment", "feeling"))
        and not any(rule.search(joined) for rule in (_period(), _SELF, _list_question()))
    )


def may_be_same_question(one: str, other: str) -> bool:
    """Tell whether two questions of similar meaning may be treated as equal: they name equal things and numbers,
    ask for equal kinds of thing, both or neither negate, and neither differ only in the order of their words
    nor in a single place: `what did we reject` is not another form of `what did we choose`."""
    first, second = split_question(one), split_question(other)
    if first != second and (sorted(first) == sorted(second) or _differs_in_one_place(*sorted((first, second)))):
        return False
    return (
        _words_with_digits(first) == _words_with_digits(second)
        and _asked_kinds(first) == _asked_kinds(second)
        and _has_negation(first) == _has_negation(second)
        and _name_words(one) <= set(second)
        and _name_words(other) <= set(first)
    )


def _differs_in_one_place(first: list[str], second: list[str]) -> bool:
    """Tell whether two questions differ in a single place, and there by significant words."""
    blocks = [
        (first[i:j], second[k:m])
        for tag, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if len(blocks) != 1 or len(blocks[0][0]) + len(blocks[0][1]) > len(first):
        return False
    frame = load_words("stop", "question")
    one, other = ([word for word in side if word not in frame] for side in blocks[0])
    if _asked_kinds(blocks[0][0]) and _asked_kinds(blocks[0][0]) == _asked_kinds(blocks[0][1]):
        return False
    return bool(one or other) and not (len(one) == len(other) and all(map(is_inflection, one, other)))


def _words_with_digits(asked: list[str]) -> set[str]:
    """Return the words of a question that hold a digit."""
    return {word for word in asked if any(char.isdigit() for char in word)}


def _asked_kinds(asked: list[str]) -> set[str]:
    """Return the kinds of things that are asked for; `por qué` is two words."""
    kinds = _kinds_asked_for()
    found = {kinds[word] for word in asked if word in kinds}
    return found | {"why"} if "por que" in " ".join(asked) else found


def _has_negation(asked: list[str]) -> bool:
    """Tell whether a question has a negation."""
    negations = load_words("negations", "core", "nobody", "contracted")
    return any(word.replace("'", "").replace("’", "") in negations for word in asked)


def _name_words(question: str) -> set[str]:
    return {word for name in extract_names([question]) for word in split_question(name)}
