"""The search pipeline: keywords and vectors, fusion, recency, diversity; returns the best hits and the reasons for
each."""

from __future__ import annotations

import json
import logging
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeVar, cast

from store.base.citations import Citation, cite
from store.base.errors import ForeignFile, InvalidInput, MemorandaError
from store.base.models import (
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Proposal,
    Record,
    Summary,
    Task,
    Turn,
)
from store.base.runtime import is_part_disabled
from store.base.vocabulary import DOMAINS, KIND_NUMBERS, RECORD_KEY_MASK, SCOPES, SEARCHABLE, pack_key
from store.config.configuration import Config
from store.database.database import Database
from store.personal.memory import GLOBAL_SCOPE, find_personal_memory, personal_memory_problem
from store.records.tags import fold_tag
from store.records.workflow import Proposals
from store.search.fulltext import (
    MAX_QUERY_WORDS,
    TEMPORARY_INDEX,
    FullTextIndex,
    FullTextResult,
    QueryTerms,
    add_literal_matches,
    build_temporary_index,
    literal_parts,
)
from store.search.lookup import get_record, records_by_key
from store.search.query_parser import (
    INBOX_NOTE,
    IS_VALUES,
    QUERY_STATUSES,
    STATUS_ALIASES,
    CorpusFilters,
    ParsedQuery,
    SearchSettings,
    add_is_filter,
    matches_author,
    parse_memory_query,
)
from store.search.ranking import (
    RANKING_POOL,
    Candidate,
    CandidatePassage,
    RankedRecord,
    RankingQuestion,
    compute_idf,
    decay_scores,
    is_about_questions,
    is_only_question,
    judge_nearness,
    only_asks_in,
    rank_candidates,
    select_diverse,
    weigh_absent_words,
    weigh_candidates,
    word_overlap,
)
from store.search.results import (
    EXACT_HIT,
    FAR_HIT,
    NEAR_HIT,
    Hit,
    SearchAnswer,
    SearchLog,
    WordMarker,
    cut_snippet,
    merge_global_hits,
)
from store.search.semantic import PendingQueryVector, SemanticIndex
from store.text.sentences import says_something
from store.text.words import fold_text, load_stop_words

Found = TypeVar("Found")

# What keywords and vectors found, as candidates for the ranking.


def load_candidates(database: Database, found: FullTextResult, cosines: Mapping[int, float]) -> list[Candidate]:
    """Return the records of all passages that keywords or vectors found, with the fields that ranking uses."""
    scores = found.scores
    rows = database.rows(
        "SELECT p.id, p.row, p.start, p.line, p.code, substr(c.text, p.start + 1, p.end - p.start), c.kind,"
        " c.title, coalesce(u.at, c.at), coalesce(t.session, d.path), coalesce(t.number, k.id, 0), c.evergreen,"
        " c.kind <> 'turn' OR t.role = 'user', length(c.text)"
        " FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value JOIN corpus c ON c.id = p.row"
        " LEFT JOIN turns t ON c.kind = 'turn' AND t.id = c.record_id"
        " LEFT JOIN chunks k ON c.kind = 'document' AND k.id = c.record_id"
        " LEFT JOIN documents d ON d.id = k.document_id"
        # as old as what it sums up
        " LEFT JOIN summaries s ON c.kind = 'summary' AND s.id = c.record_id"
        " LEFT JOIN turns u ON u.session = s.session AND u.number = s.last",
        (json.dumps(list(dict.fromkeys((*scores, *cosines)))),),
    )
    records: dict[int, Candidate] = {}
    for id, row, start, line, code, text, kind, title, at, session, place, evergreen, own, length in rows:
        says = says_something(text if kind == "turn" else f"{title} {text}")
        if not says and id not in scores:
            # older versions gave it a vector
            continue
        cosine = cosines.get(id) if says else None
        tier = (id in found.verbatim) + (id in found.whole)
        one = CandidatePassage(id, text, scores.get(id, 0.0), cosine, start, line, bool(code), tier, says)
        if row in records:
            records[row].passages.append(one)
        else:
            records[row] = Candidate(
                row, kind, title, at, [one], session, place, bool(evergreen), bool(own), length
            )
    return list(records.values())


# Turns that only ask: no question is answered by a question, but by what was replied to it.


