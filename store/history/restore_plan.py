"""Plans: preview a restore, an undo or a look back, record by record, and choose from it.

A plan is computed outside any transaction and changes nothing. Applying the chosen changes is one new step of history:
one undo removes it, one redo restores it.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import Step
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.schema.tables import RECORDED
from store.history import compression, rewind, two_files
from store.history.change_summary import KINDS, moved, sign, title, would
from store.history.checkpoint_payload import mark
from store.history.foreign_keys import Ref, bounds, closure, needed_by
from store.history.history import History
from store.history.rewind import Rewound
from store.history.row_edits import apply
from store.records.timeline.commits import Commits

if TYPE_CHECKING:
    from store.history.row_edits import Edit

STRATEGIES = ("replace", "mine", "add")


@dataclass(frozen=True, slots=True)
class PlannedChange:
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


@dataclass(frozen=True, slots=True)
class Plan:
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

    def required_with(self, index: int) -> frozenset[int]:
        """Return the changes that must be chosen if this one is: itself and all that it needs, transitively."""
        return closure([index], lambda i: self.changes[i].needs)

    def against(self, index: int) -> frozenset[int]:
        """Return the changes that must be left out if this one is: itself and all that need it, transitively."""
        users = needed_by([change.needs for change in self.changes])
        return closure([index], lambda i: users.get(i, ()))


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """Result of applying a plan: a step of history, how many records, and the checkpoint taken just before."""

    seq: int
    changed: int
    checkpoint: int | None


class Plans:
    """The restores and undos possible in one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # make

    def checkpoint(self, number: int) -> Plan:
        """Plan the restore of a checkpoint. Raise NotFound."""
        seq = self._database.value("SELECT seq FROM checkpoints WHERE id = ?", (number,))
        cited = cite("checkpoint", number)
        if seq is None:
            raise NotFound(f"There is no checkpoint {cited}.", "List them with `memoranda checkpoints`.")
        with self._database.read_snapshot():
            return self._plan(
                f"restore {cited}", rewind.to_step(self._database, seq), seq, before=f"before restoring {cited}"
            )

    def moment(self, seq: int, name: str) -> Plan:
        """Plan the return to the state after step `seq`; `name` is the name of that moment."""
        with self._database.read_snapshot():
            found = rewind.to_step(self._database, seq)
            return self._plan(f"restore {name}"[:200], found, seq, before=f"before restoring {name}"[:200])

    def step(self, seq: int) -> Plan:
        """Plan the undo of one step, of any age. Raise NotFound, and Conflict for a step that was undone already or
        whose text was purged."""
        with self._database.read_snapshot():
            history = History(self._database)
            _in_force(history.step(seq))
            if history.in_two_files(seq):
                raise Conflict(
                    f"Step {seq} moved a fact to another memory: it is undone in both, whole.", f"undo {seq}"
                )
            found = rewind.with_links(self._database, rewind.without_step(self._database, seq))
            return self._plan(f"undo {seq}", found, seq - 1, undoes=seq)

    def origin(self, origin: str, session: str = "") -> Plan:
        """Plan the undo of all steps in force of an actor; with a `session` of an agent, of those in this session, by
        its server and by its hooks. Raise NotFound for one without any."""
        names = json.dumps(rewind.actors(self._database, origin, session))
        first = self._database.value(
            "SELECT min(seq) FROM history WHERE actor IN (SELECT value FROM json_each(?))", (names,)
        )
        if first is None:
            raise NotFound("Nobody of that name ever wrote here.", "See who did: `memoranda history`.")
        with self._database.read_snapshot():
            found = rewind.with_links(self._database, rewind.without_actor(self._database, origin, session))
            return self._plan(f"undo {origin}", found, first - 1, before=f"before undoing {origin}"[:200])

    def since(self, seq: int) -> Plan:
        """Return the changes since a step, to be shown only; `now` and `then` as if they were to be undone."""
        with self._database.read_snapshot():
            return self._plan("", rewind.to_step(self._database, seq), seq)

    def between(self, seq: int, end: int) -> Plan:
        """Return the differences between the states after step `seq` and after step `end`, to be shown only, in `then`
        and `now`."""
        with self._database.read_snapshot():
            return self._plan("", rewind.between(self._database, seq, end), seq, until=max(seq, end))

    # choose

    def keeping_mine(self, plan: Plan) -> Plan:
        """Return the same plan, keeping what a person changed since, field by field: such a record is restored in all
        other fields. One that they changed in nothing else, or added, or removed, is unchanged in the plan, and
        `proposed` leaves it out."""
        changes = []
        for change in plan.changes:
            if change.by_hand and change.now is not None and change.then is not None:
                then = {**change.then, **change.mine}
                if then != change.now:
                    change = replace(
                        change,
                        then=then,
                        by_hand=False,
                        sign=sign(change.now, then),
                        fields=moved(change.now, then),
                        says=would(change.now, then),
                    )
            changes.append(change)
        return replace(plan, changes=tuple(changes))

    def proposed(self, plan: Plan, strategy: str = "replace") -> frozenset[int]:
        """Return the changes chosen by default: all that neither clash nor are blocked (`replace`); of those, none that
        a person changed since (`mine`, of a plan `keeping_mine`), or only what would become visible again (`add`).
        Raise InvalidInput."""
        if strategy not in STRATEGIES:
            raise InvalidInput("There is no such strategy.", f"Choose one of: {', '.join(STRATEGIES)}.")
        left_out = [
            index
            for index, change in enumerate(plan.changes)
            if change.clash
            or change.blocked
            or (strategy == "mine" and change.by_hand)
            or (strategy == "add" and change.sign != "+" and change.now is not None)
        ]
        users = needed_by([change.needs for change in plan.changes])
        return frozenset(range(len(plan.changes))) - closure(left_out, lambda i: users.get(i, ()))

    # apply

    def apply(self, plan: Plan, chosen: Collection[int], *, actor: str = PERSON) -> AppliedPlan:
        """Make the chosen changes, by their indexes, as one new step; all of them or none.

        Raise InvalidInput for a choice that is empty or lacks what it needs, Conflict for what is blocked or was
        changed after the plan was made.
        """
        picked = checked(plan, chosen)
        with self._database.write(actor, plan.reason) as write:
            self._still_so(write, plan, picked)
            checkpoint = mark(write, plan.before, "restore") if plan.before else None
            write.undoes = plan.undoes
            if apply(write, [_edit(change) for change in picked]):
                raise Conflict("A record refers to what would be removed.", "Nothing was changed; look again.")
        assert write.seq is not None
        return AppliedPlan(write.seq, len(picked), checkpoint)

    def _still_so(self, write: Transaction, plan: Plan, picked: list[PlannedChange]) -> None:
        """Raise Conflict unless each record is as it was shown, and its old text still exists."""
        if plan.undoes is not None:
            _in_force(History(self._database).step(plan.undoes))
        records = [(change.table, _text(change.key)) for change in picked]
        today = rewind.rows_now(self._database, records)
        for change, record in zip(picked, records, strict=True):
            if today.get(record) != change.now:
                raise Conflict(
                    f"{change.citation} changed while you looked; nothing was done.", "Look again, and choose again."
                )
        if self._erased([record for record, c in zip(records, picked, strict=True) if c.then], plan.since):
            raise Conflict("Text was erased while you looked; nothing was done.", "Look again, and choose again.")

    # compute a plan

    def _plan(
        self,
        reason: str,
        found: list[Rewound],
        since: int,
        undoes: int | None = None,
        before: str = "",
        until: int | None = None,
    ) -> Plan:
        at = self._database.value("SELECT coalesce(max(seq), 0) FROM history")
        newest = self._newest({(one.table, one.key) for one in found}, since, at if until is None else until)
        steps = {step.seq: step for step in History(self._database).many(sorted(set(newest.values())))}
        keys = {id(one): tuple(json.loads(one.key)) for one in found}
        place = {table: number for number, table in enumerate(RECORDED)}
        found = sorted(found, key=lambda one: (-newest.get((one.table, one.key), 0), place[one.table], keys[id(one)]))
        moves = [((one.table, keys[id(one)]), one.now, one.then) for one in found]
        cited = citations(self._database, [ref for ref, *_ in moves])
        lost = self._erased([(one.table, one.key) for one in found if one.then], since)
        erased = {
            place: f"What {cited[moves[place][0]]} said was erased."
            for place, one in enumerate(found)
            if (one.table, one.key) in lost
        }
        needs: list[set[int]] = [set() for _ in moves]
        blocked, along = erased, set[int]()
        if until is None:  # else `now` is not current, and the plan cannot be applied
            along = {place for place, one in enumerate(found) if one.along}
            needs, blocked = bounds(self._database, moves, erased, along, lambda refs: citations(self._database, refs))
        shows = [place for place in range(len(found)) if place not in along or place not in blocked]
        number = {before: index for index, before in enumerate(shows)}  # a link stays with a decision that does
        facts = [keys[id(one)][0] for one in found if one.table == "facts"] if reason and undoes is None else []
        gone = two_files.moved(self._database, facts, since)
        changes = []
        for index in shows:
            one = found[index]
            key = keys[id(one)]
            move = gone.get(key[0]) if one.table == "facts" else None
            shown = one.now or one.then
            assert shown is not None
            changes.append(
                PlannedChange(
                    kind=KINDS[one.table],
                    citation=cited[one.table, key],
                    table=one.table,
                    key=key,
                    now=one.now,
                    then=one.then,
                    sign=sign(one.now, one.then),
                    fields=moved(one.now, one.then),
                    says=would(one.now, one.then) + (f", though {_where(move)}" if move else ""),
                    title=title(one.table, shown),
                    by=steps.get(newest.get((one.table, one.key), 0)),
                    clash=one.clash or move is not None,  # the other half of the move stays
                    by_hand=one.by_hand,
                    mine=one.mine,
                    needs=tuple(sorted(number[other] for other in needs[index] if other in number)),
                    blocked=blocked.get(index, ""),
                )
            )
        return Plan(reason, tuple(changes), at, since, undoes, before)

    def _newest(self, records: set[rewind.Id], since: int, until: int) -> dict[rewind.Id, int]:
        """Return the newest step after `since` up to `until` that changed each record and is in force: what an undo or
        a redo brought back is still of the step that wrote it. Where there is none, the newest of all."""
        newest = self._newest_but(rewind.UNDONE, records, since, until)
        return newest | self._newest_but(rewind.NONE, records.difference(newest), 0, until)

    def _newest_but(self, steps: str, records: set[rewind.Id], since: int, until: int) -> dict[rewind.Id, int]:
        """Return the newest step after `since` up to `until` that changed each record, none that the query `steps`
        finds, whose parameters they are."""
        keys: dict[str, list[str]] = {}
        for table, key in records:
            keys.setdefault(table, []).append(key)
        newest: dict[rewind.Id, int] = {
            (table, key): seq
            for table, wanted in keys.items()
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
        but = {seq for (seq,) in self._database.rows(steps, (since, until))}
        return newest | compression.newest(self._database, packed, since, until, but)

    def _erased(self, records: list[rewind.Id], since: int) -> set[rewind.Id]:
        """Return those of these records whose text was purged from history after step `since`."""
        keys: dict[str, list[str]] = {}
        for table, key in records:
            keys.setdefault(table, []).append(key)
        return {
            (table, key)
            for table, wanted in keys.items()
            for (key,) in self._database.rows(
                "SELECT j.value FROM json_each(?) AS j CROSS JOIN main.history_row AS r"
                " WHERE r.tbl = ? AND r.pk = j.value AND r.seq > ? AND r.purged = 1",
                (json.dumps(wanted), table, since),
            )
        } | compression.erased(self._database, since).intersection(records)


def citations(database: Database, records: list[Ref]) -> dict[Ref, str]:
    """Return the citation of each of these records, given as a table and a key."""
    commits = sorted({key[0] for table, key in records if table == "commit_links"})
    shas = {commit.id: commit.citation for commit in Commits(database).many(commits)}
    return {
        (table, key): f"{shas.get(key[0], 'C#?')} {cite('decision', key[1])}"
        if table == "commit_links"
        else cite("fact" if table == "mutes" else KINDS[table], key[0])
        for table, key in records
    }


def _where(move: two_files.Move) -> str:
    """Return where a fact that was moved since is now, in the words of a plan."""
    here = f"{cite('fact', move.fact or 0)} of {move.project}" if move.project else cite("global", move.own or 0)
    away = two_files.IN if move.project else two_files.OUT  # in the personal memory both are the other way round
    return f"{here} says it now" if move.kind == away else f"it was {here}"


def _in_force(step: Step) -> None:
    if step.undone_by is not None:
        raise Conflict(f"Step {step.seq} is already undone, by step {step.undone_by}.", "Redo brings it back.")


def checked(plan: Plan, chosen: Collection[int]) -> list[PlannedChange]:
    """Return the chosen changes, in the plan's order, if they can be made together. Raise InvalidInput or Conflict."""
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
                f"{change.citation} cannot be changed without {', '.join(lacking[:5])}.", "Choose both, or neither."
            )
    return [plan.changes[index] for index in sorted(wanted)]


def _edit(change: PlannedChange) -> "Edit":
    key, now, then = list(change.key), change.now, change.then
    if now is None or then is None:
        return change.table, key, now, then
    return change.table, key, {n: now[n] for n in change.fields}, {n: then[n] for n in change.fields}


def _text(key: tuple[Any, ...]) -> str:
    """Return a key as history writes it."""
    return json.dumps(list(key), ensure_ascii=False, separators=(",", ":"))
