"""Move a fact between a project's memory and the person's own, where its scope is global: one step in two files.

The fact that was moved is forgotten where it was, and is a new one where it is now: undo brings back the first and
removes the second. What the evidence of a project's fact cites is that project's, and stays there with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput
from store.base.location import is_personal_memory, personal_memory_path
from store.base.models import Fact
from store.base.vocabulary import PERSON_ORIGIN
from store.database.database import Database, Transaction
from store.database.tombstones import refuse_purged
from store.database.values import Verbatim
from store.history import history
from store.history.history import (
    MOVE_IN,
    MOVE_OUT,
    MOVE_UNDO,
    FactMove,
    History,
    carry_out_move,
    drop_move,
    find_move,
    list_begun_moves,
)
from store.personal.memory import (
    ensure_personal_memory,
    find_personal_memory,
    missing_global_error,
    personal_memory_problem,
    require_personal_memory,
)
from store.records.facts import Facts, find_same_fact, insert_fact, set_fact_status

GLOBAL_FACT_SCOPE, PROJECT_FACT_SCOPE = "global", "project"
CARRIED_COLUMNS = (
    "fact, domain, confidence, source, importance, pinned, origin, tags, created_at, last_confirmed_at"
)
_FACT_COLUMNS = f"status, scope, {CARRIED_COLUMNS}"
IS_MUTED_SQL = "SELECT EXISTS (SELECT 1 FROM mutes WHERE fact_id = ?)"


class Moves:
    """What moves the facts of one memory to another scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def finish_begun(self) -> list[str]:
        """Finish, or take back, each move that was begun in this file and not completed; return a sentence for each
        that could not be finished. Costs one look at an index if there is none."""
        return [said for move in list_begun_moves(self._database) if (said := _finish_move(self._database, move))]

    def move_to_global(self, number: int, *, seen: Fact | None = None, again: bool = False) -> int:
        """Make a fact global; return its number in the person's own memory, which is created if it is missing. In that
        memory itself only its scope is changed. `seen` is the fact as it was shown: raise Conflict if it changed since.
        `again` stores a text that was purged there. Raise NotFound, Conflict, Purged, StorageError."""
        self.finish_begun()
        if is_personal_memory(self._database.path):
            self._rescope(number, GLOBAL_FACT_SCOPE, seen)
            return number
        # before anything is noted
        _read_movable_fact(self._database, number, "fact", seen)
        own = ensure_personal_memory(self._database)
        move = history.begin_move(self._database, MOVE_OUT, fact=number)

        def there(far: Transaction, write: Transaction) -> None:
            row = _read_movable_fact(self._database, number, "fact", seen)
            move.own = _copy_fact(
                far,
                row,
                write.first(IS_MUTED_SQL, (number,)),
                GLOBAL_FACT_SCOPE,
                again,
                "in your personal memory",
            )
            far.reason = f"move {cite('global', move.own)}"

        self._carry_out(own, move, there)
        return int(move.own or 0)

    def move_to_project(self, number: int, *, seen: Fact | None = None, again: bool = False) -> int:
        """Move a global fact into this project; return its number here. In the person's own memory only its scope is
        changed. As `move_to_global`."""
        self.finish_begun()
        if is_personal_memory(self._database.path):
            self._rescope(number, PROJECT_FACT_SCOPE, seen)
            return number
        own = require_personal_memory(self._database)
        _read_movable_fact(own, number, "global", seen)
        move = history.begin_move(self._database, MOVE_IN, own=number)

        def there(far: Transaction, write: Transaction) -> None:
            _read_movable_fact(own, number, "global", seen)
            set_fact_status(far, number, "forgotten")
            far.reason = f"move {cite('global', number)}"

        self._carry_out(own, move, there, again)
        return int(move.fact or 0)

    def widen_to_project(self, number: int, *, seen: Fact | None = None) -> None:
        """Make a fact of one session one of the whole project. Raise NotFound, Conflict."""
        self._rescope(number, PROJECT_FACT_SCOPE, seen)

    def moved_to(self, number: int) -> str:
        """Return the citation of the global fact that a fact of this project became; empty if it was not moved, and in
        the person's own memory, where a move names it by its number in the project."""
        if is_personal_memory(self._database.path):
            return ""
        row = self._database.row(
            "SELECT m.own FROM moves m JOIN history h ON h.seq = m.step"
            " WHERE m.fact = ? AND m.kind = 'out' AND h.undone_by IS NULL",
            (number,),
        )
        return cite("global", row[0]) if row else ""

    def find_counterparts(self, facts: Sequence[int], shared: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return (the facts of this project, the facts of the person's own memory) that these facts and global facts
        were moved from or to: the same words are in both files, and in their histories. None in the person's own
        memory, which knows the facts of projects by `find_other_projects` alone."""
        if is_personal_memory(self._database.path):
            return [], []
        rows = self._database.rows(
            "SELECT DISTINCT fact, own FROM moves WHERE state = 'done' AND kind <> 'undo'"
            " AND (fact IN (SELECT value FROM json_each(?)) OR own IN (SELECT value FROM json_each(?)))",
            (json.dumps(list(facts)), json.dumps(list(shared))),
        )
        return [fact for fact, _ in rows if fact not in facts], [own for _, own in rows if own not in shared]

    def find_other_projects(self, shared: Sequence[int]) -> list[tuple[str, int]]:
        """Return (the file, the number there) of the facts of other projects that these global facts, by their numbers
        in the person's own memory, were moved from or to."""
        own = self._database if is_personal_memory(self._database.path) else find_personal_memory(self._database)
        if own is None:
            return []
        rows = own.rows(
            "SELECT DISTINCT project, fact FROM moves WHERE kind <> 'undo' AND project <> ?"
            " AND own IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
            (self._database.path, json.dumps(list(shared))),
        )
        return [(project, fact) for project, fact in rows if fact is not None]

    def _carry_out(
        self,
        own: Database,
        move: FactMove,
        there: Callable[[Transaction, Transaction], None],
        again: bool = False,
    ) -> None:
        """Carry out a move that has begun, in both files."""
        carry_out_move(
            self._database, own, move, there, lambda write: _apply_move_to_project_file(write, own, move, again)
        )

    def _rescope(self, number: int, scope: str, seen: Fact | None) -> None:
        """Change the scope of a fact that stays in its file."""
        with self._database.write(PERSON_ORIGIN, f"move {cite('fact', number)}") as write:
            row = _read_movable_fact(self._database, number, "fact", seen)
            where = "global" if scope == GLOBAL_FACT_SCOPE else "of the project"
            if row["scope"] == scope:
                raise InvalidInput(f"{cite('fact', number)} is {where} already.", "Nothing was changed.")
            write.execute("UPDATE facts SET scope = ?, session = '' WHERE id = ?", (Verbatim(scope), number))


def _finish_move(database: Database, move: FactMove) -> str:
    """Finish or take back one move; return why it could not be finished, empty if it was."""
    own = find_personal_memory(database)
    if own is None and (why := personal_memory_problem(database)):
        return (
            f"A move of a fact was broken off and waits for your personal memory ({personal_memory_path()}): {why}"
        )
    # it is the person's step, by the door where it began
    door, database.door = database.door, move.door
    try:
        with database.write(PERSON_ORIGIN, "move") as write:
            if not history.is_move_begun(write, move):
                # whoever began it has finished it meanwhile
                return ""
            noted = find_move(own, move.token) if own is not None else None
            if own is None or noted is None:
                drop_move(write, move)
                return ""
            move.fact, move.own, move.other = noted.fact, noted.own, noted.step
            _apply_move_to_project_file(write, own, move)
            history.complete_move(write, move)
            return ""
    except Conflict as error:
        if own is None:
            raise
        return _undo_half(database, own, move, error)
    finally:
        database.door = door


def _undo_half(database: Database, own: Database, move: FactMove, error: Conflict) -> str:
    """Take back the half of a move that was done in the personal memory, as the other cannot be done any more; where
    that changed since, leave it."""
    with database.write(PERSON_ORIGIN, "move") as write:
        noted = find_move(own, move.token)
        if noted is not None and noted.step is not None:
            try:
                with own.write(PERSON_ORIGIN, "undo") as far:
                    History(own).undo_within(far, noted.step)
                    drop_move(far, move)
            except Conflict:
                drop_move(write, move)
                return f"A move of a fact was broken off, and what it did was changed since: {error.message}"
        drop_move(write, move)
    return f"A move of a fact was broken off and taken back: {error.message}"


def _apply_move_to_project_file(write: Transaction, own: Database, move: FactMove, again: bool = False) -> None:
    """Do the half of a move that changes the project's file, whose other half is done or being done."""
    database = write.database
    if move.kind == MOVE_UNDO:
        undone = History(database).get(int(move.undoes or 0))
        History(database).undo_within(write, undone.seq)
        if undone.undoes is not None:
            write.reason = f"redo {undone.undoes}"
        return
    if move.kind == MOVE_IN:
        row = _read_fact(own, int(move.own or 0))
        muted = own.value(IS_MUTED_SQL, (move.own,))
        move.fact = _copy_fact(write, row, muted, PROJECT_FACT_SCOPE, again, "in this project")
    else:
        row = _read_movable_fact(database, int(move.fact or 0), "fact", None)
        if row["fact"] != own.value("SELECT fact FROM facts WHERE id = ?", (move.own,)):
            raise Conflict(
                f"{cite('fact', int(move.fact or 0))} changed meanwhile.", "Look at it, and move it again."
            )
        set_fact_status(write, move.fact, "forgotten")
    ends = [cite("fact", int(move.fact or 0)), cite("global", int(move.own or 0))]
    write.reason = " ".join(["move", *(ends if move.kind == MOVE_OUT else reversed(ends))])


def _copy_fact(write: Transaction, row: dict[str, Any], muted: bool, scope: str, again: bool, where: str) -> int:
    """Insert a fact with these values into another file; return its number there."""
    known = find_same_fact(write, row["fact"])
    if known is not None:
        scoped = write.first("SELECT scope FROM facts WHERE id = ?", (known,))
        name = cite("global" if scope == GLOBAL_FACT_SCOPE and scoped == GLOBAL_FACT_SCOPE else "fact", known)
        raise Conflict(f"{name} {where} says that already.", "Forget the one that is not needed.")
    refuse_purged(write, row["fact"], again)
    number = insert_fact(
        write,
        row["fact"],
        domain=row["domain"],
        confidence=row["confidence"],
        source=row["source"],
        scope=scope,
        importance=row["importance"],
        pinned=row["pinned"],
        origin=row["origin"],
        evidence=Verbatim("[]"),
        tags=Verbatim(row["tags"]),
        at=row["last_confirmed_at"],
        created=row["created_at"],
    )
    if muted:
        write.insert("mutes", fact_id=number, at=write.at, origin=PERSON_ORIGIN)
    return number


def _read_fact(database: Database, number: int) -> dict[str, Any]:
    """Return the columns of a fact; empty if it does not exist."""
    row = database.row(f"SELECT {_FACT_COLUMNS} FROM facts WHERE id = ?", (number,))
    return dict(zip(_FACT_COLUMNS.split(", "), row, strict=True)) if row else {}


def _read_movable_fact(database: Database, number: int, kind: str, seen: Fact | None) -> dict[str, Any]:
    """Return the values of an active fact. Raise NotFound, and Conflict if it is not in force or not as it was seen."""
    row = _read_fact(database, number)
    if not row or (kind == "global" and row["scope"] != GLOBAL_FACT_SCOPE):
        raise missing_global_error(number) if kind == "global" else Facts.missing(number)
    if row["status"] != "active":
        raise Conflict(f"{cite(kind, number)} is {row['status']}.", "Only a fact that is in force can be moved.")
    if seen is not None and (seen.fact, seen.scope, seen.domain, seen.pinned) != (
        row["fact"],
        row["scope"],
        row["domain"],
        bool(row["pinned"]),
    ):
        raise Conflict(f"{cite(kind, number)} changed since it was shown.", "Look at it, and move it again.")
    return row
