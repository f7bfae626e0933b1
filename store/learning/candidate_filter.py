"""Candidate sentences of a turn for the model: the person's own, and no questions, small talk, requests, or remarks
about the moment.

A small model makes a fact of anything it is shown, so the sentences shown must have the form of a fact: about the
person, their project, how they work. Its answers are checked by the same filters.
"""

from dataclasses import replace

from store.learning.grammar import form, pattern, sign
from store.learning.rules import clauses, statements
from store.learning.rules.clauses import Clause
from store.learning.rules.requests import requests
from store.learning.rules.sentences import READ, WORDS, Sentence, fold, sentences
from store.learning.rules.statements import states
from store.text.prompt_injection import suspicious
from store.text.small_talk import small_talk

SHOWN = 12  # most sentences of one turn


def candidates(role: str, text: str) -> list[Sentence]:
    """Return the candidate sentences of a turn: those that may state something and that the person certainly said
    themselves, and those that ask for memory. In a turn that tells an agent what to remember, only the latter."""
    if role != "user":
        return []
    turn = sentences(text)
    asked = {at for at, start, end, *_ in requests(turn) if not hostile(turn[at].text[start:end])}
    friendly = not hostile(text)
    return [
        sentence
        for number, sentence in enumerate(turn)
        if not (sentence.question or sentence.doubt or suspicious(sentence.quote))  # certainly the person's own
        and (number in asked or (friendly and _worth(sentence)))
    ][:SHOWN]


def lasting(role: str, text: str) -> list[Sentence]:
    """Return those candidates that state something lasting, by their form: not about the moment, not considered or
    supposed. Asides at their beginning and end are cut off."""
    found = []
    for sentence in candidates(role, text):
        folded, written = sentence.folded, sentence.text
        if hostile(written) or _undecided(folded):
            continue
        parts = _clauses(sentence)
        if any(states(part.of(folded), part.of(written)) for part in parts):
            kept = [part for part in parts if not statements.refused(part.of(folded))]
            start, end = kept[0].start, len(written) if kept[-1] == parts[-1] else kept[-1].end
            found.append(replace(sentence, text=written[start:end], folded=folded[start:end]))
    return found


def decided(text: str) -> bool:
    """Return whether a sentence states something, and not about the moment, considered, supposed or asked."""
    folded = fold(text)
    return not (text.endswith("?") or _undecided(folded) or sign("hypothetical").match(folded))


def _undecided(folded: str) -> bool:
    rest = sign("lasting_time").sub("", folded)
    return bool(pattern("passing").search(rest)) or any(sign(name).search(folded) for name in ("weighed", "supposed"))


def hostile(text: str) -> bool:
    """Return whether a text tells the keeper of the memory what to keep, or that everything is allowed."""
    seen = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"  # the rest is not used
    return bool(form("orders_memory").search(fold(seen)))


def _worth(sentence: Sentence) -> bool:
    """Return whether a sentence may state something."""
    folded = sentence.folded
    idle = small_talk(sentence.text) or sign("introduces").search(folded) or statements.asks(folded.lstrip("¡!¿ "))
    return not idle and any(not statements.refused(part.of(folded)) for part in _clauses(sentence))


def _clauses(sentence: Sentence) -> list[Clause]:
    """Return the clauses of at least WORDS words."""
    return [part for part in clauses.clauses(sentence.folded) if len(part.of(sentence.folded).split()) >= WORDS]
