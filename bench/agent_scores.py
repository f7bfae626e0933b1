"""Score a task's output against a case, independently of the agent's own checks, which are under test."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SHARE = 0.6  # minimum share of content words that must occur in the sources
SHORT = 4  # letters; shorter words carry little content
FORM = 3  # minimum letters of an inflected form
ALIKE = 4  # letters that two forms of a word share at the start
FEW = 5  # words, all of which must occur in the record
MOST = 0.75  # share of the words, if there are more
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÁÉÍÓÚÑ][\w&+.-]*\w|\b\w+[A-Z]\w*|\b[A-Z]{2,}\b")
_CITED = re.compile(r"\b([A-Z])#([0-9a-f]+)")
_NO = frozenset("no not never nor without nobody none nothing cannot nunca jamas sin ni nadie nada ningun".split())
_DENIED = 4  # words after a negation that belong to it
_AROUND = 3  # words around a number that may be its unit
_COUNTS = re.compile(r"(?<![\w.,:])(\d+(?:[.,:]\d+)*)\s+(?:de\s+|of\s+)?([^\W\d_]{3,})")
_REFUSED = re.compile(r"\b(?:instead|rather|reject|discard|alternativ|options?|lugar|vez|descart|rechaz|opcion)")
_RIGHT_BEFORE = re.compile(r"\b(?:over|not|no|ni|considered|considero)\W+(?:an? |the |una? |el |la )?$")
_RIGHT_AFTER = re.compile(r"\W*(?:was|were|fue|fueron|se) (?:not|consider)")
_BESIDE = 40  # characters around an option within which it must be called rejected
# a quotation in the list of rejected options, however long the ones before it are
_LISTED = re.compile(r"(?:instead of|en lugar de) (?:[“«][^”»]*[”»], )*[“«]$")
# function words and words about records, which are not content
_FRAMING = frozenset(
    """
    the and for from with this that was were are has had have been its our their they which who what when where
    because since there into under way according iteration began started completed ended finished task done pending
    progress said says recorded record decision decided decisions chosen chose choose use used using reason called
    took place instead replaced replaces superseded committed commit commits implements implemented made wrote facts
    fact event proposed checkpoint taken
    los las del por para con que una unos unas como fue fueron son esta este esto porque desde hace sigue curso
    segun iteracion empezo comenzo termino escribio tarea hecha pendiente dijo registrado decision decidio
    decidieron decisiones eligio elegimos elegido usa usamos usar usado motivo pedia reemplazo lugar vez hizo
    implementa implemento implementamos agregado hechos hecho evento propuesto hay
    belongs reverts reverted abandoned forgotten user revierte revirtio reemplazada olvidada abandono anoto ver
    """.split()
)
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
    """Return a text without accents and capitals."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


def has(text: str, wanted: str) -> bool:
    """Return whether a text contains a word that starts with one of `wanted`, `a|b`; a number must match completely."""
    plain = folded(text)
    return any(
        re.search(rf"(?<![\w.,]){re.escape(one)}" + (r"(?![\d]|[.,]\d)" if one[-1].isdigit() else ""), plain)
        for one in (folded(one) for one in wanted.split("|"))
    )


def has_all(text: str, wanted: Iterable[str]) -> bool:
    return all(has(text, one) for one in wanted)


def rests(text: str, ground: str, share: float = SHARE) -> bool:
    """Return whether a text is grounded: every number with its unit and every name occur in its ground verbatim,
    exactly the same is negated, and so do most words."""
    below = folded(ground)
    numbers = set(_NUMBER.findall(below))
    if any(number not in numbers for number in _NUMBER.findall(text)):
        return False
    if any(folded(name) not in below for name in _NAME.findall(text)):
        return False
    if not (_counts_alike(folded(text), below) and _denies_alike(folded(text), below)):
        return False
    there = {word for word in re.findall(r"[^\W\d_]+", below) if len(word) >= FORM}
    words = [word for word in re.findall(r"[^\W\d_]+", folded(text)) if len(word) >= SHORT]
    return sum(any(_akin(word, other) for other in there) for word in words) >= share * len(words)


