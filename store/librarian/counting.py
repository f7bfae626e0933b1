"""How many there are of what a question counts: by the records themselves, which count better than a model."""

from dataclasses import dataclass

from store import records
from store.ageing import state
from store.librarian.asked import COUNTED, Asked
from store.librarian.relevance import Relevance
from store.librarian.sources import moment
from store.memory import Memory
from store.models import Commit, Event, Fact, Iteration, Record, Task
from store.search.keyword import Keywords
from store.search.pipeline import body

TABLES = {
    "decision": ("decisions", "status = 'active'"),
    "commit": ("commits", "true"),
    "iteration": ("iterations", "true"),
    "event": ("events", "true"),
    "fact": ("facts", "status = 'active'"),
    "task": ("tasks", "true"),
    "checkpoint": ("checkpoints", "true"),
    "turn": ("turns", "true"),
    "summary": ("summaries", "true"),
    "proposal": ("proposals", "state = 'waiting'"),
}
# a state, by any of its names
_STATES = {
    "active": "active activa activas activo activos running",
    "superseded": "superseded replaced reemplazada reemplazadas sustituida sustituidas reemplazados",
    "forgotten": "forgotten olvidada olvidadas olvidado olvidados",
    "completed": "completed terminada terminadas terminaron completada completadas completaron",
    "abandoned": "abandoned abandonada abandonadas abandonaron abandonamos",
    "open": "open pending abierta abiertas pendiente pendientes left quedan faltan",
    "done": "done finished hecha hechas terminada terminadas acabada acabadas",
    "in_progress": "progress curso marcha",
    "fresh": "fresh fresco frescos",
    "aging": "aging ageing envejeciendo",
    "low": "low",
    "stale": "stale rancio rancios caducado caducados viejo viejos",
    "pinned": "pinned fijado fijados",
    "waiting": "waiting esperando esperan",
    "accepted": "accepted aceptada aceptadas",
    "rejected": "rejected rechazada rechazadas",
}
_FOR = {
    "decision": ("active", "superseded", "forgotten"),
    "iteration": ("active", "completed", "abandoned"),
    "fact": ("fresh", "aging", "low", "stale", "pinned", "superseded", "forgotten", "active"),
    "task": ("open", "done", "in_progress"),
    "proposal": ("waiting", "accepted", "rejected"),
}
# words that go with a count and narrow nothing
_BESIDE = frozenset(
    "total number numero made make makes hizo hicieron hicimos written write wrote took taken stored kept exist exists"
    " existen there many far project proyecto related relacionadas relacionados about acerca".split()
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted: records of `kind`, of this `state` (empty for any), about these words; oldest first."""

    kind: str
    state: str
    about: tuple[str, ...]
    records: tuple[Record, ...]


def tally(memory: Memory, asked: Asked) -> Tally:
    """Count what a question counts. Whoever is named made it; every other word must stand in each record."""
    kind, database = asked.counted, memory.database
    table, holds = TABLES[kind]
    wanted = [word for word in asked.words if word not in COUNTED and word not in _BESIDE]
    status = next((name for word in wanted for name in _FOR.get(kind, ()) if word in _STATES[name].split()), "")
    wanted = [word for word in wanted if not status or word not in _STATES[status].split()]
    if status:  # all of them are looked at, also what holds no longer
        holds = "true"
    numbers = [number for (number,) in database.rows(f"SELECT id FROM {table} WHERE {holds} ORDER BY id")]
    found = [
        record
        for record in records.many(database, kind, numbers)
        if (not asked.since or moment(record) >= asked.since) and (not asked.before or moment(record) < asked.before)
        if not status or _is(record, status, memory.now)
    ]
    if wanted:
        judge = Relevance(asked, Keywords(database))
        found = [record for record in found if all(judge.stands(word, _told(record)) for word in wanted)]
    return Tally(kind, status, tuple(wanted), tuple(sorted(found, key=lambda record: (moment(record), record.id))))


def _told(record: Record) -> str:
    """The text of a record, with who made it."""
    by = record.author if isinstance(record, Commit) else getattr(record, "origin", "")
    event = record.event_type.replace("_", " ") if isinstance(record, Event) else ""
    return f"{by}\n{event}\n{body(record)}"


def _is(record: Record, status: str, now: str) -> bool:
    if isinstance(record, Fact) and status in ("fresh", "aging", "low", "stale"):
        return record.status == "active" and status == state(
            now, record.last_confirmed_at, record.confidence, record.pinned
        )
    if isinstance(record, Fact) and status == "pinned":
        return record.pinned and record.status == "active"
    if isinstance(record, Task) and status == "open":
        return record.status != "done"
    own = record.status if isinstance(record, Iteration) else getattr(record, "status", getattr(record, "state", ""))
    return bool(own == status)
