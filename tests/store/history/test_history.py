"""History: every change is kept, and every change can be taken back, exactly or not at all.

The laws are checked against a second, slower account of what an undo is (`inverse` below), written without the
session extension, and against digests recomputed from their formulas.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import pytest
from conftest import examples
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from store.base.errors import Conflict, NotFound
from store.base.models import Step
from store.base.vocabulary import KIND_NUMBERS
from store.database.database import Transaction
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES
from store.database.values import Json
from store.history.compression import every_row_view
from store.history.history import MANUAL_STEPS_SQL, NEXT_REDO_SQL
from store.memory import Memory
from store.records.facts import insert_fact
from store.search import fulltext as corpus

KEYS = {**dict.fromkeys(RECORDED_TABLES, ("id",)), "commit_links": ("commit_id", "decision_id"), "mutes": ("fact_id",)}
PARENTS = {"commit_links": ("decision_id", "decisions")} | {one: ("supersedes", one) for one in ("facts", "decisions")}
QUERIES = ("team", "deploys fridays", "José prefiere", "choose", "line", "kind:task", "is:superseded", "evil")
SEEDS = st.integers(0, 2**32 - 1)
PLANS = st.lists(SEEDS, max_size=10) | st.lists(SEEDS, min_size=30, max_size=90)  # lists alone stay short
LAWS = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])

Row = dict[str, tuple[str, Any]]  # column → (SQLite's type, value)
State = dict[tuple[str, tuple[Any, ...]], Row]


# reading a memory without its own code --------------------------------------------------------------------------------


def recorded(memory: Memory) -> State:
    """Every row of every recorded table, column by column, each value with its type."""
    state: State = {}
    for table in RECORDED_TABLES:
        names = [name for (name,) in memory.database.rows("SELECT name FROM pragma_table_info(?)", (table,))]
        values = ", ".join(f"typeof({name}), {name}" for name in names)
        for row in memory.database.rows(f"SELECT {values} FROM {table}"):
            cells = dict(zip(names, zip(row[::2], row[1::2], strict=True), strict=True))
            state[table, tuple(cells[key][1] for key in KEYS[table])] = cells
    return state


def journal(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the journal tables but history's own, which every step adds to."""
    tables = [table for table in JOURNAL_TABLES if not table.startswith("history")]
    return {table: memory.database.rows(f"SELECT * FROM {table} ORDER BY id") for table in tables}


def answers(memory: Memory) -> list[list[tuple[str, str, float]]]:
    """What a few searches find, in order."""
    return [[(hit.citation, hit.snippet, hit.score) for hit in memory.search(query).hits] for query in QUERIES]


def assert_index_agrees(memory: Memory) -> None:
    """The corpus is what a rebuild from the records would make, row by row, and FTS5 finds its index in order."""
    whole = " UNION ALL ".join(f"SELECT * FROM corpus_{kind}" for kind in KIND_NUMBERS)
    assert memory.database.rows("SELECT * FROM corpus ORDER BY id") == memory.database.rows(f"{whole} ORDER BY id")
    corpus.check_text_index(memory.database)


def newest(memory: Memory) -> int:
    return memory.history.steps(limit=1)[0].seq


def inverse(state: State, memory: Memory, seq: int) -> State | None:
    """What the recorded tables are once step `seq` is taken back, worked out by hand; None if a later change or a
    reference stands in the way."""
    result = dict(state)
    source = every_row_view(memory.database)
    rows = memory.database.rows(f"SELECT tbl, pk, op, before, after FROM {source} WHERE seq = ?", (seq,))
    for table, pk, op, before_text, after_text in rows:
        key = table, tuple(json.loads(pk))
        before, after = json.loads(before_text or "null"), json.loads(after_text or "null")
        now = result.get(key)
        if op == "DELETE":
            if now is not None:
                return None
            result[key] = {name: (_type(value), value) for name, value in before.items()}
        elif now is None or any(now[name][1] != value for name, value in after.items()):
            return None
        elif op == "INSERT":
            del result[key]
        else:
            result[key] = now | {name: (_type(value), value) for name, value in before.items()}
    for (table, _), row in result.items():
        column, parent = PARENTS.get(table, ("", ""))
        if column and row[column][1] is not None and (parent, (row[column][1],)) not in result:
            return None
    return result


