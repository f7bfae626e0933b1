"""Tasks, iterations, events and proposals.

Tasks: pending, in progress, done.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from store.base.citations import cite, parse_citation
from store.base.clock import days_before
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import Event, Iteration, Proposal, Quote, Task
from store.base.vocabulary import PERSON_ORIGIN, TASK_STATUSES
from store.database.database import Transaction
from store.database.tombstones import refuse_purged
from store.database.values import Json, Verbatim, clean_text
from store.records.table import RecordTable, cite_all, list_cited, require_one_of

# Iterations: cycles of work. A journal: only their phases and their end are ever changed.

# the one that a person began comes before those that a file of state opened
ACTIVE_ITERATION = f"status = 'active' ORDER BY origin = '{PERSON_ORIGIN}' DESC, id DESC LIMIT 1"


class Iterations(RecordTable[Iteration]):
    """The iterations of one memory; at most one that a person began is active, and one of each file of state."""

    kind, source = "iteration", "iterations"
    columns = "id, command, description, status, started_at, completed_at, phases_completed, artifacts, origin"
    absence = "There is no iteration {}.", "List them with `memoranda list iterations`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Iteration:
        *columns, phases, artifacts, origin = row
        return Iteration(*(*columns, tuple(json.loads(phases)), tuple(json.loads(artifacts)), origin))

    def start_iteration(self, command: str, description: str = "", *, actor: str = PERSON_ORIGIN) -> int:
        """Start a cycle of work (`feature`, `fix`, `spike` …). Raise Conflict while another is active."""
        if not command.strip():
            raise InvalidInput("An iteration has a kind.", "Name one: feature, fix, spike, ship, audit.")
        with self._database.write(actor, "iteration") as write:
            running = active_iteration_id(write)
            if running is not None:
                raise Conflict(f"{cite('iteration', running)} is still active.", "Complete or abandon it first.")
            return insert_iteration(write, command, description)

    def end_iteration(
        self,
        number: int | None = None,
        *,
        abandoned: bool = False,
        phases: Sequence[object] = (),
        artifacts: Sequence[object] = (),
        actor: str = PERSON_ORIGIN,
    ) -> int:
        """Complete or abandon an iteration (the active one, unless named); return its id. Raise NotFound or
        Conflict."""
        with self._database.write(actor, "iteration") as write:
            number = active_iteration_id(write) if number is None else number
            if number is None:
                raise NotFound("No iteration is active.", "Start one first.")
            status = self.read_column(write, number)
            if status != "active":
                raise Conflict(f"{cite('iteration', number)} was {status} already.")
            finish_iteration(write, number, "abandoned" if abandoned else "completed", phases, artifacts)
            return number

    def ids(self, limit: int = -1) -> list[int]:
        """List the ids of iterations, newest first."""
        return self._ids("ORDER BY started_at DESC, id DESC LIMIT ?", limit)

    def count_belonging(self, numbers: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return how much belongs to each of these iterations: (decisions that are not forgotten, commits)."""
        rows = self._database.rows(
            "SELECT value,"
            " (SELECT count(*) FROM decisions WHERE iteration_id = value AND status <> 'forgotten'),"
            " (SELECT count(*) FROM commits WHERE iteration_id = value)"
            " FROM json_each(?)",
            (json.dumps(list(numbers)),),
        )
        return {number: (decisions, commits) for number, decisions, commits in rows}

    def active(self) -> Iteration | None:
        """Return the active iteration, if there is one."""
        return next(iter(self._read(f"WHERE {ACTIVE_ITERATION}")), None)


def insert_iteration(write: Transaction, command: str, description: str) -> int:
    """Start an iteration, inside a transaction; return its id."""
    command, description = command.strip(), description.strip()
    return write.insert(
        "iterations", command=command, description=description, started_at=write.at, origin=write.actor
    )


def finish_iteration(
    write: Transaction, number: int, status: str, phases: Sequence[object], artifacts: Sequence[object]
) -> None:
    """Store how an iteration ended; without `phases` those stay that events told of."""
    write.execute(
        "UPDATE iterations SET status = ?1, completed_at = ?2, artifacts = ?4,"
        " phases_completed = iif(?3 = '[]', phases_completed, ?3) WHERE id = ?5",
        (Verbatim(status), write.at, Json(list(phases)), Json(list(artifacts)), number),
    )


