"""Plans: what a restore or an undo would do is seen first, chosen from, and then done exactly so, in one step."""

import random
import re
import tempfile

import pytest
from conftest import Clock, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.base.errors import Conflict, InvalidInput, NotFound
from store.database.schema import RECORDED_TABLES
from store.history.compression import every_row_view
from store.history.restore_plan import RESTORE_STRATEGIES, Plans, RestorePlan
from store.memory import Memory
from store.search import fulltext as corpus

SEEDS = st.integers(0, 2**32 - 1)
LIVES = st.lists(SEEDS, max_size=10) | st.lists(SEEDS, min_size=25, max_size=70)
LAWS = settings(deadline=None, max_examples=examples(3), print_blob=True, suppress_health_check=[HealthCheck.too_slow])
SHA = "a1b2c3d4" * 5
NOTES = "import:notes"


class Slow(Clock):
    """A clock that stands still for some readings, so that several steps are of one millisecond."""

    readings = 0

    def __call__(self) -> str:
        self.readings += 1
        if self.readings % 4 == 0:
            self.advance(milliseconds=1)
        return self.now


def rows(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every recorded table."""
    return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in RECORDED_TABLES}


def assert_sound(memory: Memory) -> None:
    """The search index agrees with the records, and no reference leads nowhere."""
    corpus.check_text_index(memory.database)
    tables = ("corpus_fact", "corpus_decision", "corpus_task")
    found = [row for table in tables for row in memory.database.rows(f"SELECT * FROM {table}")]
    kept = memory.database.rows("SELECT * FROM corpus WHERE kind IN ('fact', 'decision', 'task')")
    assert sorted(found, key=repr) == sorted(kept, key=repr)
    assert memory.database.rows("PRAGMA foreign_key_check") == []


def shown(plan: RestorePlan) -> list[tuple[str, str, str]]:
    return [(change.sign, change.citation, change.says) for change in plan.changes]


def blocked(plan: RestorePlan) -> dict[str, str]:
    return {change.citation: change.blocked for change in plan.changes}


def replaced_by(citation: str) -> str:
    return f"{citation} took its place, and stays: undo the step that made {citation} first."


def some_of(plan: RestorePlan, dice: random.Random) -> frozenset[int]:
    """A random choice that holds all that it needs."""
    chosen: frozenset[int] = frozenset()
    for index, change in enumerate(plan.changes):
        if dice.random() < 0.5 and not change.blocked:
            chosen |= plan.requirements_of(index)
    return chosen


def as_planned(memory: Memory, plan: RestorePlan, chosen: frozenset[int]) -> None:
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
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", Clock()) as memory:
        live(memory, earlier)
        then = rows(memory)
        number = memory.checkpoints.take_checkpoint("then")
        live(memory, later)
        memory.database.door = "app"
        now = rows(memory)
        plan = Plans(memory.database).plan_checkpoint(number)
        assert (not plan.changes) == (now == then)
        for chosen in (some_of(plan, random.Random(seed)), frozenset(range(len(plan.changes)))):
            if not chosen:
                continue
            steps = len(memory.history.steps())
            applied = Plans(memory.database).apply_plan(plan, chosen)
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
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", Slow()) as memory:
        live(memory, life)
        steps = [step for step in memory.history.steps() if step.undone_by is None]
        for step in dice.sample(steps, min(4, len(steps))):
            before = rows(memory)
            plan = Plans(memory.database).plan_step(step.seq)
            chosen = some_of(plan, dice)
            if chosen:
                applied = Plans(memory.database).apply_plan(plan, chosen)
                as_planned(memory, plan, chosen)
                assert_sound(memory)
                assert memory.history.get(step.seq).undone_by == applied.seq
                memory.history.undo(applied.seq)
                assert rows(memory) == before
                assert memory.history.get(step.seq).undone_by is None
            whole = frozenset(range(len(plan.changes)))
            made = {(change.table, change.key) for change in memory.history.changes(step.seq)}
            if (
                made == {(one.table, one.key) for one in plan.changes}
                and Plans(memory.database).propose_changes(plan) == whole
            ):
                Plans(memory.database).apply_plan(plan, whole)
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
    others touched is as it was, but for links to a decision that goes; one undo brings all of it back."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", Clock()) as memory:
        live(memory, life)
        memory.database.door = "app"
        if not memory.history.keys(actor=actor):
            with pytest.raises(NotFound):
                Plans(memory.database).plan_origin(actor)
            return
        before = rows(memory)
        view = every_row_view(memory.database)
        touched = memory.database.rows(f"SELECT DISTINCT tbl, pk, actor FROM {view} JOIN history USING(seq)")
        theirs = {(table, key) for table, key, who in touched if who == actor}
        others = {(table, key) for table, key, who in touched if who != actor}
        plan = Plans(memory.database).plan_origin(actor)
        for change in plan.changes:
            if (change.table, str(list(change.key)).replace(" ", "")) not in theirs:
                (decision,) = (plan.changes[index] for index in change.needs)
                assert change.table == "commit_links" and change.then is decision.then is None
                assert decision.key == change.key[1:]
        chosen = Plans(memory.database).propose_changes(plan)
        if chosen:
            applied = Plans(memory.database).apply_plan(plan, chosen)
            as_planned(memory, plan, chosen)
        left = memory.database.rows("SELECT id FROM facts WHERE origin = ? AND status = 'active'", (actor,))
        assert all(("facts", f"[{number}]") in others for (number,) in left)
        assert_sound(memory)
        part = some_of(Plans(memory.database).plan_origin(actor), random.Random(seed))
        if part:
            Plans(memory.database).apply_plan(Plans(memory.database).plan_origin(actor), part)
            assert_sound(memory)
            memory.history.undo()
        if chosen:
            assert memory.history.undo().seq == applied.seq
        assert rows(memory) == before


@given(LIVES, SEEDS)
@settings(LAWS)
def test_several_steps_are_taken_back_as_one(live, life, seed):
    """Of any steps what is proposed is done in one step, and one undo brings it back; the order in which they are named
    makes no difference."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory.db", "cli", Slow()) as memory:
        live(memory, life)
        memory.database.door = "app"
        every = [step.seq for step in memory.history.steps() if step.undone_by is None]
        plans, before = Plans(memory.database), rows(memory)
        for some in [some for some in (dice.sample(every, min(3, len(every))), every) if some[1:]]:
            plan = plans.plan_steps(some)
            assert plan.changes == plans.plan_steps(some[::-1]).changes
            chosen = plans.propose_changes(plan)
            if chosen:
                newest = memory.history.keys()[0]
                applied = plans.apply_plan(plan, chosen)
                as_planned(memory, plan, chosen)
                assert_sound(memory)
                assert applied.seq == newest + 1 == memory.history.keys()[0]
                assert memory.history.undo().seq == applied.seq
            assert rows(memory) == before


