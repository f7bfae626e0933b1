"""History of queries: operational data of this machine; a purge erases words from it like from any other text."""

from store.database.database import Database
from store.database.erasure.purged_words import tells
from store.database.values import Verbatim

KEPT = 200  # queries


class QueryHistory:
    """The queries whose results a person used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, query: str) -> None:
        """Add a query, or move it to the end if it is there; delete the oldest beyond KEPT. Skip one that contains a
        purged word or the beginning of one."""
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
        """Return the queries, newest first."""
        rows = self._database.rows("SELECT text FROM queries ORDER BY at DESC LIMIT ?", (limit,))
        return [text for (text,) in rows]

    def most(self, limit: int) -> list[tuple[str, int]]:
        """Return (query, number of times asked), the most frequent first, then the newest."""
        return self._database.rows("SELECT text, times FROM queries ORDER BY times DESC, at DESC LIMIT ?", (limit,))

    def forget(self) -> int:
        """Delete all queries; return how many there were."""
        with self._database.write("user", "queries") as write:
            write.execute("DELETE FROM queries")
            deleted: int = self._database.connection.changes()
            return deleted