def due(memory: Memory) -> int | None:
    """The step that `undo` without a number takes back, worked out from what it should be: the newest in force that a
    person made by hand, but no undo of what was the newest of theirs then, and no redo."""
    steps = {step.seq: step for step in memory.history.steps()}
    mine = {seq: step for seq, step in steps.items() if step.actor == "user" and step.door in ("app", "cli")}

    def counted(later: Step, done: Step) -> bool:
        return later.undoes is None and (later.undone_by is None or later.undone_by > done.seq)

    for done in mine.values():
        target = steps.get(done.undoes or 0)
        if done.undone_by is not None or (target is not None and target.undoes is not None):
            continue
        if target is None or target.seq not in mine:
            return done.seq
        if any(target.seq < later.seq < done.seq and counted(later, done) for later in mine.values()):
            return done.seq
    return None


def _type(value: object) -> str:
    return {int: "integer", float: "real", str: "text", type(None): "null"}[type(value)]


def framed(values: Sequence[object]) -> bytes:
    """Each value as its length in bytes, a colon and its text; a dash for none."""
    texts = [None if value is None else str(value).encode() for value in values]
    return b"".join(b"-" if text is None else str(len(text)).encode() + b":" + text for text in texts)


def broken_digests(memory: Memory) -> list[int]:
    """The steps whose leaves, root or digest are not what HISTORY.md says they are, recomputed from the rows."""
    broken, previous = [], b""
    for seq, at, actor, door, reason, undoes, changes, root, digest in memory.database.rows(
        "SELECT seq, at, actor, door, reason, undoes, changes, rows_root, digest FROM history ORDER BY seq"
    ):
        leaves = hashlib.sha256()
        count = 0
        for salt, leaf, *row in memory.database.rows(
            "SELECT salt, leaf, tbl, pk, op, indirect, before, after FROM history_row WHERE seq = ? ORDER BY n", (seq,)
        ):
            if leaf != hashlib.sha256(salt + framed(row)).digest():
                broken.append(seq)
            leaves.update(leaf)
            count += 1
        header = framed([seq, at, actor, door, reason, undoes, changes])
        if (root, digest, count) != (leaves.digest(), hashlib.sha256(previous + header + root).digest(), changes):
            broken.append(seq)
        previous = digest
    return broken