def active_iteration_id(write: Transaction) -> int | None:
    """Return the id of the active iteration, inside a transaction."""
    found: int | None = write.first(f"SELECT id FROM iterations WHERE {ACTIVE_ITERATION}")
    return found


def iteration_for_record(write: Transaction, number: int | None) -> int | None:
    """Return the id of the iteration for a new record: the named iteration, else the active one. Raise NotFound."""
    if number is None:
        return active_iteration_id(write)
    Iterations.read_column(write, number)
    return number


OPEN_STATUSES = ("in_progress", "pending")
# a status → the verb for setting it
STATUS_VERBS = {"pending": "reopen", "in_progress": "start", "done": "done"}


class Tasks(RecordTable[Task]):
    """The tasks of one memory."""

    kind, source = "task", "tasks"
    columns = "id, text, status, created_at, updated_at, iteration_id, origin, coalesce(tags, '[]')"
    absence = "There is no task {}.", "List them with `memoranda list tasks --all`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Task:
        return Task(*(*row[:-1], tuple(json.loads(row[-1]))))

    def add_task(
        self, text: str, *, iteration_id: int | None = None, actor: str = PERSON_ORIGIN, again: bool = False
    ) -> int:
        """Add a pending task; return its id. A purged text is added only `again` if a person wants it. Raise
        InvalidInput or Purged."""
        task = _clean_task_text(text)
        with self._database.write(actor, "task") as write:
            refuse_purged(write, task, again)
            number = insert_task(write, task, "pending", iteration_for_record(write, iteration_id))
            write.reason = f"task add {cite('task', number)}"
            return number

    def move(self, number: int, status: str, *, actor: str = PERSON_ORIGIN) -> None:
        """Set a task's status: pending, in_progress, done. Raise NotFound, Conflict or InvalidInput."""
        self.move_all([number], status, actor=actor)

    def move_all(self, numbers: Sequence[int], status: str, *, actor: str = PERSON_ORIGIN) -> None:
        """Set the status of several tasks in one step: all of them or none. Raise Conflict for one that has it."""
        require_one_of("status of a task", status, TASK_STATUSES)
        if not numbers:
            raise InvalidInput("No task was named.", "Name tasks by their numbers: task done 3 4.")
        reason = f"task {STATUS_VERBS[status]} {list_cited(cite_all('task', numbers))}"
        with self._database.write(actor, reason) as write:
            for number in dict.fromkeys(numbers):
                if self.read_column(write, number) == status:
                    words = status.replace("_", " ")
                    raise Conflict(
                        f"{cite('task', number)} is {words} already.", "List them with `memoranda list tasks`."
                    )
                write.execute(
                    "UPDATE tasks SET status = ?, updated_at = ? WHERE id = ?",
                    (Verbatim(status), write.at, number),
                )

    def correct(self, number: int, text: str, *, actor: str = PERSON_ORIGIN) -> None:
        """Correct a task's text; history keeps the old one. Raise NotFound or InvalidInput."""
        task = _clean_task_text(text)
        with self._database.write(actor, f"correct {cite('task', number)}") as write:
            if self.read_column(write, number, "text") == task:
                raise InvalidInput(f"{cite('task', number)} says exactly that.")
            write.execute("UPDATE tasks SET text = ?, updated_at = ? WHERE id = ?", (task, write.at, number))

    def ids(
        self, *, statuses: Sequence[str] = OPEN_STATUSES, iteration_id: int | None = None, limit: int = -1
    ) -> list[int]:
        """List the ids of tasks with these statuses, of all or of one iteration: those in progress, then the pending,
        each in the order they were added; then the done, the last one done first."""
        for status in statuses:
            require_one_of("status of a task", status, TASK_STATUSES)
        among = () if iteration_id is None else (iteration_id,)
        return self._ids(
            f"WHERE status IN ({', '.join('?' * len(statuses))}){' AND iteration_id = ?' if among else ''}"
            " ORDER BY status = 'done', status = 'pending', CASE status WHEN 'done' THEN updated_at END DESC, id"
            " LIMIT ?",
            *(*statuses, *among, limit),
        )


def insert_task(write: Transaction, text: str, status: str, iteration: int | None) -> int:
    """Add a task, inside a transaction; return its id."""
    return write.insert(
        "tasks",
        text=text,
        status=Verbatim(status),
        created_at=write.at,
        updated_at=write.at,
        iteration_id=iteration,
        origin=write.actor,
    )


