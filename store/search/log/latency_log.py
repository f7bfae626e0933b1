"""How the last searches fared: how long each took, whether meaning had a part in it, how much was found. Operational,
figures alone, bounded.

They are noted after the answer was shown, and never waited for: where another program writes, a note is left out.
"""

from store.base.errors import StorageError
from store.database.database import Database
from store.database.values import Verbatim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.search.results import Answer

KEPT = 200  # searches


class LatencyLog:
    """The last searches of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, answer: "Answer") -> None:
        """Note an answer that somebody went on from; one that was refused, or is of the past, is none."""
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
        except StorageError:  # a busy file, a full disk: there was an answer all the same
            return
        finally:
            database.patience = patience

    def last(self, limit: int = KEPT) -> list[tuple[float, bool, int]]:
        """(milliseconds, whether with meaning, how much was found) of the last searches, the newest last."""
        rows = self._database.rows(
            "SELECT milliseconds, meaning, found FROM searches ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [(milliseconds, bool(meaning), found) for milliseconds, meaning, found in reversed(rows)]