@contextmanager
def lived(live: Callable[[Memory, Sequence[int]], None], plan: Sequence[int]) -> Iterator[tuple[Memory, list[State]]]:
    """A memory that has lived through a plan, and its recorded state after each step: states[seq]."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        states = [recorded(memory)]
        for seed in plan:
            live(memory, [seed])
            now = recorded(memory)
            if len(memory.history.steps()) == len(states):
                states.append(now)
            assert states[-1] == now, "a recorded table changed without a step"
        note(f"{len(states) - 1} steps")
        yield memory, states


# the laws -------------------------------------------------------------------------------------------------------------


@given(PLANS)
@settings(LAWS, max_examples=examples(5))
def test_undoing_everything_is_the_start_and_redoing_everything_is_the_end(live, plan):
    """Through any life: each step taken back, newest first, gives exactly the state before it, to the empty start;
    each put back gives the state after it, to the end. Searches answer at the end as they did; the journals, which
    are never rolled back, did not move; the chain of digests holds throughout."""
    with lived(live, plan) as (memory, states):
        last = len(states) - 1
        kept, found = journal(memory), answers(memory)
        for seq in range(last, 0, -1):
            memory.history.undo(seq)
            assert recorded(memory) == states[seq - 1], f"undo of {seq}"
        assert recorded(memory) == {}
        assert_index_agrees(memory)
        assert journal(memory) == kept
        for seq in range(1, last + 1):
            memory.history.undo(newest_undo_of(memory, seq))
            assert recorded(memory) == states[seq], f"redo of {seq}"
        assert_index_agrees(memory)
        assert journal(memory) == kept
        assert answers(memory) == found
        assert broken_digests(memory) == []


def newest_undo_of(memory: Memory, seq: int) -> int:
    """The step in force that took `seq` back."""
    taken_by = memory.history.get(seq).undone_by
    assert taken_by is not None
    return taken_by


@given(PLANS, st.lists(st.tuples(st.booleans(), st.integers(1, 8)), max_size=8))
@settings(LAWS, max_examples=examples(5))
def test_any_walk_up_and_down_one_persons_steps_is_exact(live, plan, walk):
    """`undo` and `redo` without a number, any number of times: the memory is where the walk is, and at either end
    they say that there is no further."""
    with lived(live, plan) as (memory, states):
        with memory.database.write("user", "make every step a person's, by hand") as write:
            write.execute("UPDATE history SET actor = 'user', door = 'cli'")
        memory.database.door = "app"
        kept = journal(memory)
        place = last = len(states) - 1
        for back, distance in walk:
            for _ in range(distance):
                if place == (0 if back else last):
                    with pytest.raises(NotFound):
                        memory.history.undo() if back else memory.history.redo()
                    continue
                step = memory.history.undo() if back else memory.history.redo()
                assert step.seq == (place if back else place + 1)
                place += -1 if back else 1
                assert recorded(memory) == states[place]
        assert_index_agrees(memory)
        assert journal(memory) == kept


@given(
    st.lists(
        st.sampled_from(("change", "change", "undo", "undo", "redo", "redo", "undo redo", "agent"))
        | st.tuples(st.just("undo"), st.integers(0, 40)),
        min_size=4,
        max_size=24,
    )
)
@settings(LAWS, max_examples=examples(5))
def test_redo_is_a_stack_of_what_was_undone(acts):
    """What redo puts back is what the last undo took, whatever that was: a change, an old one, somebody else's, an undo
    or a redo. A change by hand empties the stack, an undo that is undone leaves it, and redo goes on, never back."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db") as memory:
        turned: dict[int, tuple[int, bool]] = {}  # step → the fact that it brings, and whether it brings or takes it
        there: set[int] = set()
        stack: list[int] = []  # undos

        def turn(step: int, target: int) -> None:
            fact, brings = turned[target]
            turned[step] = fact, not brings
            (there.discard if brings else there.add)(fact)

        def undo(seq: int | None) -> None:
            try:
                taken = memory.history.undo(seq).seq
            except (NotFound, Conflict):
                return
            turn(newest(memory), taken)
            if taken in stack:
                stack.remove(taken)
            stack.append(newest(memory))

        def redo() -> None:
            if not stack:
                with pytest.raises(NotFound, match="nothing to redo"):
                    memory.history.redo()
                return
            put_back = memory.history.get(stack[-1]).undoes
            assert memory.history.redo().seq == put_back
            turn(newest(memory), stack.pop())

        for number, act in enumerate(acts):
            match act:
                case "change" | "agent":
                    fact, _ = memory.facts.remember(f"fact {number}", actor="user" if act == "change" else "agent")
                    turned[newest(memory)] = fact, True
                    there.add(fact)
                    if act == "change":
                        stack.clear()
                case "undo":
                    undo(None)
                case "redo":
                    redo()
                case "undo redo":
                    undo(None)
                    redo()
                case (_, seq):
                    undo(seq)
            assert {number for (number,) in memory.database.rows("SELECT id FROM facts")} == there, act


