"""One step in two files: a project's memory, and the person's own beside it.

SQLite commits each file by itself. So the step is noted first in the project's file, as begun. Then, while the
project's file is locked, the personal one is changed and committed, with a note of its own in the same transaction, and
then the project's, whose transaction completes the first note. A process that is killed between the two leaves a note
that has begun: whoever opens the project next finishes the step where the personal file has its note, and takes it back
where it has none (`store/history/moves.py`). The lock decides between one that still runs and one that is dead."""

import json
import os
from collections.abc import Callable, Iterable

from store.base.errors import Conflict, MemorandaError
from store.base.location import is_personal
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.values import Verbatim

OUT, IN, UNDO = "out", "in", "undo"  # kinds of a move: to the personal memory, from it, one of both taken back
COLUMNS = "token, kind, state, door, fact, own, step, other, undoes, project"


class Move:
    """A row of `moves`: a step in two files. `fact` is the fact in the project, `own` that in the personal memory;
    `step` the step of history of the file that it was read from, `other` that of the personal file, `undoes` the step
    that it takes back; `project` is the project's file, in the personal one alone."""

    __slots__ = ("door", "fact", "kind", "other", "own", "project", "state", "step", "token", "undoes")

    def __init__(
        self,
        token: str,
        kind: str,
        state: str = "begun",
        door: str = "cli",
        fact: int | None = None,
        own: int | None = None,
        step: int | None = None,
        other: int | None = None,
        undoes: int | None = None,
        project: str = "",
    ) -> None:
        self.token = token
        self.kind = kind
        self.state = state
        self.door = door
        self.fact = fact
        self.own = own
        self.step = step
        self.other = other
        self.undoes = undoes
        self.project = project


def begun(database: Database) -> list[Move]:
    """Return the moves that were begun in a project's file and are not complete."""
    return [Move(*row) for row in database.rows(f"SELECT {COLUMNS} FROM moves WHERE state = 'begun' ORDER BY at")]


def of_step(database: Database, seq: int) -> Move | None:
    """Return the move whose step of history in this file is `seq`; None for any other step."""
    row = database.row(f"SELECT {COLUMNS} FROM moves WHERE step = ?", (seq,))
    return Move(*row) if row else None


def of_token(database: Database, token: str) -> Move | None:
    """Return the note of a move in this file."""
    row = database.row(f"SELECT {COLUMNS} FROM moves WHERE token = ?", (token,))
    return Move(*row) if row else None


def moved(database: Database, facts: Iterable[int], since: int) -> dict[int, Move]:
    """Return those of these facts of this file that were moved out of it, or into it, after step `since` and were not
    moved back by an undo, each with its last move."""
    name = "own" if is_personal(database.path) else "fact"
    columns = ", ".join(f"m.{column}" for column in COLUMNS.split(", "))
    rows = database.rows(
        f"SELECT m.{name}, {columns} FROM moves m JOIN history h ON h.seq = m.step WHERE m.step > ?"
        " AND m.state = 'done' AND m.kind <> 'undo' AND h.undone_by IS NULL"
        f" AND m.{name} IN (SELECT value FROM json_each(?)) ORDER BY m.step",
        (since, json.dumps(list(facts))),
    )
    return {number: Move(*row) for number, *row in rows}


def next_step(write: Transaction) -> int:
    """Return the number that this transaction's step of history will have."""
    newest: int | None = write.execute("SELECT max(seq) FROM history").get
    return (newest or 0) + 1


def begin(
    database: Database, kind: str, *, fact: int | None = None, own: int | None = None, undoes: int | None = None
) -> Move:
    """Note in the project's file that a move begins; nothing else is changed yet."""
    move = Move(os.urandom(16).hex(), kind, door=database.door, fact=fact, own=own, undoes=undoes)
    with database.write(PERSON, "move") as write:
        write.insert(
            "moves",
            token=Verbatim(move.token),
            kind=Verbatim(kind),
            state=Verbatim("begun"),
            door=Verbatim(database.door),
            fact=fact,
            own=own,
            undoes=undoes,
            at=Verbatim(write.at),
        )
    return move


def carry_out(
    database: Database,
    own: Database,
    move: Move,
    there: Callable[[Transaction, Transaction], None],
    here: Callable[[Transaction], None],
) -> None:
    """Carry out a move that has begun: `there` changes the personal memory, given its transaction and the project's;
    `here` the project's. Both set what they learn in `move`. Nothing is changed where one of them raises. Raise
    Conflict where another process took the move back meanwhile."""
    try:
        with database.write(PERSON, "move") as write:
            if (
                write.execute("SELECT 1 FROM moves WHERE token = ? AND state = 'begun'", (Verbatim(move.token),)).get
                is None
            ):
                raise Conflict("Another program took the move back meanwhile; nothing was changed.", "Move it again.")
            with own.write(PERSON, "move") as far:
                there(far, write)
                here(write)
                move.other = next_step(far)
                far.insert(
                    "moves",
                    token=Verbatim(move.token),
                    kind=Verbatim(move.kind),
                    state=Verbatim("done"),
                    door=Verbatim(own.door),
                    fact=move.fact,
                    own=move.own,
                    step=move.other,
                    project=Verbatim(database.path),
                    at=Verbatim(far.at),
                )
            complete(write, move)
    except MemorandaError:
        if (
            of_token(own, move.token) is None
        ):  # else the personal memory is changed: `store/history/moves.py` finishes it
            with database.write(PERSON, "move") as write:
                drop(write, move)
        raise


def complete(write: Transaction, move: Move) -> None:
    """Complete the note of a move in the project's file, in the transaction that makes its step."""
    write.execute(
        "UPDATE moves SET state = 'done', fact = ?, own = ?, step = ?, other = ? WHERE token = ?",
        (move.fact, move.own, next_step(write), move.other, Verbatim(move.token)),
    )


def drop(write: Transaction, move: Move) -> None:
    """Delete the note of a move of which nothing was done, or nothing is left."""
    write.execute("DELETE FROM moves WHERE token = ?", (Verbatim(move.token),))
