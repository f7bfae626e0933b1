"""When two words are the same: as they are written, as forms of one, or as the two languages' words for one thing. And
which words tell nothing: those that hold a sentence together, and those in which one speaks of records.

Every other word of a sentence tells something, and must be a record's. What weakens or strengthens (`only`, `all`,
`may`, `before`) tells something too.
"""

import re
from dataclasses import dataclass

from store.text import vocabulary
from store.text.folding import normalize
from store.text.word_forms import shared_start

STEM = 4  # letters that forms of one word have in common, at least
COGNATE = 5  # and that a word has in common with its fellow in another language

FUNCTION = vocabulary.stop_words("evidence")  # how a sentence is put together
SPOKEN = vocabulary.words("records", "spoken")  # how one speaks of a record, whatever it says
# by the kind of the record that is cited, what one says of such a record
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
MODAL = vocabulary.words("modal", "can", "must")  # a no may stand before it or after it


def _senses_of_words() -> dict[str, set[int]]:
    """word → the things that it is a name of, each by a number."""
    days = vocabulary.in_order("dates", "weekdays")
    things = [one for table in ("synonyms", "modal") for (one, *_) in vocabulary.groups(table).values()]
    found: dict[str, set[int]] = {}
    for number, names in enumerate((*days, *things)):
        for name in names:
            found.setdefault(name, set()).add(number)
    return found


_SENSES = _senses_of_words()
_ENDINGS = vocabulary.endings("forms")  # those of one group may stand for each other
_SHORT = frozenset[str]().union(*vocabulary.endings("short"))  # of a word of three letters
_COGNATE = frozenset[str]().union(*vocabulary.endings("cognate"))
_NOT = vocabulary.words("negations", "core", "nobody")
_ON = frozenset("or nor ni o u neither".split())  # over which a no reaches
_SCOPE = re.compile(r"[,;:.!?()]+|\b(?:and|but|y|e|pero|sino)\b")
_TOKEN = re.compile(r"[\w+#%]+(?:[.'’][\w+#]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, without capitals and accents, and whether the text denies it."""

    text: str
    denied: bool


def told(text: str) -> tuple[list[Word], bool]:
    """(the words of a text, whether it has a no that denies none of them)."""
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
    """Whether two folded words are the same one, forms of one, or what one thing is called in both languages; `across`:
    they are of texts in different ones."""
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
    """The things that a word, or that of which it is the plural, is a name of."""
    return _SENSES.get(word) or _SENSES.get(word.removesuffix("s")) or _SENSES.get(word.removesuffix("es")) or set()


def _single(word: str, at: int) -> str:
    """The ending of a word from there on, without a consonant that is doubled before it: `dropped`."""
    doubled = word[at : at + 1] == word[at - 1] and word[at + 1 :] in ("ed", "ing")
    return word[at + 1 :] if doubled else word[at:]
