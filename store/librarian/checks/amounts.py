"""Numbers with what they count: `3 times` and `10 seconds` are not `10 times` and `3 seconds`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from store.librarian.checks import literals
from store.text import contradiction
from store.text.synonyms import FUNCTION, same

NEAR = 2  # words that tell something, on either side of a number, among which is what it counts
FAR = 8  # words and signs, among which they are looked for

_UNITS = (
    "ms millisecond milliseconds milisegundo milisegundos|s sec secs second seconds segundo segundos"
    "|min mins minute minutes minuto minutos|h hr hrs hour hours hora horas|day days dia dias|week weeks semana semanas"
    "|month months mes meses|year years año años ano anos|time times vez veces|percent % pct"
    "|kb kib|mb mib|gb gib|tb tib|byte bytes|euro euros eur €|dollar dollars usd dolar dolares $"
    "|peso pesos|£ pound pounds"
    "|m meter meters metro metros|km kilometer kilometers kilometro kilometros|kg kilo kilos|g gram grams gramo gramos"
    "|character characters caracter caracteres|line lines linea lineas|token tokens"
)
_UNIT = {word: place for place, group in enumerate(_UNITS.split("|")) for word in group.split()}
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+|[%€$£]|[,;:.!?()]")
_BREAKS = frozenset(".,;!?()")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it is written, digits for letters; the words that tell something before it and after it, in the same
    breath, the nearest first."""

    number: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def why_unsupported(said: str, below: str, across: bool) -> str:
    """Which of a sentence's numbers counts something else than in what it rests on; empty if none does."""
    known = amounts(below)
    for one in amounts(said):
        alike = [other for other in known if other.number == one.number]
        # where the same is counted of two things, it must be said of which
        two = any(other.number != one.number and _among(one.after[:1], other.after[:1], across) for other in known)
        if not any(_agrees(one, other, across, two) for other in alike):
            return "a number that is another thing's in the record"
    return ""


def amounts(text: str) -> list[Amount]:
    """The numbers of a text, but for those of its days."""
    plain = re.sub(r"\b(?:per cent|por ciento)\b", "percent", literals.without_days(contradiction.folded(text)))
    tokens = _TOKEN.findall(re.sub(r"([€$£])\s?(\d+(?:[.,:]\d+)*)", r"\2 \1", plain))
    found, at = list[Amount](), 0
    while at < len(tokens):
        end = at
        while end < len(tokens) and _number(tokens[end]):
            end += 1
        if end == at:
            at += 1
            continue
        before = _near(reversed(tokens[max(0, at - FAR) : at]))
        after = _near(tokens[end : end + FAR])
        found.append(Amount(tuple(map(_number, tokens[at:end])), before, after))
        at = end
    return found


def _near(tokens: Iterable[str]) -> tuple[str, ...]:
    """The first words among these that tell something, up to where the sentence breaks off or another number comes."""
    found = list[str]()
    for word in tokens:
        if word in _BREAKS or _number(word) or len(found) == NEAR:
            break
        if word in _UNIT or (word.isalpha() and word not in FUNCTION):
            found.append(word)
    return tuple(found)


@lru_cache(4_000)
def _number(token: str) -> str:
    """The digits of a number; of a word that is none, nothing."""
    if token[0].isdigit():
        return token.lstrip("0") or "0"
    return next((value for value in contradiction.taken_apart(token).values if not value.startswith("=")), "")


def _agrees(one: Amount, other: Amount, across: bool, two: bool) -> bool:
    """Whether a number counts what the other counts: the same unit, and the same thing before it or after it; both
    where the same is counted of `two` things."""
    mine, yours = (_UNIT.get(amount.after[0]) if amount.after else None for amount in (one, other))
    if mine != yours and (one.after or mine is not None):
        return False
    before = _among(one.before, (*other.before, *(() if two else other.after)), across)
    if mine is None and one.after:
        thing = _among(one.after[:1], (*other.after, *other.before), across)
        if two and not one.before:
            before = len(one.after) == 1 or _among(one.after[1:], other.before, across)
        return thing and before if two else thing or before
    return not one.before or not other.before or before


def _among(words: Iterable[str], others: Iterable[str], across: bool) -> bool:
    known = tuple(others)
    return any(same(word, other, across) for word in words for other in known)
