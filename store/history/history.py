"""History: who changed what, and how a change is undone.

A step is undone by applying the inverse of its rows as a new step; undoing that one is the redo. What a later step
changed is never overwritten: such an undo is refused, and the error lists the later steps.
"""

import json
from bisect import bisect_left
from collections.abc import Sequence
from heapq import merge
from operator import itemgetter

from store.base.citations import cite
from store.base.errors import Conflict, NotFound
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.history import two_files
from store.history.compression import every_row, of_step, whole
from store.history.row_edits import apply
from store.history.two_files import Move
from store.personal.beside import existing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from store.base.models import Change, Step
    from store.history.row_edits import Key

COLUMNS = "seq, at, actor, door, reason, undoes, undone_by, changes"
KINDS = {"facts": "fact", "decisions": "decision", "tasks": "task", "proposals": "proposal"}
BY_HAND = "actor = 'user' AND door IN ('app', 'cli')"  # what `undo` without a number considers
# and an import, which a person asked for; it is written by what was brought in
IMPORTED = "actor >= 'import:' AND actor < 'import;' AND reason GLOB 'import*' AND door IN ('app', 'cli')"
# the steps in force that linked a commit to a decision made by step ?, and that decision
REFERRING = """
SELECT link.seq, json_extract(made.pk, '$[0]') FROM {every_row} AS made
JOIN {every_row} AS link ON link.tbl = 'commit_links' AND json_extract(link.pk, '$[1]') = json_extract(made.pk, '$[0]')
JOIN history AS step ON step.seq = link.seq
WHERE made.seq = ? AND made.tbl = 'decisions' AND made.op = 'INSERT' AND link.op = 'INSERT' AND link.seq > made.seq
  AND step.undone_by IS NULL AND step.undoes IS NULL
"""


def _of(table: str, condition: str) -> str:
    for name in ("actor", "door", "reason"):
        condition = condition.replace(name, f"{table}.{name}")
    return condition