# the stories ----------------------------------------------------------------------------------------------------------


def test_a_restore_is_seen_before_it_happens(memory):
    """Each record that would change: which, how in words, since whom; newest change first; and nothing changed yet."""
    memory.commits.log(SHA)
    memory.facts.remember("team of five")
    memory.facts.remember("deploys on Fridays")
    memory.decisions.decide("storage", "SQLite")
    memory.tasks.add_task("write it down")
    memory.checkpoints.take_checkpoint("then")
    before = len(memory.history.steps())
    memory.facts.pin([1])
    memory.facts.forget([2], actor="agent")
    memory.decisions.correct(1, "LMDB")
    memory.commits.link("a1b2c3d", 2)
    memory.tasks.move(1, "in_progress")
    memory.facts.remember("new")
    plan = Plans(memory.database).plan_checkpoint(1)
    assert shown(plan) == [
        ("-", "F#3", "removed"),
        ("~", "A#1", "open again"),
        ("-", "C#a1b2c3d D#2", "removed"),
        ("~", "D#1", "comes back"),
        ("-", "D#2", "removed"),
        ("+", "F#2", "comes back"),
        ("~", "F#1", "unpinned"),
    ]
    assert plan.reason == "restore K#1" and plan.at == before + 6
    assert len(memory.history.steps()) == plan.at
    by = {change.citation: change for change in plan.changes}
    assert (by["F#2"].by.actor, by["F#2"].by.reason) == ("agent", "forget F#2")
    assert [change.kind for change in plan.changes] == ["fact", "task", "link", "decision", "decision", "fact", "fact"]
    assert [by[name].title for name in ("F#1", "D#2", "A#1")] == ["team of five", "storage", "write it down"]
    assert by["F#1"].fields == ("pinned",) and by["F#3"].fields == ()
    assert (by["F#1"].now["pinned"], by["F#1"].then["pinned"]) == (1, 0)
    assert by["F#3"].then is None and by["F#3"].now["fact"] == "new"
    assert not any(change.clash or change.blocked for change in plan.changes)


