"""Checkpoints: named points in history, and the whole restore of one."""

from collections.abc import Sequence

from store import history
from store.citations import cite
from store.database import Database, Verbatim, Write
from store.errors import Conflict, InvalidInput, NotFound
from store.vocabulary import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Checkpoint

COLUMNS = "id, name, created_at, seq, trigger, origin"


class Checkpoints:
    """The checkpoints of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str = "", *, actor: str = PERSON) -> int:
        """Name this moment; the checkpoint's id. Raises InvalidInput."""
        if len(name) > 200:
            raise InvalidInput("A checkpoint's name holds at most 200 characters.", "Give it a shorter one.")
        with self._database.write(actor, "checkpoint") as write:
            return _take(write, name.strip() or "unnamed", "person")

    def get(self, number: int) -> "Checkpoint":
        """One checkpoint. Raises NotFound."""
        found = self.many([number])
        if not found:
            raise _missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Checkpoint]":
        """The checkpoints of these ids that exist, in no particular order."""
        import json

        from store.models import Checkpoint

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM checkpoints WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return [Checkpoint(*row) for row in rows]

    def list(self, limit: int = -1) -> "list[Checkpoint]":
        """Checkpoints, newest first."""
        from store.models import Checkpoint

        rows = self._database.rows(f"SELECT {COLUMNS} FROM checkpoints ORDER BY id DESC LIMIT ?", (limit,))
        return [Checkpoint(*row) for row in rows]

    def changed_since(self, number: int) -> int:
        """How many records are not what they were then: what a restore would change."""
        seq = self.get(number).seq
        return sum(now != then for _, _, now, then in history.net(self._database, seq))

    def restore(self, number: int, *, actor: str = PERSON) -> tuple[int, int]:
        """Put every recorded table back to where it was: (records changed, id of the checkpoint taken just before).

        One new change, which an undo takes back. Commits, events and history are never rolled back. Both ids are of
        the same transaction, so a kill leaves the old memory or the new one. Raises NotFound, Conflict.
        """
        with self._database.write(actor, f"restore {cite('checkpoint', number)}") as write:
            row = write.execute("SELECT seq, name FROM checkpoints WHERE id = ?", (number,)).get
            if row is None:
                raise _missing(number)
            edits: list[history.Edit] = []
            for table, key, now, then in history.net(self._database, row[0]):
                if now == then:
                    continue
                if now is None or then is None:
                    edits.append((table, key, now, then, False))
                    continue
                moved = [name for name in now if now[name] != then[name]]
                edits.append((table, key, {n: now[n] for n in moved}, {n: then[n] for n in moved}, True))
            if not edits:
                raise Conflict(f"Nothing changed since {cite('checkpoint', number)}.", "There is nothing to restore.")
            before = _take(write, f"before restoring {cite('checkpoint', number)}", "restore")
            if history.apply(write, edits):
                raise Conflict("The restore met a record that refers to what would go.", "Nothing was changed.")
            return len(edits), before


def _take(write: Write, name: str, trigger: str) -> int:
    seq = write.execute("SELECT coalesce(max(seq), 0) FROM history").get
    return write.insert(
        "checkpoints",
        name=name,
        created_at=Verbatim(write.at),
        seq=seq,
        trigger=Verbatim(trigger),
        origin=write.actor,
    )


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no checkpoint {cite('checkpoint', number)}.", "List them with `memoranda checkpoints`.")
