"""Facts: remembered, confirmed, corrected, pinned, forgotten."""

from collections.abc import Iterable, Sequence

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound, Unsupported
from store.base.location import is_personal
from store.base.vocabulary import CONFIDENCES, DOMAINS, EVIDENCE_STATES, FACT_STATUSES, PERSON, SCOPES, SOURCES
from store.database.database import Database, Transaction
from store.database.erasure import tombstones
from store.database.sql_functions import text_of
from store.database.values import Json, Verbatim, clean
from store.database.writing.disk_reserve import with_room
from store.records.fact_rows import checked, insert, same, supersede
from store.records.fact_sessions import open_session, session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from typing import Any

    from apsw import SQLiteValue

    from store.base.models import Fact

COLUMNS = (
    "id, domain, fact, confidence, source, scope, status, supersedes, created_at, last_confirmed_at, importance,"
    " pinned, origin, evidence, tags, session,"
    " coalesce((SELECT max(state) FROM evidence_looks WHERE record = id * 16), 0)"
)
# the order of a list → its ORDER BY
SORTS = {
    "oldest": "last_confirmed_at, id",
    "newest": "created_at DESC, id DESC",
    "domain": "domain, last_confirmed_at DESC, id DESC",
    "text": "fact COLLATE NOCASE, id",
    "state": "{state} DESC, last_confirmed_at, id",
}


