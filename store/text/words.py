"""Words of a text: which say little, which deny, and which are names."""

import re
from collections.abc import Iterator

from store.text import vocabulary
from store.text.folding import fold

SLIGHT = vocabulary.stop_words("grounding")  # a sentence may be told with others of them
_NOT = vocabulary.alternatives(vocabulary.words("negations", "core"))
DENIED = re.compile(rf"\b(?:{_NOT}|ningun[oa]?|none|\w+n't)\b")
CLAUSE = re.compile(
    r"(?<![,;:.!?…—()])[,;:.!?…—()]++(?=\s|$)"
    rf"|\b(?:{vocabulary.alternatives(vocabulary.words('clauses', 'contrast'))})\b"
    r"|\b(?:y|and)\s+(?=(?:no|not|nunca|never|ya no|tampoco|don't|doesn't|didn't)\b)"
)


def parts(text: str) -> Iterator[str]:
    """The parts of a text that say something of their own, as its marks and its conjunctions part it."""
    start = 0
    for match in CLAUSE.finditer(fold(text)):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def named(word: str, place: int) -> bool:
    """Whether a word is written as a name: a capital where no sentence begins, or inside, or a figure in it."""
    return any(char.isupper() or char.isdigit() for char in word[1:]) or (place > 0 and word[:1].isupper())
