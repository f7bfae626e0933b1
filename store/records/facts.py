"""Facts: remembered, confirmed, corrected, pinned, forgotten."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from store.base.citations import cite
from store.base.clock import DAY_MS, days_before, from_ms, to_ms, whole_days_between
from store.base.errors import Conflict, InvalidInput, NotFound, Unsupported
from store.base.location import is_personal_memory
from store.base.models import Fact
from store.base.vocabulary import (
    CONFIDENCES,
    DOMAINS,
    EVIDENCE_STATES,
    FACT_SOURCES,
    FACT_STATUSES,
    PERSON_ORIGIN,
    SCOPES,
    TALK_ORIGIN_PREFIX,
)
from store.database.database import Database, Transaction
from store.database.files import run_with_reserve
from store.database.schema import argument_text
from store.database.tombstones import normal_form, refuse_purged
from store.database.values import Json, Verbatim, clean_text
from store.records.mutes import pass_on_mute
from store.records.table import RecordTable, cite_all, require_one_of, step_reason
from store.records.tags import HAS_TAG_SQL, fold_tag, merge_tags, most_frequent_spellings, register_folded_tag
from store.records.timeline import LAST_TURN_SQL, SESSION_QUIET_MS
from store.text.words import normalize_text

if TYPE_CHECKING:
    from apsw import SQLiteValue


# Compute the age of a fact: a pure function of now, the last confirmation and the confidence.
#
# Days are whole 24-hour periods since the last confirmation. A pinned fact does not age.

# confidence → days from which a fact is (aging, low priority, stale); None for a state that it never has
AGEING_DAYS: dict[str, tuple[int | None, int | None, int]] = {
    "high": (60, None, 180),
    "medium": (60, 90, 120),
    "low": (None, 31, 120),
}
AGE_STATES = ("fresh", "aging", "low", "stale")


def age_state(now: str, last_confirmed_at: str, confidence: str, pinned: bool) -> str:
    """Return the state of a fact by its age: `fresh`, `aging`, `low` (low priority) or `stale`."""
    if pinned:
        return "fresh"
    days = whole_days_between(now, last_confirmed_at)
    aging, low, stale = AGEING_DAYS[confidence]
    if days >= stale:
        return "stale"
    if low is not None and days >= low:
        return "low"
    if aging is not None and days >= aging:
        return "aging"
    return "fresh"


def fact_age_state(now: str, fact: Fact) -> str:
    """Return the `age_state` of a fact."""
    return age_state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)


def age_state_sql(now: str) -> str:
    """Return the same rule as an SQL expression over a row of facts, with the state's index in AGE_STATES as its value.

    A fact is at least n days old exactly when it was confirmed at or before now minus n days, so the rule becomes
    comparisons of timestamps, and counting the states of 100,000 facts needs no arithmetic on dates.
    """
    cases = ["WHEN pinned THEN 0"]
    today = to_ms(now)
    for confidence, thresholds in AGEING_DAYS.items():
        for index, days in reversed(list(enumerate(thresholds, start=1))):
            if days is not None:
                cut = from_ms(today - days * DAY_MS)
                cases.append(f"WHEN confidence = '{confidence}' AND last_confirmed_at <= '{cut}' THEN {index}")
    return f"CASE {' '.join(cases)} ELSE 0 END"


def not_fresh_sql(now: str) -> str:
    """Return an SQL condition over a row of facts that holds for every fact that is not fresh. It uses the index
    `facts_age`: old enough for the lowest threshold, and not pinned."""
    youngest = min(days for thresholds in AGEING_DAYS.values() for days in thresholds if days is not None)
    return f"last_confirmed_at <= '{from_ms(to_ms(now) - youngest * DAY_MS)}' AND NOT pinned"


# One row of `facts`: check its text, find it by text, insert it.

MAX_FACT_CHARACTERS = 20_000
NO_TAGS = Verbatim("[]")


def text_hash(text: str) -> str:
    """Return a hash of a fact's text that ignores capitals, spaces and final punctuation."""
    return sha256(normal_form(text).encode()).hexdigest()[:32]