class Facts:
    """The facts of one memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # write

    def remember(
        self,
        text: str,
        *,
        actor: str = PERSON,
        domain: str = "general",
        confidence: str = "high",
        source: str = "explicit",
        scope: str = "project",
        importance: float = 0.5,
        pinned: bool = False,
        evidence: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str = "",
        key: str = "",
        again: bool = False,
        verb: str = "remember",
    ) -> tuple[int, bool]:
        """Remember a fact; return (its id, whether it was new). A known one, in other capitals, spaces or final
        punctuation, is confirmed instead. A domain outside the list becomes `general` with the word as a tag. With a
        `key` that was used before nothing is written, and the earlier result is returned. A purged text is stored only
        `again` if a person wants it. `verb` begins the reason of a step that creates a fact.

        A fact of scope `session` belongs to the named `session`, or else to the open one, and ends with it; without an
        open one it belongs to none. Remembered again in a wider scope, or in another session, it has that one from then
        on.

        Raise InvalidInput, Purged, NotFound and Conflict for a session that does not exist or is over, and Unsupported
        for the scope `global` anywhere but in the person's own memory (store/personal/global_facts.py).
        """
        fact = checked(text)
        _one_of("confidence", confidence, CONFIDENCES)
        _one_of("source", source, SOURCES)
        _one_of("scope", scope, SCOPES)
        if scope == "global" and not is_personal(self._database.path):
            raise Unsupported("Global facts are kept in your personal memory.", "memoranda remember --scope global")
        if not 0 <= importance <= 1:
            raise InvalidInput("Importance is a number from 0 to 1.")
        if domain not in DOMAINS:
            domain = clean(domain).strip().lower()  # before it is cut: a part of a secret would not be recognised
        if domain not in DOMAINS:
            tags = (*tags, domain[:40]) if domain else tags
            domain = "general"
        if tags:
            from store.records.tags import joined

            tags = joined(tags)
        with self._database.write(actor, "remember", key) as write:
            if (answer := write.answer) is not None:
                found, new = answer.split()
                return int(found), new == "1"
            known = same(write, fact)
            if known is not None:
                write.reason = f"confirm {cite('fact', known)}"
                self._touch(write, known)
                if pinned:
                    write.execute("UPDATE facts SET pinned = 1 WHERE id = ?", (known,))
                of = session_of(write, session) if scope == "session" else ""
                write.execute(
                    "UPDATE facts SET scope = ?, session = ? WHERE id = ? AND scope = 'session' AND session <> ?",
                    (Verbatim(scope), of, known, of),
                )
                write.answered(known, 0)
                return known, False
            tombstones.refuse(write, fact, again)
            number = insert(
                write,
                fact,
                domain=domain,
                confidence=confidence,
                source=source,
                scope=scope,
                session=session_of(write, session) if scope == "session" else "",
                importance=importance,
                pinned=int(pinned),
                origin=Verbatim(write.actor),
                evidence=Json(list(evidence)),
                tags=Json(list(tags)),
            )
            if actor == PERSON:
                write.execute("INSERT INTO uncompared VALUES (?)", (number,))  # see store/inbox/new_fact_check.py
            write.reason = f"{verb} {cite('fact', number)}"
            write.answered(number, 1)
            return number, True

    def correct(self, number: int, text: str, *, actor: str = PERSON, again: bool = False) -> int:
        """Replace a fact; return the id of the new one, which supersedes the old, and is muted if that was. `again` is
        as in `remember`. Raise NotFound, Conflict, InvalidInput or Purged."""
        fact = checked(text)
        with self._database.write(actor, f"correct {cite('fact', number)}") as write:
            self._active(write, [number])
            if write.execute("SELECT fact FROM facts WHERE id = ?", (number,)).get == fact:
                raise InvalidInput(
                    f"{cite('fact', number)} says exactly that.", "Confirm it instead, if it is still true."
                )
            known = same(write, fact)
            if known is not None and known != number:
                raise Conflict(
                    f"{cite('fact', known)} says that already.", f"Forget {cite('fact', number)} instead, or undo."
                )
            tombstones.refuse(write, fact, again)
            return supersede(write, number, fact)

    def confirm(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Record that facts still hold: their ages start again. All of them or none."""
        with self._database.write(actor, _reason("confirm", numbers)) as write:
            self._active(write, numbers)
            for number in numbers:
                self._touch(write, number)

    def forget(self, numbers: Sequence[int], *, actor: str = PERSON) -> None:
        """Hide facts, until undone. All of them or none. On a full disk the ballast is freed."""
        with_room(self._database.path, lambda: self._forget(numbers, actor))

    def _forget(self, numbers: Sequence[int], actor: str) -> None:
        with self._database.write(actor, _reason("forget", numbers)) as write:
            self._present(write, numbers)
            for number in numbers:
                write.execute("UPDATE facts SET status = 'forgotten' WHERE id = ?", (number,))

    def pin(self, numbers: Sequence[int], pinned: bool = True, *, actor: str = PERSON) -> None:
        """Pin facts, which then never age, or unpin them. All of them or none."""
        with self._database.write(actor, _reason("pin" if pinned else "unpin", numbers)) as write:
            self._active(write, numbers)
            for number in numbers:
                write.execute("UPDATE facts SET pinned = ? WHERE id = ?", (int(pinned), number))

    # read

    def get(self, number: int) -> "Fact":
        """Return one fact, whatever its status. Raise NotFound."""
        found = self.many([number])
        if not found:
            raise missing(number)
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Fact]":
        """Return the facts of these ids that exist, in this order."""
        import json

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM facts WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(numbers)),)
        )
        by_id = {row[0]: _fact(row) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

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
        sort: str = "oldest",
        limit: int = -1,
        offset: int = 0,
    ) -> "array[int]":
        """Return the ids of the facts that match the filters, in the order `sort` (a key of SORTS), packed. `words` is
        a substring, `tag` a whole tag in any capitals, `state` an index of ageing.STATES."""
        from store.records.ageing import grown_sql, state_sql

        _one_of("order", sort, tuple(SORTS))
        for status in statuses:
            _one_of("status", status, FACT_STATUSES)
        expression = state_sql(now)
        clauses = [f"status IN ({', '.join('?' * len(statuses))})"]
        parameters: list[object] = list(statuses)
        if state:
            clauses.append(grown_sql(now))  # a range of the index: most facts are fresh
        for clause, value in (
            ("domain = ?", domain),
            ("origin = ?", origin),
            (f"{expression} = ?", state),
            ("pinned = ?", pinned),
            ("scope = ?", scope),
        ):
            if value is not None:
                clauses.append(clause)
                parameters.append(value)
        if tag is not None:
            from store.records import tags

            tags.register(self._database)
            clauses.append(tags.TAGGED.format("?"))
            parameters.append(tags.folded(tag))
        if words:
            from store.text.folding import normalize

            # SQLite folds the case of ASCII only
            self._database.connection.create_scalar_function("fold", _fold, 1, deterministic=True)
            clauses.append("instr(fold(CAST(fact AS BLOB)), ?)")
            parameters.append(normalize(words))
        order = SORTS[sort].format(state=expression)
        return self._database.keys(
            f"SELECT id FROM facts WHERE {' AND '.join(clauses)} ORDER BY {order} LIMIT ? OFFSET ?",
            (*parameters, limit, offset),
        )

    def ids(self, now: str, **filters: "Any") -> list[int]:
        """Return `order`, as a list."""
        return self.order(now, **filters).tolist()

    def chain(self, number: int) -> "list[Fact]":
        """Return a fact with all it superseded and all that superseded it, oldest first. Raise NotFound."""
        alone = self._database.row(
            "SELECT supersedes IS NULL AND NOT EXISTS (SELECT 1 FROM facts AS newer WHERE newer.supersedes = facts.id)"
            " FROM facts WHERE id = ?",
            (number,),
        )
        if alone is not None and alone[0]:  # most facts: an index lookup instead of a recursive query
            return self.many([number])
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
        found = self.many([row[0] for row in rows])
        if not found:
            raise missing(number)
        return found

    def counts(self, now: str, scope: str = "") -> dict[str, int]:
        """Count the facts in each state of ageing, those `pinned` (which are fresh), and the forgotten and superseded
        ones; of one scope, if it is named."""
        from store.records.ageing import STATES, grown_sql, state_sql

        counts = dict.fromkeys((*STATES, *FACT_STATUSES, "pinned"), 0)
        grown, state = grown_sql(now), state_sql(now)
        sums = ", ".join(f"count(*) FILTER (WHERE {grown} AND {state} = {index})" for index in range(1, len(STATES)))
        # from the index alone and without sorting: a million facts take 0.3 s instead of 2.4, and no memory
        for status, count, pinned, *states in self._database.rows(
            f"SELECT status, count(*), count(*) FILTER (WHERE pinned), {sums} FROM facts"
            f"{' WHERE scope = ?' if scope else ''} GROUP BY status",
            (scope,) if scope else (),
        ):
            counts[status] = count
            if status == "active":
                counts |= zip((*STATES, "pinned"), (count - sum(states), *states, pinned), strict=True)
        return counts

    def came(self, now: str, days: int) -> dict[str, int]:
        """Count the active facts that came into their state of ageing in the last `days`; those of `fresh` are the ones
        learned since."""
        from store.base.clock import days_before
        from store.records.ageing import STATES, grown_sql, state_sql

        then = days_before(now, days)
        state, before = state_sql(now), state_sql(then)
        sums = ", ".join(
            f"count(*) FILTER (WHERE {state} = {index} AND {before} <> {index})" for index in range(1, len(STATES))
        )
        grown = self._database.rows(f"SELECT {sums} FROM facts WHERE status = 'active' AND {grown_sql(now)}")[0]
        learned = self._database.value("SELECT count(*) FROM facts WHERE status = 'active' AND created_at > ?", (then,))
        return dict(zip(STATES, (learned, *grown), strict=True))

    def learned(self, now: str, weeks: int) -> tuple[int, ...]:
        """Count the facts learned in each of the last `weeks`, replaced and forgotten ones too, the oldest week
        first."""
        from itertools import pairwise

        from store.base.clock import days_before

        ends = [days_before(now, 7 * week) for week in range(weeks, -1, -1)]
        sums = ", ".join("count(*) FILTER (WHERE created_at > ? AND created_at <= ?)" for _ in range(weeks))
        bounds = [bound for pair in pairwise(ends) for bound in pair]
        rows = self._database.rows(f"SELECT {sums} FROM facts WHERE created_at > ?", (*bounds, ends[0]))
        return tuple(rows[0])

    def open_session(self) -> str:
        """Return the session for a fact of scope `session`, where none is named; empty if none is open."""
        return open_session(self._database, self._database.clock())

    def tags(self) -> list[tuple[str, int]]:
        """List the tags of active facts, each in its most frequent spelling, and how many facts have it; most used
        first."""
        from store.records.tags import spelled

        return spelled(
            self._database.rows(
                "SELECT value, count(DISTINCT facts.id) FROM facts, json_each(facts.tags)"
                " WHERE status = 'active' GROUP BY 1"
            )
        )

    # shared by writing

    def _touch(self, write: Transaction, number: int) -> None:
        write.execute("UPDATE facts SET last_confirmed_at = ? WHERE id = ?", (Verbatim(write.at), number))

    def _present(self, write: Transaction, numbers: Iterable[int]) -> None:
        """Raise unless each of these facts exists and is not forgotten."""
        for number in numbers:
            status = write.execute("SELECT status FROM facts WHERE id = ?", (number,)).get
            if status is None:
                raise missing(number)
            if status == "forgotten":
                raise Conflict(f"{cite('fact', number)} is forgotten already.", "Undo brings it back.")

    def _active(self, write: Transaction, numbers: Iterable[int]) -> None:
        """Raise unless each of these facts is active."""
        numbers = list(numbers)
        self._present(write, numbers)
        for number in numbers:
            status = write.execute("SELECT status FROM facts WHERE id = ?", (number,)).get
            if status != "active":
                newer = write.execute("SELECT max(id) FROM facts WHERE supersedes = ?", (number,)).get
                follow = f"{cite('fact', newer)} took its place: use that one." if newer else ""
                raise Conflict(f"{cite('fact', number)} is {status}.", follow)


