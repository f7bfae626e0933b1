"""Words as what is told is held against what was said: which of them tell something, which are forms of one, and which
are names."""

import re
from collections.abc import Iterator
from functools import lru_cache

from store.text.folding import fold

WORD = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
DENIED = re.compile(
    r"\b(?:no|not|never|nunca|jamas|tampoco|sin|without|ni|nor|neither|cannot|ningun[oa]?|none|\w+n't)\b"
)
CLAUSE = re.compile(
    r"(?<![,;:.!?…—()])[,;:.!?…—()]++(?=\s|$)"
    r"|\b(?:pero|but|sino|aunque|although|though|while|mientras|porque|because|asi que)\b"
    r"|\b(?:y|and)\s+(?=(?:no|not|nunca|never|ya no|tampoco|don't|doesn't|didn't)\b)"
)
# words that say little: a sentence may be told with others of them
SLIGHT = frozenset(
    "a an the of to in on at for by with and or is are was were be been am it its this that these those as from we our"
    " us you your he she his her they their i my me mine do does did has have had will would can who which what when"
    " where also very just so than then there here user person people someone"
    " un una unos unas el la los las lo de del al en y e o u por para con que se su sus mi mis tu tus nuestro nuestra"
    " nuestros nuestras yo nosotros ella ellos usted es son era fue ser soy somos sos eres esta estan estoy"
    " estamos como"
    " ya muy solo tambien si le les me nos te ha han he hay tengo tiene tienen tenemos tener va van voy vamos"
    " usuario usuaria persona personas alguien".split()
)
_ENDINGS = re.compile(
    r"(?:amos|emos|imos|aron|ieron|ando|iendo|ados?|adas?|idos?|idas?|ing|ed|es|an|en|ar|er|ir|as|os|a|o|e|i|s)$"
)


def parts(text: str) -> Iterator[str]:
    """The parts of a text that say something of their own, as its marks and its conjunctions part it."""
    start = 0
    for match in CLAUSE.finditer(fold(text)):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def same(one: str, other: str) -> bool:
    return one == other or stem(one) == stem(other) or akin(one, other)


def akin(one: str, other: str) -> bool:
    """Whether two words begin alike, for most of the longer."""
    long = max(len(one), len(other))
    common = next((at for at in range(min(len(one), len(other))) if one[at] != other[at]), min(len(one), len(other)))
    return common >= 3 and common >= 0.6 * long


@lru_cache(4_096)
def stem(word: str) -> str:
    """A word without its ending, two letters at least; none of a short one or a number."""
    found = _ENDINGS.sub("", word)
    return found if len(found) > 1 and word.isalpha() else word


def named(word: str, place: int) -> bool:
    """Whether a word is written as a name: a capital where no sentence begins, or inside, or a figure in it."""
    return any(char.isupper() or char.isdigit() for char in word[1:]) or (place > 0 and word[:1].isupper())
