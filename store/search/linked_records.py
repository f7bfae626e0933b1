"""The records that belong to a record: a decision's commits, a commit's decisions, the parts of an iteration."""

from store.base import models
from store.base.models import Commit, Decision, Iteration, Record
from store.database.database import Database
from store.search.lookup import many

# part of an iteration → SQL for its ids, in order
PARTS = {
    "decisions": "SELECT id FROM decisions WHERE iteration_id = ? AND status <> 'forgotten' ORDER BY decided_at, id",
    "commits": "SELECT id FROM commits WHERE iteration_id = ? ORDER BY committed_at, id",
    "events": "SELECT id FROM events WHERE iteration_id = ? ORDER BY created_at, id",
    "tasks": "SELECT id FROM tasks WHERE iteration_id = ? ORDER BY id",
}


def part(database: Database, name: str, iteration: int) -> list[int]:
    """Return the ids of an iteration's `decisions` (without forgotten ones), `commits`, `events` or `tasks`, oldest
    first."""
    return [number for (number,) in database.rows(PARTS[name], (iteration,))]


def as_json(database: Database, record: Record) -> dict[str, object]:
    """Return the record's own fields, with linked records as further fields: of an iteration `decisions`, `commits`,
    `events` and `tasks`; of a decision its `commits`, each with its `link_type`, and `superseded_by`, the id of its
    successor; of a commit its `decisions`, each with its `link_type`."""
    found: dict[str, object] = models.as_json(record)
    if isinstance(record, Iteration):
        for name in PARTS:
            records = many(database, name.removesuffix("s"), part(database, name, record.id))
            found[name] = [models.as_json(one) for one in records]
    elif isinstance(record, Decision):
        from store.records.decisions import Decisions

        found["superseded_by"] = Decisions(database).successor(record.id)
        found["commits"] = _linked(database, "commit", "decision", record.id)
    elif isinstance(record, Commit):
        found["decisions"] = _linked(database, "decision", "commit", record.id)
    return found


def _linked(database: Database, kind: str, end: str, number: int) -> list[dict[str, object]]:
    """Return the other ends of a record's links, oldest first, each with its `link_type`."""
    links = dict(database.rows(f"SELECT {kind}_id, link_type FROM commit_links WHERE {end}_id = ?", (number,)))
    records = many(database, kind, list(links))
    linked = [{**models.as_json(one), "link_type": links[one.id]} for one in records]
    return sorted(linked, key=lambda one: (one["committed_at" if kind == "commit" else "decided_at"], one["id"]))
