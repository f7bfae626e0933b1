"""What is known: the active facts, as sentences are compared with them."""

import json
from collections import Counter
from collections.abc import Sequence
from math import ceil

from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.history.compression import every_row
from store.learning.rules.reconfirm_rules import TOUCHED, ComparedText, goes_on
from store.learning.rules.sentences import fold
from store.text.similarity import contradiction

KEY = 3  # letters by which a word is looked up: kin words begin with as many
ALIKE = 80  # percent: texts as alike as that are a question, and no second fact


class FactIndex:
    """The active facts of one memory: those that this process changes it is told of, those of others it finds in
    history."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._step = 0
        self._seen: int | None = None
        self._texts: dict[int, str] = {}  # normalised
        self._words: dict[int, ComparedText] = {}
        self._keys: dict[int, frozenset[str]] = {}  # the beginnings of its words
        self._often = Counter[str]()  # facts that a beginning stands in
        # a beginning → the facts to be found by it, each by so many of its rarest that one of them is shared if TOUCHED
        # of all are
        self._by: dict[str, set[int]] = {}
        self._of: dict[str, set[int]] = {}  # a beginning → all facts that it stands in

    def refresh(self) -> None:
        """Read what others changed since the last time."""
        seen = self._database.changed()
        if seen == self._seen:
            return
        newest = self._database.value("SELECT max(seq) FROM history") or 0
        if self._seen is None:
            self._add(self._database.rows("SELECT id, fact FROM facts WHERE status = 'active'"))
        else:
            rows = self._database.rows(
                f"SELECT DISTINCT json_extract(pk, '$[0]') FROM {every_row(self._database)}"
                " WHERE seq > ? AND tbl = 'facts'",
                (self._step,),
            )
            self.changed([number for (number,) in rows])
        self._seen, self._step = seen, newest

    def changed(self, numbers: Sequence[int]) -> None:
        """Read these facts again."""
        for number in numbers:
            self._drop(number)
        if numbers:
            sql = "SELECT id, fact FROM facts WHERE status = 'active' AND id IN (SELECT value FROM json_each(?))"
            self._add(self._database.rows(sql, (json.dumps(list(numbers)),)))

    def words(self, number: int) -> ComparedText:
        """A fact's words."""
        return self._words[number]

    def text(self, number: int) -> str:
        """A fact's text, normalised."""
        return self._texts[number]

    def share(self, words: ComparedText, number: int) -> float:
        """How many of an active fact's words a sentence has, from 0 to 1; 0 of any other fact."""
        keys = self._keys.get(number)
        return len(keys & {word[:KEY] for word in words.words}) / len(keys) if keys else 0.0

    def touched(self, words: ComparedText) -> list[int]:
        """The facts that share so many words with a sentence that it may speak of them; most first."""
        keys = {word[:KEY] for word in words.words}
        near = {}
        for number in set().union(*(self._by.get(key, ()) for key in keys)):
            share = len(keys & self._keys[number]) / len(self._keys[number])
            if share >= TOUCHED:
                near[number] = share
        return sorted(near, key=lambda number: (-near[number], number))

    def goes_on(self, folded: str) -> int | None:
        """The one fact that a sentence says is still so; None if there is none, or more."""
        near = {number for word in ComparedText(folded).words for number in self._of.get(word[:KEY], ())}
        found = [number for number in near if goes_on(folded, self._words[number])]
        return found[0] if len(found) == 1 else None

    def speaks_against(self, text: str, number: int) -> bool:
        """Whether a cue tells that a text and a fact it is near to in meaning cannot both hold."""
        from rapidfuzz.fuzz import ratio

        likeness = ratio(normal(text), self._texts[number]) / 100
        said = contradiction.taken_apart(text), contradiction.taken_apart(self._texts[number])
        return contradiction.compare(*said, likeness, contradiction.TELLING) == contradiction.AGAINST

    def alike(self, text: str) -> int | None:
        """The fact that is most like a text, letter by letter, ALIKE percent at least; None if none is."""
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import extractOne

        found = extractOne(normal(text), self._texts, scorer=ratio, score_cutoff=ALIKE)
        return found[2] if found else None

    def _add(self, rows: Sequence[tuple[int, str]]) -> None:
        for number, text in rows:
            self._texts[number] = normal(text)
            self._words[number] = ComparedText(fold(text))
            self._keys[number] = frozenset(word[:KEY] for word in self._words[number].words)
            self._often.update(self._keys[number])
            for key in self._keys[number]:
                self._of.setdefault(key, set()).add(number)
        for number, _ in rows:
            for key in self._rarest(number):
                self._by.setdefault(key, set()).add(number)

    def _rarest(self, number: int) -> list[str]:
        keys = sorted(self._keys[number], key=lambda key: self._often[key])
        return keys[: len(keys) - ceil(TOUCHED * len(keys)) + 1]

    def _drop(self, number: int) -> None:
        if number in self._texts:
            del self._texts[number], self._words[number]
            for key in self._keys.pop(number):
                self._by.get(key, set()).discard(number)
                self._of.get(key, set()).discard(number)
