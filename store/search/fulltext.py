"""Keyword search: FTS5 over the passages, words joined by OR and ranked by bm25.

Measured: requiring every word of a question finds nothing; OR without stop words finds the most; very common words cost
most of the time and add nothing. Two narrower queries run besides: the passages that contain the question word for
word, and those that contain all of its words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import apsw

from store.base.vocabulary import KIND_NUMBERS, RECORD_KEY_MASK, kind_of_key
from store.database.database import Database
from store.database.values import read_varint
from store.search.query_parser import (
    INACTIVE_STATUSES,
    MAX_PHRASE_WORDS,
    CorpusFilters,
    ParsedQuery,
    implied_words,
)
from store.search.ranking import compute_idf
from store.text.words import load_stop_words, load_words, normalize_text, split_compounds, split_identifier

# The corpus table: one row for each searchable record. Triggers of the schema maintain it; `rebuild_text_index` makes
# it anew.

SELECT_PASSAGES = (
    "SELECT c.id | (j.key << 40), c.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3"
    " FROM corpus c, json_each(passages_of(CAST(c.text AS BLOB))) j"
)
"""SQL for the passages of every row, as the schema's triggers make them."""


def rebuild_text_index(database: Database) -> int:
    """Delete corpus and index and make them again from the records; return the number of rows.

    The corpus's triggers are dropped meanwhile: they would delete old rows one by one from the old index, which a
    damaged index refuses.
    """
    with database.write("agent", "index") as write:
        triggers = list(
            write.rows(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'corpus' ORDER BY name"
            )
        )
        for name, _ in triggers:
            write.execute(f"DROP TRIGGER {name}")
        write.execute("DELETE FROM corpus")
        for kind in KIND_NUMBERS:
            write.execute(f"INSERT INTO corpus SELECT * FROM corpus_{kind}")
        write.execute("DELETE FROM passages")
        write.execute(f"INSERT INTO passages {SELECT_PASSAGES}")
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('rebuild')")
        for _, sql in triggers:
            write.execute(sql)
        count: int = write.first("SELECT count(*) FROM corpus")
        return count


def check_text_index(database: Database) -> int:
    """Run FTS5's integrity check of the index against the corpus; return the number of rows. Raise ForeignFile if they
    disagree."""
    with database.write("agent", "check") as write:
        write.discard()
        write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('integrity-check', 1)")
        count: int = write.first("SELECT count(*) FROM corpus")
        return count


# names of tables
STORED_INDEX, TEMPORARY_INDEX = "corpus", "temporary"
FTS_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
# title, text, context, status. FTS5 fixes k1 at 1.2; doubling the weights acts like halving k1, which finds more
BM25_WEIGHTS = "3.0, 2.0, 0.8, 0.0"
# words in more than a tenth of all passages are left out (at 5 % recall falls by ten points)
COMMON_WORD_SHARE = 0.1
# passages up to which no word is too common
COMMON_WORD_FLOOR = 1_000
# passages read for the words of one query, its rarest words first: some 100 ms
MAX_PASSAGES_READ = 100_000
MAX_QUERY_WORDS = 32
# characters of a text that are read for stems
MAX_STEMMED_TEXT = 8_000
# passages read beyond `limit`, so that the newest of equal score come first
EXTRA_PASSAGES = 64
# least letters of an unknown word for which longer words with that beginning are searched too
MIN_PREFIX_LETTERS = 5
# at most so many of them
MAX_LONGER_WORDS = 4
# at most so many longer words for one that is being typed, where its stem is shorter
MAX_TYPED_WORDS = 16
DECISION_NUMBER = KIND_NUMBERS["decision"]
# passages with the question word for word, or with all its words
MAX_EXACT_PASSAGES = 200
# such passages that are read before they are counted by the index
MAX_READ_TO_COUNT = 2_048
# stems whose counts are kept until the index changes
MAX_CACHED_COUNTS = 4_096


