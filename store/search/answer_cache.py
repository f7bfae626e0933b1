"""Cache of the Librarian's answers, for questions that the records alone decide; an entry lives one day at most.

An entry is used only while everything it rests on is unchanged: the records it cites (no later step of history touched
them, and their text is the same), the results of a search for its question (no new hit), and the model that gave it.
While a text waits for its vector, similarity is not known and no entry is used. A purge empties the cache.

A question with the same meaning is answered too: from a calibrated similarity of SAME_QUESTION_SIMILARITY, if
`question_similarity` and `contradiction` find no difference between the two. Such an answer carries a note, written
here and never by a model, that names the original question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from store.base.citations import Citation, parse_citation
from store.base.clock import DAY_MS, format_how_long_ago, to_ms
from store.base.errors import MemorandaError
from store.base.models import Fact, Turn, as_json
from store.database.database import Database
from store.database.tombstones import has_purged_text
from store.database.values import Json, Verbatim
from store.history.compression import every_row_view
from store.history.history import TABLE_OF_KIND
from store.records.facts import fact_age_state
from store.search.fulltext import FullTextIndex, QueryTerms
from store.search.lookup import get_record
from store.search.pipeline import Search
from store.search.results import Hit
from store.text.similarity import (
    is_contrary_question,
    is_deterministic,
    may_be_same_question,
    normalize_question,
    split_question,
)
from store.text.words import load_stop_words

MAX_CACHED_ANSWERS = 500  # answers
# hits of the search that an answer rests on
COMPARED_HITS = 20
# calibrated similarity of two questions that mean the same
SAME_QUESTION_SIMILARITY = 0.75
LOOKUPS_KEY, ANSWERED_KEY = "answers.looked", "answers.given"
CACHE_COLUMNS = "id, question, answer, citations, seq, basis, found, fingerprint, vector, at"


class CachedAnswer(NamedTuple):
    """A cached answer: `question` is the one it was given to, `at` its timestamp, `citations` the records it rests on.
    `note` must be shown with it; it is empty where exactly the same question was asked."""

    question: str
    answer: str
    citations: tuple[str, ...]
    at: str
    note: str


class AnswerCache:
    """The cached answers of one memory."""

    def __init__(self, database: Database, search: Search) -> None:
        self._database = database
        self._search = search

    def store_answer(
        self, question: str, answer: str, citations: Sequence[str], *, seq: int | None = None, by: str = ""
    ) -> bool:
        """Cache an answer if it qualifies; return whether it was cached. `seq` is the newest step of history when its
        records were read (default: the newest step now): an answer whose records were written later is not cached. `by`
        names the model.

        Takes some 50 ms where a model computes the question's vector: call it on a worker thread.
        """
        if self._database.read_only or not answer.strip() or not is_deterministic(question):
            return False
        # its words were purged
        if has_purged_text(self._database, question):
            return False
        cited = _parse_citations(citations)
        newest = self._database.newest_step()
        since = newest if seq is None else seq
        basis = self._digest_basis(cited, by)
        found = self._search_hits(question, answer)
        if basis is None or found is None or self._has_changed([*cited, *map(_citation_of_hit, found)], since):
            return False
        vector = self._search.meaning.embed_as_passage(question) if self._search.meaning else None
        with self._database.write("agent", "answer") as write:
            write.execute("DELETE FROM answers_cache WHERE normal = ?", (normalize_question(question),))
            write.insert(
                "answers_cache",
                normal=normalize_question(question),
                question=question,
                answer=answer,
                citations=Json([str(one) for one in cited]),
                seq=since,
                basis=Verbatim(basis),
                found=Json([hit.key for hit in found]),
                fingerprint=Verbatim(vector[0].fingerprint if vector else ""),
                vector=vector[1].astype("<f4").tobytes() if vector else None,
                at=write.at,
            )
            write.execute(
                "DELETE FROM answers_cache WHERE id NOT IN"
                " (SELECT id FROM answers_cache ORDER BY at DESC, id DESC LIMIT ?)",
                (MAX_CACHED_ANSWERS,),
            )
        return True

    def find_answer(self, question: str, *, by: str = "") -> CachedAnswer | None:
        """Return the valid answer that the model `by` gave to this question or to one with the same meaning, else None.
        Takes some 30 ms where any answer is cached. Delete the invalid entries it met, and count the lookup."""
        if not is_deterministic(question):
            return None
        given, invalid = self._find_cached(question, by)
        if not self._database.read_only and not self._database.moment:
            with self._database.write("agent", "answers") as write:
                write.execute(
                    "DELETE FROM answers_cache WHERE id IN (SELECT value FROM json_each(?))",
                    (Verbatim(json.dumps(invalid)),),
                )
                for name in (LOOKUPS_KEY, *((ANSWERED_KEY,) if given else ())):
                    write.add_to_count(name)
        return given

    def usage_counts(self) -> tuple[int, int, int]:
        """Return (number of lookups, number of them answered, number of answers cached)."""
        looked, given = (self._database.get_count(name) for name in (LOOKUPS_KEY, ANSWERED_KEY))
        return looked, given, self._database.number("SELECT count(*) FROM answers_cache")

    # look up

    def _find_cached(self, question: str, by: str) -> tuple[CachedAnswer | None, list[int]]:
        """Return (the valid answer or None, the ids of the entries found invalid)."""
        invalid: list[int] = []
        row = self._database.row(
            f"SELECT {CACHE_COLUMNS} FROM answers_cache WHERE normal = ?", (normalize_question(question),)
        )
        if row is not None:
            if self._has_pending_vectors():
                return None, []
            if self._is_still_valid(row, by):
                return _answer_from_row(row, ""), []
            invalid.append(row[0])
        if not self._database.value("SELECT 1 FROM answers_cache WHERE vector IS NOT NULL LIMIT 1"):
            return None, invalid
        return self._find_similar(question, invalid, by)

    def _find_similar(self, question: str, invalid: list[int], by: str) -> tuple[CachedAnswer | None, list[int]]:
        """Return (the answer to the nearest question with the same meaning or None, the ids of invalid entries)."""
        look = self._search.meaning.start_query(question) if self._search.meaning else None
        vector = look.wait_for_vector() if look else None
        if look is None or vector is None or self._has_pending_vectors():
            return None, invalid
        import numpy as np

        near = []
        for row in self._database.rows(
            f"SELECT {CACHE_COLUMNS} FROM answers_cache WHERE fingerprint = ?", (look.fingerprint,)
        ):
            other = np.frombuffer(row[8], "<f4")
            if row[0] not in invalid and other.shape == vector.shape:
                near.append((look.similarity_of(float(other @ vector)), row))
        for similarity, row in sorted(near, key=lambda pair: -pair[0]):
            if similarity < SAME_QUESTION_SIMILARITY:
                break
            if not may_be_same_question(question, row[1]) or is_contrary_question(question, row[1]):
                continue
            found = self._search_hits(question, row[2])
            if not self._is_still_valid(row, by):
                invalid.append(row[0])
            elif self._is_same_subject(question, row, found):
                since = format_how_long_ago(self._database.clock(), row[9])
                return _answer_from_row(
                    row, f"[Recovered from an earlier answer, {since}, to “{' '.join(row[1].split())}”]"
                ), invalid
        return None, invalid

    def _is_same_subject(self, question: str, row: tuple[Any, ...], found: list[Hit] | None) -> bool:
        """Return whether a search for this question has the same first hit as the cached one (`row`), and every word of
        the question that the memory contains occurs in the cached question, its answer or that hit."""
        before = json.loads(row[6])
        if not found or not before or found[0].key != before[0]:
            return False
        keywords = FullTextIndex(self._database)
        covered = keywords.stems(f"{row[1]}\n{row[2]}\n{found[0].snippet}")
        own = [
            word for word in split_question(question) if word not in load_stop_words("search") and word.isalpha()
        ]
        uncovered = [word for word in own if not keywords.stems(word) <= covered]
        known = keywords.passage_counts(QueryTerms(uncovered))
        return not any(known.values())

    def _is_still_valid(self, row: tuple[Any, ...], by: str) -> bool:
        """Return whether everything that a cached answer rests on is unchanged."""
        _, question, written, citations, seq, basis, before, _, _, at = row
        found = self._search_hits(question, written)
        age = to_ms(self._database.clock()) - to_ms(at)
        cited = _parse_citations(json.loads(citations))
        return (
            0 <= age < DAY_MS
            and found is not None
            and {hit.key for hit in found} <= set(json.loads(before))
            and not self._has_changed([*cited, *map(_citation_of_hit, found)], seq)
            and self._digest_basis(cited, by) == basis
        )

    # what an answer rests on

    def _search_hits(self, question: str, answer: str) -> list[Hit] | None:
        """Return the search hits for the question, without the turns in which it was asked and answered; None if the
        vectors could not be searched although they exist."""
        found = self._search(" ".join(question.replace(":", " ").split()), COMPARED_HITS)
        if self._search.meaning and self._search.meaning.has_vectors and "meaning" not in found.signals:
            return None
        own = {normalize_question(question), normalize_question(answer)}
        return [
            hit
            for hit in found.hits
            if not isinstance(hit.record, Turn) or normalize_question(hit.record.text) not in own
        ]

    def _has_pending_vectors(self) -> bool:
        """Return whether a text waits for its vector, so that similarity is not known."""
        serves = self._search.meaning is not None and self._search.meaning.has_vectors
        return serves and bool(
            self._database.value("SELECT 1 FROM embedding_queue q JOIN passages p ON p.id = q.id LIMIT 1")
        )

    def _has_changed(self, cited: Iterable[Citation], seq: int) -> bool:
        """Tell whether a step of history after `seq` changed or muted any of these records."""
        keys = []
        for one in cited:
            if (table := TABLE_OF_KIND.get(one.kind)) and isinstance(one.target, int):
                keys.append([table, f"[{one.target}]"])
            if one.kind == "fact":
                keys.append(["mutes", f"[{one.target}]"])
        if not keys or self._database.newest_step() <= seq:
            return False
        rows = self._database.rows(
            f"SELECT 1 FROM {every_row_view(self._database)} AS r WHERE r.seq > ? AND EXISTS"
            " (SELECT 1 FROM json_each(?) AS j WHERE j.value ->> 0 = r.tbl AND j.value ->> 1 = r.pk) LIMIT 1",
            (seq, json.dumps(keys)),
        )
        return bool(rows)

    def _digest_basis(self, cited: Sequence[Citation], by: str) -> str | None:
        """Return a digest of these records, of the ageing state of the facts among them, and of `by`; None if one is
        missing."""
        now = self._database.clock()
        basis: list[object] = [by] if by else []
        for one in cited:
            try:
                record = get_record(self._database, one)
            except MemorandaError:
                return None
            basis.append(as_json(record))
            if isinstance(record, Fact):
                basis.append({"state": fact_age_state(now, record)})
        return sha256(json.dumps(basis, ensure_ascii=False, default=str).encode("utf-8", "replace")).hexdigest()


def _parse_citations(citations: Iterable[str]) -> list[Citation]:
    """Parse citations, each once."""
    return list(dict.fromkeys(parse_citation(text) for text in citations))


def _citation_of_hit(hit: Hit) -> Citation:
    """Return the citation of a search hit, parsed."""
    return parse_citation(hit.citation)


def _answer_from_row(row: tuple[Any, ...], note: str) -> CachedAnswer:
    """Build a cached answer from its row of CACHE_COLUMNS and the note that is shown with it."""
    return CachedAnswer(row[1], row[2], tuple(json.loads(row[3])), row[9], note)