def test_three_strategies_propose_different_things(memory):
    """Replace: everything. Mine: not what a person changed since by hand. Add: only what would come back."""
    memory.facts.remember("mine", actor="agent")
    memory.facts.remember("theirs")
    memory.facts.remember("undone")
    memory.facts.pin([3], actor="agent")
    memory.checkpoints.take_checkpoint("then")
    memory.facts.pin([1])
    memory.facts.forget([2], actor="agent")
    memory.database.door = "mcp"
    memory.facts.remember("a person's, but not by hand")
    memory.database.door = "cli"
    memory.history.undo(4)  # of a step before the checkpoint: that is a change by hand as well
    memory.facts.remember("later", actor="agent")
    memory.facts.pin([5])
    memory.history.undo()  # and one that was taken back is none
    plan = Plans(memory.database).plan_checkpoint(1)
    names = [change.citation for change in plan.changes]
    assert sorted(names) == ["F#1", "F#2", "F#3", "F#4", "F#5"]

    def proposed(strategy: str) -> set[str]:
        return {names[index] for index in Plans(memory.database).propose_changes(plan, strategy)}

    assert proposed("replace") == set(names)
    assert proposed("mine") == {"F#2", "F#4", "F#5"}
    assert proposed("add") == {"F#2"}
    with pytest.raises(InvalidInput, match="replace, mine, add"):
        Plans(memory.database).propose_changes(plan, "merge")


def test_what_both_changed_is_kept_field_by_field(memory):
    """An agent and the person changed the same records: the agent's fields go back, the person's stay; and what the
    agent put over the person's word afterwards gives that word back."""
    for text in ("both", "only mine", "over mine"):
        memory.facts.remember(text, actor="agent")
    memory.tasks.add_task("write it down", actor="agent")
    memory.checkpoints.take_checkpoint("then")
    memory.tagging.add_tags([("fact", 1)], "theirs", actor="agent")
    memory.facts.pin([1])
    memory.facts.pin([2])
    memory.facts.pin([3])
    memory.facts.pin([3], False, actor="agent")
    memory.tagging.add_tags([("fact", 3)], "theirs", actor="agent")
    memory.tasks.correct(1, "write it down twice")
    memory.tasks.move(1, "done", actor="agent")
    memory.facts.remember("new of mine")
    memory.facts.remember("new of theirs", actor="agent")
    plan = Plans(memory.database).keep_mine(Plans(memory.database).plan_checkpoint(1))
    chosen = Plans(memory.database).propose_changes(plan, "mine")
    names = {plan.changes[index].citation: plan.changes[index].says for index in chosen}
    told = {"F#1": "tags as before", "F#3": "pinned, tags as before", "A#1": "open again", "F#5": "removed"}
    assert names == told
    Plans(memory.database).apply_plan(plan, chosen)
    facts = {fact.id: (fact.pinned, fact.tags) for fact in memory.facts.get_many(range(1, 6))}
    assert facts == {1: (True, ()), 2: (True, ()), 3: (True, ()), 4: (False, ())}
    task = memory.tasks.get(1)
    assert (task.text, task.status) == ("write it down twice", "pending")
    corpus.check_text_index(memory.database)
    again = Plans(memory.database).keep_mine(Plans(memory.database).plan_checkpoint(1))
    assert not Plans(memory.database).propose_changes(again, "mine"), "twice changes nothing"
    memory.history.undo()
    assert memory.facts.get(1).tags == ("theirs",) and memory.tasks.get(1).status == "done"


@pytest.mark.parametrize("strategy", RESTORE_STRATEGIES)
def test_restoring_twice_changes_nothing(memory, strategy):
    memory.facts.remember("stays")
    memory.facts.remember("is forgotten")
    memory.checkpoints.take_checkpoint("then")
    memory.facts.forget([2], actor="agent")
    memory.facts.remember("new", actor="agent")
    memory.facts.pin([1])

    def restore() -> None:
        plan = Plans(memory.database).plan_checkpoint(1)
        plan = Plans(memory.database).keep_mine(plan) if strategy == "mine" else plan
        Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan, strategy))

    restore()
    held = memory.database.rows("SELECT * FROM facts")
    steps = len(memory.history.steps())
    with pytest.raises(InvalidInput, match="Nothing was chosen"):
        restore()
    assert memory.database.rows("SELECT * FROM facts") == held and len(memory.history.steps()) == steps


