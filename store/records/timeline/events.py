"""Events: what the workflow recorded (a phase completed, a gate passed). A journal that expires."""

from collections.abc import Sequence

from store.base.citations import cite
from store.base.clock import days_before
from store.base.errors import InvalidInput, NotFound
from store.database.database import Database
from store.database.values import Json, Verbatim
from store.records.timeline.iterations import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Event

COLUMNS = "id, iteration_id, event_type, phase, payload, created_at, origin"
RETENTION_DAYS = 365  #


class Events:
    """The events of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            raise InvalidInput("An event has a type.", "Name one, for example phase_completed.")
        with self._database.write(actor, "event", key) as write:
            if (answer := write.answer) is not None:
                return int(answer)
            number = write.insert(
                "events",
                iteration_id=joined(write, iteration_id),
                event_type=event_type.strip(),
                phase=phase,
                payload=Json(payload),
                created_at=Verbatim(write.at),
                origin=actor,
            )
            write.answered(number)
            return number

    def expire(self, now: str, retention_days: int = RETENTION_DAYS) -> int:
        """Delete the events older than `retention_days`; return how many. 0 keeps them for ever.

        Nothing else ever expires here.
        """
        if retention_days == 0:
            return 0
        cut = days_before(now, retention_days)
        if not self._database.value("SELECT 1 FROM events WHERE created_at < ? LIMIT 1", (cut,)):
            return 0
        with self._database.write("agent", "retention") as write:
            write.execute("DELETE FROM events WHERE created_at < ?", (Verbatim(cut),))
            gone: int = self._database.connection.changes()
            return gone

    def ids(
        self, *, event_type: str = "", iteration_id: int | None = None, since: str = "", limit: int = -1
    ) -> list[int]:
        """List the ids of events, newest first: of one type, of one iteration, from a moment on."""
        rows = self._database.rows(
            "SELECT id FROM events WHERE (?1 = '' OR event_type = ?1) AND (?2 IS NULL OR iteration_id = ?2)"
            " AND created_at >= ?3 ORDER BY created_at DESC, id DESC LIMIT ?4",
            (event_type, iteration_id, since, limit),
        )
        return [number for (number,) in rows]

    def get(self, number: int) -> "Event":
        """Return one event. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise NotFound(f"There is no event {cite('event', number)}.", "Events expire after their retention.")
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Event]":
        """Return the events of these ids that exist, in this order."""
        import json

        from store.base.models import Event

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM events WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        by_id = {row[0]: Event(*(*row[:4], json.loads(row[4]), *row[5:])) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]