def _fold(*values: "SQLiteValue") -> str:
    from store.text.folding import normalize

    return normalize(text_of(values[0]))


def _one_of(name: str, value: str, words: Sequence[str]) -> None:
    if value not in words:
        raise InvalidInput(f"There is no such {name}.", f"Choose one of: {', '.join(words)}.")


def _reason(verb: str, numbers: Sequence[int]) -> str:
    """Return a verb and its records; of many, the first ten."""
    if not numbers:
        raise InvalidInput(f"Nothing to {verb} was named.", f"Name facts by their numbers: {verb} 12 13.")
    more = f" +{len(numbers) - 10}" if len(numbers) > 10 else ""
    return f"{verb} {' '.join(cite('fact', number) for number in numbers[:10])}{more}"


def missing(number: int) -> NotFound:
    """Return the error for a fact that does not exist."""
    return NotFound(f"There is no fact {cite('fact', number)}.", "List them with `memoranda facts --all`.")


def _fact(row: "tuple[Any, ...]") -> "Fact":
    import json

    from store.base.models import Fact

    *columns, pinned, origin, evidence, tags, session, looked = row
    lists = [() if text == "[]" else tuple(json.loads(text)) for text in (evidence, tags)]
    return Fact(*(*columns, bool(pinned), origin, *lists, session, EVIDENCE_STATES[looked]))
