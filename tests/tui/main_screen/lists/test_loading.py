"""How the lists are kept true to the memory: what did not change is not read again, and nothing jumps."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.screen import Person, opened
from support.stories import NOON, Clock, Story, location

from store.base.clock import from_ms, to_ms
from store.database import wal
from store.history.history import History
from store.memory import Memory
from tui.lists import record_rows as rows
from tui.lists.record_rows import Pages, split_by_day
from tui.lists.view_state import View
from tui.widgets.preview import PreviewPane
from tui.workers.engine import Engine, LoadedLists

VIEW = View()


@pytest.fixture
def engine(story: Story) -> Iterator[Engine]:
    engine = Engine(story.location, str(story.folder), Clock())
    yield engine
    engine.close()


def orders(lists: LoadedLists) -> tuple[array[int], array[int]]:
    """The keys of facts and timeline, as the very arrays that hold them."""
    return lists.facts._pages.keys, lists.timeline._pages.keys  # type: ignore[return-value]


def kept(old: LoadedLists, new: LoadedLists) -> tuple[bool, bool]:
    """Whether the order of facts, and that of the timeline, was kept and not read again."""
    return tuple(a is b for a, b in zip(orders(old), orders(new), strict=True))  # type: ignore[return-value]


def test_what_did_not_change_is_not_read_again(engine: Engine) -> None:
    """Of a million rows nothing is read because a minute has passed; the records on screen are, for ages move on."""
    first = engine.lists(VIEW)
    again = engine.lists(VIEW, last=first)
    assert kept(first, again) == (True, True)
    assert again.facts is not first.facts and again.timeline is not first.timeline
    assert (again.counts, again.entries, again.whole) == (first.counts, first.entries, True)
    assert kept(again, engine.lists(VIEW, last=again, aged=True)) == (False, True), "facts age by themselves"
    assert kept(again, engine.lists(View(sort="text"), last=again)) == (False, True)
    assert kept(again, engine.lists(View(hidden=True), last=again)) == (False, True)


def test_the_first_rows_are_never_taken_for_all_of_them(engine: Engine) -> None:
    """What is shown before the whole order is known ends with it."""
    some = engine.lists(VIEW, 3)
    whole = engine.lists(VIEW, last=some)
    assert [len(order) for order in orders(some)] == [3, 3]
    assert whole.whole and min(len(order) for order in orders(whole)) > 3


def _replace_events(memory: Memory, story: Story) -> None:
    for _ in range(memory.events.expire("2030-01-01T00:00:00.000Z")):
        memory.events.log("as many as went")


ACTS: dict[str, tuple[Callable[[Memory, Story], object], tuple[bool, bool]]] = {
    "remember": (lambda memory, story: memory.facts.remember("something new"), (False, True)),
    "confirm": (lambda memory, story: memory.facts.confirm([story.facts["fridays"]]), (False, True)),
    "forget": (lambda memory, story: memory.facts.forget([story.facts["fridays"]]), (False, True)),
    "correct": (lambda memory, story: memory.facts.correct(story.facts["fridays"], "On Mondays"), (False, True)),
    "undo": (lambda memory, story: memory.history.undo(), (True, True)),  # of the story's last step, a link
    "decide": (lambda memory, story: memory.decisions.decide("Queue", "None"), (True, False)),
    "forget a decision": (lambda memory, story: memory.decisions.forget([story.decisions["pdf"]]), (True, False)),
    "event": (lambda memory, story: memory.events.log("gate_failed"), (True, False)),
    "checkpoint": (lambda memory, story: memory.checkpoints.take_checkpoint("now"), (True, False)),
    "iteration": (
        lambda memory, story: (memory.iterations.end_iteration(), memory.iterations.start_iteration("fix")),
        (True, False),
    ),
    "commit": (lambda memory, story: memory.commits.log("d" * 40, message="late"), (True, False)),
    "retention": (lambda memory, story: memory.events.expire("2030-01-01T00:00:00.000Z"), (True, False)),
    "as many events as went": (_replace_events, (True, False)),
    "task": (lambda memory, story: memory.tasks.add_task("no part of either list"), (True, True)),
}


@pytest.mark.parametrize("name", ACTS)
def test_only_the_list_that_a_write_concerns_is_read_again(engine: Engine, story: Story, name: str) -> None:
    """Whoever writes: sorted again, the order is that of a reading from nothing, and the other list's is kept."""
    act, expected = ACTS[name]
    first = engine.lists(VIEW)
    with story.open(NOON) as memory:
        act(memory, story)
    again = engine.lists(VIEW, last=first)
    assert kept(first, again) == expected
    true = orders(engine.lists(VIEW))
    assert orders(engine.lists(VIEW, last=again, sorted_again=True)) == true
    assert (true == orders(first)) is (expected == (True, True))


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=st.lists(st.integers(0, 2**16), min_size=1, max_size=12), hidden=st.booleans())
def test_however_one_lives_the_kept_order_is_the_true_one(
    tmp_path_factory: pytest.TempPathFactory,
    live: Callable[[Memory, Sequence[int]], None],
    plan: list[int],
    hidden: bool,
) -> None:
    """Whatever happens to a memory, one reading after another has the rows of a reading from nothing; sorted again, in
    its order."""
    folder = tmp_path_factory.mktemp("life")
    with Memory(location(folder), "cli", Clock()) as memory:
        engine = Engine(location(folder), str(folder), Clock())
        try:
            view = View(hidden=hidden)
            lists = engine.lists(view)
            for seed in plan:
                live(memory, [seed])
                lists = engine.lists(view, last=lists)
                true = engine.lists(view)
                assert [sorted(order) for order in orders(lists)] == [sorted(order) for order in orders(true)]
                assert orders(engine.lists(view, last=lists, sorted_again=True)) == orders(true)
                assert (lists.counts, lists.entries, len(lists.timeline)) == (
                    true.counts,
                    true.entries,
                    len(true.timeline),
                )
        finally:
            engine.close()


