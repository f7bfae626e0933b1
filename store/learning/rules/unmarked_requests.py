"""Statements in a turn beside words that are not a known marker but may be one: "pin this to your wall. …".

No list of phrases is complete. So where a turn has no marker, asks nothing, wants nothing done now, states something
lasting and has a few other words, its statements are proposed to the person; they are never stored without asking.
"""

import re
from collections.abc import Sequence

from store.learning.grammar import pattern, sign, triggers
from store.learning.rules import clauses, imperatives, statements
from store.learning.rules.sentences import WORDS, Sentence
from store.learning.rules.statements import states

REST = 9  # most words of a possible marker
NOT_LASTING = ("once", "unsure", "hedged", "unhinted", "passing")
_QUOTED = re.compile(r"[\"“”«»]\W*\w+\W+\w+\W+\w+")


def unmarked(turn: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return (sentence number, start of the statement) for each statement of such a turn; an empty list for other
    turns."""
    found, marked = list[tuple[int, int]](), False
    for number, sentence in enumerate(turn):
        start = clauses.begins(sentence.folded)
        rest = sentence.folded[start:]
        short = len(rest.split()) <= REST
        points = short and bool(pattern("points").search(rest))  # "pin this", "lo guardás?"
        heard = bool(pattern("heard").search(sentence.folded))
        asks = not heard and (sentence.text.endswith("?") or bool(pattern("questions").match(rest)))
        if _others(sentence, rest):
            return []
        if asks or statements.requests(rest) or pattern("orders_now").match(rest):
            if not points:
                return []
            marked = True
        elif told := _told(sentence, rest):
            found.append((number, start))
            marked = marked or not all(told)
        else:
            marked = marked or short
    return found if marked else []


def _others(sentence: Sentence, rest: str) -> bool:
    """Return whether a sentence is somebody else's, comments on what was said, or is for another rule."""
    folded = sentence.folded
    if sentence.doubt or sentence.passed or _QUOTED.search(sentence.text) or pattern("comments").search(folded):
        return True
    if ":" in rest and pattern("unheralded").search(rest.partition(":")[0]):
        return True
    ruled = any(rule.phrase.match(text) for rule in triggers("kept") for text in (folded, rest))
    return ruled or clauses.reported(folded, len(folded))


def _told(sentence: Sentence, rest: str) -> list[bool]:
    """Return for each clause of a sentence whether it states something lasting; an empty list where none does, or where
    one asks for something now."""
    if any(pattern(name).search(rest) for name in NOT_LASTING):
        return []
    told = []
    for part in clauses.clauses(sentence.folded):
        clause = sentence.folded[clauses.starts(sentence.folded, part.start, part.end)[-1] : part.end]
        if statements.asks(clause) and not pattern("points").search(clause) and not pattern("hints").search(clause):
            return []
        if clause.strip(" .!"):
            told.append(_states(clause.strip(), part.of(sentence.text).strip()))
    return told if any(told) else []


def _states(clause: str, text: str) -> bool:
    if len(clause.split()) < WORDS or pattern("asking").match(clause) or pattern("loose").match(clause):
        return False
    return not imperatives.goes_wrong(sign("contracted").sub("", clause)) and states(clause, text)
