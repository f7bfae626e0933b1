"""Edits: rows are turned into another state all together, by as few statements as there are kinds of change, and named
where they are not what they should be."""

import pytest

from store.base.errors import Conflict
from store.history import restore_plan as rewind
from store.history.history import apply_edits
from store.history.restore_plan import Plans
from store.memory import Memory

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


class Abandoned(Exception):
    """What a test raises to leave a write undone."""


def row(memory: Memory, number: int) -> rewind.RowDict:
    key = f"[{number}]"
    return rewind.read_current_rows(memory.database, [("facts", key)])["facts", key]


def test_what_is_changed_alike_is_changed_by_one_statement(memory):
    """A restore of 300 facts in three ways: three statements, whatever each of them becomes."""
    ids = [memory.facts.remember(f"fact {number}", tags=[f"tag {number}"])[0] for number in range(300)]
    memory.checkpoints.take_checkpoint("then")
    memory.facts.pin(ids[:100])
    memory.tagging.add_tags([("fact", number) for number in ids[100:]], "theirs")
    for number in range(50):
        memory.facts.remember(f"new {number}")
    plan = Plans(memory.database).plan_checkpoint(1)
    asked: list[str] = []
    memory.database.connection.set_exec_trace(lambda *call: bool(asked.append(str(call[1]))) or True)
    Plans(memory.database).apply_plan(plan, range(len(plan.changes)))
    memory.database.connection.set_exec_trace(None)
    made = [sql.split(" FROM ")[0].split(" = ")[0] for sql in asked if sql.startswith(("UPDATE facts", "DELETE FROM"))]
    assert sorted(made) == ["DELETE", "UPDATE facts AS t SET pinned", "UPDATE facts AS t SET tags"]
    assert [fact.tags for fact in memory.facts.get_many([101, 300])] == [("tag 100",), ("tag 299",)]
    assert len(memory.facts.ids(memory.now)) == 300


def test_each_row_that_is_otherwise_is_named_and_none_is_changed(memory):
    """Of five records in one step two were changed since, one is gone and one is as it was: all three are named."""
    for number in range(5):
        memory.facts.remember(f"fact {number}")
    memory.facts.forget([1, 2, 3, 4])
    with memory.database.write("agent", "by hand") as write:
        write.execute("UPDATE facts SET status = 'contradicted' WHERE id IN (1, 3)")
        write.execute("DELETE FROM facts WHERE id = 4")
    before = memory.database.rows("SELECT * FROM facts")
    with pytest.raises(Conflict, match="alone: F#1, F#3, F#4 changed since"):
        memory.history.undo(6)
    assert memory.database.rows("SELECT * FROM facts") == before


def test_records_that_refer_to_each_other_come_and_go_in_any_order(memory):
    """Two facts in a ring, told in two forms: no order of the statements keeps the references whole on the way, and
    they are whole at the end. Half of the ring cannot go."""
    for number in range(3):
        memory.facts.remember(f"fact {number}")
    with memory.database.write("user", "ring") as write:
        write.execute("UPDATE facts SET supersedes = 3 - id WHERE id < 3")
    one, two = row(memory, 1), row(memory, 2)
    less = {name: value for name, value in one.items() if name != "tags"}  # as an older schema had it
    with pytest.raises(Abandoned), memory.database.write("user", "half") as write:
        assert apply_edits(write, [("facts", [1], one, None)]) == [("", [])]
        raise Abandoned
    for first, second in (((1, one), (2, two)), ((2, two), (1, one))):
        with memory.database.write("user", "go") as write:
            assert not apply_edits(write, [("facts", [number], state, None) for number, state in (first, second)])
        assert [fact.id for fact in memory.facts.get_many([1, 2, 3])] == [3]
        with memory.database.write("user", "come") as write:
            assert not apply_edits(write, [("facts", [1], None, less), ("facts", [2], None, two)])
        assert (row(memory, 1), row(memory, 2)) == (one, two)
    assert memory.database.rows("PRAGMA foreign_key_check") == []


def test_a_step_is_taken_back_though_the_table_has_other_columns_now(memory):
    """A column that came since takes its default, one that went is passed over: the others go back exactly."""
    memory.facts.remember("one", importance=0.25)
    memory.facts.correct(1, "two")
    memory.facts.pin([2])
    with memory.database.write("agent", "migrate") as write:
        write.execute("ALTER TABLE facts ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
        write.execute("DROP INDEX facts_pinned")  # it orders by the column that goes
        write.execute("ALTER TABLE facts DROP COLUMN importance")
    for _ in range(3):
        memory.history.undo()
    assert memory.database.rows("SELECT * FROM facts") == []
    for _ in range(3):
        memory.history.redo()
    told = memory.database.rows("SELECT id, fact, status, pinned, mood FROM facts ORDER BY id")
    assert told == [(1, "one", "superseded", 0, "calm"), (2, "two", "active", 1, "calm")]


def test_what_comes_back_is_not_cut_again(memory):
    """A text that was redacted when it was written says so once, however often it is taken away and put back."""
    memory.facts.remember(f"the token is {TOKEN}")
    for _ in range(2):
        memory.history.undo()
        memory.history.redo()
    assert memory.facts.get(1).fact == "the token is [REDACTED:GITHUB_TOKEN]"
    assert memory.database.value("SELECT sum(count) FROM redactions") == 1