class TestTheScreen:
    async def test_another_s_decision_moves_nothing_in_the_facts(self, story: Story, person: Person) -> None:
        await person.press("j", "j", "j")
        facts = person.main.list_of("facts")
        before, key, order = person.rows, facts.cursor_key, orders(_lists(person))[0]
        with story.open() as memory:
            number = memory.decisions.decide("Queue", "None")
        person.main.lists.rested = 0.0
        person.main.poll()
        await person.settle()
        assert (person.rows, facts.cursor_key) == (before, key)
        assert orders(_lists(person))[0] is order
        await person.press("2")
        assert f"D#{number}" in person.timeline[1] and person.timeline[1][1] == "◆"

    async def test_what_others_write_waits_until_a_long_reading_has_rested(self, story: Story, person: Person) -> None:
        """Of a million rows a reading takes a second: an agent that writes all day does not keep a core busy with it.
        What the person does is shown at once."""
        main, read = person.main, orders(_lists(person))[0]
        main.lists.rested = time.monotonic() + 1_000
        with story.open() as memory:
            memory.facts.remember("An agent wrote this")
        main.poll()
        assert not main.lists.reading and orders(_lists(person))[0] is read
        await person.press("y")
        assert person.sees("An agent wrote this"), "read with what the person did"
        with story.open() as memory:
            memory.facts.remember("And this")
        main.lists.rested = 0.0
        main.poll()
        await person.settle()
        assert person.sees("And this")

    async def test_a_reading_is_followed_by_a_rest(self, monkeypatch: pytest.MonkeyPatch, person: Person) -> None:
        """As long as it took, by a clock that only a reading moves."""
        true, now = Engine.lists, [1000.0]

        def slow(*arguments: object, **named: object) -> LoadedLists:
            now[0] += 8
            return true(*arguments, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(Engine, "lists", slow)
        monkeypatch.setattr("tui.main_screen.lists.monotonic", lambda: now[0])
        person.main.reload()
        await person.settle()
        assert person.main.lists.rested == now[0] + 8 > 1008


def _lists(person: Person) -> LoadedLists:
    lists = person.main.lists.shown
    assert lists is not None
    return lists


async def test_what_is_due_is_done_where_there_is_no_git_too(tmp_path: Path) -> None:
    """Events past their retention go at the start, whether or not the memory lies in a checkout."""
    with Memory.open(
        str(tmp_path / "plain" / ".memoranda" / "memory.db"), "cli", Clock("2020-01-01T00:00:00.000Z")
    ) as old:
        old.events.log("long ago")
    async with opened(tmp_path / "plain") as person:
        assert person.main.engine is not None
        assert person.main.engine.screen.database.value("SELECT count(*) FROM events") == 0


def test_of_history_only_what_is_new_is_read(engine: Engine, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order after more steps, an undo and another actor's filter is that of a reading from nothing."""
    asked: list[int] = []
    true = History.keys
    monkeypatch.setattr(History, "keys", lambda self, **how: asked.append(how["after_seq"]) or true(self, **how))

    def order(actor: str | None = None) -> list[object]:
        rows = engine.side(View(actor=actor), ("history",))["history"]
        return [rows.key(index) for index in range(len(rows))]

    before = order()
    with story.open() as memory:
        memory.facts.remember("something new")
        memory.history.undo()
        assert order() == [len(before) + 2, len(before) + 1, *before] == list(true(memory.history))
        assert order("agent") == list(true(memory.history, actor="agent"))
    assert order() == order() and asked == [0, len(before), 0, 0, len(before) + 2]


# rows ----------------------------------------------------------------------------------------------------------------


@given(
    keys=st.lists(st.integers(0, 10**6), unique=True, max_size=40), key=st.integers(0, 10**6), near=st.integers(0, 50)
)
def test_a_key_is_found_wherever_it_is_looked_for_first(keys: list[int], key: int, near: int) -> None:
    """`near` saves time and changes nothing."""
    pages = Pages(array("q", keys), lambda numbers: {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "NEAR_ROWS", 4)
        assert pages.find_index(key, near) == (keys.index(key) if key in keys else None)
        assert [pages.find_index(each, near) for each in keys] == list(range(len(keys)))


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
        patch.setattr(rows, "KEYS_PER_CHUNK", chunk)
        keys, days = split_by_day(iter(enumerate(moments)))  # type: ignore[arg-type]
        names = [f"{datetime.fromisoformat(moment).astimezone():%a %d %b %Y}" for moment in moments]
    time.tzset()
    assert keys.tolist() == list(range(len(moments)))
    assert days == [(n, name) for n, name in enumerate(names) if n == 0 or names[n - 1] != name]


async def test_what_was_purged_elsewhere_under_the_cursor_is_told(story: Story, person: Person) -> None:
    """The list still has the row when the cursor comes to it."""
    with story.open() as memory:
        record = memory.facts.get(story.facts["language"])
        memory.purge.run_plan(memory.purge.plan([("fact", record.id)]))
    person.main.query_one(PreviewPane).follow(record)
    await person.settle()
    assert person.preview == ["It is not here any more."]


async def test_a_log_that_another_program_holds_is_told(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, with what to do; in the bar as long as it lasts; and again when it comes back."""
    monkeypatch.setattr(wal, "HELD_WAL_BYTES", 200_000)
    with Memory(story.location, "cli", Clock()) as writer, Memory(story.location, "cli", Clock()) as reader:
        async with opened(story.folder) as person:

            def told() -> bool:
                person.main.poll()
                return "log held" in f"{person.lines[0]}{person.lines[1]}"

            assert not told()
            for time_of in (1, 2):
                reader.database.connection.execute("BEGIN; SELECT count(*) FROM facts").fetchall()
                for number in range(30):
                    writer.facts.remember(f"{time_of} number {number} {'x' * 4000}")
                await person.until(lambda: told() and person.toasts)
                person.main.poll()
                said = [toast for toast in person.toasts if "close that program" in toast]
                assert len(said) == 1 and str(story.path) in said[0]
                person.app.clear_notifications()
                reader.database.connection.execute("COMMIT")
                assert writer.database.checkpoint_wal()
                await person.until(lambda: not told())
