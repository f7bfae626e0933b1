"""Cache of the Librarian's answers, for questions that the records alone decide; an entry lives one day at most.

An entry is used only while everything it rests on is unchanged: the records it cites (no later step of history touched
them, and their text is the same), the results of a search for its question (no new hit), and the model that gave it.
While a text waits for its vector, similarity is not known and no entry is used. A purge empties the cache.

A question with the same meaning is answered too: from a calibrated similarity of ALIKE, if `question_similarity` and
`contradiction` find no difference between the two. Such an answer carries a note, written here and never by a model,
that names the original question.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from store.base.citations import Citation, parse
from store.base.clock import DAY_MS, how_long_ago, to_ms
from store.base.errors import MemorandaError
from store.base.models import Fact, Turn, as_json
from store.database.database import Database
from store.database.erasure.purged_words import tells
from store.database.values import Json, Verbatim
from store.history.change_summary import TABLES
from store.history.compression import every_row
from store.records.ageing import state
from store.search import lookup as records
from store.search.pipeline import Search
from store.search.results import Hit
from store.search.signals.fts import FullTextIndex, QueryTerms
from store.text.similarity.contradiction import contrary
from store.text.similarity.question_similarity import deterministic, may_be_same, normal, words
from store.text.vocabulary import stop_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = 500  # answers
FOUND = 20  # hits of the search that an answer rests on
ALIKE = 0.75  # calibrated similarity of two questions that mean the same
LOOKED, GIVEN = "answers.looked", "answers.given"
COLUMNS = "id, question, answer, citations, seq, basis, found, fingerprint, vector, at"


@dataclass(frozen=True, slots=True)
class Answer:
    """A cached answer: `question` is the one it was given to, `at` its timestamp, `citations` the records it rests on.
    `note` must be shown with it; it is empty where exactly the same question was asked."""

    question: str
    answer: str
    citations: tuple[str, ...]
    at: str
    note: str


class Answers:
    """The cached answers of one memory."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def keep(
        self, question: str, answer: str, citations: Sequence[str], *, seq: int | None = None, by: str = ""
    ) -> bool:
        """Cache an answer if it qualifies; return whether it was cached. `seq` is the newest step of history when its
        records were read (default: the newest step now): an answer whose records were written later is not cached. `by`
        names the model.

        Takes some 50 ms where a model computes the question's vector: call it on a worker thread.
        """
        if self._database.read_only or not answer.strip() or not deterministic(question):
            return False
        if tells(self._database, question):  # its words were purged
            return False
        cited = _parsed(citations)
        newest = self._newest()
        since = newest if seq is None else seq
        basis = self._basis(cited, by)
        found = self._found(question, answer)
        if basis is None or found is None or self._touched([*cited, *map(_cited, found)], since):
            return False
        vector = self._search.meaning.as_stored(question) if self._search.meaning else None
        with self._database.write("agent", "answer") as write:
            write.execute("DELETE FROM answers_cache WHERE normal = ?", (normal(question),))
            write.insert(
                "answers_cache",
                normal=normal(question),
                question=question,
                answer=answer,
                citations=Json([str(one) for one in cited]),
                seq=since,
                basis=Verbatim(basis),
                found=Json([hit.key for hit in found]),
                fingerprint=Verbatim(vector[0].fingerprint if vector else ""),
                vector=vector[1].astype("<f4").tobytes() if vector else None,
                at=Verbatim(write.at),
            )
            write.execute(
                "DELETE FROM answers_cache WHERE id NOT IN"
                " (SELECT id FROM answers_cache ORDER BY at DESC, id DESC LIMIT ?)",
                (KEPT,),
            )
        return True

    def lookup(
        self, question: str, *, by: str = "", fits: Callable[[str, str], bool] = lambda question, answer: True
    ) -> Answer | None:
        """Return the valid answer that the model `by` gave to this question or to one with the same meaning, else None.
        `fits(question, answer)` may reject a candidate. Takes some 30 ms where any answer is cached. Delete the invalid
        entries it met, and count the lookup."""
        if not deterministic(question):
            return None
        given, invalid = self._look(question, by, fits)
        if not self._database.read_only and not self._database.moment:
            with self._database.write("agent", "answers") as write:
                write.execute(
                    "DELETE FROM answers_cache WHERE id IN (SELECT value FROM json_each(?))",
                    (Verbatim(json.dumps(invalid)),),
                )
                for name in (LOOKED, *((GIVEN,) if given else ())):
                    write.execute(
                        "INSERT INTO meta(key, value) VALUES (?, '1') ON CONFLICT(key) DO UPDATE SET value = value + 1",
                        (Verbatim(name),),
                    )
        return given

    def figures(self) -> tuple[int, int, int]:
        """Return (number of lookups, number of them answered, number of answers cached)."""
        looked, given = (
            int(self._database.value("SELECT value FROM meta WHERE key = ?", (name,)) or 0) for name in (LOOKED, GIVEN)
        )
        return looked, given, int(self._database.value("SELECT count(*) FROM answers_cache"))

    def empty(self) -> int:
        """Delete all cached answers; return how many there were."""
        with self._database.write("user", "answers") as write:
            write.execute("DELETE FROM answers_cache")
            deleted: int = self._database.connection.changes()
            return deleted

    # look up

    def _look(self, question: str, by: str, fits: Callable[[str, str], bool]) -> tuple[Answer | None, list[int]]:
        """Return (the valid answer or None, the ids of the entries found invalid)."""
        invalid: list[int] = []
        row = self._database.row(f"SELECT {COLUMNS} FROM answers_cache WHERE normal = ?", (normal(question),))
        if row is not None:
            if self._waiting():
                return None, []
            if not self._holds(row, self._found(row[1], row[2]), by):
                invalid.append(row[0])
            elif fits(row[1], row[2]):
                return _answer(row, ""), []
        if not self._database.value("SELECT 1 FROM answers_cache WHERE vector IS NOT NULL LIMIT 1"):
            return None, invalid
        return self._alike(question, invalid, by, fits)

    def _alike(
        self, question: str, invalid: list[int], by: str, fits: Callable[[str, str], bool]
    ) -> tuple[Answer | None, list[int]]:
        """Return (the answer to the nearest question with the same meaning or None, the ids of invalid entries)."""
        look = self._search.meaning.look(question) if self._search.meaning else None
        vector = look.vector() if look else None
        if look is None or vector is None or self._waiting():
            return None, invalid
        import numpy as np

        near = []
        for row in self._database.rows(
            f"SELECT {COLUMNS} FROM answers_cache WHERE fingerprint = ?", (look.fingerprint,)
        ):
            other = np.frombuffer(row[8], "<f4")
            if row[0] not in invalid and other.shape == vector.shape:
                near.append((look.calibrated(float(other @ vector)), row))
        for similarity, row in sorted(near, key=lambda pair: -pair[0]):
            if similarity < ALIKE:
                break
            if not may_be_same(question, row[1]) or contrary(question, row[1]) or not fits(row[1], row[2]):
                continue
            found = self._found(question, row[2])
            if not self._holds(row, self._found(row[1], row[2]), by):
                invalid.append(row[0])
            elif self._same_matter(question, row, found):
                since = how_long_ago(self._database.clock(), row[9])
                return _answer(
                    row, f"[Recovered from an earlier answer, {since}, to “{' '.join(row[1].split())}”]"
                ), invalid
        return None, invalid

    def _same_matter(self, question: str, row: "tuple[Any, ...]", found: "list[Hit] | None") -> bool:
        """Return whether a search for this question has the same first hit as the cached one (`row`), and every word of
        the question that the memory contains occurs in the cached question, its answer or that hit."""
        before = json.loads(row[6])
        if not found or not before or found[0].key != before[0]:
            return False
        keywords = FullTextIndex(self._database)
        covered = keywords.stems(f"{row[1]}\n{row[2]}\n{found[0].snippet}")
        own = [word for word in words(question) if word not in stop_words("search") and word.isalpha()]
        uncovered = [word for word in own if not keywords.stems(word) <= covered]
        known = keywords.counts(QueryTerms(uncovered, None, {}))
        return not any(known.values())

    def _holds(self, row: "tuple[Any, ...]", found: "list[Hit] | None", by: str) -> bool:
        """Return whether everything that a cached answer rests on is unchanged."""
        _, _, _, citations, seq, basis, before, _, _, at = row
        age = to_ms(self._database.clock()) - to_ms(at)
        cited = _parsed(json.loads(citations))
        return (
            0 <= age < DAY_MS
            and found is not None
            and {hit.key for hit in found} <= set(json.loads(before))
            and not self._touched([*cited, *map(_cited, found)], seq)
            and self._basis(cited, by) == basis
        )

    # what an answer rests on

    def _newest(self) -> int:
        return self._database.value("SELECT max(seq) FROM history") or 0

    def _found(self, question: str, answer: str) -> "list[Hit] | None":
        """Return the search hits for the question, without the turns in which it was asked and answered; None if the
        vectors could not be searched although they exist."""
        found = self._search(" ".join(question.replace(":", " ").split()), FOUND)
        if self._search.meaning and self._search.meaning.serves and "meaning" not in found.signals:
            return None
        own = {normal(question), normal(answer)}
        return [hit for hit in found.hits if not isinstance(hit.record, Turn) or normal(hit.record.text) not in own]

    def _waiting(self) -> bool:
        """Return whether a text waits for its vector, so that similarity is not known."""
        serves = self._search.meaning is not None and self._search.meaning.serves
        return serves and bool(
            self._database.value("SELECT 1 FROM embedding_queue q JOIN passages p ON p.id = q.id LIMIT 1")
        )

    def _touched(self, cited: Iterable[Citation], seq: int) -> bool:
        """Return whether a step of history after `seq` wrote one of these records, or muted one."""
        keys = []
        for one in cited:
            if (table := TABLES.get(one.kind)) and isinstance(one.target, int):
                keys.append([table, f"[{one.target}]"])
            if one.kind == "fact":
                keys.append(["mutes", f"[{one.target}]"])
        if not keys or self._newest() <= seq:
            return False
        rows = self._database.rows(
            f"SELECT 1 FROM {every_row(self._database)} AS r WHERE r.seq > ? AND EXISTS"
            " (SELECT 1 FROM json_each(?) AS j WHERE j.value ->> 0 = r.tbl AND j.value ->> 1 = r.pk) LIMIT 1",
            (seq, json.dumps(keys)),
        )
        return bool(rows)

    def _basis(self, cited: Sequence[Citation], by: str) -> str | None:
        """Return a digest of these records, of the ageing state of the facts among them, and of `by`; None if one is
        missing."""
        now = self._database.clock()
        basis: list[object] = [by] if by else []
        for one in cited:
            try:
                record = records.lookup(self._database, one)
            except MemorandaError:
                return None
            basis.append(as_json(record))
            if isinstance(record, Fact):
                basis.append({"state": state(now, record.last_confirmed_at, record.confidence, record.pinned)})
        return sha256(json.dumps(basis, ensure_ascii=False, default=str).encode("utf-8", "replace")).hexdigest()


def _parsed(citations: Iterable[str]) -> list[Citation]:
    return list(dict.fromkeys(parse(text) for text in citations))


def _cited(hit: "Hit") -> Citation:
    return parse(hit.citation)


def _answer(row: "tuple[Any, ...]", note: str) -> Answer:
    return Answer(row[1], row[2], tuple(json.loads(row[3])), row[9], note)
