"""The past: a memory as it stood is what was there, byte by byte, can be asked like the memory of today, and never
changes. Compared with what a test remembered of each moment while it lived through it."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import pytest
from conftest import Clock, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from store.base.errors import Conflict, InvalidInput, NotFound, PastIsReadOnly
from store.history.restore_plan import Plans
from store.memory import Memory
from store.records.facts import FACT_SORTS
from store.upkeep.as_of import PastMemory, point_in_time, read_past
from tests.store.history.test_history import LAWS, PLANS, SEEDS, State, recorded

Live = Callable[[Memory, Sequence[int]], None]
JOURNAL = ("iterations", "commits", "events", "checkpoints", "turns")


def view(memory: Memory, now: str) -> dict[str, Any]:
    """All that can be asked of a memory at a moment, but for searches."""
    facts, statuses = memory.facts, ("active", "superseded", "forgotten")
    return {
        "recorded": recorded(memory),
        **{table: memory.database.rows(f"SELECT * FROM {table} ORDER BY id") for table in JOURNAL},
        "steps": memory.history.steps(),
        "orders": [facts.ids(now, statuses=statuses, sort=sort) for sort in FACT_SORTS],
        "counts": facts.count_by_state(now),
        "chains": [facts.chain(number) for number in facts.ids(now, statuses=statuses)],
        "timeline": list(memory.timeline.stream()),
        "tasks": memory.tasks.ids(statuses=("pending", "in_progress", "done")),
        "changes": [memory.history.changes(step.seq) for step in memory.history.steps()],
    }


@contextmanager
def as_of(memory: Memory, text: str) -> Iterator[PastMemory]:
    past = read_past(memory, point_in_time(memory, text))
    with PastMemory(memory.location, "cli", past) as then:
        assert isinstance(then, PastMemory)
        yield then


@contextmanager
def remembered(live: Live, plan: Sequence[int]) -> Iterator[tuple[Memory, list[tuple[str, dict[str, Any]]]]]:
    """A memory that lived through a plan, now and then taking a step back, and what it was at each moment."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", Clock()) as memory:
        memory.database.connection.pragma("synchronous", 0)
        moments = []
        for seed in plan:
            steps = memory.history.steps()
            if steps and seed % 5 == 0:
                with _refusals():
                    memory.history.undo(steps[seed % len(steps)].seq)
            else:
                live(memory, [seed])
            now = memory.now
            moments.append((now, view(memory, now)))
        yield memory, moments


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except (Conflict, NotFound):
        pass


# the laws -------------------------------------------------------------------------------------------------------------