def test_add_brings_back_what_is_gone_with_what_it_refers_to(memory):
    """A corrected fact that went with its correction: both come back, the older out of sight as it was; the newer
    cannot come without it."""
    memory.facts.remember("one")
    memory.facts.correct(1, "two")
    memory.facts.forget([1])
    memory.checkpoints.take_checkpoint("then")
    memory.history.undo(3)
    memory.history.undo(2)
    memory.history.undo(1)
    memory.facts.remember("stays")
    plan = Plans(memory.database).plan_checkpoint(1)
    assert shown(plan)[1:] == [("+", "F#1", "comes back as forgotten"), ("+", "F#2", "comes back")]
    assert [change.needs for change in plan.changes] == [(), (), (1,)]
    with pytest.raises(InvalidInput, match=r"F#2 cannot be changed without F#1\."):
        Plans(memory.database).apply_plan(plan, [2])
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan, "add"))
    told = [(fact.fact, fact.status) for fact in memory.facts.get_many([1, 2, 3])]
    assert told == [("one", "forgotten"), ("two", "active"), ("stays", "active")]


def test_what_needs_another_is_chosen_with_it(memory):
    """A decision cannot go while a link refers to it: the plan says so, and half a choice is refused by name."""
    memory.commits.log(SHA)
    memory.checkpoints.take_checkpoint("then")
    memory.decisions.decide("storage", "SQLite")
    memory.commits.link("a1b2c3d", 1)
    plan = Plans(memory.database).plan_checkpoint(1)
    link, decision = range(2)
    assert shown(plan) == [("-", "C#a1b2c3d D#1", "removed"), ("-", "D#1", "removed")]
    assert plan.changes[decision].needs == (link,) and plan.changes[link].needs == ()
    assert plan.requirements_of(decision) == plan.dependents_of(link) == {link, decision}
    assert plan.requirements_of(link) == {link} and plan.dependents_of(decision) == {decision}
    before = rows(memory)
    with pytest.raises(InvalidInput, match="D#1 cannot be changed without C#a1b2c3d D#1"):
        Plans(memory.database).apply_plan(plan, [decision])
    for choice in ([], [7], [-1]):
        with pytest.raises(InvalidInput):
            Plans(memory.database).apply_plan(plan, choice)
    assert rows(memory) == before and len(memory.checkpoints.list_newest_first()) == 1
    Plans(memory.database).apply_plan(plan, [link])
    assert len(memory.decisions.ids()) == 1
    memory.history.undo()
    Plans(memory.database).apply_plan(plan, [link, decision])
    assert memory.decisions.ids() == []
    assert_sound(memory)


def test_what_changed_while_a_person_looked_is_not_overwritten(memory):
    """The records chosen must be as they were shown; others may have moved on."""
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.checkpoints.take_checkpoint("then")
    memory.facts.pin([1, 2])
    plan = Plans(memory.database).plan_checkpoint(1)
    first = next(index for index, change in enumerate(plan.changes) if change.citation == "F#1")
    memory.facts.confirm([1], actor="agent")
    before = rows(memory)
    with pytest.raises(Conflict, match=r"F#1 changed while you looked"):
        Plans(memory.database).apply_plan(plan, range(2))
    assert rows(memory) == before and len(memory.checkpoints.list_newest_first()) == 1
    Plans(memory.database).apply_plan(plan, [1 - first])
    assert [fact.pinned for fact in memory.facts.get_many([1, 2])] == [True, False]
    step = Plans(memory.database).plan_step(3)
    memory.history.undo()
    memory.history.undo(3)
    with pytest.raises(Conflict, match="already undone"):
        Plans(memory.database).apply_plan(step, [0])


def test_a_restore_or_an_origin_takes_a_checkpoint_first_and_a_step_does_not(memory):
    """In the same transaction, as the newest checkpoint, named for what came after it."""
    memory.facts.remember("one", actor=NOTES)
    memory.checkpoints.take_checkpoint("then")
    memory.facts.pin([1], actor=NOTES)
    applied = Plans(memory.database).apply_plan(Plans(memory.database).plan_step(2), [0], actor="agent")
    assert (applied.seq, applied.changed, applied.checkpoint) == (3, 1, None)
    assert memory.history.get(3).actor == "agent"
    memory.facts.forget([1], actor=NOTES)
    applied = Plans(memory.database).apply_plan(Plans(memory.database).plan_checkpoint(1), [0])
    found = memory.checkpoints.get(applied.checkpoint)
    assert (found.name, found.seq, found.trigger) == ("before restoring K#1", 4, "restore")
    applied = Plans(memory.database).apply_plan(Plans(memory.database).plan_origin(NOTES), [0])
    assert memory.checkpoints.get(applied.checkpoint).name == "before undoing import:notes"
    assert memory.history.get(applied.seq).reason == "undo import:notes"


