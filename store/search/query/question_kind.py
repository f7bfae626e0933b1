"""What a question asks for, by its words: several things, the latest or the first, a number or a time."""

import re
from functools import cache

from store.text import vocabulary
from store.text.folding import normalize

_LENGTHS = "seconds|minutes|hours|days|weeks|months|years|segundos|minutos|horas|días|semanas|meses|años"
_SEVERAL = re.compile(
    rf"\b(?:how many|cuánt[oa]s)\b(?! (?:{_LENGTHS})\b)"
    r"|\b(?:all|both|list|types|kinds|ways|tod[oa]s|cuáles)\b|\b(?:what|which) (?:are|were|have|has)\b"
    r"|\b(?:what|which) (?:\w+ )?\w+[^\Ws]s\b(?! (?:the|a)\b)|\bqué (?:\w+ )?\w+[^\Ws]s\b",
    re.IGNORECASE,
)
_PERIODS = "week|month|year|night|summer|winter|spring|autumn|fall|weekend|few|couple|two|three|\\w+day"
_LATEST = re.compile(
    r"\b(?:current|currently|now|nowadays|latest|newest|updated|recent|recently|still"
    rf"|last(?! (?:{_PERIODS}|\d)))\b"
    r"|\b(?:ahora|actual|actualmente|reciente|recientemente|todavía|aún|sigue|último|última)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:originally|initially|earliest|at first|(?:very )?first (?:time|mention\w*|sa(?:y|id)|t(?:ell|old))"
    r"|originalmente|inicialmente|al principio|(?:la )?primera vez)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(r"\w+(?: \w+)? ?, +")  # may stand before a question
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_MEASURE = re.compile(r"\b(?:how (?:many|much|long|often)|when|cuánt[oa]s?|cuándo)\b", re.IGNORECASE)


@cache
def _unmarked_question() -> re.Pattern[str]:
    """Return the pattern of a question without a question mark."""
    opens = "|".join(sorted(vocabulary.words("questions", "opens")))
    return re.compile(rf"(?:{opens})\b(?:[^.!:;]|\.(?=\w))*", re.IGNORECASE)


def asks_several(question: str) -> bool:
    """Return whether a question asks for several things, which may be recorded in several places."""
    return bool(_SEVERAL.search(question))


def asked_end(question: str) -> int:
    """Return 1 if a question asks for the latest of something, -1 for the first, else 0."""
    return bool(_LATEST.search(question)) - bool(_FIRST.search(question))


def asks_measure(question: str) -> bool:
    """Return whether a question asks for a number or a time, which no instruction answers."""
    return bool(_MEASURE.search(question))


def only_asks(text: str) -> bool:
    """Return whether a text is one question or several, and states nothing beside them."""
    sentences = [one.strip() for one in _SENTENCE_END.split(text) if one.strip()]
    return bool(sentences) and all(map(_asks, sentences))


def about_asking(question: str) -> bool:
    """Return whether a question is about what was asked."""
    return not vocabulary.words("questions", "asked").isdisjoint(normalize(question).split())


def _asks(sentence: str) -> bool:
    if not sentence.endswith("?"):
        return bool(_unmarked_question().fullmatch(sentence))
    greeting = _GREETING.match(sentence)
    rest = sentence[greeting.end() :] if greeting else sentence
    return rest[0] == "¿" or ", " not in rest or rest.split()[0].lower() in vocabulary.words("questions", "begin")
