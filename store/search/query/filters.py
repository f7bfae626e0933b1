"""The filters of a search, as conditions on the rows of the corpus."""

import re
from collections.abc import Iterable, Sequence

from store.base.errors import InvalidInput
from store.base.record_keys import NUMBERS, ROW
from store.base.vocabulary import EVIDENCE_STATES, PERSON
from store.database.database import Database
from store.database.integer_list import integers
from store.database.schema.tables import SUMMED_UP
from store.database.sql_functions import text_of
from store.records import tags
from store.records.ageing import STATES, state_sql
from store.records.tagging import TABLES
from store.search.query.query_parser import Query, parse
from store.text.folding import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from apsw import SQLiteValue

    from store.embedding.binary_index import Ids

_TABLES = {"summary": "summaries"}
_COLUMNS = {"commit": "author", "turn": "speaker || ' ' || origin"}
# kind → SQL for its author; of a document the author is not known
_AUTHORS = {
    kind: f"SELECT {_COLUMNS.get(kind, 'origin')} FROM {_TABLES.get(kind, f'{kind}s')} WHERE id = c.id / 16"
    for kind in NUMBERS
    if kind != "document"
}
_IN_ITERATIONS = ("decision", "commit", "event", "task")
_REVERTED = "SELECT decision_id FROM commit_links WHERE link_type = 'reverts'"
# state of WORK → (kind, condition on its row) of the records in that state
_WORK = {
    "open": (("task", "status <> 'done'"), ("iteration", "status = 'active'")),
    "progress": (("task", "status = 'in_progress'"), ("iteration", "status = 'active'")),
    "done": (("task", "status = 'done'"), ("iteration", "status = 'completed'")),
    "abandoned": (("iteration", "status = 'abandoned'"),),
    "reverted": (
        ("decision", f"id IN ({_REVERTED})"),
        ("commit", "message GLOB 'Revert \"*'"),  # as git writes it
    ),
    "valid": (("decision", f"status = 'active' AND id NOT IN ({_REVERTED})"),),
    "void": (("decision", f"status = 'superseded' OR id IN ({_REVERTED})"),),
}
# states that have a time, and kind → when it began, as SQL for a row `c`
_ENDS = {"done", "abandoned", "reverted"}
_ENDED = {
    "task": "SELECT updated_at FROM tasks WHERE id = c.id / 16",
    "iteration": "SELECT completed_at FROM iterations WHERE id = c.id / 16",
    "decision": "SELECT max(m.committed_at) FROM commit_links l JOIN commits m ON m.id = l.commit_id"
    " WHERE l.decision_id = c.id / 16 AND l.link_type = 'reverts'",
}
# kind → its time where the corpus may have another, that of its making
_BEGUN = {"summary": f"SELECT {SUMMED_UP} FROM summaries WHERE id = c.id / 16"}
# kind of the cited record → kind of the linked records → SQL for their ids; `{1}` is the condition on a commit's link
_LINKED = {
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
AGENTS = "agents"  # as an author: any agent
YOU = "you"  # … the person, as the application calls them
# statuses of records no longer in force; the only other status in the corpus is `active`
GONE = ("superseded", "contradicted", "forgotten")


def parsed(database: Database, text: str) -> Query:
    """Parse a query of a memory: `since:release` is the last release of it, `since:v1.0` one of its versions."""
    from store.records.timeline.releases import released

    return parse(text, database.clock(), lambda name: released(database, name))


def check(database: Database, text: str) -> None:
    """Raise InvalidInput for the first filter of a query whose value is not understood: where a query is run once, it
    must not find more than was asked for."""
    if refused := parsed(database, text).refused:
        raise InvalidInput(*refused[0])


class Filters:
    """The filters of a query as SQL: `clauses` on a corpus row `c`, all of which must hold, with their `parameters`.
    Besides them: `at`, the SQL of the row's time; `status`, empty for records in force; `code`, whether only code is
    searched; `kinds`, the numbers of the kinds that can pass, None for all."""

    __slots__ = ("any", "at", "clauses", "code", "dated", "kinds", "parameters", "status")

    def __init__(self, database: Database, asked: Query) -> None:
        self.status = asked.status
        self.clauses: list[str] = []
        self.parameters: dict[str, object] = {}
        self.dated = bool(asked.since or asked.before)
        self.code = asked.code
        self.kinds: frozenset[int] | None = None
        if asked.inbox:
            self._of_kinds(())
        for kinds in asked.kinds:
            self._only(NUMBERS[kind] for kind in kinds)
            self.clauses.append(f"c.id % 16 IN ({', '.join(str(NUMBERS[kind]) for kind in kinds)})")
        times = _ENDED | _BEGUN if _ENDS.intersection(asked.work) else _BEGUN
        cases = " ".join(f"WHEN {NUMBERS[kind]} THEN ({sql})" for kind, sql in times.items())
        for name, sign in (("since", ">="), ("before", "<")):
            if value := getattr(asked, name):
                self._add(f"CASE c.id % 16 {cases} ELSE c.at END {sign} :{name}", **{name: value})
        if asked.since and times is _BEGUN:
            self.clauses.append("c.at >= :since")  # its index is read: none has a later time than that in the corpus
        self._facts(database, asked)
        # in order of that time the index of the corpus is read, but of summaries alone
        self.at = f"({_BEGUN['summary']})" if self.kinds == {NUMBERS["summary"]} else "c.at"
        self.any = not {"any", "void"}.isdisjoint(asked.work)
        # then the link is of that type
        reverts = "reverted" in asked.work and any(cited.kind in _LINKED for cited in asked.linked)
        of_type = " AND link_type = 'reverts'" if reverts else ""
        for state in asked.work:
            if state != "any" and not (reverts and state == "reverted"):
                self._of_kinds((kind, f"SELECT id FROM {kind}s WHERE {holds}") for kind, holds in _WORK[state])
        for place, cited in enumerate(asked.linked):
            name = f"linked{place}"
            self.parameters[name] = cited.target if cited.kind in (*_LINKED, "iteration") else str(cited)
            ends = [(kind, ids) for kind, ids in _linked(cited.kind).items() if "{1}" in ids or not reverts]
            self._of_kinds((kind, ids.format(name, of_type)) for kind, ids in ends)
        for place, iteration in enumerate(asked.iterations):
            name = f"iteration{place}"
            parts = [f"c.id = :{name} * 16 + {NUMBERS['iteration']}"]
            parts += [
                f"c.id % 16 = {NUMBERS[kind]} AND c.id / 16 IN (SELECT id FROM {kind}s WHERE iteration_id = :{name})"
                for kind in _IN_ITERATIONS
            ]
            self._add(f"({' OR '.join(parts)})", **{name: iteration})
        for place, author in enumerate(asked.authors):
            database.connection.create_scalar_function("holds", _holds, 2, deterministic=True)
            database.connection.create_scalar_function("by_agent", by_agent, 1, deterministic=True)
            cases = " ".join(f"WHEN {NUMBERS[kind]} THEN ({sql})" for kind, sql in _AUTHORS.items())
            name, of = f"author{place}", f"CAST(CASE c.id % 16 {cases} END AS BLOB)"
            but = "NOT " * author.startswith("-")
            either = [self._by(database, of, f"{name}_{nth}", one) for nth, one in enumerate(names(author))]
            self._add(f"{but}({' OR '.join(either)})")

    def __bool__(self) -> bool:
        """Return whether any filter is set."""
        return bool(self.clauses or self.status or self.code)

    @property
    def holding(self) -> str:
        """The condition on the status of a row `c`; a record without a status always passes."""
        if self.any and not self.status:
            return "c.status <> 'forgotten'"
        return f"c.status = '{self.status}'" if self.status else f"c.status NOT IN {GONE}"

    def among(self, database: Database, ids: "Sequence[int] | Ids") -> set[int]:
        """Return those of these passage ids that pass."""
        import numpy as np

        where = " AND ".join([self.holding, *self.clauses])
        code = " JOIN passages p ON p.id = j.value AND p.code" if self.code else ""
        rows = database.rows(
            f"SELECT j.value FROM carray(:ids) j{code} CROSS JOIN corpus c ON c.id = j.value & {ROW} WHERE {where}",
            {**self.parameters, "ids": integers(np.sort(np.asarray(ids, np.int64)))},
        )
        return {key for (key,) in rows}

    def every(self, database: Database, most: int) -> list[int] | None:
        """Return all passage ids that pass; None if there are more than `most`."""
        where = " AND ".join([self.holding, *self.clauses, *(("p.code",) if self.code else ())])
        rows = database.rows(
            f"SELECT p.id FROM corpus c JOIN passages p ON p.row = c.id WHERE {where} LIMIT :most",
            {**self.parameters, "most": most + 1},
        )
        return None if len(rows) > most else [key for (key,) in rows]

    def _facts(self, database: Database, asked: Query) -> None:
        """Add the filters for tags, evidence, and those that only facts have: domain, scope, pinned, ageing state."""
        facts: list[str] = []
        for name in ("domain", "scope"):
            for place, value in enumerate(getattr(asked, f"{name}s")):
                facts.append(f"{name} = :{name}{place}")
                self.parameters[f"{name}{place}"] = value
        if asked.tags:
            tags.register(database)
        for place, tag in enumerate(asked.tags):
            tagged = tags.TAGGED.format(f":tag{place}")
            self._of_kinds((kind, f"SELECT id FROM {table} WHERE {tagged}") for kind, table in TABLES.items())
            self.parameters[f"tag{place}"] = tags.folded(tag)
        if asked.pinned:
            facts.append("pinned")
        facts += [f"{state_sql(asked.now)} = {STATES.index(state)}" for state in asked.ageing]
        for state in asked.rests:
            seen = f"SELECT record FROM evidence_looks WHERE state = {EVIDENCE_STATES.index(state)}"
            self._only((NUMBERS["fact"], NUMBERS["decision"]))
            self._add(f"c.id IN ({seen})")
        if facts:
            self._only((NUMBERS["fact"],))
            self.clauses.append(
                f"c.id % 16 = {NUMBERS['fact']} AND c.id / 16 IN (SELECT id FROM facts WHERE {' AND '.join(facts)})"
            )

    def _by(self, database: Database, of: str, name: str, author: str) -> str:
        """Return the condition that the author `of` a row is this one, with the parameter `name`. The person is also
        the author of commits that their git calls so."""
        if author == AGENTS:
            return f"by_agent({of})"
        if author != YOU:
            self.parameters[name] = author
            return f"holds({of}, :{name})"
        from store.records.timeline.authors import own_name

        self.parameters |= {"person": PERSON, "own": own_name(database) or None}
        return f"(holds({of}, :person) OR c.id % 16 = {NUMBERS['commit']} AND ({_AUTHORS['commit']}) IS :own)"

    def _of_kinds(self, parts: Iterable[tuple[str, str]]) -> None:
        """Let only rows of these kinds pass, each with an SQL query for the ids allowed."""
        every = dict(parts)
        self._only(NUMBERS[kind] for kind in every)
        each = [f"c.id % 16 = {NUMBERS[kind]} AND c.id / 16 IN ({ids})" for kind, ids in every.items()]
        self._add(f"({' OR '.join(f'({one})' for one in each)})" if each else "false")

    def _only(self, kinds: Iterable[int]) -> None:
        self.kinds = frozenset(kinds) if self.kinds is None else self.kinds.intersection(kinds)

    def _add(self, clause: str, **parameters: object) -> None:
        self.clauses.append(clause)
        self.parameters |= parameters


def _holds(*values: "SQLiteValue") -> bool:
    """Return whether the first value contains the second, which `names` returned."""
    text, part = values
    return str(part) in normalize(text_of(text))


def names(author: str) -> list[str]:
    """Return the authors of whom a filter names any, `lucía,samira`, without capitals and accents. A comma before a
    space is a part of a name."""
    found = [normalize(one) for one in re.split(r",(?! )", author.strip('"').removeprefix("-"))]
    return [one for one in found if one] or [normalize(author)]


def wrote(origin: str, author: str) -> bool:
    """Return whether an origin is of the authors that a filter names, or of none of them with `-`."""
    known = {AGENTS: by_agent(origin), YOU: origin == PERSON}
    found = any(known.get(name, name in normalize(origin)) for name in names(author))
    return found != author.startswith("-")


def by_agent(*values: "SQLiteValue") -> bool:
    """Return whether an origin is an agent's."""
    origin = text_of(values[0])
    return origin in ("agent", "hook") or origin.startswith("mcp:")


def _linked(kind: str) -> dict[str, str]:
    """Return kind → SQL for the ids of records that may be linked to one of this kind; `{0}` is the parameter that
    cites it."""
    if kind == "iteration":
        return {one: f"SELECT id FROM {one}s WHERE iteration_id = :{{0}}" for one in _IN_ITERATIONS}
    if kind in _LINKED:
        return _LINKED[kind]
    return {"fact": "SELECT f.id FROM facts AS f, json_each(f.evidence) AS e WHERE e.value = :{0}"}