def test_columns_merge_and_only_the_same_column_clashes(memory):
    """A step in the middle: a later change of another column stays; of the same one it clashes, is not proposed, and is
    overwritten only by whoever chooses so."""
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.facts.pin([1, 2])
    memory.facts.confirm([1])
    memory.facts.pin([2], False)
    memory.facts.pin([2])
    memory.facts.pin([2], False)
    confirmed = memory.facts.get(1).last_confirmed_at
    plan = Plans(memory.database).plan_step(3)
    assert [(change.citation, change.clash) for change in plan.changes] == [("F#1", False)]  # F#2 is so already
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    fact = memory.facts.get(1)
    assert (fact.pinned, fact.last_confirmed_at) == (False, confirmed)

    memory.tasks.add_task("to do")
    memory.tasks.move(1, "in_progress", actor="agent")
    memory.tasks.move(1, "done")
    seq = memory.history.keys(actor="agent")[0]
    plan = Plans(memory.database).plan_step(seq)
    assert shown(plan) == [("~", "A#1", "open again")]
    assert plan.changes[0].clash and Plans(memory.database).propose_changes(plan) == frozenset()
    assert plan.changes[0].by.reason == "task done A#1" and plan.changes[0].by.actor == "user"
    with pytest.raises(Conflict):
        memory.history.undo(seq)
    done = rows(memory)
    Plans(memory.database).apply_plan(plan, [0])
    assert memory.tasks.get(1).status == "pending"
    memory.history.undo(memory.history.keys()[0])
    assert rows(memory) == done


def test_steps_of_one_millisecond_are_told_apart(memory, clock):
    """What a later step put back in part clashes, also when both were made at the same moment: a plan offers nothing
    that `undo SEQ` refuses."""
    memory.tasks.add_task("to do")
    clock.advance(days=1)
    memory.database.clock = lambda: clock.now  # it stands still
    memory.tasks.move(1, "in_progress")
    memory.tasks.move(1, "pending", actor="agent")
    plan = Plans(memory.database).plan_step(2)
    assert [change.fields for change in plan.changes] == [("updated_at",)]
    assert plan.changes[0].clash and Plans(memory.database).propose_changes(plan) == frozenset()
    with pytest.raises(Conflict, match="A#1 changed since"):
        memory.history.undo(2)
    memory.history.undo(3)
    assert Plans(memory.database).propose_changes(Plans(memory.database).plan_step(2)) == {0}
    memory.history.undo(2)
    assert memory.tasks.get(1).updated_at < clock.now


def test_what_was_made_anew_since_is_not_replaced_unasked(memory):
    """A link that was taken away, and made again as another: bringing the old one back would overwrite the new one."""
    memory.commits.log(SHA)
    memory.decisions.decide("storage", "SQLite")
    memory.commits.link("a1b2c3d", 1)
    memory.commits.unlink("a1b2c3d", 1, actor="agent")
    memory.commits.link("a1b2c3d", 1, "reverts")
    plan = Plans(memory.database).plan_step(3)
    assert shown(plan) == [("~", "C#a1b2c3d D#1", "link type implements")] and plan.changes[0].clash
    Plans(memory.database).apply_plan(plan, [0])
    assert memory.commits.links_of_decision(1)[0].link_type == "implements"


def test_a_step_taken_back_in_part_comes_back_with_redo(memory):
    """What is left out stays; it is the undo of that step all the same."""
    memory.facts.remember("one")
    memory.facts.correct(1, "two")
    corrected = rows(memory)
    plan = Plans(memory.database).plan_step(2)
    chosen = [index for index, change in enumerate(plan.changes) if change.citation == "F#2"]
    applied = Plans(memory.database).apply_plan(plan, chosen)
    assert memory.history.get(2).undone_by == applied.seq
    assert [fact.status for fact in memory.facts.get_many([1, 2])] == ["superseded"]
    assert memory.history.redo().seq == 2
    assert rows(memory) == corrected
    assert memory.history.get(2).undone_by is None


