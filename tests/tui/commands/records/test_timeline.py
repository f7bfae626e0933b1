"""`memoranda timeline`: what happened in a time, from its start and without its end."""

import pytest
from conftest import Clock
from support.tables import each

from store.memory import Memory
from tui.commands.call import Call
from tui.commands.lists import timeline

DAYS = ("2026-11-21", "2026-11-22", "2026-11-23")


@pytest.fixture
def call(memory: Memory, clock: Clock) -> Call:
    for day in DAYS:
        memory.events.log(day)
        clock.advance(days=1)
    return Call(memory.location, memory, "", lambda question: False)


@each(
    "since, before, shown",
    [(None, None, DAYS), (DAYS[1], None, DAYS[1:]), (None, DAYS[1], DAYS[:1]), (DAYS[1], DAYS[2], DAYS[1:2])],
)
def test_a_time_begins_and_ends_where_it_was_asked_for(
    since: str | None, before: str | None, shown: tuple[str, ...], call: Call
) -> None:
    found = timeline(call, since=since, before=before).data()
    assert [one["event_type"] for one in found] == [*reversed(shown)]
