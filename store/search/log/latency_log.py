"""Durations of the last searches, with whether vectors were used and how many records were found. Operational data:
numbers only, bounded.

An entry is written after the answer is shown and without waiting: while another program writes, it is dropped.
"""

from store.base.errors import StorageError
from store.database.database import Database
from store.database.values import Verbatim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.search.results import Answer

KEPT = 200  # searches


class LatencyLog:
    """The durations of the last searches of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, answer: "Answer") -> None:
        """Log an answer. Skip one that was refused, and one from an earlier state of the memory."""
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
                write.execute("DELETE FROM searches WHERE id <= ?", (number - KEPT,))
        except StorageError:  # a busy file, a full disk: the answer is not affected
            return
        finally:
            database.patience = patience

    def last(self, limit: int = KEPT) -> list[tuple[float, bool, int]]:
        """Return (milliseconds, whether vectors were used, records found) of the last searches, the newest last."""
        rows = self._database.rows(
            "SELECT milliseconds, meaning, found FROM searches ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [(milliseconds, bool(meaning), found) for milliseconds, meaning, found in reversed(rows)]