class UndoInAnyOrder(RuleBasedStateMachine):
    """People and agents change things, and steps are taken back in any order, undos too: each time the result is
    exactly the inverse, or a Conflict and nothing has changed."""

    live: Callable[[Memory, Sequence[int]], None]  # set by the test below

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.memory = Memory.open(f"{self.folder.name}/memory.db")

    @rule(seeds=st.lists(SEEDS, min_size=8, max_size=20))
    def act(self, seeds: list[int]) -> None:
        kept = len(self.memory.history.steps())
        before = recorded(self.memory)
        type(self).live(self.memory, seeds)
        assert len(self.memory.history.steps()) > kept or recorded(self.memory) == before

    @precondition(lambda self: self.memory.history.steps(limit=1))
    @rule(places=st.lists(st.integers(0, 2**16), min_size=3, max_size=12), actor=st.sampled_from(("user", "agent")))
    def take_back_several(self, places: list[int], actor: str) -> None:
        for place in places:
            steps = self.memory.history.steps()
            self.take_back(steps[place % len(steps)], actor)

    def take_back(self, step: Step, actor: str) -> None:
        steps = self.memory.history.steps()
        before, kept = recorded(self.memory), journal(self.memory)
        expected = None if step.undone_by else inverse(before, self.memory, step.seq)
        if expected is None:
            with pytest.raises(Conflict):
                self.memory.history.undo(step.seq, actor=actor)
            assert recorded(self.memory) == before
            assert self.memory.history.steps() == steps
        else:
            assert self.memory.history.undo(step.seq, actor=actor).seq == step.seq
            assert recorded(self.memory) == expected
            assert self.memory.history.get(step.seq).undone_by == newest(self.memory)
        assert journal(self.memory) == kept

    @rule(back=st.booleans())
    def step_back_or_forth(self, back: bool) -> None:
        """The keys `u` and redo: what they choose is exact as well, or they refuse."""
        before = recorded(self.memory)
        steps = self.memory.history.steps()
        expected = due(self.memory)
        self.memory.database.door = "app"
        try:
            self.memory.history.undo() if back else self.memory.history.redo()
        except (NotFound, Conflict) as refusal:
            assert not back or isinstance(refusal, NotFound) == (expected is None)
            assert recorded(self.memory) == before
            assert self.memory.history.steps() == steps
        else:
            undone = self.memory.history.steps(limit=1)[0].undoes
            assert undone is not None and (not back or undone == expected)
            assert recorded(self.memory) == inverse(before, self.memory, undone)

    @invariant()
    def the_corpus_follows(self) -> None:
        if hasattr(self, "memory"):
            assert_index_agrees(self.memory)
            assert self.memory.database.rows("PRAGMA foreign_key_check") == []

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            try:
                assert broken_digests(self.memory) == []
                assert self.memory.database.connection.pragma("quick_check") == "ok"
            finally:
                self.memory.close()
                self.folder.cleanup()


def test_undo_in_any_order_is_exact_or_refused(live):
    """The machine above, told how to live."""
    from hypothesis.stateful import run_state_machine_as_test

    UndoInAnyOrder.live = staticmethod(live)
    run_state_machine_as_test(UndoInAnyOrder, settings=settings(LAWS, max_examples=examples(4), stateful_step_count=25))


# the stories ----------------------------------------------------------------------------------------------------------


def test_a_correction_taken_back_and_put_back(memory):
    """The commonest story: remember, correct, undo, redo. The old fact is active again, then superseded again."""
    memory.facts.remember("the team is five")
    memory.facts.correct(1, "the team is six")
    assert memory.history.undo().reason == "correct F#1"
    assert memory.facts.get(1).status == "active"
    with pytest.raises(NotFound):
        memory.facts.get(2)
    assert memory.search("six").total == 0
    step = memory.history.redo()
    assert step.reason == "correct F#1" and step.undone_by is None
    assert (memory.facts.get(1).status, memory.facts.get(2).fact) == ("superseded", "the team is six")
    assert memory.history.steps(limit=1)[0].reason == "redo 2"


