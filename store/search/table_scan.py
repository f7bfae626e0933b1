"""Keyword search without the index: reads every passage, with the same words and the same scores.

Used where the index is damaged or SQLite has no FTS5. Slower (some 3 s at 100,000 passages), with the same results: the
tests of the search run on it too.
"""

import unicodedata
from collections import Counter
from itertools import compress
from typing import Any, NamedTuple

import apsw

from store.base.record_keys import ROW
from store.search.query.filters import GONE, Filters
from store.search.signals.fts import (
    BEGINNING,
    COMMON_FLOOR,
    COMMON_SHARE,
    DECISION,
    EXACT,
    LONGER,
    WEIGHTS,
    FullTextIndex,
    FullTextResult,
    QueryTerms,
    forms,
)
from store.search.signals.ranking import idf

K1, B = 1.2, 0.75  # parameters of bm25 in FTS5
_WEIGHTS = tuple(float(weight) for weight in WEIGHTS.split(","))
_LETTERS = 3  # a stem with more letters may end in one that the stemmer put there and the word does not have


class _Row(NamedTuple):
    """A passage that contains any of the words: the weighted frequency of each (`found`), its length in words (`size`),
    and its `tier`: 2 with the query word for word, 1 with all of its words, else 0."""

    key: int
    at: str
    status: str
    found: list[float]
    size: int
    tier: int


class TableScan(FullTextIndex):
    """Keyword search of one memory that reads all of its passages."""

    _documents: dict[str, int] | None = None  # stem → number of passages with it in the last search

    def counts(self, words: QueryTerms) -> dict[str, int]:
        known = self._documents or {}
        return {word: max((known.get(stem, 0) for stem in self.stems(word)), default=0) for word in words.kept}

    def total(self) -> int:
        count: int = self._database.value("SELECT count(*) FROM passages")
        return count

    def _uncommon(self, words: list[str], counts: dict[str, int]) -> list[str]:
        return words  # `find` counts them

    def _longer(self, word: str, counts: dict[str, int]) -> list[str]:
        start = min(self.stems(word), default="")
        if len(start) < BEGINNING:
            return []
        found = self._beginning(start, LONGER + 1)
        return [] if start in found else found[:LONGER]

    def _beginning(self, start: str, most: int) -> list[str]:
        rows = self._database.rows(
            "SELECT title || ' ' || text FROM corpus WHERE title LIKE ? OR text LIKE ?", (f"%{start}%",) * 2
        )
        return sorted({stem for (text,) in rows for stem in self.stems(text) if stem.startswith(start)})[:most]

    def kinds(self, words: QueryTerms, filters: Filters) -> dict[str, int]:
        return {}

    def find(self, words: QueryTerms, filters: Filters, limit: int) -> FullTextResult:
        if not words.kept:
            return super().find(words, filters, limit)
        phrases = {word: tuple(self._tokens(word)) for word in words.kept}
        begun = words.prefix or ""
        hints = {stem[:-1] if len(stem) > _LETTERS else stem for phrase in phrases.values() for stem in phrase}
        own = [[(tuple(self._tokens(form)), form == begun) for form in forms(word)] for word in words.own]
        sequence = tuple(self._tokens(" ".join(words.sequence)))
        forced = [tuple(self._tokens(phrase)) for phrase in words.phrases]
        where = " AND ".join([f"c.status IN ('{filters.status or 'active'}', {_listed(filters)})", *filters.clauses])
        if filters.code:
            where += " AND p.code"
        rows = self._database.rows(
            "SELECT p.id, c.at, c.status, c.title, substr(c.text, p.start + 1, p.end - p.start) AS t, c.context"
            " || identifiers(CAST(substr(c.text, p.start + 1, p.end - p.start) AS BLOB))"
            f" FROM passages p JOIN corpus c ON c.id = p.row WHERE {where}",
            filters.parameters,
        )
        held: list[_Row] = []
        documents: Counter[str] = Counter()
        for key, at, status, *texts in rows:
            if any(any(hint in folded for hint in hints) for folded in map(_folded, texts)):
                columns = [self._tokens(text) for text in texts]
                if not all(_frequency(phrase, False, columns[:2]) for phrase in forced):
                    continue
                found = [_frequency(phrase, word == begun, columns) for word, phrase in phrases.items()]
                if any(found):
                    said = columns if key & 15 == DECISION else columns[:2]  # a decision's context is its options
                    tier = int(all(any(_frequency(*form, said) for form in each) for each in own))
                    whole = words.ordered and _frequency(sequence, bool(begun), columns[:2])
                    tier += bool(tier and (whole or forced))
                    held.append(_Row(key, at, status, found, 1 + sum(map(len, columns)), tier))
                    documents.update(word for word, frequency in zip(phrases, found, strict=True) if frequency)
        self._documents = {stem: documents[word] for word, phrase in phrases.items() for stem in phrase}
        total = self.total()
        ceiling = max(COMMON_FLOOR, COMMON_SHARE * total)
        rare = [documents[word] <= ceiling for word in phrases]
        if any(rare):
            held = [row for row in held if any(compress(row.found, rare))]
        weights = [
            idf(total, documents[word]) if kept or not any(rare) else 0.0
            for word, kept in zip(phrases, rare, strict=True)
        ]
        mean = sum(row.size for row in held) / len(held) if held else 1.0
        scored = []
        gone, there = set[int](), set[int]()
        for row in held:
            if not (filters.status or filters.any) and row.status in GONE:
                gone.add(row.key & ROW)
                continue
            there.add(row.key & ROW)
            score = sum(
                weight * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * row.size / mean))
                for weight, frequency in zip(weights, row.found, strict=True)
            )
            scored.append((score, row.at, row.key))
        scored.sort(key=(lambda row: (row[1], row[2] & ROW, -row[2])) if words.single else None, reverse=True)
        best = {key: 0.0 if words.single else score for score, _, key in scored[:limit]}
        if words.single:
            return FullTextResult(best, len(there), len(gone))
        tiers = {row.key: row.tier for row in held if row.tier and row.key & ROW in there}
        exact = {key for _, _, key in [one for one in scored if one[2] in tiers][:EXACT]}
        best |= {key: score for score, _, key in scored if key in exact}
        verbatim = frozenset(key for key in exact if tiers[key] > 1)
        return FullTextResult(
            best, len(there), len(gone), verbatim, frozenset(exact), len({key & ROW for key in tiers})
        )

    def _tokens(self, text: str) -> list[str]:
        raw = text.encode("utf-8", "replace")
        tokens: Any = self.tokenizer(raw, apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return [stem for _, _, *stems in tokens for stem in stems]


def _listed(filters: Filters) -> str:
    """Return, as an SQL list, the statuses whose rows are read too: to be counted as left out, or to be returned."""
    if filters.any:
        return "'superseded', 'contradicted'"
    return "''" if filters.status else ", ".join(f"'{status}'" for status in GONE)


def _folded(text: str) -> str:
    """Return the text in lower case without accents, as the tokenizer sees it."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _frequency(phrase: tuple[str, ...], begun: bool, columns: list[list[str]]) -> float:
    """Return the weighted number of occurrences of a phrase in the columns; with `begun` its last word is a prefix."""
    length = len(phrase)
    if not length:
        return 0.0
    total = 0.0
    for weight, column in zip(_WEIGHTS, columns, strict=False):
        for place in range(len(column) - length + 1):
            part = column[place : place + length]
            last = part[-1].startswith(phrase[-1]) if begun else part[-1] == phrase[-1]
            if last and tuple(part[:-1]) == phrase[:-1]:
                total += weight
    return total
