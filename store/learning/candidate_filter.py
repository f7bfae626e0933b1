"""Candidate sentences of a turn for the model: the person's own, and no questions, small talk, requests, or remarks
about the moment.

A small model makes a fact of anything it is shown, so the sentences shown must have the form of a fact: about the
person, their project, how they work. Its answers are checked by the same filters.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from store.learning.grammar import either, pattern, sign
from store.learning.rules import small_talk as passing
from store.learning.rules.requests import requests
from store.learning.rules.sentences import READ, WORDS, Sentence, fold, sentences
from store.learning.rules.statements import states
from store.text.prompt_injection import suspicious
from store.text.small_talk import small_talk

SHOWN = 12  # most sentences of one turn


@cache
def _joints() -> re.Pattern[str]:
    """Return the pattern of what separates two clauses."""
    return re.compile(rf"(?<![,;:.!?…—()])[,;:.!?…—()]++(?=\s|$)|{either('clause_joint')}")


def candidates(role: str, text: str) -> list[Sentence]:
    """Return the candidate sentences of a turn: those that may state something and that the person certainly said
    themselves, and those that ask for memory. In a turn that tells an agent what to remember, only the latter."""
    if role != "user" or small_talk(text):
        return []
    turn = sentences(text)
    asked = {
        one.sentence for one in requests(turn) if not passing.hostile(turn[one.sentence].folded[one.start : one.end])
    }
    friendly = not hostile(text)
    return [
        sentence
        for number, sentence in enumerate(turn)
        if (friendly and _worth(sentence)) or (number in asked and _own(sentence))
    ][:SHOWN]


def lasting(role: str, text: str) -> list[Sentence]:
    """Return those candidates that state something lasting, by their form: not about the moment, not considered or
    supposed. Asides at their beginning and end are cut off."""
    found = []
    for sentence in candidates(role, text):
        clauses = list(_clauses(sentence))
        if passing.hostile(sentence.folded) or _undecided(sentence.folded):
            continue
        if any(states(folded, written) for folded, written, _, _ in clauses):
            kept = [clause for clause in clauses if not passing.refused(clause[0])]
            end = len(sentence.text) if kept[-1] == clauses[-1] else kept[-1][3]
            start = kept[0][2]
            found.append(replace(sentence, text=sentence.text[start:end], folded=sentence.folded[start:end]))
    return found


def decided(text: str) -> bool:
    """Return whether a sentence states something, and not about the moment, considered, supposed or asked."""
    folded = fold(text)
    return not (text.endswith("?") or _undecided(folded) or sign("hypothetical").match(folded))


def _undecided(folded: str) -> bool:
    rest = sign("lasting_time").sub("", folded)
    return bool(pattern("passing").search(rest)) or any(sign(name).search(folded) for name in ("weighed", "supposed"))


def hostile(text: str) -> bool:
    """Return whether a turn tells the keeper of the memory what to keep, or that everything is allowed."""
    seen = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"  # the rest is not used
    return passing.hostile(fold(seen))


def _own(sentence: Sentence) -> bool:
    """Return whether a request is certainly the person's own."""
    return not (sentence.question or sentence.doubt or suspicious(sentence.quote))


def _worth(sentence: Sentence) -> bool:
    if sentence.question or sentence.doubt or len(sentence.text.split()) < WORDS:
        return False
    if small_talk(sentence.text) or suspicious(sentence.quote) or passing.introduces(sentence.folded):
        return False
    if passing.asks(sentence.folded.lstrip("¡!¿ ")):
        return False
    return any(not passing.refused(folded) for folded, *_ in _clauses(sentence))


def _clauses(sentence: Sentence) -> Iterator[tuple[str, str, int, int]]:
    """Yield (folded text, written text, start, end) of each clause of at least WORDS words."""
    start = 0
    for match in [*_joints().finditer(sentence.folded), None]:
        end = match.start() if match else len(sentence.folded)
        folded = sentence.folded[start:end]
        if len(folded.split()) >= WORDS:
            first = start + len(folded) - len(folded.lstrip(" ¡¿"))
            yield folded.strip(" ¡¿"), sentence.text[start:end].strip(" ¡¿"), first, end
        start = match.end() if match else end