# a person's manual steps before a step, newest first; and of an undo, what it undid
PLAIN, OTHERS, AN_UNDO = range(3)
MADE = f"""
SELECT seq, undoes, undone_by, (SELECT CASE WHEN target.undoes IS NOT NULL THEN {AN_UNDO}
    WHEN {_of("target", BY_HAND)} OR {_of("target", IMPORTED)} THEN {PLAIN} ELSE {OTHERS} END
  FROM history AS target WHERE target.seq = done.undoes)
FROM history AS done WHERE {BY_HAND} AND seq < ? ORDER BY seq DESC LIMIT ?
"""
# the imports, of which there are few, as MADE lists steps
BROUGHT = f"SELECT seq, undoes, undone_by, NULL FROM history WHERE {IMPORTED}"
# the newest manual undo in force that was in force ever since: one that was undone itself and is in force again was
# restored by a redo, which continues from there. None if a manual change was made since.
NEXT_REDO = f"""
SELECT seq, undoes FROM history
WHERE {BY_HAND} AND undone_by IS NULL AND undoes IS NOT NULL AND reason LIKE 'undo %'
  AND NOT EXISTS (SELECT 1 FROM history AS back WHERE back.undoes = history.seq)
  AND seq > (SELECT coalesce(max(seq), 0) FROM history AS later
    WHERE {_of("later", BY_HAND)} AND later.undoes IS NULL)
  AND seq > (SELECT coalesce(max(seq), 0) FROM history AS later WHERE {_of("later", IMPORTED)})
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
    ) -> "list[Step]":
        """List steps, newest first; of one actor, of one record given as (kind, id), from a moment on, before a moment,
        after a step."""
        from store.base.models import Step

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
        """Return the numbers of the steps that match these filters (see `steps`), newest first and packed, for a list
        that may be millions long; `many` reads those that are shown."""
        where, parameters = self._passing(actor, record, since, before, after_seq)
        return self._database.keys(f"SELECT seq FROM history WHERE {where} ORDER BY seq DESC", parameters)

    def many(self, seqs: "Sequence[int]") -> "list[Step]":
        """Return the steps of these numbers that exist, in this order."""
        from store.base.models import Step

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM history WHERE seq IN (SELECT value FROM json_each(?))", (json.dumps(list(seqs)),)
        )
        by_seq = {row[0]: Step(*row) for row in rows}
        return [by_seq[seq] for seq in seqs if seq in by_seq]

    def subjects(self, seqs: "Sequence[int]") -> dict[int, str]:
        """Return the subject of these steps: the text of the record that was added, or of the first that changed, where
        it has one. Read from history's rows, else from the current record."""
        rows = self._database.rows(SUBJECTS.format(every_row=every_row(self._database)), (json.dumps(list(seqs)),))
        found: dict[int, str] = {}
        for seq, text in rows:
            if text:
                found.setdefault(seq, text)
        return found

    def before(self, moment: str) -> int:
        """Return the newest step before a moment; 0 if there is none."""
        seq: int | None = self._database.value(
            "SELECT seq FROM history WHERE at < ? ORDER BY seq DESC LIMIT 1", (moment,)
        )
        return seq or 0

    def actors(self) -> list[tuple[str, int]]:
        """List all actors, and how many steps each has; most first."""
        return [
            (actor, count)
            for actor, count in self._database.rows(
                "SELECT actor, count(*) FROM history GROUP BY actor ORDER BY 2 DESC, 1"
            )
        ]

    def step(self, seq: int) -> "Step":
        """Return one step. Raise NotFound."""
        from store.base.models import Step

        row = self._database.row(f"SELECT {COLUMNS} FROM history WHERE seq = ?", (seq,))
        if row is None:
            raise NotFound(f"History has no step {seq}.", "Look at `memoranda history`.")
        return Step(*row)

    def changes(self, seq: int, limit: int = -1) -> "list[Change]":
        """Return the rows a step changed, the first `limit` of them."""
        from store.base.models import Change

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
        """Return the filters of a list of steps as a condition and its parameters."""
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

    # undo and redo

    def undo(self, seq: int | None = None, *, actor: str = PERSON) -> "Step":
        """Undo a step: the one named, or the newest manual one in force.

        Return the step that was undone. Raise NotFound when there is none, Conflict when it is undone already or when
        later steps changed the same records.
        """
        with self._database.write(actor, "undo") as write:
            step = self.step(self.next_undo() if seq is None else seq)
            if (move := two_files.of_step(self._database, step.seq)) is None:
                self._take_back(write, step)
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
        waiting: list[int] = []  # negative, so that they are sorted
        chosen: int | None = None
        for seq, undoes, undone_by, again in self._by_hand():
            if undoes is None:
                place = 0 if undone_by is None else bisect_left(waiting, -undone_by)
                if undone_by is not None and waiting[place : place + 1] == [-undone_by]:
                    del waiting[place]
                if (undone_by is None or place < len(waiting)) and whole(self._database, seq):
                    newer = next((-undo for undo in waiting[place:] if whole(self._database, -undo)), None)
                    del waiting[place:]
                    if newer is not None:
                        chosen = newer
                    elif undone_by is None and chosen is None:
                        chosen = seq
            elif undone_by is None and chosen is None:
                if again == PLAIN:
                    waiting.append(-seq)
                elif again == OTHERS and whole(self._database, seq):
                    chosen = seq
            if chosen is not None and not waiting:
                return chosen
        if chosen is not None:
            return chosen
        raise NotFound("There is nothing to undo.", "Look at `memoranda history` for what others did.")

    def _by_hand(self) -> "Iterator[tuple[int, int | None, int | None, int]]":
        """Yield a person's manual steps and imports, newest first, as MADE."""
        brought = sorted(self._database.rows(BROUGHT), reverse=True)
        yield from merge(self._made(), brought, key=itemgetter(0), reverse=True)

    def _made(self) -> "Iterator[tuple[int, int | None, int | None, int]]":
        """Yield the manual steps, reading some at a time: the first is mostly enough."""
        before, count = 1 << 62, 8
        while rows := self._database.rows(MADE, (before, count)):
            yield from rows
            before, count = rows[-1][0], count * 2

    def next_redo(self) -> int:
        """Return the undo that `redo` takes back. Raise NotFound."""
        row = self._database.row(NEXT_REDO)
        if row is None:
            raise NotFound("There is nothing to redo.", "Redo works until the next change.")
        return int(row[0])

    def redo(self, *, actor: str = PERSON) -> "Step":
        """Redo what the last undo removed (a change, or an undo, which is then in force again), then what the undo
        before it removed, unless a manual change was made since. Return the step that is in force again. Raise NotFound
        or Conflict."""
        with self._database.write(actor, "redo") as write:
            row = write.execute(NEXT_REDO).get
            if row is None:
                raise NotFound("There is nothing to redo.", "Redo works until the next change.")
            if (move := two_files.of_step(self._database, row[0])) is None:
                self._take_back(write, self.step(row[0]))
                write.reason = f"redo {row[1]}"
            else:
                write.discard()
        if move is not None:
            self._undo_both(move, f"redo {row[1]}")
        return self.step(row[1])

    def in_two_files(self, seq: int) -> bool:
        """Return whether a step was made in two files, a project's and the person's own: it is undone in both, whole,
        by `undo`."""
        return two_files.of_step(self._database, seq) is not None

    def take_back(self, write: Transaction, seq: int) -> None:
        """Undo a step of this file in an open transaction, whatever was done with it in another file. Raise
        Conflict."""
        self._take_back(write, self.step(seq))

    def _undo_both(self, move: Move, reason: str = "") -> None:
        """Undo a step that was made in two files, in both, for a `reason` other than that of an undo. Raise Conflict
        in the person's own memory: the project's is where it is undone."""
        seq = int(move.step or 0)
        if move.project:
            raise Conflict(
                f"Step {seq} moved a fact between this memory and that of a project.",
                f"Undo it there: memoranda --db {move.project} history, then undo its number.",
            )
        own = existing(self._database)
        both = two_files.begin(self._database, two_files.UNDO, fact=move.fact, own=move.own, undoes=seq)

        def there(far: Transaction, write: Transaction) -> None:
            try:
                History(own).take_back(far, int(move.other or 0))
            except Conflict as error:
                if not error.next:  # it was erased, or not all of it was salvaged
                    raise Conflict(f"In your personal memory: {error.message}") from None
                raise Conflict(
                    f"{cite('global', int(move.own or 0))} changed in your personal memory since then.",
                    "Undo that first: memoranda undo --global",
                ) from None

        def here(write: Transaction) -> None:
            self.take_back(write, seq)
            write.reason = reason or write.reason

        two_files.carry_out(self._database, own, both, there, here)

    def _take_back(self, write: Transaction, step: "Step") -> None:
        if step.undone_by is not None:
            raise Conflict(f"Step {step.seq} is already undone, by step {step.undone_by}.", "Redo brings it back.")
        every = of_step(self._database, step.seq, step.changes)
        rows = [row for *row, purged in every if purged != 1]
        if every and not rows:
            raise Conflict(f"Step {step.seq} holds text that was erased, and cannot be undone.")
        if len(every) != step.changes:
            raise Conflict(f"Not all that step {step.seq} changed was salvaged, and it cannot be undone.")
        edits = [  # of a purged record nothing can be undone
            (table, json.loads(key), after and json.loads(after), before and json.loads(before))
            for table, key, _, before, after in rows
        ]
        write.reason = f"undo {step.seq}"
        write.undoes = step.seq
        met = apply(write, edits)
        if met:
            raise Conflict(*self._standing_in_the_way(step, met))

    def _standing_in_the_way(self, step: "Step", met: "Sequence[tuple[str, Key]]") -> tuple[str, str]:
        """Return the message and the advice for an undo that conflicts with later changes."""
        names, linked, later, source = [], set[int](), set[int](), every_row(self._database)
        for table, key in [found for found in met if found[0] in KINDS] or met:
            if not key:  # a record refers to what would be deleted: links to a decision that this step made
                for seq, decision in self._database.rows(REFERRING.format(every_row=source), (step.seq,)):
                    later.add(seq)
                    linked.add(decision)
                continue
            names.append(cite(KINDS[table], key[0]) if table in KINDS else "a mute" if table == "mutes" else "a link")
            later.update(
                seq
                for (seq,) in self._database.rows(
                    f"SELECT seq FROM {source} JOIN history USING(seq)"
                    " WHERE tbl = ? AND pk = ? AND seq > ? AND undone_by IS NULL AND undoes IS NULL",
                    (table, _key(key), step.seq),
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


def _key(key: "Key") -> str:
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))
