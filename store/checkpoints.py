"""Checkpoints: named points in history, and the whole restore of one."""

from collections.abc import Sequence

from store.citations import cite
from store.database import Database
from store.errors import Conflict, InvalidInput, NotFound
from store.history import mark
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
            return mark(write, name.strip() or "unnamed", "person")

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
        from store.rewind import to_step

        return len(to_step(self._database, self.get(number).seq))

    def restore(self, number: int, *, actor: str = PERSON) -> tuple[int, int]:
        """Put every recorded table back to where it was: (records changed, id of the checkpoint taken just before).

        One new change, which an undo takes back. Commits, events and history are never rolled back. Both ids are of
        the same transaction, so a kill leaves the old memory or the new one. Raises NotFound, Conflict.
        """
        from store.plans import Plans

        plans = Plans(self._database)
        plan = plans.checkpoint(number)
        if not plan.changes:
            raise Conflict(f"Nothing changed since {cite('checkpoint', number)}.", "There is nothing to restore.")
        applied = plans.apply(plan, range(len(plan.changes)), actor=actor)
        assert applied.checkpoint is not None
        return applied.changed, applied.checkpoint


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no checkpoint {cite('checkpoint', number)}.", "List them with `memoranda checkpoints`.")
