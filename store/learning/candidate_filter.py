"""Which sentences of a turn may tell something that is worth a model's time: the person's own, surely, and neither a
question, nor small talk, nor a request, nor only about this moment.

A small model makes a fact of whatever it is shown, so what it is asked to find facts in has to tell one by its form:
of the person and theirs, of their project, of how they work. What it then says is held against the same refusals.
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
    """Return those of them that state something lasting, by their form, and nothing of the moment, weighed or
    supposed; each without the asides at its ends."""
    found = []
    for sentence in worth(role, text):
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
    """Return whether a sentence states something that is neither of the moment nor weighed, supposed or asked."""
    folded = fold(text)
    return not (text.endswith("?") or _undecided(folded) or sign("hypothetical").match(folded))


def _undecided(folded: str) -> bool:
    rest = sign("lasting_time").sub("", folded)
    return bool(pattern("passing").search(rest)) or any(sign(name).search(folded) for name in ("weighed", "supposed"))


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
    return any(not passing.refused(folded) for folded, *_ in _clauses(sentence))


def _clauses(sentence: Sentence) -> Iterator[tuple[str, str, int, int]]:
    """Yield the parts of a sentence that say something of their own: folded, as written, start, end."""
    start = 0
    for match in [*_joints().finditer(sentence.folded), None]:
        end = match.start() if match else len(sentence.folded)
        folded = sentence.folded[start:end]
        if len(folded.split()) >= WORDS:
            first = start + len(folded) - len(folded.lstrip(" ¡¿"))
            yield folded.strip(" ¡¿"), sentence.text[start:end].strip(" ¡¿"), first, end
        start = match.end() if match else end
