"""Move a fact between a project's memory and the person's own, where its scope is global: one step in two files.

The fact that was moved is forgotten where it was, and is a new one where it is now: undo brings back the first and
removes the second. What the evidence of a project's fact cites is that project's, and stays there with it."""

import json
from collections.abc import Callable, Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput
from store.base.location import is_personal, personal_path
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.erasure import tombstones
from store.database.values import Verbatim
from store.history import two_files
from store.history.history import History
from store.history.two_files import IN, OUT, Move
from store.personal.beside import beside, existing, needed, trouble
from store.personal.global_facts import missing
from store.records.fact_rows import insert, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Fact

GLOBAL, PROJECT = "global", "project"
CARRIED = "fact, domain, confidence, source, importance, pinned, origin, tags, created_at, last_confirmed_at"
_STATE = f"status, scope, {CARRIED}"
MUTED = "SELECT EXISTS (SELECT 1 FROM mutes WHERE fact_id = ?)"


class Moves:
    """What moves the facts of one memory to another scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def to_global(self, number: int, *, seen: "Fact | None" = None, again: bool = False) -> int:
        """Make a fact global; return its number in the person's own memory, which is created if it is missing. In that
        memory itself only its scope is changed. `seen` is the fact as it was shown: raise Conflict if it changed since.
        `again` stores a text that was purged there. Raise NotFound, Conflict, Purged, StorageError."""
        settle(self._database)
        if is_personal(self._database.path):
            self._rescope(number, GLOBAL, seen)
            return number
        _row(self._database, number, "fact", seen)  # before anything is noted
        own = needed(self._database)
        move = two_files.begin(self._database, OUT, fact=number)

        def there(far: Transaction, write: Transaction) -> None:
            row = _row(self._database, number, "fact", seen)
            move.own = _copied(far, row, write.execute(MUTED, (number,)).get, GLOBAL, again, "in your personal memory")
            far.reason = f"move {cite('global', move.own)}"

        self._do(own, move, there)
        return int(move.own or 0)

    def to_project(self, number: int, *, seen: "Fact | None" = None, again: bool = False) -> int:
        """Move a global fact into this project; return its number here. In the person's own memory only its scope is
        changed. As `to_global`."""
        settle(self._database)
        if is_personal(self._database.path):
            self._rescope(number, PROJECT, seen)
            return number
        own = existing(self._database)
        _row(own, number, "global", seen)
        move = two_files.begin(self._database, IN, own=number)

        def there(far: Transaction, write: Transaction) -> None:
            _row(own, number, "global", seen)
            far.execute("UPDATE facts SET status = 'forgotten' WHERE id = ?", (number,))
            far.reason = f"move {cite('global', number)}"

        self._do(own, move, there, again)
        return int(move.fact or 0)

    def in_project(self, number: int, *, seen: "Fact | None" = None) -> None:
        """Make a fact of one session one of the whole project. Raise NotFound, Conflict."""
        self._rescope(number, PROJECT, seen)

    def moved_to(self, number: int) -> str:
        """Return the citation of the global fact that a fact of this project became; empty if it was not moved, and in
        the person's own memory, where a move names it by its number in the project."""
        if is_personal(self._database.path):
            return ""
        row = self._database.row(
            "SELECT m.own FROM moves m JOIN history h ON h.seq = m.step"
            " WHERE m.fact = ? AND m.kind = 'out' AND h.undone_by IS NULL",
            (number,),
        )
        return cite("global", row[0]) if row else ""

    def beside(self, facts: Sequence[int], shared: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return (the facts of this project, the facts of the person's own memory) that these facts and global facts
        were moved from or to: the same words are in both files, and in their histories. None in the person's own
        memory, which knows the facts of projects by `projects` alone."""
        if is_personal(self._database.path):
            return [], []
        rows = self._database.rows(
            "SELECT DISTINCT fact, own FROM moves WHERE state = 'done' AND kind <> 'undo'"
            " AND (fact IN (SELECT value FROM json_each(?)) OR own IN (SELECT value FROM json_each(?)))",
            (json.dumps(list(facts)), json.dumps(list(shared))),
        )
        return [fact for fact, _ in rows if fact not in facts], [own for _, own in rows if own not in shared]

    def projects(self, shared: Sequence[int]) -> list[tuple[str, int]]:
        """Return (the file, the number there) of the facts of other projects that these global facts, by their numbers
        in the person's own memory, were moved from or to."""
        own = self._database if is_personal(self._database.path) else beside(self._database)
        if own is None:
            return []
        rows = own.rows(
            "SELECT DISTINCT project, fact FROM moves WHERE kind <> 'undo' AND project <> ?"
            " AND own IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
            (self._database.path, json.dumps(list(shared))),
        )
        return [(project, fact) for project, fact in rows if fact is not None]

    def _do(
        self, own: Database, move: Move, there: Callable[[Transaction, Transaction], None], again: bool = False
    ) -> None:
        two_files.carry_out(self._database, own, move, there, lambda write: _here(write, own, move, again))

    def _rescope(self, number: int, scope: str, seen: "Fact | None") -> None:
        """Change the scope of a fact that stays in its file."""
        with self._database.write(PERSON, f"move {cite('fact', number)}") as write:
            row = _row(self._database, number, "fact", seen)
            if row["scope"] == scope:
                raise InvalidInput(f"{cite('fact', number)} is {_of(scope)} already.", "Nothing was changed.")
            write.execute("UPDATE facts SET scope = ?, session = '' WHERE id = ?", (Verbatim(scope), number))


def _of(scope: str) -> str:
    return "global" if scope == GLOBAL else "of the project"


def settle(database: Database) -> list[str]:
    """Finish, or take back, each move that was begun in this file and not completed; return what could not be, in
    sentences. Costs one look at an index where there is none."""
    return [said for move in two_files.begun(database) if (said := _settled(database, move))]


def _settled(database: Database, move: Move) -> str:
    own = beside(database)
    if own is None and (why := trouble(database)):
        return f"A move of a fact was broken off and waits for your personal memory ({personal_path()}): {why}"
    door, database.door = database.door, move.door  # it is the person's step, by the door where it began
    try:
        with database.write(PERSON, "move") as write:
            if not write.execute(
                "SELECT 1 FROM moves WHERE token = ? AND state = 'begun'", (Verbatim(move.token),)
            ).get:
                return ""  # whoever began it has finished it meanwhile
            noted = two_files.of_token(own, move.token) if own is not None else None
            if own is None or noted is None:
                two_files.drop(write, move)
                return ""
            move.fact, move.own, move.other = noted.fact, noted.own, noted.step
            _here(write, own, move)
            two_files.complete(write, move)
            return ""
    except Conflict as error:
        if own is None:
            raise
        return _taken_back(database, own, move, error)
    finally:
        database.door = door


def _taken_back(database: Database, own: Database, move: Move, error: Conflict) -> str:
    """Take back the half of a move that was done in the personal memory, as the other cannot be done any more; where
    that changed since, leave it."""
    with database.write(PERSON, "move") as write:
        noted = two_files.of_token(own, move.token)
        if noted is not None and noted.step is not None:
            try:
                with own.write(PERSON, "undo") as far:
                    History(own).take_back(far, noted.step)
                    two_files.drop(far, move)
            except Conflict:
                two_files.drop(write, move)
                return f"A move of a fact was broken off, and what it did was changed since: {error.message}"
        two_files.drop(write, move)
    return f"A move of a fact was broken off and taken back: {error.message}"


def _here(write: Transaction, own: Database, move: Move, again: bool = False) -> None:
    """Do the half of a move that changes the project's file, whose other half is done or being done."""
    database = write.database
    if move.kind == two_files.UNDO:
        undone = History(database).step(int(move.undoes or 0))
        History(database).take_back(write, undone.seq)
        if undone.undoes is not None:
            write.reason = f"redo {undone.undoes}"
        return
    if move.kind == IN:
        row = _values(own, int(move.own or 0))
        muted = own.value(MUTED, (move.own,))
        move.fact = _copied(write, row, muted, PROJECT, again, "in this project")
    else:
        row = _row(database, int(move.fact or 0), "fact", None)
        if row["fact"] != own.value("SELECT fact FROM facts WHERE id = ?", (move.own,)):
            raise Conflict(f"{cite('fact', int(move.fact or 0))} changed meanwhile.", "Look at it, and move it again.")
        write.execute("UPDATE facts SET status = 'forgotten' WHERE id = ?", (move.fact,))
    ends = [cite("fact", int(move.fact or 0)), cite("global", int(move.own or 0))]
    write.reason = " ".join(["move", *(ends if move.kind == OUT else reversed(ends))])


def _copied(write: Transaction, row: "dict[str, Any]", muted: bool, scope: str, again: bool, where: str) -> int:
    """Insert a fact with these values into another file; return its number there."""
    known = same(write, row["fact"])
    if known is not None:
        scoped = write.execute("SELECT scope FROM facts WHERE id = ?", (known,)).get
        name = cite("global" if scope == GLOBAL and scoped == GLOBAL else "fact", known)
        raise Conflict(f"{name} {where} says that already.", "Forget the one that is not needed.")
    tombstones.refuse(write, row["fact"], again)
    number = insert(
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
        write.insert("mutes", fact_id=number, at=Verbatim(write.at), origin=PERSON)
    return number


def _values(database: Database, number: int) -> "dict[str, Any]":
    row = database.row(f"SELECT {_STATE} FROM facts WHERE id = ?", (number,))
    return dict(zip(_STATE.split(", "), row, strict=True)) if row else {}


def _row(database: Database, number: int, kind: str, seen: "Fact | None") -> "dict[str, Any]":
    """Return the values of an active fact. Raise NotFound, and Conflict if it is not in force or not as it was seen."""
    from store.records.facts import missing as no_fact

    row = _values(database, number)
    if not row or (kind == "global" and row["scope"] != GLOBAL):
        raise missing(number) if kind == "global" else no_fact(number)
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
