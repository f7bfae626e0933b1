"""Tasks: what is to be done, being done, done."""

from collections.abc import Sequence

from store.citations import cite
from store.database import Database, Verbatim
from store.errors import InvalidInput, NotFound
from store.iterations import joined
from store.vocabulary import PERSON, TASK_STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Task

COLUMNS = "id, text, status, created_at, updated_at, iteration_id, origin"


class Tasks:
    """The tasks of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, text: str, *, iteration_id: int | None = None, actor: str = PERSON) -> int:
        """Add a pending task; its id. Raises InvalidInput."""
        if not text.strip():
            raise InvalidInput("A task says what is to be done.")
        with self._database.write(actor, "task") as write:
            number = write.insert(
                "tasks",
                text=text.strip(),
                status=Verbatim("pending"),
                created_at=Verbatim(write.at),
                updated_at=Verbatim(write.at),
                iteration_id=joined(write, iteration_id),
                origin=actor,
            )
            write.reason = f"task {cite('task', number)}"
            return number

    def move(self, number: int, status: str, *, actor: str = PERSON) -> None:
        """Set a task's status: pending, in_progress, done. Raises NotFound, InvalidInput."""
        if status not in TASK_STATUSES:
            raise InvalidInput("There is no such status of a task.", f"Choose one of: {', '.join(TASK_STATUSES)}.")
        with self._database.write(actor, f"task {cite('task', number)}") as write:
            if write.execute("SELECT 1 FROM tasks WHERE id = ?", (number,)).get is None:
                raise _missing(number)
            write.execute(
                "UPDATE tasks SET status = ?, updated_at = ? WHERE id = ?",
                (Verbatim(status), Verbatim(write.at), number),
            )

    def get(self, number: int) -> "Task":
        """One task. Raises NotFound."""
        found = self.many([number])
        if not found:
            raise _missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Task]":
        """The tasks of these ids that exist, in no particular order."""
        import json

        from store.models import Task

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM tasks WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        return [Task(*row) for row in rows]


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no task {cite('task', number)}.")
