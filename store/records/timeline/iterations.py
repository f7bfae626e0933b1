"""Iterations: cycles of work. A journal: only their end is ever changed."""

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.values import Json, Verbatim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Iteration

COLUMNS = "id, command, description, status, started_at, completed_at, phases_completed, artifacts, origin"


class Iterations:
    """The iterations of one memory; at most one is active."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, command: str, description: str = "", *, actor: str = PERSON) -> int:
        """Start a cycle of work (`feature`, `fix`, `spike` …). Raise Conflict while another is active."""
        if not command.strip():
            raise InvalidInput("An iteration has a kind.", "Name one: feature, fix, spike, ship, audit.")
        with self._database.write(actor, "iteration") as write:
            running = active(write)
            if running is not None:
                raise Conflict(f"{cite('iteration', running)} is still active.", "Complete or abandon it first.")
            return write.insert(
                "iterations",
                command=command.strip(),
                description=description.strip(),
                started_at=Verbatim(write.at),
                origin=actor,
            )

    def end(
        self,
        number: int | None = None,
        *,
        abandoned: bool = False,
        phases: Sequence[object] = (),
        artifacts: Sequence[object] = (),
        actor: str = PERSON,
    ) -> int:
        """Complete or abandon an iteration (the active one, unless named); return its id. Raise NotFound or
        Conflict."""
        with self._database.write(actor, "iteration") as write:
            number = active(write) if number is None else number
            if number is None:
                raise NotFound("No iteration is active.", "Start one first.")
            status = write.execute("SELECT status FROM iterations WHERE id = ?", (number,)).get
            if status is None:
                raise _missing(number)
            if status != "active":
                raise Conflict(f"{cite('iteration', number)} was {status} already.")
            write.execute(
                "UPDATE iterations SET status = ?, completed_at = ?, phases_completed = ?, artifacts = ? WHERE id = ?",
                (
                    Verbatim("abandoned" if abandoned else "completed"),
                    Verbatim(write.at),
                    Json(list(phases)),
                    Json(list(artifacts)),
                    number,
                ),
            )
            return number

    def get(self, number: int) -> "Iteration":
        """Return one iteration. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise _missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Iteration]":
        """Return the iterations of these ids that exist, in this order."""
        import json

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM iterations WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        by_id = {row[0]: _iteration(row) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

    def ids(self, limit: int = -1) -> list[int]:
        """List the ids of iterations, newest first."""
        rows = self._database.rows("SELECT id FROM iterations ORDER BY started_at DESC, id DESC LIMIT ?", (limit,))
        return [number for (number,) in rows]

    def belonging(self, numbers: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return how much belongs to each of these iterations: (decisions that are not forgotten, commits)."""
        import json

        rows = self._database.rows(
            "SELECT value,"
            " (SELECT count(*) FROM decisions WHERE iteration_id = value AND status <> 'forgotten'),"
            " (SELECT count(*) FROM commits WHERE iteration_id = value)"
            " FROM json_each(?)",
            (json.dumps(list(numbers)),),
        )
        return {number: (decisions, commits) for number, decisions, commits in rows}

    def active(self) -> "Iteration | None":
        """Return the active iteration, if there is one."""
        row = self._database.row(f"SELECT {COLUMNS} FROM iterations WHERE status = 'active' ORDER BY id DESC LIMIT 1")
        return _iteration(row) if row else None


def active(write: Transaction) -> int | None:
    """Return the id of the active iteration, inside a transaction."""
    found: int | None = write.execute("SELECT id FROM iterations WHERE status = 'active' ORDER BY id DESC LIMIT 1").get
    return found


def joined(write: Transaction, number: int | None) -> int | None:
    """Return the iteration for a new record: the one named, else the active one. Raise NotFound."""
    if number is None:
        return active(write)
    if write.execute("SELECT 1 FROM iterations WHERE id = ?", (number,)).get is None:
        raise _missing(number)
    return number


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no iteration {cite('iteration', number)}.", "List them with `memoranda iterations`.")


def _iteration(row: "tuple[Any, ...]") -> "Iteration":
    import json

    from store.base.models import Iteration

    *columns, phases, artifacts, origin = row
    return Iteration(*(*columns, tuple(json.loads(phases)), tuple(json.loads(artifacts)), origin))
