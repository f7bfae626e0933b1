"""What a person did away with: facts that an undo took out again, proposals that were rejected. Words that are older do
not bring it back."""

from store.base.models import Turn
from store.database.database import Database
from store.database.erasure.tombstones import normal
from store.history.compression import every_row


class DismissedTexts:
    """What of one memory was done away with, and when; what is done meanwhile is seen."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at: dict[str, str] = {}  # by the text, normalised
        self._step = 0

    def after(self, turn: Turn, text: str) -> bool:
        """Whether that happened to this text after it was said in a turn."""
        self._refresh()
        return turn.at <= self._at.get(normal(text), "")

    def _refresh(self) -> None:
        newest = self._database.value("SELECT max(seq) FROM history") or 0
        if newest == self._step:
            return
        taken_out = self._database.rows(
            f"SELECT h.at, r.before ->> 'fact' FROM {every_row(self._database)} r JOIN history h ON h.seq = r.seq"
            " WHERE r.seq > ? AND r.tbl = 'facts' AND r.op = 'DELETE'",
            (self._step,),
        )
        rejected = self._database.rows(
            "SELECT decided_at, text FROM proposals WHERE state = 'rejected' AND kind NOT IN ('confirm', 'forget')"
        )
        for at, text in (*taken_out, *rejected):
            if text:
                self._at[normal(text)] = max(at, self._at.get(normal(text), ""))
        self._step = newest
