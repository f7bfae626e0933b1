"""The results of a search, and what is noted of searches: queries, durations, opened records."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import apsw

from store.base.errors import MemorandaError, StorageError
from store.base.models import Fact, GlobalFact, Record
from store.base.vocabulary import pack_key
from store.database.database import Database
from store.database.tombstones import has_purged_text
from store.records.timeline import count_openings
from store.search.fulltext import FullTextIndex, QueryTerms
from store.text.words import load_rapidfuzz, load_stop_words

EXACT_HIT, NEAR_HIT, FAR_HIT, NO_HIT = "exact", "near", "far", "nothing"


@dataclass(slots=True, eq=False, repr=False)
class Hit:
    """One search result. `record` is the whole record, `snippet` up to 700 characters of it, `marks` the (start, end)
    of the matching words in the snippet. `level` is `exact` where the record contains the query word for word or all of
    its words, else `near`, or `far` where such were asked for too. The passage found begins at character `start` of the
    record's text, on `line` (from 1). `score` grows with relevance and is comparable within one answer only;
    `similarity` is the calibrated similarity to the query (0 unrelated, 1 a paraphrase), None for a record without a
    vector; `why` maps each signal to its part of the score."""

    kind: str
    record: Record
    snippet: str
    marks: list[tuple[int, int]]
    score: float
    similarity: float | None = None
    why: dict[str, float] = field(default_factory=dict)
    level: str = NEAR_HIT
    start: int = 0
    line: int = 1
    key: int = field(init=False)

    def __post_init__(self) -> None:
        self.key = pack_key(self.kind, self.record.id)
        # whose record and citation tell where it is
        self.kind = "fact" if self.kind == "global" else self.kind

    @property
    def citation(self) -> str:
        return self.record.citation

    def __repr__(self) -> str:
        return f"Hit({self.citation}, {self.level})"

    @property
    def nearness(self) -> float | None:
        """How near it is to the query in meaning, from 0 to 1; None where no model compared them."""
        return self.similarity


@dataclass(slots=True, eq=False, repr=False)
class SearchAnswer:
    """The result of a search: `hits`, best first; `total`, the number of matches, of which `exact` are exact;
    `left_out`, the number of superseded or forgotten matches; `signals`, which of keywords and meaning were used;
    `milliseconds` taken; `notes` on parts of the query that could not be used, of which the first `refused` are about
    filters whose value is not understood; `words` searched for. Where nothing is near the query, `hits` is empty and
    `nearest` holds the few records that come closest, if they are worth showing. A person's search has in `waiting`
    what it finds in the inbox, of `waits` proposals (see `search_for_person`)."""

    hits: list[Hit]
    total: int
    left_out: int
    milliseconds: float
    notes: list[str]
    signals: tuple[str, ...] = ("keywords",)
    words: QueryTerms | None = None
    nearest: list[Hit] = field(default_factory=list)
    exact: int = 0
    # who computed the query's vector, "" where no model ran
    provider: str = ""
    waiting: list[Hit] = field(init=False, default_factory=list)
    waits: int = field(init=False, default=0)
    refused: int = field(init=False, default=0)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict}: {len(self.hits)} of {self.total})"

    @property
    def verdict(self) -> str:
        """`exact` where any hit is exact, else `near` where any is; else `nothing`."""
        levels = {hit.level for hit in self.hits}
        return next((level for level in (EXACT_HIT, NEAR_HIT) if level in levels), NO_HIT)


def merge_global_hits(answer: SearchAnswer, found: SearchAnswer, limit: int) -> None:
    """Put what was found among the global facts of the person's own memory into an answer, the exact ones
    first, then by score."""
    rest = [
        replace(hit, kind="global", record=GlobalFact(hit.record))
        for hit in found.hits
        if isinstance(hit.record, Fact)
    ]
    hits: list[Hit] = []
    for hit in answer.hits:
        while rest and (rest[0].level == EXACT_HIT, rest[0].score) > (hit.level == EXACT_HIT, hit.score):
            hits.append(rest.pop(0))
        hits.append(hit)
    known = {hit.key for hit in hits}
    answer.hits = [*hits, *(hit for hit in rest if hit.key not in known)][:limit]
    answer.nearest = [] if answer.hits else answer.nearest
    answer.total += found.total
    answer.exact += found.exact
    answer.left_out += found.left_out
    answer.words = answer.words or found.words


# Snippets: the part of a text with the matching words, and their positions in it.
#
# Words are found with FTS5's own tokenizer, so the marks agree with the matches: stems, and letters without accents.

# characters of a snippet
SNIPPET_LENGTH = 700
# characters of the ellipses at both ends
ELLIPSES_LENGTH = 4
SENTENCE_END_PATTERN = r"[.!?…]+[\"'”’»)\]]*\s+|\n+"
# of a text that is searched for marks
MAX_MARKED_BYTES = 65_536


class WordMarker:
    """Finds the words of one query in a text."""

    def __init__(
        self,
        tokenizer: apsw.FTS5Tokenizer,
        words: Sequence[str],
        prefix: str | None,
        literal: Sequence[str] = (),
    ) -> None:
        self._tokenizer = tokenizer
        self._literal = (
            re.compile("|".join(map(re.escape, sorted(literal, key=len, reverse=True)))) if literal else None
        )
        self._stems: set[str] = set()
        self._prefix = ""
        for word in words:
            stems = [stem for _, _, *tokens in self._tokens(word.encode("utf-8", "replace")) for stem in tokens]
            self._stems.update(stems)
            if word == prefix and stems:
                self._prefix = stems[-1]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) in characters of every matching word of `text`, in order."""
        if self._literal:
            stand = [match.span() for match in self._literal.finditer(text[:MAX_MARKED_BYTES])]
            words = [
                one
                for one in self._word_spans(text)
                if not any(one[0] < end and start < one[1] for start, end in stand)
            ]
            return sorted(stand + words)
        return self._word_spans(text)

    def _word_spans(self, text: str) -> list[tuple[int, int]]:
        if not self._stems:
            return []
        raw = text[:MAX_MARKED_BYTES].encode("utf-8", "replace")
        spans = [(start, end) for start, end, *stems in self._tokens(raw) if self._matches(stems)]
        if len(raw) == len(text):
            # one byte a character
            return spans
        found = []
        done_bytes = done_characters = 0
        for start, end in spans:
            done_characters += len(raw[done_bytes:start].decode("utf-8", "replace"))
            width = len(raw[start:end].decode("utf-8", "replace"))
            found.append((done_characters, done_characters + width))
            done_characters += width
            done_bytes = end
        return found

    def _matches(self, stems: list[str]) -> bool:
        return not self._stems.isdisjoint(stems) or (
            bool(self._prefix) and any(stem.startswith(self._prefix) for stem in stems)
        )

    def _tokens(self, raw: bytes) -> list[tuple[Any, ...]]:
        """Return (start byte, end byte, stem, …) of every word."""
        return list(self._tokenizer(raw, apsw.FTS5_TOKENIZE_DOCUMENT, None))  # type: ignore[arg-type]