def put_replies_first(
    database: Database, question: str, order: list[RankedRecord], found: FullTextResult
) -> tuple[list[RankedRecord], frozenset[int]]:
    """Return a ranking without what only asks, in which the turn that replied to a question with all words of this one
    stands first, and the keys of such turns; `found` counts no more what is left out. A question about what was asked
    has its ranking unchanged."""
    if is_about_questions(question):
        return order, frozenset()
    asked = [place for place in order if only_asks_in(place.record, place.passage.text)]
    rest = [place for place in order if place not in asked]
    found.total -= sum(place.record.bm25 > 0 for place in asked)
    found.exact -= sum(place.record.tier > 0 for place in asked)
    # a summary of the question and its answer has the words of the question
    for place in rest:
        if place.record.tier and place.record.kind == "summary" and is_only_question(place.record.title):
            found.exact -= 1
            for one in place.record.passages:
                one.tier = 0
    same = [place.record.key >> 4 for place in asked if place.record.tier and place.record.kind == "turn"]
    keys = set(
        database.column(
            f"SELECT r.id * 16 + {KIND_NUMBERS['turn']} FROM json_each(?) j JOIN turns t ON t.id = j.value"
            " JOIN turns r ON r.session = t.session AND r.number = t.number + 1 AND r.role <> t.role",
            (json.dumps(same),),
        )
    )
    unseen = keys - {place.record.key for place in rest}
    best = max((place.score for place in rest or asked), default=0.0)
    seen = load_candidates(database, FullTextResult(dict.fromkeys(sorted(unseen), 1.0), 0, 0), {})
    replies = [record for record in seen if not only_asks_in(record, record.passages[0].text)]
    first = [RankedRecord(record, record.passages[0], 0.0, {}) for record in replies]
    first += [place for place in rest if place.record.key in keys]
    for place in first:
        place.add_signal("reply", max(0.0, best - place.score))
    found.total += len(replies)
    rest = [place for place in rest if place not in first]
    exact = [place for place in rest if place.record.tier]
    others = [place for place in rest if not place.record.tier]
    return [*exact, *first, *others], frozenset(place.record.key & RECORD_KEY_MASK for place in first)


# Records related to a record: near its stored vector, or with its rarest words. Runs no model.

# rarest words of a record that are searched for
RAREST_WORDS = 8
# distinct words that are considered, from the beginning of its text
MAX_CONSIDERED_WORDS = 300
# weights of the cosine and of bm25
RELATED_VECTOR_WEIGHT, RELATED_TEXT_WEIGHT = 0.7, 0.3


@dataclass(slots=True, eq=False, repr=False)
class RelatedSource:
    """The record whose related records are searched for: its `key`, the `words` that represent it, and its whole
    text."""

    key: int
    words: list[str]
    text: str


def load_related_source(database: Database, keywords: FullTextIndex, citation: Citation) -> RelatedSource | None:
    """Return the cited record in the form that the search compares; None if it is not in this memory or cannot be
    searched."""
    try:
        key = pack_key(citation.kind, get_record(database, citation).id)
    except (MemorandaError, KeyError):  # a kind that cannot be searched has no key
        return None
    # the context of a turn (its neighbours) and of a fact (its domain) is not part of its own text
    row = database.row(
        "SELECT title, text, iif(kind IN ('turn', 'fact'), '', context) FROM corpus WHERE id = ?", (key,)
    )
    if row is None:
        return None
    text = "\n".join(filter(None, row))
    return RelatedSource(key, find_rarest_words(keywords, text), text)


def find_rarest_words(keywords: FullTextIndex, text: str) -> list[str]:
    """Return the rarest words of a text that also occur in another passage, the rarest first; at most RAREST_WORDS."""
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", text))
    telling = [
        word for word in words if len(word) > 2 and word not in load_stop_words("search") and not word.isdigit()
    ]
    counts = keywords.passage_counts(QueryTerms(telling[:MAX_CONSIDERED_WORDS]))
    shared = [word for word, count in counts.items() if count > 1]
    return sorted(shared, key=lambda word: counts[word])[:RAREST_WORDS]


# kinds whose snippet is cut from the passage found; of others it is cut from `searchable_text`
PASSAGE_SNIPPET_KINDS = frozenset(map(KIND_NUMBERS.__getitem__, ("turn", "document", "fact", "task")))
# least calibrated similarity of a related record that shares no word
MIN_RELATED_SIMILARITY = 0.2
# records shown as nearest where nothing was near enough
NEAREST_SHOWN = 5


