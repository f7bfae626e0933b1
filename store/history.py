"""History: who changed what, and how a change is taken back (HISTORY.md).

A step is undone by applying the inverse of its rows as a new step; undoing that one is the redo. What a later step
changed is never overwritten: such an undo is refused, and says which steps stand in its way.
"""

import json
from collections.abc import Sequence

import apsw

from store.citations import cite
from store.database import Database, Verbatim, Write
from store.database.capture import columns
from store.database.tables import RECORDED
from store.errors import Conflict, NotFound
from store.packing import every_row
from store.vocabulary import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator
    from typing import Any

    from store.models import Change, Step

    State = dict[str, Any]
    Key = list[Any]
    # table, key, state now, state wanted (None: the row is not there), whether both name only what changes
    Edit = tuple[str, Key, State | None, State | None, bool]

FEW = 500  # edits of which each is looked at by itself
COLUMNS = "seq, at, actor, door, reason, undoes, undone_by, changes"
KINDS = {"facts": "fact", "decisions": "decision", "tasks": "task", "proposals": "proposal"}
BY_HAND = "actor = 'user' AND door IN ('app', 'cli')"  # what `undo` without a number takes back (DESIGN §7)
# a step of which all was purged is not taken back, and stands in nobody's way
NOT_ERASED = """({step}.changes = 0
  OR EXISTS (SELECT 1 FROM {{every_row}} AS r WHERE r.seq = {step}.seq AND r.purged <> 1))"""
# the steps in force that linked a commit to a decision which step ? had made
REFERRING = """
SELECT link.seq FROM {every_row} AS made
JOIN {every_row} AS link ON link.tbl = 'commit_links' AND json_extract(link.pk, '$[1]') = json_extract(made.pk, '$[0]')
JOIN history AS step ON step.seq = link.seq
WHERE made.seq = ? AND made.tbl = 'decisions' AND made.op = 'INSERT' AND link.op = 'INSERT' AND link.seq > made.seq
  AND step.undone_by IS NULL AND step.undoes IS NULL
"""

# the newest step in force that a person made by hand; an undo is one too when it was of a step from the middle, or of
# somebody else's: taking back the newest of one's own, again and again, is not what one means to take back
NEXT_UNDO = f"""
SELECT seq FROM history AS done
WHERE {BY_HAND} AND undone_by IS NULL AND {NOT_ERASED.format(step="done")} AND (undoes IS NULL
  OR EXISTS (SELECT 1 FROM history AS target WHERE target.seq = done.undoes AND target.undoes IS NULL
    AND (NOT ({BY_HAND.replace("actor", "target.actor").replace("door", "target.door")})
      OR EXISTS (SELECT 1 FROM history AS later WHERE later.seq > target.seq AND later.seq < done.seq
        AND {BY_HAND.replace("actor", "later.actor").replace("door", "later.door")}
        AND {NOT_ERASED.format(step="later")}
        AND later.undoes IS NULL AND (later.undone_by IS NULL OR later.undone_by > done.seq)))))
ORDER BY seq DESC LIMIT 1
"""
TEXTS = ("$.fact", "$.title", "$.text")
SUBJECTS = f"""
SELECT r.seq, coalesce({", ".join(f"json_extract(r.after, '{text}')" for text in TEXTS)},
  CASE r.tbl WHEN 'facts' THEN (SELECT fact FROM facts WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'decisions' THEN (SELECT title FROM decisions WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'tasks' THEN (SELECT text FROM tasks WHERE id = json_extract(r.pk, '$[0]'))
    WHEN 'proposals' THEN (SELECT text FROM proposals WHERE id = json_extract(r.pk, '$[0]')) END,
  {", ".join(f"json_extract(r.before, '{text}')" for text in TEXTS)})
FROM {{every_row}} AS r WHERE r.seq IN (SELECT value FROM json_each(?)) AND r.n < 4
ORDER BY r.seq, r.op <> 'INSERT', r.n
"""


