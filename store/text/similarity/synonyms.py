"""Decide whether two words are the same: equal, forms of one word, or translations between the two languages; and which
words carry no content: function words, and words used to talk about records.

Every other word of a sentence carries content, and must be a record's. Words that weaken or strengthen (`only`, `all`,
`may`, `before`) carry content too.
"""

import re
from dataclasses import dataclass

from store.text import vocabulary
from store.text.folding import normalize
from store.text.similarity.word_forms import shared_start

STEM = 4  # letters that forms of one word must share
COGNATE = 5  # and that a word must share with its cognate in the other language

FUNCTION = vocabulary.stop_words("evidence")  # function words
SPOKEN = vocabulary.words("records", "spoken")  # words about any record, whatever it says
# words about a record, by the kind that is cited
FRAMES = {
    "decision": vocabulary.words("records", "choice", "sorts", "work"),
    "commit": vocabulary.words("records", "work", "sorts"),
    "iteration": vocabulary.words("records", "began", "sorts"),
    "event": vocabulary.words("records", "happened"),
    "fact": vocabulary.words("records", "noted"),
    "task": vocabulary.words("records", "noted", "pending"),
    "checkpoint": vocabulary.words("records", "taken"),
}
ENDED = vocabulary.words("records", "ended")
CHOSE = vocabulary.words("records", "choice") - vocabulary.words("records", "reason")
GONE = vocabulary.words("records", "gone")
MODAL = vocabulary.words("modal", "can", "must")  # a negation may be before it or after it


def _senses_of_words() -> dict[str, set[int]]:
    """Return word → the numbers of the things that it names."""
    days = vocabulary.in_order("dates", "weekdays")
    things = [one for table in ("synonyms", "modal") for (one, *_) in vocabulary.groups(table).values()]
    found: dict[str, set[int]] = {}
    for number, names in enumerate((*days, *things)):
        for name in names:
            found.setdefault(name, set()).add(number)
    return found


_SENSES = _senses_of_words()
_ENDINGS = vocabulary.endings("forms")  # endings of one group are interchangeable
_SHORT = frozenset[str]().union(*vocabulary.endings("short"))  # of a word of three letters
_COGNATE = frozenset[str]().union(*vocabulary.endings("cognate"))
_NOT = vocabulary.words("negations", "core", "nobody")
_ON = frozenset("or nor ni o u neither".split())  # a negation extends across these
_SCOPE = re.compile(r"[,;:.!?()]+|\b(?:and|but|y|e|pero|sino)\b")
_TOKEN = re.compile(r"[\w+#%]+(?:[.'’][\w+#]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, without capitals and accents, and whether the text negates it."""

    text: str
    denied: bool


def told(text: str) -> tuple[list[Word], bool]:
    """Return (the words of a text, whether it has a negation that applies to none of them)."""
    plain = re.sub(r"n['’]t\b|\bcannot\b", " not", normalize(text))
    plain = re.sub(r"['’]s\b", "", re.sub(r"\b(?:per cent|por ciento)\b", "percent", plain))
    found, idle = list[Word](), False
    for stretch in _SCOPE.split(re.sub(r"(?<=\d)%", " %", plain)):
        denied = used = False
        for match in _TOKEN.finditer(stretch):
            if match[0] in _NOT:
                denied = True
                continue
            found.append(Word(match[0], denied))
            used = used or (denied and match[0] not in FUNCTION)
        idle = idle or (denied and not used)
    return found, idle


def same(one: str, other: str, across: bool = False) -> bool:
    """Return whether two folded words are the same, forms of one, or translations; `across`: they are from texts in
    different languages."""
    if one == other or _senses(one) & _senses(other):
        return True
    shared = shared_start(one, other)
    if shared < 3 or one[0].isdigit():
        return False
    ends = {one[shared:], other[shared:]}
    if across and shared >= COGNATE and ends <= _COGNATE:
        return True
    single = {_single(one, shared), _single(other, shared)}
    if shared < STEM:
        return "" in single and single <= _SHORT
    return any(single <= group or ends <= group for group in _ENDINGS)


def _senses(word: str) -> set[int]:
    """Return the things that a word, or its singular, names."""
    return _SENSES.get(word) or _SENSES.get(word.removesuffix("s")) or _SENSES.get(word.removesuffix("es")) or set()


def _single(word: str, at: int) -> str:
    """Return the ending of a word from an index on, without a consonant that is doubled before it: `dropped`."""
    doubled = word[at : at + 1] == word[at - 1] and word[at + 1 :] in ("ed", "ing")
    return word[at + 1 :] if doubled else word[at:]