class Search:
    """Search of one memory. Keywords always work; vectors are used too where they exist and their model can be run."""

    def __init__(self, database: Database, settings: SearchSettings, meaning: SemanticIndex | None = None) -> None:
        self._database = database
        self._settings = settings
        self._keywords = FullTextIndex(database)
        # whether the stored index of words is read
        self._stored = True
        # set when that is found damaged
        self._damaged = False
        if is_part_disabled("fts5"):
            self._use_temporary_index()
        self.meaning = meaning

    @classmethod
    def from_config(cls, database: Database, config: Config) -> Search:
        """Return the search of a memory with the settings of `config`."""
        return cls(database, SearchSettings(config), SemanticIndex(database, config))

    @property
    def log(self) -> SearchLog:
        """What is noted of searches: queries, durations, opened records."""
        return SearchLog(self._database)

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
    ) -> SearchAnswer:
        """Search all records; return the matches, best first. Filters given as arguments apply in addition to those in
        the query.

        `since` is inclusive, `before` exclusive; `status` is a word that `is:` takes; `author` a part of a commit's
        author, of a speaker's name or of a record's origin; `tag` a whole tag; `iteration_id` the iteration that a
        record belongs to. `min_score` is a calibrated similarity, for hits that are not exact and have a
        vector.
        `scope` is one of SCOPES, for facts of it alone, or else the key of the session that asks (see
        `why_search_denied`): a session that may not search gets an empty answer with a note. With `meaning=False`
        vectors are not used. With `far` the hits are the first of the ranking, near or not. With `told` what only asks
        is no hit, unless the query is about what was asked: what was replied to the same question stands for it. With
        `typing` the last word may be the beginning of one.

        Raise InvalidInput for a filter argument only: no `query` is refused. `Database.interrupt`, called from another
        thread, stops a running search (apsw.InterruptError).
        """
        start = time.perf_counter()
        asked = parse_memory_query(self._database, query)
        for name, value, words in (
            ("kind", kinds, SEARCHABLE),
            ("domain", (domain,) if domain else (), DOMAINS),
            ("status", (status,) if status else (), IS_VALUES),
        ):
            if set(value) - set(words):
                raise InvalidInput(f"There is no such {name}.", f"Choose among: {', '.join(words)}.")
        status = STATUS_ALIASES.get(status, status)
        asked.typing &= typing
        refused = "" if scope in SCOPES else self._settings.why_denied(scope)
        if refused:
            logging.getLogger("memoranda").warning("a search of the session %s was denied: %s", scope, refused)
            return SearchAnswer([], 0, 0, _elapsed_ms(start), [f"This session may not search: {refused}."], ())
        if status in QUERY_STATUSES and asked.status and status != asked.status:
            # no record has two statuses
            return SearchAnswer([], 0, 0, _elapsed_ms(start), asked.notes)
        add_is_filter(asked, status)
        asked.kinds += [tuple(kinds)] if kinds else []
        asked.domains += [domain] if domain else []
        asked.scopes += [scope] if scope in SCOPES else []
        asked.tags += [tag] if tag else []
        asked.authors += [author] if author else []
        asked.since = max(since, asked.since)
        asked.before = min(filter(None, (before, asked.before)), default="")
        asked.iterations += [iteration_id] if iteration_id else []
        answer = self._run_query(asked, max(0, limit), min_score, meaning, start, far, told)
        answer.refused = len(asked.refused)
        elsewhere = asked.branches or asked.iterations or asked.linked or asked.related or asked.rests or limit < 1
        if not elsewhere and set(asked.scopes) <= {GLOBAL_SCOPE} and (not kinds or "fact" in kinds):
            given: dict[str, Any] = {"domain": domain, "status": status, "author": author}
            given |= {"tag": tag, "since": since, "before": before, "typing": typing}
            self._add_global(answer, query, limit, given, min_score, meaning)
            answer.milliseconds = _elapsed_ms(start)
        return answer

    def _add_global(
        self,
        answer: SearchAnswer,
        query: str,
        limit: int,
        given: dict[str, Any],
        min_score: float,
        meaning: bool,
    ) -> None:
        """Add the person's global facts to the answer of a project's memory."""
        own = find_personal_memory(self._database)
        if own is None:
            if why := personal_memory_problem(self._database):
                answer.notes.append(f"Global facts are not searched: {why}")
            return
        search = Search(own, self._settings, self.meaning.for_database(own) if self.meaning else None)
        found = search(
            query, limit, kinds=("fact",), scope=GLOBAL_SCOPE, min_score=min_score, meaning=meaning, **given
        )
        merge_global_hits(answer, found, limit)

    def count_by_kind(self, query: str) -> dict[str, int]:
        """Return how many records of each kind share a word with a query, or pass its filters if it has no words; empty
        where that is not known."""
        asked = parse_memory_query(self._database, query)
        words = self._select_words(asked)
        if asked.related or not self._stored:
            return {}
        return self._keywords.count_by_kind(words, CorpusFilters(self._database, asked))

    def _run_query(
        self, asked: ParsedQuery, limit: int, min_score: float, meaning: bool, start: float, far: bool, told: bool
    ) -> SearchAnswer:
        """Return the answer to a parsed query, with the settings and the filters that it asks for."""
        settings = self._settings
        filters = CorpusFilters(self._database, asked)
        for number in asked.iterations:
            if not self._database.value("SELECT 1 FROM iterations WHERE id = ?", (number,)):
                asked.notes.append(f"There is no {cite('iteration', number)} in this memory.")
        source = load_related_source(self._database, self._keywords, asked.related) if asked.related else None
        if source:
            asked.words += source.words
            asked.typing = asked.typing and bool(asked.text) and not source.words
        elif asked.related:
            asked.notes.append(f"There is no {asked.related} in this memory that something could be related to.")
        words = self._select_words(asked)
        look = None
        if meaning and self.meaning and source:
            look = self.meaning.query_from_stored(source.key)
        elif meaning and self.meaning and words.kept:
            look = self.meaning.start_query(asked.text, filters.kinds)
        most = max(1, settings.multiplier) * limit if settings.plain else max(RANKING_POOL, limit)
        found = self._find_keywords(words, filters, most, asked.notes)
        if not found.scores and asked.quotes_in_part:
            quoted = "”, “".join(words.phrases)
            asked.notes.append(f"No record contains “{quoted}”: searched without the quotation marks.")
            words.phrases = []
            found = self._find_keywords(words, filters, most, asked.notes)
        # a quoted phrase must occur in the passage
        only = found.scores if words.phrases else None
        cosines = look.nearest_passages(filters, list(found.scores), most, only) if look else {}
        notes = [*asked.notes, *(look.notes if look else ())]
        signals: tuple[str, ...] = ("keywords", "meaning") if cosines else ("keywords",)
        state = _SearchState(asked, words, found, notes, signals, look, start)
        if source:
            return self._find_related(state, source, cosines, limit)
        as_it_stands = bool(words.literal and found.whole) and set(words.own) <= set(words.literal)
        if not words.kept or as_it_stands or (not cosines and words.is_single_letter):
            pool = load_candidates(self._database, found, {})
            places = {record.key: record for record in pool}
            order = [
                RankedRecord(place, place.passages[0], score, {"text": score})
                for key, score in found.scores.items()
                if (place := places.get(key & RECORD_KEY_MASK))
            ]
            return self._build_answer(state, order[:limit], len(order))
        pool = load_candidates(self._database, found, cosines)
        if look and not settings.plain:
            look.set_space_cosines(asked.text, [one for record in pool for one in record.passages])
        replies: frozenset[int] = frozenset()
        if settings.plain:
            order = weigh_candidates(pool, settings.vector_weight, settings.text_weight)
        else:
            question = self._analyze_question(asked, words)
            exact = sum(record.tier > 0 for record in pool)
            order = rank_candidates(question, pool, self._keywords.stems)
            # not what only asks
            found.exact -= exact - sum(record.tier > 0 for record in pool)
            if told:
                order, replies = put_replies_first(self._database, asked.text, order, found)
        if look and not settings.plain:
            stems, similarity = self._keywords.stems, look.unclipped_similarity
            verdict = judge_nearness(question, len(words.own), order, stems, similarity, len(words.sequence))
            nothing = verdict.nothing and not (words.literal and found.scores)
            near = [
                place
                for place in order
                if place.record.key in replies
                or (not nothing and (place.record.bm25 > 0 or verdict.may_show(place.record)))
            ]
            if not near:
                if found.total:
                    notes.append(
                        f"Nothing here is about that; {found.total:,} share a word with it: search for fewer."
                    )
                found.total = found.exact = 0
                nearest = order[: limit if far else NEAREST_SHOWN]
                shown = nearest if far or (verdict.nothing and verdict.known) else []
                return self._build_answer(state, [], 0, shown)
            state.far = {one.record.key for one in order}.difference(one.record.key for one in near)
            order = order if far else near
        found.total += sum(not place.record.bm25 for place in order)
        if look and min_score:
            order = [one for one in order if one.record.tier or state.similarity(one.record, 1.0) >= min_score]
            found.total = len(order)
        if settings.plain and settings.half_life:
            order = decay_scores(order, self._database.clock(), settings.half_life)
        if settings.plain and settings.diversity < 1:
            order = self._diversify(order, look, limit)
        return self._build_answer(state, order[:limit], len(order))

    def _select_words(self, asked: ParsedQuery) -> QueryTerms:
        """Return the words of a query that are searched for."""
        words = self._read_index(lambda: self._keywords.select_words(asked))
        words.literal = literal_parts(asked.text, asked.words)
        return words

    def _use_temporary_index(self) -> None:
        """Read an index of words that is made in memory, and not the stored one, from now on."""
        self._keywords, self._stored = FullTextIndex(self._database, TEMPORARY_INDEX), False

    def _read_index(self, read: Callable[[], Found]) -> Found:
        """Return what is read of the index of words: where the stored one is damaged, of one made in memory."""
        if not self._stored:
            build_temporary_index(self._database)
        try:
            return read()
        except ForeignFile:
            if not self._stored:
                raise
            self._use_temporary_index()
            self._damaged = True
            return self._read_index(read)

    def _find_keywords(
        self, words: QueryTerms, filters: CorpusFilters, most: int, notes: list[str]
    ) -> FullTextResult:
        """Return what the keywords find, with a note where the stored index is damaged."""
        found = self._read_index(lambda: self._keywords.find_passages(words, filters, most))
        if words.literal:
            found = add_literal_matches(
                self._database,
                words,
                filters,
                most,
                found,
                self._keywords.total_passages(),
                self._keywords.stems,
            )
        if self._damaged:
            notes.append(
                "The keyword index is damaged, and every record was read instead: memoranda health --index rebuild."
            )
        return found

    def _find_related(
        self, state: _SearchState, source: RelatedSource, cosines: dict[int, float], limit: int
    ) -> SearchAnswer:
        """Return the records that are related to `source`, without `source` itself."""
        found = state.found
        own = [key for key in found.scores if key & RECORD_KEY_MASK == source.key]
        found.total -= bool(own)
        for key in own:
            del found.scores[key]
        found.verbatim = found.whole = frozenset()
        found.exact = 0
        others = {key: cosine for key, cosine in cosines.items() if key & RECORD_KEY_MASK != source.key}
        pool = load_candidates(self._database, found, others)
        order = [
            place
            for place in weigh_candidates(pool, RELATED_VECTOR_WEIGHT, RELATED_TEXT_WEIGHT)
            if place.record.bm25 > 0 or state.similarity(place.record) >= MIN_RELATED_SIMILARITY
        ]
        found.total += sum(not place.record.bm25 for place in order)
        return self._build_answer(state, order[:limit], len(order))

    def _analyze_question(self, asked: ParsedQuery, words: QueryTerms) -> RankingQuestion:
        """Return the question as ranking uses it: its words with their rarity, and what it asks for."""
        total = self._keywords.total_passages()
        stems = self._keywords.stems
        weights = {}
        counts = self._keywords.passage_counts(words)
        absent = sum(counts.get(word) == 0 for word in words.own if word != words.prefix)
        for word, count in counts.items():
            for stem in stems(word):
                weights[stem] = compute_idf(total, count)
        prefix = next(iter(stems(words.prefix)), None) if words.prefix else None
        return RankingQuestion(asked.text, weights, prefix, asked.code, weigh_absent_words(absent, total))

    def _diversify(
        self, order: list[RankedRecord], look: PendingQueryVector | None, limit: int
    ) -> list[RankedRecord]:
        """Return the first `limit` records, in an order in which records that repeat an earlier record come later."""
        order = order[: 2 * limit]
        if not order:
            return order
        most: float = max(place.score for place in order) or 1.0
        vectors = look.stored_vectors([place.passage.id for place in order]) if look else {}
        texts = [self._keywords.stems(place.passage.text) for place in order]

        def alike(one: int, other: int) -> float:
            a, b = order[one].passage.id, order[other].passage.id
            if look and a in vectors and b in vectors:
                return look.similarity_of(float(vectors[a] @ vectors[b]))
            return word_overlap(texts[one], texts[other])

        places = select_diverse([place.score / most for place in order], alike, self._settings.diversity, limit)
        return [order[place] for place in places]

    def _build_answer(
        self,
        state: _SearchState,
        order: Sequence[RankedRecord],
        count: int,
        nearest: Sequence[RankedRecord] = (),
    ) -> SearchAnswer:
        """Return the answer: each record as it is now, with a snippet."""
        words = state.words
        marker = WordMarker(self._keywords.tokenizer, words.kept, words.prefix, words.literal)
        rows = records_by_key(self._database, [place.record.key for place in (*order, *nearest)])

        def hits(places: Sequence[RankedRecord]) -> list[Hit]:
            # another process may have deleted a record between the two reads
            return [
                self._build_hit(state, place, rows[key], marker)
                for place in places
                if (key := place.record.key) in rows
            ]

        shown = self._put_cited_first(state.asked.citation, hits(order))
        found = state.found
        return SearchAnswer(
            shown,
            max(found.total, len(shown)),
            found.left_out,
            _elapsed_ms(state.start),
            state.notes,
            state.signals,
            state.words,
            hits(nearest),
            max(found.exact, sum(hit.level == EXACT_HIT for hit in shown)),
            state.look.provider if state.look else "",
        )

    @staticmethod
    def _build_hit(state: _SearchState, place: RankedRecord, record: Record, marker: WordMarker) -> Hit:
        """Build a hit: the record with its snippet, level, similarity and the parts of its score."""
        one, kind = place.passage, place.record.kind
        if place.record.key & 15 in PASSAGE_SNIPPET_KINDS:
            text, marks = cut_snippet(
                one.text, marker, before=one.start > 0, after=one.start + len(one.text) < place.record.length
            )
        else:
            text, marks = cut_snippet(searchable_text(record), marker)
        level = EXACT_HIT if place.record.tier else FAR_HIT if place.record.key in state.far else NEAR_HIT
        similarity = state.similarity(place.record) if place.record.cosine is not None else None
        return Hit(kind, record, text, marks, place.score, similarity, place.why, level, one.start, one.line)

    def _put_cited_first(self, citation: Citation | None, hits: list[Hit]) -> list[Hit]:
        """Put the record that the whole query cites in front of the hits."""
        if citation is None:
            return hits
        try:
            record = get_record(self._database, citation)
        except MemorandaError:
            return hits
        score = hits[0].score if hits else 1.0
        text = cut_snippet(searchable_text(record), None)[0]
        first = Hit(citation.kind, record, text, [], score, why={"citation": score}, level=EXACT_HIT)
        return [first, *(hit for hit in hits if hit.key != first.key)]


