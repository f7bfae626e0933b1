"""Whether a record answers a question at all. A search always finds the nearest; who asks about what nobody wrote down
is to be told so.

Names and numbers of the question must be known to the memory and stand in the record; of its other words the record
must hold a good part, weighed by how rare they are, or be near in meaning where a model tells. The thresholds are from
the half of `bench/cases/librarian.jsonl` that rules may be made with.
"""

import math
import re
from collections.abc import Iterable

from store.base.models import Decision
from store.librarian.question import DECISION, ParsedQuestion
from store.search.fts import FullTextIndex, QueryTerms
from store.search.query_parser import implied
from store.text.contradiction import folded
from store.text.language import foreign, language
from store.text.question_similarity import words
from store.text.vocabulary import stop_words

# a record is enough with this much of the question's words and this calibrated similarity: the one makes up for the
# other, up to where it is alone
COVERED = 0.55  # of the information of the question's words, where no model tells
WEIGHT = 0.7  # of the words against the meaning
ENOUGH = 0.46
ACROSS = 0.47  # calibrated similarity of a record in another language, whose words cannot be compared
RARE = 8  # records: a word that stands in fewer weighs no more, for it may be another word for the same
KIN = 5  # letters that two forms of a word begin with
SORT = 0.3  # of its weight, that a word has which names but the sort of what was chosen

# what is chosen is of a sort, which its record need not name: “which map provider”, “qué motor de base de datos”
_STOP = stop_words("search")
_SORTS = frozenset(
    "provider vendor supplier service tool tools library libraries framework engine technology product software"
    " solution system database server platform format language package stack kind type sort method approach way"
    " proveedor servicio herramienta herramientas biblioteca libreria motor tecnologia producto solucion sistema base"
    " datos servidor plataforma formato lenguaje paquete tipo clase metodo manera forma".split()
)

_DENIALS = frozenset(
    "no not don't doesn't didn't stop stopped drop dropped reject rejected discard discarded leave left abandon"
    " abandoned dejamos dejo descartamos descarto rechazamos rechazo abandonamos quitamos sin without".split()
)

_NAME = re.compile(r"(?<![\w/])[^\W\d_]*(?:[A-ZÁÉÍÓÚÑÅ][\w'’+#-]*|[\w.]*\d[\w./-]*)")
_FIRST = re.compile(r"^\W*[\w'’]+")


def names(text: str) -> list[str]:
    """The names and numbers of a question, as they are written: what has a capital that begins no sentence, or a
    digit."""
    first = _FIRST.match(text)
    begins = first.end() if first else 0
    found = []
    for match in _NAME.finditer(text):
        word = re.sub(r"['’]s$", "", match[0]).strip(".,;:-")
        alone = match.start() < begins and not (any(map(str.isdigit, word)) or word[1:] != word[1:].lower())
        if len(word) > 1 and not alone:
            found.append(word)
    return list(dict.fromkeys(found))


class Relevance:
    """Judges records for one question."""

    def __init__(self, asked: ParsedQuestion, keywords: FullTextIndex) -> None:
        self._keywords = keywords
        self._language = asked.language
        self.names = [
            word for name in names(asked.text) for word in words(name) if word not in asked.dated and word not in _STOP
        ]
        self.words = [word for word in asked.words if word not in self.names]
        self._implied = [folded(word) for word in implied(asked.text)]
        self._denied = not _DENIALS.isdisjoint(words(asked.text))
        self._counts = counts = keywords.counts(QueryTerms([*self.names, *self.words], None, {}))
        total = keywords.total()
        self._weights = {word: math.log1p(total / max(RARE, counts[word])) for word in self.words}
        sorts = [word for word in self.words if word in _SORTS]
        if asked.kind == DECISION and len(sorts) < len(self.words):
            self._weights.update({word: SORT * self._weights[word] for word in sorts})

    def score(self, text: str, similarity: float | None) -> float:
        """By how much a text is near enough; negative where it is not."""
        said = self._said(text)
        if not all(self._stands(name, said) for name in self.names):
            return -1.0
        covered = 1.0 if any(self._stands(word, said) for word in self._implied) else self.coverage(said)
        if similarity is None:
            return covered - COVERED
        if foreign(self._language, language(text)):
            return max(similarity - ACROSS, WEIGHT * covered + (1 - WEIGHT) * similarity - ENOUGH)
        return WEIGHT * covered + (1 - WEIGHT) * similarity - ENOUGH

    def names_another(self, text: str) -> bool:
        """Whether a text lacks a name of the question that other records have."""
        return any(self._counts[name] for name in self._lacks(text))

    def lacks_a_name(self, text: str) -> bool:
        """Whether a name of the question does not stand in a text; it may be there in another language."""
        return bool(self._lacks(text))

    def _lacks(self, text: str) -> list[str]:
        if not self.names:
            return []
        said = self._said(text)
        return [name for name in self.names if not self._stands(name, said)]

    def chosen(self, decision: Decision) -> bool:
        """Whether a decision chose what the question is about, and the question does not deny it."""
        about = self.names or self.words
        chosen, title = self._said(decision.chosen), self._said(decision.title)
        left = self._said(" ".join(decision.alternatives))
        return (
            bool(about)
            and not self._denied
            and all(
                self._stands(word, chosen) or (self._stands(word, title) and not self._stands(word, left))
                for word in about
            )
        )

    def coverage(self, said: Iterable[str]) -> float:
        """How much of the information of the question's words stands among these; all of it where it has none."""
        whole = sum(self._weights.values())
        if not whole:
            return 1.0 if self.names or not self.words else 0.0
        return sum(weight for word, weight in self._weights.items() if self._stands(word, said)) / whole

    def stands(self, word: str, text: str) -> bool:
        """Whether a text holds a word, in whatever form."""
        return self._stands(word, self._said(text))

    def _said(self, text: str) -> frozenset[str]:
        told = words(text)
        return frozenset(
            (*told, *(part for word in told for part in re.split(r"[-/'’.:]", word)), *self._keywords.stems(text))
        )

    def _stands(self, word: str, said: Iterable[str]) -> bool:
        if word in said or self._keywords.stems(word) <= set(said):
            return True
        return len(word) >= KIN and any(kin(word, other) for other in said)


def kin(one: str, other: str) -> bool:
    """Whether two words may be forms of one: they begin alike, for the better part of both."""
    if len(other) < KIN:
        return False
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= KIN and shared >= 0.6 * min(len(one), len(other)) and max(len(one), len(other)) - shared <= 4
