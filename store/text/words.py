"""Words of a text: which carry little content, which negate, and which are names."""

import re
from collections.abc import Iterator

from store.text import vocabulary
from store.text.folding import fold

SLIGHT = vocabulary.stop_words("grounding")  # a sentence may use others than its source
_NOT = vocabulary.alternatives(vocabulary.words("negations", "core"))
DENIED = re.compile(rf"\b(?:{_NOT}|ningun[oa]?|none|\w+n't)\b")
CLAUSE = re.compile(
    r"(?<![,;:.!?…—()])[,;:.!?…—()]++(?=\s|$)"
    rf"|\b(?:{vocabulary.alternatives(vocabulary.words('clauses', 'contrast'))})\b"
    r"|\b(?:y|and)\s+(?=(?:no|not|nunca|never|ya no|tampoco|don't|doesn't|didn't)\b)"
)


def parts(text: str) -> Iterator[str]:
    """Yield the clauses of a text, split at punctuation and conjunctions."""
    start = 0
    for match in CLAUSE.finditer(fold(text)):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def named(word: str, place: int) -> bool:
    """Return whether a word is written as a name: a capital where no sentence begins, or inside, or a digit in it."""
    return any(char.isupper() or char.isdigit() for char in word[1:]) or (place > 0 and word[:1].isupper())