def test_what_refers_to_a_record_keeps_it(memory):
    """A fact of theirs that I corrected cannot go: my correction refers to it. It is shown, with the reason and the
    way."""
    memory.facts.remember("theirs", actor=NOTES)
    memory.facts.remember("theirs too", actor=NOTES)
    memory.facts.correct(1, "mine")
    plan = Plans(memory.database).plan_origin(NOTES)
    assert shown(plan) == [("-", "F#1", "removed (replaced now)"), ("-", "F#2", "removed")]
    assert (plan.changes[0].clash, plan.changes[0].blocked) == (True, replaced_by("F#3"))
    assert Plans(memory.database).propose_changes(plan) == {1}
    with pytest.raises(Conflict, match=re.escape(f"F#1 cannot be changed: {replaced_by('F#3')}")):
        Plans(memory.database).apply_plan(plan, [0, 1])
    Plans(memory.database).apply_plan(plan, [1])
    assert [fact.id for fact in memory.facts.get_many([1, 2, 3])] == [1, 3]
    plan = Plans(memory.database).plan_step(1)
    assert plan.changes[0].blocked and plan.changes[0].needs == ()


@pytest.mark.parametrize("whole", [True, False], ids=["origin", "step"])
def test_anothers_link_to_a_decision_goes_with_it(memory, whole):
    """An agent replaced a decision, and the import from git linked a commit to it: the link is in the plan, is chosen
    and left with the decision, and comes back with it."""
    memory.commits.log(SHA)
    memory.decisions.decide("Cache in memory", "a dictionary")
    memory.decisions.decide("Cache in Redis again", "Redis", supersedes=1, actor="mcp:claude")
    memory.commits.link("a1b2c3d", 2, actor="import:git")
    before = rows(memory)
    plan = Plans(memory.database).plan_origin("mcp:claude") if whole else Plans(memory.database).plan_step(2)
    assert shown(plan) == [("-", "C#a1b2c3d D#2", "removed"), ("~", "D#1", "comes back"), ("-", "D#2", "removed")]
    link, old, new = range(3)
    assert (plan.changes[link].needs, plan.changes[new].needs) == ((new,), (link,))
    assert plan.changes[link].by.actor == "import:git"
    assert not any(change.blocked or change.clash for change in plan.changes)
    assert Plans(memory.database).propose_changes(plan) == {link, old, new}
    assert plan.changes[old].needs == (new,), "not both hold"
    assert plan.dependents_of(new) == {link, old, new}, "the decision stays, and all else with it"
    with pytest.raises(InvalidInput, match="C#a1b2c3d D#2 cannot be changed without D#2"):
        Plans(memory.database).apply_plan(plan, [link, old])
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert (memory.decisions.get(1).status, memory.decisions.ids()) == ("active", [1])
    assert_sound(memory)
    memory.history.undo()
    assert rows(memory) == before


def test_a_link_changed_by_them_goes_with_their_decision(memory):
    """Another's link to their decision, which they made one of another type: it goes, and does not turn back."""
    memory.commits.log(SHA)
    memory.decisions.decide("storage", "LMDB", actor=NOTES)
    memory.commits.link("a1b2c3d", 1)
    memory.commits.unlink("a1b2c3d", 1, actor=NOTES)
    memory.commits.link("a1b2c3d", 1, "reverts", actor=NOTES)
    plan = Plans(memory.database).plan_origin(NOTES)
    assert shown(plan) == [("-", "C#a1b2c3d D#1", "removed"), ("-", "D#1", "removed")]
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert memory.decisions.ids() == []


def test_a_link_stays_with_a_decision_that_does(memory):
    """A decision of mine took the place of theirs, to which a commit is linked: both stay, the link out of the plan."""
    memory.commits.log(SHA)
    memory.decisions.decide("storage", "LMDB", actor=NOTES)
    memory.commits.link("a1b2c3d", 1)
    memory.decisions.decide("storage", "SQLite", supersedes=1)
    plan = Plans(memory.database).plan_origin(NOTES)
    assert blocked(plan) == {"D#1": replaced_by("D#2")}
    assert Plans(memory.database).propose_changes(plan) == frozenset()


def test_what_was_replaced_comes_back_only_if_what_took_its_place_goes(memory):
    """Theirs took the place of mine, and was changed or replaced by me since: mine stays replaced, as theirs stays."""
    memory.facts.remember("mine")
    memory.facts.correct(1, "theirs", actor=NOTES)
    memory.facts.pin([2])
    plan = Plans(memory.database).plan_origin(NOTES)
    assert [(one.citation, one.clash, one.needs) for one in plan.changes] == [("F#2", True, ()), ("F#1", False, (0,))]
    assert Plans(memory.database).propose_changes(plan) == frozenset() and plan.requirements_of(1) == {0, 1}
    memory.facts.correct(2, "mine again")
    last = "F#2, which took its place, cannot go: its row says why."
    assert blocked(Plans(memory.database).plan_origin(NOTES)) == {"F#2": replaced_by("F#3"), "F#1": last}