def clean_fact_text(text: str) -> str:
    """Return a fact's text as it will be stored. Raise InvalidInput."""
    fact = clean_text(text).strip()
    if not fact:
        raise InvalidInput(
            "There is nothing to remember in an empty text.", 'Write the fact: remember "team of 5".'
        )
    if len(fact) > MAX_FACT_CHARACTERS:
        raise InvalidInput(
            f"A fact holds at most {MAX_FACT_CHARACTERS:,} characters, and this has {len(fact):,}.",
            "Say it in a sentence or two.",
        )
    return fact


def find_same_fact(write: Transaction, fact: str) -> int | None:
    """Return the id of the active fact with this text, in any spelling; None if there is none."""
    found: int | None = write.first(
        "SELECT id FROM facts WHERE text_hash = ? AND status = 'active' ORDER BY id LIMIT 1",
        (Verbatim(text_hash(fact)),),
    )
    return found


def insert_fact(
    write: Transaction,
    fact: str,
    *,
    domain: str,
    confidence: str,
    source: str,
    origin: str,
    evidence: Json | Verbatim,
    tags: Json | Verbatim = NO_TAGS,
    scope: str = "project",
    importance: float = 0.5,
    pinned: int = 0,
    supersedes: int | None = None,
    session: str = "",
    at: str = "",
    created: str = "",
) -> int:
    """Insert an active fact, confirmed now or `at`, and created then, or earlier at `created`; return its id. The
    caller has cleaned `fact` with `clean_fact_text`, and checked the words of closed lists."""
    return write.insert(
        "facts",
        domain=Verbatim(domain),
        fact=Verbatim(fact),
        text_hash=Verbatim(text_hash(fact)),
        confidence=Verbatim(confidence),
        source=Verbatim(source),
        scope=Verbatim(scope),
        status=Verbatim("active"),
        supersedes=supersedes,
        created_at=Verbatim(created or at or write.at),
        last_confirmed_at=Verbatim(at or write.at),
        importance=importance,
        pinned=pinned,
        origin=origin,
        evidence=evidence,
        tags=tags,
        session=session,
    )


def set_fact_status(write: Transaction, number: int | None, status: str) -> None:
    """Set the status of a fact."""
    write.execute("UPDATE facts SET status = ? WHERE id = ?", (Verbatim(status), number))


def supersede_fact(write: Transaction, number: int, fact: str) -> int:
    """Put a fact, whose text `clean_fact_text` returned, in the place of the active fact `number`, by the
    transaction's actor; return its id. It is muted if the old fact was."""
    old = write.first(
        "SELECT domain, confidence, scope, importance, pinned, evidence, tags, session FROM facts WHERE id = ?",
        (number,),
    )
    set_fact_status(write, number, "superseded")
    new = insert_fact(
        write,
        fact,
        domain=old[0],
        confidence="high" if write.actor == PERSON_ORIGIN else old[1],
        source="explicit" if write.actor == PERSON_ORIGIN else "inferred",
        scope=old[2],
        session=old[7],
        supersedes=number,
        importance=old[3],
        pinned=old[4],
        origin=write.actor,
        evidence=Verbatim(old[5]),
        tags=Verbatim(old[6]),
    )
    pass_on_mute(write, [number], new)
    return new


# The session of a fact with the scope `session`.


def session_for_fact(write: Transaction, named: str) -> str:
    """Return the session for a fact of scope `session`: the named session, else the session of its conversation,
    else the open session; empty if none is open. Raise NotFound or Conflict."""
    name = clean_text(named.strip())
    if name:
        over = write.first("SELECT ended_at IS NOT NULL FROM sessions WHERE id = ?", (name,))
        if over is None:
            raise NotFound(f"There is no session “{name[:60]}”.", f"Start it: memoranda session start {name[:60]}")
        if over:
            raise Conflict(f"Session “{name[:60]}” is over.", "Leave the scope out: then it is the project's.")
        return name
    if write.actor.startswith(TALK_ORIGIN_PREFIX):
        return write.actor.removeprefix(TALK_ORIGIN_PREFIX)
    return find_open_session(write.database, write.at)