@dataclass(slots=True, eq=False, repr=False)
class FullTextResult:
    """The result of the keyword search: `scores` (passage id → bm25, larger is better), best first; `total`, the number
    of matching records; `left_out`, the number of matching records no longer in force. `verbatim` are the passages with
    the whole question word for word, `whole` those with all its words, at most MAX_EXACT_PASSAGES of each; `exact` is
    the number of their records."""

    scores: dict[int, float]
    total: int
    left_out: int
    verbatim: frozenset[int] = frozenset()
    whole: frozenset[int] = frozenset()
    exact: int = 0


@dataclass(slots=True, eq=False, repr=False)
class QueryTerms:
    """The words of a query that are searched for: `kept`, and the `prefix` among them that is still being typed;
    `counts`, the number of passages with each word that was counted. `own` are the typed words, with those that say
    little only where they are inside of a name (`kept` also has parts of identifiers and implied words), `sequence` all
    that was typed, in order, `phrases` the quoted phrases, `literal` what is searched for as it stands (see
    `literal`)."""

    kept: list[str]
    prefix: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    own: list[str] = field(default_factory=list)
    sequence: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    literal: list[str] = field(init=False, default_factory=list)

    @property
    def can_be_phrase(self) -> bool:
        """Whether the query can occur somewhere word for word: it has several words, or is an identifier from code."""
        return len(self.sequence) > 1 or any("_" in word or split_identifier(word) for word in self.sequence)

    @property
    def is_single_letter(self) -> bool:
        """Whether only one letter has been typed so far."""
        return self.kept == [self.prefix] and len(self.kept[0]) == 1


@dataclass(slots=True, eq=False, repr=False)
class _StemCounts:
    """The numbers of passages by stem, for as long as the index is in one `state`."""

    by_stem: dict[str, int] = field(init=False, default_factory=dict)
    state: list[tuple[bytes]] = field(init=False, default_factory=list)


