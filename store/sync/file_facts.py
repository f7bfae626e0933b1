"""The facts of a memory, as a synced file needs them: which belong in it, and what each is now."""

from collections.abc import Iterable

from store.base.models import Fact
from store.base.vocabulary import FILE
from store.context.acceptance import accepted
from store.context.reasons import Circumstances, judge
from store.database.database import Database
from store.records.ageing import state_sql
from store.records.fact_rows import text_hash
from store.records.facts import Facts
from store.records.mutes import Mutes
from store.sync.lines import digest

MOST = 2_000  # facts of one file


class FileFacts:
    """The facts of one memory at one moment, for a file that cites these `numbers`. `personal` is whether it is a
    person's own memory, of no project.

    `writable` are those that belong in the file, by id, `too_many` whether more would; `unaccepted` those that came
    from a file and nobody accepted: their lines stay in it."""

    def __init__(self, database: Database, personal: bool, numbers: Iterable[int]) -> None:
        self._database = database
        self._facts = Facts(database)
        self.key = bytes(database.value("SELECT value FROM meta WHERE key = 'identity'") or "", "utf-8")
        self._heads: dict[int, Fact | None] = {}
        self._of_texts: dict[str, bytes] = {}
        self._by_text: dict[str, Fact | None] = {}
        self.writable: dict[int, Fact] = {}
        self._choose(personal)
        known = self._facts.many([number for number in dict.fromkeys(numbers) if number not in self._heads])
        self._heads |= {fact.id: fact for fact in known if fact.status == "active"}

    def _choose(self, personal: bool) -> None:
        now = self._database.clock()
        candidates = self._facts.many(
            [
                number
                for (number,) in self._database.rows(
                    "SELECT id FROM facts WHERE status = 'active' AND domain <> 'self_correction'"
                    f" AND (? OR domain <> 'personal') AND scope <> 'session' AND {state_sql(now)} < 3"
                    " ORDER BY pinned DESC, importance DESC, id LIMIT ?",
                    (int(personal), 3 * MOST),
                )
            ]
        )
        yes = accepted(self._database, candidates)
        muted = Mutes(self._database).among([fact.id for fact in candidates])
        self.unaccepted = {
            fact.id: fact for fact in candidates if fact.origin == FILE and fact.id not in yes and fact.id not in muted
        }
        for fact in candidates:
            known = Circumstances(matched=True, by_words=True, accepted=fact.id in yes, muted=fact.id in muted)
            included, word, _ = judge(fact, now, known)
            if (included or word == "low") and len(self.writable) <= MOST:
                self.writable[fact.id] = fact
            self._heads[fact.id] = fact
        self.too_many = len(self.writable) > MOST
        if self.too_many:
            self.writable.popitem()

    def digest(self, fact: Fact) -> bytes:
        """Return the digest of a fact's text as a line has it."""
        return self.of_text(fact.fact)

    def of_text(self, text: str) -> bytes:
        if text not in self._of_texts:
            self._of_texts[text] = digest(self.key, text)
        return self._of_texts[text]

    def head(self, number: int) -> Fact | None:
        """Return the active fact that this one is or became; None where it was forgotten or erased."""
        if number not in self._heads:
            found: int | None = number
            fact = None
            while found is not None and fact is None:
                some = self._facts.many([found])
                fact = some[0] if some and some[0].status == "active" else None
                if fact is None:
                    found = self._database.value(
                        "SELECT max(id) FROM facts WHERE supersedes = ?1 AND id > ?1", (found,)
                    )
            self._heads[number] = fact
        return self._heads[number]

    def same(self, text: str) -> Fact | None:
        """Return the active fact with this text, in any spelling."""
        wanted = text_hash(text)
        if wanted not in self._by_text:
            number = self._database.value(
                "SELECT id FROM facts WHERE text_hash = ? AND status = 'active' ORDER BY id LIMIT 1", (wanted,)
            )
            self._by_text[wanted] = None if number is None else self._facts.get(number)
        return self._by_text[wanted]