def says(text: str, ground: str) -> bool:
    """Return whether a record supports a sentence: it is grounded in it, and its content words are the record's: all of
    a few, most of many."""
    if not rests(text, ground, 0):
        return False
    there = {word for word in re.findall(r"[^\W\d_]+", folded(ground)) if len(word) >= FORM}
    words = [
        word for word in re.findall(r"[^\W\d_]+", folded(text)) if len(word) >= FORM and word not in _FRAMING | _NO
    ]
    known = sum(any(_akin(word, other) for other in there) for word in words)
    return known == len(words) if len(words) <= FEW else known >= MOST * len(words)


def refused(text: str, options: Iterable[str], chosen: str, reason: str) -> bool:
    """Return whether each option that a sentence names is called rejected, unless it is part of the chosen one; the
    reason may mention options."""
    said = folded(text)
    for option in map(folded, options):
        for match in re.finditer(rf"\b{re.escape(option)}\b", said) if option not in folded(chosen) else ():
            before, after = said[max(0, match.start() - _BESIDE) : match.start()], said[match.end() :][:_BESIDE]
            then = re.match(r"\W+\w+", after)
            if then and option + then[0] in folded(reason):
                continue
            if _LISTED.search(said[: match.start()]):
                continue
            near = _REFUSED.search(re.split(r"[.;]", before)[-1]) or _REFUSED.search(re.split(r"[.;]", after)[0])
            if not (near or _RIGHT_BEFORE.search(before) or _RIGHT_AFTER.match(after)):
                return False
    return True


def _counts_alike(text: str, below: str) -> bool:
    """Return whether the word after each number occurs beside that number in the ground, except for years."""
    words = re.findall(r"\d+(?:[.,:]\d+)*|[^\W\d_]+", below)
    for number, thing in _COUNTS.findall(text):
        if re.fullmatch(r"(?:19|20)\d\d", number) or thing in _FRAMING:
            continue
        places = [place for place, word in enumerate(words) if word == number]
        around = (words[max(0, at - _AROUND) : at + _AROUND + 1] for at in places)
        if not any(_akin(thing, word) for stretch in around for word in stretch if len(word) >= FORM):
            return False
    return True


def _denies_alike(text: str, below: str) -> bool:
    """Return whether text and ground negate the same words."""
    said, denied = _denied(text)
    known, refused = _denied(below)
    mine = {word: word in denied for word in said | denied if len(word) >= SHORT and word not in _FRAMING}
    for word, no in mine.items():
        yes_there = any(_akin(word, other) for other in known if len(other) >= SHORT)
        no_there = any(_akin(word, other) for other in refused if len(other) >= SHORT)
        if (yes_there or no_there) and not (no_there if no else yes_there):
            return False
    return True


def _denied(text: str) -> tuple[set[str], set[str]]:
    """Return (the words that a text asserts, those that it negates)."""
    said, denied = set[str](), set[str]()
    for stretch in re.split(r"[.,;:!?«»“”\"]+", re.sub(r"n['’]t\b", " not", text)):
        left = 0
        for word in re.findall(r"[^\W\d_]+", stretch):
            if word in _NO:
                left = _DENIED
                continue
            (denied if left else said).add(word)
            left = max(0, left - (len(word) >= FORM))
    return said, denied


def _akin(one: str, other: str) -> bool:
    """Return whether two words start alike, as inflected forms do: `pay`, `pays`."""
    size = min(ALIKE, len(one), len(other))
    return one[:size] == other[:size]


def cited(text: str) -> list[str]:
    """Return the records that a text cites."""
    return [f"{letter}#{number}" for letter, number in _CITED.findall(text)]


def without_citations(text: str) -> str:
    return re.sub(r"\[[^\]]*\]", " ", text)


def grounds(content: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """Return the full content of each record by its citation: all fields, links, dates in words, and the number of
    records of its kind."""
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
    """Return a date as people write it."""
    year, month, day = at[:10].split("-")
    es, en = _MONTHS[int(month)]
    return f"{at[:10]} {int(day)} {day} {es} {en} {en[:3]} {es[:3]} {year} {int(month)}"
