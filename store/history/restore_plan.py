"""Plans: preview a restore, an undo or a look back, record by record, and choose from it.

A plan is computed outside any transaction and changes nothing. Applying the chosen changes is one new step of history:
one undo removes it, one redo restores it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

from store.base.citations import cite, list_citations, parse_citation
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.hook_resident import release_memories
from store.base.models import Step
from store.base.vocabulary import PERSON_ORIGIN
from store.database.change_capture import list_table_columns
from store.database.database import Database, Transaction
from store.database.schema import RECORDED_TABLES
from store.history.checkpoint_payload import insert_checkpoint
from store.history.compression import (
    PackedRow,
    every_row_view,
    find_erased_records,
    find_newest_packed,
    read_packed_befores,
)
from store.history.history import (
    BY_HAND_SQL,
    KIND_OF_TABLE,
    MOVE_IN,
    MOVE_OUT,
    FactMove,
    History,
    RowEdit,
    apply_edits,
    change_sign,
    changed_columns,
    describe_change,
    describe_revert,
    encode_key,
    find_moved_facts,
    primary_key,
    read_revertible_rows,
    require_in_force,
    title_of_row,
)
from store.records.commits import Commits
from store.records.table import require_one_of

# Rewind: compute the state of records without a part of history. Nothing is written here.
#
# Each walk returns a list of `Rewound`: back to a step, between two, without some steps, without all that an actor
# wrote. Each reads the history it needs and the current rows with a few queries, however many records there are.

# records whose texts are read at once
READ_AT_ONCE = 200
RowDict = dict[str, Any]
# a table, and a key as history writes it: a JSON list
RecordKey = tuple[str, str]

# a person's manual steps after step ?1 that count: not undone since, nor the undo of such a step
PERSON_STEPS_SQL = f"({BY_HAND_SQL} AND undone_by IS NULL AND (undoes IS NULL OR undoes <= ?1))"
# an actor's steps, and who undid them
ACTOR_STEPS_SQL = """
SELECT seq, undone_by, (SELECT actor FROM history AS later WHERE later.seq = h.undone_by)
FROM history AS h WHERE actor IN (SELECT value FROM json_each(?))
"""
# the steps in a session of an agent: a call lists those it made, or was recorded in their transaction
SESSION_STEPS_SQL = """
SELECT step FROM agent_calls WHERE session = ?1 AND step IS NOT NULL
UNION SELECT seq FROM history WHERE door = 'hook' AND at IN
  (SELECT at FROM agent_calls WHERE session = ?1 AND door = 'hook')
"""
# the steps after ?1 up to ?2 that were undone by then, and the undos of such steps
UNDONE_STEPS_SQL = "SELECT seq FROM history WHERE seq > ?1 AND seq <= ?2 AND (undone_by <= ?2 OR undoes > ?1)"
NO_STEPS_SQL = "SELECT 0 WHERE ?1 > ?2"


@dataclass(slots=True)
class Rewound:
    """One record: its current row, and its row then (None: it did not exist).

    `clash`: somebody else's later change would be lost. `by_hand`: a person changed it since; `mine` are the columns
    that they changed, with their last values. `along`: a link that goes only because its decision does.
    """

    table: str
    key: str
    now: RowDict | None
    then: RowDict | None
    clash: bool = False
    by_hand: bool = False
    mine: RowDict = field(default_factory=dict)
    along: bool = False

    @property
    def record(self) -> RecordKey:
        return self.table, self.key

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of its key."""
        return tuple(json.loads(self.key))


def read_states_before(database: Database, seq: int) -> tuple[dict[RecordKey, bool], dict[RecordKey, RowDict]]:
    """Return for each record that changed after step `seq`: whether it existed then, and if so the values then of the
    columns that changed since (all of them, if it was deleted).

    Reads history forward: the first `before` of a column is its value then. Decoding the texts of many records together
    takes half of the time.
    """
    # None: it did not exist
    texts: dict[str, dict[str, list[str] | None]] = defaultdict(dict)
    with database.read_snapshot():
        newest = database.newest_step()
        sql = "SELECT tbl, pk, op, before FROM main.history_row WHERE seq > ? AND seq <= ? ORDER BY seq, n"
        # packed rows of a record are older than the others
        for table, key, op, text in chain(
            read_packed_befores(database, seq, newest), database.rows(sql, (seq, newest))
        ):
            of_table = texts[table]
            if key not in of_table:
                of_table[key] = None if op == "INSERT" else [text]
            elif text is not None:
                held = of_table[key]
                if held is not None:
                    held.append(text)
    held_then = [((table, key), held) for table, of_table in texts.items() for key, held in of_table.items()]
    then: dict[RecordKey, RowDict] = {}
    were_there = ((record, held) for record, held in held_then if held is not None)
    while some := list(islice(were_there, READ_AT_ONCE)):
        read = json.loads(f"[[{'],['.join([','.join(held) for _, held in some])}]]")
        for (record, _), states in zip(some, read, strict=True):
            state = then[record] = states.pop()
            for values in reversed(states):
                state.update(values)
    return {record: held is not None for record, held in held_then}, then


