"""Search by keywords: FTS5 over the corpus, words OR-ed and ranked by bm25.

Why so, from RETRIEVAL: requiring every word of a question finds nothing; stop words removed and words OR-ed find the
most; very common words cost most of the time and add nothing.
"""

import time
from collections.abc import Sequence

import apsw

from store import records
from store.citations import Citation
from store.database import Database
from store.errors import InvalidInput, MemorandaError
from store.keys import NUMBERS, pack
from store.search import narrow
from store.search.query import IS, STATUSES, STOP, Query, also_is, parse
from store.search.snippets import Marker, snippet
from store.vocabulary import DOMAINS, FACT_STATUSES, SEARCHABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Record

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
WEIGHTS = "2.0, 1.0, 0.25, 0.0"  # title, text, context, status ([RETRIEVAL] measured .25 for context)
COMMON_SHARE = 0.1  # words in more than a tenth of the memory are left out (5 % loses ten points of recall)
COMMON_FLOOR = 1_000  # but in a small memory every word counts
MAX_WORDS = 32
POOL = 64  # hits ranked beyond those asked for, so that of equals the newest come first
GONE = tuple(status for status in FACT_STATUSES if status != "active")


class Hit:
    """One thing found. `record` is the whole record, `snippet` up to 700 characters of it, `marks` the (start, end) of
    the words that matched in it; `score` grows with relevance and compares within one answer only."""

    __slots__ = ("citation", "key", "kind", "marks", "record", "score", "snippet")

    def __init__(self, kind: str, record: "Record", text: str, marks: list[tuple[int, int]], score: float) -> None:
        self.kind = kind
        self.record = record
        self.key = pack(kind, record.id)
        self.citation = record.citation
        self.snippet = text
        self.marks = marks
        self.score = score


class Answer:
    """What a search gave: `hits` best first, how many there were in `total`, how many more are superseded or forgotten
    in `left_out`, which `signals` answered, in how many `milliseconds`, and `notes` on what could not be used."""

    __slots__ = ("hits", "left_out", "milliseconds", "notes", "signals", "total")

    def __init__(self, hits: list[Hit], total: int, left_out: int, milliseconds: float, notes: list[str]) -> None:
        self.hits = hits
        self.total = total
        self.left_out = left_out
        self.signals = ("keywords",)
        self.milliseconds = milliseconds
        self.notes = notes