def test_undo_takes_back_what_a_person_did_by_hand(memory):
    """`u` means my own last change: neither an agent's, nor what a hook, an agent's client or the worker did."""
    memory.facts.remember("mine", actor="user")
    memory.facts.remember("an agent's", actor="agent")
    for door in ("mcp", "hook", "worker"):
        memory.database.door = door
        memory.facts.remember(f"through {door}", actor="user")
    memory.database.door = "app"
    memory.facts.remember("imported", actor="import:notes")
    assert memory.history.undo().reason == "remember F#1"
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.history.undo()
    assert [fact.id for fact in memory.facts.get_many(range(1, 8))] == [2, 3, 4, 5, 6]


def bring(write: Transaction, text: str) -> None:
    known = {"domain": "general", "confidence": "high", "source": "explicit", "evidence": Json([])}
    insert_fact(write, text, origin="import:notes", **known)


@pytest.mark.parametrize("door, imported", [("cli", True), ("app", True), ("mcp", False)])
def test_an_import_that_a_person_asked_for_is_undone_as_theirs(memory, door, imported):
    """It is written by what was brought in. Undone and redone like any step, between their own ones; not an agent's."""
    memory.database.door = "cli"
    memory.facts.remember("mine")
    memory.database.door = door
    with memory.database.write("import:notes", "import 1 of notes") as write:
        bring(write, "brought in")
    memory.database.door = "cli"
    assert memory.history.next_undo() == (2 if imported else 1)
    memory.facts.remember("mine later")
    undone = [memory.history.undo().seq for _ in range(3 if imported else 2)]
    assert undone == [3, 2, 1] if imported else undone == [3, 1]
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.history.undo()
    assert [memory.history.redo().seq for _ in undone] == undone[::-1]
    memory.history.undo(3)
    memory.database.door = door
    with memory.database.write("import:notes", "import") as write:
        bring(write, "more")
    memory.database.door = "cli"
    if imported:
        with pytest.raises(NotFound, match="Redo works until the next change"):
            memory.history.redo()
    else:
        assert memory.history.redo().seq == 3


def test_another_actors_step_is_undone_by_its_number(memory):
    """From the history pane anyone's step can be taken back; the new step says who did that, and it can be redone."""
    memory.facts.remember("an agent's", actor="agent")
    memory.facts.remember("mine")
    memory.history.undo(1)
    assert memory.facts.get_many([1, 2])[0].id == 2
    step = memory.history.steps(limit=1)[0]
    assert (step.actor, step.undoes, step.reason) == ("user", 1, "undo 1")
    assert memory.history.redo().seq == 1
    assert memory.facts.get(1).origin == "agent"


def test_a_person_who_wrote_nothing_can_undo_and_redo_an_agents_step(memory):
    """In a memory that only agents filled, redo knows what the person's undo took."""
    memory.facts.remember("an agent's", actor="agent")
    memory.history.undo(1)
    assert memory.history.redo().seq == 1
    assert memory.facts.get(1).fact == "an agent's"
    with pytest.raises(NotFound, match="nothing to redo"):
        memory.history.redo()


def test_redo_lasts_until_the_next_change(memory):
    """After something new the undone step is no longer offered by redo; its number still brings it back."""
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.history.undo()
    memory.facts.remember("three")
    with pytest.raises(NotFound, match="nothing to redo"):
        memory.history.redo()
    memory.history.undo(newest_undo_of(memory, 2))
    assert memory.facts.get(2).fact == "two"


def test_an_agents_change_in_between_does_not_take_redo_away(memory):
    """Only what a person changes by hand ends the redo: an agent at work must not spoil it."""
    memory.facts.remember("one")
    memory.history.undo()
    memory.facts.remember("an agent's", actor="agent")
    assert memory.history.redo().reason == "remember F#1"