def rewind_to_step(database: Database, seq: int) -> list[Rewound]:
    """Return the records that differ from their state after step `seq`."""
    there, then = read_states_before(database, seq)
    by_hand: dict[RecordKey, RowDict] = {}
    sql = (
        f"SELECT tbl, pk, after FROM {every_row_view(database)} JOIN history "
        f"USING(seq) WHERE seq > ?1 AND {PERSON_STEPS_SQL}"
    )
    for table, key, after in database.rows(f"{sql} ORDER BY seq, n", (seq,)):
        by_hand.setdefault((table, key), {}).update(json.loads(after or "{}"))
    today = read_current_rows(database, there)
    found = []
    for record, was_there in there.items():
        now = today.get(record)
        old = {**(now or {}), **then[record]} if was_there else None
        if now != old:
            table, key = record
            mine = by_hand.get(record)
            found.append(Rewound(table, key, now, old, by_hand=mine is not None, mine=mine or {}))
    return found


def compare_steps(database: Database, seq: int, end: int) -> list[Rewound]:
    """Return the records that differ between the states after step `seq` and after step `end`; `now` is the state after
    `end`. Either of the two may be the later one."""
    there, then = read_states_before(database, min(seq, end))
    there_later, later = read_states_before(database, max(seq, end))
    today = read_current_rows(database, there)
    found = []
    for record, was_there in there.items():
        now = today.get(record)
        old = {**(now or {}), **then[record]} if was_there else None
        if record in there_later:
            now = {**(now or {}), **later[record]} if there_later[record] else None
        if now != old:
            found.append(Rewound(*record, *((now, old) if seq <= end else (old, now))))
    return found


def rewind_without_step(database: Database, seq: int) -> list[Rewound]:
    """Return the records that would differ without step `seq`; what later steps changed clashes, also if they restored
    a part of it. Purged ones are left out. Raise Conflict for a step whose rows were all purged."""
    rows, _ = read_revertible_rows(database, seq)
    today = read_current_rows(database, [(table, key) for table, key, *_ in rows])
    found = []
    for table, key, op, before_text, after_text in rows:
        before, after = _decode_row(before_text), _decode_row(after_text)
        now = today.get((table, key))
        if op == "UPDATE":
            # the record was deleted since: nothing of it can be undone
            if now is None:
                continue
            then: RowDict | None = {**now, **(before or {})}
            clash = not _still_has(now, after or {})
        else:
            then = before
            clash = now is not None and (after is None or not _still_has(now, after))
        if now != then:
            found.append(Rewound(table, key, now, then, clash=clash))
    return found


def actor_names(database: Database, actor: str, session: str = "") -> list[str]:
    """Return the names under which an actor wrote: its own, and in a `session` of an agent those of its server and its
    hooks."""
    if not session:
        return [actor]
    rows = database.column("SELECT DISTINCT door || ':' || client FROM agent_calls WHERE session = ?", (session,))
    return [actor, *sorted(set(rows) - {actor})]


def rewind_without_steps(database: Database, seqs: Collection[int]) -> list[Rewound]:
    """Return the records that would differ without all of these steps, as `rewind_without_actor` does for one author's.
    Raise Conflict for a step whose rows were all purged."""
    rows = [row for seq in sorted(seqs, reverse=True) for row in read_revertible_rows(database, seq)[0][::-1]]
    return _walk_back(database, rows)


def rewind_without_actor(database: Database, actor: str, session: str = "") -> list[Rewound]:
    """Return the records that would differ without all that `actor` wrote, as far as it is in force; with a `session`
    of an agent, what it wrote in this one, by its server and by its hooks."""
    return _walk_back(database, _rows_of_actor(database, actor, session))


def _walk_back(database: Database, rows: Sequence[PackedRow]) -> list[Rewound]:
    """Return the records that would differ without some changes, the newest first.

    They are undone one by one, each from the state that the last one left: A→B by them, B→C by me, C→D by them ends in
    C, which is mine. As in any undo, a column's value is theirs if it equals what they wrote, whoever wrote it again. A
    record of which nothing could be undone, because all was changed since, clashes.
    """
    today = read_current_rows(database, [(table, key) for table, key, *_ in rows])
    walks: dict[RecordKey, _RecordWalk] = {}
    for table, key, op, before, after in rows:
        now = today.get((table, key))
        walk = walks.setdefault((table, key), _RecordWalk(now, now))
        walk.undo_change(op, _decode_row(before), _decode_row(after))
    found = []
    for (table, key), walk in walks.items():
        now = today.get((table, key))
        then, clash = walk.result()
        if now != then:
            found.append(Rewound(table, key, now, then, clash=clash))
    return found


