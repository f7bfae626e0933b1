"""The search pipeline: keywords and vectors, fusion, recency, diversity; returns the best hits and the reasons for
each."""

import json
import time
from collections.abc import Sequence

from store.base.citations import Citation, cite
from store.base.errors import ForeignFile, InvalidInput, MemorandaError
from store.base.feature_flags import without
from store.base.record_keys import NUMBERS, ROW
from store.base.vocabulary import DOMAINS, SCOPES, SEARCHABLE
from store.database.database import Database
from store.personal.beside import beside, trouble
from store.personal.global_facts import SCOPE as GLOBAL
from store.search import askings, lookup
from store.search.candidates import candidates
from store.search.log.accesses import Accesses
from store.search.log.query_history import QueryHistory
from store.search.query.filters import Filters, parsed
from store.search.query.query_parser import IS, STATUS_ALIASES, STATUSES, Query, also_is
from store.search.related import TEXT, VECTOR, Related, related
from store.search.results import EXACT, FAR, NEAR, Answer, Hit, with_global
from store.search.signals import literal, mmr, recency
from store.search.signals.fts import FullTextIndex, FullTextResult, QueryTerms
from store.search.signals.ranking import POOL, Candidate, Place, Question, idf, rank, weigh
from store.search.signals.verdict import judge, missed
from store.search.snippets import Marker, snippet
from store.search.table_scan import TableScan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Record
    from store.config.configuration import Config
    from store.search.log.latency_log import LatencyLog
    from store.search.settings import Settings
    from store.search.signals.semantic import PendingQueryVector, SemanticIndex

# kinds whose snippet is cut from the passage found; of others it is cut from `body`
FORMED = frozenset(map(NUMBERS.__getitem__, ("turn", "document", "fact", "task")))
RELATED_FROM = 0.2  # least calibrated similarity of a related record that shares no word
NEAREST_SHOWN = 5  # records shown as nearest where nothing was near enough


