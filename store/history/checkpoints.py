"""Checkpoints: named points in history with what a session needs to continue; take, find, recover, restore."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from store.base.citations import cite, parse_citation
from store.base.clock import days_before, from_ms, to_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import Checkpoint, Turn
from store.base.vocabulary import AUTOMATIC_TRIGGERS, PERSON_ORIGIN, TASK_STATUS_LABELS, pack_key
from store.conversations.sessions import end_session
from store.conversations.turns import Turns
from store.database.database import Database, Transaction
from store.database.values import Verbatim, clean_text
from store.history.checkpoint_payload import CheckpointContents, insert_checkpoint
from store.history.restore_plan import Plans
from store.records.table import RecordTable
from store.records.timeline import (
    CONTEXT_WINDOW,
    MINUTE_MS,
    USAGE_LEVELS,
    count_openings,
    due_checkpoint_level,
    passed_threshold,
    usage_percent,
)

# a session without a turn for so long is no longer under way
RECOVERY_QUIET_MS = 30 * MINUTE_MS
# and after so long a recovery is no longer offered
RECOVERY_OFFER_DAYS = 7
FORGET_USAGE_DAYS = 7
# records above which an act is preceded by a checkpoint
MANY_RECORDS = 10
AUTOMATIC_SQL = "trigger IN ({})".format(", ".join(f"'{trigger}'" for trigger in AUTOMATIC_TRIGGERS))

# whether anything happened after step ?1, or after moment ?2 and up to now, ?3
HAPPENED_SINCE_SQL = " OR ".join(
    (
        "(SELECT coalesce(max(seq), 0) FROM history) > ?1",
        *(
            f"EXISTS(SELECT 1 FROM {table} WHERE {at} > ?2 AND {at} <= ?3)"
            for table, at in (
                ("turns", "at"),
                ("commits", "committed_at"),
                ("events", "created_at"),
                ("iterations", "started_at"),
            )
        ),
    )
)


@dataclass(slots=True, eq=False, repr=False)
class RecoveredCheckpoint:
    """Result of a recovery: the checkpoint, what it `held` without what was forgotten or undone since, `notes` on
    changes to the rest by citation, and how many items were `left_out`."""

    checkpoint: Checkpoint
    held: CheckpointContents
    notes: dict[str, str]
    left_out: int


class Checkpoints(RecordTable[Checkpoint]):
    """The checkpoints of one memory."""

    kind, source = "checkpoint", "checkpoints"
    columns = (
        "id, name, created_at, seq, trigger, origin, level, session, used, tokens, recovered_at, summary, changed"
    )
    absence = "There is no checkpoint {}.", "List them with `memoranda list checkpoints`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Checkpoint:
        return Checkpoint(*row)

    # take

    def take_checkpoint(self, name: str = "", *, actor: str = PERSON_ORIGIN) -> int:
        """Take a checkpoint of this moment; return its id. Raise InvalidInput."""
        if len(name) > 200:
            raise InvalidInput("A checkpoint's name holds at most 200 characters.", "Give it a shorter one.")
        with self._database.write(actor, "checkpoint") as write:
            return insert_checkpoint(write, name.strip() or "unnamed", "person")

    def take_before(self, act: str, things: int, *, actor: str = PERSON_ORIGIN) -> int | None:
        """Take a checkpoint before an act that changes more than MANY_RECORDS records; return its id, or None for
        fewer."""
        return self.take_checkpoint(f"before: {act}"[:200], actor=actor) if things > MANY_RECORDS else None

    def record_usage(
        self, tokens: int, *, session: str = "", window: int = CONTEXT_WINDOW, actor: str = "hook"
    ) -> int | None:
        """Record how many tokens of its context window a session uses now; return the id of the checkpoint that this
        made due, or None. One is taken when one of the thresholds of `USAGE_LEVELS` is passed; when the use falls, as
        after a compaction, the thresholds can be passed again. Raise InvalidInput."""
        if tokens < 0:
            raise InvalidInput("Tokens are counted from 0.", "checkpoint --tokens 140000")
        used = usage_percent(tokens, window)
        passed, session = passed_threshold(used), clean_text(session)
        query = "SELECT threshold FROM context_usage WHERE session = ?"
        if (self._database.number(query, (session,))) == passed:
            return None
        with self._database.write(actor, "checkpoint") as write:
            before = write.first(query, (session,)) or 0
            write.execute(
                "INSERT INTO context_usage(session, threshold, at) VALUES (?, ?, ?)"
                " ON CONFLICT(session) DO UPDATE SET threshold = excluded.threshold, at = excluded.at",
                (session, passed, write.at),
            )
            if passed <= before:
                return None
            return insert_checkpoint(write, "", "usage", USAGE_LEVELS[passed], session, used)

    def record_session_end(self, *, session: str = "", actor: str = "hook") -> int:
        """Record the end of a session, the newest unless named; return the id of the checkpoint of its end. Called
        again while nothing happened since, return the same one."""
        with self._database.write(actor, "checkpoint") as write:
            session, last = clean_text(session), self.newest()
            over = session or Turns(self._database).newest_session()
            end_session(write, over)
            taken = last is not None and last.trigger == "session_end" and session in ("", last.session)
            if last is not None and taken and not self._has_changed_since(last, write.at):
                return last.id
            write.execute("DELETE FROM context_usage WHERE session = ?", (session,))
            return insert_checkpoint(write, "", "session_end", "macro", session)

    def before_compaction(self, session: str) -> int | None:
        """Take a checkpoint before a session's context is cut; return its id, or None if nothing happened since the
        last."""
        with self._database.write("agent", "checkpoint") as write:
            return (
                insert_checkpoint(write, "", "usage", "meso", session)
                if self._has_changed_since(self.newest(), write.at)
                else None
            )

    def due_level(self, now: str) -> str | None:
        """Return the level of the checkpoint that is due by time, or None: never while nothing changed."""
        if not self._has_changed_since(self.newest(), now):
            return None
        start = self._database.get_meta("created_at") or now
        taken = dict(
            self._database.rows(
                "SELECT level, created_at FROM checkpoints WHERE id IN (SELECT max(id) FROM checkpoints GROUP BY level)"
            )
        )
        return due_checkpoint_level(now, taken, start)

    def take_due(
        self, level: str = "", *, claim: Callable[[Transaction], None] = lambda write: None
    ) -> int | None:
        """Take the checkpoint that is due by time, or one of this `level` even if not due, unless nothing changed;
        return its id, or None. `claim` is called inside the transaction, to hold a lease on the work."""
        with self._database.write("agent", "checkpoint") as write:
            claim(write)
            wanted = (
                level if level and self._has_changed_since(self.newest(), write.at) else self.due_level(write.at)
            )
            return insert_checkpoint(write, "", "interval", wanted) if wanted else None

    def expire(self, now: str, days: Mapping[str, int]) -> int:
        """Delete automatic ones, and those before a restore, that are older than their level's `days` (0 keeps them for
        ever); return how many. Those taken on request are kept, and so is the newest of all."""
        cuts = {level: days_before(now, kept) for level, kept in days.items() if kept}
        old = " OR ".join("(level = ? AND created_at < ?)" for _ in cuts) or "false"
        where = f"trigger <> 'person' AND id < (SELECT max(id) FROM checkpoints) AND ({old})"
        values = [Verbatim(value) for pair in cuts.items() for value in pair]
        stale = Verbatim(days_before(now, FORGET_USAGE_DAYS))
        if not self._database.value(
            f"SELECT EXISTS(SELECT 1 FROM checkpoints WHERE {where})"
            " OR EXISTS(SELECT 1 FROM context_usage WHERE at < ?)",
            [*values, stale],
        ):
            return 0
        with self._database.write("agent", "retention") as write:
            write.execute("DELETE FROM context_usage WHERE at < ?", (stale,))
            write.execute(f"DELETE FROM checkpoints WHERE {where}", values)
            return write.changed_rows()

    def remove(self, *numbers: int, actor: str = PERSON_ORIGIN) -> None:
        """Delete checkpoints, whatever took them, all or none; the steps of history stay, and so does what they can be
        put back to. Cannot be undone. Raise NotFound."""
        with self._database.write(actor, "checkpoint") as write:
            for number in numbers:
                write.execute("DELETE FROM checkpoints WHERE id = ?", (number,))
                if not write.changed_rows():
                    raise self.missing(number)

    def _has_changed_since(self, since: Checkpoint | None, now: str) -> bool:
        """Return whether anything happened since a checkpoint, or ever."""
        point = (since.seq, since.created_at) if since else (0, "")
        return bool(self._database.value(f"SELECT {HAPPENED_SINCE_SQL}", (*point, now)))

    # find

    def list_newest_first(self, limit: int = -1, *, every: bool = True) -> list[Checkpoint]:
        """List checkpoints, newest first; automatic ones only with `every`."""
        return self.get_many(self.ids(limit, every=every))

    def ids(self, limit: int = -1, *, every: bool = True) -> list[int]:
        """Return the ids of what `list_newest_first` returns, in its order."""
        return self._ids(f"{'' if every else f'WHERE NOT {AUTOMATIC_SQL}'} ORDER BY id DESC LIMIT ?", limit)

    def count_automatic(self) -> int:
        """Return how many are automatic."""
        return self._database.number(f"SELECT count(*) FROM checkpoints WHERE {AUTOMATIC_SQL}")

    def contents(self, number: int) -> CheckpointContents:
        """Return the content of a checkpoint, as it was then. Raise NotFound."""
        row = self._database.row(
            "SELECT session, summary, changed, working, tasks, decisions, entities FROM checkpoints WHERE id = ?",
            (number,),
        )
        if row is None:
            raise self.missing(number)
        return CheckpointContents(*row[:3], *(tuple(json.loads(column)) for column in row[3:]))

    # recover

    def find_broken_off(self, now: str) -> Turn | None:
        """Return the last turn of a session that may be continued: the newest session, if it was not ended and not
        recovered since, and if that turn is between half an hour and a week old."""
        number = self._database.value("SELECT max(id) FROM turns")
        if number is None:
            return None
        turn = Turns(self._database).get(number)
        if not days_before(now, RECOVERY_OFFER_DAYS) <= turn.at <= from_ms(to_ms(now) - RECOVERY_QUIET_MS):
            return None
        # an end that we recorded ourselves was not reported by anybody
        done = self._database.value(
            "SELECT 1 FROM checkpoints WHERE session = ?1 AND (recovered_at >= ?2"
            " OR (trigger = 'session_end' AND origin <> 'agent' AND created_at >= ?2))",
            (turn.session, turn.at),
        )
        return None if done else turn

    def newest(self, session: str = "") -> Checkpoint | None:
        """Return the newest checkpoint, of one session if named."""
        return next(iter(self._read("WHERE ?1 = '' OR session = ?1 ORDER BY id DESC LIMIT 1", session)), None)

    def recover(self, number: int | None = None, *, actor: str = PERSON_ORIGIN) -> RecoveredCheckpoint:
        """Return the content of a checkpoint, the newest unless named, and record that it was recovered now. What was
        forgotten or undone since is left out; what was done or decided since is noted. Raise NotFound."""
        if number is None:
            newest = self.newest()
            if newest is None:
                raise NotFound("There is no checkpoint yet.", "Take one: memoranda checkpoint before")
            number = newest.id
        held = self.contents(number)
        if not self._database.read_only:
            with self._database.write(actor, "recover") as write:
                write.execute("UPDATE checkpoints SET recovered_at = ? WHERE id = ?", (write.at, number))
                cited = (parse_citation(one["citation"]) for one in (*held.turns, *held.tasks, *held.decisions))
                count_openings(
                    write,
                    [pack_key("checkpoint", number), *(pack_key(one.kind, int(one.target)) for one in cited)],
                )
        return _update_contents(self._database, self.get(number), held)

    # restore

    def restore(self, number: int, *, actor: str = PERSON_ORIGIN) -> tuple[int, int]:
        """Restore every recorded table to its state then, but facts that were moved to or from the personal memory
        since; return (records changed, id of the checkpoint taken just before).

        One new change, which can be undone. Commits, events and history are never rolled back. Both ids are of the same
        transaction, so a kill leaves the old memory or the new one. Raise NotFound or Conflict.
        """
        plans = Plans(self._database)
        plan = plans.plan_checkpoint(number)
        blocked = {index for index, change in enumerate(plan.changes) if change.blocked}
        # which raises
        chosen = plans.propose_changes(plan) | blocked
        if not chosen:
            raise Conflict(f"Nothing changed since {cite('checkpoint', number)}.", "There is nothing to restore.")
        applied = plans.apply_plan(plan, chosen, actor=actor)
        assert applied.checkpoint is not None
        return applied.changed, applied.checkpoint


def _update_contents(database: Database, checkpoint: Checkpoint, held: CheckpointContents) -> RecoveredCheckpoint:
    """Update a checkpoint's contents by what happened since."""
    notes: dict[str, str] = {}
    tasks, decisions = [], []
    for task in held.tasks:
        status = database.value(
            "SELECT status FROM tasks WHERE id = ?", (parse_citation(task["citation"]).target,)
        )
        if status is None:
            continue  # undone
        if status != task["status"]:
            notes[task["citation"]] = f"{TASK_STATUS_LABELS[status]} since"
        tasks.append(task)
    for decision in held.decisions:
        number = parse_citation(decision["citation"]).target
        status = database.value("SELECT status FROM decisions WHERE id = ?", (number,))
        if status in (None, "forgotten"):
            continue
        if status == "superseded":
            successor = database.value(
                "SELECT max(id) FROM decisions WHERE supersedes = ? AND status <> 'forgotten'", (number,)
            )
            by = f" by [{cite('decision', successor)}]" if successor else ""
            notes[decision["citation"]] = f"replaced since{by}"
        decisions.append(decision)
    left_out = len(held.tasks) + len(held.decisions) - len(tasks) - len(decisions)
    return RecoveredCheckpoint(
        checkpoint, held._replace(tasks=tuple(tasks), decisions=tuple(decisions)), notes, left_out
    )
