"""A fact is moved between a project's memory and the person's own, and that is one step, in two files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Clock

from store.base.errors import Conflict, InvalidInput, NotFound, Purged, StorageError
from store.base.location import Location, personal_memory_path
from store.conversations.sessions import Sessions
from store.history import history as two_files
from store.history.restore_plan import Plans
from store.memory import Memory

KEPT = ("fact", "domain", "confidence", "source", "importance", "pinned", "origin", "tags", "created_at")


def own(clock: Clock) -> Memory:
    return Memory(Location(personal_memory_path(), "personal", "of the test"), "cli", clock)


def facts(memory: Memory) -> tuple[list[str], list[str]]:
    """What holds in the project, and globally."""
    mine = memory.facts.get_many(memory.facts.ids(memory.now))
    shared = memory.globals.get_many(list(memory.globals.order(memory.now)))
    return [fact.fact for fact in mine], [fact.fact for fact in shared]


@pytest.fixture
def told(memory: Memory, clock: Clock) -> Memory:
    memory.facts.remember("I write Spanish", domain="preferences", pinned=True, tags=["language"], evidence=["T#1"])
    memory.facts.remember("the port is 8080")
    clock.advance(days=3)
    return memory


@pytest.fixture
def another(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "another" / ".memoranda" / "memory.db"), "cli", clock) as memory:
        yield memory


def test_a_fact_moves_with_all_that_is_its_own(told: Memory) -> None:
    was = told.facts.get(1)
    told.mutes.mute([1])
    number = told.moves.move_to_global(1)
    (now,) = told.globals.get_many([number])
    assert [getattr(now.own, name) for name in KEPT] == [getattr(was, name) for name in KEPT]
    assert now.own.last_confirmed_at == was.last_confirmed_at, "a move confirms nothing"
    assert now.own.evidence == (), "what it cites is the project's"
    assert told.globals.find_muted([number]) == {number}
    assert facts(told) == (["the port is 8080"], ["I write Spanish"])
    assert (told.facts.get(1).status, told.moves.moved_to(1)) == ("forgotten", "G#1")


def test_a_global_fact_moves_into_a_project(told: Memory, another: Memory) -> None:
    told.moves.move_to_global(1)
    number = another.moves.move_to_project(1)
    here = another.facts.get(number)
    assert (here.fact, here.scope, here.pinned, here.tags) == ("I write Spanish", "project", True, ("language",))
    assert facts(another) == (["I write Spanish"], [])
    assert facts(told) == (["the port is 8080"], [])


def test_it_is_one_step_that_undo_takes_back_in_both_files(told: Memory, clock: Clock) -> None:
    steps = len(told.history.steps())
    told.moves.move_to_global(1)
    assert len(told.history.steps()) == steps + 1
    assert told.history.steps(limit=1)[0].reason == "move F#1 G#1"
    for _ in range(3):
        assert told.history.undo().reason == "move F#1 G#1"
        assert facts(told) == (["I write Spanish", "the port is 8080"], [])
        assert told.facts.get(1).evidence == ("T#1",)
        assert told.moves.moved_to(1) == ""
        assert told.history.redo().reason == "move F#1 G#1"
        assert facts(told) == (["the port is 8080"], ["I write Spanish"])
        assert told.moves.moved_to(1) == "G#1"
    told.moves.move_to_project(1)
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])
    told.history.undo()
    told.history.undo()
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])
    with own(clock) as mine:
        assert [fact.status for fact in mine.facts.get_many([1, 2])] == []


def test_undo_says_so_where_the_fact_changed_since(told: Memory) -> None:
    told.moves.move_to_global(1)
    told.globals.correct(1, "I write Spanish of Buenos Aires")
    before = facts(told)
    with pytest.raises(Conflict, match=r"G#1 changed in your personal memory since then\. Undo that first"):
        told.history.undo()
    assert facts(told) == before
    assert two_files.list_begun_moves(told.database) == []
    told.personal.history.undo()
    told.history.undo()
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])


def test_in_the_personal_memory_it_is_said_where_it_is_undone(told: Memory, clock: Clock) -> None:
    told.moves.move_to_global(1)
    with own(clock) as mine, pytest.raises(Conflict, match="and that of a project") as error:
        mine.history.undo()
    assert told.location.path in error.value.next


def test_a_plan_undoes_no_half_of_it(told: Memory) -> None:
    told.moves.move_to_global(1)
    assert told.history.is_in_two_files(3)
    assert not told.history.is_in_two_files(2)
    for seqs in ([3], [2, 3]):
        with pytest.raises(Conflict, match="undone in both, whole"):
            Plans(told.database).plan_steps(seqs)


def test_what_changed_since_it_was_shown_is_not_moved(told: Memory) -> None:
    seen = told.facts.get(2)
    told.facts.pin([2])
    with pytest.raises(Conflict, match="F#2 changed since it was shown"):
        told.moves.move_to_global(2, seen=seen)
    number = told.moves.move_to_global(2)
    (shared,) = told.globals.get_many([number])
    told.globals.pin([number], False)
    with pytest.raises(Conflict, match="G#1 changed since it was shown"):
        told.moves.move_to_project(number, seen=shared.own)
    assert facts(told) == (["I write Spanish"], ["the port is 8080"])
    assert two_files.list_begun_moves(told.database) == []


def test_what_cannot_be_moved_is_refused_and_nothing_is_changed(told: Memory, another: Memory) -> None:
    another.globals.remember("The port is 8080.")
    with pytest.raises(Conflict, match="G#1 in your personal memory says that already"):
        told.moves.move_to_global(2)
    with pytest.raises(Conflict, match="F#2 in this project says that already"):
        told.moves.move_to_project(1)
    with pytest.raises(NotFound, match="no fact F#9"):
        told.moves.move_to_global(9)
    with pytest.raises(NotFound, match="no global fact G#9"):
        told.moves.move_to_project(9)
    told.facts.forget([1])
    with pytest.raises(Conflict, match="F#1 is forgotten"):
        told.moves.move_to_global(1)
    assert facts(told) == (["the port is 8080"], ["The port is 8080."])
    assert two_files.list_begun_moves(told.database) == []


def test_what_was_purged_there_is_moved_only_if_a_person_wants_it(told: Memory) -> None:
    told.globals.remember("I write Spanish")
    mine = told.personal
    mine.purge.run_plan(mine.purge.plan([("fact", 1)]))
    with pytest.raises(Purged):
        told.moves.move_to_global(1)
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])
    told.moves.move_to_global(1, again=True)
    assert facts(told) == (["the port is 8080"], ["I write Spanish"])


def test_in_the_personal_memory_only_the_scope_changes(clock: Clock) -> None:
    with own(clock) as mine:
        mine.facts.remember("I write Spanish")
        assert mine.moves.move_to_global(1) == 1
        assert mine.facts.get(1).scope == "global"
        with pytest.raises(InvalidInput, match="global already"):
            mine.moves.move_to_global(1)
        mine.history.undo()
        assert mine.facts.get(1).scope == "project"


def test_a_fact_of_a_session_becomes_the_project_s(memory: Memory) -> None:
    with memory.database.write("user", "session") as write:
        Sessions(memory.database).start_session(write, "s", "")
    memory.facts.remember("the mock runs on 9090", scope="session", session="s")
    memory.moves.widen_to_project(1)
    assert (memory.facts.get(1).scope, memory.facts.get(1).session) == ("project", "")
    memory.history.undo()
    assert (memory.facts.get(1).scope, memory.facts.get(1).session) == ("session", "s")


# a move that is broken off


def test_a_move_that_only_began_is_taken_back_at_the_next_open(told: Memory, clock: Clock) -> None:
    two_files.begin_move(told.database, two_files.MOVE_OUT, fact=1)
    told.close()
    with Memory.open(told.location.path, "mcp", clock) as again:
        assert facts(again) == (["I write Spanish", "the port is 8080"], [])
        assert two_files.list_begun_moves(again.database) == []


def _half(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit the personal half of a move, and not the project's."""

    def fails(*_: object) -> None:
        raise StorageError("The disk is gone.")

    with monkeypatch.context() as broken:
        broken.setattr(two_files, "complete_move", fails)
        with pytest.raises(StorageError):
            told.moves.move_to_global(1)
    assert facts(told) == (["I write Spanish", "the port is 8080"], ["I write Spanish"])


