"""Rewind: compute the state of records without a part of history. Nothing is written here.

Each walk returns a list of `Rewound`: back to a step, between two, without one step, without all that an actor wrote.
Each reads the history it needs and the current rows with a few queries, however many records there are.
"""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from store.base.errors import Conflict
from store.database.database import Database
from store.database.writing.change_capture import columns
from store.history.compression import befores, every_row, of_step
from store.history.history import BY_HAND
from store.history.row_edits import primary_key

READ = 200  # records whose texts are read at once
Row = dict[str, Any]
Id = tuple[str, str]  # a table, and a key as history writes it: a JSON list

# a person's manual steps after step ?1 that count: not undone since, nor the undo of such a step
PERSONS = f"({BY_HAND} AND undone_by IS NULL AND (undoes IS NULL OR undoes <= ?1))"
# an actor's steps, and who undid them
WRITTEN = """
SELECT seq, undone_by, (SELECT actor FROM history AS later WHERE later.seq = h.undone_by)
FROM history AS h WHERE actor IN (SELECT value FROM json_each(?))
"""
# the steps in a session of an agent: a call lists those it made, or was recorded in their transaction
IN_SESSION = """
SELECT step FROM agent_calls WHERE session = ?1 AND step IS NOT NULL
UNION SELECT seq FROM history WHERE door = 'hook' AND at IN
  (SELECT at FROM agent_calls WHERE session = ?1 AND door = 'hook')
"""
# the steps after ?1 up to ?2 that were undone by then, and the undos of such steps
UNDONE = "SELECT seq FROM history WHERE seq > ?1 AND seq <= ?2 AND (undone_by <= ?2 OR undoes > ?1)"
NONE = "SELECT 0 WHERE ?1 > ?2"


@dataclass(slots=True)
class Rewound:
    """One record: its current row, and its row then (None: it did not exist).

    `clash`: somebody else's later change would be lost. `by_hand`: a person changed it since; `mine` are the columns
    that they changed, with their last values. `along`: a link that goes only because its decision does.
    """

    table: str
    key: str
    now: Row | None
    then: Row | None
    clash: bool = False
    by_hand: bool = False
    mine: Row = field(default_factory=dict)
    along: bool = False


def before(database: Database, seq: int) -> tuple[dict[Id, bool], dict[Id, Row]]:
    """Return for each record that changed after step `seq`: whether it existed then, and if so the values then of the
    columns that changed since (all of them, if it was deleted).

    Reads history forward: the first `before` of a column is its value then. Decoding the texts of many records together
    takes half of the time.
    """
    texts: dict[str, dict[str, list[str] | None]] = defaultdict(dict)  # None: it did not exist
    with database.read_snapshot():
        newest = database.value("SELECT max(seq) FROM history") or 0
        sql = "SELECT tbl, pk, op, before FROM main.history_row WHERE seq > ? AND seq <= ? ORDER BY seq, n"
        # packed rows of a record are older than the others
        for table, key, op, text in chain(befores(database, seq, newest), database.rows(sql, (seq, newest))):
            of_table = texts[table]
            if key not in of_table:
                of_table[key] = None if op == "INSERT" else [text]
            elif text is not None:
                held = of_table[key]
                if held is not None:
                    held.append(text)
    held_then = [((table, key), held) for table, of_table in texts.items() for key, held in of_table.items()]
    then: dict[Id, Row] = {}
    were_there = ((record, held) for record, held in held_then if held is not None)
    while some := list(islice(were_there, READ)):
        read = json.loads(f"[[{'],['.join([','.join(held) for _, held in some])}]]")
        for (record, _), states in zip(some, read, strict=True):
            state = then[record] = states.pop()
            for values in reversed(states):
                state.update(values)
    return {record: held is not None for record, held in held_then}, then


