"""Statements in a turn beside words that are not a known marker but may be one: "pin this to your wall. …".

No list of phrases is complete. So where a turn has no marker, asks nothing, wants nothing done now, states something
lasting and has a few other words, its statements are proposed to the person; they are never stored without asking.
"""

import re
from collections.abc import Sequence

from store.learning.grammar import pattern, sign, triggers
from store.learning.rules import clauses, imperatives
from store.learning.rules import small_talk as passing
from store.learning.rules.sentences import WORDS, Sentence
from store.learning.rules.statements import states

SENTENCES = 6  # most sentences of such a turn; a longer one is usually a narrative
SHORT = 3  # most words of a question for acknowledgement, "got it?"; least words of a statement
REST = 9  # most words of a possible marker
_QUOTED = re.compile(r"[\"“”«»]\W*\w+\W+\w+\W+\w+")


def unmarked(turn: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return (sentence number, start of the statement) for each statement of such a turn; an empty list for other
    turns."""
    if len(turn) > SENTENCES or any(sentence.doubt or sentence.passed for sentence in turn):
        return []
    found, marked = list[tuple[int, int]](), False
    for number, sentence in enumerate(turn):
        folded = sentence.folded
        start = clauses.starts(folded, 0, len(folded))[-1]
        rest = folded[start:]
        if pattern("comments").search(folded) or (
            (colon := rest.find(":")) > 0 and pattern("unheralded").search(rest, 0, colon)
        ):
            return []
        if not rest.strip(" .,!?¿¡"):
            continue
        asks_if_heard = pattern("heard").search(folded)
        if not asks_if_heard and (sentence.text.endswith("?") or pattern("questions").match(rest)):
            if _points(rest):
                marked = True
            elif len(folded.split()) > SHORT:
                return []
        elif _reported(folded, sentence.text):
            return []
        elif passing.requests(rest) or pattern("orders_now").match(rest):
            if not _points(rest):
                return []
            marked = True
        elif _lasting(sentence, start):
            found.append((number, start))
            marked = marked or _aside(sentence)
        elif len(rest.split()) <= REST:
            marked = True
    return found if marked else []


def _points(folded: str) -> bool:
    """Return whether words refer to something elsewhere in the turn: "pin this", "lo guardás?"."""
    return len(folded.split()) <= REST and bool(pattern("points").search(folded))


def _reported(folded: str, text: str) -> bool:
    """Return whether somebody else says it, or another rule handles it."""
    places = clauses.starts(folded, 0, len(folded))
    if clauses.reported(folded, len(folded)) or _QUOTED.search(text):
        return True
    rules = [one for kind in ("kept", "every") for one in triggers(kind)]
    return any(one.phrase.match(folded, place) for one in rules for place in {0, places[-1]})


def _aside(sentence: Sentence) -> bool:
    """Return whether a sentence with a statement also has a clause that states nothing."""
    folded = sentence.folded
    return any(
        not _states(folded[part.start : part.end], sentence.text[part.start : part.end])
        for part in clauses.clauses(folded)
        if not clauses.empty(folded, part)
    )


def _lasting(sentence: Sentence, start: int) -> bool:
    """Return whether one of a sentence's clauses, from `start` on, states something lasting."""
    folded, text = sentence.folded[start:], sentence.text[start:]
    if len(folded.split()) < SHORT:
        return False
    if any(pattern(name).search(folded) for name in ("once", "unsure", "hedged", "unhinted", "passing")):
        return False
    for part in clauses.clauses(folded):
        clause = folded[clauses.starts(folded, part.start, part.end)[-1] : part.end]
        if passing.asks(clause) and not _points(clause) and not pattern("hints").search(clause):
            return False  # a request to do something now
    return any(_states(folded[part.start : part.end], text[part.start : part.end]) for part in clauses.clauses(folded))


def _states(clause: str, text: str) -> bool:
    clause = clause.strip()
    if len(clause.split()) < WORDS or pattern("asking").match(clause) or pattern("loose").match(clause):
        return False
    if imperatives.goes_wrong(sign("contracted").sub("", clause)):
        return False
    return states(clause, text.strip())
