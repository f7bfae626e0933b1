"""The search: keywords and meaning → fusion → recency → diversity → the best, each with why it is there."""

import json
import time
from collections.abc import Mapping, Sequence

from store.base.citations import Citation, cite
from store.base.errors import ForeignFile, InvalidInput, MemorandaError
from store.base.feature_flags import without
from store.base.record_keys import unpack
from store.base.vocabulary import DOMAINS, SCOPES, SEARCHABLE
from store.database.database import Database
from store.search import lookup, mmr, recency
from store.search.filters import Filters
from store.search.fts import FullTextIndex, FullTextResult, QueryTerms
from store.search.importance import Accesses, weights
from store.search.query_history import QueryHistory
from store.search.query_parser import IS, STATUS_ALIASES, STATUSES, Query, also_is, parse
from store.search.ranking import POOL, Candidate, Question, Ranked, idf, rank, weigh
from store.search.recency import Scored
from store.search.related import TEXT, VECTOR, Related, related
from store.search.results import Answer, Hit
from store.search.snippets import Marker, snippet
from store.search.table_scan import TableScan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Record
    from store.config.configuration import Config
    from store.search.latency_log import LatencyLog
    from store.search.semantic import PendingQueryVector, SemanticIndex
    from store.search.settings import Settings

# records from which on the keywords are looked up while the model reads the question: it needs all processors for its
# 15 ms, and a second thread costs it more than a quick lookup takes
BESIDE = 200_000
# calibrated similarities; the best hit is below these where nothing recorded answers
NEAREST = 0.2
NEAREST_ACROSS = -0.25  # in another language than the question's, where cosines are lower
IMPORTANCE = 1.0  # what the most important memory gains, where that is switched on
BRIEF, EASE = 4, 0.1  # of a question of fewer words less is asked: two words are near nothing
COVERED = 0.5  # and it holds less than this of the question's information
NEAR, NEAR_ACROSS = 0.1, -0.5  # of a hit that shares no word with the question


