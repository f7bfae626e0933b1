"""Plans: what a restore or an undo would do is seen first, chosen from, and then done exactly so, in one step."""

import random
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.database.tables import RECORDED
from store.errors import Conflict, NotFound
from store.memory import Memory
from store.plans import Plan
from store.search import corpus

SEEDS = st.integers(0, 2**32 - 1)
LIVES = st.lists(SEEDS, max_size=10) | st.lists(SEEDS, min_size=25, max_size=70)
LAWS = settings(deadline=None, max_examples=40, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
SHA = "a1b2c3d4" * 5
NOTES = "import:notes"


def rows(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every recorded table."""
    return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in RECORDED}


def assert_sound(memory: Memory) -> None:
    """The search index agrees with the records, and no reference leads nowhere."""
    corpus.check(memory.database)
    found = [
        row for kind in ("fact", "decision", "task") for row in memory.database.rows(f"SELECT * FROM corpus_{kind}")
    ]
    kept = memory.database.rows("SELECT * FROM corpus WHERE kind IN ('fact', 'decision', 'task')")
    assert sorted(found, key=repr) == sorted(kept, key=repr)
    assert memory.database.rows("PRAGMA foreign_key_check") == []


def shown(plan: Plan) -> list[tuple[str, str, str]]:
    return [(change.sign, change.citation, change.says) for change in plan.changes]


def some_of(plan: Plan, dice: random.Random) -> frozenset[int]:
    """A random choice that holds all that it needs."""
    chosen: frozenset[int] = frozenset()
    for index, change in enumerate(plan.changes):
        if dice.random() < 0.5 and not change.blocked:
            chosen |= plan.along(index)
    return chosen


def as_planned(memory: Memory, plan: Plan, chosen: frozenset[int]) -> None:
    """Each chosen record is what the plan said it would be, each other what it was."""
    again = rows(memory)
    for index, change in enumerate(plan.changes):
        wanted = change.then if index in chosen else change.now
        names = [name for (name,) in memory.database.rows("SELECT name FROM pragma_table_info(?)", (change.table,))]
        assert (wanted is None) or tuple(wanted[name] for name in names) in again[change.table]


# the laws -------------------------------------------------------------------------------------------------------------


@given(LIVES, LIVES, SEEDS)
@settings(LAWS)
def test_a_checkpoints_plan_is_the_way_back(live, earlier, later, seed):
    """All of it gives exactly the rows of then; any part that holds what it needs gives just that part; either is one
    step that one undo takes back exactly, and one redo brings again."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        memory.database.connection.pragma("synchronous", 0)  # what a power cut would do is no matter here
        live(memory, earlier)
        then = rows(memory)
        number = memory.checkpoints.take("then")
        live(memory, later)
        memory.database.door = "app"
        now = rows(memory)
        plan = memory.plans.checkpoint(number)
        assert (not plan.changes) == (now == then)
        for chosen in (some_of(plan, random.Random(seed)), frozenset(range(len(plan.changes)))):
            if not chosen:
                continue
            steps = len(memory.history.steps())
            applied = memory.plans.apply(plan, chosen)
            assert applied.changed == len(chosen) and applied.checkpoint is not None
            assert len(memory.history.steps()) == steps + 1
            as_planned(memory, plan, chosen)
            after = rows(memory)
            if len(chosen) == len(plan.changes):
                assert after == then
            assert_sound(memory)
            assert memory.history.undo().seq == applied.seq
            assert rows(memory) == now
            memory.history.redo()
            assert rows(memory) == after
            memory.history.undo()
            assert_sound(memory)


@given(LIVES, SEEDS)
@settings(LAWS)
def test_a_step_from_the_middle_is_taken_back_in_part_or_whole(live, life, seed):
    """Of any step, any part that is not blocked can go, clashes overwritten; undoing that undo is exact. What neither
    clashes nor is blocked is what `undo SEQ` does, and nothing else is refused by it."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        memory.database.connection.pragma("synchronous", 0)
        live(memory, life)
        steps = [step for step in memory.history.steps() if step.undone_by is None]
        for step in dice.sample(steps, min(4, len(steps))):
            before = rows(memory)
            plan = memory.plans.step(step.seq)
            chosen = some_of(plan, dice)
            if chosen:
                applied = memory.plans.apply(plan, chosen)
                as_planned(memory, plan, chosen)
                assert_sound(memory)
                assert memory.history.step(step.seq).undone_by == applied.seq
                memory.history.undo(applied.seq)
                assert rows(memory) == before
                assert memory.history.step(step.seq).undone_by is None
            whole = frozenset(range(len(plan.changes)))
            if len(whole) == step.changes and memory.plans.proposed(plan) == whole:
                memory.plans.apply(plan, whole)
                planned = rows(memory)
                memory.history.undo(memory.history.keys()[0])
                memory.history.undo(step.seq)
                assert rows(memory) == planned
                memory.history.undo(memory.history.keys()[0])
            else:
                with pytest.raises(Conflict):
                    memory.history.undo(step.seq)
            assert rows(memory) == before


@given(LIVES, st.sampled_from(("agent", "mcp:claude", "user")), SEEDS)
@settings(LAWS)
def test_all_that_an_actor_wrote_goes_but_what_others_touched(live, life, actor, seed):
    """What is proposed and done leaves no fact in force that this actor made and nobody else touched; what nobody but
    others touched is as it was; one undo brings all of it back."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        memory.database.connection.pragma("synchronous", 0)
        live(memory, life)
        memory.database.door = "app"
        if not memory.history.keys(actor=actor):
            with pytest.raises(NotFound):
                memory.plans.origin(actor)
            return
        before = rows(memory)
        touched = memory.database.rows("SELECT DISTINCT tbl, pk, actor FROM history_row JOIN history USING(seq)")
        theirs = {(table, key) for table, key, who in touched if who == actor}
        others = {(table, key) for table, key, who in touched if who != actor}
        plan = memory.plans.origin(actor)
        assert {(change.table, str(list(change.key)).replace(" ", "")) for change in plan.changes} <= theirs
        chosen = memory.plans.proposed(plan)
        if chosen:
            applied = memory.plans.apply(plan, chosen)
            as_planned(memory, plan, chosen)
        left = memory.database.rows("SELECT id FROM facts WHERE origin = ? AND status = 'active'", (actor,))
        assert all(("facts", f"[{number}]") in others for (number,) in left)
        assert_sound(memory)
        part = some_of(memory.plans.origin(actor), random.Random(seed))
        if part:
            memory.plans.apply(memory.plans.origin(actor), part)
            assert_sound(memory)
            memory.history.undo()
        if chosen:
            assert memory.history.undo().seq == applied.seq
        assert rows(memory) == before