class History:
    """The history of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # reading

    def steps(
        self,
        *,
        actor: str | None = None,
        record: tuple[str, int] | None = None,
        since: str = "",
        before: str = "",
        after_seq: int = 0,
        limit: int = -1,
    ) -> "list[Step]":
        """Steps, newest first; of one actor, of one record given as (kind, id), from a moment on, before a moment,
        after a step."""
        from store.models import Step

        where, parameters = self._passing(actor, record, since, before, after_seq)
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM history WHERE {where} ORDER BY seq DESC LIMIT :limit",
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
    ) -> "array[int]":
        """The numbers of the steps that pass these filters (see `steps`), newest first and packed, for a list that may
        be millions long; `many` reads those that are seen."""
        where, parameters = self._passing(actor, record, since, before, after_seq)
        return self._database.keys(f"SELECT seq FROM history WHERE {where} ORDER BY seq DESC", parameters)

    def many(self, seqs: "Sequence[int]") -> "list[Step]":
        """The steps of these numbers that exist, in this order."""
        from store.models import Step

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM history WHERE seq IN (SELECT value FROM json_each(?))", (json.dumps(list(seqs)),)
        )
        by_seq = {row[0]: Step(*row) for row in rows}
        return [by_seq[seq] for seq in seqs if seq in by_seq]

    def subjects(self, seqs: "Sequence[int]") -> dict[int, str]:
        """What these steps were about: the text of the record that came, or of the first that changed, as far as it has
        one. Read from history's rows, else from the record as it is now."""
        rows = self._database.rows(SUBJECTS.format(every_row=every_row(self._database)), (json.dumps(list(seqs)),))
        found: dict[int, str] = {}
        for seq, text in rows:
            if text:
                found.setdefault(seq, text)
        return found

    def before(self, moment: str) -> int:
        """The newest step before a moment; 0 if there is none."""
        seq: int | None = self._database.value(
            "SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (moment,)
        )
        return seq or 0

    def actors(self) -> list[tuple[str, int]]:
        """Who ever wrote, and how many steps each; most first."""
        return [
            (actor, count)
            for actor, count in self._database.rows(
                "SELECT actor, count(*) FROM history GROUP BY actor ORDER BY 2 DESC, 1"
            )
        ]

    def step(self, seq: int) -> "Step":
        """One step. Raises NotFound."""
        from store.models import Step

        row = self._database.row(f"SELECT {COLUMNS} FROM history WHERE seq = ?", (seq,))
        if row is None:
            raise NotFound(f"History has no step {seq}.", "Look at `memoranda history`.")
        return Step(*row)

    def changes(self, seq: int, limit: int = -1) -> "list[Change]":
        """The rows a step changed, the first `limit` of them."""
        from store.models import Change

        rows = self._database.rows(
            f"SELECT tbl, pk, op, before, after FROM {every_row(self._database)} WHERE seq = ? ORDER BY n LIMIT ?",
            (seq, limit),
        )
        return [
            Change(table, tuple(json.loads(key)), op, before and json.loads(before), after and json.loads(after))
            for table, key, op, before, after in rows
        ]

    def _passing(
        self, actor: str | None, record: tuple[str, int] | None, since: str, before: str, after_seq: int
    ) -> "tuple[str, dict[str, object]]":
        """The filters of a list of steps as a condition and its parameters."""
        clauses, parameters = ["true"], dict[str, object]()
        if actor is not None:
            clauses.append("actor = :actor")
            parameters["actor"] = actor
        if record is not None:
            clauses.append(f"seq IN (SELECT seq FROM {every_row(self._database)} WHERE tbl = :table AND pk = :key)")
            parameters["table"] = next((table for table, kind in KINDS.items() if kind == record[0]), "")
            parameters["key"] = f"[{record[1]}]"
        if since:
            clauses.append("at >= :since")
            parameters["since"] = since
        if before:
            clauses.append("at < :before")
            parameters["before"] = before
        if after_seq:
            clauses.append("seq > :after_seq")
            parameters["after_seq"] = after_seq
        return " AND ".join(clauses), parameters

    # taking back

    def undo(self, seq: int | None = None, *, actor: str = PERSON) -> "Step":
        """Take a step back: the one named, or the newest that a person made by hand and that is still in force.

        Returns the step that was taken back. Raises NotFound when there is none, Conflict when it is undone already
        or when later steps changed the same things.
        """
        with self._database.write(actor, "undo") as write:
            step = self.step(self.next_undo() if seq is None else seq)
            self._take_back(write, step)
        return step

    def next_undo(self) -> int:
        """The step that `undo` without a number takes back. Raises NotFound."""
        seq: int | None = self._database.value(NEXT_UNDO.format(every_row=every_row(self._database)))
        if seq is None:
            raise NotFound("There is nothing to undo.", "Look at `memoranda history` for what others did.")
        return seq

    def redo(self, *, actor: str = PERSON) -> "Step":
        """Put back what the last undo took, unless something was changed by hand since. Returns the step that is in
        force again. Raises NotFound, Conflict."""
        with self._database.write(actor, "redo") as write:
            row = write.execute(
                "SELECT seq, undoes, (SELECT coalesce(max(seq), 0) FROM history"
                f"  WHERE {BY_HAND} AND undoes IS NULL) FROM history AS h"
                f" WHERE {BY_HAND} AND undone_by IS NULL AND undoes IN (SELECT seq FROM history WHERE undoes IS NULL)"
                " ORDER BY seq DESC LIMIT 1"
            ).get
            if row is None or row[2] > row[0]:
                raise NotFound("There is nothing to redo.", "Redo works until the next change.")
            self._take_back(write, self.step(row[0]))
            write.reason = f"redo {row[1]}"
        return self.step(row[1])

    def _take_back(self, write: Write, step: "Step") -> None:
        if step.undone_by is not None:
            raise Conflict(f"Step {step.seq} was taken back already, by step {step.undone_by}.", "Redo brings it back.")
        source = every_row(self._database)
        sql = f"SELECT tbl, pk, op, before, after, purged FROM {source} WHERE seq = ? ORDER BY n"
        every = list(write.rows(sql, (step.seq,)))
        rows = [row for *row, purged in every if purged != 1]
        if every and not rows:
            raise Conflict(f"Step {step.seq} holds text that was erased, and cannot be taken back.")
        if len(every) != step.changes:
            raise Conflict(f"Not all that step {step.seq} changed was salvaged, and it cannot be taken back.")
        edits = [  # of a record that was purged nothing is left to take back
            (table, json.loads(key), after and json.loads(after), before and json.loads(before), op == "UPDATE")
            for table, key, op, before, after in rows
        ]
        write.reason = f"undo {step.seq}"
        write.undoes = step.seq
        met = apply(write, edits)
        if met:
            raise Conflict(*self._standing_in_the_way(step, met))

    def _standing_in_the_way(self, step: "Step", met: "Sequence[tuple[str, Key]]") -> tuple[str, str]:
        """The sentence and the advice for an undo that met later changes."""
        names, later, source = [], set[int](), every_row(self._database)
        for table, key in met:
            if not key:  # something refers to what would go: links to a decision this step made
                later.update(seq for (seq,) in self._database.rows(REFERRING.format(every_row=source), (step.seq,)))
                continue
            names.append(cite(KINDS[table], key[0]) if table in KINDS else "a link")
            later.update(
                seq
                for (seq,) in self._database.rows(
                    f"SELECT seq FROM {source} JOIN history USING(seq)"
                    " WHERE tbl = ? AND pk = ? AND seq > ? AND undone_by IS NULL AND undoes IS NULL",
                    (table, _key(key), step.seq),
                )
            )
        cited = [name for name in names if "#" in name]
        what = ", ".join(dict.fromkeys(names)) or "something that refers to it"
        first = " ".join(f"`undo {seq}`" for seq in sorted(later, reverse=True)[:3])
        return (
            f"Step {step.seq} cannot be taken back alone: {what} changed since.",
            (f"Take back the later steps first: {first}." if first else "Take back the later steps first.")
            + f" Or look with `undo {step.seq} --dry-run`"
            + (f", and take it back although it changed: `undo {step.seq} --overwrite {cited[0]}`." if cited else "."),
        )