def _rows_of_actor(database: Database, actor: str, session: str = "") -> list[PackedRow]:
    """Return (table, key, op, before, after) of the rows of an actor's steps that nobody else undid, newest first; an
    undo may have left some records of a step unchanged."""
    source = every_row_view(database)
    own = actor_names(database, actor, session)
    steps = list(database.rows(ACTOR_STEPS_SQL, (json.dumps(own),)))
    if session:
        made = set(database.column(SESSION_STEPS_SQL, (session,)))
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


def add_leaving_links(database: Database, found: list[Rewound]) -> list[Rewound]:
    """Return these records, and the links to the decisions that would be removed, whoever made them: they go along."""
    leaving = [one.key for one in found if one.table == "decisions" and one.then is None]
    if not leaving:
        return found
    going = {one.key for one in found if one.table == "commit_links" and one.then is None}
    keys = [
        key
        for key in database.column(
            "SELECT json_array(commit_id, decision_id) FROM commit_links"
            " WHERE decision_id IN (SELECT json_extract(value, '$[0]') FROM json_each(?))",
            (json.dumps(leaving),),
        )
        if key not in going
    ]
    links = read_current_rows(database, [("commit_links", key) for key in keys])
    rest = [one for one in found if one.record not in links]
    return rest + [Rewound(table, key, row, None, along=True) for (table, key), row in links.items()]


@dataclass(slots=True, eq=False, repr=False)
class _RecordWalk:
    """One record while one actor's changes of it are undone: its row `now`, and as it is left so far; the columns that
    somebody else changed since, and their values after the undo; whether it would be deleted, but somebody else changed
    it since."""

    _now: RowDict | None
    _row: RowDict | None
    _clashes: RowDict = field(default_factory=dict)
    _goes: bool = False

    def undo_change(self, op: str, before: RowDict | None, after: RowDict | None) -> None:
        """Undo one change of the record."""
        if op == "DELETE":
            if self._row is None:
                self._row = before
        elif self._row is None:
            return
        elif op == "INSERT":
            if _still_has(self._row, after or {}):
                self._row = None
            else:
                self._goes = True
        else:
            self._undo_columns(self._row, before or {}, after or {})

    def _undo_columns(self, row: RowDict, before: RowDict, after: RowDict) -> None:
        """Undo a change of columns that nobody changed since."""
        self._row = row = dict(row)
        for name, value in after.items():
            if row[name] == value:
                row[name] = before[name]
            elif row[name] != before[name] and self._clashes.get(name, value) == value:
                self._clashes[name] = before[name]

    def result(self) -> tuple[RowDict | None, bool]:
        """Return (the row then, whether that would overwrite somebody else's change)."""
        if self._row != self._now or self._now is None:
            return self._row, False
        if self._goes:
            return None, True
        return {**self._now, **self._clashes}, bool(self._clashes)


def read_current_rows(database: Database, records: Iterable[RecordKey]) -> dict[RecordKey, RowDict]:
    """Return the existing rows of these records, whole, by column name: one query a table."""
    found: dict[RecordKey, RowDict] = {}
    for table, keys in _keys_of_tables(records).items():
        names = list_table_columns(database.connection, table)
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


def _keys_of_tables(records: Iterable[RecordKey]) -> dict[str, list[str]]:
    """Return the keys of these records, by their tables."""
    keys: dict[str, list[str]] = defaultdict(list)
    for table, key in records:
        keys[table].append(key)
    return keys


def _decode_row(text: str | None) -> RowDict | None:
    """Decode a row that history wrote; None if there is none."""
    row: RowDict | None = json.loads(text) if text else None
    return row


def _still_has(row: RowDict, state: RowDict) -> bool:
    """Return whether a row still has the values that a step wrote."""
    return all(row.get(name) == value for name, value in state.items())


# References: what else must change, or cannot, so that no record refers to one that does not exist.
#
# The foreign keys are read from the schema: a fact and a decision that they supersede, a link and its decision.
# References to the journal (a commit, an iteration) never prevent anything: the journal is not rolled back. What stands
# in the way is said in words of what the reference means: a record took another's place, a commit is linked.

# a table, and the values of its key
TableKey = tuple[str, tuple[Any, ...]]
# a record, its current row and its row then
RecordMove = tuple[TableKey, RowDict | None, RowDict | None]
CiteRecords = Callable[[list[TableKey]], dict[TableKey, str]]


