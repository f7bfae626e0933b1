"""What is known: the active facts, as sentences are compared with them."""

import json
from collections import Counter

from store import cues
from store.agent.confirming import TOUCHED, Words
from store.agent.voice import fold
from store.database import Database
from store.packing import every_row
from store.tombstones import normal

KEY = 3  # letters by which a word is looked up: kin words begin with as many
ALIKE = 80  # percent: texts as alike as that are a question, and no second fact (DESIGN §10)


class Known:
    """The active facts of one memory, kept up to date by what history says changed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._step = 0
        self._texts: dict[int, str] = {}  # normalised
        self._words: dict[int, Words] = {}
        self._with: dict[str, set[int]] = {}  # the beginning of a word → facts that have it

    def refresh(self) -> None:
        """Read what changed since the last time."""
        newest = self._database.value("SELECT max(seq) FROM history") or 0
        if not self._step:
            rows = self._database.rows("SELECT id, fact FROM facts WHERE status = 'active'")
        elif newest > self._step:
            changed = [
                number
                for (number,) in self._database.rows(
                    f"SELECT DISTINCT json_extract(pk, '$[0]') FROM {every_row(self._database)}"
                    " WHERE seq > ? AND tbl = 'facts'",
                    (self._step,),
                )
            ]
            for number in changed:
                self._drop(number)
            rows = self._database.rows(
                "SELECT id, fact FROM facts WHERE status = 'active' AND id IN (SELECT value FROM json_each(?))",
                (json.dumps(changed),),
            )
        else:
            return
        for number, text in rows:
            self._add(number, text)
        self._step = newest

    def words(self, number: int) -> Words:
        """A fact's words."""
        return self._words[number]

    def touched(self, words: Words) -> list[int]:
        """The facts that share so many words with a sentence that it may speak of them; most first."""
        shared = Counter[int]()
        for key in {word[:KEY] for word in words.words}:
            shared.update(self._with.get(key, ()))
        near = {
            number: count / len(self._words[number].words)
            for number, count in shared.items()
            if count >= TOUCHED * len({word[:KEY] for word in self._words[number].words})
        }
        return sorted(near, key=lambda number: (-near[number], number))

    def speaks_against(self, text: str, number: int) -> bool:
        """Whether a cue tells that a text and a fact it is near to in meaning cannot both hold."""
        from rapidfuzz.fuzz import ratio

        likeness = ratio(normal(text), self._texts[number]) / 100
        said = cues.taken_apart(text), cues.taken_apart(self._texts[number])
        return cues.compare(*said, likeness, cues.TELLING) == cues.AGAINST

    def alike(self, text: str) -> int | None:
        """The fact that is most like a text, letter by letter, ALIKE percent at least; None if none is."""
        from rapidfuzz.fuzz import ratio
        from rapidfuzz.process import extractOne

        found = extractOne(normal(text), self._texts, scorer=ratio, score_cutoff=ALIKE)
        return found[2] if found else None

    def _add(self, number: int, text: str) -> None:
        self._texts[number] = normal(text)
        self._words[number] = Words(fold(text))
        for word in self._words[number].words:
            self._with.setdefault(word[:KEY], set()).add(number)

    def _drop(self, number: int) -> None:
        if number in self._texts:
            del self._texts[number]
            for word in self._words.pop(number).words:
                self._with[word[:KEY]].discard(number)