def find_open_session(database: Database, now: str) -> str:
    """Return the open session: of the sessions that are not over one without turns, or else the session with the
    last turn; empty if there is none."""
    found: str | None = database.value(
        "SELECT s.id FROM sessions s WHERE s.ended_at IS NULL"
        f" AND coalesce({LAST_TURN_SQL.format('t.at')}, s.started_at) >= ?"
        f" ORDER BY {LAST_TURN_SQL.format('t.id')} DESC NULLS FIRST, s.started_at DESC, s.id LIMIT 1",
        (from_ms(to_ms(now) - SESSION_QUIET_MS),),
    )
    return found or ""


# the order of a list → its ORDER BY
FACT_SORTS = {
    "oldest": "last_confirmed_at, id",
    "newest": "created_at DESC, id DESC",
    "domain": "domain, last_confirmed_at DESC, id DESC",
    "text": "fact COLLATE NOCASE, id",
    "state": "{state} DESC, last_confirmed_at, id",
}


class Facts(RecordTable[Fact]):
    """The facts of one memory."""

    kind, source = "fact", "facts"
    columns = (
        "id, domain, fact, confidence, source, scope, status, supersedes, created_at, last_confirmed_at, importance,"
        " pinned, origin, evidence, tags, session,"
        " coalesce((SELECT max(state) FROM evidence_looks WHERE record = id * 16), 0)"
    )
    absence = "There is no fact {}.", "List them with `memoranda list --all`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Fact:
        *columns, pinned, origin, evidence, tags, session, looked = row
        lists = [() if text == "[]" else tuple(json.loads(text)) for text in (evidence, tags)]
        return Fact(*(*columns, bool(pinned), origin, *lists, session, EVIDENCE_STATES[looked]))

    # write

    def remember(
        self,
        text: str,
        *,
        actor: str = PERSON_ORIGIN,
        domain: str = "general",
        confidence: str = "high",
        source: str = "explicit",
        scope: str = "project",
        importance: float = 0.5,
        pinned: bool = False,
        evidence: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str = "",
        at: str = "",
        key: str = "",
        again: bool = False,
        verb: str = "remember",
    ) -> tuple[int, bool]:
        """Remember a fact; return (its id, whether it was new). A known one, in other capitals, spaces or final
        punctuation, is confirmed instead. A domain outside the list becomes `general` with the word as a tag. With a
        `key` that was used before nothing is written, and the earlier result is returned. `at` is when it was learned,
        if not now. A purged text is stored only `again` if a person wants it. `verb` begins the reason of a step that
        creates a fact.

        A fact of scope `session` belongs to the named `session`, or else to the open one, and ends with it; without an
        open one it belongs to none. Remembered again in a wider scope, or in another session, it has that one from then
        on.

        Raise InvalidInput, Purged, NotFound and Conflict for a session that does not exist or is over, and Unsupported
        for the scope `global` anywhere but in the person's own memory (store/personal/memory.py).
        """
        fact = clean_fact_text(text)
        require_one_of("confidence", confidence, CONFIDENCES)
        require_one_of("source", source, FACT_SOURCES)
        require_one_of("scope", scope, SCOPES)
        if scope == "global" and not is_personal_memory(self._database.path):
            raise Unsupported(
                "Global facts are kept in your personal memory.", "memoranda remember --scope global"
            )
        if not 0 <= importance <= 1:
            raise InvalidInput("Importance is a number from 0 to 1.")
        if domain not in DOMAINS:
            domain = (
                clean_text(domain).strip().lower()
            )  # before it is cut: a part of a secret would not be recognised
        if domain not in DOMAINS:
            tags = (*tags, domain[:40]) if domain else tags
            domain = "general"
        if tags:
            tags = merge_tags(tags)
        with self._database.write(actor, "remember", key) as write:
            if (answer := write.earlier_answer) is not None:
                found, new = answer.split()
                return int(found), new == "1"
            known = find_same_fact(write, fact)
            if known is not None:
                write.reason = f"confirm {cite('fact', known)}"
                self._touch(write, known, at)
                if pinned:
                    write.execute("UPDATE facts SET pinned = 1 WHERE id = ?", (known,))
                of = session_for_fact(write, session) if scope == "session" else ""
                write.execute(
                    "UPDATE facts SET scope = ?, session = ? WHERE id = ? AND scope = 'session' AND session <> ?",
                    (Verbatim(scope), of, known, of),
                )
                write.store_answer(known, 0)
                return known, False
            refuse_purged(write, fact, again)
            number = insert_fact(
                write,
                fact,
                domain=domain,
                confidence=confidence,
                source=source,
                scope=scope,
                session=session_for_fact(write, session) if scope == "session" else "",
                importance=importance,
                pinned=int(pinned),
                origin=Verbatim(write.actor),
                evidence=Json(list(evidence)),
                tags=Json(list(tags)),
                at=at,
            )
            if actor == PERSON_ORIGIN:
                # see store/inbox/duplicates.py
                write.execute("INSERT INTO uncompared VALUES (?)", (number,))
            write.reason = f"{verb} {cite('fact', number)}"
            write.store_answer(number, 1)
            return number, True

    def correct(self, number: int, text: str, *, actor: str = PERSON_ORIGIN, again: bool = False) -> int:
        """Replace a fact; return the id of the new one, which supersedes the old, and is muted if that was. `again` is
        as in `remember`. Raise NotFound, Conflict, InvalidInput or Purged."""
        fact = clean_fact_text(text)
        with self._database.write(actor, f"correct {cite('fact', number)}") as write:
            self._require_active(write, [number])
            if write.first("SELECT fact FROM facts WHERE id = ?", (number,)) == fact:
                raise InvalidInput(
                    f"{cite('fact', number)} says exactly that.", "Confirm it instead, if it is still true."
                )
            known = find_same_fact(write, fact)
            if known is not None and known != number:
                raise Conflict(
                    f"{cite('fact', known)} says that already.",
                    f"Forget {cite('fact', number)} instead, or undo.",
                )
            refuse_purged(write, fact, again)
            return supersede_fact(write, number, fact)

    def replace(self, number: int, by: int, *, actor: str = PERSON_ORIGIN) -> None:
        """Let another active fact take the place of an active one. Raise NotFound or Conflict."""
        with self._database.write(actor, step_reason("replace", cite_all("fact", [number, by]))) as write:
            self._require_active(write, [number, by])
            set_fact_status(write, number, "superseded")
            write.execute("UPDATE facts SET supersedes = coalesce(supersedes, ?) WHERE id = ?", (number, by))

    def confirm(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Record that facts still hold: their ages start again. All of them or none."""
        with self._database.write(actor, step_reason("confirm", cite_all("fact", numbers))) as write:
            self._require_active(write, numbers)
            for number in numbers:
                self._touch(write, number)

    def forget(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Hide facts, until undone. All of them or none. On a full disk the ballast is freed."""
        run_with_reserve(self._database.path, lambda: self._forget(numbers, actor))

    def _forget(self, numbers: Sequence[int], actor: str) -> None:
        with self._database.write(actor, step_reason("forget", cite_all("fact", numbers))) as write:
            self._require_not_forgotten(write, numbers)
            for number in numbers:
                set_fact_status(write, number, "forgotten")

    def pin(self, numbers: Sequence[int], pinned: bool = True, *, actor: str = PERSON_ORIGIN) -> None:
        """Pin facts, which then never age, or unpin them. All of them or none."""
        with self._database.write(
            actor, step_reason("pin" if pinned else "unpin", cite_all("fact", numbers))
        ) as write:
            self._require_active(write, numbers)
            for number in numbers:
                write.execute("UPDATE facts SET pinned = ? WHERE id = ?", (int(pinned), number))

    # read

    def order(
        self,
        now: str,
        *,
        statuses: Sequence[str] = ("active",),
        domain: str | None = None,
        origin: str | None = None,
        tag: str | None = None,
        state: int | None = None,
        pinned: bool | None = None,
        scope: str | None = None,
        words: str = "",
        since: str | None = None,
        before: str | None = None,
        sort: str = "oldest",
        limit: int = -1,
        offset: int = 0,
    ) -> array[int]:
        """Return the ids of the facts that match the filters, in the order `sort` (a key of FACT_SORTS), packed.
        `words` is a substring, `tag` a whole tag in any capitals, `state` an index of AGE_STATES; created from `since`
        on, and `before` a moment."""
        require_one_of("order", sort, tuple(FACT_SORTS))
        for status in statuses:
            require_one_of("status", status, FACT_STATUSES)
        expression = age_state_sql(now)
        clauses = [f"status IN ({', '.join('?' * len(statuses))})"]
        parameters: list[object] = list(statuses)
        if state:
            # a range of the index: most facts are fresh
            clauses.append(not_fresh_sql(now))
        for clause, value in (
            ("domain = ?", domain),
            ("origin = ?", origin),
            (f"{expression} = ?", state),
            ("pinned = ?", pinned),
            ("scope = ?", scope),
            ("created_at >= ?", since),
            ("created_at < ?", before),
        ):
            if value is not None:
                clauses.append(clause)
                parameters.append(value)
        if tag is not None:
            register_folded_tag(self._database)
            clauses.append(HAS_TAG_SQL.format("?"))
            parameters.append(fold_tag(tag))
        if words:
            # SQLite folds the case of ASCII only
            self._database.connection.create_scalar_function("fold", _fold_sql_text, 1, deterministic=True)
            clauses.append("instr(fold(CAST(fact AS BLOB)), ?)")
            parameters.append(normalize_text(words))
        order = FACT_SORTS[sort].format(state=expression)
        return self._database.keys(
            f"SELECT id FROM facts WHERE {' AND '.join(clauses)} ORDER BY {order} LIMIT ? OFFSET ?",
            (*parameters, limit, offset),
        )

    def ids(self, now: str, **filters: Any) -> list[int]:
        """Return `order`, as a list."""
        return self.order(now, **filters).tolist()

    def chain(self, number: int) -> list[Fact]:
        """Return a fact with all it superseded and all that superseded it, oldest first. Raise NotFound."""
        alone = self._database.row(
            "SELECT supersedes IS NULL AND NOT EXISTS (SELECT 1 FROM facts AS newer WHERE newer.supersedes = facts.id)"
            " FROM facts WHERE id = ?",
            (number,),
        )
        # most facts: an index lookup instead of a recursive query
        if alone is not None and alone[0]:
            return self.get_many([number])
        rows = self._database.rows(
            "WITH RECURSIVE older(id, depth) AS ("
            "  SELECT ?, 0 UNION"
            "  SELECT supersedes, depth - 1 FROM facts JOIN older USING(id) WHERE supersedes < id),"
            " newer(id, depth) AS ("
            "  SELECT ?, 0 UNION"
            "  SELECT f.id, depth + 1 FROM facts f JOIN newer ON f.supersedes = newer.id AND f.id > newer.id)"
            " SELECT id FROM (SELECT * FROM older UNION SELECT * FROM newer) ORDER BY depth, id",
            (number, number),
        )
        found = self.get_many([row[0] for row in rows])
        if not found:
            raise self.missing(number)
        return found

    def count_by_state(self, now: str, scope: str = "") -> dict[str, int]:
        """Count the facts in each state of ageing, those `pinned` (which are fresh), and the forgotten and superseded
        ones; of one scope, if it is named."""
        counts = dict.fromkeys((*AGE_STATES, *FACT_STATUSES, "pinned"), 0)
        grown, state = not_fresh_sql(now), age_state_sql(now)
        sums = ", ".join(
            f"count(*) FILTER (WHERE {grown} AND {state} = {index})" for index in range(1, len(AGE_STATES))
        )
        # from the index alone and without sorting: a million facts take 0.3 s instead of 2.4, and no memory
        for status, count, pinned, *states in self._database.rows(
            f"SELECT status, count(*), count(*) FILTER (WHERE pinned), {sums} FROM facts"
            f"{' WHERE scope = ?' if scope else ''} GROUP BY status",
            (scope,) if scope else (),
        ):
            counts[status] = count
            if status == "active":
                counts |= zip((*AGE_STATES, "pinned"), (count - sum(states), *states, pinned), strict=True)
        return counts

    def count_state_changes(self, now: str, days: int) -> dict[str, int]:
        """Count the active facts that entered their state of ageing in the last `days`; for `fresh`, the facts
        learned since then."""
        then = days_before(now, days)
        state, before = age_state_sql(now), age_state_sql(then)
        sums = ", ".join(
            f"count(*) FILTER (WHERE {state} = {index} AND {before} <> {index})"
            for index in range(1, len(AGE_STATES))
        )
        grown = self._database.rows(f"SELECT {sums} FROM facts WHERE status = 'active' AND {not_fresh_sql(now)}")[
            0
        ]
        learned = self._database.value(
            "SELECT count(*) FROM facts WHERE status = 'active' AND created_at > ?", (then,)
        )
        return dict(zip(AGE_STATES, (learned, *grown), strict=True))

    def count_learned(self, now: str, weeks: int) -> tuple[int, ...]:
        """Count the facts learned in each of the last `weeks`, replaced and forgotten ones too, the oldest week
        first."""
        ends = [days_before(now, 7 * week) for week in range(weeks, -1, -1)]
        sums = ", ".join("count(*) FILTER (WHERE created_at > ? AND created_at <= ?)" for _ in range(weeks))
        bounds = [bound for pair in pairwise(ends) for bound in pair]
        rows = self._database.rows(f"SELECT {sums} FROM facts WHERE created_at > ?", (*bounds, ends[0]))
        return tuple(rows[0])

    def open_session(self) -> str:
        """Return the session for a fact of scope `session`, where none is named; empty if none is open."""
        return find_open_session(self._database, self._database.clock())

    def tags(self) -> list[tuple[str, int]]:
        """List the tags of active facts, each in its most frequent spelling, and how many facts have it; most used
        first."""
        return most_frequent_spellings(
            self._database.rows(
                "SELECT value, count(DISTINCT facts.id) FROM facts, json_each(facts.tags)"
                " WHERE status = 'active' GROUP BY 1"
            )
        )

    # shared by writing

    def _touch(self, write: Transaction, number: int, at: str = "") -> None:
        """Record that a fact held now, or `at` a time; what was known later stays."""
        confirmed = "max(last_confirmed_at, ?)" if at else "?"
        write.execute(
            f"UPDATE facts SET last_confirmed_at = {confirmed} WHERE id = ?", (Verbatim(at or write.at), number)
        )

    def _require_not_forgotten(self, write: Transaction, numbers: Iterable[int]) -> None:
        """Raise unless each of these facts exists and is not forgotten."""
        for number in numbers:
            if self.read_column(write, number) == "forgotten":
                raise Conflict(f"{cite('fact', number)} is forgotten already.", "Undo brings it back.")

    def _require_active(self, write: Transaction, numbers: Iterable[int]) -> None:
        """Raise unless each of these facts is active."""
        numbers = list(numbers)
        self._require_not_forgotten(write, numbers)
        for number in numbers:
            status = self.read_column(write, number)
            if status != "active":
                newer = write.first("SELECT max(id) FROM facts WHERE supersedes = ?", (number,))
                follow = f"{cite('fact', newer)} took its place: use that one." if newer else ""
                raise Conflict(f"{cite('fact', number)} is {status}.", follow)


def _fold_sql_text(*values: SQLiteValue) -> str:
    return normalize_text(argument_text(values[0]))
