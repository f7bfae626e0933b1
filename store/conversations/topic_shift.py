"""Detect that somebody changes the topic: rules on what they say, its similarity to what was said before, and its
domain.

"mismo tema, pero…" and "quick question about the same…" do not change it.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from store.text import vocabulary

ALIKE = 0.4  # calibrated similarity to the text before, below which the topic is another
BRIEF = 4  # words: a shorter text ("sí, la segunda") has no meaningful similarity, and answers what was said
READ = 2_000  # characters that are searched for a phrase that changes the topic
TOLD = 2  # different words of a domain that assign a text to it

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*+`|\"[^\"\n]*+\"|“[^“”\n]*+”|«[^«»\n]*+»|^[^\S\n]*+>[^\n]*+", re.DOTALL | re.MULTILINE
)
_SENTENCES = re.compile(r"(?<=[.!?…;:])\s+|\n+")
CLAUSE = 60  # characters before such words in which they may be negated
_OF_MINE = re.compile(r"\s+\w+ (?:of|from|for|to) my\b|\s+\w+ (?:de|con|para) mis?\b", re.IGNORECASE)


@cache
def _phrases() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("topic_shift.toml").read_text(encoding="utf-8"))


def _any_of(name: str) -> str:
    return "|".join(_phrases()[name])


@cache
def _another_topic() -> re.Pattern[str]:
    """Return the pattern of a sentence that announces another topic."""
    opening = rf"^\W*(?:(?:{_any_of('opening')})\b[\s,.!:;…—–-]*)*"
    return re.compile(rf"{opening}(?:{_any_of('another')})", re.IGNORECASE)


@cache
def _same_topic() -> re.Pattern[str]:
    """Return the pattern of words that stay with the topic."""
    return re.compile(rf"\b(?:{_any_of('same').replace('{it}', '(?:' + _any_of('it') + ')')})", re.IGNORECASE)


@cache
def _enough_of_it() -> re.Pattern[str]:
    """Return the pattern of what negates such words."""
    return re.compile(
        rf"\b(?:{vocabulary.alternatives(vocabulary.words('negations', 'core'))}|don'?t|stop|basta|enough)\b.*"
        r"\b(?:quiero|hablar|hablemos|hables|sigas|sigamos|m[áa]s|want|talk\w*|thinking|more)\b",
        re.IGNORECASE,
    )


@cache
def _domains() -> dict[str, re.Pattern[str]]:
    """Return the pattern of the words of each domain."""
    domains = _phrases()["domains"].items()
    return {name: re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE) for name, words in domains}


def shift(text: str, before: str = "", continuity: float | None = None) -> str:
    """Return why a text changes the topic from the text `before`: `phrase`, `meaning` or `domain`; empty where it does
    not. `continuity` is the calibrated similarity of the two, None while it is unknown."""
    if announces_change(text):
        return "phrase"
    plain = _QUOTED.sub(" ", text)
    if any(_goes_on(part) is not None for part in _SENTENCES.split(plain)):
        return ""
    if continuity is not None:
        return "meaning" if continuity < ALIKE and len(plain.split()) >= BRIEF else ""
    now, then = domain(plain), domain(before)
    return "domain" if now and then and now != then else ""


def announces_change(text: str) -> bool:
    """Return whether the first READ characters say that the topic changes: longer texts are pasted."""
    parts = _SENTENCES.split(_QUOTED.sub(" ", text[:READ]))
    for at, part in enumerate(parts):
        if _another_topic().match(part) and _goes_on(part) is None:
            after = _goes_on(parts[at + 1]) if part.endswith(":") and at + 1 < len(parts) else None
            if after is None or after > 0:  # "otra cosa: en la misma línea …" does not change it
                return True
    return False


def _goes_on(sentence: str) -> int | None:
    """Return where a sentence says that it is about the same; None if it does not, or negates it."""
    for match in _same_topic().finditer(sentence):
        clause = sentence[max(0, match.start() - CLAUSE) : match.start()].rpartition(",")[2]
        if not _enough_of_it().search(clause) and not _OF_MINE.match(sentence, match.end()):
            return match.start()
    return None


def shifts(text: str, before: str = "", continuity: float | None = None) -> bool:
    """Return whether a text changes the topic; see `shift`."""
    return bool(shift(text, before, continuity))


def domain(text: str) -> str:
    """Return code, planning or personal: the domain with the most different words in the text, TOLD at least."""
    found = {name: len({word.casefold() for word in words.findall(text)}) for name, words in _domains().items()}
    best = max(found, key=lambda name: found[name])
    alone = list(found.values()).count(found[best]) == 1
    return best if found[best] >= TOLD and alone else ""