class Search:
    """Search in one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(
        self,
        query: str,
        limit: int = 20,
        *,
        kinds: Sequence[str] = (),
        domain: str = "",
        status: str = "",
        author: str = "",
        tag: str = "",
        since: str = "",
        before: str = "",
    ) -> Answer:
        """Everything that matches, best first. Filters given here and inside the query both hold; `since` is
        inclusive, `before` exclusive; `status` is a word that `is:` takes, `author` a part of a commit's author or of a
        record's origin, `tag` a whole tag. Only a filter given here can raise InvalidInput: any `query` is answered.
        A running search is stopped by `Database.interrupt` from another thread (apsw.InterruptError)."""
        start = time.perf_counter()
        asked = parse(query, self._database.clock())
        for name, value, words in (
            ("kind", kinds, SEARCHABLE),
            ("domain", (domain,) if domain else (), DOMAINS),
            ("status", (status,) if status else (), IS),
        ):
            if set(value) - set(words):
                raise InvalidInput(f"There is no such {name}.", f"Choose among: {', '.join(words)}.")
        if status in STATUSES and asked.status and status != asked.status:
            return Answer([], 0, 0, (time.perf_counter() - start) * 1000, asked.notes)  # no record has two
        also_is(asked, status)
        asked.tags += [tag] if tag else []
        asked.authors += [author] if author else []
        asked.since = max(since, asked.since)
        asked.before = min(filter(None, (before, asked.before)), default="")
        kept, prefix = self._kept(asked)
        # a word holds no quote (it matched \w+), so quoting it makes it plain text whatever it is
        terms = [f'"{word}"*' if word == prefix else f'"{word}"' for word in kept]
        found, total, left_out = self._ranked(asked, terms, (kinds, asked.kinds), (domain, asked.domain), max(0, limit))
        marker = Marker(self._database.connection.fts5_tokenizer(*TOKENIZER), kept, prefix)
        rows = records.by_key(self._database, [key for key, _ in found])
        hits = []
        for key, score in found:
            if key in rows:  # another process may have taken it away between the two reads
                record = rows[key]
                text, marks = snippet(body(record), marker)
                hits.append(Hit(_kind(key), record, text, marks, score))
        hits = self._cited(asked.citation, hits)
        elapsed = (time.perf_counter() - start) * 1000
        return Answer(hits, max(total, len(hits)), left_out, elapsed, asked.notes)

    def _kept(self, asked: Query) -> tuple[list[str], str | None]:
        """(the words to look for, which of them is a prefix because it is still being typed)."""
        words = list(dict.fromkeys(asked.words))[:MAX_WORDS]
        last = words[-1] if words and asked.typing else None
        kept = [word for word in words if word == last or word.lower() not in STOP] or words
        if len(kept) > 1:
            kept = self._uncommon(kept) or kept
        return kept, last

    def _uncommon(self, words: list[str]) -> list[str]:
        """The words without those that a large part of the memory holds."""
        tokenizer = self._database.connection.fts5_tokenizer(*TOKENIZER)
        counts = {}
        for word in words:
            stems = [stem for tokens in tokenizer(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None) for stem in tokens[2:]]
            count = self._database.value("SELECT doc FROM corpus_words WHERE term = ?", (stems[0],)) if stems else 0
            counts[word] = count or 0
        if max(counts.values()) <= COMMON_FLOOR:
            return words
        ceiling = max(COMMON_FLOOR, COMMON_SHARE * self._database.value("SELECT count(*) FROM corpus"))
        return [word for word in words if counts[word] <= ceiling]

    def _ranked(
        self, asked: Query, terms: list[str], kinds: Sequence[Sequence[str]], domains: Sequence[str], limit: int
    ) -> tuple[list[tuple[int, float]], int, int]:
        """((key, score) best first, how many there were, how many more hold no longer). Without words: the newest that
        pass the filters. Each of `kinds` and of `domains` that is not empty must hold."""
        clauses = [f"c.id % 16 IN ({', '.join(str(NUMBERS[kind]) for kind in some)})" for some in kinds if some]
        parameters: dict[str, object] = {"limit": limit}
        for place, domain in enumerate(domains):
            if domain:
                clauses.append(f"c.id % 16 = 0 AND c.id / 16 IN (SELECT id FROM facts WHERE domain = :domain{place})")
                parameters[f"domain{place}"] = domain
        for name, clause in (("since", "c.at >= :since"), ("before", "c.at < :before")):
            if value := getattr(asked, name):
                clauses.append(clause)
                parameters[name] = value
        more, bound = narrow.clauses(self._database, asked)
        clauses += more
        parameters |= bound
        if not terms:
            filtered = clauses or asked.status
            return self._newest(asked.status, clauses, parameters) if filtered and not asked.words else ([], 0, 0)
        parameters["match"] = _expression(terms, asked.status)
        where = " AND ".join(["corpus_fts MATCH :match", *clauses])
        # the corpus is joined only for filters that need it: it costs a page for each row that matches
        join = " JOIN corpus c ON c.id = corpus_fts.rowid" if asked.since or asked.before else ""
        where = where if join else where.replace("c.id", "corpus_fts.rowid")
        counted = f"SELECT count(*) FROM corpus_fts{join} WHERE {where}"
        total = self._database.value(counted, parameters)
        gone = {**parameters, "match": _expression(terms, f"({' OR '.join(GONE)})")}
        left_out = 0 if asked.status else self._database.value(counted, gone)
        if len(terms) == 1 and len(terms[0]) == len('"a"*') and terms[0].endswith("*"):
            # one letter begins half of all words and says nothing about relevance: the newest, at half the cost
            latest = f"SELECT c.id, 0.0 FROM corpus_fts JOIN corpus c ON c.id = corpus_fts.rowid WHERE {where}"
            return (
                self._database.rows(f"{latest} ORDER BY c.at DESC, c.id DESC LIMIT :limit", parameters),
                total,
                left_out,
            )
        parameters["pool"] = limit + POOL
        rows = self._database.rows(
            f"SELECT c.id, -f.rank FROM (SELECT corpus_fts.rowid AS id, bm25(corpus_fts, {WEIGHTS}) AS rank"
            f" FROM corpus_fts{join} WHERE {where} ORDER BY 2 LIMIT :pool) AS f JOIN corpus c ON c.id = f.id"
            " ORDER BY f.rank, c.at DESC, c.id DESC LIMIT :limit",
            parameters,
        )
        return rows, total, left_out

    def _newest(
        self, status: str, clauses: list[str], parameters: dict[str, object]
    ) -> tuple[list[tuple[int, float]], int, int]:
        """What passes the filters alone, newest first."""
        where = " AND ".join(["c.status IN (:status, '')", *clauses])
        parameters["status"] = status or "active"
        total = self._database.value(f"SELECT count(*) FROM corpus c WHERE {where}", parameters)
        sql = f"SELECT c.id, 0.0 FROM corpus c WHERE {where} ORDER BY c.at DESC, c.id DESC LIMIT :limit"
        return self._database.rows(sql, parameters), total, 0

    def _cited(self, citation: Citation | None, hits: list[Hit]) -> list[Hit]:
        """The hits with the record that the whole query cites in front."""
        if citation is None:
            return hits
        try:
            record = records.lookup(self._database, citation)
        except MemorandaError:
            return hits
        kind = citation.kind
        first = Hit(kind, record, snippet(body(record), None)[0], [], hits[0].score if hits else 1.0)
        return [first, *(hit for hit in hits if hit.key != first.key)]


def _expression(terms: list[str], status: str) -> str:
    """The FTS5 query: any of the terms, in the texts, of records with this status (empty: of those that hold)."""
    words = f"({{title text context}} : ({' OR '.join(terms)}))"
    return f"{words} AND status : {status}" if status else f"{words} NOT status : ({' OR '.join(GONE)})"


def _kind(key: int) -> str:
    from store.keys import unpack

    return unpack(key)[0]


def body(record: "Record") -> str:
    """The text of a record that a snippet is taken from: what is searched, in the order a person reads it."""
    from store import models

    if isinstance(record, models.Fact):
        return record.fact
    if isinstance(record, models.Decision):
        parts = [record.title, record.chosen, record.context, record.rationale, *record.alternatives]
        return "\n".join(part for part in parts if part)
    if isinstance(record, models.Commit):
        return record.message
    if isinstance(record, models.Event):
        return " ".join(part for part in (record.event_type, record.phase, _payload(record.payload)) if part)
    if isinstance(record, models.Iteration):
        return f"{record.command} {record.description}".strip()
    if isinstance(record, models.Task | models.Turn | models.Chunk):
        return record.text
    return record.name


def _payload(payload: object) -> str:
    import json

    return "" if payload is None else json.dumps(payload, ensure_ascii=False)
