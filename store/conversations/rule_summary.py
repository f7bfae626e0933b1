"""Summarise a few turns by rule: whole sentences of the turns, or nothing. A model that summarises them better returns
the same `Summarised`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from store.base import token_count
from store.base.models import Turn, line
from store.base.vocabulary import PERSON
from store.text import entities
from store.text.clauses import asks, enclosed, statements
from store.text.folding import fold
from store.text.small_talk import small_talk
from store.text.vocabulary import alternatives, words

TOKENS = 50  # of one summary, in a prompt
TOPIC = 30  # of the topic, so that there is room for the decisions
TERM = 7  # of a name
MOST = 3  # decisions, questions
TERMS = 5

_DECIDED = re.compile(
    r"\b(?:decid(?:í|imos|ido|ed)|(?:nos )?qued(?:a|amos) (?:decidid[oa]|con|en)|vamos con|usa(?:mos|remos)"
    r"|eleg(?:í|imos)"
    r"|a partir de ahora|de ahora en adelante|let'?s (?:go with|use)|(?:we|i)(?:'ll| will) (?:use|go with)"
    r"|we(?:'re| are) going with|we chose|i chose|from now on|agreed)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:listo|hecho|arreglad[oa]|resuelt[oa]|terminad[oa]|corregid[oa]|funciona|añadí|agregué|cambié|quité|moví"
    r"|arreglé|corregí|terminé|resolví"
    r"|done|fixed|resolved|works now|added|removed|changed|updated|moved|renamed|implemented|merged|passes"
    r"|pass now)\b",
    re.IGNORECASE,
)
# an answer, at the beginning of a sentence: it answers a question, and negates nothing of the rest
_ANSWER = re.compile(
    r"^\W*(?:(?:no|nah|nope|mejor no|sí|si(?=[,.])|yes|yeah|yep|claro|exacto|correcto|right|exactly|correct|sure)\b"
    r"(?:\s*[,.;:!—–-]+\s*|$))+",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"^\W*(?:no\b(?=\W|$)|nah|nope|mejor no|espera|pensándolo|en realidad|pero|olvida|wait|actually|but|scrap"
    r"|never ?mind|on second thought)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]{4,}")


@cache
def _negation() -> re.Pattern[str]:
    """Return the pattern of what negates a statement, without capitals and accents."""
    return re.compile(
        rf"\b(?:{alternatives(words('negations', 'core', 'nobody', 'comparison'))}|si|if|unless|hardly"
        r"|descart\w+|rechaz\w+|mentira|falso|reject\w*|discard\w*|against|false|untrue)\b|n't\b"
    )


@dataclass(frozen=True, slots=True)
class Summarised:
    """A summary as keys and values: the topic, the things `discussed`, the outcome, the decisions, and the questions
    without an answer; and its author, `rules` or the name of a model. Of small talk every field is empty."""

    topic: str
    discussed: tuple[str, ...] = ()
    outcome: str = ""
    decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    by: str = "rules"


def by_rule(turns: Sequence[Turn]) -> Summarised:
    """Return whole sentences of the turns, word for word; one for which there is no room is left out whole. The outcome
    is what was answered to the topic. TOKENS at most."""
    spoken = [(turn.role, said_in(turn.text)) for turn in turns]
    decided = _decided([sentences for role, sentences in spoken if role == PERSON])
    open_questions = [one for one in spoken[-1][1] if asks(one)] if spoken else []
    topic, outcome = _about(spoken, {*decided, *open_questions})
    talked = (turn.text for turn, (_, sentences) in zip(turns, spoken, strict=True) if sentences)
    return fitted(
        topic,
        entities.named(talked, TERMS),
        outcome if outcome not in decided else "",
        decided[-MOST:],
        open_questions[-MOST:],
    )


def decides(sentence: str) -> bool:
    """Return whether a sentence states a decision: not one that asks, denies, supposes or quotes it."""
    own = _ANSWER.sub("", enclosed(sentence))
    found = _DECIDED.search(own)
    return found is not None and "?" not in own and not _negation().search(fold(own[: found.start()]))


def fitted(
    topic: str,
    discussed: Iterable[str],
    outcome: str,
    decisions: Sequence[str],
    open_questions: Sequence[str],
    by: str = "rules",
) -> Summarised:
    """Return a summary of at most TOKENS tokens, each of its parts whole. Priority: the decisions, the last first, as
    it may have changed the others; then the topic, the open questions, the outcome and what was mentioned."""
    kept = Summarised("", by=by)

    def take(**fields: Any) -> bool:
        nonlocal kept
        more = replace(kept, **fields)
        fits = (
            token_count.count(line(more.topic, more.discussed, more.outcome, more.decisions, more.open_questions))
            <= TOKENS
        )
        kept = more if fits else kept
        return fits

    for value in filter(None, map(_flat, reversed(decisions))):
        if not take(decisions=(value, *kept.decisions)):
            break
    topic = _flat(topic)
    if token_count.count(topic) <= TOPIC:
        take(topic=topic)
    for value in filter(None, map(_flat, open_questions)):
        take(open_questions=(*kept.open_questions, value))
    if kept.topic:
        take(outcome=_flat(outcome))
    for value in filter(None, map(_flat, discussed)):
        if token_count.count(value) <= TERM and value.casefold() not in kept.topic.casefold():
            take(discussed=(*kept.discussed, value))
    return kept


def said_in(text: str) -> list[str]:
    """Return the whole sentences of a turn, without small talk."""
    return [one for one in statements(text) if not small_talk(one)]


def _decided(turns: Sequence[Sequence[str]]) -> list[str]:
    """Return the person's decisions, without those that they withdrew later."""
    found: list[str] = []
    for sentences in turns:
        for place, sentence in enumerate(sentences):
            begins = not place and _BACK.search(sentence) is not None
            found = [one for one in found if not begins and not _takes_back(sentence, one)]
            if decides(sentence) and sentence not in found:
                found.append(sentence)
    return found


