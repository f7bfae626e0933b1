"""Keyword search: FTS5 over the passages, words joined by OR and ranked by bm25.

Measured: requiring every word of a question finds nothing; OR without stop words finds the most; very common words cost
most of the time and add nothing. Two narrower queries run besides: the passages that contain the question word for
word, and those that contain all of its words.
"""

from collections.abc import Iterable
from itertools import accumulate

import apsw

from store.base.record_keys import NUMBERS, ROW, kind_of
from store.database.database import Database
from store.search.query.filters import GONE, Filters
from store.search.query.query_parser import PHRASE, Query, implied
from store.text import identifiers, vocabulary
from store.text.folding import normalize
from store.text.vocabulary import stop_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
# title, text, context, status. FTS5 fixes k1 at 1.2; doubling the weights acts like halving k1, which finds more
WEIGHTS = "3.0, 2.0, 0.8, 0.0"
COMMON_SHARE = 0.1  # words in more than a tenth of all passages are left out (at 5 % recall falls by ten points)
COMMON_FLOOR = 1_000  # passages up to which no word is too common
READING = 100_000  # passages read for the words of one query, its rarest words first: some 100 ms
MAX_WORDS = 32
MAX_TEXT = 8_000  # characters of a text that are read for stems
POOL = 64  # passages read beyond `limit`, so that the newest of equal score come first
BEGINNING = 5  # least letters of an unknown word for which longer words with that beginning are searched too
LONGER = 4  # at most so many of them
BEGUN = 16  # at most so many longer words for one that is being typed, where its stem is shorter
DECISION = NUMBERS["decision"]
EXACT = 200  # passages with the question word for word, or with all its words
READ = 2_048  # such passages that are read before they are counted by the index
COUNTED = 4_096  # stems whose counts are kept until the index changes


class FullTextResult:
    """The result of the keyword search: `scores` (passage id → bm25, larger is better), best first; `total`, the number
    of matching records; `left_out`, the number of matching records no longer in force. `verbatim` are the passages with
    the whole question word for word, `whole` those with all its words, at most EXACT of each; `exact` is the number of
    their records."""

    __slots__ = ("exact", "left_out", "scores", "total", "verbatim", "whole")

    def __init__(
        self,
        scores: dict[int, float],
        total: int,
        left_out: int,
        verbatim: frozenset[int] = frozenset(),
        whole: frozenset[int] = frozenset(),
        exact: int = 0,
    ) -> None:
        self.scores = scores
        self.total = total
        self.left_out = left_out
        self.verbatim = verbatim
        self.whole = whole
        self.exact = exact


class QueryTerms:
    """The words of a query that are searched for: `kept`, and the `prefix` among them that is still being typed;
    `counts`, the number of passages with each word that was counted. `own` are the typed words, with those that say
    little only where they are inside of a name (`kept` also has parts of identifiers and implied words), `sequence` all
    that was typed, in order, `phrases` the quoted phrases, `literal` what is searched for as it stands (see
    `literal`)."""

    __slots__ = ("counts", "kept", "literal", "own", "phrases", "prefix", "sequence")

    def __init__(
        self,
        kept: list[str],
        prefix: str | None,
        counts: dict[str, int],
        own: list[str] | None = None,
        sequence: list[str] | None = None,
        phrases: list[str] | None = None,
    ) -> None:
        self.kept = kept
        self.prefix = prefix
        self.counts = counts
        self.own = kept if own is None else own
        self.sequence = sequence or []
        self.phrases = phrases or []
        self.literal: list[str] = []

    @property
    def ordered(self) -> bool:
        """Whether the query can occur somewhere word for word: it has several words, or is an identifier from code."""
        return len(self.sequence) > 1 or any("_" in word or identifiers.parts(word) for word in self.sequence)

    @property
    def single(self) -> bool:
        """Whether only one letter has been typed so far."""
        return self.kept == [self.prefix] and len(self.kept[0]) == 1


class _Counted:
    """The numbers of passages by stem, for as long as the index is in one `state`."""

    __slots__ = ("by_stem", "state")

    def __init__(self) -> None:
        self.by_stem: dict[str, int] = {}
        self.state: list[tuple[bytes]] = []