class Search:
    """Search in one memory. Keywords always answer; meaning joins where vectors were made and their model is there."""

    def __init__(self, database: Database, settings: "Settings", meaning: "SemanticIndex | None" = None) -> None:
        self._database = database
        self._settings = settings
        self._keywords: FullTextIndex = FullTextIndex(database)
        self._damaged = False  # whether the keyword index was found to be
        if without("fts5"):
            self._keywords = TableScan(database)
        self.meaning = meaning

    @classmethod
    def of(cls, database: Database, config: "Config") -> "Search":
        """The search of a memory as its person has set it."""
        from store.search.semantic import SemanticIndex
        from store.search.settings import Settings

        return cls(database, Settings(config), SemanticIndex(database, config))

    @property
    def asked(self) -> QueryHistory:
        """What was asked before."""
        return QueryHistory(self._database)

    @property
    def timed(self) -> "LatencyLog":
        """How the last searches fared."""
        from store.search.latency_log import LatencyLog

        return LatencyLog(self._database)

    @property
    def accesses(self) -> Accesses:
        """How often records were opened."""
        return Accesses(self._database)

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
        iteration_id: int = 0,
        min_score: float = 0.0,
        scope: str = "",
        meaning: bool = True,
    ) -> Answer:
        """Everything that matches, best first. Filters given here and inside the query both hold; `since` is
        inclusive, `before` exclusive; `status` is a word that `is:` takes, `author` a part of a commit's author, of a
        speaker's name or of a record's origin, `tag` a whole tag, `iteration_id` the iteration that something belongs
        to. `min_score` is a calibrated similarity, and touches only what a model has looked at. `scope` is
        one of SCOPES, for facts of it alone, or else the key of the session that asks (see `scope`): one that may not
        search is answered with nothing. Without `meaning` keywords answer alone, at once.

        Only a filter given here can raise InvalidInput: any `query` is answered. A running search is stopped by
        `Database.interrupt` from another thread (apsw.InterruptError)."""
        start = time.perf_counter()
        asked = parse(query, self._database.clock())
        for name, value, words in (
            ("kind", kinds, SEARCHABLE),
            ("domain", (domain,) if domain else (), DOMAINS),
            ("status", (status,) if status else (), IS),
        ):
            if set(value) - set(words):
                raise InvalidInput(f"There is no such {name}.", f"Choose among: {', '.join(words)}.")
        status = STATUS_ALIASES.get(status, status)
        refused = "" if scope in SCOPES else self._settings.denied(scope)
        if refused:
            import logging

            logging.getLogger("memoranda").warning("a search of the session %s was denied: %s", scope, refused)
            return Answer([], 0, 0, _since(start), [f"This session may not search: {refused}."], ())
        if status in STATUSES and asked.status and status != asked.status:
            return Answer([], 0, 0, _since(start), asked.notes)  # no record has two
        also_is(asked, status)
        asked.kinds += [tuple(kinds)] if kinds else []
        asked.domains += [domain] if domain else []
        asked.scopes += [scope] if scope in SCOPES else []
        asked.tags += [tag] if tag else []
        asked.authors += [author] if author else []
        asked.since = max(since, asked.since)
        asked.before = min(filter(None, (before, asked.before)), default="")
        asked.iterations += [iteration_id] if iteration_id else []
        return self._answer(asked, max(0, limit), min_score, meaning, start)

    def _answer(self, asked: Query, limit: int, min_score: float, meaning: bool, start: float) -> Answer:
        settings = self._settings
        filters = Filters(self._database, asked)
        for number in asked.iterations:
            if not self._database.value("SELECT 1 FROM iterations WHERE id = ?", (number,)):
                asked.notes.append(f"There is no {cite('iteration', number)} in this memory.")
        source = related(self._database, self._keywords, asked.related) if asked.related else None
        if source:
            asked.words += source.words
            asked.typing = asked.typing and bool(asked.text) and not source.words
        elif asked.related:
            asked.notes.append(f"There is no {asked.related} in this memory that something could be related to.")
        words = self._words(asked)
        if meaning and self.meaning and source:
            look = self.meaning.stored(source.key)
        else:
            look = self.meaning.look(asked.text, filters.kinds) if meaning and self.meaning and words.kept else None
        if look and self._keywords.total() < BESIDE:
            look.vector()
        most = max(1, settings.multiplier) * limit if settings.plain else max(POOL, limit)
        found = self._find(words, filters, most, asked.notes)
        cosines = look.near(filters, list(found.scores), most) if look else {}
        notes = [*asked.notes, *(look.notes if look else ())]
        signals: tuple[str, ...] = ("keywords", "meaning") if cosines else ("keywords",)
        if source:
            return self._near(asked, words, source, found, cosines, look, limit, start)
        if not words.kept or (not cosines and words.single):
            order = [(key, score, {"text": score}) for key, score in found.scores.items()]
            return self._show(asked, words, order[:limit], found, notes, signals, {}, start)
        pool = self._pool(found.scores, cosines)
        if look and not settings.plain:
            look.move(asked.text, pool)
        ranked = self._ranked(asked, words, pool)
        similarities = {key: look.scaled(cosine) for key, cosine in cosines.items()} if look else {}
        calibrated = {key: min(1.0, max(0.0, value)) for key, value in similarities.items()}
        if similarities and not settings.plain and _nothing(ranked, similarities, words):
            if found.total:
                notes.append(f"Nothing here is about that; {found.total:,} share a word with it: search for fewer.")
            return Answer([], 0, found.left_out, _since(start), notes, signals)
        if settings.importance:
            self._weigh_importance(ranked, calibrated)
        order = [
            (one.key, score, why)
            for one, score, why in ranked.order
            if one.bm25 > 0 or settings.plain or _near(one.key, ranked, similarities)
            if calibrated.get(one.key, 1.0) >= min_score
        ]
        found.total += sum(key not in found.scores for key, _, _ in order)
        if settings.plain and settings.half_life:
            at = {one.key: one.at for one in pool}
            evergreen = {one.key for one in pool if one.evergreen}
            order = recency.decayed(order, at, evergreen, self._database.clock(), settings.half_life)
        if settings.plain and settings.diversity < 1:
            order = self._diverse(order, pool, look, limit)
        return self._show(asked, words, order[:limit], found, notes, signals, calibrated, start)

    def _words(self, asked: Query) -> QueryTerms:
        try:
            return self._keywords.words(asked)
        except ForeignFile:
            self._read_instead()
            return self._keywords.words(asked)

    def _read_instead(self) -> None:
        """Go on without the index."""
        self._keywords, self._damaged = TableScan(self._database), True

    def _find(self, words: QueryTerms, filters: Filters, most: int, notes: list[str]) -> FullTextResult:
        """What the keywords find: in the index, or where that is damaged in the records themselves."""
        try:
            found = self._keywords.find(words, filters, most)
        except ForeignFile:
            self._read_instead()
            found = self._keywords.find(words, filters, most)
        if self._damaged:
            notes.append("The keyword index is damaged, and every record was read instead: memoranda index rebuild.")
        return found

    def _near(
        self,
        asked: Query,
        words: QueryTerms,
        source: Related,
        found: FullTextResult,
        cosines: dict[int, float],
        look: "PendingQueryVector | None",
        limit: int,
        start: float,
    ) -> Answer:
        """What is related to a record, without the record itself."""
        found.total -= found.scores.pop(source.key, None) is not None
        cosines.pop(source.key, None)
        calibrated = {key: look.calibrated(cosine) for key, cosine in cosines.items()} if look else {}
        order = [
            (one.key, score, why)
            for one, score, why in weigh(self._pool(found.scores, cosines), VECTOR, TEXT).order
            if one.bm25 > 0 or calibrated.get(one.key, 0.0) >= NEAREST
        ]
        found.total += sum(key not in found.scores for key, _, _ in order)
        signals = ("keywords", "meaning") if cosines else ("keywords",)
        return self._show(asked, words, order[:limit], found, asked.notes, signals, calibrated, start)

    def _pool(self, scores: Mapping[int, float], cosines: Mapping[int, float]) -> list[Candidate]:
        """What both found, with what the ranking looks at."""
        keys = list(dict.fromkeys((*scores, *cosines)))
        rows = self._database.rows(
            "SELECT c.id, c.kind, c.title, c.text, c.at, coalesce(t.session, d.path),"
            " coalesce(t.number, k.first, 0), c.evergreen FROM json_each(?) j CROSS JOIN corpus c ON c.id = j.value"
            " LEFT JOIN turns t ON c.kind = 'turn' AND t.id = c.record_id"
            " LEFT JOIN chunks k ON c.kind = 'document' AND k.id = c.record_id"
            " LEFT JOIN documents d ON d.id = k.document_id",
            (json.dumps(keys),),
        )
        return [
            Candidate(key, kind, title, text, at, scores.get(key, 0.0), cosines.get(key), *rest)
            for key, kind, title, text, at, *rest in rows
        ]

    def _ranked(self, asked: Query, words: QueryTerms, pool: list[Candidate]) -> Ranked:
        settings = self._settings
        if settings.plain:
            return weigh(pool, settings.vector_weight, settings.text_weight)
        total = self._keywords.total()
        stems = self._keywords.stems
        weights = {}
        for word, count in self._keywords.counts(words).items():
            for stem in stems(word):
                weights[stem] = idf(total, count)
        prefix = next(iter(stems(words.prefix)), None) if words.prefix else None
        return rank(Question(asked.text, weights, prefix), pool, stems)

    def _weigh_importance(self, ranked: Ranked, calibrated: Mapping[int, float]) -> None:
        """Add what was opened often and lately to what the other signals gave."""
        opened = Accesses(self._database).of([one.key for one, _, _ in ranked.order])
        added = weights(self._database.clock(), opened, calibrated)
        ranked.order = [
            (one, score + IMPORTANCE * added[one.key], {**why, "importance": IMPORTANCE * added[one.key]})
            if one.key in added
            else (one, score, why)
            for one, score, why in ranked.order
        ]
        ranked.order.sort(key=lambda row: row[1], reverse=True)

    def _diverse(
        self, order: list[Scored], pool: list[Candidate], look: "PendingQueryVector | None", limit: int
    ) -> list[Scored]:
        """The order with what says the same as a hit before it further down."""
        order = order[: 2 * limit]
        if not order:
            return order
        most: float = max(score for _, score, _ in order) or 1.0
        vectors = look.vectors([key for key, _, _ in order]) if look else {}
        texts = {one.key: self._keywords.stems(one.text) for one in pool}

        def alike(one: int, other: int) -> float:
            a, b = order[one][0], order[other][0]
            if look and a in vectors and b in vectors:
                return look.calibrated(float(vectors[a] @ vectors[b]))
            return mmr.overlap(texts[a], texts[b])

        places = mmr.mmr([score / most for _, score, _ in order], alike, self._settings.diversity, limit)
        return [order[place] for place in places]

    def _show(
        self,
        asked: Query,
        words: QueryTerms,
        order: Sequence[Scored],
        found: FullTextResult,
        notes: list[str],
        signals: tuple[str, ...],
        calibrated: Mapping[int, float],
        start: float,
    ) -> Answer:
        """The answer, with the records as they are and a snippet of each."""
        marker = Marker(self._keywords.tokenizer, words.kept, words.prefix)
        rows = lookup.by_key(self._database, [key for key, _, _ in order])
        hits = []
        for key, score, why in order:
            if key in rows:  # another process may have taken it away between the two reads
                text, marks = snippet(body(rows[key]), marker)
                hits.append(Hit(unpack(key)[0], rows[key], text, marks, score, calibrated.get(key), why))
        hits = self._cited(asked.citation, hits)
        return Answer(hits, max(found.total, len(hits)), found.left_out, _since(start), notes, signals, words)

    def _cited(self, citation: Citation | None, hits: list[Hit]) -> list[Hit]:
        """The hits with the record that the whole query cites in front."""
        if citation is None:
            return hits
        try:
            record = lookup.lookup(self._database, citation)
        except MemorandaError:
            return hits
        score = hits[0].score if hits else 1.0
        first = Hit(citation.kind, record, snippet(body(record), None)[0], [], score, why={"citation": score})
        return [first, *(hit for hit in hits if hit.key != first.key)]


