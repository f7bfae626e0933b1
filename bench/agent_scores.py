"""How what a task gave is held against what a case wants, by none of the agent's own checks: they are judged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SHARE = 0.6  # of the words that tell something, at least, that must stand in what they rest on
SHORT = 4  # letters; shorter words tell little
FORM = 3  # letters that a form of a word has, at least
ALIKE = 4  # letters that two forms of a word begin with
FRAME = 0.4  # the share for a sentence that frames quotations: “on … it was decided”
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁÉÍÓÚÑ][\w&+.-]*\w|\b\w+[A-Z]\w*|\b[A-Z]{2,}\b")
_CITED = re.compile(r"\b([A-Z])#([0-9a-f]+)")
_MONTHS = {
    number: (es, en)
    for number, (es, en) in enumerate(
        zip(
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
            "january february march april may june july august september october november december".split(),
            strict=True,
        ),
        1,
    )
}


def folded(text: str) -> str:
    """Without accents and capitals."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


def has(text: str, wanted: str) -> bool:
    """Whether a text has one of the beginnings of words that `wanted` names, `a|b`; a number must be all of one."""
    plain = folded(text)
    return any(
        re.search(rf"(?<![\w.,]){re.escape(one)}" + (r"(?![\d]|[.,]\d)" if one[-1].isdigit() else ""), plain)
        for one in (folded(one) for one in wanted.split("|"))
    )


def has_all(text: str, wanted: Iterable[str]) -> bool:
    return all(has(text, one) for one in wanted)


def rests(text: str, ground: str, share: float = SHARE) -> bool:
    """Whether what is said rests on its ground: every number and every name verbatim, and most words."""
    below = folded(ground)
    numbers = set(_NUMBER.findall(below))
    if any(number not in numbers for number in _NUMBER.findall(text)):
        return False
    if any(folded(name) not in below for name in _NAME.findall(text)):
        return False
    there = {word for word in re.findall(r"[^\W\d_]+", below) if len(word) >= FORM}
    words = [word for word in re.findall(r"[^\W\d_]+", folded(text)) if len(word) >= SHORT]
    return sum(any(_akin(word, other) for other in there) for word in words) >= share * len(words)


def _akin(one: str, other: str) -> bool:
    """Whether two words begin alike, as forms of one do: `pay`, `pays`."""
    size = min(ALIKE, len(one), len(other))
    return one[:size] == other[:size]


def cited(text: str) -> list[str]:
    """The records that a text cites."""
    return [f"{letter}#{number}" for letter, number in _CITED.findall(text)]


def without_citations(text: str) -> str:
    return re.sub(r"\[[^\]]*\]", " ", text)


def grounds(content: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """What each record of the memory says, by its citation: all its fields, how it is linked, its days in words, and
    how many there are of its kind."""
    found: dict[str, str] = {}
    for letter, kind in (("I", "iterations"), ("D", "decisions"), ("F", "facts"), ("C", "commits")):
        for number, record in enumerate(content[kind], 1):
            name = f"C#{record['sha'][:7]}" if letter == "C" else f"{letter}#{number}"
            said = [f"{kind} {number} {len(content[kind])}", *_values(record)]
            for at in (record.get("at"), record.get("end")):
                said += [_days(at)] if at else []
            found[name] = " ".join(said)
    for commit in content["commits"]:
        if decision := commit.get("implements"):
            name = f"C#{commit['sha'][:7]}"
            found[name], found[f"D#{decision}"] = (
                f"{found[name]} {found[f'D#{decision}']}",
                f"{found[f'D#{decision}']} {found[name]}",
            )
    return found


def _values(record: Mapping[str, Any]) -> list[str]:
    return [
        text
        for value in record.values()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]


def _days(at: str) -> str:
    """A day as people write it."""
    year, month, day = at[:10].split("-")
    es, en = _MONTHS[int(month)]
    return f"{at[:10]} {int(day)} {day} {es} {en} {en[:3]} {es[:3]} {year} {int(month)}"