def test_redo_after_an_undone_undo_puts_that_undo_back(memory):
    """Not the step that an undo before it took."""
    for text in ("one", "two", "three"):
        memory.facts.remember(text)
    memory.history.undo()
    memory.history.undo(1)
    assert memory.history.undo().reason == "undo 1"
    assert memory.history.redo().reason == "undo 1"
    assert [fact.fact for fact in memory.facts.get_many([1, 2, 3])] == ["two"]
    assert memory.history.redo().reason == "remember F#3"
    with pytest.raises(NotFound):
        memory.history.redo()


def test_a_restore_is_undone_and_redone_like_any_step(memory):
    """Undo after a restore gives the memory before it; redo restores again."""
    memory.facts.remember("one")
    memory.checkpoints.take_checkpoint("early")
    memory.facts.remember("two")
    memory.facts.forget([1])
    late = recorded(memory)
    memory.checkpoints.restore(1)
    early = recorded(memory)
    assert memory.history.undo().reason == "restore K#1"
    assert recorded(memory) == late
    assert memory.history.redo().reason == "restore K#1"
    assert recorded(memory) == early


def test_an_undone_step_cannot_be_undone_again(memory):
    """It says which step took it back; once that one is undone itself, the step is in force and can go again."""
    memory.facts.remember("one")
    memory.history.undo(1)
    with pytest.raises(Conflict, match=r"Step 1 is already undone, by step 2\..*Redo"):
        memory.history.undo(1)
    memory.history.undo(2)
    assert memory.history.get(1).undone_by is None
    memory.history.undo(1)
    assert memory.facts.get_many([1]) == []
    with pytest.raises(NotFound, match="no step 99"):
        memory.history.undo(99)


def test_a_refused_undo_names_what_stands_in_the_way(memory):
    """The record that changed since, and the later steps still in force, newest first, as commands to type."""
    memory.facts.remember("one")
    memory.facts.pin([1])
    memory.facts.forget([1])
    memory.history.undo(3)
    memory.facts.confirm([1])
    before = recorded(memory)
    with pytest.raises(Conflict) as caught:
        memory.history.undo(1)
    assert str(caught.value) == (
        "Step 1 cannot be undone alone: F#1 changed since. Undo the later steps first: `undo 5` `undo 2`."
        " Or look with `undo 1 --dry-run`, and undo it although it changed: `undo 1 --overwrite F#1`."
    )
    assert recorded(memory) == before
    for seq in (5, 2, 1):
        memory.history.undo(seq)
    assert recorded(memory) == {}


def test_a_decision_that_a_link_refers_to_names_the_link(memory):
    """Taking the decision back would leave the link pointing at nothing: refused, and the step of the link that is
    there is named, not that of one which was taken back, and how both go."""
    memory.commits.log("a1b2c3d4" * 5)
    memory.decisions.decide("storage", "SQLite")
    memory.commits.link("a1b2c3d", 1)
    memory.history.undo(2)
    memory.commits.link("a1b2c3d", 1, "relates")
    before = recorded(memory)
    with pytest.raises(Conflict) as caught:
        memory.history.undo(1)
    assert str(caught.value) == (
        "Step 1 cannot be undone alone: a commit was linked to D#1 since. Undo the later steps first: `undo 4`."
        " Or look with `undo 1 --dry-run`, and undo it with its link: `undo 1 --overwrite D#1`."
    )
    assert recorded(memory) == before
    memory.history.undo(4)
    memory.history.undo(1)
    assert recorded(memory) == {}


def test_steps_that_do_not_meet_are_undone_in_any_order(memory):
    """Two columns of one record changed by two steps: the older goes back alone, the newer stays."""
    memory.facts.remember("one")
    memory.facts.pin([1])
    memory.facts.confirm([1])
    confirmed = memory.facts.get(1).last_confirmed_at
    memory.history.undo(2)
    fact = memory.facts.get(1)
    assert (fact.pinned, fact.last_confirmed_at) == (False, confirmed)


