"""A few turns in a few words, by rule [003 §2.4]. A model that does it better gives the same `Summarised`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from store import names, tokens
from store.models import Turn, line
from store.vocabulary import PERSON

TOKENS = 50  # of one summary, in a prompt
PART = 14  # tokens of one of its fields
MOST = 3  # decisions, questions
TERMS = 5

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BETWEEN = re.compile(r"(?<=[.!?…])\s+|\n+")
_OPENING = re.compile(
    r"^(?:(?:hola|buenas|buenos días|buenas tardes|oye|che|bueno|vale|ok|okay|dale|perfecto|gracias|hi|hello"
    r"|hey|well|so"
    r"|great|thanks|thank you|por favor|please|sí|si|yes|no)\b[\s,.!:;—-]*)+",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decid(?:í|imos|ido|ed)|(?:nos )?qued(?:a|amos) (?:decidid[oa]|con|en)|vamos con|usa(?:mos|remos)"
    r"|eleg(?:í|imos)"
    r"|a partir de ahora|de ahora en adelante|let'?s (?:go with|use)|(?:we|i)(?:'ll| will) (?:use|go with)"
    r"|we(?:'re| are) going with|we chose|i chose|from now on|agreed)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:listo|hecho|arreglad[oa]|resuelt[oa]|terminad[oa]|corregid[oa]|funciona|añadí|agregué|cambié|quité|moví"
    r"|done|fixed|resolved|works now|added|removed|changed|updated|moved|renamed|implemented|merged|passes"
    r"|pass now)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:no|nunca|not|never|n't|sin|without|si|if)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Summarised:
    """What was said, as keys and values: what it was about, the things `discussed`, how it ended, what was decided, and
    what was asked and not answered; and who says so, `rules` or the name of a model."""

    topic: str
    discussed: tuple[str, ...] = ()
    outcome: str = ""
    decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    by: str = "rules"


def by_rule(turns: Sequence[Turn]) -> Summarised:
    """Sentences of the turns themselves, shortened: nothing is said that nobody said. TOKENS at most."""
    said = [(turn.role, said_in(turn.text)) for turn in turns]
    asked = [sentence for role, sentences in said if role == PERSON for sentence in sentences]
    told = [sentence for role, sentences in said if role != PERSON for sentence in sentences]
    topic = next(iter(asked or told), "") or " ".join(turns[0].text.split())
    decided = [one for one in (*asked, *told) if decides(one)]
    outcome = next((one for one in reversed(told) if _DONE.search(one) and "?" not in one), "")
    if not outcome:
        outcome = next((one for one in told if "?" not in one), "")
    last = said[-1][1] if said else []
    open_questions = [one for one in last if one.endswith("?")]
    terms = names.named((turn.text for turn in turns), TERMS)
    return fitted(
        topic, terms, outcome if outcome not in (topic, *decided) else "", decided[:MOST], open_questions[-MOST:]
    )


def decides(sentence: str) -> bool:
    """Whether a sentence says that something was decided."""
    found = _DECIDED.search(sentence)
    return found is not None and "?" not in sentence and not _NOT.search(sentence[: found.start()])


def fitted(
    topic: str,
    discussed: Iterable[str],
    outcome: str,
    decisions: Iterable[str],
    open_questions: Iterable[str],
    by: str = "rules",
) -> Summarised:
    """A summary of at most TOKENS tokens: each part cut to PART, and as many as there is room for; what was decided
    comes before what is open, that before how it ended and what was mentioned."""
    kept = Summarised(tokens.cut(_flat(topic), PART), by=by)

    def take(field: str, value: str) -> None:
        nonlocal kept
        if not value:
            return
        fields: dict[str, Any] = {field: value if field == "outcome" else (*getattr(kept, field), value)}
        more = replace(kept, **fields)
        if tokens.count(line(more.topic, more.discussed, more.outcome, more.decisions, more.open_questions)) <= TOKENS:
            kept = more

    for field, values in (("decisions", decisions), ("open_questions", open_questions), ("outcome", [outcome])):
        for value in values:
            take(field, tokens.cut(_flat(value), PART))
    for value in discussed:
        if value.casefold() not in kept.topic.casefold():
            take("discussed", tokens.cut(_flat(value), PART // 2))
    return kept


def said_in(text: str) -> list[str]:
    """The sentences of a turn, without code, lists' marks, and the greeting they begin with."""
    found = []
    for part in _BETWEEN.split(_CODE.sub("\n", text)):
        sentence = _OPENING.sub("", _flat(part).strip("-*•>#| "))
        if len(re.findall(r"\w+", sentence)) > 1:
            found.append(sentence)
    return found


def _flat(text: str) -> str:
    return " ".join(text.split())