def test_a_half_done_move_ends_at_the_next_open(told: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    _half(told, monkeypatch)
    told.close()
    with Memory.open(told.location.path, "mcp", clock) as again:
        assert facts(again) == (["the port is 8080"], ["I write Spanish"])
        assert again.history.get(3).door == "cli", "it is the step of who began it"
        again.history.undo(3)
        assert facts(again) == (["I write Spanish", "the port is 8080"], [])


def test_it_waits_for_a_personal_memory_to_open(told: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    _half(told, monkeypatch)
    told.close()
    Path(personal_memory_path()).rename(Path(personal_memory_path()).with_suffix(".away"))
    Path(personal_memory_path()).write_bytes(b"no memory at all" * 100)
    with Memory.open(told.location.path, "cli", clock) as again:
        assert any("waits for your personal memory" in warning for warning in again.database.warnings)
        assert again.facts.get(1).status == "active"
    Path(personal_memory_path()).with_suffix(".away").replace(personal_memory_path())
    with Memory.open(told.location.path, "cli", clock) as again:
        assert facts(again) == (["the port is 8080"], ["I write Spanish"])


def test_what_changed_meanwhile_is_kept_and_the_other_half_taken_back(told: Memory, clock: Clock, monkeypatch) -> None:
    _half(told, monkeypatch)
    told.facts.correct(1, "I write Spanish and English")
    (said,) = told.moves.finish_begun()
    assert "broken off and taken back: F#1 is superseded" in said
    assert facts(told) == (["the port is 8080", "I write Spanish and English"], [])
    assert two_files.list_begun_moves(told.database) == []


def test_what_changed_in_both_is_kept_in_both(told: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    _half(told, monkeypatch)
    told.facts.correct(1, "I write Spanish and English")
    told.globals.correct(1, "I write Spanish of Buenos Aires")
    (said,) = told.moves.finish_begun()
    assert "changed since" in said
    assert facts(told) == (["the port is 8080", "I write Spanish and English"], ["I write Spanish of Buenos Aires"])
    assert told.moves.finish_begun() == []


def test_a_move_that_another_took_back_is_not_done(told: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens the project between the note and the lock."""
    real = two_files.begin_move

    def begun(*given: object, **more: object) -> two_files.FactMove:
        move = real(*given, **more)  # type: ignore[arg-type]
        Memory.open(told.location.path, "cli", clock).close()
        return move

    monkeypatch.setattr(two_files, "begin_move", begun)
    with pytest.raises(Conflict, match="took the move back meanwhile"):
        told.moves.move_to_global(1)
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])


def restored(memory: Memory, number: int) -> dict[str, tuple[str, bool]]:
    """Restore a checkpoint as it is proposed; return what each fact's change says, and whether it was chosen."""
    plan = Plans(memory.database).plan_checkpoint(number)
    chosen = Plans(memory.database).propose_changes(plan)
    if chosen:
        Plans(memory.database).apply_plan(plan, chosen)
    return {one.citation: (one.says, index in chosen) for index, one in enumerate(plan.changes) if one.kind == "fact"}


def test_a_restore_leaves_a_fact_where_it_was_moved_to(told: Memory, clock: Clock) -> None:
    """Else it would hold in both files, or in neither."""
    before = told.checkpoints.take_checkpoint("before")
    told.moves.move_to_global(1)
    told.facts.remember("the office is in Lugo")
    back = "comes back, though G#1 says it now"
    assert restored(told, before) == {"F#1": (back, False), "F#3": ("removed", True)}
    assert facts(told) == (["the port is 8080"], ["I write Spanish"])
    between = told.checkpoints.take_checkpoint("between")
    back = told.moves.move_to_project(1)
    assert restored(told, between) == {f"F#{back}": ("removed, though it was G#1", False)}
    assert facts(told) == (["I write Spanish", "the port is 8080"], [])
    with pytest.raises(Conflict, match="Nothing changed since"):
        told.checkpoints.restore(between)
    with own(clock) as personal:
        taken = Plans(personal.database).plan_moment(1, "the first moment")
        (change,) = taken.changes
        assert change.says == f"comes back, though F#{back} of {told.database.path} says it now"
        assert Plans(personal.database).propose_changes(taken) == frozenset()
    told.history.undo()
    plan = Plans(told.database).plan_checkpoint(between)
    assert [one for one in plan.changes if one.clash] == [], "what was taken back is no move"


def test_an_undo_of_all_that_an_agent_did_leaves_what_was_moved(told: Memory) -> None:
    agent = told.facts.remember("the build takes nine minutes", actor="mcp:claude-code")[0]
    told.moves.move_to_global(agent)
    plan = Plans(told.database).plan_origin("mcp:claude-code")
    assert Plans(told.database).propose_changes(plan) == frozenset() and [one.clash for one in plan.changes] == [True]
    assert facts(told)[1] == ["the build takes nine minutes"]
