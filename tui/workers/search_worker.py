"""Search for the application: by keywords at once, and in parallel the full search, which may wait for a model.

Two connections, so that a keyword search never waits for the model's answer to an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import apsw

from store.base.clock import Clock
from store.base.location import Location
from store.memory import Memory
from store.search.query.query_parser import parse
from store.search.results import Answer
from tui.workers.base import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.services.as_of import PastState

HITS = 100  # maximum hits of a search


class SearchWorker(Worker):
    """Searches one memory; each of the two kinds one at a time."""

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__(location, clock)
        self._quick, self._whole = _Connection(), _Connection()
        self._past: PastState | None = None  # the past state to search; None for the present

    def look(self, past: PastState | None) -> None:
        """Search this past state from now on; None for the present."""
        self._past = past
        self.interrupt()

    def keywords(self, query: str, limit: int = HITS) -> Answer | None:
        """Search by keywords; return None if `interrupt` stopped it."""
        return self._search(self._quick, query, limit, False, lambda: True)

    def everything(self, query: str, wanted: Callable[[], bool], limit: int = HITS) -> Answer | None:
        """Search by keywords and meaning; return None if `interrupt` stopped it or it is no longer wanted."""
        return self._search(self._whole, query, limit, True, wanted)

    def adds(self, query: str) -> bool:
        """Return whether meaning can add hits: embeddings are usable here, and the query is longer than one letter."""
        with self._quick.busy:
            memory = self._open(self._quick)
            asked = parse(query, memory.now)
            serves = memory.search.meaning
            return bool((len(asked.text) > 1 or asked.related) and serves is not None and serves.serves)

    def kinds(self, query: str) -> dict[str, int]:
        """Count what a query finds by kind; empty if `interrupt` stopped it."""
        with self._quick.busy:
            try:
                return self._open(self._quick).search.kinds(query)
            except apsw.InterruptError:
                return {}

    def spellings(self, query: str) -> dict[str, list[str]]:
        """Return alternative spellings for the words of a query that occur in no record."""
        from store.search.signals.fts import FullTextIndex
        from store.search.signals.spelling import spellings

        if self._past is not None:
            return {}  # the vocabulary is that of the present
        with self._quick.busy:
            database = self._open(self._quick).database
            try:
                return spellings(database, FullTextIndex(database), parse(query, database.clock()).words)
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
    ) -> Answer | None:
        from store.search.waiting import search as search_for_person

        with connection.busy:  # an interrupted one takes a moment to end
            if not wanted():
                return None
            try:
                memory = self._open(connection)
                return search_for_person(memory.search, memory.database, query, limit, meaning, typing=True)
            except apsw.InterruptError:
                return None

    def _open(self, connection: _Connection) -> Memory:
        past = self._past
        if connection.memory is None or connection.past is not past:
            if connection.memory is not None:
                connection.memory.close()
                connection.memory = None
            if past is None:
                connection.memory = self.memory()
            else:
                from store.services.as_of import PastMemory

                connection.memory = PastMemory(self._location, "app", past)
            connection.past = past
        return connection.memory


class _Connection:
    """A connection and its lock."""

    def __init__(self) -> None:
        self.busy = Lock()
        self.memory: Memory | None = None
        self.past: PastState | None = None  # the past state of its memory
