"""Compare questions: which ones are the same, which have an answer that can be cached, and which only look alike.

Rules of words, in Spanish and English. They are strict: an answer that is not cached is only computed again.
"""

import re
import unicodedata
from functools import cache

from store.text import vocabulary
from store.text.folding import normalize
from store.text.similarity.word_forms import inflected

# a word, or a sign that changes the question: a comparison, a currency, a minus before a number
_WORD = re.compile(r"[\w+#]+(?:[.\-/'’:][\w+#]+)*|[<>=≤≥≠]+|[$€£¥%&|*^~]|[-−](?=\s*[\d$€£¥])")

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
    times = f"{_TIMES}|{vocabulary.alternatives(frozenset[str]().union(*vocabulary.in_order('dates', 'weekdays')))}"
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
    return {word: kind for kind in kinds for word in vocabulary.words("questions", kind)}


def words(question: str) -> list[str]:
    """Return the words of a question, without capitals, accents and punctuation; `C++`, `v1.2` and `F#12` are one
    each."""
    return _WORD.findall(normalize(unicodedata.normalize("NFKC", question), keep="ñ"))


def normal(question: str) -> str:
    """Return the normal form of a question. The order of the words is kept: whether A depends on B is another question
    than whether B depends on A."""
    return " ".join(words(question))


def deterministic(question: str) -> bool:
    """Return whether the current records alone decide the answer: not the time, not somebody's mood, and not which
    other records of a kind exist."""
    asked = words(question)
    parts = {part for word in asked for part in re.split(r"[-/'’:.]", word)} | set(asked)
    joined = " ".join(asked)
    return (
        bool(asked)
        # whose answer depends on when it is given, or is different each time
        and parts.isdisjoint(vocabulary.words("questions", "moment", "feeling"))
        and not any(rule.search(joined) for rule in (_period(), _SELF, _list_question()))
    )


def may_be_same(one: str, other: str) -> bool:
    """Return whether two questions of similar meaning may be treated as one: they name the same things and numbers, ask
    for the same kind of thing, both or neither negate, and are neither the same words in another order nor differ in
    only one place: `what did we reject` is not another form of `what did we choose`."""
    first, second = words(one), words(other)
    if first != second and (sorted(first) == sorted(second) or _one_place(*sorted((first, second)))):
        return False
    return (
        _numbers(first) == _numbers(second)
        and _sorts(first) == _sorts(second)
        and _denies(first) == _denies(second)
        and _names(one) <= set(second)
        and _names(other) <= set(first)
    )


def _one_place(first: list[str], second: list[str]) -> bool:
    """Return whether they differ in only one place, and there by significant words."""
    from difflib import SequenceMatcher

    blocks = [
        (first[i:j], second[k:m])
        for tag, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if len(blocks) != 1 or len(blocks[0][0]) + len(blocks[0][1]) > len(first):
        return False
    frame = vocabulary.words("stop", "question")
    one, other = ([word for word in side if word not in frame] for side in blocks[0])
    if _sorts(blocks[0][0]) and _sorts(blocks[0][0]) == _sorts(blocks[0][1]):
        return False
    return bool(one or other) and not (len(one) == len(other) and all(map(inflected, one, other)))


def _numbers(asked: list[str]) -> set[str]:
    return {word for word in asked if any(char.isdigit() for char in word)}


def _sorts(asked: list[str]) -> set[str]:
    """Return the kinds of things that are asked for; `por qué` is two words."""
    kinds = _kinds_asked_for()
    found = {kinds[word] for word in asked if word in kinds}
    return found | {"why"} if "por que" in " ".join(asked) else found


def _denies(asked: list[str]) -> bool:
    negations = vocabulary.words("negations", "core", "nobody", "contracted")
    return any(word.replace("'", "").replace("’", "") in negations for word in asked)


def _names(question: str) -> set[str]:
    from store.text.entities import named

    return {word for name in named([question]) for word in words(name)}
