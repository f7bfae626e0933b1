"""What is counted of a model's use, by task: the application shows only the sums."""

from typing import NamedTuple

from store.database.database import Database


class TaskUse(NamedTuple):
    """One row of `model_use`."""

    task: str
    asked: int
    valid: int
    fell_back: int
    kind: str
    model: str


def by_task(database: Database) -> list[TaskUse]:
    """Return the use of every task that was asked, by name."""
    rows = database.rows("SELECT task, asked, valid, fell_back, kind, model FROM model_use ORDER BY task")
    return [TaskUse(*row) for row in rows]
