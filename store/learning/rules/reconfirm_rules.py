"""Task `reconfirm` by rule: whether a person repeated something that is known, or withdrew it.

Only the same words in the same order confirm, apart from articles, a plural and two exchanged letters: another number,
a negation elsewhere, "or" for "and", one letter less ("cansado", "casado") may mean something else. Similar texts
become a proposal.
"""

import re
from collections.abc import Sequence

from store.learning.grammar import form, pattern, sign, words
from store.learning.rules.clauses import begins
from store.learning.rules.sentences import Sentence, fold
from store.text.similarity.word_forms import shared_start

NEAR = 0.75  # least share of a fact's words in a sentence, to ask whether it says the same
TOUCHED = 0.6  # least share where the sentence contradicts the fact
SLIPS = 6  # least letters of a word in which exchanged letters count as a typo
LONGEST_KIN = 3  # least letters that two forms of a word have in common at the beginning

_WORD = re.compile(r"\w+(?:[.'/+-]\w+)*")

CONFIRM, PROPOSE, SUPERSEDE, NONE = "confirm", "propose", "supersede", "none"


class ComparedText:
    """A text prepared for comparison: `text` folded, `every` word but articles, `words` with meaning, in order;
    `negated`."""

    __slots__ = ("every", "negated", "text", "words")

    def __init__(self, text: str) -> None:
        every = _WORD.findall(fold(text))
        self.every = [word for word in every if word not in words("articles")]
        self.text = " ".join(every)
        self.negated = any(word in words("negation") or word.endswith("n't") for word in every)
        self.words = [word for word in every if word not in words("hollow") and word not in words("negation")]


def compared(sentence: Sentence) -> ComparedText:
    """Return what a sentence says, without filler words."""
    return ComparedText(sentence.folded[begins(sentence.folded) :])


def judge(one: ComparedText, fact: ComparedText) -> str:
    """Return what a text does to a fact: `confirm`, `propose` to confirm, `supersede` (as a proposal), or `none`."""
    if len(one.every) == len(fact.every) and all(map(_alike, one.every, fact.every)):
        return CONFIRM  # word by word, apart from articles, a plural, and exchanged letters
    common = share(one, fact)
    supposed = sign("hypothetical").match(one.text) and not sign("hypothetical").match(fact.text)
    if common < TOUCHED or common * len(fact.words) < 2 or supposed:
        return NONE
    if against(one, fact):
        return SUPERSEDE
    if len(one.words) == len(fact.words):
        differing = sum(not alike for alike in map(_alike, one.words, fact.words))
        if (differing == 1 and len(fact.words) > 2) or sorted(one.words) == sorted(fact.words):
            return SUPERSEDE
    return PROPOSE if common >= NEAR and len(one.words) <= 2 * len(fact.words) else NONE


def goes_on(text: str, fact: ComparedText) -> bool:
    """Return whether a sentence says that a fact still holds: "sigo usando Kimi". Everything else it says must be in
    the fact, and nothing may contradict it."""
    folded = fold(text)
    match = pattern("still").match(folded)
    if match is None:
        return False
    rest = ComparedText(folded[match.end() :])
    telling = [word for word in rest.words if word not in words("using")]
    if against(rest, fact) or sign("hypothetical").search(rest.text):
        return False
    return bool(telling) and all(any(_alike(word, other) for other in fact.words) for word in telling)


def against(one: ComparedText, fact: ComparedText) -> bool:
    """Return whether a sentence about a fact contradicts it: a negation, an end, another number, another thing
    instead."""
    if one.negated != fact.negated or bool(sign("ended").search(one.text)) != bool(sign("ended").search(fact.text)):
        return True
    instead = set(form("instead").findall(one.text)) & set(fact.text.split())
    if instead and not form("instead").search(fact.text):
        return True
    mine, theirs = _numbers(one.words), _numbers(fact.words)
    return bool(mine and theirs and mine != theirs)


def share(one: ComparedText, fact: ComparedText) -> float:
    """Return the share (0 to 1) of a fact's words that a text has in any form."""
    shared = [word for word in fact.words if any(same_word(word, other) for other in one.words)]
    return len(shared) / max(1, len(fact.words))


def same_word(one: str, other: str) -> bool:
    """Return whether two words are forms of one: the same beginning, most of the shorter."""
    if one == other:
        return True
    common = shared_start(one, other)
    return common >= LONGEST_KIN and common >= 0.6 * min(len(one), len(other)) and not _numbers([one, other])


def _alike(one: str, other: str) -> bool:
    """Return whether two words are the same, apart from a plural, or from two letters exchanged that make no other
    word."""
    from rapidfuzz.distance import OSA

    short, long = sorted((one, other), key=len)
    if one == other or _numbers([long]):
        return one == other
    if long in (short + "s", short + "es"):
        return len(short) > 2
    exchanged = len(one) >= SLIPS and sorted(one) == sorted(other) and OSA.distance(one, other) == 1
    return exchanged and one[0] == other[0] and not {one, one.removesuffix("s")} & words("exchanged_words")


def _numbers(words: Sequence[str]) -> list[str]:
    return sorted(word for word in words if any(char.isdigit() for char in word))