def test_a_link_that_would_come_back_to_what_goes_says_what_can_be_done(memory):
    """They decided, I linked a commit, they took the link away: undoing their last step first, all of theirs can go."""
    memory.commits.log(SHA)
    memory.decisions.decide("storage", "LMDB", actor=NOTES)
    memory.commits.link("a1b2c3d", 1)
    memory.commits.unlink("a1b2c3d", 1, actor=NOTES)
    reasons = blocked(Plans(memory.database).plan_origin(NOTES))
    assert reasons["D#1"] == "Its link to C#a1b2c3d would come back: undo the step that removed the link first."
    memory.history.undo(3)
    plan = Plans(memory.database).plan_origin(NOTES)
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert memory.decisions.ids() == []


def test_what_an_undo_or_a_redo_brought_back_is_its_authors(memory):
    """After a restore and its undo each change is by who made it, as `mine` decides; after a redo as well; an undo of
    what is older than the checkpoint is a change of its own."""
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.facts.remember("three", actor="agent")
    memory.checkpoints.take_checkpoint("then")
    memory.facts.pin([1], actor="mcp:claude")
    memory.facts.pin([2])
    memory.history.undo(3)
    own = [("F#3", "user", "undo 3", True), ("F#2", "user", "pin F#2", True), ("F#1", "mcp:claude", "pin F#1", False)]

    def by() -> list[tuple[str, str, str, bool]]:
        changes = Plans(memory.database).plan_checkpoint(1).changes
        return [(change.citation, change.by.actor, change.by.reason, change.by_hand) for change in changes]

    assert by() == own
    memory.checkpoints.restore(1)
    memory.history.undo()
    assert memory.history.steps(limit=1)[0].reason == "undo 7" and by() == own
    memory.history.undo(5)
    memory.history.redo()
    assert memory.history.steps(limit=1)[0].reason == "redo 5" and by() == own
    memory.history.redo()
    assert by() == []


def test_what_cannot_go_keeps_what_needs_it_to_go(memory):
    """Theirs, corrected by them twice, corrected by me: none of theirs can go, since mine refers to the newest, and
    each of theirs to the one before."""
    memory.facts.remember("theirs", actor=NOTES)
    memory.facts.correct(1, "theirs again", actor=NOTES)
    memory.facts.correct(2, "and again", actor=NOTES)
    memory.facts.correct(3, "mine")
    plan = Plans(memory.database).plan_origin(NOTES)
    last = "{}, which took its place, cannot go: its row says why.".format
    assert blocked(plan) == {"F#3": replaced_by("F#4"), "F#2": last("F#3"), "F#1": last("F#2")}
    assert Plans(memory.database).propose_changes(plan) == frozenset()


def test_an_origins_changes_are_taken_back_one_by_one(memory):
    """A→B by them, B→C by me, C→D by them ends in C, which is mine; and theirs that I changed since is only shown."""
    memory.tasks.add_task("mine")
    memory.tasks.move(1, "in_progress", actor=NOTES)
    memory.tasks.move(1, "done")
    memory.tasks.move(1, "pending", actor=NOTES)
    plan = Plans(memory.database).plan_origin(NOTES)
    assert shown(plan) == [("~", "A#1", "done again")] and not plan.changes[0].clash
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert memory.tasks.get(1).status == "done"
    plan = Plans(memory.database).plan_origin(NOTES)  # now the last word is mine
    assert shown(plan) == [("~", "A#1", "open again")] and plan.changes[0].clash
    assert Plans(memory.database).propose_changes(plan) == frozenset()


def test_an_origins_correction_of_mine_gives_mine_back(memory):
    """Theirs goes, mine is active again; what they did and somebody took back already is no part of it; what they took
    back of mine is in force again."""
    memory.facts.remember("mine")
    memory.facts.correct(1, "theirs", actor=NOTES)
    memory.facts.remember("gone again", actor=NOTES)
    memory.history.undo(3)
    memory.facts.remember("they undid it")
    memory.history.undo(5, actor=NOTES)
    memory.facts.remember("and this was theirs, and they undid it", actor=NOTES)
    memory.history.undo(7, actor=NOTES)
    plan = Plans(memory.database).plan_origin(NOTES)
    assert sorted(shown(plan)) == [("+", "F#4", "comes back"), ("-", "F#2", "removed"), ("~", "F#1", "comes back")]
    Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
    assert [fact.fact for fact in memory.facts.get_many(range(1, 9))] == ["mine", "they undid it"]
    with pytest.raises(NotFound, match="Nobody of that name"):
        Plans(memory.database).plan_origin("import:others")


