"""Read records of any kind by citation or by key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from store.base.citations import Citation
from store.base.errors import MemorandaError, NotFound
from store.base.models import Commit, Decision, Iteration, Record, as_json
from store.base.vocabulary import group_by_kind, pack_key
from store.conversations.summaries import Summaries
from store.conversations.turns import Turns
from store.database.database import Database
from store.documents.documents import Documents
from store.history.checkpoints import Checkpoints
from store.personal.memory import get_cited_globals
from store.records.commits import Commits
from store.records.decisions import Decisions
from store.records.facts import Facts
from store.records.workflow import Events, Iterations, Proposals, Tasks
from store.search.query_parser import CorpusFilters, parse_memory_query

_KIND_OF_CLASS = {"chunk": "document", "globalfact": "global"}


def get_record(database: Database, citation: Citation) -> Record:
    """Return the record that a citation names. Raise NotFound, or Conflict for an ambiguous sha."""
    target = citation.target
    if citation.kind == "commit":
        return Commits(database).get(str(target))
    if citation.kind == "document":
        return Documents(database).cited_lines(citation)
    found = get_records(database, citation.kind, [int(target)])
    if not found:
        kind = "global fact" if citation.kind == "global" else citation.kind
        raise NotFound(f"There is no {kind} {citation} in this memory.", "Search for it, or look at the lists.")
    return found[0]


def find_records(database: Database, citations: Iterable[Citation]) -> list[Record]:
    """Return the records that citations name; skip citations that lead to no record."""
    found: list[Record] = []
    for citation in citations:
        with suppress(MemorandaError):
            found.append(get_record(database, citation))
    return found


def kind_of_record(record: Record) -> str:
    """Return the record's kind, as in `KIND_NUMBERS`."""
    name = type(record).__name__.lower()
    return _KIND_OF_CLASS.get(name, name)


def key_of_record(record: Record) -> int:
    """Return the key of a record (store/base/vocabulary.py)."""
    return pack_key(kind_of_record(record), record.id)


def records_by_key(database: Database, keys: Sequence[int]) -> dict[int, Record]:
    """Return the records with these keys that exist, by key; one query for each kind."""
    return {
        pack_key(kind, record.id): record
        for kind, numbers in group_by_kind(keys).items()
        for record in get_records(database, kind, numbers)
    }


_READERS: dict[str, Any] = {
    "fact": Facts,
    "decision": Decisions,
    "commit": Commits,
    "event": Events,
    "iteration": Iterations,
    "task": Tasks,
    "turn": Turns,
    "summary": Summaries,
    "document": Documents,
    "checkpoint": Checkpoints,
    "proposal": Proposals,
}


def get_records(database: Database, kind: str, numbers: Sequence[int]) -> Sequence[Record]:
    """Return the records of one kind with these ids."""
    if kind == "global":
        return get_cited_globals(database, numbers)
    found: Sequence[Record] = _READERS[kind](database).get_many(numbers)
    return found


def find_oldest(database: Database, query: str) -> list[Record]:
    """Return the oldest record that passes the filters of a query, as a list of one or none."""
    filters = CorpusFilters(database, parse_memory_query(database, query))
    where = " AND ".join([filters.status_condition, *filters.clauses])
    sql = f"SELECT c.id FROM corpus c WHERE {where} ORDER BY {filters.at}, c.id LIMIT 1"
    rows = database.column(sql, filters.parameters)
    return list(records_by_key(database, rows).values())


# The records that belong to a record: a decision's commits, a commit's decisions, the parts of an iteration.

# part of an iteration → SQL for its ids, in order
PART_QUERIES = {
    "decisions": "SELECT id FROM decisions WHERE iteration_id = ? AND status <> 'forgotten' ORDER BY decided_at, id",
    "commits": "SELECT id FROM commits WHERE iteration_id = ? ORDER BY committed_at, id",
    "events": "SELECT id FROM events WHERE iteration_id = ? ORDER BY created_at, id",
    "tasks": "SELECT id FROM tasks WHERE iteration_id = ? ORDER BY id",
}


def list_part_ids(database: Database, name: str, iteration: int) -> list[int]:
    """Return the ids of an iteration's `decisions` (without forgotten ones), `commits`, `events` or `tasks`, oldest
    first."""
    return database.column(PART_QUERIES[name], (iteration,))


def json_with_links(database: Database, record: Record) -> dict[str, object]:
    """Return the record's own fields, with linked records as further fields: of an iteration `decisions`, `commits`,
    `events` and `tasks`; of a decision its `commits`, each with its `link_type`, and `superseded_by`, the id of its
    successor; of a commit its `decisions`, each with its `link_type`."""
    found: dict[str, object] = as_json(record)
    if isinstance(record, Iteration):
        for name in PART_QUERIES:
            records = get_records(database, name.removesuffix("s"), list_part_ids(database, name, record.id))
            found[name] = [as_json(one) for one in records]
    elif isinstance(record, Decision):
        found["superseded_by"] = Decisions(database).successor(record.id)
        found["commits"] = _linked_as_json(database, "commit", "decision", record.id)
    elif isinstance(record, Commit):
        found["decisions"] = _linked_as_json(database, "decision", "commit", record.id)
    return found


def _linked_as_json(database: Database, kind: str, end: str, number: int) -> list[dict[str, object]]:
    """Return the other ends of a record's links, oldest first, each with its `link_type`."""
    links = dict(database.rows(f"SELECT {kind}_id, link_type FROM commit_links WHERE {end}_id = ?", (number,)))
    records = get_records(database, kind, list(links))
    linked = [{**as_json(one), "link_type": links[one.id]} for one in records]
    return sorted(linked, key=lambda one: (one["committed_at" if kind == "commit" else "decided_at"], one["id"]))
