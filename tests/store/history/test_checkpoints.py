"""Checkpoints: a name for this moment, and the way back to it that can itself be taken back."""

import tempfile

import pytest
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.base.errors import Conflict, InvalidInput, NotFound
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.history.checkpoint_payload import SEALED_FIELDS, digest_checkpoint
from store.history.restore_plan import rewind_to_step
from store.memory import Memory
from store.search import fulltext as corpus

SEEDS = st.integers(0, 2**32 - 1)
PLANS = st.lists(SEEDS, max_size=10) | st.lists(SEEDS, min_size=20, max_size=60)
MANY = 2_000


def rows(memory: Memory, tables: tuple[str, ...]) -> dict[str, list[tuple[object, ...]]]:
    """Every row of these tables, in an order of their own."""
    return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


def assert_only_grown(memory: Memory, before: dict[str, list[tuple[object, ...]]]) -> None:
    """Every journal row is still there as it was; `undone_by` is the one mark that history gets later."""
    now = rows(memory, JOURNAL_TABLES)
    for tables in (before, now):
        tables["history"] = [(*row[:6], *row[7:]) for row in tables["history"]]
    for table in JOURNAL_TABLES:
        assert set(before[table]) <= set(now[table]), table


def count_changed_since(memory: Memory, number: int) -> int:
    """How many records differ from a checkpoint."""
    return len(rewind_to_step(memory.database, memory.checkpoints.get(number).seq))


@given(PLANS, PLANS)
@settings(deadline=None, max_examples=examples(5), print_blob=True, suppress_health_check=[HealthCheck.too_slow])
def test_a_restore_brings_back_exactly_that_moment(live, earlier, later):
    """Through any life before and after the checkpoint: a restore gives its recorded rows byte by byte in one step,
    after a checkpoint of its own; one undo takes it back; the journals only ever grow."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        live(memory, earlier)
        then = rows(memory, RECORDED_TABLES)
        number = memory.checkpoints.take_checkpoint("then")
        live(memory, later)
        now, journal, steps = rows(memory, RECORDED_TABLES), rows(memory, JOURNAL_TABLES), len(memory.history.steps())
        if now == then:
            with pytest.raises(Conflict, match="Nothing changed"):
                memory.checkpoints.restore(number)
            assert rows(memory, JOURNAL_TABLES) == journal
            return
        different = count_changed_since(memory, number)
        memory.database.door = "app"
        changed, before = memory.checkpoints.restore(number)
        assert rows(memory, RECORDED_TABLES) == then
        assert changed == different
        assert len(memory.history.steps()) == steps + 1
        assert memory.checkpoints.get(before).trigger == "restore"
        assert count_changed_since(memory, number) == 0
        assert count_changed_since(memory, before) == changed
        corpus.check_text_index(memory.database)
        memory.history.undo()
        assert rows(memory, RECORDED_TABLES) == now
        assert count_changed_since(memory, before) == 0
        memory.checkpoints.restore(number)
        assert rows(memory, RECORDED_TABLES) == then
        corpus.check_text_index(memory.database)
        assert_only_grown(memory, journal)


def test_a_checkpoint_is_a_name_for_this_moment(memory):
    """It names itself, who took it, when, and the step of history it stands after; it changes nothing."""
    memory.facts.remember("the team is five")
    number = memory.checkpoints.take_checkpoint("  before the move ", actor="agent")
    found = memory.checkpoints.get(number)
    assert (found.name, found.seq, found.trigger, found.origin) == ("before the move", 1, "person", "agent")
    assert found.citation == "K#1"
    assert memory.checkpoints.get(memory.checkpoints.take_checkpoint("")).name == "unnamed"
    assert [point.id for point in memory.checkpoints.list_newest_first()] == [2, 1]
    assert len(memory.history.steps()) == 1
    with pytest.raises(InvalidInput, match="200 characters"):
        memory.checkpoints.take_checkpoint("x" * 201)


def test_each_kind_of_change_goes_back(memory):
    """What came goes, what went comes, what changed changes back: facts, decisions, links and tasks."""
    memory.commits.log("a1b2c3d4" * 5)
    memory.facts.remember("stays")
    memory.facts.remember("is corrected")
    memory.decisions.decide("storage", "SQLite")
    memory.commits.link("a1b2c3d", 1)
    memory.tasks.add_task("to do")
    then = rows(memory, RECORDED_TABLES)
    memory.checkpoints.take_checkpoint("then")
    memory.facts.correct(2, "was corrected")
    memory.facts.remember("came later")
    memory.commits.unlink("a1b2c3d", 1)
    memory.decisions.correct(1, "LMDB")
    memory.commits.link("a1b2c3d", 2, "reverts")
    memory.tasks.move(1, "done")
    changed, _ = memory.checkpoints.restore(1)
    assert rows(memory, RECORDED_TABLES) == then
    assert changed == 8
    assert memory.search("later").total == 0
    assert [hit.citation for hit in memory.search("corrected").hits] == ["F#2"]


def test_the_journal_is_never_rolled_back(memory):
    """Commits, events, iterations and checkpoints made since are what happened: a restore leaves them alone."""
    memory.checkpoints.take_checkpoint("empty")
    memory.iterations.start_iteration("feature", "the move")
    memory.facts.remember("goes")
    memory.commits.log("a1b2c3d4" * 5, message="the commit stays")
    memory.events.log("gate_passed")
    memory.iterations.end_iteration()
    memory.checkpoints.take_checkpoint("later")
    before = rows(memory, JOURNAL_TABLES)
    memory.checkpoints.restore(1)
    assert_only_grown(memory, before)
    assert rows(memory, RECORDED_TABLES) == {table: [] for table in RECORDED_TABLES}
    names = [point.name for point in memory.checkpoints.list_newest_first()]
    assert names == ["before restoring K#1", "later", "empty"]
    assert memory.search("commit stays").total == 1
    memory.checkpoints.restore(2)
    assert memory.facts.get(1).fact == "goes"


def test_a_restore_says_who_did_it(memory):
    """The step and the checkpoint before it carry the actor; an agent's restore is not what `u` takes back."""
    memory.checkpoints.take_checkpoint("empty")
    memory.facts.remember("one")
    _, before = memory.checkpoints.restore(1, actor="agent")
    assert memory.checkpoints.get(before).origin == "agent"
    step = memory.history.steps(limit=1)[0]
    assert (step.actor, step.reason, step.changes) == ("agent", "restore K#1", 1)
    with pytest.raises(Conflict, match=r"Step 1 cannot .*F#1 changed since.*`undo 2`"):
        memory.history.undo()
    memory.history.undo(2)
    assert memory.facts.get(1).fact == "one"


