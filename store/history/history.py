"""History: who changed what, and how a change is undone.

A step is undone by applying the inverse of its rows as a new step; undoing that one is the redo. What a later step
changed is never overwritten: such an undo is refused, and the error lists the later steps.
"""

from __future__ import annotations

import json
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import merge
from operator import itemgetter
from typing import Any

import apsw

from store.base.citations import cite
from store.base.errors import Conflict, MemorandaError, NotFound
from store.base.location import is_personal_memory
from store.base.models import Change, Step
from store.base.vocabulary import CITATION_LETTERS, PERSON_ORIGIN, TASK_STATUS_LABELS
from store.database.change_capture import list_table_columns
from store.database.database import Database, Transaction
from store.database.schema import RECORDED_TABLES
from store.database.values import Verbatim, dump_compact_json
from store.history.compression import PackedRow, every_row_view, has_unpurged_row, read_step_rows
from store.personal.memory import require_personal_memory
from store.records.table import RecordTable

# Describe the change of a record's row: whether the record is added, removed or changed, and how, in a few words.
#
# Rows are dictionaries by column name, None where there is no row; nothing is read or written here.

RowValues = dict[str, Any]

KIND_OF_TABLE = {
    "facts": "fact",
    "decisions": "decision",
    "tasks": "task",
    "commit_links": "link",
    "proposals": "proposal",
    "mutes": "mute",
}
TABLE_OF_KIND = {kind: table for table, kind in KIND_OF_TABLE.items()}
DERIVED_COLUMNS = (
    "text_hash",
    "updated_at",
    "decided_at",
    "made",
)  # columns derived from others, which are not described
TITLE_COLUMNS = {
    "facts": "fact",
    "decisions": "title",
    "tasks": "text",
    "commit_links": "link_type",
    "proposals": "text",
}


def change_sign(old: RowValues | None, new: RowValues | None) -> str:
    """Return `+` if the record comes to be or is no longer forgotten, `-` if it is removed or forgotten, `~` if it
    changes otherwise."""
    if old is None or new is None:
        return "+" if old is None else "-"
    seen, then = _is_shown(old), _is_shown(new)
    if seen == then:
        return "~"
    return "+" if then else "-"


def title_of_row(table: str, row: RowValues) -> str:
    """Return a record's own text, as it was written."""
    if table == "mutes":
        return "muted: not sent to agents"
    return str(row[TITLE_COLUMNS[table]])


# shown words; the stored ones differ
STATUS_WORDS = {"superseded": "replaced", **TASK_STATUS_LABELS}


def changed_columns(old: RowValues | None, new: RowValues | None) -> tuple[str, ...]:
    """Return the columns that differ; none when the row itself is added or removed."""
    if old is None or new is None:
        return ()
    return tuple([name for name, value in new.items() if old.get(name) != value])


def describe_revert(old: RowValues | None, new: RowValues | None) -> str:
    """Describe the effect of turning a record's row from `old` into its former state `new`: `removed`, `removed
    (forgotten now)`, `comes back`, `comes back as forgotten`, `unpinned`, `text as before`."""
    if old is None:
        hidden = _hidden_status(new)
        return f"comes back as {hidden}" if hidden else "comes back"
    if new is None:
        hidden = _hidden_status(old)
        return f"removed ({hidden} now)" if hidden else "removed"
    return ", ".join(_describe_columns(old, new, " again", " as before"))


def describe_change(old: RowValues | None, new: RowValues | None) -> str:
    """Describe what happened to a record whose row changed from `old` to `new`: `new`, `gone`, `forgotten`,
    `pinned`."""
    if old is None or new is None:
        came = "new" if old is None else "gone"
        hidden = _hidden_status(new if old is None else old)
        return f"{came}, {hidden}" if hidden else came
    return ", ".join(_describe_columns(old, new, "", " changed"))


def _is_shown(row: RowValues) -> bool:
    """Tell whether a record is not forgotten."""
    return row.get("status") != "forgotten"


def _hidden_status(row: RowValues | None) -> str:
    """Return the status of a record that is not shown even where its row exists; else an empty string."""
    status = row.get("status") if row else None
    return str(STATUS_WORDS.get(status, status)) if status in ("forgotten", "superseded", "contradicted") else ""


