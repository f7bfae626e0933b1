"""Task `reconfirm`: whether a person said again what is known already, or took it back. Here by rule.

Only the same words in the same order confirm, but for articles, a plural and two letters exchanged: another number, a
negation elsewhere, "or" for "and", one letter less ("cansado", "casado") may be another truth. What is near, and not
the same, is asked about.
"""

import re
from collections.abc import Sequence
from functools import cache

from store.learning.grammar import WINDOW, either, leads, pattern, sign, words
from store.learning.rules.sentences import Sentence, fold

NEAR = 0.75  # of a fact's words that a sentence has, for a question whether it says the same
TOUCHED = 0.6  # the same, where something in the sentence speaks against the fact
SLIPS = 6  # letters of a word in which a typo is told from another word
LONGEST_KIN = 3  # letters that two forms of a word begin with, at least

_WORD = re.compile(r"\w+(?:[.'/+-]\w+)*")

CONFIRM, PROPOSE, SUPERSEDE, NONE = "confirm", "propose", "supersede", "none"


@cache
def _instead() -> re.Pattern[str]:
    return re.compile(rf"{either('in_place_of')}\s+(\S+)")


@cache
def _still() -> re.Pattern[str]:
    """Return the pattern of words that say that something is still so, at the beginning of a sentence."""
    lead = rf"(?:{either('before_still')}\W+)*(?:{either('who_still')}(?:'m|'re| am| are)? )?"
    return re.compile(rf"\W*{lead}{either('still')}\b(?: (?:todavia|aun))?")


class ComparedText:
    """A text as it is compared: `text` folded, `every` word of it but articles, `words` those that tell something, in
    order; `negated`."""

    __slots__ = ("every", "negated", "text", "words")

    def __init__(self, folded: str) -> None:
        every = _WORD.findall(folded)
        self.every = [word for word in every if word not in words("articles")]
        self.text = " ".join(every)
        self.negated = any(word in words("negation") or word.endswith("n't") for word in every)
        self.words = [word for word in every if word not in words("hollow") and word not in words("negation")]


def compared(sentence: Sentence) -> ComparedText:
    """What a sentence says, without what stands before it and without the asking to remember it."""
    folded = sentence.folded
    start = leads().match(folded).end()  # type: ignore[union-attr]
    asked = pattern("asked").match(folded, start, start + WINDOW)
    return ComparedText(folded[asked.end() if asked else start :])


def compare(sentence: Sentence, fact: str) -> str:
    """What a sentence does to a fact: `confirm` it, `propose` to, `supersede` it (to be proposed), or `none`."""
    if sentence.question:
        return NONE
    verdict = judge(compared(sentence), ComparedText(fold(fact)))
    return PROPOSE if verdict == CONFIRM and sentence.doubt else verdict


def judge(one: ComparedText, fact: ComparedText) -> str:
    """`compare`, of what is parted into words already."""
    if not fact.words or not one.words:
        return NONE
    if same(one, fact):
        return CONFIRM
    if sign("hypothetical").match(one.text) and not sign("hypothetical").match(fact.text):
        return NONE
    common = share(one, fact)
    if common < TOUCHED or common * len(fact.words) < 2:
        return NONE
    if against(one, fact):
        return SUPERSEDE
    if len(one.words) == len(fact.words):
        differing = sum(not (_alike(*pair) or _exchanged(*pair)) for pair in zip(one.words, fact.words, strict=True))
        if (differing == 1 and len(fact.words) > 2) or sorted(one.words) == sorted(fact.words):
            return SUPERSEDE
    return PROPOSE if common >= NEAR and len(one.words) <= 2 * len(fact.words) else NONE


def goes_on(folded: str, fact: ComparedText) -> bool:
    """Whether a sentence says that what a fact holds is still so: "sigo usando Kimi". All that it tells besides stands
    in the fact, and nothing speaks against it."""
    match = _still().match(folded)
    if match is None:
        return False
    rest = ComparedText(folded[match.end() :])
    telling = [word for word in rest.words if word not in words("using")]
    if not telling or against(rest, fact) or sign("hypothetical").search(rest.text):
        return False
    return all(any(_alike(word, other) for other in fact.words) for word in telling)


def same(one: ComparedText, fact: ComparedText) -> bool:
    """Whether two texts say the same: word by word, but for articles, a plural, and one typo."""
    if len(one.every) != len(fact.every):
        return False
    others = [pair for pair in zip(one.every, fact.every, strict=True) if not _alike(*pair)]
    return not others or (len(others) == 1 and _exchanged(*others[0]))


def against(one: ComparedText, fact: ComparedText) -> bool:
    """Whether something in a sentence about a fact speaks against it: a negation, an end, another number, another
    thing instead."""
    if one.negated != fact.negated:
        return True
    if bool(sign("ended").search(one.text)) != bool(sign("ended").search(fact.text)):
        return True
    left = {match[1] for match in _instead().finditer(one.text)}
    if left.intersection(fact.text.split()) and not _instead().search(fact.text):
        return True
    mine, theirs = _numbers(one.words), _numbers(fact.words)
    return bool(mine and theirs and mine != theirs)


def share(one: ComparedText, fact: ComparedText) -> float:
    """Return how many of a fact's words a text has in any form, from 0 to 1."""
    shared = [word for word in fact.words if any(kin(word, other) for other in one.words)]
    return len(shared) / len(fact.words) if fact.words else 0.0


def kin(one: str, other: str) -> bool:
    """Whether two words are forms of one: the same beginning, most of the shorter."""
    if one == other:
        return True
    if any(char.isdigit() for char in one + other):
        return False
    short = min(len(one), len(other))
    common = next((at for at in range(short) if one[at] != other[at]), short)
    return common >= LONGEST_KIN and common >= 0.6 * short


def _alike(one: str, other: str) -> bool:
    """Whether two words are one, but for a plural."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return long in (short + "s", short + "es") and len(short) > 2 and not any(char.isdigit() for char in long)


def _exchanged(one: str, other: str) -> bool:
    """Whether one word is the other with two letters exchanged, and not another word for that."""
    from rapidfuzz.distance import OSA

    if len(one) < SLIPS or not one.isalpha() or sorted(one) != sorted(other) or OSA.distance(one, other) != 1:
        return False
    return one[0] == other[0] and not {one, one.removesuffix("s")} & words("exchanged_words")


def _numbers(words: Sequence[str]) -> list[str]:
    return sorted(word for word in words if any(char.isdigit() for char in word))