def apply(write: Write, edits: "Sequence[Edit]") -> "list[tuple[str, Key]]":
    """Turn each row from its first state into its second, all in the write's transaction.

    Each edit is (table, key, state now, state wanted, partial): None for a row that is not there, and with `partial`
    both states name only the columns that change. Returns the (table, key) of rows that were found in another state,
    after which the transaction must be abandoned.
    """
    connection = write.database.connection
    names = {table: columns(connection, table) for table in {edit[0] for edit in edits}}
    keys = {table: primary_key(connection, table) for table in names}
    met: list[tuple[str, Key]] = []
    wanted = changeset(connection, edits, names, keys)

    def conflict(code: int, change: "Any") -> int:
        if code == apsw.SQLITE_CHANGESET_FOREIGN_KEY:
            met.append(("", []))
            return apsw.SQLITE_CHANGESET_ABORT
        values = change.old or change.new
        met.append((change.name, [values[i] for i in sorted(change.pk_columns)]))
        return apsw.SQLITE_CHANGESET_OMIT  # the rest is tried, so that all that stands in the way is named

    before = connection.total_changes()
    try:
        write.apply(wanted, conflict)
    except (apsw.AbortError, apsw.ConstraintError):  # the latter when a foreign key is in the way
        if not met:
            raise
        return met
    if not met and connection.total_changes() - before < len(edits):
        raise RuntimeError("a changeset was applied in part")  # a table that apply skips says nothing
    met += [(child, []) for child in _dangling(write, edits)]
    return [found for found in met if found[0] in KINDS and found[1]] or met


