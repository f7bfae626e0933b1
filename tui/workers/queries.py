"""Read an open memory again, and search it beside the screen."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import apsw

from store.base.citations import parse_citation
from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.models import Chunk, Record, Step
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.lookup import get_records, kind_of_record
from store.search.pipeline import search_for_person
from store.search.query_parser import parse_query
from store.search.results import SearchAnswer, suggest_spellings
from store.upkeep.as_of import PastMemory, PastState
from tui.workers.background import Worker


def reread_record(memory: Memory, record: Record | Step) -> Record | Step | None:
    """Read a record again; of a document's lines their new position, or the chunk that replaced them, else the old
    ones, whose description tells that they are outdated."""
    if isinstance(record, Step):
        return next(iter(memory.history.get_many([record.seq])), None)
    if isinstance(record, Chunk):
        moved = [found for found in memory.documents.get_many([record.id]) if found.text == record.text]
        try:
            return moved[0] if moved else memory.documents.cited_lines(parse_citation(record.citation))
        except MemorandaError:
            return record
    found = get_records(memory.database, kind_of_record(record), [record.id])
    return found[0] if found else None


class SearchChoices(NamedTuple):
    """What a search can be narrowed by: the number of records of each kind, the tags in use with their numbers,
    and the authors of commits; the highest numbers first."""

    kinds: dict[str, int]
    tags: list[tuple[str, int]]
    authors: list[str]


def read_search_choices(memory: Memory) -> SearchChoices:
    """Count what a search can be narrowed by."""
    rows = memory.database.rows(
        "SELECT 'fact', count(*) FROM facts WHERE status = 'active'"
        " UNION ALL SELECT 'task', count(*) FROM tasks UNION ALL SELECT 'turn', count(*) FROM turns"
    )
    wrote = memory.database.rows(
        "SELECT author FROM commits WHERE author <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    kinds = {**memory.timeline.count_kinds(), **dict(rows)}
    return SearchChoices(kinds, memory.tagging.list_tags(), [author for (author,) in wrote])


# Search for the application: by keywords at once, and in parallel the full search, which may wait for a model.
#
# Two connections, so that a keyword search never waits for the model's answer to an earlier one.

SEARCH_HITS = 100  # maximum hits of a search


class SearchWorker(Worker):
    """Searches one memory; each of the two kinds one at a time."""

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock)
        self._quick, self._whole = _Connection(), _Connection()
        self._past: PastState | None = None  # the past state to search; None for the present

    def search_past(self, past: PastState | None) -> None:
        """Search this past state from now on; None for the present."""
        self._past = past
        self.interrupt()

    def keywords(self, query: str, limit: int = SEARCH_HITS) -> SearchAnswer | None:
        """Search by keywords; return None if `interrupt` stopped it."""
        return self._search(self._quick, query, limit, False, lambda: True)

    def everything(self, query: str, wanted: Callable[[], bool], limit: int = SEARCH_HITS) -> SearchAnswer | None:
        """Search by keywords and meaning; return None if `interrupt` stopped it or it is no longer wanted."""
        return self._search(self._whole, query, limit, True, wanted)

    def adds(self, query: str) -> bool:
        """Return whether meaning can add hits: embeddings are usable here, and the query is longer than one letter."""
        with self._quick.busy:
            memory = self._open_connection(self._quick)
            asked = parse_query(query, memory.now)
            serves = memory.search.meaning
            return bool((len(asked.text) > 1 or asked.related) and serves is not None and serves.has_vectors)

    def kinds(self, query: str) -> dict[str, int]:
        """Count what a query finds by kind; empty if `interrupt` stopped it."""
        with self._quick.busy:
            try:
                return self._open_connection(self._quick).search.count_by_kind(query)
            except apsw.InterruptError:
                return {}

    def spellings(self, query: str) -> dict[str, list[str]]:
        """Return alternative spellings for the words of a query that occur in no record."""
        if self._past is not None:
            return {}  # the vocabulary is that of the present
        with self._quick.busy:
            database = self._open_connection(self._quick).database
            try:
                return suggest_spellings(
                    database, FullTextIndex(database), parse_query(query, database.clock()).words
                )
            except apsw.InterruptError:
                return {}

    def close(self) -> None:
        """Stop the running searches, for good."""
        super().close()
        self.interrupt()

    def interrupt(self) -> None:
        """Stop the running searches."""
        for connection in (self._quick, self._whole):
            if connection.memory is not None:
                connection.memory.database.interrupt()

    def _search(
        self, connection: _Connection, query: str, limit: int, meaning: bool, wanted: Callable[[], bool]
    ) -> SearchAnswer | None:
        with connection.busy:  # an interrupted one takes a moment to end
            if not wanted():
                return None
            try:
                memory = self._open_connection(connection)
                return search_for_person(memory.search, memory.database, query, limit, meaning, typing=True)
            except apsw.InterruptError:
                return None

    def _open_connection(self, connection: _Connection) -> Memory:
        past = self._past
        if connection.memory is None or connection.past is not past:
            if connection.memory is not None:
                connection.memory.close()
                connection.memory = None
            if past is None:
                connection.memory = self.memory()
            else:
                connection.memory = PastMemory(self._location, "app", past)
            connection.past = past
        return connection.memory


class _Connection:
    """A connection and its lock."""

    def __init__(self) -> None:
        self.busy = Lock()
        self.memory: Memory | None = None
        self.past: PastState | None = None  # the past state of its memory
