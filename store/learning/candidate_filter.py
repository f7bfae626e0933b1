"""Which sentences of a turn may tell something that is worth a model's time: the person's own, surely, and neither a
question, nor small talk, nor a request, nor only about this moment.

A small model makes a fact of whatever it is shown, so what it is asked to find facts in has to tell one by its form:
of the person and theirs, of their project, of how they work. What it then says is held against the same refusals.
"""

import re
from collections.abc import Iterator
from functools import cache

from store.learning.grammar import either, sign
from store.learning.rules import small_talk as passing
from store.learning.rules.requests import requests
from store.learning.rules.sentences import READ, WORDS, Sentence, fold, sentences
from store.learning.rules.statements import FIGURE, NAME, states
from store.text.prompt_injection import suspicious
from store.text.small_talk import small_talk

SHOWN = 12  # sentences of one turn


@cache
def _joints() -> re.Pattern[str]:
    """Return the pattern of what stands between two clauses."""
    return re.compile(rf"(?<![,;:.!?…—()])[,;:.!?…—()]++(?=\s|$)|{either('clause_joint')}")


def worth(role: str, text: str) -> list[Sentence]:
    """The sentences of a turn that may tell something, and that the person surely said themselves, and those that ask
    for memory; none else of a turn that tells an agent what to remember."""
    if role != "user" or small_talk(text):
        return []
    said = sentences(text)
    asked = {
        one.sentence for one in requests(said) if not passing.hostile(said[one.sentence].folded[one.start : one.end])
    }
    told = not hostile(text)
    return [
        sentence
        for number, sentence in enumerate(said)
        if (told and _worth(sentence)) or (number in asked and _own(sentence))
    ][:SHOWN]


def tellings(role: str, text: str) -> list[Sentence]:
    """Those of them that tell something lasting, by their form."""
    return [sentence for sentence in worth(role, text) if any(states(*clause) for clause in _clauses(sentence))]


def stands(told: str, said: str) -> bool:
    """Whether what a model makes of a sentence is a statement: neither a request nor of this moment, and no scrap of
    it, "once a day", that says neither what nor who."""
    folded = fold(told)
    if passing.refused(folded) or passing.hostile(folded):
        return False
    if not sign("scrap").match(folded) or sign("any_verb").search(folded) or FIGURE.search(folded) or NAME.search(told):
        return True
    return 2 * len(folded.split()) >= len(said.split())


def hostile(text: str) -> bool:
    """Whether a turn orders whoever keeps the memory what to keep, or says that everything is allowed."""
    seen = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"  # more is not read
    return passing.hostile(fold(seen))


def _own(sentence: Sentence) -> bool:
    """Whether a request is surely the person's own."""
    return not (sentence.question or sentence.doubt or suspicious(sentence.quote))


def _worth(sentence: Sentence) -> bool:
    if sentence.question or sentence.doubt or len(sentence.text.split()) < WORDS:
        return False
    if small_talk(sentence.text) or suspicious(sentence.quote) or passing.introduces(sentence.folded):
        return False
    if passing.asks(sentence.folded.lstrip("¡!¿ ")):
        return False
    return any(not passing.refused(folded) for folded, _ in _clauses(sentence))


def _clauses(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """The parts of a sentence that say something of their own: folded, and as they were written."""
    start = 0
    for match in [*_joints().finditer(sentence.folded), None]:
        end = match.start() if match else len(sentence.folded)
        folded = sentence.folded[start:end]
        if len(folded.split()) >= WORDS:
            yield folded.strip(" ¡¿"), sentence.text[start:end].strip(" ¡¿")
        start = match.end() if match else end