class FullTextIndex:
    """The keyword index of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gone: list[
            str
        ] = []  # the words of GONE that occur at all: each costs time, though a young memory has none
        self._counted: _Counted = database.caches.setdefault("fts", _Counted())

    @property
    def tokenizer(self) -> apsw.FTS5Tokenizer:
        """The tokenizer of the index: stems, letters without accents."""
        return self._database.connection.fts5_tokenizer(*TOKENIZER)

    def words(self, asked: Query) -> QueryTerms:
        """Return the words of a query that are searched for: without stop words and without words that too many
        passages contain."""
        self._refresh()
        words = list(dict.fromkeys(asked.words))[:MAX_WORDS]
        telling = [word for word in words if word.lower() not in stop_words("search")]
        last = words[-1] if words and asked.typing and (words[-1] in telling or not telling) else None
        kept = telling or words
        counts: dict[str, int] = {}
        begun = last
        if last and self.stems(last) != {normalize(last)}:
            last = None  # a prefix of its stem would be another: cat* of cats
        names = identifiers.compounds(asked.text)
        inner = {word for name in names for word in name.split()}  # words that say little tell one address from another
        own = [word for word in words if word in telling or word in inner] or words
        present = vocabulary.words("questions", "present")
        kept = [word for word in kept if word.lower() not in present] or kept
        if len(kept) > 1:
            kept = self._uncommon(kept, counts)
        inside = [part for word in kept if "." not in word for part in identifiers.parts(word) if len(part) > 1]
        inside += [form for word in kept for form in forms(word)[1:]]
        longer = [term for word in kept if word != last for term in self._longer(word, counts)]
        longer += map(self._word, self._beginning(normalize(begun), BEGUN)) if begun and not last else []
        joined = [name for name in names if not asked.typing or not asked.text.endswith(name)]
        kept = list(dict.fromkeys([*kept, *inside, *joined, *longer, *implied(asked.text)]))
        return QueryTerms(kept, last, counts, own, asked.words[:PHRASE], asked.phrases)

    def _longer(self, word: str, counts: dict[str, int]) -> list[str]:
        """Return longer words of the index that begin with a word which no record contains: españolas for español."""
        start = min(self.stems(word), default="")
        if len(start) < BEGINNING or self._count(word, counts):
            return []
        return self._beginning(start, LONGER)

    def _beginning(self, start: str, most: int) -> list[str]:
        """Return the first `most` stems of the index that begin with these letters and are longer."""
        sql = "SELECT term FROM corpus_words WHERE term > ? AND term < ? LIMIT ?"
        return [term for (term,) in self._database.rows(sql, (start, f"{start}\U0010ffff", most))]

    def _word(self, stem: str) -> str:
        """Return a word with this stem: what is searched for is stemmed, and `warehous` would become `warehou`."""
        return next((word for word in (stem, f"{stem}e", f"{stem}s") if self.stems(word) == {stem}), stem)

    def counts(self, words: QueryTerms) -> dict[str, int]:
        """Return the number of passages that contain each of these words."""
        self._refresh()
        return {word: self._count(word, words.counts) for word in words.kept}

    def _count(self, word: str, counts: dict[str, int]) -> int:
        if word not in counts:
            counts[word] = min(map(self._passages, self.stems(word)), default=0)
        return counts[word]

    def _passages(self, stem: str) -> int:
        """Return the number of passages with a stem. It takes as long as the list of these is, and whoever types asks
        for the same words again at each letter."""
        known = self._counted.by_stem
        if stem not in known:
            number = int(self._database.value("SELECT doc FROM corpus_words WHERE term = ?", (stem,)) or 0)
            if len(known) >= COUNTED or not self._counted.state:
                return number
            known[stem] = number
        return known[stem]

    def _refresh(self) -> None:
        """Forget the counts if the index changed: FTS5 rewrites its records of averages and of structure at each
        write. Keep none while this connection writes: FTS5 has not written them yet."""
        state = self._database.rows("SELECT block FROM corpus_fts_data WHERE id IN (1, 10)")
        writing = self._database.connection.txn_state() == apsw.SQLITE_TXN_WRITE
        if writing or state != self._counted.state:
            self._counted.by_stem.clear()
            self._counted.state = [] if writing else state

    def total(self) -> int:
        """Return the number of passages in the index, from FTS5's own averages record: its first varint, seven bits a
        byte, the high bit set while more follow. Counting a million rows would take 20 ms."""
        record = self._database.value("SELECT block FROM corpus_fts_data WHERE id = 1") or b""
        number = 0
        for byte in record[:8]:
            number = number << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return number

    def stems(self, text: str) -> frozenset[str]:
        """Return the stems of a text's words, as the index has them; reads MAX_TEXT characters."""
        tokens: Any = self.tokenizer(text[:MAX_TEXT].encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None)
        return frozenset(stem for _, _, *stems in tokens for stem in stems)

    def _uncommon(self, words: list[str], counts: dict[str, int]) -> list[str]:
        """Return those of the words that are not in too many passages, or all if every one is; of these the rarest that
        are in READING passages together, and one at least."""
        rarest = sorted(words, key=lambda word: self._count(word, counts))
        ceiling = max(COMMON_FLOOR, COMMON_SHARE * self.total())
        rarest = [word for word in rarest if counts[word] <= ceiling] or rarest
        read = accumulate(counts[word] for word in rarest)
        kept = {word for word, passages in zip(rarest, read, strict=True) if passages <= READING} or {rarest[0]}
        return [word for word in words if word in kept]

    def find(self, words: QueryTerms, filters: Filters, limit: int) -> FullTextResult:
        """Return the best `limit` passages that contain any of the words; without words, the newest that pass the
        filters."""
        if not words.kept:
            return self._newest(filters, limit) if filters else FullTextResult({}, 0, 0)
        forced = [_quoted(phrase) for phrase in words.phrases]
        any_of = f"{{title text context}} : ({' OR '.join(_terms(words.kept, words.prefix))})"
        self._gone = [word for word in GONE if self._count(word, {})]
        left_out = 0
        if self._gone and not (filters.status or filters.any):
            left_out = self._count_of(any_of, forced, filters, f"({' OR '.join(self._gone)})")
        if words.single:
            # half of all words begin with the letter, so bm25 says nothing: return the newest, at half the cost
            sql, parameters = self._select("corpus_fts.rowid", any_of, forced, filters, filters.status, True)
            rows = self._database.rows(f"{sql} ORDER BY c.at DESC, c.id DESC, 1 LIMIT {limit}", parameters)
            total = self._count_of(any_of, forced, filters, filters.status)
            return FullTextResult({key: 0.0 for (key,) in rows}, total, left_out)
        sql, parameters = self._select(
            f"corpus_fts.rowid AS id, bm25(corpus_fts, {WEIGHTS}) AS rank", any_of, forced, filters, filters.status
        )
        # one pass: reading the list of every word again, to count, would take half as long as the first
        rows = self._database.rows(
            f"WITH found AS MATERIALIZED ({sql}) SELECT f.id, -f.rank, (SELECT count(DISTINCT id & {ROW}) FROM found)"
            f" FROM (SELECT id, rank FROM found ORDER BY 2 LIMIT {limit + POOL}) AS f"
            f" JOIN corpus c ON c.id = f.id & {ROW} ORDER BY f.rank, c.at DESC, c.id DESC LIMIT {limit}",
            parameters,
        )
        scores = {key: score for key, score, _ in rows}
        total = rows[0][2] if rows else 0
        all_of = f"{{title text}} : ({_all(words)})"
        whole, exact = self._exactly(all_of, forced, filters, scores)
        chosen = self._with_options(words, forced, filters, scores) - whole
        whole, exact = whole | chosen, exact + len(chosen)
        verbatim: frozenset[int] = frozenset()
        if whole and words.ordered:
            verbatim, _ = self._exactly(f"{{title text}} : {_phrase(words)}", forced, filters, scores)
        elif whole and forced:
            verbatim = whole
        return FullTextResult(scores, max(total, exact), left_out, verbatim, whole | verbatim, exact)

    def kinds(self, words: QueryTerms, filters: Filters) -> dict[str, int]:
        """Return how many records of each kind contain any of the words; without words, how many pass the filters."""
        if words.kept:
            any_of = f"{{title text context}} : ({' OR '.join(_terms(words.kept, words.prefix))})"
            self._gone = [word for word in GONE if self._count(word, {})]
            what = f"corpus_fts.rowid & 15, count(DISTINCT corpus_fts.rowid & {ROW})"
            sql, values = self._select(what, any_of, [_quoted(one) for one in words.phrases], filters, filters.status)
        else:
            where = " AND ".join([filters.holding, *filters.clauses])
            where += " AND c.id IN (SELECT row FROM passages WHERE code)" if filters.code else ""
            sql, values = f"SELECT c.id & 15, count(*) FROM corpus c WHERE {where}", dict(filters.parameters)
        return {kind_of(int(number)): count for number, count in self._database.rows(f"{sql} GROUP BY 1", values)}

    def _exactly(
        self, expression: str, forced: list[str], filters: Filters, scores: dict[int, float]
    ) -> tuple[frozenset[int], int]:
        """Return (the EXACT best passages that an expression matches, the number of their records), and add them to
        `scores`. Where `scores` has all of them, or they are half of it, bm25 is not computed: it would read the list
        of every word once more."""
        sql, parameters = self._select("corpus_fts.rowid", expression, forced, filters, filters.status)
        keys = [key for (key,) in self._database.rows(f"{sql} LIMIT {READ}", parameters)]
        records = len({key & ROW for key in keys})
        if len(keys) == READ:
            records = self._count_of(expression, forced, filters, filters.status)
            known = [
                key for (key,) in self._database.rows(f"{sql} AND +corpus_fts.rowid IN ({_list(scores)})", parameters)
            ]
        else:
            known = [key for key in keys if key in scores]
        if len(known) == len(keys) <= EXACT:
            return frozenset(keys), records
        if 2 * len(known) >= max(EXACT, len(scores)):
            return frozenset(sorted(known, key=lambda key: (-scores[key], -key))[:EXACT]), records
        sql, parameters = self._select(
            f"corpus_fts.rowid, -bm25(corpus_fts, {WEIGHTS})", expression, forced, filters, filters.status
        )
        rows = self._database.rows(f"{sql} ORDER BY 2 DESC LIMIT {EXACT}", parameters)
        for key, score in rows:
            scores.setdefault(key, score)
        return frozenset(key for key, _ in rows), records

    def _with_options(
        self, words: QueryTerms, forced: list[str], filters: Filters, scores: dict[int, float]
    ) -> frozenset[int]:
        """Return those of the passages in `scores` that are of decisions and have all the words, some perhaps in the
        options that were not taken, which are a decision's context."""
        if not any(key & 15 == DECISION for key in scores):
            return frozenset()
        every = f"{{title text context}} : ({_all(words)})"
        sql, parameters = self._select("corpus_fts.rowid", every, forced, filters, filters.status)
        rows = self._database.rows(f"{sql} AND corpus_fts.rowid & 15 = {DECISION} LIMIT {EXACT}", parameters)
        return frozenset(key for (key,) in rows if key in scores)

    def _count_of(self, expression: str, forced: list[str], filters: Filters, status: str) -> int:
        """Return the number of records that an expression matches."""
        sql, parameters = self._select(f"count(DISTINCT corpus_fts.rowid & {ROW})", expression, forced, filters, status)
        count: int = self._database.value(sql, parameters)
        return count

    def _select(
        self, what: str, expression: str, forced: list[str], filters: Filters, status: str, joined: bool = False
    ) -> tuple[str, dict[str, object]]:
        """Return (SQL, its parameters) for the passages that match, contain all `forced` phrases, and pass the
        filters."""
        # join the corpus only for filters that need it: each matching passage costs a page
        join = f" JOIN corpus c ON c.id = corpus_fts.rowid & {ROW}" if filters.dated or joined else ""
        parts = [f"({expression})", *(f"({{title text}} : {phrase})" for phrase in forced)]
        parts += ["status : code"] if filters.code else []
        parts += [f"status : {status}"] if status else []
        gone = [word for word in self._gone if word == "forgotten" or not filters.any]
        match = " AND ".join(parts) + (f" NOT status : ({' OR '.join(gone)})" if gone and not status else "")
        where = " AND ".join(["corpus_fts MATCH :match", *filters.clauses])
        where = where if join else where.replace("c.id", f"(corpus_fts.rowid & {ROW})")
        return f"SELECT {what} FROM corpus_fts{join} WHERE {where}", {**filters.parameters, "match": match}

    def _newest(self, filters: Filters, limit: int) -> FullTextResult:
        """Return what passes the filters, newest first, each by its first passage, or its first of code."""
        first = "(SELECT min(p.id) FROM passages p WHERE p.row = c.id AND p.code)" if filters.code else "c.id"
        clauses = [*filters.clauses, *(["c.id IN (SELECT row FROM passages WHERE code)"] if filters.code else [])]
        where = " AND ".join(["1", *clauses])
        gone = "0" if filters.status or filters.any else f"c.status IN {GONE}"
        parameters = {**filters.parameters, "limit": limit}
        counts = f"count(*) FILTER (WHERE {filters.holding}), count(*) FILTER (WHERE {gone})"
        total, left_out = self._database.row(f"SELECT {counts} FROM corpus c WHERE {where}", parameters) or (0, 0)
        found = f"FROM corpus c WHERE {filters.holding} AND {where} ORDER BY {filters.at} DESC, c.id DESC LIMIT :limit"
        return FullTextResult(dict(self._database.rows(f"SELECT {first}, 0.0 {found}", parameters)), total, left_out)


def forms(word: str) -> list[str]:
    """Return a word as it is typed, and a version also with or without its `v`: 1.2 and v1.2."""
    return [word, word[1:] if word[0] in "vV" else f"v{word}"] if "." in word else [word]


def _list(keys: Iterable[int]) -> str:
    return ", ".join(map(str, keys))


def _terms(words: list[str], prefix: str | None) -> list[str]:
    """Return the words in FTS5's syntax: quoted, which is enough as no word contains a quotation mark."""
    return [f'"{word}"*' if word == prefix else f'"{word}"' for word in words]


def _all(words: QueryTerms) -> str:
    """Return the expression for all typed words, each in any of its forms."""
    every = [_terms([word, *forms(word)[1:]], words.prefix) for word in words.own]
    return " AND ".join(f"({' OR '.join(terms)})" if len(terms) > 1 else terms[0] for terms in every)


def _phrase(words: QueryTerms) -> str:
    """Return all that was typed as one FTS5 phrase."""
    return f'"{" ".join(words.sequence)}"' + ("*" if words.prefix else "")


def _quoted(phrase: str) -> str:
    return f'"{phrase}"'