def _takes_back(later: str, decision: str) -> bool:
    """Return whether a sentence may withdraw an earlier decision: it denies or supposes something of it."""
    if not _negation().search(fold(later)) and not _BACK.search(later):
        return False
    mine, before = ({word[:6].casefold() for word in _WORD.findall(one)} for one in (later, decision))
    return bool(mine & before) or len(later.split()) <= 2


def _about(turns: Sequence[tuple[str, Sequence[str]]], elsewhere: set[str]) -> tuple[str, str]:
    """Return (the topic, the answer to it): the first thing that the person said, or else anybody, and those sentences
    of the reply that surely belong to it. What is in `elsewhere` is not repeated."""
    first = next((at for at, (role, sentences) in enumerate(turns) if role == PERSON and _tells(sentences)), None)
    if first is None:
        every = [one for _, sentences in turns for one in sentences]
        return next((one for one in every if _room(one) and one not in elsewhere), ""), ""
    mine = turns[first][1]
    reply: list[str] = []
    for role, sentences in turns[first + 1 :]:
        if role == PERSON:
            break
        reply += sentences
    questions = [one for one in mine if asks(one)]
    topic = next((one for one in _tells(mine) if one not in elsewhere), "")
    if not reply or len(questions) > 1:
        return topic, ""
    if questions and questions == mine[-1:] and _room(questions[0]):
        answer = "" if asks(reply[0]) else reply[0]
        return questions[0], answer
    done = [at for at, one in enumerate(reply) if _DONE.search(one) and not asks(one)]
    if not _ANSWER.search(reply[0]) and done and not any(_BACK.search(one) for one in reply[done[-1] :]):
        return topic, reply[done[-1]]
    return topic, reply[0] if mine == [topic] and not asks(reply[0]) else ""


def _tells(sentences: Sequence[str]) -> list[str]:
    """Return the sentences of more than one word that fit as a topic."""
    return [one for one in sentences if _room(one) and len(re.findall(r"\w+", one)) > 1]


def _room(sentence: str) -> bool:
    return token_count.count(sentence) <= TOPIC


def _flat(text: str) -> str:
    return " ".join(text.split())
