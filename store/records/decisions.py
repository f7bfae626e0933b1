"""Decisions: what was chosen, instead of what, and why."""

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import DECISION_STATUSES, EVIDENCE_STATES, IMPACTS, PERSON
from store.database.database import Database, Transaction
from store.database.erasure import tombstones
from store.database.values import Json, Verbatim
from store.database.writing.disk_reserve import with_room
from store.records.timeline.iterations import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Decision

COLUMNS = (
    "id, iteration_id, title, context, chosen, alternatives, rationale, impact, phase, decided_at, status,"
    " supersedes, origin, confirmed_at, coalesce(evidence, '[]'), coalesce(tags, '[]'),"
    " coalesce((SELECT max(state) FROM evidence_looks WHERE record = id * 16 + 1), 0)"
)


class Decisions:
    """The decisions of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def decide(
        self,
        title: str,
        chosen: str,
        *,
        context: str = "",
        alternatives: Sequence[str] = (),
        rationale: str = "",
        impact: str = "medium",
        phase: str = "",
        iteration_id: int | None = None,
        supersedes: int | None = None,
        evidence: Sequence[str] = (),
        tags: Sequence[str] = (),
        actor: str = PERSON,
        key: str = "",
        again: bool = False,
    ) -> int:
        """Record a decision; return its id. Without an iteration it joins the active one. The decision it supersedes is
        marked. With a `key` that was used before nothing is written, and the earlier id is returned. A purged text is
        recorded only `again` if a person wants it. Raise InvalidInput, NotFound, Conflict or Purged."""
        for name, text in (("title", title), ("chosen option", chosen)):
            if not text.strip():
                raise InvalidInput(f"A decision has a {name}.", 'decide "Use SQLite" --chosen "SQLite, WAL"')
        if impact not in IMPACTS:
            raise InvalidInput("There is no such impact.", f"Choose one of: {', '.join(IMPACTS)}.")
        with self._database.write(actor, "decide", key) as write:
            if (answer := write.answer) is not None:
                return int(answer)
            tombstones.refuse(write, tombstones.decision_text(title, chosen), again)
            if supersedes is not None:
                self._active(write, supersedes)
                write.execute("UPDATE decisions SET status = 'superseded' WHERE id = ?", (supersedes,))
            number = write.insert(
                "decisions",
                iteration_id=joined(write, iteration_id),
                title=title.strip(),
                context=context.strip(),
                chosen=chosen.strip(),
                alternatives=Json(list(alternatives)),
                rationale=rationale.strip(),
                impact=Verbatim(impact),
                phase=phase.strip(),
                decided_at=Verbatim(write.at),
                status=Verbatim("active"),
                supersedes=supersedes,
                origin=actor,
                evidence=Json(list(evidence)),
                tags=Json(list(tags)),
            )
            write.reason = f"decide {cite('decision', number)}"
            write.answered(number)
            return number

    def correct(self, number: int, chosen: str, *, actor: str = PERSON, again: bool = False) -> int:
        """Add a decision like this one, but with another choice, that supersedes it; return its id. `again` is as in
        `decide`."""
        old = self.get(number)
        if old.chosen == chosen.strip():
            raise InvalidInput(f"{old.citation} chose exactly that.")
        return self.decide(
            old.title,
            chosen,
            context=old.context,
            alternatives=old.alternatives,
            rationale=old.rationale,
            impact=old.impact,
            phase=old.phase,
            iteration_id=old.iteration_id,
            supersedes=number,
            evidence=old.evidence,
            tags=old.tags,
            actor=actor,
            again=again,
        )

    def forget(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Hide decisions, until undone. All of them or none. On a full disk the ballast is freed."""
        with_room(self._database.path, lambda: self._forget(numbers, actor))

    def _forget(self, numbers: Sequence[int], actor: str) -> None:
        with self._database.write(actor, f"forget {' '.join(cite('decision', n) for n in numbers[:10])}") as write:
            for number in numbers:
                status = write.execute("SELECT status FROM decisions WHERE id = ?", (number,)).get
                if status is None:
                    raise _missing(number)
                if status == "forgotten":
                    raise Conflict(f"{cite('decision', number)} is forgotten already.", "Undo brings it back.")
                write.execute("UPDATE decisions SET status = 'forgotten' WHERE id = ?", (number,))

    def confirm(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Record that decisions logged by agents hold. All of them or none; those that a person made, or confirmed
        before, are unchanged. Raise NotFound, and Conflict for one that is no longer active, or when none needs it."""
        with self._database.write(actor, f"confirm {' '.join(cite('decision', n) for n in numbers[:10])}") as write:
            for number in numbers:
                self._active(write, number)
            marks = ", ".join("?" * len(numbers))
            write.execute(
                f"UPDATE decisions SET confirmed_at = ? WHERE id IN ({marks}) AND origin <> ? AND confirmed_at IS NULL",
                (Verbatim(write.at), *numbers, Verbatim(PERSON)),
            )
            if not self._database.connection.changes():
                raise Conflict("Confirmed already.", "What you decide yourself needs no confirmation.")

    def get(self, number: int) -> "Decision":
        """Return one decision, whatever its status. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise _missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Decision]":
        """Return the decisions of these ids that exist, in this order."""
        import json

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM decisions WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        by_id = {row[0]: _decision(row) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

    def ids(
        self, *, statuses: Sequence[str] = ("active",), iteration_id: int | None = None, limit: int = -1
    ) -> list[int]:
        """List the ids of decisions with these statuses, newest first; of all, or of one iteration."""
        for status in statuses:
            if status not in DECISION_STATUSES:
                raise InvalidInput("There is no such status.", f"Choose one of: {', '.join(DECISION_STATUSES)}.")
        rows = self._database.rows(
            f"SELECT id FROM decisions WHERE status IN ({', '.join('?' * len(statuses))})"
            f"{'' if iteration_id is None else ' AND iteration_id = ?'} ORDER BY decided_at DESC, id DESC LIMIT ?",
            (*statuses, *(() if iteration_id is None else (iteration_id,)), limit),
        )
        return [number for (number,) in rows]

    def successor(self, number: int) -> int | None:
        """Return the id of the decision that superseded this one."""
        found: int | None = self._database.value(
            "SELECT id FROM decisions WHERE supersedes = ? ORDER BY id DESC LIMIT 1", (number,)
        )
        return found

    def _active(self, write: Transaction, number: int) -> None:
        status = write.execute("SELECT status FROM decisions WHERE id = ?", (number,)).get
        if status is None:
            raise _missing(number)
        if status != "active":
            raise Conflict(f"{cite('decision', number)} is {status}.", "Supersede the one that took its place.")


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no decision {cite('decision', number)}.", "List them with `memoranda decisions`.")


def _decision(row: "tuple[Any, ...]") -> "Decision":
    import json

    from store.base.models import Decision

    *columns, evidence, tags, looked = row
    columns[5] = tuple(json.loads(columns[5]))
    return Decision(*(*columns, tuple(json.loads(evidence)), tuple(json.loads(tags)), EVIDENCE_STATES[looked]))