def cut_snippet(
    text: str, marker: WordMarker | None, length: int = SNIPPET_LENGTH, before: bool = False, after: bool = False
) -> tuple[str, list[tuple[int, int]]]:
    """Return (at most `length` characters of `text` around its matching words, their spans in the result).

    The window is the one with the most matches: whole sentences, or whole words of a sentence that is longer than
    `length`. Without matches it is the beginning of the text. An ellipsis marks omitted text, also the text `before` or
    `after` the passage that `text` is.
    """
    if before or after:
        text = text.strip()
    spans = marker.spans(text) if marker else []
    start, end = 0, len(text)
    if len(text) > length - ELLIPSES_LENGTH * (before or after):
        start, end = _best_window(text, spans, length - ELLIPSES_LENGTH)
    head, tail = ("… " if start or before else ""), (" …" if end < len(text) or after else "")
    shift = len(head) - start
    return head + text[start:end] + tail, [(a + shift, b + shift) for a, b in spans if a >= start and b <= end]


def _best_window(text: str, spans: Sequence[tuple[int, int]], length: int) -> tuple[int, int]:
    """Return (start, end) of the sentences with the most matches that fit in `length` characters."""
    ends = [match.end() for match in re.finditer(SENTENCE_END_PATTERN, text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    starts = [0, *ends[:-1]]
    matches = [a for a, _ in spans]
    best, most = (0, 0), -1
    last = 0
    for first, start in enumerate(starts):
        last = max(last, first)
        while last + 1 < len(ends) and ends[last + 1] - start <= length:
            last += 1
        held = bisect_left(matches, ends[last]) - bisect_left(matches, start)
        if held > most:
            best, most = (start, ends[last]), held
    start, end = best
    # one sentence, longer than a snippet
    if end - start > length:
        inside = [a for a in matches if start <= a < end]
        if inside:
            within = [bisect_left(inside, a + length - 80) - place for place, a in enumerate(inside)]
            begin = max(start, min(inside[within.index(max(within))] - 40, end - length))
            space = text.find(" ", begin, begin + 40) if begin > start else -1
            start = space + 1 if space >= 0 else begin
        if end - start > length:
            space = text.rfind(" ", start + length - 40, start + length)
            end = space if space > start else start + length
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


# Spelling suggestions for words that no record contains: similar words that the memory does contain.

# least similarity (Damerau-Levenshtein): offers "thursdys" and "postgress", not "cat" for "car"
MIN_SPELLING_SIMILARITY = 0.72
# letters; shorter words are similar to too many
MIN_SPELLED_LETTERS = 4
# suggestions for one word
MAX_SUGGESTIONS = 2


def suggest_spellings(database: Database, keywords: FullTextIndex, words: list[str]) -> dict[str, list[str]]:
    """Return, for each of these words that no record contains, the most similar words that one does, the best first."""
    long = [
        word
        for word in words
        if len(word) >= MIN_SPELLED_LETTERS and word.lower() not in load_stop_words("search")
    ]
    counts = keywords.passage_counts(QueryTerms(long))
    missing = [word for word, count in counts.items() if not count]
    return {word: found for word in missing if (found := _similar_words(database, keywords, word))}


def _similar_words(database: Database, keywords: FullTextIndex, word: str) -> list[str]:
    """Return the words of the memory that are most similar to a word, the most similar first."""
    stem = next(iter(keywords.stems(word)), "")
    rows = database.column(
        "SELECT term FROM corpus_words WHERE length(term) BETWEEN ? AND ?", (len(stem) - 2, len(stem) + 2)
    )
    rapidfuzz = load_rapidfuzz()
    found = rapidfuzz.process.extract(
        stem,
        rows,
        scorer=rapidfuzz.distance.DamerauLevenshtein.normalized_similarity,
        score_cutoff=MIN_SPELLING_SIMILARITY,
        limit=MAX_SUGGESTIONS + 2,
    )
    offers = dict.fromkeys(written for term, _, _ in found if (written := _word_of_stem(database, keywords, term)))
    return list(offers)[:MAX_SUGGESTIONS]


def _word_of_stem(database: Database, keywords: FullTextIndex, term: str) -> str:
    """Return a word in which a stem occurs; empty if the index finds none."""
    row = database.row(
        "SELECT title || char(10) || text FROM corpus WHERE id ="
        " (SELECT rowid FROM corpus_fts WHERE corpus_fts MATCH ? LIMIT 1)",
        (f'{{title text}} : "{term}"',),
    )
    spans = WordMarker(keywords.tokenizer, [term], None).spans(row[0]) if row else []
    return row[0][slice(*spans[0])].lower() if row and spans else ""


MAX_LOGGED_SEARCHES, MAX_KEPT_QUERIES = 200, 200


class SearchLog:
    """What is noted of the searches of one memory, on this machine."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # The counts are for statistics and no signal of the ranking: measured as one on LoCoMo, with the answers of earlier
    # questions counted as opened, R@5 fell from 79.3 to 78.8, MRR from 67.6 to 66.9.

    def count_opened(self, keys: Sequence[int]) -> None:
        """Count one opening of each of these records (keys as in store/base/vocabulary.py). Skip it silently where the
        file cannot be written: a reader must not fail because of a counter."""
        if self._database.read_only:
            return
        with suppress(MemorandaError), self._database.write("user", "access") as write:
            count_openings(write, keys)

    def log_answer(self, answer: SearchAnswer) -> None:
        """Log how long an answer took, whether vectors were used, and how many records were found. Skip one that was
        refused, and one from an earlier state of the memory. It is called after the answer is shown and does not wait:
        while another program writes, it is dropped."""
        database = self._database
        if database.read_only or database.moment or not answer.signals:
            return
        patience, database.patience = database.patience, 0
        try:
            with database.write("user", "timed") as write:
                number = write.insert(
                    "searches",
                    at=write.at,
                    milliseconds=round(answer.milliseconds, 3),
                    meaning=int("meaning" in answer.signals),
                    found=answer.total,
                )
                write.execute("DELETE FROM searches WHERE id <= ?", (number - MAX_LOGGED_SEARCHES,))
        except StorageError:  # a busy file, a full disk: the answer is not affected
            return
        finally:
            database.patience = patience

    def last_searches(self, limit: int = MAX_LOGGED_SEARCHES) -> list[tuple[float, bool, int]]:
        """Return (milliseconds, whether vectors were used, records found) of the last searches, the newest last."""
        rows = self._database.rows(
            "SELECT milliseconds, meaning, found FROM searches ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [(milliseconds, bool(meaning), found) for milliseconds, meaning, found in reversed(rows)]

    # the queries whose results a person used

    def add_query(self, query: str) -> None:
        """Add a query, or move it to the end if it is there; delete the oldest beyond MAX_KEPT_QUERIES. Skip one that
        contains a purged word or the beginning of one."""
        text = " ".join(query.split())
        if not text or self._database.read_only or has_purged_text(self._database, text):
            return
        with self._database.write("user", "query") as write:
            write.execute(
                "INSERT INTO queries(text, at) VALUES (?, ?)"
                " ON CONFLICT(text) DO UPDATE SET at = excluded.at, times = times + 1",
                (text, write.at),
            )
            write.execute(
                "DELETE FROM queries WHERE text NOT IN (SELECT text FROM queries ORDER BY at DESC LIMIT ?)",
                (MAX_KEPT_QUERIES,),
            )

    def recent_queries(self, limit: int = MAX_KEPT_QUERIES) -> list[str]:
        """Return the queries, newest first."""
        return self._database.column("SELECT text FROM queries ORDER BY at DESC LIMIT ?", (limit,))

    def most_frequent(self, limit: int) -> list[tuple[str, int]]:
        """Return (query, number of times asked), the most frequent first, then the newest."""
        return self._database.rows(
            "SELECT text, times FROM queries ORDER BY times DESC, at DESC LIMIT ?", (limit,)
        )
