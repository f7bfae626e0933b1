"""Whether what a model says rests on what was said: its words, numbers and names stand there, in that language, and
what was denied, weighed or left is not told as if it were so.

Made for small models: they turn a greeting into a fact, drop accents, translate, and take the option that was not
chosen for the decision. What does not hold is dropped, never mended; only an accent is given back.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.learning.grammar import pattern, sign
from store.learning.rules.sentences import fold
from store.text.language import foreign, language
from store.text.similarity import contradiction
from store.text.similarity.word_forms import akin, same, stem
from store.text.similarity.word_order import WordOrder
from store.text.tokens import WORD
from store.text.words import DENIED, SLIGHT, named, parts

FEWEST = 2  # words that tell something, of a part of what is told
SHARE = 0.75  # of the words that tell something, at least, that must stand in what was said
# what turns what is said beside it into something else; whoever tells it has to tell that too
TURNS = ("denied", "ended", "left", "weighed", "supposed")


def _turn(name: str) -> re.Pattern[str]:
    return DENIED if name == "denied" else sign(f"turned_{name}")


@dataclass(frozen=True, slots=True)
class _Clause:
    """Words that belong together, how they are `turned`, and whether they are of the moment alone."""

    words: frozenset[str]
    turned: frozenset[str]
    passing: bool

    def has(self, word: str) -> bool:
        return any(same(word, other) for other in self.words)


class Ground:
    """One thing that was said, as what is told of it is held against it."""

    def __init__(self, said: str) -> None:
        self.said = said
        folded = fold(said)
        self._words = [match[0] for match in WORD.finditer(said)]
        self._folded = [fold(word) for word in self._words]
        self._stems = {stem(word) for word in self._folded}
        self._values = contradiction.taken_apart(said).values
        self._language = language(said)
        self._clauses = list(_clauses(folded))
        self._order = WordOrder(said)

    def holds(self, told: str) -> bool:
        """Whether what is told rests on it."""
        return self.mentions(told) and self.agrees(told)

    def agrees(self, told: str) -> bool:
        """Whether what is told, part by part, turns nothing of it round: no denial, and no two things that change
        places."""
        return not any(self._turned(fold(part)) or not self._order.keeps(part) for part in _told(told))

    def mentions(self, told: str) -> bool:
        """Whether it speaks of what is told, whatever it says of it: enough for a title."""
        words = [match[0] for match in WORD.finditer(told)]
        telling = _tells(fold(told))
        if not telling or len([word for word in telling if self.has(word)]) < max(1, SHARE * len(telling)):
            return False
        if not contradiction.taken_apart(told).values <= self._values or foreign(language(told), self._language):
            return False
        return not any(named(word, place) and not self._names(word) for place, word in enumerate(words))

    def mended(self, told: str) -> str:
        """What is told, each word with the accents it was said with."""
        written: dict[str, str] = {}
        for word, plain in zip(self._words, self._folded, strict=True):
            written.setdefault(plain, word)

        def given_back(match: re.Match[str]) -> str:
            word = match[0]
            said = written.get(fold(word), word)
            if said.casefold() == word.casefold():
                return word
            return said[0].upper() + said[1:] if word[0].isupper() else said[0].lower() + said[1:]

        return WORD.sub(given_back, told)

    def says(self, told: str) -> bool:
        """Whether it says these words, one after the other."""
        words = [fold(match[0]) for match in WORD.finditer(told)]
        starts = range(len(self._folded) - len(words) + 1)
        return any(self._folded[start : start + len(words)] == words for start in starts)

    def tells_for_now(self) -> bool:
        """Whether it speaks of the moment: what stands beside it then hardly lasts longer."""
        return any(clause.passing for clause in self._clauses)

    def has(self, word: str) -> bool:
        """Whether it holds a word, or another form of it."""
        word = fold(word)
        if word in self._folded or stem(word) in self._stems:
            return True
        return not any(char.isdigit() for char in word) and any(akin(word, other) for other in self._folded)

    def _names(self, word: str) -> bool:
        return word in self._words or any(word in other for other in self._words)

    def _turned(self, told: str) -> bool:
        """Whether something is told without what turned it round where it was said."""
        telling = [word for word in _tells(told) if not DENIED.fullmatch(word)]
        mine = {name for name in TURNS if _turn(name).search(told)}
        instead = sign("instead_of").search(told)
        if instead:
            mine.add("instead")
            if not self._takes(_tells(told[: instead.start()]), _tells(told[instead.end() :])):
                return True
        used = set[str]()
        places = {word: {at for at, clause in enumerate(self._clauses) if clause.has(word)} for word in telling}
        plain = {word: {at for at in found if not self._clauses[at].turned} for word, found in places.items()}
        for at, clause in enumerate(self._clauses):
            # a word that stands elsewhere too, with nothing that turns it, may well be taken from there
            if not any(at in found and len(plain[word]) == (at in plain[word]) for word, found in places.items()):
                continue
            if clause.passing or not clause.turned <= mine:
                return True
            used |= clause.turned
        return "denied" in mine and "denied" not in used

    def _takes(self, taken: Sequence[str], left: Sequence[str]) -> bool:
        """Whether what is told as taken and as left instead was so."""
        were_left = [clause for clause in self._clauses if "instead" in clause.turned]
        others = [clause for clause in self._clauses if "instead" not in clause.turned]
        if any(_in(word, were_left) and not _in(word, others) for word in taken):
            return False
        return not left or _in(left[0], were_left)


def _in(word: str, clauses: Iterable[_Clause]) -> bool:
    return any(clause.has(word) for clause in clauses)


def _tells(folded: str) -> list[str]:
    """The words of a text that tell something."""
    return [word for word in WORD.findall(folded) if word not in SLIGHT and not word.isdigit()]


def _told(told: str) -> list[str]:
    """The parts of what is told that say something of their own: two words that tell something, at least."""
    found: list[list[str]] = []
    last = 0
    for part in parts(told):
        telling = len(_tells(fold(part)))
        if found and min(last, telling) < FEWEST:
            found[-1].append(part)
            last += telling
        else:
            found.append([part])
            last = telling
    return [" ".join(some) for some in found]


def _clauses(folded: str) -> Iterable[_Clause]:
    for part in parts(folded):
        passing = bool(pattern("passing").search(sign("lasting_time").sub("", part)) or sign("feels").search(part))
        instead = sign("instead_of").search(part)
        if instead:
            yield _clause(part[instead.end() :], {"instead"}, passing)
            part = part[: instead.start()]
        turned = {name for name in TURNS if _turn(name).search(part)}
        ahead = _ahead(part)
        if ahead:
            yield _clause(part[:ahead], turned - {"denied"}, passing)
        yield _clause(part[ahead:], turned, passing)


def _ahead(part: str) -> int:
    """Where what is denied begins, behind the last "and" before the denial; 0 where all of it is."""
    denial = DENIED.search(part)
    return (
        max((match.end() for match in sign("conjunction").finditer(part, 0, denial.start())), default=0)
        if denial
        else 0
    )


def _clause(part: str, turned: set[str], passing: bool) -> _Clause:
    words = frozenset(word for word in WORD.findall(part) if word not in SLIGHT)
    return _Clause(words, frozenset(turned), passing)


def open_ended(told: str) -> bool:
    """Whether something is only weighed or supposed, or no more than the end of a sentence."""
    folded = fold(told)
    return bool(sign("tail").match(folded) or _turn("weighed").search(folded) or _turn("supposed").search(folded))


def best(told: str, grounds: Sequence[Ground], first: int | None = None) -> int | None:
    """The place of the ground that something rests on, `first` tried first; None if there is none."""
    order = [*([first] if first is not None and 0 <= first < len(grounds) else []), *range(len(grounds))]
    return next((place for place in order if grounds[place].holds(told)), None)