class FullTextIndex:
    """The keyword index of one memory; `name` is that of its tables."""

    def __init__(self, database: Database, name: str = STORED_INDEX) -> None:
        self._database = database
        self.table, self.word_table = f"{name}_fts", f"{name}_words"
        # the words of INACTIVE_STATUSES that occur at all: each costs time, though a young memory has none
        self._gone: list[str] = []
        self._counted: _StemCounts = database.caches.setdefault(self.table, _StemCounts())

    @property
    def tokenizer(self) -> apsw.FTS5Tokenizer:
        """The tokenizer of the index: stems, letters without accents."""
        return self._database.connection.fts5_tokenizer(*FTS_TOKENIZER)

    def select_words(self, asked: ParsedQuery) -> QueryTerms:
        """Return the words of a query that are searched for: without stop words and without words that too many
        passages contain."""
        self._refresh()
        words = list(dict.fromkeys(asked.words))[:MAX_QUERY_WORDS]
        telling = [word for word in words if word.lower() not in load_stop_words("search")]
        last = words[-1] if words and asked.typing and (words[-1] in telling or not telling) else None
        kept = telling or words
        counts: dict[str, int] = {}
        begun = last
        if last and self.stems(last) != {normalize_text(last)}:
            # a prefix of its stem would be another: cat* of cats
            last = None
        names = split_compounds(asked.text)
        # they tell one address from another
        inner = {word for name in names for word in name.split()}
        own = [word for word in words if word in telling or word in inner] or words
        present = load_words("questions", "present")
        kept = [word for word in kept if word.lower() not in present] or kept
        if len(kept) > 1:
            kept = self._drop_common(kept, counts)
        inside = [part for word in kept if "." not in word for part in split_identifier(word) if len(part) > 1]
        inside += [form for word in kept for form in version_forms(word)[1:]]
        longer = [term for word in kept if word != last for term in self._longer_words(word, counts)]
        longer += (
            map(self._word_with_stem, self._stems_with_prefix(normalize_text(begun), MAX_TYPED_WORDS))
            if begun and not last
            else []
        )
        joined = [name for name in names if not asked.typing or not asked.text.endswith(name)]
        kept = list(dict.fromkeys([*kept, *inside, *joined, *longer, *implied_words(asked.text)]))
        return QueryTerms(kept, last, counts, own, asked.words[:MAX_PHRASE_WORDS], asked.phrases)

    def _longer_words(self, word: str, counts: dict[str, int]) -> list[str]:
        """Return longer words of the index that begin with a word which no record contains: españolas for español."""
        start = min(self.stems(word), default="")
        if len(start) < MIN_PREFIX_LETTERS or self._count_word(word, counts):
            return []
        return self._stems_with_prefix(start, MAX_LONGER_WORDS)

    def _stems_with_prefix(self, start: str, most: int) -> list[str]:
        """Return the first `most` stems of the index that begin with these letters and are longer."""
        sql = f"SELECT term FROM {self.word_table} WHERE term > ? AND term < ? LIMIT ?"
        return self._database.column(sql, (start, f"{start}\U0010ffff", most))

    def _word_with_stem(self, stem: str) -> str:
        """Return a word with this stem: what is searched for is stemmed, and `warehous` would become `warehou`."""
        return next((word for word in (stem, f"{stem}e", f"{stem}s") if self.stems(word) == {stem}), stem)

    def passage_counts(self, words: QueryTerms) -> dict[str, int]:
        """Return the number of passages that contain each of these words."""
        self._refresh()
        return {word: self._count_word(word, words.counts) for word in words.kept}

    def _count_word(self, word: str, counts: dict[str, int]) -> int:
        """Return the number of passages with a word, counted once for a query."""
        if word not in counts:
            counts[word] = min(map(self._count_stem, self.stems(word)), default=0)
        return counts[word]

    def _count_stem(self, stem: str) -> int:
        """Return the number of passages with a stem. Reading it takes as long as their list is, so it is cached
        until the index changes: while a person types, each letter asks for it again."""
        known = self._counted.by_stem
        if stem not in known:
            number = self._database.number(f"SELECT doc FROM {self.word_table} WHERE term = ?", (stem,))
            if len(known) >= MAX_CACHED_COUNTS or not self._counted.state:
                return number
            known[stem] = number
        return known[stem]

    def _refresh(self) -> None:
        """Forget the counts if the index changed: FTS5 rewrites its records of averages and of structure at each
        write. Keep none while this connection writes: FTS5 has not written them yet."""
        state = self._database.rows(f"SELECT block FROM {self.table}_data WHERE id IN (1, 10)")
        writing = self._database.connection.txn_state() == apsw.SQLITE_TXN_WRITE
        if writing or state != self._counted.state:
            self._counted.by_stem.clear()
            self._counted.state = [] if writing else state

    def total_passages(self) -> int:
        """Return the number of passages in the index, from FTS5's own averages record: its first varint. Counting a
        million rows would take 20 ms."""
        return read_varint(self._database.value(f"SELECT block FROM {self.table}_data WHERE id = 1") or b"\0", 0)[
            0
        ]

    def stems(self, text: str) -> frozenset[str]:
        """Return the stems of a text's words, as the index has them; reads MAX_STEMMED_TEXT characters."""
        tokens: Any = self.tokenizer(
            text[:MAX_STEMMED_TEXT].encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None
        )
        return frozenset(stem for _, _, *stems in tokens for stem in stems)

    def _drop_common(self, words: list[str], counts: dict[str, int]) -> list[str]:
        """Return those of the words that are not in too many passages, or all if every one is; of these the rarest that
        are in MAX_PASSAGES_READ passages together, and one at least."""
        rarest = sorted(words, key=lambda word: self._count_word(word, counts))
        ceiling = max(COMMON_WORD_FLOOR, COMMON_WORD_SHARE * self.total_passages())
        rarest = [word for word in rarest if counts[word] <= ceiling] or rarest
        read = accumulate(counts[word] for word in rarest)
        kept = {word for word, passages in zip(rarest, read, strict=True) if passages <= MAX_PASSAGES_READ} or {
            rarest[0]
        }
        return [word for word in words if word in kept]

    def find_passages(self, words: QueryTerms, filters: CorpusFilters, limit: int) -> FullTextResult:
        """Return the best `limit` passages that contain any of the words; without words, the newest that pass the
        filters."""
        if not words.kept:
            return self._find_newest(filters, limit) if filters else FullTextResult({}, 0, 0)
        forced = _fts_terms(words.phrases, None)
        any_of = f"{{title text context}} : ({' OR '.join(_fts_terms(words.kept, words.prefix))})"
        self._gone = [word for word in INACTIVE_STATUSES if self._count_word(word, {})]
        left_out = 0
        if self._gone and not (filters.status or filters.any):
            left_out = self._count_records(any_of, forced, filters, f"({' OR '.join(self._gone)})")
        if words.is_single_letter:
            # half of all words begin with the letter, so bm25 says nothing: return the newest, at half the cost
            sql, parameters = self._build_select("f.rowid", any_of, forced, filters, joined=True)
            rows = self._database.rows(f"{sql} ORDER BY c.at DESC, c.id DESC, 1 LIMIT {limit}", parameters)
            total = self._count_records(any_of, forced, filters)
            return FullTextResult({key: 0.0 for (key,) in rows}, total, left_out)
        sql, parameters = self._build_select(
            f"f.rowid AS id, bm25({self.table}, {BM25_WEIGHTS}) AS rank",
            any_of,
            forced,
            filters,
        )
        # one pass: reading the list of every word again, to count, would take half as long as the first
        rows = self._database.rows(
            f"WITH found AS MATERIALIZED ({sql}) SELECT f.id, -f.rank, (SELECT "
            f"count(DISTINCT id & {RECORD_KEY_MASK}) FROM found)"
            f" FROM (SELECT id, rank FROM found ORDER BY 2 LIMIT {limit + EXTRA_PASSAGES}) AS f"
            f" JOIN corpus c ON c.id = f.id & {RECORD_KEY_MASK} ORDER BY f.rank, c.at DESC, c.id DESC LIMIT {limit}",
            parameters,
        )
        scores = {key: score for key, score, _ in rows}
        total = rows[0][2] if rows else 0
        all_of = f"{{title text}} : ({_all_words_expression(words)})"
        whole, exact = self._find_exact(all_of, forced, filters, scores)
        chosen = self._find_in_options(words, forced, filters, scores) - whole
        whole, exact = whole | chosen, exact + len(chosen)
        verbatim: frozenset[int] = frozenset()
        if whole and words.can_be_phrase:
            whole_query = _fts_terms(
                [" ".join(words.sequence)], " ".join(words.sequence) if words.prefix else None
            )
            verbatim, _ = self._find_exact(f"{{title text}} : {whole_query[0]}", forced, filters, scores)
        elif whole and forced:
            verbatim = whole
        return FullTextResult(scores, max(total, exact), left_out, verbatim, whole | verbatim, exact)

    def count_by_kind(self, words: QueryTerms, filters: CorpusFilters) -> dict[str, int]:
        """Return how many records of each kind contain any of the words; without words, how many pass the filters."""
        if words.kept:
            any_of = f"{{title text context}} : ({' OR '.join(_fts_terms(words.kept, words.prefix))})"
            self._gone = [word for word in INACTIVE_STATUSES if self._count_word(word, {})]
            what = f"f.rowid & 15, count(DISTINCT f.rowid & {RECORD_KEY_MASK})"
            sql, values = self._build_select(
                what, any_of, _fts_terms(words.phrases, None), filters, filters.status
            )
        else:
            where = " AND ".join([filters.status_condition, *filters.clauses])
            where += " AND c.id IN (SELECT row FROM passages WHERE code)" if filters.code else ""
            sql, values = f"SELECT c.id & 15, count(*) FROM corpus c WHERE {where}", dict(filters.parameters)
        return {
            kind_of_key(int(number)): count for number, count in self._database.rows(f"{sql} GROUP BY 1", values)
        }

    def _find_exact(
        self, expression: str, forced: list[str], filters: CorpusFilters, scores: dict[int, float]
    ) -> tuple[frozenset[int], int]:
        """Return (the MAX_EXACT_PASSAGES best passages that an expression matches, the number of their records), and
        add them to `scores`. Where `scores` has all of them, or they are half of it, bm25 is not computed: it would
        read the list of every word once more."""
        sql, parameters = self._build_select("f.rowid", expression, forced, filters)
        keys = self._database.column(f"{sql} LIMIT {MAX_READ_TO_COUNT}", parameters)
        records = len({key & RECORD_KEY_MASK for key in keys})
        if len(keys) == MAX_READ_TO_COUNT:
            records = self._count_records(expression, forced, filters)
            held = ", ".join(map(str, scores))
            known = self._database.column(f"{sql} AND +f.rowid IN ({held})", parameters)
        else:
            known = [key for key in keys if key in scores]
        if len(known) == len(keys) <= MAX_EXACT_PASSAGES:
            return frozenset(keys), records
        if 2 * len(known) >= max(MAX_EXACT_PASSAGES, len(scores)):
            return frozenset(sorted(known, key=lambda key: (-scores[key], -key))[:MAX_EXACT_PASSAGES]), records
        sql, parameters = self._build_select(
            f"f.rowid, -bm25({self.table}, {BM25_WEIGHTS})", expression, forced, filters, filters.status
        )
        rows = self._database.rows(f"{sql} ORDER BY 2 DESC LIMIT {MAX_EXACT_PASSAGES}", parameters)
        for key, score in rows:
            scores.setdefault(key, score)
        return frozenset(key for key, _ in rows), records

    def _find_in_options(
        self, words: QueryTerms, forced: list[str], filters: CorpusFilters, scores: dict[int, float]
    ) -> frozenset[int]:
        """Return those of the passages in `scores` that are of decisions and have all the words, some perhaps in the
        options that were not taken, which are a decision's context."""
        if not any(key & 15 == DECISION_NUMBER for key in scores):
            return frozenset()
        every = f"{{title text context}} : ({_all_words_expression(words)})"
        sql, parameters = self._build_select("f.rowid", every, forced, filters)
        rows = self._database.column(
            f"{sql} AND f.rowid & 15 = {DECISION_NUMBER} LIMIT {MAX_EXACT_PASSAGES}", parameters
        )
        return frozenset(key for key in rows if key in scores)

    def _count_records(self, expression: str, forced: list[str], filters: CorpusFilters, status: str = "") -> int:
        """Return the number of records that an expression matches."""
        sql, parameters = self._build_select(
            f"count(DISTINCT f.rowid & {RECORD_KEY_MASK})", expression, forced, filters, status
        )
        return self._database.number(sql, parameters)

    def _build_select(
        self,
        what: str,
        expression: str,
        forced: list[str],
        filters: CorpusFilters,
        status: str = "",
        joined: bool = False,
    ) -> tuple[str, dict[str, object]]:
        """Return (SQL, its parameters) for the passages that match, contain all `forced` phrases, and pass the
        filters, or have this `status`."""
        status = status or filters.status
        # join the corpus only for filters that need it: each matching passage costs a page
        join = f" JOIN corpus c ON c.id = f.rowid & {RECORD_KEY_MASK}" if filters.dated or joined else ""
        parts = [f"({expression})", *(f"({{title text}} : {phrase})" for phrase in forced)]
        parts += ["status : code"] if filters.code else []
        parts += [f"status : {status}"] if status else []
        gone = [word for word in self._gone if word == "forgotten" or not filters.any]
        match = " AND ".join(parts) + (f" NOT status : ({' OR '.join(gone)})" if gone and not status else "")
        where = " AND ".join([f"{self.table} MATCH :match", *filters.clauses])
        where = where if join else where.replace("c.id", f"(f.rowid & {RECORD_KEY_MASK})")
        return f"SELECT {what} FROM {self.table} AS f{join} WHERE {where}", {
            **filters.parameters,
            "match": match,
        }

    def _find_newest(self, filters: CorpusFilters, limit: int) -> FullTextResult:
        """Return what passes the filters, newest first, each by its first passage, or its first of code."""
        first = "(SELECT min(p.id) FROM passages p WHERE p.row = c.id AND p.code)" if filters.code else "c.id"
        clauses = [
            *filters.clauses,
            *(["c.id IN (SELECT row FROM passages WHERE code)"] if filters.code else []),
        ]
        where = " AND ".join(["1", *clauses])
        gone = "0" if filters.status or filters.any else f"c.status IN {INACTIVE_STATUSES}"
        parameters = {**filters.parameters, "limit": limit}
        counts = f"count(*) FILTER (WHERE {filters.status_condition}), count(*) FILTER (WHERE {gone})"
        total, left_out = self._database.row(f"SELECT {counts} FROM corpus c WHERE {where}", parameters) or (
            0,
            0,
        )
        found = (
            f"FROM corpus c WHERE {filters.status_condition} AND {where} ORDER "
            f"BY {filters.at} DESC, c.id DESC LIMIT :limit"
        )
        return FullTextResult(
            dict(self._database.rows(f"SELECT {first}, 0.0 {found}", parameters)), total, left_out
        )