def test_what_cannot_be_restored_says_why_and_changes_nothing(memory):
    """A checkpoint that is missing, and one since which nothing changed; neither leaves a checkpoint or a step."""
    memory.facts.remember("one")
    memory.checkpoints.take_checkpoint("now")
    for number, error, words in ((1, Conflict, r"Nothing changed since K#1\."), (7, NotFound, r"no checkpoint K#7\.")):
        with pytest.raises(error, match=words):
            memory.checkpoints.restore(number)
    memory.facts.forget([1])
    memory.history.undo()
    with pytest.raises(Conflict, match="Nothing changed"):  # changed, and changed back
        memory.checkpoints.restore(1)
    assert (len(memory.checkpoints.list_newest_first()), len(memory.history.steps())) == (1, 3)


def test_a_large_restore_is_one_step(memory):
    """Two thousand records changed, gone and come: one step brings all of them back, and one undo it if it is wrong."""
    for number in range(MANY // 2):
        memory.tasks.add_task(f"task {number}")
    then = rows(memory, RECORDED_TABLES)
    memory.checkpoints.take_checkpoint("then")
    with memory.database.write("agent", "bulk") as write:
        write.execute("UPDATE tasks SET status = 'done', text = text || ' is done'")
        same = "status, created_at, updated_at, NULL, origin, tags"
        write.execute(f"INSERT INTO tasks SELECT id + 5000, 'new', {same} FROM tasks")
    now = rows(memory, RECORDED_TABLES)
    changed, before = memory.checkpoints.restore(1)
    assert (changed, rows(memory, RECORDED_TABLES)) == (MANY, then)
    assert memory.history.steps(limit=1)[0].changes == MANY
    assert memory.search("new", kinds=["task"]).total == 0
    corpus.check_text_index(memory.database)
    memory.history.undo()
    assert rows(memory, RECORDED_TABLES) == now
    assert count_changed_since(memory, before) == 0


def test_one_that_is_removed_leaves_every_step(memory: Memory) -> None:
    memory.facts.remember("uses tabs")
    number = memory.checkpoints.take_checkpoint("by mistake")
    before = memory.history.steps()
    with pytest.raises(NotFound):
        memory.checkpoints.remove(number, 99)
    assert [one.id for one in memory.checkpoints.list_newest_first()] == [number], "all or none"
    memory.checkpoints.remove(number)
    assert memory.checkpoints.list_newest_first() == [] and memory.history.steps() == before
    assert memory.search("mistake").hits == []
    with pytest.raises(NotFound):
        memory.checkpoints.remove(number)


def test_a_checkpoint_is_sealed_as_it_is_taken(memory: Memory) -> None:
    number = memory.checkpoints.take_checkpoint("a title")
    sql = f"SELECT {SEALED_FIELDS}, digest FROM checkpoints WHERE id = ?"
    ((text, digest),) = memory.database.rows(sql, (number,))
    assert digest == digest_checkpoint(text)


def test_before_many_records_are_changed_one_is_taken_and_named_after_the_act(memory: Memory):
    assert memory.checkpoints.take_before("forget 10 facts", 10) is None
    assert memory.checkpoints.list_newest_first() == []
    number = memory.checkpoints.take_before("forget 11 facts", 11)
    assert number is not None and memory.checkpoints.get(number).name == "before: forget 11 facts"
    long = memory.checkpoints.take_before("x" * 500, 11)
    assert long is not None and len(memory.checkpoints.get(long).name) == 200


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", "1 new fact, 1 fact forgotten since K#1"),
        ("undo", "1 new fact since K#1"),
        ("undo redo", "1 new fact, 1 fact forgotten since K#1"),
        ("undo redo undo", "1 new fact since K#1"),
        ("undo undo", "nothing new since K#1"),
    ],
)
def test_it_says_what_stands_of_what_changed_and_not_what_was_undone(memory: Memory, after: str, expected: str):
    memory.facts.remember("invoices are numbered by year")
    memory.checkpoints.take_checkpoint("before")
    memory.facts.remember("studios open at ten")
    memory.facts.forget([1])
    for act in after.split():
        getattr(memory.history, act)()
    assert memory.checkpoints.recover(memory.checkpoints.take_checkpoint("after")).held.changed == expected
