"""The order of words: who reports to whom, which port is whose, what was taken over what.

All the words of a sentence may stand in what was said, and say the contrary of it in another order. Where several names
or several numbers were said, or two things are held against each other, what is told keeps the order, and a number has
a word with it that stood beside it.
"""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from store.text import contradiction
from store.text.folding import fold
from store.text.tokens import WORD
from store.text.word_forms import same
from store.text.words import CLAUSE, DENIED, SLIGHT, named

MOST = 400  # words that are looked at; of more, nothing is known to be in order
NAME, FIGURE = "name", "figure"
_AND = re.compile(r"\b(?:y|e|and)\b")
# two things that are held against each other, whichever way they are written
_SIDES = re.compile(
    r"\b(?:than|prefer\w*|prefier\w*|(?:mas|menos|mejor|peor|antes|mayor|menor)(?: \S+)? que|versus|vs"
    r"|before|after|antes|despues"
    r"|(?:de|del|from|desde) (?:(?:el|la|los|las|the|a|an) )?\S+ (?:a|al|to|hasta|hacia)|replac\w+|reemplaz\w+"
    r"|sustitu\w+|instead of|rather than|en vez de|en lugar de|over)\b"
)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that tells something: `folded`, what `kind` of value it is, empty if it is none, and in which `part` of a
    text it stands."""

    folded: str
    kind: str
    part: int


class WordOrder:
    """What was said, as the order of what is told of it is held against it."""

    def __init__(self, said: str) -> None:
        self._words = _words(said, 1)  # its first word may be a name as well

    def keeps(self, told: str) -> bool:
        """Whether something that is told, one clause of it, says these words in an order that says the same: that of
        one part of what was said, where one has them all."""
        telling = _words(told, 0)
        names = {word.folded for word in (*self._words, *telling) if word.kind == NAME}
        said = [replace(one, kind=NAME) if one.folded in names else one for one in self._words]
        kinds = {NAME if word.folded in names else word.kind for word in telling} - {""}
        sides = _two_sided(fold(told))
        if not sides and not _rivals(kinds, said):
            return True
        if len(said) > MOST:
            return False
        found = [places for word in telling if (places := _places(word.folded, said))]
        whole = set.intersection(*({said[place].part for place in places} for places in found)) if found else set()
        if not whole:
            return _kept(found, said, kinds, sides)
        return any(
            _kept([[at for at in places if said[at].part == part] for places in found], said, kinds, sides, part)
            for part in whole
        )


def _kept(
    found: Sequence[Sequence[int]], said: Sequence[_Word], kinds: set[str], sides: bool, part: int | None = None
) -> bool:
    """Whether words that stand at these places are told in their order: in one part, or in all of what was said."""
    rivals = _rivals(kinds, said if part is None else [one for one in said if one.part == part])
    if not found or not (rivals or sides):
        return True
    told_of = {place for places in found for place in places}
    for places in found:
        beside = [_beside(place, said) for place in places if said[place].kind in rivals - {NAME}]
        if beside and not any(not near or told_of.intersection(near) for near in beside):
            return False
    return _one_after_the_other(found, said, spare=not sides)


def _rivals(kinds: set[str], said: Sequence[_Word]) -> set[str]:
    """Which of these kinds of values were said of several."""
    return {kind for kind in kinds if len({one.folded for one in said if one.kind == kind}) > 1}


def _two_sided(folded: str) -> bool:
    """Whether a text holds two things against each other: by a word for that, or by denying one of them."""
    return bool(_SIDES.search(folded)) or bool(DENIED.search(folded) and _AND.search(folded))


def _words(text: str, first: int) -> list[_Word]:
    """The words of a text that tell something; `first` is the place of its first, as `named` takes it."""
    found = []
    ends = [match.start() for match in CLAUSE.finditer(fold(text))]
    for place, match in enumerate(WORD.finditer(text), first):
        word = fold(match[0])
        if word not in SLIGHT:
            found.append(_Word(word, _kind(match[0], place), bisect(ends, match.start())))
    return found


def _kind(word: str, place: int) -> str:
    """What kind of value a word is: a name, as far as a capital tells, a number, or one of a closed list, such as the
    days of a week."""
    for value in contradiction.taken_apart(word).values:
        return value.partition("/")[0] if value.startswith("=") else FIGURE
    return NAME if named(word, place) else ""


def _places(word: str, said: Sequence[_Word]) -> list[int]:
    """Where a word was said, or else another form of it."""
    exactly = [place for place, one in enumerate(said) if one.folded == word]
    return exactly or [place for place, one in enumerate(said) if same(word, one.folded)]


def _one_after_the_other(found: Sequence[Sequence[int]], said: Sequence[_Word], spare: bool) -> bool:
    """Whether one of the places of each word comes after one of the word before. To `spare` is one word between that is
    no value: a verb is said once of two."""
    reached = found[0][0]
    for number, places in enumerate(found[1:], 2):
        after = next((place for place in places if place > reached), None)
        if after is not None:
            reached = after
        elif spare and number < len(found) and not any(said[place].kind for place in places):
            spare = False
        else:
            return False
    return True


def _beside(place: int, said: Sequence[_Word]) -> list[int]:
    """Where the words next to a value stand, those of its own kind passed over."""
    found = []
    for way in (range(place - 1, -1, -1), range(place + 1, len(said))):
        found += [next((other for other in way if said[other].kind != said[place].kind), place)]
    return [other for other in found if other != place]
