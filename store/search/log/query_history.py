"""What was asked before: operational data, of this machine, purged like any other text."""

from store.database.database import Database
from store.database.erasure.purged_words import tells
from store.database.values import Verbatim

KEPT = 200  # queries


class QueryHistory:
    """The queries that a person went on from, the newest last."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, query: str) -> None:
        """Keep a query; one that was asked before moves to the end, the oldest beyond KEPT go. One that says, or begins
        to say, what was purged is not kept."""
        text = " ".join(query.split())
        if not text or self._database.read_only or tells(self._database, text):
            return
        with self._database.write("user", "query") as write:
            write.execute(
                "INSERT INTO queries(text, at) VALUES (?, ?)"
                " ON CONFLICT(text) DO UPDATE SET at = excluded.at, times = times + 1",
                (text, Verbatim(write.at)),
            )
            write.execute(
                "DELETE FROM queries WHERE text NOT IN (SELECT text FROM queries ORDER BY at DESC LIMIT ?)", (KEPT,)
            )

    def recent(self, limit: int = KEPT) -> list[str]:
        """The queries kept, the newest first."""
        rows = self._database.rows("SELECT text FROM queries ORDER BY at DESC LIMIT ?", (limit,))
        return [text for (text,) in rows]

    def most(self, limit: int) -> list[tuple[str, int]]:
        """(query, how often it was asked) of those kept, the most frequent first, of as frequent ones the newest."""
        return self._database.rows("SELECT text, times FROM queries ORDER BY times DESC, at DESC LIMIT ?", (limit,))

    def forget(self) -> int:
        """Drop them all; how many there were."""
        with self._database.write("user", "queries") as write:
            write.execute("DELETE FROM queries")
            gone: int = self._database.connection.changes()
            return gone