def _near(key: int, ranked: Ranked, similarities: Mapping[int, float]) -> bool:
    """Whether something that shares no word with the question may be shown all the same."""
    return similarities.get(key, 0.0) >= (NEAR_ACROSS if key in ranked.strange else NEAR)


def _nothing(ranked: Ranked, similarities: Mapping[int, float], words: QueryTerms) -> bool:
    """Whether nothing recorded answers: neither in words nor in meaning is anything near the question. Measured: no
    point of R@10 is lost by it, and nine of ten questions about something else altogether get nothing."""
    ease = EASE if len(words.kept) < BRIEF else 0.0
    return ranked.coverage < COVERED and all(
        value < (NEAREST_ACROSS if key in ranked.strange else NEAREST) - ease for key, value in similarities.items()
    )


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def body(record: "Record") -> str:
    """The text of a record that a snippet is taken from: what is searched, in the order a person reads it."""
    from store.base import models

    if isinstance(record, models.Fact):
        return record.fact
    if isinstance(record, models.Decision):
        parts = [record.title, record.chosen, record.context, record.rationale, *record.alternatives]
        return "\n".join(part for part in parts if part)
    if isinstance(record, models.Commit):
        return record.message
    if isinstance(record, models.Event):
        payload = "" if record.payload is None else json.dumps(record.payload, ensure_ascii=False)
        return " ".join(part for part in (record.event_type, record.phase, payload) if part)
    if isinstance(record, models.Iteration):
        return f"{record.command} {record.description}".strip()
    if isinstance(record, models.Task | models.Turn | models.Chunk | models.Proposal):
        return record.text
    if isinstance(record, models.Summary):
        lists = ("; ".join(record.discussed), record.outcome, *record.decisions, *record.open_questions)
        return "\n".join(part for part in (record.topic, *lists) if part)
    return record.name
