"""Check the order of words: who reports to whom, which port belongs to which, what was chosen instead of what.

A sentence may use only words of its source and say the contrary in another order. Where the source has several names or
several numbers, or contrasts two things, a sentence must keep the order, and a number must have a word with it that is
beside it in the source.
"""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from store.text.folding import fold
from store.text.similarity import contradiction
from store.text.similarity.word_forms import same
from store.text.tokens import WORD
from store.text.words import CLAUSE, DENIED, SLIGHT, named

MOST = 400  # words that are compared; of a longer text no order is confirmed
NAME, FIGURE = "name", "figure"
_AND = re.compile(r"\b(?:y|e|and)\b")
# two things that are contrasted, in any form
_SIDES = re.compile(
    r"\b(?:than|prefer\w*|prefier\w*|(?:mas|menos|mejor|peor|antes|mayor|menor)(?: \S+)? que|versus|vs"
    r"|before|after|antes|despues"
    r"|(?:de|del|from|desde) (?:(?:el|la|los|las|the|a|an) )?\S+ (?:a|al|to|hasta|hacia)|replac\w+|reemplaz\w+"
    r"|sustitu\w+|instead of|rather than|en vez de|en lugar de|over)\b"
)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word with content: `folded`, the `kind` of value it is, empty if it is none, and in which `part` of a text it
    is."""

    folded: str
    kind: str
    part: int


class WordOrder:
    """A source text, against whose order sentences are checked."""

    def __init__(self, text: str) -> None:
        self._words = _words(text, 1)  # its first word may be a name too

    def keeps(self, text: str) -> bool:
        """Return whether a clause uses the words of the source in an equivalent order: that of one part of the source,
        where one contains them all."""
        telling = _words(text, 0)
        names = {word.folded for word in (*self._words, *telling) if word.kind == NAME}
        words = [replace(one, kind=NAME) if one.folded in names else one for one in self._words]
        kinds = {NAME if word.folded in names else word.kind for word in telling} - {""}
        sides = _two_sided(fold(text))
        if not sides and not _rivals(kinds, words):
            return True
        if len(words) > MOST:
            return False
        found = [places for word in telling if (places := _places(word.folded, words))]
        whole = set.intersection(*({words[place].part for place in places} for places in found)) if found else set()
        if not whole:
            return _kept(found, words, kinds, sides)
        return any(
            _kept([[at for at in places if words[at].part == part] for places in found], words, kinds, sides, part)
            for part in whole
        )


def _kept(
    found: Sequence[Sequence[int]], words: Sequence[_Word], kinds: set[str], sides: bool, part: int | None = None
) -> bool:
    """Return whether words at these indexes are used in their order: in one part, or in all of the source."""
    rivals = _rivals(kinds, words if part is None else [one for one in words if one.part == part])
    if not found or not (rivals or sides):
        return True
    told_of = {place for places in found for place in places}
    for places in found:
        beside = [_beside(place, words) for place in places if words[place].kind in rivals - {NAME}]
        if beside and not any(not near or told_of.intersection(near) for near in beside):
            return False
    return _one_after_the_other(found, words, spare=not sides)


def _rivals(kinds: set[str], words: Sequence[_Word]) -> set[str]:
    """Return the kinds of values of which the source has several."""
    return {kind for kind in kinds if len({one.folded for one in words if one.kind == kind}) > 1}


def _two_sided(folded: str) -> bool:
    """Return whether a text contrasts two things: by a word for that, or by negating one of them."""
    return bool(_SIDES.search(folded)) or bool(DENIED.search(folded) and _AND.search(folded))


def _words(text: str, first: int) -> list[_Word]:
    """Return the words with content of a text; `first` is the index of its first, as `named` takes it."""
    found = []
    ends = [match.start() for match in CLAUSE.finditer(fold(text))]
    for place, match in enumerate(WORD.finditer(text), first):
        word = fold(match[0])
        if word not in SLIGHT:
            found.append(_Word(word, _kind(match[0], place), bisect(ends, match.start())))
    return found


def _kind(word: str, place: int) -> str:
    """Return the kind of value that a word is: a name, judged by its capital, a number, or one of a closed list, such
    as the days of a week."""
    for value in contradiction.taken_apart(word).values:
        return value.partition("/")[0] if value.startswith("=") else FIGURE
    return NAME if named(word, place) else ""


def _places(word: str, words: Sequence[_Word]) -> list[int]:
    """Return the indexes of a word in the source, else those of another form of it."""
    exactly = [place for place, one in enumerate(words) if one.folded == word]
    return exactly or [place for place, one in enumerate(words) if same(word, one.folded)]


def _one_after_the_other(found: Sequence[Sequence[int]], words: Sequence[_Word], spare: bool) -> bool:
    """Return whether each word has an index after one of the word before. With `spare` one word between that is no
    value may be out of order: one verb may serve two."""
    reached = found[0][0]
    for number, places in enumerate(found[1:], 2):
        after = next((place for place in places if place > reached), None)
        if after is not None:
            reached = after
        elif spare and number < len(found) and not any(words[place].kind for place in places):
            spare = False
        else:
            return False
    return True


def _beside(place: int, words: Sequence[_Word]) -> list[int]:
    """Return the indexes of the words next to a value, skipping those of its own kind."""
    found = []
    for way in (range(place - 1, -1, -1), range(place + 1, len(words))):
        found += [next((other for other in way if words[other].kind != words[place].kind), place)]
    return [other for other in found if other != place]