def _describe_columns(old: RowValues, new: RowValues, again: str, otherwise: str) -> list[str]:
    """Describe each column that differs."""
    parts = []
    for name in changed_columns(old, new):
        value = new[name]
        if name in ("status", "state"):
            back = name == "status" and value == "active" and again
            parts.append("comes back" if back else STATUS_WORDS.get(value, str(value)) + again)
        elif name == "pinned":
            parts.append("pinned" if value else "unpinned")
        elif name == "last_confirmed_at":
            parts.append("confirmed" + again if value > old[name] else "confirmation undone")
        elif name in ("confidence", "domain", "impact", "link_type", "scope"):
            parts.append(f"{name.replace('_', ' ')} {value}")
        elif name not in DERIVED_COLUMNS:
            parts.append(("text" if name == "fact" else name.replace("_", " ")) + otherwise)
    return parts or ["touched"]


# Edits: change rows of the recorded tables from one state to another, in the write's transaction.
#
# All edits of one form (a table, the operation, the same columns) are one statement over a JSON list: 10,000 of them
# take a third of the time of single statements, since FTS5 writes its index after each. SQLite reads numbers from
# JSON exactly (tried on 300,000 random doubles). SQLite itself checks the foreign keys; where no order of the
# statements satisfies them at every step, at the end.

RowState = dict[str, Any]
RowKey = list[Any]
RowEdit = tuple[
    str, RowKey, RowState | None, RowState | None
]  # table, key, current state, wanted state (None: no row)

# in the order that keeps references valid
INSERT, UPDATE, DELETE = range(3)


def apply_edits(write: Transaction, edits: Sequence[RowEdit]) -> list[tuple[str, RowKey]]:
    """Change each row from its first state to its second, all in the write's transaction.

    Where both exist they name only the columns that change. Columns that the table no longer has are skipped, new ones
    keep their defaults. Return the (table, key) of rows that were found in another state, ("", []) if a record refers
    to what would be deleted; after either the transaction must be abandoned.
    """
    connection = write.database.connection
    tables = {table for table, *_ in edits}
    shapes = {
        table: (primary_key(connection, table), set(list_table_columns(connection, table))) for table in tables
    }
    forms: dict[tuple[int, int, tuple[str, ...]], list[RowEdit]] = {}
    for edit in edits:
        table, _, now, wanted = edit
        kind = INSERT if now is None else DELETE if wanted is None else UPDATE
        place, known = RECORDED_TABLES.index(table), shapes[table][1]
        names = tuple([name for name in (wanted if wanted is not None else now or ()) if name in known])
        forms.setdefault((kind, -place if kind == DELETE else place, names), []).append(edit)
    met: list[tuple[str, RowKey]] = []
    deferred = False
    for (kind, _, names), same in sorted(forms.items()):
        if not names:
            continue
        table = same[0][0]
        keys = shapes[table][0]
        listed = dump_compact_json([_edit_values(edit, names) for edit in same])
        sql = (_insert_sql, _update_sql, _delete_sql)[kind](table, keys, names)
        try:
            turned = {tuple(key) for key in write.execute_verbatim(sql, listed)}
        except apsw.ConstraintError as error:
            if deferred or getattr(error, "extendedresult", 0) != apsw.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise
            deferred = True
            # until this transaction ends
            write.execute("PRAGMA defer_foreign_keys = 1")
            turned = {tuple(key) for key in write.execute_verbatim(sql, listed)}
        if len(turned) < len(same):
            met += [(table, key) for _, key, *_ in same if tuple(key) not in turned]
    if deferred and connection.status(apsw.SQLITE_DBSTATUS_DEFERRED_FKS)[0]:
        met.append(("", []))
    return met


def primary_key(connection: apsw.Connection, table: str) -> list[str]:
    """Return the names of a table's key columns, in the order in which history writes a key. Read from the file's own
    table: the view that shows the past in its place has no key."""
    found = connection.execute("SELECT name FROM pragma_table_info(?, 'main') WHERE pk ORDER BY cid", (table,))
    return [name for (name,) in found]


# the statements, whose one parameter is a JSON list of `_edit_values`, and which return the keys of the rows they
# changed


def _edit_values(edit: RowEdit, names: tuple[str, ...]) -> list[Any]:
    """Return an edit as the statements read it: its key, the current columns, the wanted columns."""
    _, key, *states = edit
    return [*key, *(state[name] for state in states if state is not None for name in names)]


