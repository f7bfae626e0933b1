"""How a memory changed over time: how it grew, how much of what agents were sent their answers cited, how old its facts
are. Whole scans of a table: for a worker thread."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from store.base.clock import DAY_MS, days_before, to_ms, whole_days_between
from store.database.database import Database

SHOWN_WEEKS = 52
AGE_BIN_DAYS, AGE_BINS = (
    30,
    12,
)  # days of a bar of the ages, and how many bars there are; the last holds all that are older


@dataclass(frozen=True, slots=True)
class Trend:
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
    earlier = database.value(f"SELECT count(*) FROM ({source}) WHERE at <= ?", (days_before(now, 7 * SHOWN_WEEKS),))
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
        "recall", "of the records that agents were sent, how many their answers cited", "%", _week_ends(now), shares
    )


def measure_ages(database: Database, now: str) -> Trend:
    """Count the facts in force by the days since each was confirmed."""
    numbers = [0] * AGE_BINS
    for at, count in database.rows(
        "SELECT last_confirmed_at, count(*) FROM facts WHERE status = 'active' GROUP BY date(last_confirmed_at)"
    ):
        numbers[min(AGE_BINS - 1, max(0, whole_days_between(now, at)) // AGE_BIN_DAYS)] += count
    labels = (*(f"{AGE_BIN_DAYS * index} d" for index in range(AGE_BINS - 1)), f"{AGE_BIN_DAYS * (AGE_BINS - 1)} d+")
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
