"""Whether what a model says rests on what was said: its words, numbers and names stand there, in that language, and
what was denied, weighed or left is not told as if it were so.

Made for small models: they turn a greeting into a fact, drop accents, translate, and take the option that was not
chosen for the decision. What does not hold is dropped, never mended; only an accent is given back.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store import cues
from store.agent import phrases
from store.agent.voice import fold
from store.search.language import foreign, language

SHARE = 0.75  # of the words that tell something, at least, that must stand in what was said
_WORD = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
_CLAUSE = re.compile(
    r"[,;:.!?…—()]+(?=\s|$)|\b(?:pero|but|sino|aunque|although|though|while|mientras|porque|because|asi que)\b"
    r"|\b(?:y|and)\s+(?=(?:no|not|nunca|never|ya no|tampoco|don't|doesn't|didn't)\b)"
)
# words that say little: a sentence may be told with others of them
_SLIGHT = frozenset(
    "a an the of to in on at for by with and or is are was were be been am it its this that these those as from we our"
    " us you your he she his her they their i my me mine do does did has have had will would can who which what when"
    " where also very just so than then there here user person people someone"
    " un una unos unas el la los las lo de del al en y e o u por para con que se su sus mi mis tu tus nuestro nuestra"
    " nuestros nuestras yo nosotros ella ellos usted es son era fue ser soy somos sos eres esta estan estoy"
    " estamos como"
    " ya muy solo tambien si le les me nos te ha han he hay tengo tiene tienen tenemos tener va van voy vamos"
    " usuario usuaria persona personas alguien".split()
)
# what turns what is said beside it into something else; whoever tells it has to tell that too
_TURNS = {
    "denied": re.compile(
        r"\b(?:no|not|never|nunca|jamas|tampoco|sin|without|ni|nor|neither|cannot|ningun[oa]?|none|\w+n't)\b"
    ),
    "ended": re.compile(
        r"\b(?:deje|dejo|dejamos|dejaron|dejar|paramos|stop(?:ped|s)?|used to|quit|gave up|solia\w*|antes(?! de)"
        r"|formerly|abandon\w+)\b"
    ),
    "left": re.compile(
        r"\b(?:descart\w+|rechaz\w+|discard\w+|reject\w+|rul(?:ed|ing) out|drop(?:ped|ping|s)?|sacamos|saque|quitamos"
        r"|quite|eliminamos|removed)\b"
    ),
    "weighed": re.compile(
        r"\b(?:pensando|pensaba\w*|pense|pensamos|consider\w*|thinking (?:of|about)|thought (?:of|about)"
        r"|look(?:ed|ing) (?:at|into)|viendo|mirando|probando|podria\w*|could"
        r"|might|tal vez|quizas?|capaz|maybe|perhaps|evalua\w*|evaluat\w*|between|entre|whether|duda\w*|ojala|wish"
        r"|me gustaria|would)\b"
    ),
    "supposed": re.compile(r"\b(?:si|if|unless|a menos que|suppos\w*|supon\w*|imagin\w*)\b"),
}
_INSTEAD = re.compile(r"\b(?:instead of|rather than|en vez de|en lugar de|over)\b")
_TAIL = re.compile(r"(?:porque|because|asi que|so that|y|and|o|or|que|which|but|pero|para que)\b")
# words of the moment that speak of no moment
_LASTING = re.compile(
    r"\b(?:(?:de|por|a|cada|toda) (?:la )?mananas?|todas las mananas|every (?:day|morning|night))\b|"
    r"\b(?:a partir de|desde|from|starting|de) (?:ahora|hoy|manana|now|today|tomorrow)(?: on| en (?:mas|adelante))?\b"
)
_FEELING = re.compile(r"\b(?:estoy|me siento|i feel|i'm (?:so |very |really )?(?:tired|sad|happy|hungry|stuck|busy))\b")
_ENDINGS = re.compile(
    r"(?:amos|emos|imos|aron|ieron|ando|iendo|ados?|adas?|idos?|idas?|ing|ed|es|an|en|ar|er|ir|as|os|a|o|e|i|s)$"
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """Words that belong together, how they are `turned`, and whether they are of the moment alone."""

    words: frozenset[str]
    turned: frozenset[str]
    passing: bool


class Ground:
    """One thing that was said, as what is told of it is held against it."""

    def __init__(self, said: str) -> None:
        self.said = said
        folded = fold(said)
        self._words = [match[0] for match in _WORD.finditer(said)]
        self._folded = [fold(word) for word in self._words]
        self._stems = {_stem(word) for word in self._folded}
        self._values = cues.taken_apart(said).values
        self._language = language(said)
        self._clauses = list(_clauses(folded))

    def holds(self, told: str) -> bool:
        """Whether what is told rests on it."""
        telling = self._telling(told)
        return self.mentions(told) and not self._turned(fold(told), telling)

    def mentions(self, told: str) -> bool:
        """Whether it speaks of what is told, whatever it says of it: enough for a title."""
        words = [match[0] for match in _WORD.finditer(told)]
        telling = self._telling(told)
        if not telling or len([word for word in telling if self.has(word)]) < max(1, SHARE * len(telling)):
            return False
        if not cues.taken_apart(told).values <= self._values or foreign(language(told), self._language):
            return False
        return not any(_name(word, place) and not self._names(word) for place, word in enumerate(words))

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

        return _WORD.sub(given_back, told)

    def tells_for_now(self) -> bool:
        """Whether it speaks of the moment: what stands beside it then hardly lasts longer."""
        return any(clause.passing for clause in self._clauses)

    def has(self, word: str) -> bool:
        """Whether it holds a word, or another form of it."""
        word = fold(word)
        if word in self._folded or _stem(word) in self._stems:
            return True
        return not any(char.isdigit() for char in word) and any(_akin(word, other) for other in self._folded)

    def _telling(self, told: str) -> list[str]:
        """Its words that tell something, folded."""
        words = [fold(match[0]) for match in _WORD.finditer(told)]
        return [word for word in words if word not in _SLIGHT and not word.isdigit()]

    def _names(self, word: str) -> bool:
        return word in self._words or any(word in other for other in self._words)

    def _turned(self, told: str, telling: Sequence[str]) -> bool:
        """Whether something is told without what turned it round where it was said."""
        mine = {name for name, pattern in _TURNS.items() if pattern.search(told)}
        if _INSTEAD.search(told):
            mine.add("instead")
        used = set[str]()
        for clause in self._clauses:
            taken = {word for word in telling if any(_same(word, other) for other in clause.words)}
            elsewhere = {
                word
                for word in taken
                for other in self._clauses
                if other is not clause and not other.turned and any(_same(word, one) for one in other.words)
            }
            if not taken - elsewhere:
                continue
            if clause.passing or not clause.turned <= mine:
                return True
            used |= clause.turned
        return "denied" in mine and "denied" not in used


def _clauses(folded: str) -> Iterable[_Clause]:
    start = 0
    for match in [*_CLAUSE.finditer(folded), None]:
        part = folded[start : match.start() if match else len(folded)]
        start = match.end() if match else start
        passing = bool(phrases.PASSING.search(_LASTING.sub("", part)) or _FEELING.search(part))
        instead = _INSTEAD.search(part)
        if instead:
            yield _clause(part[instead.end() :], {"instead"}, passing)
            part = part[: instead.start()]
        yield _clause(part, {name for name, pattern in _TURNS.items() if pattern.search(part)}, passing)


def _clause(part: str, turned: set[str], passing: bool) -> _Clause:
    words = frozenset(word for word in _WORD.findall(part) if word not in _SLIGHT)
    return _Clause(words, frozenset(turned), passing)


def open_ended(told: str) -> bool:
    """Whether something is only weighed or supposed, or no more than the end of a sentence."""
    folded = fold(told)
    return bool(_TAIL.match(folded) or _TURNS["weighed"].search(folded) or _TURNS["supposed"].search(folded))


def best(told: str, grounds: Sequence[Ground], first: int | None = None) -> int | None:
    """The place of the ground that something rests on, `first` tried first; None if there is none."""
    order = [*([first] if first is not None and 0 <= first < len(grounds) else []), *range(len(grounds))]
    return next((place for place in order if grounds[place].holds(told)), None)


def _same(one: str, other: str) -> bool:
    return one == other or _stem(one) == _stem(other) or _akin(one, other)


def _akin(one: str, other: str) -> bool:
    """Whether two words begin alike, for most of the longer."""
    long = max(len(one), len(other))
    common = next((at for at in range(min(len(one), len(other))) if one[at] != other[at]), min(len(one), len(other)))
    return common >= 3 and common >= 0.6 * long


def _stem(word: str) -> str:
    """A word without its ending, two letters at least; none of a short one or a number."""
    found = _ENDINGS.sub("", word)
    return found if len(found) > 1 and word.isalpha() else word


def _name(word: str, place: int) -> bool:
    """Whether a word is written as a name: a capital where no sentence begins, or inside, or a figure in it."""
    return any(char.isupper() or char.isdigit() for char in word[1:]) or (place > 0 and word[:1].isupper())
