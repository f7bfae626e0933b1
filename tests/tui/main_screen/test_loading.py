"""How the rows are kept true to the memory: when others' changes are read, and that nothing jumps."""

import time
from array import array
from datetime import datetime
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.screen import Person, opened
from support.stories import Clock, Story

from store.base.clock import from_ms, to_ms
from store.memory import Memory
from tui.lists import record_rows
from tui.panes.facts import PANE


async def test_others_wait_for_a_long_reading(story: Story, monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
    """As long as it took: of a million rows a reading takes a second, and an agent that writes all day does not keep a
    core busy with it. What the person does is shown at once."""
    main, now = person.main, [1000.0]
    true = PANE.read

    def slow(reading):  # by a clock that only a reading moves
        now[0] += 8
        return true(reading)

    monkeypatch.setattr("tui.main_screen.places.monotonic", lambda: now[0])
    main.place.pane = PANE._replace(read=slow)
    main.load()
    await person.settle()
    main.place.pane = PANE
    assert main._rested == now[0] + 8 > 1008

    async def seen(text: str, *keys: str) -> bool:
        main.polling.poll()
        await person.settle()
        await person.press(*keys)
        return person.sees(text)

    with story.open() as memory:
        memory.facts.remember("An agent wrote this")
        assert not await seen("An agent wrote this")
        assert await seen("An agent wrote this", "y"), "read with what the person did"
        memory.facts.remember("And this")
        assert not await seen("And this")
        now[0] = main._rested + 1
        assert await seen("And this")


async def test_what_is_due_is_done_where_there_is_no_git_too(tmp_path: Path) -> None:
    """Events past their retention go at the start, whether or not the memory lies in a checkout."""
    path = tmp_path / "plain" / ".memoranda" / "memory.db"
    with Memory.open(str(path), "cli", Clock("2020-01-01T00:00:00.000Z")) as old:
        old.events.log("long ago")
    async with opened(tmp_path / "plain") as person:
        assert person.main.engine.screen.database.value("SELECT count(*) FROM events") == 0


async def test_what_was_purged_elsewhere_under_the_cursor_is_told(story: Story, person: Person) -> None:
    """The list still has the row when the cursor comes to it."""
    with story.open() as memory:
        record = memory.facts.get(story.facts["language"])
        memory.purge.run_plan(memory.purge.plan([("fact", record.id)]))
    person.main.pane.follow(record)
    await person.settle()
    assert person.preview == ["It is not here any more."]


@given(
    keys=st.lists(st.integers(0, 10**6), unique=True, max_size=40), key=st.integers(0, 10**6), near=st.integers(0, 50)
)
def test_a_key_is_found_wherever_it_is_looked_for_first(keys: list[int], key: int, near: int) -> None:
    """`near` saves time and changes nothing."""
    rows = record_rows.KeyedRows(array("q", keys), lambda numbers: {}, lambda record, width: [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_rows, "NEAR_ROWS", 4)
        rows.near = near
        assert all(rows.index_of(one) == (keys.index(one) if one in keys else None) for one in (key, *keys))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid", "America/Santiago", "Asia/Kolkata"])
@settings(max_examples=examples(13), deadline=None)
@given(hours=st.lists(st.integers(0, 24 * 400), max_size=40), chunk=st.integers(1, 9))
def test_days_begin_where_the_clock_on_the_wall_says_so(zone: str, hours: list[int], chunk: int) -> None:
    """As if each moment's own day were asked for; whatever the zone, where clocks change, and where a chunk ends."""
    start = to_ms("2026-01-01T00:30:00.000Z")
    moments = [from_ms(start + hour * 3_600_000) for hour in sorted(hours, reverse=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        patch.setattr(record_rows, "KEYS_PER_CHUNK", chunk)
        keys, days = record_rows.split_by_day(iter(enumerate(moments)))
        names = [f"{datetime.fromisoformat(moment).astimezone():%a %d %b %Y}" for moment in moments]
    time.tzset()
    assert keys.tolist() == list(range(len(moments)))
    assert days == [(n, name, "") for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
