"""What the memory holds of a time, or of what agents did in it."""

from collections.abc import Sequence

from store.base.models import Record
from store.base.record_keys import NUMBERS
from store.librarian.ordinal import Order
from store.librarian.question import ParsedQuestion
from store.memory import Memory
from store.records.timeline import STREAM
from store.search import lookup

TOLD = 12  # records of a time that are told
# kind → (table, column of time, what is left out)
_TABLES = {
    **STREAM,
    "fact": ("facts", "created_at", "status = 'active'"),
    "task": ("tasks", "updated_at", ""),
}
# what comes first where there is more than can be told
_FIRST = (("decision", "event", "iteration"), ("commit",), ("fact", "task"))
_AGENTS = "(origin IN ('agent', 'hook') OR origin LIKE 'mcp:%')"


def of_time(memory: Memory, asked: ParsedQuestion) -> tuple[list[Record], int]:
    """What there is of the time that a question names, newest first of what comes first; and how many there are in all.
    Only of the kinds that it asks for, and where it asks for agents only what they wrote: no commit says that."""
    keys: list[int] = []
    count = 0
    for kinds in (asked.kinds,) if asked.kinds else _FIRST:
        if some := [kind for kind in kinds if not (asked.agents and kind == "commit")]:
            found, there = _newest(memory, some, asked, TOLD - len(keys))
            keys, count = keys + found, count + there
    those = lookup.by_key(memory.database, keys)
    return [those[key] for key in keys if key in those], count


def in_order(memory: Memory, asked: ParsedQuestion, order: Order) -> list[Record]:
    """The newest records of a kind, or the oldest, of the time that a question names if it names one."""
    keys, _ = _newest(memory, [order.kind], asked, order.most, order.oldest)
    those = lookup.by_key(memory.database, keys)
    return [those[key] for key in keys if key in those]


def by_agent(origin: str) -> bool:
    """Whether it was an agent that wrote what has this origin."""
    return origin in ("agent", "hook") or origin.startswith("mcp:")


def _newest(
    memory: Memory, kinds: Sequence[str], asked: ParsedQuestion, limit: int, oldest: bool = False
) -> tuple[list[int], int]:
    arms = []
    for kind in kinds:
        table, at, holds = _TABLES[kind]
        clauses = [
            clause
            for clause in (
                holds,
                asked.since and f"{at} >= :since",
                asked.before and f"{at} < :before",
                asked.agents and _AGENTS,
            )
            if clause
        ]
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        arms.append(f"SELECT id * 16 + {NUMBERS[kind]} AS key, {at} AS at, id FROM {table}{where}")
    way = "" if oldest else " DESC"
    rows = memory.database.rows(
        f"SELECT key, count(*) OVER () FROM ({' UNION ALL '.join(arms)}) ORDER BY at{way}, id{way}, key{way}"
        " LIMIT max(1, :limit)",
        {"since": asked.since, "before": asked.before, "limit": limit},
    )
    return [key for key, _ in rows[:limit]], rows[0][1] if rows else 0
