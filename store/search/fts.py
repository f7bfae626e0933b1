"""Keywords: FTS5 over the corpus, words OR-ed and ranked by bm25.

Why so, as measured: requiring every word of a question finds nothing; stop words removed and words OR-ed find the
most; very common words cost most of the time and add nothing.
"""

import apsw

from store.database.database import Database
from store.search.filters import GONE, Filters
from store.search.query_parser import Query, implied
from store.text.vocabulary import stop_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
# title, text, context, status. FTS5's k1 is fixed at 1.2: weights twice as large are half of it, which finds more
WEIGHTS = "3.0, 2.0, 0.8, 0.0"
COMMON_SHARE = 0.1  # words in more than a tenth of the memory are left out (5 % loses ten points of recall)
COMMON_FLOOR = 1_000  # but in a small memory every word counts
MAX_WORDS = 32
MAX_TEXT = 8_000  # characters of one that is looked through for stems
POOL = 64  # hits ranked beyond those asked for, so that of equals the newest come first


class FullTextResult:
    """What the keywords found: `scores` (key → bm25, larger is better) best first, how many match in `total`, how many
    more that hold no longer in `left_out`."""

    __slots__ = ("left_out", "scores", "total")

    def __init__(self, scores: dict[int, float], total: int, left_out: int) -> None:
        self.scores = scores
        self.total = total
        self.left_out = left_out


class QueryTerms:
    """The words of one query that are looked for: `kept`, and of them the `prefix` that is still being typed; `counts`
    says of those that were counted in how many memories they stand."""

    __slots__ = ("counts", "kept", "prefix")

    def __init__(self, kept: list[str], prefix: str | None, counts: dict[str, int]) -> None:
        self.kept = kept
        self.prefix = prefix
        self.counts = counts

    @property
    def single(self) -> bool:
        """Whether only one letter has been typed so far."""
        return self.kept == [self.prefix] and len(self.kept[0]) == 1


class FullTextIndex:
    """The keyword index of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def tokenizer(self) -> apsw.FTS5Tokenizer:
        """The index's own: stems, letters without accents."""
        return self._database.connection.fts5_tokenizer(*TOKENIZER)

    def words(self, asked: Query) -> QueryTerms:
        """What of a query is looked for: without what says nothing, and without what a large part of the memory
        holds."""
        words = list(dict.fromkeys(asked.words))[:MAX_WORDS]
        last = words[-1] if words and asked.typing else None
        kept = [word for word in words if word == last or word.lower() not in stop_words("search")] or words
        counts: dict[str, int] = {}
        if len(kept) > 1:
            kept = self._uncommon(kept, counts) or kept
        kept = [*kept, *implied(asked.text)]
        return QueryTerms(kept, last, counts)

    def counts(self, words: QueryTerms) -> dict[str, int]:
        """In how many memories each of these words stands."""
        return {word: self._count(word, words.counts) for word in words.kept}

    def _count(self, word: str, counts: dict[str, int]) -> int:
        if word not in counts:
            stem = next(iter(self.stems(word)), None)
            count = self._database.value("SELECT doc FROM corpus_words WHERE term = ?", (stem,)) if stem else 0
            counts[word] = count or 0
        return counts[word]

    def total(self) -> int:
        """How many rows the index holds, as FTS5 itself keeps it: the first number of its record of averages, seven
        bits a byte, the high bit set while more follow. Counting a million rows takes 20 ms."""
        record = self._database.value("SELECT block FROM corpus_fts_data WHERE id = 1") or b""
        number = 0
        for byte in record[:8]:
            number = number << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return number

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text's words, as the index has them."""
        tokens: Any = self.tokenizer(text[:MAX_TEXT].encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None)
        return frozenset(stem for _, _, *stems in tokens for stem in stems)

    def _uncommon(self, words: list[str], counts: dict[str, int]) -> list[str]:
        """The words without those that a large part of the memory holds."""
        if max([self._count(word, counts) for word in words]) <= COMMON_FLOOR:
            return words
        ceiling = max(COMMON_FLOOR, COMMON_SHARE * self.total())
        return [word for word in words if counts[word] <= ceiling]

    def find(self, words: QueryTerms, filters: Filters, limit: int) -> FullTextResult:
        """The best `limit` of what holds any of the words; without words, the newest that pass the filters."""
        if not words.kept:
            return self._newest(filters, limit) if filters else FullTextResult({}, 0, 0)
        terms = _terms(words)
        parameters = {**filters.parameters, "limit": limit, "match": _expression(terms, filters)}
        where = " AND ".join(["corpus_fts MATCH :match", *filters.clauses])
        # the corpus is joined only for filters that need it: it costs a page for each row that matches
        join = " JOIN corpus c ON c.id = corpus_fts.rowid" if filters.dated else ""
        where = where if join else where.replace("c.id", "corpus_fts.rowid")
        counted = f"SELECT count(*) FROM corpus_fts{join} WHERE {where}"
        total = self._database.value(counted, parameters)
        gone = {**parameters, "match": f"{_words(terms)} AND status : ({' OR '.join(GONE)})"}
        left_out = 0 if filters.status or filters.any else self._database.value(counted, gone)
        if words.single:
            # one letter begins half of all words and says nothing about relevance: the newest, at half the cost
            latest = f"SELECT c.id, 0.0 FROM corpus_fts JOIN corpus c ON c.id = corpus_fts.rowid WHERE {where}"
            rows = self._database.rows(f"{latest} ORDER BY c.at DESC, c.id DESC LIMIT :limit", parameters)
            return FullTextResult(dict(rows), total, left_out)
        parameters["pool"] = limit + POOL
        rows = self._database.rows(
            f"SELECT c.id, -f.rank FROM (SELECT corpus_fts.rowid AS id, bm25(corpus_fts, {WEIGHTS}) AS rank"
            f" FROM corpus_fts{join} WHERE {where} ORDER BY 2 LIMIT :pool) AS f JOIN corpus c ON c.id = f.id"
            " ORDER BY f.rank, c.at DESC, c.id DESC LIMIT :limit",
            parameters,
        )
        return FullTextResult(dict(rows), total, left_out)

    def _newest(self, filters: Filters, limit: int) -> FullTextResult:
        """What passes the filters alone, newest first."""
        where = " AND ".join([filters.holding, *filters.clauses])
        parameters = {**filters.parameters, "limit": limit}
        total = self._database.value(f"SELECT count(*) FROM corpus c WHERE {where}", parameters)
        sql = f"SELECT c.id, 0.0 FROM corpus c WHERE {where} ORDER BY c.at DESC, c.id DESC LIMIT :limit"
        return FullTextResult(dict(self._database.rows(sql, parameters)), total, 0)


def _terms(words: QueryTerms) -> list[str]:
    """The words as FTS5 takes them; none holds a quote (each matched \\w+), so quoting makes it plain text."""
    return [f'"{word}"*' if word == words.prefix else f'"{word}"' for word in words.kept]


def _words(terms: list[str]) -> str:
    """The FTS5 query: any of the terms, in the texts."""
    return f"({{title text context}} : ({' OR '.join(terms)}))"


def _expression(terms: list[str], filters: Filters) -> str:
    """The FTS5 query: any of the terms, of records with the status that is asked for (none: of those that hold)."""
    if filters.status:
        return f"{_words(terms)} AND status : {filters.status}"
    return f"{_words(terms)} NOT status : ({'forgotten' if filters.any else ' OR '.join(GONE)})"