def test_what_somebody_took_back_is_no_longer_theirs(memory):
    """A step of theirs that I took back is none of what they wrote, whatever I did with the record since; the record
    that I left as it was still is."""
    memory.tasks.add_task("mine")
    memory.facts.remember("one")
    memory.facts.remember("two")
    memory.tasks.move(1, "in_progress", actor=NOTES)
    memory.facts.forget([1, 2], actor=NOTES)
    memory.history.undo(4)
    memory.tasks.move(1, "done")
    plan = Plans(memory.database).plan_step(5)
    Plans(memory.database).apply_plan(
        plan, [index for index, change in enumerate(plan.changes) if change.citation == "F#1"]
    )
    assert shown(Plans(memory.database).plan_origin(NOTES)) == [("+", "F#2", "comes back")]


@pytest.mark.parametrize(
    "writers, then",
    [((NOTES, NOTES, "user"), "text 0"), ((NOTES, "user", NOTES, "user"), "text 2")],
)
def test_overwriting_what_clashes_goes_back_to_before_them(memory, writers, then):
    """Mine is the last word. Chosen all the same, all of theirs in a row goes, down to what was there before; what I
    wrote in between stays."""
    memory.tasks.add_task("text 0")
    for place, actor in enumerate(writers, start=1):
        with memory.database.write(actor, "write") as write:
            write.execute("UPDATE tasks SET text = ?", (f"text {place}",))
    plan = Plans(memory.database).plan_origin(NOTES)
    assert shown(plan) == [("~", "A#1", "text as before")]
    assert plan.changes[0].clash and plan.changes[0].then["text"] == then
    assert plan.changes[0].title == f"text {len(writers)}"


def test_what_changed_since_is_to_look_at_only(memory):
    """The same list, from a step to now; it cannot be applied."""
    memory.facts.remember("one")
    memory.facts.pin([1])
    plan = Plans(memory.database).plan_since(1)
    assert shown(plan) == [("~", "F#1", "unpinned")]
    assert Plans(memory.database).plan_since(2).changes == ()
    with pytest.raises(InvalidInput, match="to look at only"):
        Plans(memory.database).apply_plan(plan, [0])


def test_erased_text_is_not_planned(memory):
    """A step whose text was purged has no plan; in a restore such a record is blocked; one that is purged while a
    person looks is not brought back."""
    memory.facts.remember("one")
    memory.checkpoints.take_checkpoint("then")
    memory.facts.forget([1])
    looked = Plans(memory.database).plan_checkpoint(1)
    with memory.database.write("user", "purge") as write:
        write.execute("UPDATE history_row SET purged = 1, salt = NULL WHERE seq = 2")
    with pytest.raises(Conflict, match="erased"):
        Plans(memory.database).plan_step(2)
    with pytest.raises(Conflict, match="erased while you looked"):
        Plans(memory.database).apply_plan(looked, [0])
    plan = Plans(memory.database).plan_checkpoint(1)
    assert plan.changes[0].blocked == "What F#1 said was erased."
    with pytest.raises(Conflict, match="cannot be changed"):
        Plans(memory.database).apply_plan(plan, [0])
    for missing, plan_of in ((9, Plans(memory.database).plan_checkpoint), (99, Plans(memory.database).plan_step)):
        with pytest.raises(NotFound):
            plan_of(missing)


def test_ten_thousand_records_take_a_few_queries(memory):
    """Not one for each record: the plan of 300 tasks and that of 3 ask the file as often."""
    counts = []
    assert Plans(memory.database).plan_since(0).changes == ()  # the first look makes a view
    for many in (3, 300):
        number = memory.checkpoints.take_checkpoint("then")
        with memory.database.write(NOTES, "bulk") as write:
            for place in range(many):
                times = {"created_at": "", "updated_at": ""}
                write.insert("tasks", text=f"{many} {place}", status="pending", **times, origin="x")
        asked: list[object] = []
        memory.database.connection.set_exec_trace(lambda *call, asked=asked: bool(asked.append(call[1])) or True)
        assert len(Plans(memory.database).plan_checkpoint(number).changes) == many
        assert len(Plans(memory.database).plan_step(memory.history.keys()[0]).changes) == many
        Plans(memory.database).plan_origin(NOTES)
        memory.database.connection.set_exec_trace(None)
        counts.append(sum("history_block" not in str(sql) for sql in asked))  # the view's own looks are not queries
    assert counts[0] == counts[1] <= 64