@dataclass(slots=True, eq=False, repr=False)
class _SearchState:
    """The intermediate results of one search."""

    asked: ParsedQuery
    words: QueryTerms
    found: FullTextResult
    notes: list[str]
    signals: tuple[str, ...]
    look: PendingQueryVector | None
    start: float
    far: set[int] = field(init=False, default_factory=set)

    def similarity(self, record: Candidate, unseen: float = 0.0) -> float:
        """Return the calibrated similarity of a record's nearest passage; `unseen` where it has no vector."""
        cosine = record.cosine
        return unseen if cosine is None or self.look is None else self.look.similarity_of(cosine)


def _elapsed_ms(start: float) -> float:
    """Return the milliseconds since a moment of `time.perf_counter`."""
    return (time.perf_counter() - start) * 1000


def searchable_text(record: Record) -> str:
    """Return the text of a record that a snippet is cut from: its searched fields, in reading order."""
    if isinstance(record, Fact | GlobalFact):
        return record.fact
    if isinstance(record, Decision):
        parts = [record.title, record.chosen, record.context, record.rationale, *record.alternatives]
        return "\n".join(part for part in parts if part)
    if isinstance(record, Commit):
        return record.message
    if isinstance(record, Event):
        payload = "" if record.payload is None else json.dumps(record.payload, ensure_ascii=False)
        return " ".join(part for part in (record.event_type, record.phase, payload) if part)
    if isinstance(record, Iteration):
        return f"{record.command} {record.description}".strip()
    if isinstance(record, Task | Turn | Chunk | Proposal):
        return record.text
    if isinstance(record, Summary):
        lists = ("; ".join(record.discussed), record.outcome, *record.decisions, *record.open_questions)
        return "\n".join(part for part in (record.topic, *lists) if part)
    return record.title