def to_step(database: Database, seq: int) -> list[Rewound]:
    """Return the records that differ from their state after step `seq`."""
    there, then = before(database, seq)
    by_hand: dict[Id, Row] = {}
    sql = f"SELECT tbl, pk, after FROM {every_row(database)} JOIN history USING(seq) WHERE seq > ?1 AND {PERSONS}"
    for table, key, after in database.rows(f"{sql} ORDER BY seq, n", (seq,)):
        by_hand.setdefault((table, key), {}).update(json.loads(after or "{}"))
    today = rows_now(database, there)
    found = []
    for record, was_there in there.items():
        now = today.get(record)
        old = {**(now or {}), **then[record]} if was_there else None
        if now != old:
            table, key = record
            mine = by_hand.get(record)
            found.append(Rewound(table, key, now, old, by_hand=mine is not None, mine=mine or {}))
    return found


def between(database: Database, seq: int, end: int) -> list[Rewound]:
    """Return the records that differ between the states after step `seq` and after step `end`; `now` is the state after
    `end`. Either of the two may be the later one."""
    there, then = before(database, min(seq, end))
    there_later, later = before(database, max(seq, end))
    today = rows_now(database, there)
    found = []
    for record, was_there in there.items():
        now = today.get(record)
        old = {**(now or {}), **then[record]} if was_there else None
        if record in there_later:
            now = {**(now or {}), **later[record]} if there_later[record] else None
        if now != old:
            found.append(Rewound(*record, *((now, old) if seq <= end else (old, now))))
    return found


def without_step(database: Database, seq: int) -> list[Rewound]:
    """Return the records that would differ without step `seq`; what later steps changed clashes, also if they restored
    a part of it. Purged ones are left out. Raise Conflict for a step whose rows were all purged."""
    every = of_step(database, seq, database.value("SELECT changes FROM history WHERE seq = ?", (seq,)) or 0)
    rows = [row for *row, purged in every if purged != 1]
    if every and not rows:
        raise erased_step(seq)
    today = rows_now(database, [(table, key) for table, key, *_ in rows])
    found = []
    for table, key, op, before_text, after_text in rows:
        before, after = _row(before_text), _row(after_text)
        now = today.get((table, key))
        if op == "UPDATE":
            if now is None:  # the record was deleted since: nothing of it can be undone
                continue
            then: Row | None = {**now, **(before or {})}
            clash = not _agrees(now, after or {})
        else:
            then = before
            clash = now is not None and (after is None or not _agrees(now, after))
        if now != then:
            found.append(Rewound(table, key, now, then, clash=clash))
    return found


def actors(database: Database, actor: str, session: str = "") -> list[str]:
    """Return the names under which an actor wrote: its own, and in a `session` of an agent those of its server and its
    hooks."""
    if not session:
        return [actor]
    rows = database.rows("SELECT DISTINCT door || ':' || client FROM agent_calls WHERE session = ?", (session,))
    return [actor, *sorted({name for (name,) in rows} - {actor})]


def without_actor(database: Database, actor: str, session: str = "") -> list[Rewound]:
    """Return the records that would differ without all that `actor` wrote, as far as it is in force; with a `session`
    of an agent, what it wrote in this one, by its server and by its hooks.

    The actor's changes are undone one by one, newest first, each from the state that the last one left: A→B by them,
    B→C by me, C→D by them ends in C, which is mine. As in any undo, a column's value is theirs if it equals what they
    wrote, whoever wrote it again. A record of which nothing could be undone, because all was changed since, clashes.
    """
    rows = _written(database, actor, session)
    today = rows_now(database, [(table, key) for table, key, *_ in rows])
    walks: dict[Id, _Walk] = {}
    for table, key, op, before, after in rows:
        walk = walks.get((table, key))
        if walk is None:
            walk = walks[table, key] = _Walk(today.get((table, key)))
        walk.take_back(op, _row(before), _row(after))
    found = []
    for (table, key), walk in walks.items():
        now = today.get((table, key))
        then, clash = walk.result()
        if now != then:
            found.append(Rewound(table, key, now, then, clash=clash))
    return found