def test_a_step_tells_what_it_changed(memory):
    """Each row by name: an update holds only the columns that changed; the steps of one record are found by it."""
    memory.facts.remember("one")
    memory.tasks.add_task("other")
    memory.facts.pin([1])
    (change,) = memory.history.changes(3)
    assert (change.table, change.key, change.op) == ("facts", (1,), "UPDATE")
    assert (change.before, change.after) == ({"pinned": 0}, {"pinned": 1})
    (change,) = memory.history.changes(1)
    assert change.before is None and change.after is not None
    columns = memory.database.rows("SELECT name FROM pragma_table_info('facts')")
    assert set(change.after) == {name for (name,) in columns}
    assert [step.seq for step in memory.history.steps(record=("fact", 1))] == [3, 1]
    assert [step.seq for step in memory.history.steps(actor="user", limit=2)] == [3, 2]
    assert memory.history.steps(record=("commit", 1)) == []


def test_steps_are_found_by_who_and_when_and_read_by_their_numbers(memory, clock):
    """The same filters give the steps, or only their numbers, newest first; `many` reads those that exist, in the order
    asked for; `actors` says who ever wrote, the busiest first."""
    memory.facts.remember("one", actor="agent")
    clock.advance(days=1)
    noon = clock.now
    memory.facts.remember("two")
    memory.facts.pin([1])
    clock.advance(days=1)
    memory.facts.confirm([2])
    keys = memory.history.keys()
    assert keys.itemsize == 4 and list(keys) == [4, 3, 2, 1]
    for filters, seqs in (
        ({"actor": "user"}, [4, 3, 2]),
        ({"actor": "nobody"}, []),
        ({"actor": ""}, []),
        ({"record": ("fact", 1)}, [3, 1]),
        ({"since": noon}, [4, 3, 2]),
        ({"before": noon}, [1]),
        ({"since": noon, "before": clock.now, "record": ("fact", 1)}, [3]),
        ({"after_seq": 2}, [4, 3]),
        ({"after_seq": 2, "actor": "agent"}, []),
    ):
        assert list(memory.history.keys(**filters)) == seqs
        assert [step.seq for step in memory.history.steps(**filters)] == seqs
    assert [step.seq for step in memory.history.get_many([3, 99, 1])] == [3, 1]
    assert memory.history.get_many([3])[0] == memory.history.get(3)
    assert memory.history.actors() == [("user", 3), ("agent", 1)]
    assert memory.history.newest_step_before(noon) == 1 and memory.history.newest_step_before("2000-01-01") == 0


def test_long_lists_of_steps_are_found_by_their_indexes(memory):
    """Of a record or an actor among millions of steps: through an index, and never by sorting."""
    seen: list[str] = []
    connection = memory.database.connection
    memory.history.keys(record=("fact", 1))  # the first time a view is made
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append(event["sql"]))
    memory.history.keys(record=("fact", 1))
    memory.history.keys(actor="user")
    connection.trace_v2(0, None)
    seen = [sql for sql in seen if "history_row" in sql or "actor" in sql]
    for sql, uses in zip(seen, (("history_row_pk", "INTEGER PRIMARY KEY"), ("history_actor",)), strict=True):
        parameters = {"table": "facts", "key": "[1]", "actor": "user"}
        plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters))
        plan = plan.replace("SCAN packed_row VIRTUAL TABLE INDEX 0:table key", "by record, among what is packed")
        plan = plan.replace("SCAN every_history_row", "both parts of it")
        assert all(name in plan for name in uses) and "SCAN" not in plan and "TEMP B-TREE" not in plan
    for sql, parameters in ((MANUAL_STEPS_SQL, (1 << 62, 8)), (NEXT_REDO_SQL, ())):
        plan = " ".join(row[3] for row in memory.database.rows(f"EXPLAIN QUERY PLAN {sql}", parameters))
        assert "SEARCH" in plan and "SCAN" not in plan and "TEMP B-TREE" not in plan