# What waits in the inbox, searched for a person: beside the answer, and never in one that an agent is given.
#
# They are not indexed: their texts are read once they changed, and kept in memory.

# share of the query's words that a proposal must hold
MIN_WORD_SHARE = 0.5
# letters of a stem that is a whole word
SHORT_STEM = 3
# of a proposed decision, with its alternatives
DECISION_PARTS = ("chosen", "context", "rationale")


def search_for_person(
    memory_search: Search,
    database: Database,
    query: str,
    limit: int = 20,
    meaning: bool = True,
    iteration_id: int = 0,
    typing: bool = False,
) -> SearchAnswer:
    """Search for a person: as `memory_search` does, with what waits in the inbox in `SearchAnswer.waiting` and its
    number in `waits`. Where the query says `in:inbox` only the inbox is searched, and its proposals are the
    answer's hits."""
    answer = memory_search(query, limit, meaning=meaning, iteration_id=iteration_id, typing=typing)
    asked = parse_memory_query(database, query)
    asked.typing &= typing
    if not iteration_id:
        answer.waiting, answer.waits = _find_waiting(database, asked, limit)
    if asked.inbox:
        answer.hits, answer.total, answer.waiting, answer.waits = answer.waiting, answer.waits, [], 0
        answer.exact = sum(hit.level == EXACT_HIT for hit in answer.hits)
        answer.notes = [note for note in answer.notes if note != INBOX_NOTE]
        if _has_record_filters(asked):
            answer.notes.append("in:inbox goes with kind:fact, kind:decision, domain:, tag:, by:, since:, before:")
    return answer


