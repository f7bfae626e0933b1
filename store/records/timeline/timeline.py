"""The timeline: decisions, commits, events, iterations and checkpoints as one stream, newest first."""

from collections.abc import Iterator, Sequence

from store.base.errors import InvalidInput
from store.base.record_keys import NUMBERS
from store.base.vocabulary import BY_ITSELF
from store.database.database import Database
from store.database.schema.tables import SUMMED_UP

# kind → (table, SQL of its time, what is left out)
STREAM = {
    "decision": ("decisions", "decided_at", "status <> 'forgotten'"),
    "commit": ("commits", "committed_at", ""),
    "event": ("events", "created_at", ""),
    "iteration": ("iterations", "started_at", ""),
    "checkpoint": ("checkpoints", "created_at", f"trigger NOT IN {BY_ITSELF}"),  # as the checkpoints' own list
    "summary": ("summaries", SUMMED_UP, ""),
}
IN_ITERATIONS = {"decision": "iteration_id", "commit": "iteration_id", "event": "iteration_id", "iteration": "id"}
ASKED_FOR = ("summary",)  # shown only where it is named: a conversation makes many


class Timeline:
    """The stream of one memory, as keys (see `record_keys`) and their times."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stream(
        self,
        kinds: Sequence[str] = (),
        since: str = "",
        before: str = "",
        limit: int = -1,
        iteration: int | None = None,
    ) -> Iterator[tuple[int, str]]:
        """Yield (key, time) newest first, reading on demand. Each part of the query is ordered by its own index, so
        SQLite merges them without sorting; `since` is inclusive, `before` exclusive. Of an `iteration` only itself and
        what belongs to it. Raise InvalidInput."""
        unknown = [kind for kind in kinds if kind not in STREAM]
        if unknown:
            raise InvalidInput("There is no such kind in the timeline.", f"Choose among: {', '.join(STREAM)}.")
        arms = []
        for kind in kinds or [kind for kind in STREAM if kind not in ASKED_FOR]:
            table, at, condition = STREAM[kind]
            among = "" if iteration is None else f"{IN_ITERATIONS.get(kind, 'NULL')} = :iteration"
            times = since and f"{at} >= :since", before and f"{at} < :before"
            clauses = [clause for clause in (condition, among, *times) if clause]
            where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
            arms.append(f"SELECT id * 16 + {NUMBERS[kind]} AS key, {at} AS at, id FROM {table}{where}")
        # by id and then key, which is the order of the key alone: but SQLite knows only the first from the index
        sql = f"{' UNION ALL '.join(arms)} ORDER BY at DESC, id DESC, key DESC LIMIT :limit"
        parameters = {"since": since, "before": before, "limit": limit, "iteration": iteration}
        return self._database.connection.execute(f"SELECT key, at FROM ({sql})", parameters)

    def counts(self) -> dict[str, int]:
        """Count the entries of each kind that the stream has, those asked for by name included."""
        arms = [
            f"SELECT '{kind}', count(*) FROM {table}{f' WHERE {condition}' if condition else ''}"
            for kind, (table, _, condition) in STREAM.items()
        ]
        return {kind: count for kind, count in self._database.rows(" UNION ALL ".join(arms)) if count}

    def journal(self) -> tuple[tuple[int, int], ...]:
        """Return what changes when something is added to the stream or deleted from it: of each kind how many there
        are, and the sum of their ids. A tenth of the cost of the stream. Decisions are left out: they can be hidden and
        restored, and history shows that."""
        sums = [
            f"SELECT count(*), total(id) FROM {table}" for kind, (table, _, _) in STREAM.items() if kind != "decision"
        ]
        return tuple(self._database.rows(" UNION ALL ".join(sums)))
