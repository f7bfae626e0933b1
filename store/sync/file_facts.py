"""The facts of a memory, as a synced file needs them: which belong in it, and what each is now."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from store.base.vocabulary import FILE
from store.context.acceptance import accepted
from store.database.database import Database
from store.records.ageing import STATES, state_sql
from store.records.fact_rows import text_hash
from store.sync.lines import digest

MOST = 2_000  # facts of one file
_COLUMNS = "id, domain, fact, origin, source"


@dataclass(frozen=True, slots=True)
class FileFact:
    """What a file needs of an active fact: see `models.Fact`."""

    id: int
    domain: str
    fact: str
    origin: str
    source: str


class FileFacts:
    """The facts of one memory at one moment, for a file that cites these `numbers`. `personal` is whether it is a
    person's own memory, of no project.

    `writable` are those that belong in the file, by id, `too_many` whether more would; `unaccepted` those that came
    from a file and nobody accepted: their lines stay in it."""

    def __init__(self, database: Database, personal: bool, numbers: Iterable[int]) -> None:
        self._database = database
        self.key = bytes(database.value("SELECT value FROM meta WHERE key = 'identity'") or "", "utf-8")
        self._heads: dict[int, FileFact | None] = {}
        self._of_texts: dict[str, bytes] = {}
        self._by_text: dict[str, FileFact | None] = {}
        self.writable: dict[int, FileFact] = {}
        self._choose(personal)
        missing = json.dumps([number for number in dict.fromkeys(numbers) if number not in self._heads])
        found = self._active("id IN (SELECT value FROM json_each(?))", missing)
        self._heads |= {fact.id: fact for fact in found}

    def _choose(self, personal: bool) -> None:
        state = state_sql(self._database.clock())
        stale, low = STATES.index("stale"), STATES.index("low")
        candidates = self._active(
            f"domain <> 'self_correction' AND (? OR domain <> 'personal') AND scope <> 'session' AND {state} < {stale}"
            f" AND NOT (confidence = 'low' AND {state} = {low}) AND id NOT IN (SELECT fact_id FROM mutes)"
            " ORDER BY pinned DESC, importance DESC, id LIMIT ?",
            int(personal),
            3 * MOST,
        )
        yes = accepted(self._database, candidates)
        self.unaccepted = {fact.id: fact for fact in candidates if fact.origin == FILE and fact.id not in yes}
        right = [fact for fact in candidates if fact.id in yes]
        self.writable = {fact.id: fact for fact in right[:MOST]}
        self.too_many = len(right) > MOST
        self._heads |= {fact.id: fact for fact in candidates}

    def _active(self, where: str, *parameters: object) -> list[FileFact]:
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM facts WHERE status = 'active' AND {where}", parameters)
        return [FileFact(*row) for row in rows]

    def digest(self, fact: FileFact) -> bytes:
        """Return the digest of a fact's text as a line has it."""
        return self.of_text(fact.fact)

    def of_text(self, text: str) -> bytes:
        """Return the digest of the text of a line."""
        if text not in self._of_texts:
            self._of_texts[text] = digest(self.key, text)
        return self._of_texts[text]

    def head(self, number: int) -> FileFact | None:
        """Return the active fact that this one is or became; None where it was forgotten or erased."""
        if number not in self._heads:
            found: int | None = number
            fact = None
            while found is not None and fact is None:
                fact = next(iter(self._active("id = ?", found)), None)
                if fact is None:
                    found = self._database.value(
                        "SELECT max(id) FROM facts WHERE supersedes = ?1 AND id > ?1", (found,)
                    )
            self._heads[number] = fact
        return self._heads[number]

    def same(self, text: str) -> FileFact | None:
        """Return the active fact with this text, in any spelling."""
        wanted = text_hash(text)
        if wanted not in self._by_text:
            self._by_text[wanted] = next(iter(self._active("text_hash = ? ORDER BY id LIMIT 1", wanted)), None)
        return self._by_text[wanted]