def _find_waiting(database: Database, asked: ParsedQuery, limit: int) -> tuple[list[Hit], int]:
    """Return the proposals that a query finds, those with most of its words first, then the newest; and their number.
    A query of filters alone finds all that pass them, one of nothing none."""
    terms = _WaitingTerms(database, asked)
    narrowed = asked.authors or asked.domains or asked.tags or asked.since or asked.before or asked.kinds
    if _has_record_filters(asked) or not (terms.words or terms.literal or narrowed or asked.inbox):
        return [], 0
    shares = _load_waiting(database).word_shares(terms)
    found = sorted(shares, key=lambda number: (shares[number], number), reverse=True)
    if narrowed:
        rows = database.rows("SELECT id, origin, created_at, change FROM proposals WHERE state = 'waiting'")
        passing = {number for number, *row in rows if number in shares and _passes_filters(asked, *row)}
        found = [number for number in found if number in passing]
    marker = WordMarker(terms.tokenizer, terms.words, terms.prefix, terms.literal)
    shown = Proposals(database).get_many(found[:limit])
    return [_proposal_hit(one, shares[one.id], marker) for one in shown], len(found)


def _proposal_hit(proposal: Proposal, share: float, marker: WordMarker) -> Hit:
    """Build the hit of a proposal that holds a share of the query's words."""
    text, marks = cut_snippet(_proposal_text(proposal.text, proposal.change), marker)
    level = EXACT_HIT if share == 1 else NEAR_HIT
    return Hit("proposal", proposal, text, marks, share, why={"words": share}, level=level)


