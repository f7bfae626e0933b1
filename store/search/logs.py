"""What searches note for themselves: queries, their durations, and which records were opened.

History of queries: operational data of this machine; a purge erases words from it like from any other text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from store.base.errors import MemorandaError, StorageError
from store.database.database import Database
from store.database.tombstones import has_purged_text
from store.database.values import Verbatim
from store.records.timeline import count_openings
from store.search.results import SearchAnswer

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
                    at=Verbatim(write.at),
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
                (text, Verbatim(write.at)),
            )
            write.execute(
                "DELETE FROM queries WHERE text NOT IN (SELECT text FROM queries ORDER BY at DESC LIMIT ?)",
                (MAX_KEPT_QUERIES,),
            )

    def recent_queries(self, limit: int = MAX_KEPT_QUERIES) -> list[str]:
        """Return the queries, newest first."""
        rows = self._database.rows("SELECT text FROM queries ORDER BY at DESC LIMIT ?", (limit,))
        return [text for (text,) in rows]

    def most_frequent(self, limit: int) -> list[tuple[str, int]]:
        """Return (query, number of times asked), the most frequent first, then the newest."""
        return self._database.rows("SELECT text, times FROM queries ORDER BY times DESC, at DESC LIMIT ?", (limit,))