def _insert_sql(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    """Return the statement that inserts rows."""
    values = ", ".join(f"j.value ->> {place}" for place in range(len(keys), len(keys) + len(names)))
    return (
        f"INSERT INTO {table}({', '.join(names)}) SELECT {values} FROM json_each(?) AS j WHERE true"
        f" ON CONFLICT DO NOTHING RETURNING {', '.join(keys)}"
    )


def _update_sql(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    """Return the statement that updates rows which are as expected."""
    first = len(keys) + len(names)
    sets = ", ".join(f"{name} = j.value ->> {place}" for place, name in enumerate(names, start=first))
    return (
        f"UPDATE {table} AS t SET {sets} FROM json_each(?) AS j WHERE {_unchanged_sql(keys, names)}"
        f" RETURNING {', '.join(keys)}"
    )


def _delete_sql(table: str, keys: list[str], names: tuple[str, ...]) -> str:
    """Return the statement that deletes rows which are as expected."""
    key = ", ".join(keys)
    return (
        f"DELETE FROM {table} WHERE ({key}) IN (SELECT {', '.join(f't.{name}' for name in keys)}"
        f" FROM json_each(?) AS j CROSS JOIN {table} AS t ON {_unchanged_sql(keys, names)}) RETURNING {key}"
    )


def _unchanged_sql(keys: list[str], names: tuple[str, ...]) -> str:
    """Return the condition that row `t` has this key, and still holds the expected values."""
    same = [f"t.{name} = j.value ->> {place}" for place, name in enumerate(keys)]
    same += [f"t.{name} IS j.value ->> {place}" for place, name in enumerate(names, start=len(keys))]
    return " AND ".join(same)


# One step in two files: a project's memory, and the person's own beside it.
#
# SQLite commits each file by itself. So the step is noted first in the project's file, as begun. Then, while the
# project's file is locked, the personal one is changed and committed, with a note of its own in the same
# transaction, and then the project's, whose transaction completes the first note. A process that is killed between
# the two leaves a note that has begun: whoever opens the project next finishes the step where the personal file has
# its note, and takes it back where it has none (`store/history/moves.py`). The lock decides between one that still
# runs and one that is dead.

MOVE_OUT, MOVE_IN, MOVE_UNDO = (
    "out",
    "in",
    "undo",
)  # kinds of a move: to the personal memory, from it, one of both taken back
MOVE_COLUMNS = "token, kind, state, door, fact, own, step, other, undoes, project"


@dataclass(slots=True, eq=False, repr=False)
class FactMove:
    """A row of `moves`: a step in two files. `fact` is the fact in the project, `own` that in the personal memory;
    `step` the step of history of the file that it was read from, `other` that of the personal file, `undoes` the step
    that it takes back; `project` is the project's file, in the personal one alone."""

    token: str
    kind: str
    state: str = "begun"
    door: str = "cli"
    fact: int | None = None
    own: int | None = None
    step: int | None = None
    other: int | None = None
    undoes: int | None = None
    project: str = ""


def list_begun_moves(database: Database) -> list[FactMove]:
    """Return the moves that were begun in a project's file and are not complete."""
    return _read_moves(database, "state = 'begun' ORDER BY at")


def find_move_of_step(database: Database, seq: int) -> FactMove | None:
    """Return the move whose step of history in this file is `seq`; None for any other step."""
    return next(iter(_read_moves(database, "step = ?", seq)), None)


def find_move(database: Database, token: str) -> FactMove | None:
    """Return the note of a move in this file."""
    return next(iter(_read_moves(database, "token = ?", token)), None)


def _read_moves(database: Database, where: str, *parameters: object) -> list[FactMove]:
    """Return the moves for which a condition holds."""
    return [FactMove(*row) for row in database.rows(f"SELECT {MOVE_COLUMNS} FROM moves WHERE {where}", parameters)]


def find_moved_facts(database: Database, facts: Iterable[int], since: int) -> dict[int, FactMove]:
    """Return those of these facts of this file that were moved out of it, or into it, after step `since` and were not
    moved back by an undo, each with its last move."""
    name = "own" if is_personal_memory(database.path) else "fact"
    columns = ", ".join(f"m.{column}" for column in MOVE_COLUMNS.split(", "))
    rows = database.rows(
        f"SELECT m.{name}, {columns} FROM moves m JOIN history h ON h.seq = m.step WHERE m.step > ?"
        " AND m.state = 'done' AND m.kind <> 'undo' AND h.undone_by IS NULL"
        f" AND m.{name} IN (SELECT value FROM json_each(?)) ORDER BY m.step",
        (since, json.dumps(list(facts))),
    )
    return {number: FactMove(*row) for number, *row in rows}


def next_step_number(write: Transaction) -> int:
    """Return the number that this transaction's step of history will have."""
    return write.database.newest_step() + 1


def begin_move(
    database: Database, kind: str, *, fact: int | None = None, own: int | None = None, undoes: int | None = None
) -> FactMove:
    """Note in the project's file that a move begins; nothing else is changed yet."""
    move = FactMove(os.urandom(16).hex(), kind, door=database.door, fact=fact, own=own, undoes=undoes)
    with database.write(PERSON_ORIGIN, "move") as write:
        _note_move(write, move)
    return move


def _note_move(write: Transaction, move: FactMove) -> None:
    """Insert the note of a move, with what is known of it."""
    known = {name: value for name, value in asdict(move).items() if value not in (None, "")}
    told = {name: Verbatim(value) if isinstance(value, str) else value for name, value in known.items()}
    write.insert("moves", at=write.at, **told)


def carry_out_move(
    database: Database,
    own: Database,
    move: FactMove,
    there: Callable[[Transaction, Transaction], None],
    here: Callable[[Transaction], None],
) -> None:
    """Carry out a move that has begun: `there` changes the personal memory, given its transaction and the project's;
    `here` the project's. Both set what they learn in `move`. Nothing is changed where one of them raises. Raise
    Conflict where another process took the move back meanwhile."""
    try:
        with database.write(PERSON_ORIGIN, "move") as write:
            if not is_move_begun(write, move):
                raise Conflict(
                    "Another program took the move back meanwhile; nothing was changed.", "Move it again."
                )
            with own.write(PERSON_ORIGIN, "move") as far:
                there(far, write)
                here(write)
                move.other = next_step_number(far)
                done = replace(move, state="done", door=own.door, step=move.other, other=None, undoes=None)
                _note_move(far, replace(done, project=database.path))
            complete_move(write, move)
    except MemorandaError:
        if (
            find_move(own, move.token) is None
        ):  # else the personal memory is changed: `store/history/moves.py` finishes it
            with database.write(PERSON_ORIGIN, "move") as write:
                drop_move(write, move)
        raise


def complete_move(write: Transaction, move: FactMove) -> None:
    """Complete the note of a move in the project's file, in the transaction that makes its step."""
    write.execute(
        "UPDATE moves SET state = 'done', fact = ?, own = ?, step = ?, other = ? WHERE token = ?",
        (move.fact, move.own, next_step_number(write), move.other, Verbatim(move.token)),
    )


def is_move_begun(write: Transaction, move: FactMove) -> bool:
    """Tell whether a move is begun still, and neither complete nor taken back."""
    sql = "SELECT 1 FROM moves WHERE token = ? AND state = 'begun'"
    return write.first(sql, (Verbatim(move.token),)) is not None


def drop_move(write: Transaction, move: FactMove) -> None:
    """Delete the note of a move of which nothing was done, or nothing is left."""
    write.execute("DELETE FROM moves WHERE token = ?", (Verbatim(move.token),))


HISTORY_KINDS = {"facts": "fact", "decisions": "decision", "tasks": "task", "proposals": "proposal"}
# what `undo` without a number considers
BY_HAND_SQL = "actor = 'user' AND door IN ('app', 'cli')"
# and an import, which a person asked for; it is written by what was brought in
IMPORTED_SQL = "actor >= 'import:' AND actor < 'import;' AND reason GLOB 'import*' AND door IN ('app', 'cli')"
# begins the reason of a step that accepted an agent's text, since it quoted the person
BELIEVE_VERB = "believe"
# by which steps `h` a person approves the row `r`; superseding a fact rejects it, though it may be restored since
_APPROVES = " OR ".join(
    f"h.reason LIKE '{verb}%'"
    for verb in ("remember", "confirm", "correct", "pin", "accept", "decide", "merge", "supersede", "edit")
)
APPROVING_SQL = {
    "facts": f"((h.actor = '{PERSON_ORIGIN}'"
    f" OR (h.actor LIKE 'talk:%' AND r.op = 'UPDATE')) AND ({_APPROVES})"
    f" OR h.door = 'mcp' AND h.reason LIKE '{BELIEVE_VERB}%')"
    " AND coalesce(r.after ->> '$.status', 'active') = 'active'",
    "tasks": f"h.actor = '{PERSON_ORIGIN}'",
}
# the steps in force that linked a commit to a decision made by step ?, and that decision
REFERRING_SQL = """
SELECT link.seq, json_extract(made.pk, '$[0]') FROM {every_row} AS made
JOIN {every_row} AS link ON link.tbl = 'commit_links' AND json_extract(link.pk, '$[1]') = json_extract(made.pk, '$[0]')
JOIN history AS step ON step.seq = link.seq
WHERE made.seq = ? AND made.tbl = 'decisions' AND made.op = 'INSERT' AND link.op = 'INSERT' AND link.seq > made.seq
  AND step.undone_by IS NULL AND step.undoes IS NULL
"""


def find_approved_ids(database: Database, table: str, ids: Iterable[int], schema: str = "main") -> set[int]:
    """Return which of these facts or tasks a person approved, as history tells: by a step of theirs, or in another
    memory before an import, whose step cites them. `schema` is where the history is."""
    rows = every_row_view(database) if schema == "main" else f"{schema}.history_row"
    cited = f"' {CITATION_LETTERS[KIND_OF_TABLE[table]]}#' || json_extract(r.pk, '$[0]') || ' '"
    found = database.column(
        f"SELECT DISTINCT r.pk FROM json_each(?) AS j CROSS JOIN {rows} AS r"
        f" ON r.tbl = '{table}' AND r.pk = j.value"
        f" JOIN {schema}.history AS h ON h.seq = r.seq"
        " WHERE h.undone_by IS NULL AND h.undoes IS NULL"
        f" AND ({APPROVING_SQL[table]}"
        f" OR h.reason GLOB 'import *' AND instr(h.reason || ' ', {cited}))",
        (json.dumps([f"[{number}]" for number in ids]),),
    )
    return {json.loads(key)[0] for key in found}


def _qualify_columns(table: str, condition: str) -> str:
    """Return a condition over history with its columns qualified by a table's name."""
    for name in ("actor", "door", "reason"):
        condition = condition.replace(name, f"{table}.{name}")
    return condition


# a person's manual steps before a step, newest first; and of an undo, what it undid
PLAIN_STEP, OTHERS_STEP, UNDO_STEP = range(3)
MANUAL_STEPS_SQL = f"""
SELECT seq, undoes, undone_by, (SELECT CASE WHEN target.undoes IS NOT NULL THEN {UNDO_STEP}
    WHEN {_qualify_columns("target", BY_HAND_SQL)} OR {_qualify_columns("target", IMPORTED_SQL)}
    THEN {PLAIN_STEP} ELSE {OTHERS_STEP} END
  FROM history AS target WHERE target.seq = done.undoes)
FROM history AS done WHERE {BY_HAND_SQL} AND seq < ? ORDER BY seq DESC LIMIT ?
"""
# the imports, of which there are few, as MANUAL_STEPS_SQL lists steps
IMPORT_STEPS_SQL = f"SELECT seq, undoes, undone_by, NULL FROM history WHERE {IMPORTED_SQL}"
# the newest manual undo in force that was in force ever since: one that was undone itself and is in force again was
# restored by a redo, which continues from there. None if a manual change was made since.
NEXT_REDO_SQL = f"""
SELECT seq, undoes FROM history
WHERE {BY_HAND_SQL} AND undone_by IS NULL AND undoes IS NOT NULL AND reason LIKE 'undo %'
  AND NOT EXISTS (SELECT 1 FROM history AS back WHERE back.undoes = history.seq)
  AND seq > (SELECT coalesce(max(seq), 0) FROM history AS later
    WHERE {_qualify_columns("later", BY_HAND_SQL)} AND later.undoes IS NULL)
  AND seq > (SELECT coalesce(max(seq), 0) FROM history AS later WHERE {_qualify_columns("later", IMPORTED_SQL)})
ORDER BY seq DESC LIMIT 1
"""
TEXT_PATHS = ("$.fact", "$.title", "$.text")
SUBJECTS_SQL = f"""
SELECT r.seq, coalesce({", ".join(f"json_extract(r.after, '{text}')" for text in TEXT_PATHS)},
  CASE r.tbl WHEN 'facts' THEN (SELECT fact FROM facts WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'decisions' THEN (SELECT title FROM decisions WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'tasks' THEN (SELECT text FROM tasks WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'proposals' THEN (SELECT text FROM proposals WHERE id = json_extract(r.pk, '$[0]')) END,
  {", ".join(f"json_extract(r.before, '{text}')" for text in TEXT_PATHS)})
FROM {{every_row}} AS r WHERE r.seq IN (SELECT value FROM json_each(?)) AND r.n < 4
ORDER BY r.seq, r.op <> 'INSERT', r.n
"""


class History(RecordTable[Step]):
    """The history of one memory: its steps, by their numbers."""

    source = "history"
    columns = "seq, at, actor, door, reason, undoes, undone_by, changes"

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Step:
        return Step(*row)

    @classmethod
    def missing(cls, number: int) -> NotFound:
        return NotFound(f"History has no step {number}.", "Look at `memoranda history`.")

    # read

    def steps(
        self,
        *,
        actor: str | None = None,
        record: tuple[str, int] | None = None,
        since: str = "",
        before: str = "",
        after_seq: int = 0,
        limit: int = -1,
    ) -> list[Step]:
        """List steps, newest first; of one actor, of one record given as (kind, id), from a moment on, before a moment,
        after a step."""
        where, parameters = self._filter_sql(actor, record, since, before, after_seq)
        rows = self._database.rows(
            f"SELECT {self.columns} FROM history WHERE {where} ORDER BY seq DESC LIMIT :limit",
            {**parameters, "limit": limit},
        )
        return [Step(*row) for row in rows]

    def keys(
        self,
        *,
        actor: str | None = None,
        record: tuple[str, int] | None = None,
        since: str = "",
        before: str = "",
        after_seq: int = 0,
    ) -> array[int]:
        """Return the numbers of the steps that match these filters (see `steps`), newest first and packed, for a list
        that may be millions long; `get_many` reads those that are shown."""
        where, parameters = self._filter_sql(actor, record, since, before, after_seq)
        return self._database.keys(f"SELECT seq FROM history WHERE {where} ORDER BY seq DESC", parameters)

    def subjects(self, seqs: Sequence[int]) -> dict[int, str]:
        """Return the subject of these steps: the text of the record that was added, or of the first that changed, where
        it has one. Read from history's rows, else from the current record."""
        rows = self._database.rows(
            SUBJECTS_SQL.format(every_row=every_row_view(self._database)), (json.dumps(list(seqs)),)
        )
        found: dict[int, str] = {}
        for seq, text in rows:
            if text:
                found.setdefault(seq, text)
        return found

    def newest_step_before(self, moment: str) -> int:
        """Return the newest step before a moment; 0 if there is none."""
        return self._database.number("SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (moment,))

    def actors(self) -> list[tuple[str, int]]:
        """List all actors, and how many steps each has; most first."""
        return self._database.rows("SELECT actor, count(*) FROM history GROUP BY actor ORDER BY 2 DESC, 1")

    def changes(self, seq: int, limit: int = -1) -> list[Change]:
        """Return the rows a step changed, the first `limit` of them."""
        rows = self._database.rows(
            f"SELECT tbl, pk, op, before, after FROM {every_row_view(self._database)} WHERE seq = ? ORDER BY n LIMIT ?",
            (seq, limit),
        )
        return [
            Change(table, tuple(json.loads(key)), op, before and json.loads(before), after and json.loads(after))
            for table, key, op, before, after in rows
        ]

    def _filter_sql(
        self, actor: str | None, record: tuple[str, int] | None, since: str, before: str, after_seq: int
    ) -> tuple[str, dict[str, object]]:
        """Return the filters of a list of steps as a condition and its parameters."""
        kind, number = record or ("", 0)
        table = next((name for name, one in HISTORY_KINDS.items() if one == kind), "")
        parameters = {"actor": actor, "table": table, "key": f"[{number}]", "since": since, "before": before}
        of_record = f"seq IN (SELECT seq FROM {every_row_view(self._database)} WHERE tbl = :table AND pk = :key)"
        clauses = {
            "actor = :actor": actor is not None,
            of_record: record is not None,
            "at >= :since": since,
            "at < :before": before,
            "seq > :after_seq": after_seq,
        }
        where = " AND ".join(["true", *(clause for clause, wanted in clauses.items() if wanted)])
        return where, {**parameters, "after_seq": after_seq}

    # undo and redo

    def undo(self, seq: int | None = None, *, actor: str = PERSON_ORIGIN) -> Step:
        """Undo a step: the one named, or the newest manual one in force.

        Return the step that was undone. Raise NotFound when there is none, Conflict when it is undone already or when
        later steps changed the same records.
        """
        with self._database.write(actor, "undo") as write:
            step = self.get(self.next_undo() if seq is None else seq)
            if (move := find_move_of_step(self._database, step.seq)) is None:
                self._undo_step(write, step)
                return step
            write.discard()
        self._undo_both(move)
        return step

    def next_undo(self) -> int:
        """Return the step that `undo` without a number undoes: the newest manual one in force, or import. Raise
        NotFound.

        An undo counts as such a step if it was of a step from the middle, or of somebody else's; the repeated undo of
        one's own newest step does not. Steps are read from the newest on; an undo waits until its own step is reached,
        and it was a plain one, or one that was in force when it was made. A step whose rows were all purged is not
        undone, and is ignored.
        """
        # negative, so that they are sorted
        waiting: list[int] = []
        chosen: int | None = None
        for seq, undoes, undone_by, again in self._manual_steps():
            if undoes is None:
                place = 0 if undone_by is None else bisect_left(waiting, -undone_by)
                if undone_by is not None and waiting[place : place + 1] == [-undone_by]:
                    del waiting[place]
                if (undone_by is None or place < len(waiting)) and has_unpurged_row(self._database, seq):
                    newer = next(
                        (-undo for undo in waiting[place:] if has_unpurged_row(self._database, -undo)), None
                    )
                    del waiting[place:]
                    if newer is not None:
                        chosen = newer
                    elif undone_by is None and chosen is None:
                        chosen = seq
            elif undone_by is None and chosen is None:
                if again == PLAIN_STEP:
                    waiting.append(-seq)
                elif again == OTHERS_STEP and has_unpurged_row(self._database, seq):
                    chosen = seq
            if chosen is not None and not waiting:
                return chosen
        if chosen is not None:
            return chosen
        raise NotFound("There is nothing to undo.", "Look at `memoranda history` for what others did.")

    def _manual_steps(self) -> Iterator[tuple[int, int | None, int | None, int]]:
        """Yield a person's manual steps and imports, newest first, as MANUAL_STEPS_SQL."""
        brought = sorted(self._database.rows(IMPORT_STEPS_SQL), reverse=True)
        yield from merge(self._read_manual_steps(), brought, key=itemgetter(0), reverse=True)

    def _read_manual_steps(self) -> Iterator[tuple[int, int | None, int | None, int]]:
        """Yield the manual steps, reading some at a time: the first is mostly enough."""
        before, count = 1 << 62, 8
        while rows := self._database.rows(MANUAL_STEPS_SQL, (before, count)):
            yield from rows
            before, count = rows[-1][0], count * 2

    def next_redo(self) -> int:
        """Return the undo that `redo` takes back. Raise NotFound."""
        row = self._database.row(NEXT_REDO_SQL)
        if row is None:
            raise NotFound("There is nothing to redo.", "Redo works until the next change.")
        return int(row[0])

    def redo(self, *, actor: str = PERSON_ORIGIN) -> Step:
        """Redo what the last undo removed (a change, or an undo, which is then in force again), then what the undo
        before it removed, unless a manual change was made since. Return the step that is in force again. Raise NotFound
        or Conflict."""
        with self._database.write(actor, "redo") as write:
            step = self.get(self.next_redo())
            reason = f"redo {step.undoes}"
            if (move := find_move_of_step(self._database, step.seq)) is None:
                self._undo_step(write, step)
                write.reason = reason
            else:
                write.discard()
        if move is not None:
            self._undo_both(move, reason)
        return self.get(step.undoes or 0)

    def is_in_two_files(self, seq: int) -> bool:
        """Return whether a step was made in two files, a project's and the person's own: it is undone in both, whole,
        by `undo`."""
        return find_move_of_step(self._database, seq) is not None

    def undo_within(self, write: Transaction, seq: int) -> None:
        """Undo a step of this file in an open transaction, whatever was done with it in another file. Raise
        Conflict."""
        self._undo_step(write, self.get(seq))

    def _undo_both(self, move: FactMove, reason: str = "") -> None:
        """Undo a step that was made in two files, in both, for a `reason` other than that of an undo. Raise Conflict
        in the person's own memory: the project's is where it is undone."""
        seq = int(move.step or 0)
        if move.project:
            raise Conflict(
                f"Step {seq} moved a fact between this memory and that of a project.",
                f"Undo it there: memoranda --db {move.project} history, then undo its number.",
            )
        own = require_personal_memory(self._database)
        both = begin_move(self._database, MOVE_UNDO, fact=move.fact, own=move.own, undoes=seq)

        def there(far: Transaction, write: Transaction) -> None:
            try:
                History(own).undo_within(far, int(move.other or 0))
            except Conflict as error:
                # it was erased, or not all of it was salvaged
                if not error.next:
                    raise Conflict(f"In your personal memory: {error.message}") from None
                raise Conflict(
                    f"{cite('global', int(move.own or 0))} changed in your personal memory since then.",
                    "Undo that first: memoranda undo --global",
                ) from None

        def here(write: Transaction) -> None:
            self.undo_within(write, seq)
            write.reason = reason or write.reason

        carry_out_move(self._database, own, both, there, here)

    def _undo_step(self, write: Transaction, step: Step) -> None:
        """Undo a step in an open transaction. Raise Conflict."""
        require_in_force(step)
        rows, count = read_revertible_rows(self._database, step.seq)
        if count != step.changes:
            raise Conflict(f"Not all that step {step.seq} changed was salvaged, and it cannot be undone.")
        # of a purged record nothing can be undone
        edits = [
            (table, json.loads(key), after and json.loads(after), before and json.loads(before))
            for table, key, _, before, after in rows
        ]
        write.reason = f"undo {step.seq}"
        write.undoes = step.seq
        met = apply_edits(write, edits)
        if met:
            raise Conflict(*self._conflict_message(step, met))

    def _conflict_message(self, step: Step, met: Sequence[tuple[str, RowKey]]) -> tuple[str, str]:
        """Return the message and the advice for an undo that conflicts with later changes."""
        names, linked, later, source = [], set[int](), set[int](), every_row_view(self._database)
        for table, key in [found for found in met if found[0] in HISTORY_KINDS] or met:
            # a record refers to what would be deleted: links to a decision that this step made
            if not key:
                for seq, decision in self._database.rows(REFERRING_SQL.format(every_row=source), (step.seq,)):
                    later.add(seq)
                    linked.add(decision)
                continue
            names.append(
                cite(HISTORY_KINDS[table], key[0])
                if table in HISTORY_KINDS
                else "a mute"
                if table == "mutes"
                else "a link"
            )
            later.update(
                self._database.column(
                    f"SELECT seq FROM {source} JOIN history USING(seq)"
                    " WHERE tbl = ? AND pk = ? AND seq > ? AND undone_by IS NULL AND undoes IS NULL",
                    (table, encode_key(key), step.seq),
                )
            )
        cited = [name for name in names if "#" in name]
        what = f"{', '.join(dict.fromkeys(names)) or 'something that refers to it'} changed since"
        despite = "although it changed"
        if linked and not names:
            cited = [cite("decision", number) for number in sorted(linked)]
            what, despite = f"a commit was linked to {', '.join(cited)} since", "with its link"
        first = " ".join(f"`undo {seq}`" for seq in sorted(later, reverse=True)[:3])
        return (
            f"Step {step.seq} cannot be undone alone: {what}.",
            (f"Undo the later steps first: {first}." if first else "Undo the later steps first.")
            + f" Or look with `undo {step.seq} --dry-run`"
            + (f", and undo it {despite}: `undo {step.seq} --overwrite {cited[0]}`." if cited else "."),
        )


def require_in_force(step: Step) -> None:
    """Raise Conflict if a step is undone."""
    if step.undone_by is not None:
        raise Conflict(f"Step {step.seq} is already undone, by step {step.undone_by}.", "Redo brings it back.")


def read_revertible_rows(database: Database, seq: int) -> tuple[list[PackedRow], int]:
    """Return (the rows of a step as table, key, op, before and after, without the purged; how
    many there are with them). Raise Conflict where all were purged."""
    every = read_step_rows(database, seq)
    rows = [tuple(row) for *row, purged in every if purged != 1]
    if every and not rows:
        raise Conflict(f"Step {seq} holds text that was erased, and cannot be undone.")
    return rows, len(every)


def encode_key(key: Sequence[Any]) -> str:
    """Return a key as history writes it."""
    return dump_compact_json(key)