@given(PLANS)
@settings(LAWS, max_examples=examples(2))
def test_as_of_any_moment_is_what_it_was(live: Live, plan: list[int]):
    """Every row of every recorded table with its types, the journal up to then, history, orders, counts, ages, chains
    and the timeline: as each was remembered at that moment."""
    with remembered(live, plan) as (memory, moments):
        for at, then_was in moments[:: max(1, len(moments) // 12)]:
            with as_of(memory, at) as then:
                assert then.now == at
                found = view(then, at)
                for name, value in then_was.items():
                    assert found[name] == value, name


@given(PLANS, st.integers(0, 2**16), st.integers(0, 2**16))
@settings(LAWS, max_examples=examples(2))
def test_a_diff_is_the_comparison_of_two_views(live: Live, plan: list[int], one: int, other: int):
    """Record by record, whichever of the two comes first; and nothing that is the same in both."""
    with remembered(live, plan) as (memory, _):
        steps = len(memory.history.steps())
        start, end = one % (steps + 1), other % (steps + 1)
        before, after = (_state(memory, seq) for seq in (start, end))
        plan_between = Plans(memory.database).plan_between(start, end)
        pairs = {key: (before.get(key), after.get(key)) for key in before.keys() | after.keys()}
        different = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
        assert {(c.table, c.key): (c.then, c.now) for c in plan_between.changes} == different
        assert all(change.by is not None and change.by.seq <= max(start, end) for change in plan_between.changes)
        newest = Plans(memory.database).plan_since(start).changes
        between = Plans(memory.database).plan_between(start, steps).changes
        assert {(c.table, c.key) for c in newest} == {(c.table, c.key) for c in between}


def _state(memory: Memory, seq: int) -> dict[tuple[str, tuple[Any, ...]], dict[str, Any]]:
    """The recorded rows after a step, by what the view of it says."""
    state: State = {}
    if seq:
        with as_of(memory, str(seq)) as then:
            state = recorded(then)
    return {key: {name: value for name, (_, value) in row.items()} for key, row in state.items()}


@given(PLANS, st.lists(SEEDS, min_size=20, max_size=40))
@settings(LAWS, max_examples=examples(2))
def test_nothing_can_be_changed_in_the_past(live: Live, plan: list[int], more: list[int]):
    """Every public writer refuses, and the file is what it was."""
    with remembered(live, plan) as (memory, moments):
        if not moments:
            return
        before = view(memory, moments[-1][0])
        with as_of(memory, moments[len(moments) // 2][0]) as then:
            live(then, more)  # asserts that a refused act leaves no step
            with pytest.raises(PastIsReadOnly, match="esc comes back to now"):
                then.facts.remember("one more")
            inserted = "INSERT INTO main.queries(text, at) VALUES ('a', 'b')"
            for sql in ("DELETE FROM main.facts", inserted, "DROP TABLE main.facts"):
                with pytest.raises(apsw.ReadOnlyError):
                    then.database.connection.execute(sql)
        assert view(memory, moments[-1][0]) == before


# the stories ----------------------------------------------------------------------------------------------------------


def test_ages_are_counted_to_the_moment_that_is_looked_at(memory, clock):
    """A fact that is stale today was fresh when it was said, and says so in the view of that day."""
    memory.facts.remember("deploys on Fridays", confidence="medium")
    clock.advance(days=130)
    assert memory.facts.count_by_state(memory.now)["stale"] == 1
    for moment, age in (("125d", "fresh"), ("60d", "aging")):
        with as_of(memory, moment) as then:
            assert then.facts.count_by_state(then.now)[age] == 1


def test_of_many_changes_the_one_that_came_next_tells_what_was(memory):
    """The same column again and again, alone and with another: what it held is what the next change found there."""
    memory.tasks.add_task("text 1")
    for number in range(2, 6):
        memory.tasks.correct(1, f"text {number}")
        memory.tasks.move(1, "done" if number % 2 else "in_progress")
    held = []
    for step in range(1, 10):
        with as_of(memory, str(step)) as then:
            held.append((then.tasks.get(1).text[-1], then.tasks.get(1).status))
        (change,) = Plans(memory.database).plan_between(step - 1, step).changes
        assert change.now["text"][-1] == held[-1][0] and change.now["status"] == held[-1][1]
    places = ("pending", "in_progress", "done", "in_progress", "done")
    moved = [(str(number), places[number - back]) for number in range(2, 6) for back in (2, 1)]
    assert held == [("1", "pending"), *moved]


def test_search_finds_what_was_said_then(memory, clock):
    """The words of then, not those of now; as far as it was known; and it says that words alone were looked for."""
    memory.facts.remember("el equipo es de cinco")
    memory.tasks.add_task("buy tea")
    clock.advance(days=1)
    memory.tasks.correct(1, "buy coffee")
    memory.facts.correct(1, "el equipo es de seis")
    memory.facts.remember("nobody knew this yet")
    with as_of(memory, "12h") as then:
        assert [hit.citation for hit in then.search("tea").hits] == ["A#1"]
        assert [hit.record.status for hit in then.search("equipo cinco").hits] == ["active"]
        assert then.search("coffee").total == then.search("knew").total == 0
        assert then.search("tea").notes == ["in the past: by words alone, not in documents"]
    assert [hit.citation for hit in memory.search("coffee").hits] == ["A#1"]


def test_what_ended_later_was_under_way(memory, clock):
    """An iteration had no end yet, and a step was still in force."""
    memory.iterations.start_iteration("fix", "rounding")
    memory.facts.remember("one")
    clock.advance(days=1)
    memory.iterations.end_iteration(artifacts=["a.py"])
    memory.history.undo()
    with as_of(memory, "1h") as then:
        iteration = then.iterations.get(1)
        assert (iteration.status, iteration.completed_at, iteration.artifacts) == ("active", None, ())
        assert then.history.get(1).undone_by is None
        assert then.facts.get(1).fact == "one"


def test_a_moment_is_a_time_a_step_a_checkpoint_or_a_record(memory, clock):
    """However it is named, it is the state just then: a time includes what happened at it."""
    memory.facts.remember("one")
    clock.advance(days=1)
    memory.facts.remember("two")
    memory.checkpoints.take_checkpoint("two facts")
    clock.advance(days=1)
    memory.decisions.decide("three", "now")
    memory.facts.remember("four")
    texts = ("1", "K#1", "F#2", "D#1", "36h", "3d", "12h", "now", "today")
    seqs = {text: point_in_time(memory, text).seq for text in texts}
    assert seqs == {"1": 1, "K#1": 2, "F#2": 2, "D#1": 3, "36h": 1, "3d": 0, "12h": 2, "now": 4, "today": 2}
    assert "“two facts”" in point_in_time(memory, "K#1").words
    with as_of(memory, "3d") as then:
        assert then.facts.ids(then.now) == [] and then.history.steps() == []
    for text, error in (("2999-01-01", InvalidInput), ("whenever", InvalidInput), ("P#1", NotFound)):
        with pytest.raises(error):
            point_in_time(memory, text)
    for text in ("0", "5", "K#2", "F#9"):
        with pytest.raises(NotFound):
            point_in_time(memory, text)


def test_the_past_stands_still_while_others_write(memory, clock):
    """What is looked at was read once: a later write changes nothing of it, and leaves no trace in it."""
    memory.facts.remember("one")
    clock.advance(days=1)
    with as_of(memory, "1h") as then:
        memory.facts.correct(1, "two")
        memory.events.log("gate_passed")
        assert [fact.fact for fact in then.facts.get_many([1, 2])] == ["one"]
        assert [step.seq for step in then.history.steps()] == [1]
        assert list(then.timeline.stream()) == []
    assert memory.facts.get(2).fact == "two"


def test_what_had_changed_by_then_is_told_there_too(memory):
    """As the preview of a checkpoint says it: up to the moment that is looked at, and not since."""
    for text in ("one", "two", "three"):
        memory.facts.remember(text)
    with as_of(memory, "2") as then:
        assert [change.citation for change in Plans(then.database).plan_since(1).changes] == ["F#2"]


def test_looking_back_leaves_the_connection_as_it_was(memory):
    """Foreign keys stay on, nothing stays attached, and the next write is one."""
    memory.facts.remember("one")
    with as_of(memory, "1"):
        pass
    connection = memory.database.connection
    assert connection.pragma("foreign_keys") == 1 and connection.pragma("query_only") == 0
    assert {name for _, name, _ in connection.execute("PRAGMA database_list")} <= {"main", "temp"}
    assert memory.facts.remember("two") == (2, True)