class Search:
    """Search of one memory. Keywords always work; vectors are used too where they exist and their model can be run."""

    def __init__(self, database: Database, settings: "Settings", meaning: "SemanticIndex | None" = None) -> None:
        self._database = database
        self._settings = settings
        self._keywords: FullTextIndex = FullTextIndex(database)
        self._damaged = False  # set when the keyword index is found damaged
        if without("fts5"):
            self._keywords = TableScan(database)
        self.meaning = meaning

    @classmethod
    def of(cls, database: Database, config: "Config") -> "Search":
        """Return the search of a memory with the settings of `config`."""
        from store.search.settings import Settings
        from store.search.signals.semantic import SemanticIndex

        return cls(database, Settings(config), SemanticIndex(database, config))

    @property
    def query_history(self) -> QueryHistory:
        """The history of queries."""
        return QueryHistory(self._database)

    @property
    def latency_log(self) -> "LatencyLog":
        """The durations of the last searches."""
        from store.search.log.latency_log import LatencyLog

        return LatencyLog(self._database)

    @property
    def accesses(self) -> Accesses:
        """The counter of opened records."""
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
        far: bool = False,
        told: bool = False,
        typing: bool = False,
    ) -> Answer:
        """Search all records; return the matches, best first. Filters given as arguments apply in addition to those in
        the query.

        `since` is inclusive, `before` exclusive; `status` is a word that `is:` takes; `author` a part of a commit's
        author, of a speaker's name or of a record's origin; `tag` a whole tag; `iteration_id` the iteration that a
        record belongs to. `min_score` is a calibrated similarity, for hits that are not exact and have a
        vector.
        `scope` is one of SCOPES, for facts of it alone, or else the key of the session that asks (see `access_scope`):
        a session that may not search gets an empty answer with a note. With `meaning=False` vectors are not used.
        With `far` the hits are the first of the ranking, near or not. With `told` what only asks is no hit, unless the
        query is about what was asked: what was replied to the same question stands for it. With `typing` the last
        word may be the beginning of one.

        Raise InvalidInput for a filter argument only: no `query` is refused. `Database.interrupt`, called from another
        thread, stops a running search (apsw.InterruptError).
        """
        start = time.perf_counter()
        asked = parsed(self._database, query)
        for name, value, words in (
            ("kind", kinds, SEARCHABLE),
            ("domain", (domain,) if domain else (), DOMAINS),
            ("status", (status,) if status else (), IS),
        ):
            if set(value) - set(words):
                raise InvalidInput(f"There is no such {name}.", f"Choose among: {', '.join(words)}.")
        status = STATUS_ALIASES.get(status, status)
        asked.typing &= typing
        refused = "" if scope in SCOPES else self._settings.denied(scope)
        if refused:
            import logging

            logging.getLogger("memoranda").warning("a search of the session %s was denied: %s", scope, refused)
            return Answer([], 0, 0, _since(start), [f"This session may not search: {refused}."], ())
        if status in STATUSES and asked.status and status != asked.status:
            return Answer([], 0, 0, _since(start), asked.notes)  # no record has two statuses
        also_is(asked, status)
        asked.kinds += [tuple(kinds)] if kinds else []
        asked.domains += [domain] if domain else []
        asked.scopes += [scope] if scope in SCOPES else []
        asked.tags += [tag] if tag else []
        asked.authors += [author] if author else []
        asked.since = max(since, asked.since)
        asked.before = min(filter(None, (before, asked.before)), default="")
        asked.iterations += [iteration_id] if iteration_id else []
        answer = self._answer(asked, max(0, limit), min_score, meaning, start, far, told)
        answer.refused = len(asked.refused)
        elsewhere = asked.iterations or asked.linked or asked.related or asked.rests or limit < 1
        if not elsewhere and set(asked.scopes) <= {GLOBAL} and (not kinds or "fact" in kinds):
            given: dict[str, Any] = {"domain": domain, "status": status, "author": author}
            given |= {"tag": tag, "since": since, "before": before, "typing": typing}
            self._add_global(answer, query, limit, given, min_score, meaning)
            answer.milliseconds = _since(start)
        return answer

    def _add_global(
        self, answer: Answer, query: str, limit: int, given: "dict[str, Any]", min_score: float, meaning: bool
    ) -> None:
        """Add the person's global facts to the answer of a project's memory."""
        own = beside(self._database)
        if own is None:
            if why := trouble(self._database):
                answer.notes.append(f"Global facts are not searched: {why}")
            return
        search = Search(own, self._settings, self.meaning.of(own) if self.meaning else None)
        found = search(query, limit, kinds=("fact",), scope=GLOBAL, min_score=min_score, meaning=meaning, **given)
        with_global(answer, found, limit)

    def kinds(self, query: str) -> dict[str, int]:
        """Return how many records of each kind share a word with a query, or pass its filters if it has no words; empty
        where that is not known."""
        asked = parsed(self._database, query)
        words = self._words(asked)
        return {} if asked.related else self._keywords.kinds(words, Filters(self._database, asked))

    def _answer(
        self, asked: Query, limit: int, min_score: float, meaning: bool, start: float, far: bool, told: bool
    ) -> Answer:
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
        most = max(1, settings.multiplier) * limit if settings.plain else max(POOL, limit)
        found = self._find(words, filters, most, asked.notes)
        if not found.scores and asked.quotes_in_part:
            quoted = "”, “".join(words.phrases)
            asked.notes.append(f"No record contains “{quoted}”: searched without the quotation marks.")
            words.phrases = []
            found = self._find(words, filters, most, asked.notes)
        only = found.scores if words.phrases else None  # a quoted phrase must occur in the passage
        cosines = look.near(filters, list(found.scores), most, only) if look else {}
        notes = [*asked.notes, *(look.notes if look else ())]
        signals: tuple[str, ...] = ("keywords", "meaning") if cosines else ("keywords",)
        state = _SearchState(asked, words, found, notes, signals, look, start)
        if source:
            return self._related(state, source, cosines, limit)
        as_it_stands = bool(words.literal and found.whole) and set(words.own) <= set(words.literal)
        if not words.kept or as_it_stands or (not cosines and words.single):
            pool = candidates(self._database, found, {})
            places = {record.key: record for record in pool}
            order = [
                Place(places[key & ROW], places[key & ROW].passages[0], score, {"text": score})
                for key, score in found.scores.items()
                if key & ROW in places
            ]
            return self._show(state, order[:limit], len(order))
        pool = candidates(self._database, found, cosines)
        if look and not settings.plain:
            look.move(asked.text, [one for record in pool for one in record.passages])
        replies: frozenset[int] = frozenset()
        if settings.plain:
            order = weigh(pool, settings.vector_weight, settings.text_weight)
        else:
            question = self._question(asked, words)
            exact = sum(record.tier > 0 for record in pool)
            order = rank(question, pool, self._keywords.stems)
            found.exact -= exact - sum(record.tier > 0 for record in pool)  # but one of what only asks
            order, replies = askings.answered(self._database, asked.text, order, found) if told else (order, replies)
        if look and not settings.plain:
            verdict = judge(question, len(words.own), order, self._keywords.stems, look.scaled, len(words.sequence))
            nothing = verdict.nothing and not (words.literal and found.scores)
            near = [
                place
                for place in order
                if place.record.key in replies
                or (not nothing and (place.record.bm25 > 0 or verdict.near(place.record)))
            ]
            if not near:
                if found.total:
                    notes.append(f"Nothing here is about that; {found.total:,} share a word with it: search for fewer.")
                found.total = found.exact = 0
                shown = order[: limit if far else NEAREST_SHOWN]
                return self._show(state, [], 0, shown if far or (verdict.nothing and verdict.known) else [])
            state.far = {one.record.key for one in order}.difference(one.record.key for one in near)
            order = order if far else near
        found.total += sum(not place.record.bm25 for place in order)
        if look and min_score:
            order = [one for one in order if one.record.tier or state.similarity(one.record, 1.0) >= min_score]
            found.total = len(order)
        if settings.plain and settings.half_life:
            order = recency.decayed(order, self._database.clock(), settings.half_life)
        if settings.plain and settings.diversity < 1:
            order = self._diverse(order, look, limit)
        return self._show(state, order[:limit], len(order))

    def _words(self, asked: Query) -> QueryTerms:
        try:
            words = self._keywords.words(asked)
        except ForeignFile:
            self._read_instead()
            words = self._keywords.words(asked)
        words.literal = literal.parts(asked.text, asked.words)
        return words

    def _read_instead(self) -> None:
        """Read the tables instead of the damaged index from now on."""
        self._keywords, self._damaged = TableScan(self._database), True

    def _find(self, words: QueryTerms, filters: Filters, most: int, notes: list[str]) -> FullTextResult:
        """Return what the keywords find: in the index or, where that is damaged, in the tables, with a note."""
        try:
            found = self._keywords.find(words, filters, most)
        except ForeignFile:
            self._read_instead()
            found = self._keywords.find(words, filters, most)
        if words.literal:
            found = literal.add(
                self._database, words, filters, most, found, self._keywords.total(), self._keywords.stems
            )
        if self._damaged:
            notes.append("The keyword index is damaged, and every record was read instead: memoranda index rebuild.")
        return found

    def _related(self, state: "_SearchState", source: Related, cosines: dict[int, float], limit: int) -> Answer:
        """Return the records that are related to `source`, without `source` itself."""
        found = state.found
        own = [key for key in found.scores if key & ROW == source.key]
        found.total -= bool(own)
        for key in own:
            del found.scores[key]
        found.verbatim = found.whole = frozenset()
        found.exact = 0
        others = {key: cosine for key, cosine in cosines.items() if key & ROW != source.key}
        pool = candidates(self._database, found, others)
        order = [
            place
            for place in weigh(pool, VECTOR, TEXT)
            if place.record.bm25 > 0 or state.similarity(place.record) >= RELATED_FROM
        ]
        found.total += sum(not place.record.bm25 for place in order)
        return self._show(state, order[:limit], len(order))

    def _question(self, asked: Query, words: QueryTerms) -> Question:
        total = self._keywords.total()
        stems = self._keywords.stems
        weights = {}
        counts = self._keywords.counts(words)
        absent = sum(counts.get(word) == 0 for word in words.own if word != words.prefix)
        for word, count in counts.items():
            for stem in stems(word):
                weights[stem] = idf(total, count)
        prefix = next(iter(stems(words.prefix)), None) if words.prefix else None
        return Question(asked.text, weights, prefix, asked.code, missed(absent, total))

    def _diverse(self, order: list[Place], look: "PendingQueryVector | None", limit: int) -> list[Place]:
        """Return the first `limit` records, reordered so that those which repeat an earlier one come later."""
        order = order[: 2 * limit]
        if not order:
            return order
        most: float = max(place.score for place in order) or 1.0
        vectors = look.vectors([place.passage.id for place in order]) if look else {}
        texts = [self._keywords.stems(place.passage.text) for place in order]

        def alike(one: int, other: int) -> float:
            a, b = order[one].passage.id, order[other].passage.id
            if look and a in vectors and b in vectors:
                return look.calibrated(float(vectors[a] @ vectors[b]))
            return mmr.overlap(texts[one], texts[other])

        places = mmr.mmr([place.score / most for place in order], alike, self._settings.diversity, limit)
        return [order[place] for place in places]

    def _show(self, state: "_SearchState", order: Sequence[Place], count: int, nearest: Sequence[Place] = ()) -> Answer:
        """Return the answer: each record as it is now, with a snippet."""
        words = state.words
        marker = Marker(self._keywords.tokenizer, words.kept, words.prefix, words.literal)
        rows = lookup.by_key(self._database, [place.record.key for place in (*order, *nearest)])

        def hits(places: Sequence[Place]) -> list[Hit]:
            # another process may have deleted a record between the two reads
            return [self._hit(state, place, rows[key], marker) for place in places if (key := place.record.key) in rows]

        shown = self._cited(state.asked.citation, hits(order))
        found = state.found
        return Answer(
            shown,
            max(found.total, len(shown)),
            found.left_out,
            _since(state.start),
            state.notes,
            state.signals,
            state.words,
            hits(nearest),
            max(found.exact, sum(hit.level == EXACT for hit in shown)),
            state.look.provider if state.look else "",
        )

    @staticmethod
    def _hit(state: "_SearchState", place: Place, record: "Record", marker: Marker) -> Hit:
        one, kind = place.passage, place.record.kind
        if place.record.key & 15 in FORMED:
            text, marks = snippet(
                one.text, marker, before=one.start > 0, after=one.start + len(one.text) < place.record.length
            )
        else:
            text, marks = snippet(body(record), marker)
        level = EXACT if place.record.tier else FAR if place.record.key in state.far else NEAR
        similarity = state.similarity(place.record) if place.record.cosine is not None else None
        return Hit(kind, record, text, marks, place.score, similarity, place.why, level, one.start, one.line)

    def _cited(self, citation: Citation | None, hits: list[Hit]) -> list[Hit]:
        """Put the record that the whole query cites in front of the hits."""
        if citation is None:
            return hits
        try:
            record = lookup.lookup(self._database, citation)
        except MemorandaError:
            return hits
        score = hits[0].score if hits else 1.0
        text = snippet(body(record), None)[0]
        first = Hit(citation.kind, record, text, [], score, why={"citation": score}, level=EXACT)
        return [first, *(hit for hit in hits if hit.key != first.key)]


class _SearchState:
    """The intermediate results of one search."""

    __slots__ = ("asked", "far", "found", "look", "notes", "signals", "start", "words")

    def __init__(
        self,
        asked: Query,
        words: QueryTerms,
        found: FullTextResult,
        notes: list[str],
        signals: tuple[str, ...],
        look: "PendingQueryVector | None",
        start: float,
    ) -> None:
        self.asked = asked
        self.words = words
        self.found = found
        self.notes = notes
        self.signals = signals
        self.look = look
        self.start = start
        self.far: set[int] = set()  # keys of what is not near

    def similarity(self, record: Candidate, unseen: float = 0.0) -> float:
        """Return the calibrated similarity of a record's nearest passage; `unseen` where it has no vector."""
        cosine = record.cosine
        return unseen if cosine is None or self.look is None else self.look.calibrated(cosine)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def body(record: "Record") -> str:
    """Return the text of a record that a snippet is cut from: its searched fields, in reading order."""
    from store.base import models

    if isinstance(record, models.Fact | models.GlobalFact):
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
    return record.title
