"""Tasks: pending, in progress, done."""

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON, TASK_STATUSES
from store.database.database import Database
from store.database.erasure import tombstones
from store.database.values import Verbatim, clean
from store.records.timeline.iterations import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Task

COLUMNS = "id, text, status, created_at, updated_at, iteration_id, origin, coalesce(tags, '[]')"
OPEN = ("in_progress", "pending")
# a status → the verb for setting it
MOVES = {"pending": "reopen", "in_progress": "start", "done": "done"}


class Tasks:
    """The tasks of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, text: str, *, iteration_id: int | None = None, actor: str = PERSON, again: bool = False) -> int:
        """Add a pending task; return its id. A purged text is added only `again` if a person wants it. Raise
        InvalidInput or Purged."""
        task = _checked(text)
        with self._database.write(actor, "task") as write:
            tombstones.refuse(write, task, again)
            number = write.insert(
                "tasks",
                text=task,
                status=Verbatim("pending"),
                created_at=Verbatim(write.at),
                updated_at=Verbatim(write.at),
                iteration_id=joined(write, iteration_id),
                origin=actor,
            )
            write.reason = f"task add {cite('task', number)}"
            return number

    def move(self, number: int, status: str, *, actor: str = PERSON) -> None:
        """Set a task's status: pending, in_progress, done. Raise NotFound, Conflict or InvalidInput."""
        self.move_all([number], status, actor=actor)

    def move_all(self, numbers: Sequence[int], status: str, *, actor: str = PERSON) -> None:
        """Set the status of several tasks in one step: all of them or none. Raise Conflict for one that has it."""
        _known(status)
        if not numbers:
            raise InvalidInput("No task was named.", "Name tasks by their numbers: task done 3 4.")
        with self._database.write(actor, _reason(MOVES[status], numbers)) as write:
            for number in dict.fromkeys(numbers):
                before = write.execute("SELECT status FROM tasks WHERE id = ?", (number,)).get
                if before is None:
                    raise _missing(number)
                if before == status:
                    words = status.replace("_", " ")
                    raise Conflict(f"{cite('task', number)} is {words} already.", "List them with `memoranda tasks`.")
                write.execute(
                    "UPDATE tasks SET status = ?, updated_at = ? WHERE id = ?",
                    (Verbatim(status), Verbatim(write.at), number),
                )

    def correct(self, number: int, text: str, *, actor: str = PERSON) -> None:
        """Correct a task's text; history keeps the old one. Raise NotFound or InvalidInput."""
        task = _checked(text)
        with self._database.write(actor, f"correct {cite('task', number)}") as write:
            before = write.execute("SELECT text FROM tasks WHERE id = ?", (number,)).get
            if before is None:
                raise _missing(number)
            if before == task:
                raise InvalidInput(f"{cite('task', number)} says exactly that.")
            write.execute("UPDATE tasks SET text = ?, updated_at = ? WHERE id = ?", (task, Verbatim(write.at), number))

    def get(self, number: int) -> "Task":
        """Return one task. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise _missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Task]":
        """Return the tasks of these ids that exist, in this order."""
        import json

        from store.base.models import Task

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM tasks WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        by_id = {row[0]: Task(*(*row[:-1], tuple(json.loads(row[-1])))) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

    def ids(self, *, statuses: Sequence[str] = OPEN, iteration_id: int | None = None, limit: int = -1) -> list[int]:
        """List the ids of tasks with these statuses, of all or of one iteration: those in progress, then the pending,
        each in the order they were added; then the done, the last one done first."""
        for status in statuses:
            _known(status)
        rows = self._database.rows(
            f"SELECT id FROM tasks WHERE status IN ({', '.join('?' * len(statuses))})"
            f"{'' if iteration_id is None else ' AND iteration_id = ?'}"
            " ORDER BY status = 'done', status = 'pending', CASE status WHEN 'done' THEN updated_at END DESC, id"
            " LIMIT ?",
            (*statuses, *(() if iteration_id is None else (iteration_id,)), limit),
        )
        return [number for (number,) in rows]


def _known(status: str) -> None:
    if status not in TASK_STATUSES:
        raise InvalidInput("There is no such status of a task.", f"Choose one of: {', '.join(TASK_STATUSES)}.")


def _checked(text: str) -> str:
    """Return a task's text as it will be stored. Raise InvalidInput."""
    task = clean(text).strip()
    if not task:
        raise InvalidInput("A task says what is to be done.", 'Write it: task add "renew the certificate".')
    return task


def _reason(verb: str, numbers: Sequence[int]) -> str:
    """Return the verb and its tasks; of many, the first ten."""
    more = f" +{len(numbers) - 10}" if len(numbers) > 10 else ""
    return f"task {verb} {' '.join(cite('task', number) for number in numbers[:10])}{more}"


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no task {cite('task', number)}.", "List them with `memoranda tasks --all`.")
