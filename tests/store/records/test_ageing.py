"""When a fact grows old. The table of ages is written out again here, day by day, on purpose."""

import apsw
import pytest
from conftest import tried
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each

from store.base.clock import DAY_MS, from_ms, to_ms
from store.base.vocabulary import CONFIDENCES
from store.memory import Memory
from store.records.facts import AGE_STATES, age_state, age_state_sql

TODAY = "2026-11-21T23:12:27.042Z"

# confidence, whole days since the last confirmation, the state from that very millisecond, the state just before it
BOUNDARIES = [
    ("high", 60, "aging", "fresh"),
    ("high", 90, "aging", "aging"),
    ("high", 120, "aging", "aging"),
    ("high", 180, "stale", "aging"),
    ("medium", 60, "aging", "fresh"),
    ("medium", 90, "low", "aging"),
    ("medium", 120, "stale", "low"),
    ("low", 31, "low", "fresh"),
    ("low", 60, "low", "low"),
    ("low", 120, "stale", "low"),
]


def days_ago(days: int, more_ms: int = 0) -> str:
    return from_ms(to_ms(TODAY) - days * DAY_MS - more_ms)


@each("confidence, days, from_then, before", BOUNDARIES)
def test_a_fact_changes_state_at_exactly_whole_days(confidence: str, days: int, from_then: str, before: str) -> None:
    """A fact becomes aging, low or stale at exactly n × 24 hours, and is not so one millisecond earlier."""
    assert age_state(TODAY, days_ago(days), confidence, False) == from_then
    assert age_state(TODAY, days_ago(days, more_ms=-1), confidence, False) == before
    assert age_state(TODAY, days_ago(days, more_ms=1), confidence, False) == from_then


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_every_fact_starts_fresh_and_ends_stale(confidence: str) -> None:
    """Just confirmed is fresh; ten years without a word is stale, whatever the confidence."""
    assert age_state(TODAY, TODAY, confidence, False) == "fresh"
    assert age_state(TODAY, days_ago(3_650), confidence, False) == "stale"


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_a_pinned_fact_does_not_age(confidence: str) -> None:
    """An allergy does not expire."""
    assert age_state(TODAY, days_ago(3_650), confidence, True) == "fresh"


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_a_confirmation_from_the_future_is_fresh(confidence: str) -> None:
    """A clock that ran ahead makes no fact old."""
    assert age_state(TODAY, days_ago(-400), confidence, False) == "fresh"


around_a_boundary = st.builds(
    lambda days, ms: days * DAY_MS + ms, st.sampled_from([0, 31, 60, 90, 120, 180]), st.integers(-2, 2)
)
ages = st.one_of(around_a_boundary, st.integers(-400 * DAY_MS, 400 * DAY_MS))


@tried(17)
@given(
    now=st.integers(to_ms("1990-01-01T00:00:00.000Z"), to_ms("2090-01-01T00:00:00.000Z")),
    age=ages,
    confidence=st.sampled_from(CONFIDENCES),
    pinned=st.booleans(),
)
def test_sqlite_and_python_agree_on_each_row(memory: Memory, now: int, age: int, confidence: str, pinned: bool) -> None:
    """`state_sql`, evaluated by SQLite on a row of facts, is the same rule as `state`."""
    number, _ = memory.facts.remember("Tests run on every push")
    connection: apsw.Connection = memory.database.connection
    today, confirmed = from_ms(now), from_ms(now - age)
    # straight into the row: the one write that no history needs, and thousands of them
    sql = "UPDATE facts SET last_confirmed_at = ?, confidence = ?, pinned = ? WHERE id = ?"
    connection.execute(sql, (confirmed, confidence, pinned, number))
    (index,) = connection.execute(f"SELECT {age_state_sql(today)} FROM facts WHERE id = ?", (number,)).fetchone()
    assert AGE_STATES[index] == age_state(today, confirmed, confidence, pinned)