def _written(database: Database, actor: str, session: str = "") -> list[tuple[str, str, str, str | None, str | None]]:
    """Return (table, key, op, before, after) of the rows of an actor's steps that nobody else undid, newest first; an
    undo may have left some records of a step unchanged."""
    source = every_row(database)
    own = actors(database, actor, session)
    steps = list(database.rows(WRITTEN, (json.dumps(own),)))
    if session:
        made = {step for (step,) in database.rows(IN_SESSION, (session,))}
        steps = [step for step in steps if step[0] in made]
    others = {seq: back for seq, back, by in steps if back is not None and by not in own}
    taken = set(
        database.rows(
            f"SELECT tbl, pk, seq FROM {source} WHERE seq IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(set(others.values()))),),
        )
    )
    rows = database.rows(
        f"SELECT seq, tbl, pk, op, before, after FROM {source} WHERE purged <> 1"
        " AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC, n DESC",
        (json.dumps([seq for seq, *_ in steps]),),
    )
    return [
        (table, key, op, before, after)
        for seq, table, key, op, before, after in rows
        if seq not in others or (table, key, others[seq]) not in taken
    ]


def with_links(database: Database, found: list[Rewound]) -> list[Rewound]:
    """Return these records, and the links to the decisions that would be removed, whoever made them: they go along."""
    leaving = [one.key for one in found if one.table == "decisions" and one.then is None]
    if not leaving:
        return found
    going = {one.key for one in found if one.table == "commit_links" and one.then is None}
    keys = [
        key
        for (key,) in database.rows(
            "SELECT json_array(commit_id, decision_id) FROM commit_links"
            " WHERE decision_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?))",
            (json.dumps(leaving),),
        )
        if key not in going
    ]
    links = rows_now(database, [("commit_links", key) for key in keys])
    rest = [one for one in found if (one.table, one.key) not in links]
    return rest + [Rewound(table, key, row, None, along=True) for (table, key), row in links.items()]


class _Walk:
    """One record while one actor's changes of it are undone."""

    __slots__ = ("_clashes", "_goes", "_now", "_row")

    def __init__(self, now: Row | None) -> None:
        self._now = now
        self._row = now
        self._clashes: Row = {}  # columns that somebody else changed since, and their values after the undo
        self._goes = False  # it would be deleted, but somebody else changed it since

    def take_back(self, op: str, before: Row | None, after: Row | None) -> None:
        if op == "DELETE":
            if self._row is None:
                self._row = before
        elif self._row is None:
            return
        elif op == "INSERT":
            if _agrees(self._row, after or {}):
                self._row = None
            else:
                self._goes = True
        else:
            self._columns(self._row, before or {}, after or {})

    def _columns(self, row: Row, before: Row, after: Row) -> None:
        self._row = row = dict(row)
        for name, value in after.items():
            if row[name] == value:
                row[name] = before[name]
            elif row[name] != before[name] and self._clashes.get(name, value) == value:
                self._clashes[name] = before[name]

    def result(self) -> tuple[Row | None, bool]:
        """Return (the row then, whether that would overwrite somebody else's change)."""
        if self._row != self._now or self._now is None:
            return self._row, False
        if self._goes:
            return None, True
        return {**self._now, **self._clashes}, bool(self._clashes)


def rows_now(database: Database, records: Iterable[Id]) -> dict[Id, Row]:
    """Return the existing rows of these records, whole, by column name: one query a table."""
    wanted: dict[str, list[str]] = {}
    for table, key in records:
        wanted.setdefault(table, []).append(key)
    found: dict[Id, Row] = {}
    for table, keys in wanted.items():
        names = columns(database.connection, table)
        same = " AND ".join(
            f"t.{name} = json_extract(j.value, '$[{place}]')"
            for place, name in enumerate(primary_key(database.connection, table))
        )
        for key, *row in database.rows(
            f"SELECT j.value, {', '.join(f't.{name}' for name in names)}"
            f" FROM json_each(?) AS j CROSS JOIN {table} AS t ON {same}",
            (f"[{','.join(keys)}]",),
        ):
            found[table, key] = dict(zip(names, row, strict=True))
    return found


def erased_step(seq: int) -> Conflict:
    return Conflict(f"Step {seq} holds text that was erased, and cannot be undone.")


def _row(text: str | None) -> Row | None:
    row: Row | None = json.loads(text) if text else None
    return row


def _agrees(row: Row, state: Row) -> bool:
    """Return whether a row still has the values that a step wrote."""
    return all(row.get(name) == value for name, value in state.items())