def find_dependencies(
    database: Database,
    moves: Sequence[RecordMove],
    impossible: Mapping[int, str],
    along: Collection[int],
    cite: CiteRecords,
) -> tuple[list[set[int]], dict[int, str]]:
    """Return (which other moves each one needs, why some cannot be made), all by index. `impossible` are known already;
    what needs one of them cannot be made either. Those `along` are made only with that of what they refer to; what was
    replaced is in force again only if what took its place goes."""
    index = {ref: place for place, (ref, *_) in enumerate(moves)}
    needs: list[set[int]] = [set() for _ in moves]
    # moves that cannot be made, and the existing record that refers to them
    referrers: dict[int, TableKey] = {}
    # moves that cannot be made, and the missing record that they refer to
    missing: dict[int, TableKey] = {}
    for child, column, parent in _foreign_keys(database):
        leaving = [ref[1][0] for ref, now, then in moves if ref[0] == parent and now is not None and then is None]
        for ref, target in _find_referring_rows(database, child, column, leaving):
            gone = index[parent, (target,)]
            place = index.get(ref)
            then = moves[place][2] if place is not None else None
            if place is None or (then is not None and then[column] == target):
                referrers.setdefault(gone, ref)
            elif place != gone:
                needs[gone].add(place)
                if place in along:
                    needs[place].add(gone)
        wanted: dict[Any, list[int]] = {}
        for place, (ref, now, then) in enumerate(moves):
            target = then[column] if ref[0] == child and then is not None else None
            if target is not None and (now is None or now[column] != target):
                wanted.setdefault(target, []).append(place)
        there = _find_existing_keys(database, parent, wanted)
        for target, places in wanted.items():
            coming = index.get((parent, (target,)))
            if coming is not None and moves[coming][1] is None:
                for place in places:
                    needs[place].add(coming)
            elif coming is not None and moves[coming][2] is None:
                referrers.setdefault(coming, moves[places[0]][0])
            elif target not in there:
                missing.update(dict.fromkeys(places, (parent, (target,))))
    back = {
        ref: place
        for place, (ref, now, then) in enumerate(moves)
        if now and then and now.get("status") == "superseded" and then["status"] == "active"
    }
    for place, ((table, _), now, then) in enumerate(moves):
        replaced = back.get((table, (now.get("supersedes"),))) if now and then is None else None
        if replaced is not None:
            needs[replaced].add(place)
    cited = cite([*referrers.values(), *missing.values()]) if referrers or missing else {}
    blocked = {
        **{
            place: _referrer_reason(ref, cited[ref], ref in index and moves[index[ref]][1] is None)
            for place, ref in referrers.items()
        },
        **{
            place: f"{cited[ref]}, {_relation_words(moves[place][0])}, is not there any more:"
            " bring that back first, unless it was erased."
            for place, ref in missing.items()
        },
        **impossible,
    }
    return needs, _spread_blocked(needs, blocked, moves, cite)


def _referrer_reason(ref: TableKey, cited: str, back: bool) -> str:
    """Return that a record cannot go because this one refers to it, which is there or would come `back`, and what can
    be done. A link that is there goes along."""
    if ref[0] == "commit_links":
        return f"Its link to {cited.split()[0]} would come back: undo the step that removed the link first."
    if back:
        return f"{cited}, which took its place, would come back: undo the step that removed {cited} first."
    return f"{cited} took its place, and stays: undo the step that made {cited} first."


def _relation_words(ref: TableKey) -> str:
    """Return what the record to which this one refers is to it."""
    return "to which it links" if ref[0] == "commit_links" else "whose place it took"


def invert_needs(needs: Sequence[Iterable[int]]) -> dict[int, list[int]]:
    """Return the inverse relation: by which moves each one is needed."""
    turned: dict[int, list[int]] = {}
    for place, wanted in enumerate(needs):
        for other in wanted:
            turned.setdefault(other, []).append(place)
    return turned