def version_forms(word: str) -> list[str]:
    """Return a word as it is typed, and a version also with or without its `v`: 1.2 and v1.2."""
    return [word, word[1:] if word[0] in "vV" else f"v{word}"] if "." in word else [word]


def _fts_terms(words: list[str], prefix: str | None) -> list[str]:
    """Return the words or phrases in FTS5's syntax: quoted, which is enough as none contains a quotation mark."""
    return [f'"{word}"*' if word == prefix else f'"{word}"' for word in words]


def _all_words_expression(words: QueryTerms) -> str:
    """Return the expression for all typed words, each in any of its forms."""
    every = [_fts_terms([word, *version_forms(word)[1:]], words.prefix) for word in words.own]
    return " AND ".join(f"({' OR '.join(terms)})" if len(terms) > 1 else terms[0] for terms in every)


# What FTS5 cannot find by words: parts of a text in a script without spaces, which is one word to it, and symbols,
# which are none. Passages are read for them as they stand.

# Thai and Lao, Burmese, Khmer, kana, Han; and Hangul, whose words take endings and are written together. A regular
# expression of these takes 3 ms to compile.
_UNSPACED_SCRIPTS = (
    *(
        ("\u0e00", "\u0eff"),
        ("\u1000", "\u109f"),
        ("\u1780", "\u17ff"),
        ("\u3040", "\u30ff"),
        ("\u3400", "\u9fff"),
    ),
    *(("\uac00", "\ud7af"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff")),
)


def literal_parts(text: str, words: list[str]) -> list[str]:
    """Return the parts of a query that are looked for as they stand; `words` are those of its `text`."""
    if words:
        return list(dict.fromkeys(filter(_has_unspaced_script, words)))
    return [part for part in text.split() if any(unicodedata.category(letter)[0] == "S" for letter in part)]


def _has_unspaced_script(word: str) -> bool:
    """Tell whether a word has a letter of a script that is written without spaces."""
    return any(first <= letter <= last for letter in word for first, last in _UNSPACED_SCRIPTS)


def add_literal_matches(
    database: Database,
    words: QueryTerms,
    filters: CorpusFilters,
    limit: int,
    found: FullTextResult,
    total: int,
    stems: Callable[[str], frozenset[str]],
) -> FullTextResult:
    """Return what the keywords found together with the passages that hold all parts, of `total` passages. Those that
    hold the other words of the query too, by their `stems`, are exact."""
    held = " AND ".join(
        f"(instr(c.title, :part{place}) OR instr(substr(c.text, p.start + 1, p.end - p.start), :part{place}))"
        for place in range(len(words.literal))
    )
    where = " AND ".join(
        [f"instr(c.title || c.text, :part0) AND {filters.status_condition}", *filters.clauses, held]
    )
    rows = database.rows(
        "SELECT p.id, c.title || ' ' || substr(c.text, p.start + 1, p.end - p.start) FROM corpus c"
        f" JOIN passages p ON p.row = c.id{' AND p.code' if filters.code else ''}"
        f" WHERE {where} ORDER BY c.at DESC, c.id DESC, p.id",
        {**filters.parameters, **{f"part{place}": part for place, part in enumerate(words.literal)}},
    )
    texts = dict(rows)
    if not texts:
        return found
    others = [stems(word) for word in words.own if word not in words.literal]
    whole = {key for key, text in texts.items() if not others or all(one <= stems(text) for one in others)}
    records = {key & RECORD_KEY_MASK for key in texts}
    if not others:
        best = dict.fromkeys([*texts][:limit], 0.0)
        return FullTextResult(best, len(records), found.left_out, frozenset(best), frozenset(best), len(records))
    weight = compute_idf(total, len(texts))
    scores = {key: found.scores.get(key, 0.0) + weight for key in [*texts][:limit]}
    exact = {*found.whole, *[key for key in scores if key in whole][:MAX_EXACT_PASSAGES]}
    scores = found.scores | scores
    return FullTextResult(
        dict(sorted(scores.items(), key=lambda pair: -pair[1])),
        max(found.total, len({key & RECORD_KEY_MASK for key in scores} | records)),
        found.left_out,
        found.verbatim,
        frozenset(exact),
        len({key & RECORD_KEY_MASK for key in exact}),
    )


# The same index, made anew in memory and for one connection: where the stored one is damaged, and of a past moment, of
# which none is stored. Making it takes some seconds at 100,000 passages.


def build_temporary_index(database: Database) -> None:
    """Make the index named TEMPORARY_INDEX, of the passages as this connection sees them; again only after a change."""
    connection = database.connection
    state = (connection.pragma("data_version"), connection.total_changes())
    if database.caches.get(TEMPORARY_INDEX) == state:
        return
    table, words = f"temp.{TEMPORARY_INDEX}_fts", f"temp.{TEMPORARY_INDEX}_words"
    name, options = FTS_TOKENIZER
    guarded = connection.pragma("query_only")
    # what is temporary does not change the file
    connection.pragma("query_only", 0)
    # without a transaction: an interrupted statement would end one
    try:
        database.rows(f"DROP TABLE IF EXISTS {words}; DROP TABLE IF EXISTS {table}")
        database.rows(
            f"CREATE VIRTUAL TABLE {table} USING fts5(title, text, context, status, content = '',"
            f" tokenize = '{name} {' '.join(options)}', prefix = '1 2 3');"
            f"CREATE VIRTUAL TABLE {words} USING fts5vocab({TEMPORARY_INDEX}_fts, row)"
        )
        database.rows(
            f"INSERT INTO {table}(rowid, title, text, context, status)"
            " SELECT id, title, text, context, status FROM passage_texts"
        )
    finally:
        connection.pragma("query_only", guarded)
    database.caches[TEMPORARY_INDEX] = connection.pragma("data_version"), connection.total_changes()