def _dangling(write: Write, edits: "Sequence[Edit]") -> "Iterator[str]":
    """The recorded tables of which a row refers to one that is not there, after these edits. SQLite's own check reads
    every row (30 ms at 28,000 facts, 15 times what it was to make the step): of a few edits only what they touched is
    looked at."""
    if len(edits) > FEW:
        for table in RECORDED:
            if write.execute(f"PRAGMA foreign_key_check({table})").fetchall():
                yield table
        return
    arriving = {table for table, _, _, wanted, _ in edits if wanted is not None}
    leaving = any(wanted is None for _, _, _, wanted, _ in edits)
    for child in RECORDED:
        if not leaving and child not in arriving:
            continue
        for column, parent, key in list(
            write.rows('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (Verbatim(child),))
        ):
            came = [
                wanted[column] for table, _, _, wanted, _ in edits if table == child and wanted and column in wanted
            ]
            gone = [old[0] for table, old, _, wanted, _ in edits if table == parent and wanted is None]
            lacking = f"value IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {parent} WHERE {key} = value)"
            referring = f"EXISTS (SELECT 1 FROM {child} WHERE {column} = value)"
            for values, wrong in ((came, lacking), (gone, f"{lacking} AND {referring}")):
                sql = f"SELECT 1 FROM json_each(?) WHERE {wrong} LIMIT 1"
                if values and write.execute(sql, (Verbatim(json.dumps(values)),)).get:
                    yield child


def changeset(
    connection: apsw.Connection, edits: "Sequence[Edit]", names: dict[str, list[str]], keys: dict[str, list[str]]
) -> bytes:
    """The edits as a changeset, built by column name for the tables as they are today."""
    builder = apsw.ChangesetBuilder()  # type: ignore[no-untyped-call]
    try:
        builder.schema(connection, "main")
        for table, key, now, wanted, partial in edits:
            if partial:
                assert now is not None and wanted is not None
                identity = dict(zip(keys[table], key, strict=True))
                builder.add_update(table, False, _tuple(names[table], now | identity), _tuple(names[table], wanted))
            elif now is not None:
                builder.add_delete(table, False, _tuple(names[table], now))
            elif wanted is not None:
                builder.add_insert(table, False, _tuple(names[table], wanted))
        return builder.output()
    finally:
        builder.close()


def primary_key(connection: apsw.Connection, table: str) -> list[str]:
    """The names of a table's key columns, in the order in which history writes a key. Of the file's own table: what
    shows the past in its place is a view, and has no key."""
    found = connection.execute("SELECT name FROM pragma_table_info(?, 'main') WHERE pk ORDER BY cid", (table,))
    return [name for (name,) in found]


def _key(key: "Key") -> str:
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def _tuple(names: Sequence[str], values: "State") -> "tuple[Any, ...]":
    """Values by name as a row of the table as it is today; what a change does not name stays as it is."""
    return tuple(values.get(name, apsw.no_change) for name in names)