def _proposal_text(text: str, change: dict[str, Any]) -> str:
    """Return all words of a proposal: its text, and the rest of a decision."""
    decision = change.get("decision")
    if not decision:
        return text
    parts = [text, *(decision.get(part) for part in DECISION_PARTS), *decision.get("alternatives", ())]
    return "\n".join(part for part in parts if part)


def _has_record_filters(asked: ParsedQuery) -> bool:
    """Return whether a query has a filter that only records have."""
    states = (asked.status, asked.pinned, asked.ageing, asked.work, asked.rests, asked.scopes)
    return any(
        (*states, asked.branches, asked.iterations, asked.linked, asked.related, asked.code, asked.citation)
    )


def _passes_filters(asked: ParsedQuery, origin: str, created: str, change: str) -> bool:
    """Tell whether a proposal passes the filters of a query."""
    if (
        not all(matches_author(origin, author) for author in asked.authors)
        or created < asked.since
        or (asked.before and created >= asked.before)
    ):
        return False
    if not (asked.kinds or asked.domains or asked.tags):
        return True
    fields = json.loads(change)
    kind, own = "decision" if "decision" in fields else "fact", {fold_tag(tag) for tag in fields.get("tags", ())}
    return (
        all(kind in kinds for kinds in asked.kinds)
        and all(domain == fields.get("domain") for domain in asked.domains)
        and all(fold_tag(tag) in own for tag in asked.tags)
    )


