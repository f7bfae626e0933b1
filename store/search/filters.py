"""The filters of a search, as conditions on the rows of the corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from store.base.errors import InvalidInput
from store.base.vocabulary import EVIDENCE_STATES, KIND_NUMBERS, PERSON_ORIGIN, RECORD_KEY_MASK
from store.database.connection import bind_integers
from store.database.database import Database
from store.database.schema import SUMMARY_TIME_SQL, argument_text
from store.records.commits import own_author_name, release_moment
from store.records.facts import AGE_STATES, age_state_sql
from store.records.tags import HAS_TAG_SQL, TAG_TABLES, fold_tag, register_folded_tag
from store.search.query_parser import ParsedQuery, parse_query
from store.text.words import normalize_text

if TYPE_CHECKING:
    from apsw import SQLiteValue

    from store.embedding.vector_codes import PassageIds


_TABLE_OF_KIND = {"summary": "summaries"}
_AUTHOR_COLUMNS = {"commit": "author", "turn": "speaker || ' ' || origin"}
# kind → SQL for its author; of a document the author is not known
_AUTHOR_SQL = {
    kind: f"SELECT {_AUTHOR_COLUMNS.get(kind, 'origin')} FROM "
    f"{_TABLE_OF_KIND.get(kind, f'{kind}s')} WHERE id = c.id / 16"
    for kind in KIND_NUMBERS
    if kind != "document"
}
_IN_ITERATIONS = ("decision", "commit", "event", "task")
_REVERTED_SQL = "SELECT decision_id FROM commit_links WHERE link_type = 'reverts'"
# state of WORK → (kind, condition on its row) of the records in that state
_WORK_STATES = {
    "open": (("task", "status <> 'done'"), ("iteration", "status = 'active'")),
    "progress": (("task", "status = 'in_progress'"), ("iteration", "status = 'active'")),
    "done": (("task", "status = 'done'"), ("iteration", "status = 'completed'")),
    "abandoned": (("iteration", "status = 'abandoned'"),),
    "reverted": (
        ("decision", f"id IN ({_REVERTED_SQL})"),
        ("commit", "message GLOB 'Revert \"*'"),  # as git writes it
    ),
    "valid": (("decision", f"status = 'active' AND id NOT IN ({_REVERTED_SQL})"),),
    "void": (("decision", f"status = 'superseded' OR id IN ({_REVERTED_SQL})"),),
}
# states that have a time, and kind → when it began, as SQL for a row `c`
_TIMED_STATES = {"done", "abandoned", "reverted"}
_END_TIME_SQL = {
    "task": "SELECT updated_at FROM tasks WHERE id = c.id / 16",
    "iteration": "SELECT completed_at FROM iterations WHERE id = c.id / 16",
    "decision": "SELECT max(m.committed_at) FROM commit_links l JOIN commits m ON m.id = l.commit_id"
    " WHERE l.decision_id = c.id / 16 AND l.link_type = 'reverts'",
}
# kind → its time where the corpus may have another, that of its making
_START_TIME_SQL = {"summary": f"SELECT {SUMMARY_TIME_SQL} FROM summaries WHERE id = c.id / 16"}
# kind of the cited record → kind of the linked records → SQL for their ids; `{1}` is the condition on a commit's link
_LINK_SQL = {
    "commit": {
        "decision": "SELECT l.decision_id FROM commit_links l JOIN commits m ON m.id = l.commit_id"
        " WHERE m.sha >= :{0} AND m.sha < :{0} || 'g'{1}"
    },
    "decision": {
        "commit": "SELECT commit_id FROM commit_links WHERE decision_id = :{0}{1}",
        "decision": "SELECT id FROM decisions WHERE supersedes = :{0}"
        " UNION SELECT supersedes FROM decisions WHERE id = :{0}",
    },
}
AUTHOR_AGENTS = "agents"  # as an author: any agent
AUTHOR_YOU = "you"  # … the person, as the application calls them
# statuses of records no longer in force; the only other status in the corpus is `active`
INACTIVE_STATUSES = ("superseded", "contradicted", "forgotten")


def parse_memory_query(database: Database, text: str) -> ParsedQuery:
    """Parse a query of a memory: `since:release` is its last release, `since:v1.0` the release of a version."""
    return parse_query(text, database.clock(), lambda name: release_moment(database, name))


def require_valid_query(database: Database, text: str) -> None:
    """Raise InvalidInput for the first filter of a query whose value is not understood: where a query is run once, it
    must not find more than was asked for."""
    if refused := parse_memory_query(database, text).refused:
        raise InvalidInput(*refused[0])


class CorpusFilters:
    """The filters of a query as SQL: `clauses` on a corpus row `c`, all of which must hold, with their `parameters`.
    Besides them: `at`, the SQL of the row's time; `status`, empty for records in force; `code`, whether only code is
    searched; `kinds`, the numbers of the kinds that can pass, None for all."""

    def __init__(self, database: Database, asked: ParsedQuery) -> None:
        self.status = asked.status
        self.clauses: list[str] = []
        self.parameters: dict[str, object] = {}
        self.dated = bool(asked.since or asked.before)
        self.code = asked.code
        self.kinds: frozenset[int] | None = None
        if asked.inbox:
            self._restrict_to_ids(())
        for kinds in asked.kinds:
            self._restrict_kinds(KIND_NUMBERS[kind] for kind in kinds)
            self.clauses.append(f"c.id % 16 IN ({', '.join(str(KIND_NUMBERS[kind]) for kind in kinds)})")
        times = _END_TIME_SQL | _START_TIME_SQL if _TIMED_STATES.intersection(asked.work) else _START_TIME_SQL
        cases = " ".join(f"WHEN {KIND_NUMBERS[kind]} THEN ({sql})" for kind, sql in times.items())
        for name, sign in (("since", ">="), ("before", "<")):
            if value := getattr(asked, name):
                self._add_clause(f"CASE c.id % 16 {cases} ELSE c.at END {sign} :{name}", **{name: value})
        if asked.since and times is _START_TIME_SQL:
            self.clauses.append("c.at >= :since")  # its index is read: none has a later time than that in the corpus
        self._add_fact_filters(database, asked)
        # in order of that time the index of the corpus is read, but of summaries alone
        self.at = f"({_START_TIME_SQL['summary']})" if self.kinds == {KIND_NUMBERS["summary"]} else "c.at"
        self.any = not {"any", "void"}.isdisjoint(asked.work)
        # then the link is of that type
        reverts = "reverted" in asked.work and any(cited.kind in _LINK_SQL for cited in asked.linked)
        of_type = " AND link_type = 'reverts'" if reverts else ""
        for state in asked.work:
            if state != "any" and not (reverts and state == "reverted"):
                self._restrict_to_ids(
                    (kind, f"SELECT id FROM {kind}s WHERE {holds}") for kind, holds in _WORK_STATES[state]
                )
        for place, cited in enumerate(asked.linked):
            name = f"linked{place}"
            self.parameters[name] = cited.target if cited.kind in (*_LINK_SQL, "iteration") else str(cited)
            ends = [(kind, ids) for kind, ids in _linked_ids_sql(cited.kind).items() if "{1}" in ids or not reverts]
            self._restrict_to_ids((kind, ids.format(name, of_type)) for kind, ids in ends)
        for place, iteration in enumerate(asked.iterations):
            name = f"iteration{place}"
            parts = [f"c.id = :{name} * 16 + {KIND_NUMBERS['iteration']}"]
            parts += [
                f"c.id % 16 = {KIND_NUMBERS[kind]} AND c.id / 16 IN (SELECT id "
                f"FROM {kind}s WHERE iteration_id = :{name})"
                for kind in _IN_ITERATIONS
            ]
            self._add_clause(f"({' OR '.join(parts)})", **{name: iteration})
        for place, author in enumerate(asked.authors):
            database.connection.create_scalar_function("holds", _contains_name, 2, deterministic=True)
            database.connection.create_scalar_function("by_agent", is_by_agent, 1, deterministic=True)
            cases = " ".join(f"WHEN {KIND_NUMBERS[kind]} THEN ({sql})" for kind, sql in _AUTHOR_SQL.items())
            name, of = f"author{place}", f"CAST(CASE c.id % 16 {cases} END AS BLOB)"
            but = "NOT " * author.startswith("-")
            either = [
                self._author_condition(database, of, f"{name}_{nth}", one)
                for nth, one in enumerate(split_authors(author))
            ]
            self._add_clause(f"{but}({' OR '.join(either)})")

    def __bool__(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.clauses or self.status or self.code)

    @property
    def status_condition(self) -> str:
        """The condition on the status of a row `c`; a record without a status always passes."""
        if self.any and not self.status:
            return "c.status <> 'forgotten'"
        return f"c.status = '{self.status}'" if self.status else f"c.status NOT IN {INACTIVE_STATUSES}"

    def passing_ids(self, database: Database, ids: Sequence[int] | PassageIds) -> set[int]:
        """Return the passage ids that pass the filters."""
        import numpy as np

        where = " AND ".join([self.status_condition, *self.clauses])
        code = " JOIN passages p ON p.id = j.value AND p.code" if self.code else ""
        rows = database.rows(
            f"SELECT j.value FROM carray(:ids) j{code} CROSS JOIN corpus c ON "
            f"c.id = j.value & {RECORD_KEY_MASK} WHERE {where}",
            {**self.parameters, "ids": bind_integers(np.sort(np.asarray(ids, np.int64)))},
        )
        return {key for (key,) in rows}

    def all_passing_ids(self, database: Database, most: int) -> list[int] | None:
        """Return all passage ids that pass; None if there are more than `most`."""
        where = " AND ".join([self.status_condition, *self.clauses, *(("p.code",) if self.code else ())])
        rows = database.rows(
            f"SELECT p.id FROM corpus c JOIN passages p ON p.row = c.id WHERE {where} LIMIT :most",
            {**self.parameters, "most": most + 1},
        )
        return None if len(rows) > most else [key for (key,) in rows]

    def _add_fact_filters(self, database: Database, asked: ParsedQuery) -> None:
        """Add the filters for tags, evidence, and those that only facts have: domain, scope, pinned, ageing state."""
        facts: list[str] = []
        for name in ("domain", "scope"):
            for place, value in enumerate(getattr(asked, f"{name}s")):
                facts.append(f"{name} = :{name}{place}")
                self.parameters[f"{name}{place}"] = value
        if asked.tags:
            register_folded_tag(database)
        for place, tag in enumerate(asked.tags):
            tagged = HAS_TAG_SQL.format(f":tag{place}")
            self._restrict_to_ids(
                (kind, f"SELECT id FROM {table} WHERE {tagged}") for kind, table in TAG_TABLES.items()
            )
            self.parameters[f"tag{place}"] = fold_tag(tag)
        if asked.pinned:
            facts.append("pinned")
        facts += [f"{age_state_sql(asked.now)} = {AGE_STATES.index(state)}" for state in asked.ageing]
        for state in asked.rests:
            seen = f"SELECT record FROM evidence_looks WHERE state = {EVIDENCE_STATES.index(state)}"
            self._restrict_kinds((KIND_NUMBERS["fact"], KIND_NUMBERS["decision"]))
            self._add_clause(f"c.id IN ({seen})")
        if facts:
            self._restrict_kinds((KIND_NUMBERS["fact"],))
            self.clauses.append(
                f"c.id % 16 = {KIND_NUMBERS['fact']} AND c.id / 16 IN (SELECT "
                f"id FROM facts WHERE {' AND '.join(facts)})"
            )

    def _author_condition(self, database: Database, of: str, name: str, author: str) -> str:
        """Return the condition that the author `of` a row is this one, with the parameter `name`. The person is also
        the author of commits that their git calls so."""
        if author == AUTHOR_AGENTS:
            return f"by_agent({of})"
        if author != AUTHOR_YOU:
            self.parameters[name] = author
            return f"holds({of}, :{name})"
        self.parameters |= {"person": PERSON_ORIGIN, "own": own_author_name(database) or None}
        return (
            f"(holds({of}, :person) OR c.id % 16 = {KIND_NUMBERS['commit']} AND ({_AUTHOR_SQL['commit']}) IS :own)"
        )

    def _restrict_to_ids(self, parts: Iterable[tuple[str, str]]) -> None:
        """Let only rows of these kinds pass, each with an SQL query for the ids allowed."""
        every = dict(parts)
        self._restrict_kinds(KIND_NUMBERS[kind] for kind in every)
        each = [f"c.id % 16 = {KIND_NUMBERS[kind]} AND c.id / 16 IN ({ids})" for kind, ids in every.items()]
        self._add_clause(f"({' OR '.join(f'({one})' for one in each)})" if each else "false")

    def _restrict_kinds(self, kinds: Iterable[int]) -> None:
        """Let only records of these kinds pass, by their numbers."""
        self.kinds = frozenset(kinds) if self.kinds is None else self.kinds.intersection(kinds)

    def _add_clause(self, clause: str, **parameters: object) -> None:
        """Add a condition with its parameters."""
        self.clauses.append(clause)
        self.parameters |= parameters


def _contains_name(*values: SQLiteValue) -> bool:
    """Return whether the first value contains the second, which `split_authors` returned."""
    text, part = values
    return str(part) in normalize_text(argument_text(text))


def split_authors(author: str) -> list[str]:
    """Return the authors of whom a filter names any, `lucía,samira`, without capitals and accents. A comma before a
    space is a part of a name."""
    found = [normalize_text(one) for one in re.split(r",(?! )", author.strip('"').removeprefix("-"))]
    return [one for one in found if one] or [normalize_text(author)]


def matches_author(origin: str, author: str) -> bool:
    """Tell whether an origin is of an author that a filter names; with `-` before the name, of any other."""
    known = {AUTHOR_AGENTS: is_by_agent(origin), AUTHOR_YOU: origin == PERSON_ORIGIN}
    found = any(known.get(name, name in normalize_text(origin)) for name in split_authors(author))
    return found != author.startswith("-")


def is_by_agent(*values: SQLiteValue) -> bool:
    """Return whether an origin is an agent's."""
    origin = argument_text(values[0])
    return origin in ("agent", "hook") or origin.startswith("mcp:")


def _linked_ids_sql(kind: str) -> dict[str, str]:
    """Return kind → SQL for the ids of records that may be linked to one of this kind; `{0}` is the parameter that
    cites it."""
    if kind == "iteration":
        return {one: f"SELECT id FROM {one}s WHERE iteration_id = :{{0}}" for one in _IN_ITERATIONS}
    if kind in _LINK_SQL:
        return _LINK_SQL[kind]
    return {"fact": "SELECT f.id FROM facts AS f, json_each(f.evidence) AS e WHERE e.value = :{0}"}
