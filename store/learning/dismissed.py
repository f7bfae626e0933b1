"""Texts that a person dismissed: facts removed by an undo, rejected proposals. A turn older than that does not propose
them again."""

from store.base.models import Turn
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.history.compression import every_row


class DismissedTexts:
    """The dismissed texts of one memory and when each was dismissed; kept up to date."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at: dict[str, str] = {}  # normalised text → timestamp
        self._step = 0

    def after(self, turn: Turn, text: str) -> bool:
        """Return whether this text was dismissed after the turn."""
        newest = self._database.value("SELECT max(seq) FROM history") or 0
        if newest != self._step:
            rows = self._database.rows(
                f"SELECT h.at, r.before ->> 'fact' FROM {every_row(self._database)} r JOIN history h ON h.seq = r.seq"
                " WHERE r.seq > ? AND r.tbl = 'facts' AND r.op = 'DELETE' UNION ALL SELECT decided_at, text"
                " FROM proposals WHERE state = 'rejected' AND kind NOT IN ('confirm', 'forget')",
                (self._step,),
            )
            for at, gone in filter(all, rows):
                self._at[normal(gone)] = max(at, self._at.get(normal(gone), ""))
            self._step = newest
        return turn.at <= self._at.get(normal(text), "")