def reach_all(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> frozenset[int]:
    """Return all that is reachable from `start`, `start` included."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for other in following(waiting.pop()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return frozenset(reached)


def _spread_blocked(
    needs: Sequence[Iterable[int]], blocked: dict[int, str], moves: Sequence[RecordMove], cite: CiteRecords
) -> dict[int, str]:
    """Return `blocked`, with all that needs what is blocked."""
    turned = invert_needs(needs)
    waiting = list(blocked)
    causes: dict[int, int] = {}
    while waiting:
        cause = waiting.pop()
        for place in turned.get(cause, ()):
            if place not in blocked and place not in causes:
                causes[place] = cause
                waiting.append(place)
    cited = cite([moves[cause][0] for cause in causes.values()]) if causes else {}
    for place, cause in causes.items():
        other = cited[moves[cause][0]]
        if moves[cause][2] is not None:
            blocked[place] = f"{other}, {_relation_words(moves[place][0])}, cannot come back: its row says why."
        else:
            blocked[place] = f"{other}, which took its place, cannot go: its row says why."
    return blocked


def _foreign_keys(database: Database) -> list[tuple[str, str, str]]:
    """Return (child table, its column, parent table) of each reference between recorded tables."""
    return [
        (child, column, parent)
        for child in RECORDED_TABLES
        for column, parent in database.rows('SELECT "from", "table" FROM pragma_foreign_key_list(?)', (child,))
        if parent in RECORDED_TABLES
    ]


def _find_referring_rows(
    database: Database, child: str, column: str, targets: Sequence[Any]
) -> list[tuple[TableKey, Any]]:
    """Return (record, what it refers to) of the current rows that refer to one of these."""
    if not targets:
        return []
    key = primary_key(database.connection, child)
    rows = database.rows(
        f"SELECT {column}, {', '.join(key)} FROM {child} WHERE {column} IN (SELECT value FROM json_each(?))",
        (json.dumps(targets),),
    )
    return [((child, tuple(values)), target) for target, *values in rows]


def _find_existing_keys(database: Database, parent: str, targets: Iterable[Any]) -> set[Any]:
    """Return which of these key values have a row in a table."""
    wanted = list(targets)
    if not wanted:
        return set()
    (key,) = primary_key(database.connection, parent)
    return set(
        database.column(
            f"SELECT {key} FROM {parent} WHERE {key} IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
        )
    )


RESTORE_STRATEGIES = ("replace", "mine", "add")


class PlannedChange(NamedTuple):
    """One record that would change: its current state and the one it would have.

    `kind` and `citation` identify it (`C#a1b2c3d D#12` for a link), `table` and `key` its row; `now` and `then` are
    whole rows, None where there is none. `sign` is `+` for what would come to be or no longer be forgotten, `-` for
    what would be removed or forgotten, `~` for what would change; `fields` are the columns that differ, none when the
    row itself is added or removed; `says` describes the effect, `title` is the record's own text as it was written.
    `by` is the newest step in force that changed it, not an undo or a redo of one. `clash`: somebody else's later
    change would be overwritten. `by_hand`: a person changed it since, and `mine` are the columns and values that they
    wrote. `needs`: the changes of this plan, by index, that this one requires (foreign keys). `blocked`: why it can
    never be made, else "".
    """

    kind: str
    citation: str
    table: str
    key: tuple[Any, ...]
    now: dict[str, Any] | None
    then: dict[str, Any] | None
    sign: str
    fields: tuple[str, ...]
    says: str
    title: str
    by: Step | None
    clash: bool
    by_hand: bool
    mine: dict[str, Any]
    needs: tuple[int, ...]
    blocked: str


class RestorePlan(NamedTuple):
    """What would change, newest change first; computed when history's newest step was `at`.

    `reason` is that of the step it will be, empty for a plan that is only shown. `undoes` is the step that it undoes,
    if it is one; `before` names the checkpoint taken first, if one is; the plan is based on history after step `since`.
    """

    reason: str
    changes: tuple[PlannedChange, ...]
    at: int
    since: int
    undoes: int | None = None
    before: str = ""

    def requirements_of(self, index: int) -> frozenset[int]:
        """Return the changes that must be chosen if this one is: itself and all that it needs, transitively."""
        return reach_all([index], lambda i: self.changes[i].needs)

    def dependents_of(self, index: int) -> frozenset[int]:
        """Return the changes that must be left out if this one is: itself and all that need it, transitively."""
        users = invert_needs([change.needs for change in self.changes])
        return reach_all([index], lambda i: users.get(i, ()))


class AppliedRestore(NamedTuple):
    """Result of applying a plan: a step of history, how many records, and the checkpoint taken just before."""

    seq: int
    changed: int
    checkpoint: int | None


class Plans:
    """The restores and undos possible in one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # make

    def plan_checkpoint(self, number: int) -> RestorePlan:
        """Plan the restore of a checkpoint. Raise NotFound."""
        seq = self._database.value("SELECT seq FROM checkpoints WHERE id = ?", (number,))
        cited = cite("checkpoint", number)
        if seq is None:
            raise NotFound(f"There is no checkpoint {cited}.", "List them with `memoranda list checkpoints`.")
        with self._database.read_snapshot():
            return self._make_plan(
                f"restore {cited}", rewind_to_step(self._database, seq), seq, before=f"before restoring {cited}"
            )

    def plan_moment(self, seq: int, name: str) -> RestorePlan:
        """Plan the return to the state after step `seq`; `name` is the name of that moment."""
        with self._database.read_snapshot():
            found = rewind_to_step(self._database, seq)
            return self._make_plan(f"restore {name}"[:200], found, seq, before=f"before restoring {name}"[:200])

    def plan_step(self, seq: int) -> RestorePlan:
        """Plan the undo of one step, of any age. Raise NotFound, and Conflict for a step that was undone already or
        whose text was purged."""
        with self._database.read_snapshot():
            self._require_undoable(seq)
            found = add_leaving_links(self._database, rewind_without_step(self._database, seq))
            return self._make_plan(f"undo {seq}", found, seq - 1, undoes=seq)

    def plan_steps(self, seqs: Collection[int]) -> RestorePlan:
        """Plan the undo of several steps as one step. Raise NotFound and Conflict as `plan_step` does."""
        if len(seqs) == 1:
            return self.plan_step(*seqs)
        with self._database.read_snapshot():
            for seq in seqs:
                self._require_undoable(seq)
            found = add_leaving_links(self._database, rewind_without_steps(self._database, seqs))
            return self._make_plan(
                f"undo {list_citations([str(seq) for seq in sorted(seqs)])}", found, min(seqs) - 1
            )

    def _require_undoable(self, seq: int) -> None:
        """Raise NotFound or Conflict unless a step is in force, and in this file alone."""
        history = History(self._database)
        require_in_force(history.get(seq))
        if history.is_in_two_files(seq):
            raise Conflict(
                f"Step {seq} moved a fact to another memory: it is undone in both, whole.", f"undo {seq}"
            )

    def plan_origin(self, origin: str, session: str = "") -> RestorePlan:
        """Plan the undo of all steps in force of an actor; with a `session` of an agent, of those in this session, by
        its server and by its hooks. Raise NotFound for one without any."""
        names = json.dumps(actor_names(self._database, origin, session))
        first = self._database.value(
            "SELECT min(seq) FROM history WHERE actor IN (SELECT value FROM json_each(?))", (names,)
        )
        if first is None:
            raise NotFound("Nobody of that name ever wrote here.", "See who did: `memoranda history`.")
        with self._database.read_snapshot():
            found = add_leaving_links(self._database, rewind_without_actor(self._database, origin, session))
            return self._make_plan(f"undo {origin}", found, first - 1, before=f"before undoing {origin}"[:200])

    def plan_since(self, seq: int) -> RestorePlan:
        """Return the changes since a step, to be shown only; `now` and `then` as if they were to be undone."""
        with self._database.read_snapshot():
            return self._make_plan("", rewind_to_step(self._database, seq), seq)

    def plan_between(self, seq: int, end: int) -> RestorePlan:
        """Return the differences between the states after step `seq` and after step `end`, to be shown only, in `then`
        and `now`."""
        with self._database.read_snapshot():
            return self._make_plan("", compare_steps(self._database, seq, end), seq, until=max(seq, end))

    # choose

    def keep_mine(self, plan: RestorePlan) -> RestorePlan:
        """Return the same plan, keeping what a person changed since, field by field: such a record is restored in all
        other fields. One that they changed in nothing else, or added, or removed, is unchanged in the plan, and
        `propose_changes` leaves it out."""
        changes = []
        for change in plan.changes:
            if change.by_hand and change.now is not None and change.then is not None:
                then = {**change.then, **change.mine}
                if then != change.now:
                    change = change._replace(
                        then=then,
                        by_hand=False,
                        sign=change_sign(change.now, then),
                        fields=changed_columns(change.now, then),
                        says=describe_revert(change.now, then),
                    )
            changes.append(change)
        return plan._replace(changes=tuple(changes))

    def propose_changes(self, plan: RestorePlan, strategy: str = "replace") -> frozenset[int]:
        """Return the changes chosen by default: all that neither clash nor are blocked (`replace`); of those, none that
        a person changed since (`mine`, of a plan by `keep_mine`), or only what would become visible again (`add`).
        Raise InvalidInput."""
        require_one_of("strategy", strategy, RESTORE_STRATEGIES)
        left_out = [
            index
            for index, change in enumerate(plan.changes)
            if change.clash
            or change.blocked
            or (strategy == "mine" and change.by_hand)
            or (strategy == "add" and change.sign != "+" and change.now is not None)
        ]
        users = invert_needs([change.needs for change in plan.changes])
        return frozenset(range(len(plan.changes))) - reach_all(left_out, lambda i: users.get(i, ()))

    # apply

    def apply_plan(
        self, plan: RestorePlan, chosen: Collection[int], *, actor: str = PERSON_ORIGIN
    ) -> AppliedRestore:
        """Make the chosen changes, by their indexes, as one new step; all of them or none.

        Raise InvalidInput for a choice that is empty or lacks what it needs, Conflict for what is blocked or was
        changed after the plan was made.
        """
        picked = select_changes(plan, chosen)
        with self._database.write(actor, plan.reason) as write:
            self._require_unchanged(write, plan, picked)
            checkpoint = insert_checkpoint(write, plan.before, "restore") if plan.before else None
            write.undoes = plan.undoes
            if apply_edits(write, [_edit_of_change(change) for change in picked]):
                raise Conflict("A record refers to what would be removed.", "Nothing was changed; look again.")
        assert write.seq is not None
        # what the process that answers hooks has read is no longer so
        release_memories()
        return AppliedRestore(write.seq, len(picked), checkpoint)

    def _require_unchanged(self, write: Transaction, plan: RestorePlan, picked: list[PlannedChange]) -> None:
        """Raise Conflict unless each record is as it was shown, and its old text still exists."""
        if plan.undoes is not None:
            require_in_force(History(self._database).get(plan.undoes))
        records = [(change.table, encode_key(change.key)) for change in picked]
        today = read_current_rows(self._database, records)
        for change, record in zip(picked, records, strict=True):
            if today.get(record) != change.now:
                raise Conflict(
                    f"{change.citation} changed while you looked; nothing was done.",
                    "Look again, and choose again.",
                )
        if self._find_erased([record for record, c in zip(records, picked, strict=True) if c.then], plan.since):
            raise Conflict("Text was erased while you looked; nothing was done.", "Look again, and choose again.")

    # compute a plan

    def _make_plan(
        self,
        reason: str,
        found: list[Rewound],
        since: int,
        undoes: int | None = None,
        before: str = "",
        until: int | None = None,
    ) -> RestorePlan:
        """Return the plan of the changes from the current state of records to their state then."""
        at = self._database.value("SELECT coalesce(max(seq), 0) FROM history")
        newest = self._newest({one.record for one in found}, since, at if until is None else until)
        steps = {step.seq: step for step in History(self._database).get_many(sorted(set(newest.values())))}
        found = sorted(
            found, key=lambda one: (-newest.get(one.record, 0), RECORDED_TABLES.index(one.table), one.values)
        )
        moves = [((one.table, one.values), one.now, one.then) for one in found]
        cited = cite_records(self._database, [ref for ref, *_ in moves])
        lost = self._find_erased([one.record for one in found if one.then], since)
        erased = {
            place: f"What {cited[moves[place][0]]} said was erased."
            for place, one in enumerate(found)
            if one.record in lost
        }
        needs: list[set[int]] = [set() for _ in moves]
        blocked, along = erased, set[int]()
        # else `now` is not current, and the plan cannot be applied
        if until is None:
            along = {place for place, one in enumerate(found) if one.along}
            needs, blocked = find_dependencies(
                self._database, moves, erased, along, lambda refs: cite_records(self._database, refs)
            )
        shows = [place for place in range(len(found)) if place not in along or place not in blocked]
        # a link stays with a decision that does
        number = {before: index for index, before in enumerate(shows)}
        facts = [one.values[0] for one in found if one.table == "facts"] if reason and undoes is None else []
        gone = find_moved_facts(self._database, facts, since)
        changes = []
        for index in shows:
            one = found[index]
            key = one.values
            move = gone.get(key[0]) if one.table == "facts" else None
            shown = one.now or one.then
            assert shown is not None
            changes.append(
                PlannedChange(
                    kind=KIND_OF_TABLE[one.table],
                    citation=cited[one.table, key],
                    table=one.table,
                    key=key,
                    now=one.now,
                    then=one.then,
                    sign=change_sign(one.now, one.then),
                    fields=changed_columns(one.now, one.then),
                    says=describe_revert(one.now, one.then) + (f", though {_describe_move(move)}" if move else ""),
                    title=title_of_row(one.table, shown),
                    by=steps.get(newest.get(one.record, 0)),
                    # the other half of the move stays
                    clash=one.clash or move is not None,
                    by_hand=one.by_hand,
                    mine=one.mine,
                    needs=tuple(sorted(number[other] for other in needs[index] if other in number)),
                    blocked=blocked.get(index, ""),
                )
            )
        return RestorePlan(reason, tuple(changes), at, since, undoes, before)

    def _newest(self, records: set[RecordKey], since: int, until: int) -> dict[RecordKey, int]:
        """Return the newest step after `since` up to `until` that changed each record and is in force: what an undo or
        a redo brought back is still of the step that wrote it. Where there is none, the newest of all."""
        newest = self._newest_but(UNDONE_STEPS_SQL, records, since, until)
        return newest | self._newest_but(NO_STEPS_SQL, records.difference(newest), 0, until)

    def _newest_but(self, steps: str, records: set[RecordKey], since: int, until: int) -> dict[RecordKey, int]:
        """Return the newest step after `since` up to `until` that changed each record, none that the query `steps`
        finds, whose parameters they are."""
        newest: dict[RecordKey, int] = {
            (table, key): seq
            for table, wanted in _keys_of_tables(records).items()
            for key, seq in self._database.rows(
                "SELECT value, (SELECT max(seq) FROM main.history_row WHERE tbl = ?3 AND pk = value AND seq > ?1"
                f" AND seq <= ?2 AND seq NOT IN ({steps})) FROM json_each(?4)",
                (since, until, table, json.dumps(wanted)),
            )
            if seq is not None
        }
        packed = records.difference(newest)
        if not packed:
            return newest
        but = set(self._database.column(steps, (since, until)))
        return newest | find_newest_packed(self._database, packed, since, until, but)

    def _find_erased(self, records: list[RecordKey], since: int) -> set[RecordKey]:
        """Return those of these records whose text was purged from history after step `since`."""
        return {
            (table, key)
            for table, wanted in _keys_of_tables(records).items()
            for (key,) in self._database.rows(
                "SELECT j.value FROM json_each(?) AS j CROSS JOIN main.history_row AS r"
                " WHERE r.tbl = ? AND r.pk = j.value AND r.seq > ? AND r.purged = 1",
                (json.dumps(wanted), table, since),
            )
        } | find_erased_records(self._database, since).intersection(records)


def cite_records(database: Database, records: list[TableKey]) -> dict[TableKey, str]:
    """Return the citation of each of these records, given as a table and a key."""
    commits = sorted({key[0] for table, key in records if table == "commit_links"})
    shas = {commit.id: commit.citation for commit in Commits(database).get_many(commits)}
    return {
        (table, key): f"{shas.get(key[0], 'C#?')} {cite('decision', key[1])}"
        if table == "commit_links"
        else cite("fact" if table == "mutes" else KIND_OF_TABLE[table], key[0])
        for table, key in records
    }


def _describe_move(move: FactMove) -> str:
    """Return where a fact that was moved since is now, in the words of a plan."""
    here = f"{cite('fact', move.fact or 0)} of {move.project}" if move.project else cite("global", move.own or 0)
    # in the personal memory both are the other way round
    away = MOVE_IN if move.project else MOVE_OUT
    return f"{here} says it now" if move.kind == away else f"it was {here}"


def select_changes(plan: RestorePlan, chosen: Collection[int]) -> list[PlannedChange]:
    """Return the chosen changes in the plan's order. Raise InvalidInput or Conflict if they cannot be made
    together."""
    wanted = set(chosen)
    if not plan.reason:
        raise InvalidInput("That is to look at only.", "Restore a checkpoint, or undo a step.")
    if not wanted:
        raise InvalidInput("Nothing was chosen, so nothing was changed.", "Choose at least one record.")
    if not wanted <= set(range(len(plan.changes))):
        raise InvalidInput("That is not among what would change.", "Look at the list again.")
    for index in sorted(wanted):
        change = plan.changes[index]
        if change.blocked:
            raise Conflict(f"{change.citation} cannot be changed: {change.blocked}", "Leave it out.")
        lacking = [plan.changes[other].citation for other in change.needs if other not in wanted]
        if lacking:
            raise InvalidInput(
                f"{change.citation} cannot be changed without {', '.join(lacking[:5])}.",
                "Choose both, or neither.",
            )
    return [plan.changes[index] for index in sorted(wanted)]


def _edit_of_change(change: PlannedChange) -> RowEdit:
    """Return a planned change as an edit of its row."""
    key, now, then = list(change.key), change.now, change.then
    if now is None or then is None:
        return change.table, key, now, then
    return change.table, key, {n: now[n] for n in change.fields}, {n: then[n] for n in change.fields}


# What happened to records in a span of time, as history says it: for people, not to be undone.

# state → the column of a record in it, and the value there
_STATE_COLUMNS = {
    "forgotten": ("status", "forgotten"),
    "superseded": ("status", "superseded"),
    "pinned": ("pinned", 1),
    "done": ("status", "done"),
    "progress": ("status", "in_progress"),
}


class Happening(NamedTuple):
    """What `actor` did last to a record in that time. `says` is what happened, as in `describe_change`, or
    `linked` to a commit; empty where the record came to be. `states` are those that it came into; of what a fact was
    corrected to, `correction`."""

    citation: str
    kind: str
    actor: str
    at: str
    says: str
    states: tuple[str, ...]


def list_happenings(database: Database, since: str = "", before: str = "") -> list[Happening]:
    """Return what happened to the facts, decisions and tasks that exist after a span of time and differ from what they
    were before it, newest first."""
    history = History(database)
    end = history.newest_step_before(before) if before else database.newest_step()
    changes = Plans(database).plan_between(history.newest_step_before(since) if since else 0, end).changes
    kinds = ("fact", "decision", "task", "link")
    return [_happening_of_change(change) for change in changes if change.kind in kinds and change.now]


def _happening_of_change(change: PlannedChange) -> Happening:
    """Return what happened to a record, from the planned change that would revert it."""
    then, now = change.then or {}, change.now or {}
    # of a link its decision
    citation = change.citation.split()[-1]
    states = [
        state for state, (column, value) in _STATE_COLUMNS.items() if now.get(column) == value != then.get(column)
    ]
    if change.kind == "fact" and not then and now["supersedes"]:
        states.append("correction")
    says = "linked" if change.kind == "link" else describe_change(then, now) if then else ""
    actor, at = (change.by.actor, change.by.at) if change.by else ("", "")
    return Happening(citation, parse_citation(citation).kind, actor, at, says, tuple(states))
