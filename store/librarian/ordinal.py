"""Questions that an order answers, or a state: the last decision, the first commits, which iteration is open."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from store.text.question_similarity import words

MANY = 5  # records of “the last decisions”, where no number is said
OPEN = "open"

_LAST = r"last|latest|newest|most recent|ultim[oa]s?|mas recientes?"
_FIRST = r"(?:very )?first|earliest|oldest|primer(?:[oa]s?)?|mas antigu[oa]s?"
_ORDER = re.compile(rf"\b({_LAST}|{_FIRST})\b(?: (\d{{1,2}})\b)?")
_FIRSTS = re.compile(_FIRST)
# what goes with an order or a state, and says nothing of what is asked for
IDLE = frozenset(
    "last latest newest recent most very first earliest oldest ultimo ultima ultimos ultimas reciente recientes primer"
    " primero primera primeros primeras antiguo antigua antiguos antiguas thing things cosa cosas made make makes did"
    " done do take took taken tomamos tomo tomaron hicimos hizo hicieron now currently still right moment present ahora"
    " mismo momento actualmente todavia aun far until hasta lo".split()
)
_MADE = (
    (re.compile(r"\b(?:decid|decisi)"), "decision"),
    (re.compile(r"\bcommit"), "commit"),
)
_LEFT = re.compile(
    r"\b(?:what(?:'s| is| remains)?(?: still)? (?:left(?: to do| to be done)?|pending|outstanding|to do|to be done)"
    r"|que (?:nos |me )?(?:queda|quedan|falta|hay|tenemos|esta|sigue) (?:por hacer|pendientes?))$"
)


_WHICH = re.compile(r"\b(?:what|which|list|show|any|que|cual|cuales|lista|muestra\w*|dime|hay)\b")


class Order(NamedTuple):
    """Which end of the records of a kind is asked for, and how many of them; `alone` where nothing else says which are
    meant."""

    kind: str
    oldest: bool
    most: int
    alone: bool


def ordered(told: Sequence[str], own: Iterable[str], dated: Collection[str], kinds: Mapping[str, str]) -> Order | None:
    """The order that the words of a question ask for, if they do: `own` are those that say what it is about, `dated`
    those that name a time, `kinds` the names of records."""
    plain = " ".join(told)
    found = next((match for match in _ORDER.finditer(plain) if match[1].split()[-1] not in dated), None)
    named = next((word for word in told if word in kinds), "")
    kind = kinds.get(named) or next((kind for rule, kind in _MADE if rule.search(plain)), "")
    if found is None or not kind:
        return None
    many = named.endswith("s") or found[1].endswith("s")
    alone = all(word in IDLE or word.isdigit() for word in own)
    return Order(kind, bool(_FIRSTS.fullmatch(found[1])), int(found[2] or 0) or (MANY if many else 1), alone)


def lists(text: str) -> bool:
    """Whether a question asks which records there are."""
    return bool(_WHICH.search(" ".join(words(text))))


def to_do(text: str) -> bool:
    """Whether a question asks for what is left to be done, of all there is."""
    return bool(_LEFT.search(" ".join(words(text))))
