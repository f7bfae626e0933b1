"""Tag facts, decisions and tasks, of several kinds in one step."""

import json
from collections.abc import Callable, Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.values import Json
from store.records.tags import joined, key, listed, spelled

TABLES = {"fact": "facts", "decision": "decisions", "task": "tasks"}  # kind of record → its table
LISTS = {"fact": "facts --all", "decision": "decisions --all", "task": "tasks --all"}

Tagged = tuple[str, int]
"""A record: its kind and its id."""


class Tagging:
    """The tags of one memory's records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, records: Sequence[Tagged], tag: str, *, actor: str = PERSON) -> str:
        """Add a tag, or several separated by commas; return them as they are stored. All of the records or none; those
        that have one, in any capitals, are unchanged. Raise NotFound, InvalidInput, and Conflict when all of them have
        all."""
        tags = listed(tag)
        with self._database.write(actor, _reason("tag", records)) as write:
            if not _change(write, records, lambda old: joined(old, tags)):
                raise Conflict("That tag is there already.", "See a record's tags with `memoranda show`.")
        return ", ".join(tags)

    def remove(self, records: Sequence[Tagged], tag: str, *, actor: str = PERSON) -> None:
        """Remove a tag, or several separated by commas, in any capitals. All of the records or none; those without are
        unchanged. Raise NotFound, InvalidInput, and Conflict when none of them has any."""
        gone = {key(tag), *map(key, tag.split(","))}  # an older tag may hold a comma
        with self._database.write(actor, _reason("untag", records)) as write:
            if not _change(write, records, lambda old: [one for one in old if key(one) not in gone]):
                raise Conflict("There is no such tag to take away.", "See a record's tags with `memoranda show`.")

    def tags(self) -> list[tuple[str, int]]:
        """List the tags of records in force, each in its most frequent spelling, and how many records have it; most
        used first."""
        return spelled(
            row
            for kind, table in TABLES.items()
            for row in self._database.rows(
                f"SELECT value, count(DISTINCT t.id) FROM {table} t, json_each(t.tags)"
                f" WHERE {'true' if kind == 'task' else 't.status = :active'} GROUP BY 1",
                {} if kind == "task" else {"active": "active"},
            )
        )


def _change(write: Transaction, records: Sequence[Tagged], change: Callable[[list[str]], list[str]]) -> bool:
    """Change the tags of each record; return whether any changed."""
    for record in records:
        _holds(write, *record)
    changed = False
    for kind, number in dict.fromkeys(records):
        old = json.loads(write.execute(f"SELECT tags FROM {TABLES[kind]} WHERE id = ?", (number,)).get)
        new = change(old)
        if new != old:
            write.execute(f"UPDATE {TABLES[kind]} SET tags = ? WHERE id = ?", (Json(new), number))
            changed = True
    return changed


def _holds(write: Transaction, kind: str, number: int) -> None:
    """Raise unless the record exists and is in force; a task always is."""
    table, cited = TABLES[kind], cite(kind, number)
    status = write.execute(f"SELECT status FROM {table} WHERE id = ?", (number,)).get
    if status is None:
        raise NotFound(f"There is no {kind} {cited}.", f"List them with `memoranda {LISTS[kind]}`.")
    if status == "forgotten":
        raise Conflict(f"{cited} is forgotten already.", "Undo brings it back.")
    if kind != "task" and status != "active":
        newer = write.execute(f"SELECT max(id) FROM {table} WHERE supersedes = ?", (number,)).get
        raise Conflict(f"{cited} is {status}.", f"{cite(kind, newer)} took its place: use that one." if newer else "")


def _reason(verb: str, records: Sequence[Tagged]) -> str:
    """Return a verb and its records; of many, the first ten."""
    if not records:
        raise InvalidInput(f"Nothing to {verb} was named.", f"Name records by their numbers: {verb} 12 D#3 A#4.")
    more = f" +{len(records) - 10}" if len(records) > 10 else ""
    return f"{verb} {' '.join(cite(kind, number) for kind, number in records[:10])}{more}"
