"""Search an open memory beside the screen."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.pipeline import search_for_person
from store.search.query_parser import parse_query
from store.search.results import SearchAnswer, suggest_spellings
from store.upkeep.as_of import PastState
from tui.workers.background import Connection


def read_search_choices(memory: Memory) -> tuple[dict[str, int], list[tuple[str, int]], list[str]]:
    """Count what a search can be narrowed by: the number of records of each kind, the tags in use with their numbers,
    and the authors of commits; the highest numbers first."""
    rows = memory.database.rows(
        "SELECT 'fact', count(*) FROM facts WHERE status = 'active'"
        " UNION ALL SELECT 'task', count(*) FROM tasks UNION ALL SELECT 'turn', count(*) FROM turns"
    )
    wrote = memory.database.rows(
        "SELECT author FROM commits WHERE author <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    kinds = {**memory.timeline.count_kinds(), **dict(rows)}
    return kinds, memory.tagging.list_tags(), [author for (author,) in wrote]


# Search for the application: by keywords at once, and in parallel the full search, which may wait for a model.
#
# Two connections, so that a keyword search never waits for the model's answer to an earlier one.

SEARCH_HITS = 100  # maximum hits of a search


class SearchWorker:
    """Searches one memory, which `opens` opens; each of the two kinds one at a time."""

    def __init__(self, opens: Callable[[PastState | None], Memory]) -> None:
        self._quick, self._whole = Connection(opens), Connection(opens)
        self._past: PastState | None = None  # the past state to search; None for the present

    def search_past(self, past: PastState | None) -> None:
        """Search this past state from now on; None for the present."""
        self._past = past
        self.interrupt()

    def keywords(self, query: str) -> SearchAnswer | None:
        """Search by keywords; return None if `interrupt` stopped it."""
        return self._search(self._quick, query, False, lambda: True)

    def everything(self, query: str, wanted: Callable[[], bool]) -> SearchAnswer | None:
        """Search by keywords and meaning; return None if `interrupt` stopped it or it is no longer wanted."""
        return self._search(self._whole, query, True, wanted)

    def adds(self, query: str) -> bool:
        """Return whether meaning can add hits: embeddings are usable here, and the query is longer than one letter."""
        with self._quick.busy:
            memory = self._quick.open(self._past)
            asked = parse_query(query, memory.now)
            serves = memory.search.meaning
            return bool((len(asked.text) > 1 or asked.related) and serves is not None and serves.has_vectors)

    def spellings(self, query: str) -> dict[str, list[str]]:
        """Return alternative spellings for the words of a query that occur in no record."""
        if self._past is not None:
            return {}  # the vocabulary is that of the present
        with self._quick.busy:
            database = self._quick.open(None).database
            try:
                words = parse_query(query, database.clock()).words
                return suggest_spellings(database, FullTextIndex(database), words)
            except apsw.InterruptError:
                return {}

    def interrupt(self) -> None:
        """Stop the running searches."""
        self._quick.interrupt()
        self._whole.interrupt()

    def _search(
        self, connection: Connection, query: str, meaning: bool, wanted: Callable[[], bool]
    ) -> SearchAnswer | None:
        with connection.busy:  # an interrupted one takes a moment to end
            if not wanted():
                return None
            try:
                memory = connection.open(self._past)
                return search_for_person(memory.search, memory.database, query, SEARCH_HITS, meaning, typing=True)
            except apsw.InterruptError:
                return None