class _WaitingTerms:
    """The words of a query, as they are looked for in texts that are read: `patterns` holds those of each word's stems,
    without capitals and accents, `literal` what is looked for as it stands, `phrases` what must be there."""

    def __init__(self, database: Database, asked: ParsedQuery) -> None:
        index = FullTextIndex(database)
        self.tokenizer = index.tokenizer
        typed = list(dict.fromkeys(asked.words))[:MAX_QUERY_WORDS]
        self.words = [word for word in typed if word.lower() not in load_stop_words("search")] or typed
        self.prefix = typed[-1] if asked.typing and typed[-1] in self.words else None
        self.literal = literal_parts(asked.text, asked.words)
        self.patterns = [
            [_stem_pattern(stem, word == self.prefix) for stem in index.stems(word)]
            for word in self.words
            if word not in self.literal
        ]
        self.phrases = (
            [] if asked.quotes_in_part else [re.compile(re.escape(fold_text(one))) for one in asked.phrases]
        )


class _WaitingTexts:
    """All that waits: the `ids`, the `starts` of their texts in the `whole`, and this `folded` (see `fold`)."""

    def __init__(self, database: Database) -> None:
        rows = database.rows("SELECT id, text, change FROM proposals WHERE state = 'waiting' ORDER BY id")
        texts = [
            _proposal_text(text, json.loads(change) if '"decision"' in change else {}) for _, text, change in rows
        ]
        self.ids = [row[0] for row in rows]
        self.starts = [0, *accumulate(len(text) + 1 for text in texts)][: len(texts)]
        self.whole = "\0".join(texts)
        self.folded = fold_text(self.whole)

    def word_shares(self, terms: _WaitingTerms) -> dict[int, float]:
        """Return id → which share of the words a proposal holds, of those that hold MIN_WORD_SHARE of them and each
        phrase."""
        held: Counter[int] = Counter()
        for stems in terms.patterns:
            held.update(
                set.intersection(*(self._places_with(stem, self.folded) for stem in stems)) if stems else ()
            )
        for part in terms.literal:
            held.update(self._places_with(re.compile(re.escape(part)), self.whole))
        wanted = len(terms.patterns) + len(terms.literal)
        found = {place: count / wanted for place, count in held.items() if count / wanted >= MIN_WORD_SHARE}
        if not wanted:
            found = dict.fromkeys(range(len(self.ids)), 1.0)
        for phrase in terms.phrases:
            there = self._places_with(phrase, self.folded)
            found = {place: share for place, share in found.items() if place in there}
        return {self.ids[place]: share for place, share in found.items()}

    def _places_with(self, pattern: re.Pattern[str], text: str) -> set[int]:
        """Return the places of the proposals in which an expression is found."""
        return {bisect_right(self.starts, match.start()) - 1 for match in pattern.finditer(text)}


def _load_waiting(database: Database) -> _WaitingTexts:
    """Return what waits now; it is read again once that changed."""
    state = database.row(
        "SELECT (SELECT max(seq) FROM history), count(*), sum(length(text)) FROM proposals WHERE state = 'waiting'"
    )
    known = database.caches.get("waiting")
    if known is None or known[0] != state:
        known = database.caches["waiting"] = (state, _WaitingTexts(database))
    return cast("_WaitingTexts", known[1])


def _stem_pattern(stem: str, begun: bool) -> re.Pattern[str]:
    """Return the expression that finds the words of a stem; `begun` is one that is being typed. A short stem is a whole
    word, a longer one begins it."""
    # `polici` is the stem of policy too
    start = stem[:-1] if stem.endswith("i") and stem != "i" else stem
    rest = "" if begun else "[iy]" if start != stem else "" if len(stem) > SHORT_STEM else r"s?\b"
    start = re.escape(start)
    # `\b{start}` would look at each character
    return re.compile(rf"{start}(?<!\w{start}){rest}")
