"""Check the records against their history: each row must equal the result of its steps (a silent bit flip does not).

Read from the newest step of a record backwards: the newest step that contains a column gives its current value, so a
record whose oldest steps are packed away or erased is checked as far as they reach.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import groupby
from operator import itemgetter
from typing import Any

from store.base.citations import cite
from store.database.database import Database
from store.database.schema.tables import RECORDED
from store.database.writing.change_capture import columns
from store.health.finding import OK, SHOWN, WRONG, CheckContext, Finding, named, salvage
from store.history import compression
from store.history.history import KINDS
from store.history.row_edits import primary_key

Row = dict[str, Any]
SLICE = 500  # records that are read in one transaction
PACKED_SLICE = 5_000  # where history is packed: every slice reads every block
STEPS = """
SELECT pk, seq, n, op, after, purged FROM history_row
WHERE tbl = ? AND pk > ? AND pk <= ? ORDER BY pk, seq DESC, n DESC
"""
NEXT = "SELECT DISTINCT pk FROM history_row WHERE tbl = ? AND pk > ? ORDER BY pk LIMIT ?"


@dataclass
class ReconstructedRecord:
    """A record as its steps give it: the columns in `state`, whether that is `whole`, whether it is `gone`, and the
    newest of these steps. Erased steps give nothing (`silent`)."""

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


def records(visit: CheckContext) -> Iterator[Finding]:
    """Check every recorded row, and that none exists without a step that made it."""
    if visit.quick:
        return
    database = visit.database
    names: list[str] = []
    off = done = total = 0
    for table in RECORDED:
        total += database.value(f"SELECT count(*) FROM {table}")
    for table in RECORDED:
        for key, known, row in walk(database, table):
            done += 1
            visit.progress("records against their history", min(done, total), total)
            if not known.agrees(row):
                off += 1
                names = [*names, called(table, key)][: SHOWN + 1]
        without = untold(database, table)
        off += len(without)
        names = [*names, *(called(table, key) for key in without[: SHOWN + 1])][: SHOWN + 1]
    if off:
        says = f"{off:,} record{' is' if off == 1 else 's are'} not as history says: {named(names)}."
        yield Finding("records", WRONG, says, *salvage(database.path))
    else:
        yield Finding("records", OK, f"{total:,} record{'' if total == 1 else 's'}, each as history says.")


def walk(database: Database, table: str) -> Iterator[tuple[str, ReconstructedRecord, Row | None]]:
    """Yield (key, the result of its steps, its row) of every record in history, a slice of them at a time. Keys are
    JSON lists, as history writes them."""
    keys = primary_key(database.connection, table)
    pairs = ", ".join(f"'{name}', {name}" for name in columns(database.connection, table))
    row = f"SELECT json_object({pairs}) FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in keys)}"
    last = ""
    while True:
        found: list[tuple[str, list[Sequence[Any]], str | None]] = []  # as texts, which take a fifth of the memory
        with database.read_snapshot():
            packed = compression.records(database, table, last)
            most = PACKED_SLICE if packed else SLICE
            some = {key for (key,) in database.rows(NEXT, (table, last, most))}.union(nsmallest(most, packed))
            end = max(nsmallest(most, some), default="")
            steps = database.rows(STEPS, (table, last, end))
            if packed:
                steps += compression.afters(database, table, last, end)
                steps.sort(key=itemgetter(1, 2), reverse=True)
                steps.sort(key=itemgetter(0))
            for key, group in groupby(steps, itemgetter(0)):
                found.append((key, list(group), database.value(row, json.loads(key))))
        for key, known, text in found:
            yield key, _reconstructed(known), None if text is None else json.loads(text)
        if not some:
            return
        last = end


def _reconstructed(steps: Iterable[Sequence[Any]]) -> ReconstructedRecord:
    """Return the result of steps, given newest first."""
    known = ReconstructedRecord()
    for _, seq, _, op, after, purged in steps:
        if purged:
            known.silent = True
            break
        if op == "DELETE":
            known.gone = not known.seq
        known.seq = known.seq or seq
        if op == "DELETE":
            break
        known.stated = json.loads(after) | known.stated
        if op == "INSERT":
            known.whole = True
            break
    return known


def untold(database: Database, table: str) -> list[str]:
    """Return the keys of rows that no step made."""
    own = ", ".join(f"{table}.{name}" for name in primary_key(database.connection, table))
    with database.read_snapshot():
        packed = compression.records(database, table, "")
        rows = database.rows(
            f"SELECT json_array({own}) FROM {table} WHERE NOT EXISTS"
            f" (SELECT 1 FROM history_row AS h WHERE h.tbl = ? AND h.pk = json_array({own}))",
            (table,),
        )
    return [key for (key,) in rows if key not in packed]


def called(table: str, key: str) -> str:
    """Return the name of a record for a person."""
    parts = json.loads(key)
    if table == "mutes":
        return f"the mute of {cite('fact', parts[0])}"
    return cite(KINDS[table], parts[0]) if table in KINDS else f"a link of {cite('decision', parts[-1])}"
