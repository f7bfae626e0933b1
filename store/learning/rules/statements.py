"""Whether a clause states something lasting: a habit, of the person and theirs, of a thing with a name or a figure.
Matched by its form, on text without capitals and accents (`sentences.fold`)."""

import re
from functools import cache

from store.learning.grammar import pattern, sign, words
from store.learning.rules import small_talk
from store.text.folding import fold

SAID = 3  # least words of a clause for the pattern `telling` to count

NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-Z][^\W_]+|\b[^\W\d_]+[A-Z]\w*|\b[A-Z]{2,}\b")
LASTING = ("habit", "decided_past", "likes", "wishes")
FIGURE = re.compile(r"\d|\b\w+[._/@-]\w+[._/@-]?\w*\b(?<!-)")


def states(folded: str, written: str) -> bool:
    """Return whether a clause states something lasting: a habit, of the person and theirs, a thing with a name or a
    figure."""
    if small_talk.refused(folded):
        return False
    if any(one.search(folded) for one in (*map(sign, LASTING), pattern("from_now"), FIGURE)):
        return True
    if any(not sign("day_name").fullmatch(fold(name[0])) for name in NAME.finditer(written)):
        return True
    if sign("once_past").search(written):
        return False
    if any(_lasts(one["does"] or one["is"]) for one in sign("of_oneself").finditer(folded)) or sign("theirs").search(
        folded
    ):
        return True
    first = sign("first_person").match(folded)
    if sign("lasting_verb").search(folded) or (first and first[1] not in words("no_verb")):
        return True
    if sign("third_person").search(folded) or sign("of_things").match(folded):
        return True
    return len(folded.split()) >= SAID and bool(_telling().search(folded))


@cache
def _telling() -> re.Pattern[str]:
    return re.compile(rf"\b{pattern('telling').pattern}")


def _lasts(verb: str) -> bool:
    """Return whether what a person says of themselves with this verb may last."""
    return verb not in words("of_now") and not sign("english_past").fullmatch(verb)
