"""The records against their history: each row is what the steps that made it say (a silent flip is not).

Walked from the newest step of a record backwards: the newest step that states a column says what it must hold now, so
a record whose oldest steps are packed away or erased is checked as far as they reach.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from store.citations import cite
from store.database import Database
from store.database.capture import columns
from store.database.tables import RECORDED
from store.health.finding import OK, SHOWN, WRONG, Finding, Visit, named, salvage
from store.history import KINDS, primary_key

Row = dict[str, Any]
SLICE = 500  # records that are read in one moment
STEPS = """
SELECT pk, seq, op, after, purged FROM history_row
WHERE tbl = ? AND pk > ? AND pk <= ? ORDER BY pk, seq DESC, n DESC
"""
NEXT = (
    "SELECT max(pk), count(*) FROM (SELECT DISTINCT pk FROM history_row WHERE tbl = ? AND pk > ? ORDER BY pk LIMIT ?)"
)


@dataclass
class Told:
    """What a record's steps say it is: the columns that they `state`, whether that is `whole`, whether it is `gone`,
    and the newest of these steps. What was erased says nothing (`silent`)."""

    seq: int = 0
    stated: Row = field(default_factory=dict)
    whole: bool = False
    gone: bool = False
    silent: bool = False

    def agrees(self, row: Row | None) -> bool:
        if self.silent:
            return True
        if self.gone or row is None:
            return self.gone and row is None
        return all(name not in row or row[name] == value for name, value in self.stated.items())


def records(visit: Visit) -> Iterator[Finding]:
    """Every recorded row, and that none is there without a step that made it."""
    if visit.quick:
        return
    database = visit.database
    names: list[str] = []
    off = done = total = 0
    for table in RECORDED:
        total += database.value(f"SELECT count(*) FROM {table}")
    for table in RECORDED:
        for key, told, row in walk(database, table):
            done += 1
            visit.progress("records against their history", min(done, total), total)
            if not told.agrees(row):
                off += 1
                names = [*names, called(table, key)][: SHOWN + 1]
        without = database.value(f"SELECT count(*) {_untold(database, table)}", (table,))
        off += without
        if without:
            names = [*names, *(called(table, key) for key in untold(database, table, SHOWN + 1))][: SHOWN + 1]
    if off:
        says = f"{off:,} record{' is' if off == 1 else 's are'} not as history says: {named(names)}."
        yield Finding("records", WRONG, says, *salvage(database.path))
    else:
        yield Finding("records", OK, f"{total:,} record{'' if total == 1 else 's'}, each as history says.")


def walk(database: Database, table: str) -> Iterator[tuple[str, Told, Row | None]]:
    """(key, what its steps say, its row) of every record that history knows, a slice of them at a time. Keys are
    JSON lists, as history writes them."""
    keys = primary_key(database.connection, table)
    pairs = ", ".join(f"'{name}', {name}" for name in columns(database.connection, table))
    row = f"SELECT json_object({pairs}) FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in keys)}"
    last = ""
    while True:
        found: list[tuple[str, Told, Row | None]] = []
        with database.one_moment():
            end, count = database.rows(NEXT, (table, last, SLICE))[0]
            steps = database.connection.execute(STEPS, (table, last, end)) if count else ()
            for key, group in groupby(steps, itemgetter(0)):
                text = database.value(row, json.loads(key))
                found.append((key, _told(group), None if text is None else json.loads(text)))
        yield from found
        if not count:
            return
        last = end


def _told(steps: Iterator[Sequence[Any]]) -> Told:
    """What steps, newest first, say."""
    told = Told()
    for _, seq, op, after, purged in steps:
        if purged:
            told.silent = True
            break
        if op == "DELETE":
            told.gone = not told.seq
        told.seq = told.seq or seq
        if op == "DELETE":
            break
        told.stated = json.loads(after) | told.stated
        if op == "INSERT":
            told.whole = True
            break
    return told


def untold(database: Database, table: str, most: int = -1) -> list[str]:
    """The keys of rows that no step made, `most` of them."""
    own = ", ".join(primary_key(database.connection, table))
    rows = database.rows(f"SELECT json_array({own}) {_untold(database, table)} LIMIT ?", (table, most))
    return [key for (key,) in rows]


def _untold(database: Database, table: str) -> str:
    """What follows SELECT … for such rows."""
    theirs = ", ".join(f"{table}.{name}" for name in primary_key(database.connection, table))
    return (
        f"FROM {table} WHERE NOT EXISTS"
        f" (SELECT 1 FROM history_row AS h WHERE h.tbl = ? AND h.pk = json_array({theirs}))"
    )


def called(table: str, key: str) -> str:
    """What a person calls a record."""
    parts = json.loads(key)
    if table == "mutes":
        return f"the mute of {cite('fact', parts[0])}"
    return cite(KINDS[table], parts[0]) if table in KINDS else f"a link of {cite('decision', parts[-1])}"