def test_a_purged_step_is_not_taken_back(memory):
    """Text that was erased cannot be given back: the undo says so instead of restoring the hole."""
    memory.facts.remember("one")
    memory.facts.forget([1])
    with memory.database.write("user", "purge") as write:
        write.execute("UPDATE history_row SET purged = 1, salt = NULL WHERE seq = 2")
    with pytest.raises(Conflict, match="erased"):
        memory.history.undo(2)
    assert memory.facts.get(1).status == "forgotten"


# the chain ------------------------------------------------------------------------------------------------------------


def test_the_chain_of_digests_follows_the_formulas(memory, live):
    """leaf = sha256(salt, row), root = sha256(leaves), digest = sha256(previous, header, root): for every step."""
    live(memory, range(100))
    memory.history.undo(newest(memory))
    assert len(memory.history.steps()) > 30
    assert broken_digests(memory) == []
    salts = memory.database.rows("SELECT salt FROM history_row")
    assert len(set(salts)) == len(salts) and all(len(salt) == 16 for (salt,) in salts)


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE history SET actor = 'agent' WHERE seq = 2",
        "UPDATE history SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 2",
        "UPDATE history SET undoes = 1 WHERE seq = 2",
        "UPDATE history_row SET after = replace(after, 'two', 'too') WHERE seq = 2",
        "UPDATE history_row SET pk = '[9]' WHERE seq = 2",
        "UPDATE history_row SET leaf = zeroblob(32) WHERE seq = 2",
        "DELETE FROM history_row WHERE seq = 2",
        "DELETE FROM history_row WHERE seq = 2; DELETE FROM history WHERE seq = 2",
    ],
)
def test_a_changed_past_is_seen(memory, forgery):
    """Whatever is altered in one step, that step or the one after it no longer agrees."""
    for text in ("one", "two", "three"):
        memory.facts.remember(text)
    assert broken_digests(memory) == []
    with memory.database.write("user", "forge") as write:
        for statement in forgery.split(";"):
            write.execute(statement)
    assert set(broken_digests(memory)) & {2, 3}


def test_undo_takes_back_an_undo_from_the_middle_and_of_somebody_else(memory: Memory):
    """What a person did last is what one key takes back: also when it was to undo an old step, or another's. A run of
    plain undos goes on backwards."""
    one, _ = memory.facts.remember("one")
    two, _ = memory.facts.remember("two")
    three, _ = memory.facts.remember("three", actor="agent")
    theirs = memory.history.steps(limit=1)[0].seq
    first = memory.history.steps(record=("fact", one))[0].seq
    memory.history.undo(first)
    assert memory.history.undo().reason == f"undo {first}" and memory.facts.get(one).status == "active"
    memory.history.undo(theirs)
    assert memory.history.undo().reason == f"undo {theirs}" and memory.facts.get(three).fact == "three"
    assert [memory.history.undo().reason for _ in range(2)] == [f"remember F#{two}", f"remember F#{one}"]
    with pytest.raises(NotFound):
        memory.history.undo()
    assert memory.history.redo().reason == f"remember F#{one}"


@pytest.mark.parametrize("undone, next_one", [((1, 4, 3, 2), 1), ((1, 4, 2), 2), ((1, 2), 2), ((2, 4, 1), 1)])
def test_the_newest_undo_from_the_middle_is_the_next_though_what_stood_above_it_went_since(
    memory: Memory, undone: tuple[int, ...], next_one: int
):
    """What stood above the step then has been taken back after it: the undo was one from the middle all the same. Of
    two of them the one that the person made last."""
    for text in ("one", "two", "three", "four"):
        memory.facts.remember(text)
    for step in undone:
        memory.history.undo(step)
    assert memory.history.undo().reason == f"undo {next_one}"
    assert memory.facts.get(next_one).fact == ("one", "two")[next_one - 1]
