"""How a memory changed over time, counted from its records."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.base.clock import from_ms, to_ms
from store.memory import Memory
from store.records.timeline import SHOWN_WEEKS, measure_trends

NOW = "2026-11-21T12:00:00.000Z"


class Clock:
    now = NOW

    def __call__(self) -> str:
        return self.now

    def back(self, days: float) -> None:
        self.now = from_ms(to_ms(NOW) - round(days * 86_400_000))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = Clock()
    with Memory.open(str(tmp_path / "memory.db"), "cli", clock) as memory:
        for days in (500, 100, 40, 3):
            clock.back(days)
            memory.facts.remember(f"learned {days} days ago")
        memory.decisions.decide("Use it", "this")
        clock.back(0)
        yield memory


def test_growth_counts_what_was_there_before_the_first_week(memory: Memory) -> None:
    growth, _, _ = measure_trends(memory.database, NOW)
    assert len(growth.values) == len(growth.labels) == SHOWN_WEEKS
    assert growth.values[0] == 1 and growth.values[-1] == 5, "three days ago two were recorded"
    assert list(growth.values) == sorted(growth.values), "it only grows"
    assert growth.labels[-1] == NOW[:10]


def test_recall_is_the_share_that_answers_cited_in_a_week_that_sent_something(memory: Memory) -> None:
    context = memory.context("what was learned?")
    number = memory.context.sent_log.log_context(context)
    sent = memory.database.value("SELECT count(*) FROM sent")
    memory.context.sent_log.log_answer(number, valid=True, cited=["F#4"])
    _, recall, _ = measure_trends(memory.database, NOW)
    assert sent and recall.values[-1] == pytest.approx(100 / sent)
    assert set(recall.values[:-1]) == {None}, "no share of nothing"


def test_ages_are_of_the_facts_in_force(memory: Memory) -> None:
    memory.facts.forget([1])
    _, _, ages = measure_trends(memory.database, NOW)
    assert ages.values[0] == 1 and ages.values[1] == 1 and ages.values[3] == 1
    assert sum(value or 0 for value in ages.values) == 3
    assert ages.labels[0] == "0 d" and ages.labels[-1] == "330 d+"
