"""The filters of a search, as conditions on the rows of the corpus."""

from collections.abc import Iterable, Sequence

from store.base.record_keys import NUMBERS, ROW
from store.database.database import Database
from store.database.integer_list import integers
from store.records import tags
from store.records.ageing import STATES, state_sql
from store.search.query_parser import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.embedding.binary_index import Ids

_TABLES = {"summary": "summaries"}
_COLUMNS = {"commit": "author", "turn": "speaker || ' ' || origin"}
# kind → where who wrote it stands; nobody says who wrote a file
_AUTHORS = {
    kind: f"SELECT {_COLUMNS.get(kind, 'origin')} FROM {_TABLES.get(kind, f'{kind}s')} WHERE id = c.id / 16"
    for kind in NUMBERS
    if kind != "document"
}
_IN_ITERATIONS = ("decision", "commit", "event", "task")
# statuses of what holds no longer; the corpus knows no others beside `active`
GONE = ("superseded", "contradicted", "forgotten")


class Filters:
    """Which rows of the corpus may be found: `clauses` on a row `c` and their `parameters`, all of which must hold, and
    apart from them `status`, empty for what holds now, and whether only `code` is asked for. `kinds` are the numbers of
    the only kinds that can pass, None for all."""

    __slots__ = ("clauses", "code", "dated", "kinds", "parameters", "status")

    def __init__(self, database: Database, asked: Query) -> None:
        self.status = asked.status
        self.clauses: list[str] = []
        self.parameters: dict[str, object] = {}
        self.dated = bool(asked.since or asked.before)
        self.code = asked.code
        self.kinds: frozenset[int] | None = None
        for kinds in asked.kinds:
            self._only(NUMBERS[kind] for kind in kinds)
            self.clauses.append(f"c.id % 16 IN ({', '.join(str(NUMBERS[kind]) for kind in kinds)})")
        for name, clause in (("since", "c.at >= :since"), ("before", "c.at < :before")):
            if value := getattr(asked, name):
                self._add(clause, **{name: value})
        self._facts(database, asked)
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
            cases = " ".join(f"WHEN {NUMBERS[kind]} THEN ({sql})" for kind, sql in _AUTHORS.items())
            name = f"author{place}"
            self._add(f"holds(CASE c.id % 16 {cases} END, :{name})", **{name: author.casefold()})

    def __bool__(self) -> bool:
        """Whether anything is asked of a row at all."""
        return bool(self.clauses or self.status or self.code)

    @property
    def holding(self) -> str:
        """The condition on the status of a row `c`; what has no status holds always."""
        return f"c.status = '{self.status}'" if self.status else f"c.status NOT IN {GONE}"

    def among(self, database: Database, ids: "Sequence[int] | Ids") -> set[int]:
        """Those of these passages that pass."""
        import numpy as np

        where = " AND ".join([self.holding, *self.clauses])
        code = " JOIN passages p ON p.id = j.value AND p.code" if self.code else ""
        rows = database.rows(
            f"SELECT j.value FROM carray(:ids) j{code} CROSS JOIN corpus c ON c.id = j.value & {ROW} WHERE {where}",
            {**self.parameters, "ids": integers(np.sort(np.asarray(ids, np.int64)))},
        )
        return {key for (key,) in rows}

    def every(self, database: Database, most: int) -> list[int] | None:
        """All passages that pass; None if there are more than `most`."""
        where = " AND ".join([self.holding, *self.clauses, *(("p.code",) if self.code else ())])
        rows = database.rows(
            f"SELECT p.id FROM corpus c JOIN passages p ON p.row = c.id WHERE {where} LIMIT :most",
            {**self.parameters, "most": most + 1},
        )
        return None if len(rows) > most else [key for (key,) in rows]

    def _facts(self, database: Database, asked: Query) -> None:
        """What is asked of facts alone: their domain, scope, tags, pins and age."""
        facts: list[str] = []
        for name in ("domain", "scope"):
            for place, value in enumerate(getattr(asked, f"{name}s")):
                facts.append(f"{name} = :{name}{place}")
                self.parameters[f"{name}{place}"] = value
        if asked.tags:
            tags.register(database)
        for place, tag in enumerate(asked.tags):
            facts.append(tags.TAGGED.format(f":tag{place}"))
            self.parameters[f"tag{place}"] = tags.key(tag)
        if asked.pinned:
            facts.append("pinned")
        facts += [f"{state_sql(asked.now)} = {STATES.index(state)}" for state in asked.ageing]
        if facts:
            self._only((NUMBERS["fact"],))
            self.clauses.append(
                f"c.id % 16 = {NUMBERS['fact']} AND c.id / 16 IN (SELECT id FROM facts WHERE {' AND '.join(facts)})"
            )

    def _only(self, kinds: Iterable[int]) -> None:
        self.kinds = frozenset(kinds) if self.kinds is None else self.kinds.intersection(kinds)

    def _add(self, clause: str, **parameters: object) -> None:
        self.clauses.append(clause)
        self.parameters |= parameters


def _holds(*values: object) -> bool:
    """Whether a text holds some folded characters; SQLite folds the case of ASCII only."""
    text, part = values
    return str(part) in str(text).casefold()
