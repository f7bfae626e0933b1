"""Whether a clause states something lasting: a habit, of the person and theirs, of a thing with a name or a figure; or
nothing: a request, an exclamation, praise, a remark about now. Matched by its form, on text without capitals and
accents (`folding.fold`)."""

import re

from store.learning.grammar import form, pattern, sign, words
from store.learning.rules.imperatives import commands
from store.text.folding import fold

NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-Z][^\W_]+|\b[^\W\d_]+[A-Z]\w*|\b[A-Z]{2,}\b")
FIGURE = re.compile(r"\d|\b\w+[._/@-]\w+[._/@-]?\w*\b(?<!-)")
SAID = 3  # least words of a clause for the form `telling` to count
LASTING = ("habit", "decided_past", "likes", "wishes")
OF_ONESELF = ("theirs", "lasting_verb", "third_person")


def asks(folded: str) -> bool:
    """Return whether a sentence begins with a request to do something now."""
    return requests(folded) and not sign("every_time").search(folded)


def requests(folded: str) -> bool:
    """Return whether a sentence begins with an order or a request, for now or in general."""
    return bool(form("request").match(folded)) or commands(folded)


def refused(folded: str) -> bool:
    """Return whether a clause states nothing lasting: it asks, exclaims, praises, points at something, or is only about
    now."""
    every_time = sign("every_time").search(folded)
    if not every_time and (requests(folded) or sign("asked_for").search(folded) or form("to_you").match(folded)):
        return True
    if any(form(name).match(folded) for name in ("short_answers", "let_go", "exclaims")):
        return True
    return bool(form("of_now").search(folded) or sign("for_now").search(sign("lasting_time").sub("", folded)))


def states(folded: str, written: str) -> bool:
    """Return whether a clause states something lasting: a habit, of the person and theirs, a thing with a name or a
    figure."""
    if refused(folded):
        return False
    if any(one.search(folded) for one in (*map(sign, LASTING), pattern("from_now"), FIGURE)):
        return True
    if any(not sign("day_name").fullmatch(fold(name[0])) for name in NAME.finditer(written)):
        return True
    if sign("once_past").search(written):
        return False
    first = sign("first_person").match(folded)
    return bool(
        any(sign(name).search(folded) for name in OF_ONESELF)
        or any((one["does"] or one["is"]) not in words("of_now") for one in sign("of_oneself").finditer(folded))
        or (first and first[1] not in words("no_verb"))
        or sign("of_things").match(folded)
        or (len(folded.split()) >= SAID and form("telling").search(folded))
    )
