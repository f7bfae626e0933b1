"""The timeline: decisions, commits, events, iterations and checkpoints as one stream, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from store.base.clock import DAY_MS, days_before, to_ms, whole_days_between
from store.base.errors import InvalidInput
from store.base.vocabulary import AUTOMATIC_TRIGGERS, CHECKPOINT_LEVELS, KIND_NUMBERS
from store.database.database import Database, Transaction
from store.database.schema import SUMMARY_TIME_SQL
from store.database.values import Verbatim

# The levels of checkpoints, and when an automatic one is due. Pure rules: `now` is passed in.

MINUTE_MS = 60_000
# a session without a turn for so long is over
SESSION_QUIET_MS = 30 * MINUTE_MS
# a column of the last turn of a session `s`
LAST_TURN_SQL = "(SELECT {} FROM turns t WHERE t.session = s.id ORDER BY t.number DESC LIMIT 1)"
# interval of each level, if anything changed; the highest first
LEVEL_INTERVALS_MS = {"archival": DAY_MS, "meso": 30 * MINUTE_MS, "micro": 5 * MINUTE_MS}
# percent of the context window → the level of the checkpoint taken when it is passed
USAGE_LEVELS = {70: "meso", 85: "meso", 90: "macro", 95: "macro"}
# tokens of a context window
CONTEXT_WINDOW = 200_000


def due_checkpoint_level(now: str, taken: Mapping[str, str], start: str) -> str | None:
    """Return the level of the checkpoint that is due by time, or None.

    `taken` is when the newest of each level was taken; a higher one counts for those below it. `start` is the moment
    from which time counts while there is none. A clock that was set back makes one due.
    """
    for level, interval in LEVEL_INTERVALS_MS.items():
        as_high = [taken[one] for one in CHECKPOINT_LEVELS[CHECKPOINT_LEVELS.index(level) :] if one in taken]
        passed = to_ms(now) - to_ms(max(as_high, default=start))
        if passed < 0 or passed >= interval:
            return level
    return None


def usage_percent(tokens: int, window: int = CONTEXT_WINDOW) -> int:
    """Return how much of a context window is used, in whole percent."""
    return tokens * 100 // max(1, window)


def passed_threshold(used: int) -> int:
    """Return the highest threshold of USAGE_LEVELS that `used` percent pass; 0 for none."""
    return max((one for one in USAGE_LEVELS if used >= one), default=0)


# Counts of how often records were opened, by people and by agents: operational, of this machine, without history.
#
# A person opens a record in the application or with `show`; an agent by being sent it, or by continuing from a
# checkpoint.

# when the first was counted
OPENINGS_SINCE = "openings.since"


def count_openings(write: Transaction, keys: Iterable[int]) -> None:
    """Count one opening of each of these records (store/base/vocabulary.py), inside a transaction."""
    write.execute("INSERT OR IGNORE INTO meta(key, value) VALUES (?, ?)", (Verbatim(OPENINGS_SINCE), write.at))
    for key in keys:
        write.execute(
            "INSERT INTO accesses(key, count, at) VALUES (?, 1, ?)"
            " ON CONFLICT(key) DO UPDATE SET count = count + 1, at = excluded.at",
            (key, write.at),
        )


def openings_counted_since(database: Database) -> str:
    """Return when the first opening was counted; empty if none was, and then it is unknown which records nobody
    opened."""
    return database.get_meta(OPENINGS_SINCE)


# kind → (table, SQL of its time, what is left out)
TIMELINE_SOURCES = {
    "decision": ("decisions", "decided_at", "status <> 'forgotten'"),
    "commit": ("commits", "committed_at", ""),
    "event": ("events", "created_at", ""),
    "iteration": ("iterations", "started_at", ""),
    "checkpoint": (
        "checkpoints",
        "created_at",
        f"trigger NOT IN {AUTOMATIC_TRIGGERS}",
    ),  # as the checkpoints' own list
    "summary": ("summaries", SUMMARY_TIME_SQL, ""),
}
ITERATION_KEYS = {
    "decision": "iteration_id",
    "commit": "iteration_id",
    "event": "iteration_id",
    "iteration": "id",
}
# shown only where it is named: a conversation makes many
ONLY_ON_REQUEST = ("summary",)


class Timeline:
    """The stream of one memory, as keys (see `pack_key`) and their times."""

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
        unknown = [kind for kind in kinds if kind not in TIMELINE_SOURCES]
        if unknown:
            raise InvalidInput(
                "There is no such kind in the timeline.", f"Choose among: {', '.join(TIMELINE_SOURCES)}."
            )
        arms = []
        for kind in kinds or [kind for kind in TIMELINE_SOURCES if kind not in ONLY_ON_REQUEST]:
            table, at, condition = TIMELINE_SOURCES[kind]
            among = "" if iteration is None else f"{ITERATION_KEYS.get(kind, 'NULL')} = :iteration"
            times = since and f"{at} >= :since", before and f"{at} < :before"
            clauses = [clause for clause in (condition, among, *times) if clause]
            where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
            arms.append(f"SELECT id * 16 + {KIND_NUMBERS[kind]} AS key, {at} AS at, id FROM {table}{where}")
        # by id and then key, which is the order of the key alone: but SQLite knows only the first from the index
        sql = f"{' UNION ALL '.join(arms)} ORDER BY at DESC, id DESC, key DESC LIMIT :limit"
        parameters = {"since": since, "before": before, "limit": limit, "iteration": iteration}
        return self._database.connection.execute(f"SELECT key, at FROM ({sql})", parameters)

    def count_kinds(self) -> dict[str, int]:
        """Count the entries of each kind that the stream has, those asked for by name included."""
        arms = [
            f"SELECT '{kind}', count(*) FROM {table}{f' WHERE {condition}' if condition else ''}"
            for kind, (table, _, condition) in TIMELINE_SOURCES.items()
        ]
        return {kind: count for kind, count in self._database.rows(" UNION ALL ".join(arms)) if count}

    def journal(self) -> tuple[tuple[int, int], ...]:
        """Return what changes when something is added to the stream or deleted from it: of each kind how many there
        are, and the sum of their ids. A tenth of the cost of the stream. Decisions are left out: they can be hidden and
        restored, and history shows that."""
        sums = [
            f"SELECT count(*), total(id) FROM {table}"
            for kind, (table, _, _) in TIMELINE_SOURCES.items()
            if kind != "decision"
        ]
        return tuple(self._database.rows(" UNION ALL ".join(sums)))


# How a memory changed over time: how it grew, how much of what agents were sent their answers cited, how old its facts
# are. Whole scans of a table: for a worker thread.

SHOWN_WEEKS = 52
AGE_BIN_DAYS, AGE_BINS = (
    30,
    12,
)  # days of a bar of the ages, and how many bars there are; the last holds all that are older


class Trend(NamedTuple):
    """A figure over time: its `name`, what it `means`, its `unit`, and `values` beside `labels`; None where nothing
    was counted."""

    name: str
    means: str
    unit: str
    labels: tuple[str, ...]
    values: tuple[float | None, ...]


def measure_trends(database: Database, now: str) -> tuple[Trend, ...]:
    """Return growth, recall and age, up to `now`."""
    return measure_growth(database, now), measure_recall(database, now), measure_ages(database, now)


def measure_growth(database: Database, now: str) -> Trend:
    """Count the facts, decisions and tasks that were recorded until the end of each week."""
    source = (
        "SELECT created_at AS at FROM facts UNION ALL SELECT decided_at FROM decisions"
        " UNION ALL SELECT created_at FROM tasks"
    )
    weeks = _weekly_sums(database, f"SELECT at, 1.0, 1.0 FROM ({source})", now)
    earlier = database.value(
        f"SELECT count(*) FROM ({source}) WHERE at <= ?", (days_before(now, 7 * SHOWN_WEEKS),)
    )
    totals = list(accumulate((int(number) for number, _ in weeks), initial=earlier))[1:]
    return Trend("growth", "facts, decisions and tasks recorded so far", "records", _week_ends(now), tuple(totals))


def measure_recall(database: Database, now: str) -> Trend:
    """Return what percentage of the records that agents were sent in each week their answers cited."""
    source = (
        "SELECT c.at, s.cited, 1.0 FROM contexts c JOIN sent s ON s.context = c.id"
        " UNION ALL SELECT i.at, j.used, 1.0 FROM injections i JOIN injected j ON j.injection = i.id"
    )
    weeks = _weekly_sums(database, source, now)
    shares = tuple(100 * used / sent if sent else None for used, sent in weeks)
    return Trend(
        "recall",
        "of the records that agents were sent, how many their answers cited",
        "%",
        _week_ends(now),
        shares,
    )


def measure_ages(database: Database, now: str) -> Trend:
    """Count the facts in force by the days since each was confirmed."""
    numbers = [0] * AGE_BINS
    for at, count in database.rows(
        "SELECT last_confirmed_at, count(*) FROM facts WHERE status = 'active' GROUP BY date(last_confirmed_at)"
    ):
        numbers[min(AGE_BINS - 1, max(0, whole_days_between(now, at)) // AGE_BIN_DAYS)] += count
    labels = (
        *(f"{AGE_BIN_DAYS * index} d" for index in range(AGE_BINS - 1)),
        f"{AGE_BIN_DAYS * (AGE_BINS - 1)} d+",
    )
    return Trend("age", "facts in force, by the days since each was confirmed", "facts", labels, tuple(numbers))


def _weekly_sums(database: Database, source: str, now: str) -> list[tuple[float, float]]:
    """Return the two sums of each week, the oldest first; `source` gives (time, number, number)."""
    sums = [(0.0, 0.0)] * SHOWN_WEEKS
    start = to_ms(days_before(now, 7 * SHOWN_WEEKS))
    rows = database.rows(
        f"SELECT substr(at, 1, 10), sum(a), sum(b) FROM (SELECT at, a, b FROM (SELECT NULL AS at, 0 AS a, 0 AS b"
        f" WHERE 0 UNION ALL {source}) WHERE at > ? AND at <= ?) GROUP BY 1",
        (days_before(now, 7 * SHOWN_WEEKS), now),
    )
    for day, first, second in rows:
        week = min(SHOWN_WEEKS - 1, max(0, (to_ms(f"{day}T23:59:59.999Z") - start) // (7 * DAY_MS)))
        sums[week] = (sums[week][0] + first, sums[week][1] + second)
    return sums


def _week_ends(now: str) -> tuple[str, ...]:
    """Return the last day of each week."""
    return tuple(days_before(now, 7 * week)[:10] for week in range(SHOWN_WEEKS - 1, -1, -1))