def _clean_task_text(text: str) -> str:
    """Return a task's text as it will be stored. Raise InvalidInput."""
    task = clean_text(text).strip()
    if not task:
        raise InvalidInput("A task says what is to be done.", 'Write it: task add "renew the certificate".')
    return task


# Events: what the workflow recorded (a phase completed, a gate passed). A journal that expires.

EVENT_RETENTION_DAYS = 365
PHASE_EVENT = "phase_completed"


class Events(RecordTable[Event]):
    """The events of one memory."""

    kind, source = "event", "events"
    columns = "id, iteration_id, event_type, phase, payload, created_at, origin"
    absence = "There is no event {}.", "Events expire after their retention."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Event:
        return Event(*(*row[:4], json.loads(row[4]), *row[5:]))

    def log(
        self,
        event_type: str,
        *,
        phase: str = "",
        payload: object = None,
        iteration_id: int | None = None,
        actor: str = "agent",
        key: str = "",
    ) -> int:
        """Log an event, in the active iteration unless another is named; `payload` is any JSON. With a `key` that was
        used before nothing is written, and the earlier id is returned. Raise InvalidInput."""
        if not event_type.strip():
            raise InvalidInput("An event has a type.", f"Name one, for example {PHASE_EVENT}.")
        with self._database.write(actor, "event", key) as write:
            if (answer := write.earlier_answer) is not None:
                return int(answer)
            within = iteration_for_record(write, iteration_id)
            number = insert_event(write, within, event_type.strip(), phase, payload)
            write.store_answer(number)
            return number

    def expire(self, now: str, retention_days: int = EVENT_RETENTION_DAYS) -> int:
        """Delete the events older than `retention_days`; return how many. 0 keeps them for ever.

        Nothing else ever expires here.
        """
        if retention_days == 0:
            return 0
        return self._database.delete_before("events", "created_at", days_before(now, retention_days), "retention")

    def ids(
        self, *, event_type: str = "", iteration_id: int | None = None, since: str = "", limit: int = -1
    ) -> list[int]:
        """List the ids of events, newest first: of one type, of one iteration, from a moment on."""
        return self._ids(
            "WHERE (?1 = '' OR event_type = ?1) AND (?2 IS NULL OR iteration_id = ?2)"
            " AND created_at >= ?3 ORDER BY created_at DESC, id DESC LIMIT ?4",
            event_type,
            iteration_id,
            since,
            limit,
        )


def insert_event(write: Transaction, iteration: int | None, event_type: str, phase: str, payload: object) -> int:
    """Log an event, inside a transaction; return its id. A completed phase is from then on one of its iteration's."""
    if event_type.casefold().replace(" ", "_") == PHASE_EVENT and phase:
        write.execute(
            "UPDATE iterations"
            " SET phases_completed = json_insert(phases_completed, '$[#]', ?2)"
            " WHERE id = ?1 AND status = 'active' AND NOT EXISTS"
            " (SELECT 1 FROM json_each(phases_completed) WHERE value = ?2)",
            (iteration, phase),
        )
    return write.insert(
        "events",
        iteration_id=iteration,
        event_type=event_type,
        phase=phase,
        payload=Json(payload),
        created_at=write.at,
        origin=write.actor,
    )


# Proposals, to be read; changes to them are in the inbox.


class Proposals(RecordTable[Proposal]):
    """The proposals of one memory."""

    kind, source = "proposal", "proposals"
    columns = (
        "id, kind, text, change, target, others, based_on, evidence, reason, origin, state, created_at, decided_at,"
        " made"
    )
    absence = "There is no proposal {}.", "List them with `memoranda today`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Proposal:
        number, kind, text, change, target, others, based_on, evidence, *rest = row
        quotes = tuple(Quote(one["citation"], one["quote"]) for one in json.loads(evidence))
        return Proposal(
            number, kind, text, json.loads(change), target, tuple(json.loads(others)), based_on, quotes, *rest
        )


def proposal_fact_ids(proposal: Proposal) -> list[int]:
    """Return the ids of the facts that a proposal is about, its target first."""
    others = [int(parse_citation(one).target) for one in proposal.others]
    return others if proposal.target is None else [proposal.target, *others]
