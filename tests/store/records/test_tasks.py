"""Tasks and iterations as lists: their order, moving several, mending a text, what belongs to a cycle of work."""

import pytest
from support.tables import refuses

from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import TASK_STATUSES
from store.memory import Memory

KEY = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture
def board(memory: Memory, clock) -> Memory:
    """Six tasks: 1 and 5 done (5 first), 2 and 6 pending, 3 and 4 in progress (4 first)."""
    for text in "one two three four five six".split():
        memory.tasks.add_task(text)
    for number, status in ((4, "in_progress"), (5, "done"), (3, "in_progress"), (1, "done")):
        clock.advance(days=1)
        memory.tasks.move(number, status)
    return memory


def statuses(memory: Memory) -> list[str]:
    return [task.status for task in memory.tasks.get_many(range(1, 7))]


def test_open_tasks_come_first(board: Memory) -> None:
    """In progress, pending, each in the order they were added; then the done, the last one done first."""
    assert board.tasks.ids() == [3, 4, 2, 6]
    assert board.tasks.ids(statuses=TASK_STATUSES) == [3, 4, 2, 6, 1, 5]
    assert board.tasks.ids(statuses=("done",)) == [1, 5]
    assert board.tasks.ids(statuses=TASK_STATUSES, limit=5) == [3, 4, 2, 6, 1]
    assert board.tasks.ids(statuses=()) == []
    assert [task.id for task in board.tasks.get_many([6, 99, 2, 1])] == [6, 2, 1]
    with pytest.raises(InvalidInput, match="pending, in_progress, done"):
        board.tasks.ids(statuses=("blocked",))


def test_several_move_in_one_step_or_none_does(board: Memory) -> None:
    board.tasks.move_all([2, 6, 2], "done")
    assert statuses(board) == ["done", "done", "in_progress", "in_progress", "done", "done"]
    assert board.history.steps(limit=1)[0].reason == "task done A#2 A#6 A#2"
    board.history.undo()
    before = statuses(board)
    assert before[1] == before[5] == "pending"
    for numbers, error, words in (
        ([2, 99], NotFound, "no task A#99"),
        ([2, 1], Conflict, "A#1 is done already"),
        ([], InvalidInput, "No task was named"),
    ):
        with pytest.raises(error, match=words):
            board.tasks.move_all(numbers, "done")
    assert statuses(board) == before


@pytest.mark.parametrize("status", TASK_STATUSES)
def test_moving_to_where_it_is_is_said(memory: Memory, status: str) -> None:
    number = memory.tasks.add_task("x")
    if status != "pending":
        memory.tasks.move(number, status)
    before = memory.history.steps()
    with pytest.raises(Conflict, match=f"A#1 is {status.replace('_', ' ')} already"):
        memory.tasks.move(number, status)
    assert memory.history.steps() == before


def test_the_step_says_what_was_done(memory: Memory) -> None:
    memory.tasks.add_task("x")
    for status in ("in_progress", "done", "pending"):
        memory.tasks.move(1, status)
    memory.tasks.move_all([memory.tasks.add_task(f"task {n}") for n in range(12)], "done")
    reasons = [step.reason for step in memory.history.steps()]
    assert reasons[-4:] == ["task reopen A#1", "task done A#1", "task start A#1", "task add A#1"]
    assert reasons[0].endswith("A#10 A#11 +2")


def test_the_text_of_a_task_is_mended(memory: Memory, clock) -> None:
    """In place, with what it said in history; searched by its new words; nothing else of it changes but the time."""
    memory.tasks.add_task("by tea", actor="agent")
    before = memory.tasks.get(1)
    memory.tasks.correct(1, " buy tea ")
    after = memory.tasks.get(1)
    assert (after.text, after.status, after.origin) == ("buy tea", "pending", "agent")
    assert (after.created_at, after.updated_at) == (before.created_at, clock.now)
    assert memory.history.steps(limit=1)[0].reason == "correct A#1"
    assert [hit.citation for hit in memory.search("buy ").hits] == ["A#1"]
    refuses(InvalidInput, "A#1 says exactly that", memory.tasks.correct, 1, "buy tea")
    refuses(InvalidInput, "says what is to be done", memory.tasks.correct, 1, " ")
    refuses(NotFound, "A#9", memory.tasks.correct, 9, "x")
    memory.history.undo()
    assert memory.tasks.get(1) == before
    memory.tasks.correct(1, f"rotate {KEY}")
    assert KEY not in memory.tasks.get(1).text


def test_iterations_newest_first_and_what_belongs_to_them(memory: Memory) -> None:
    """Decisions that are not forgotten, commits of its time; of each named one and no other."""
    assert (memory.iterations.ids(), memory.iterations.count_belonging([])) == ([], {})
    memory.iterations.start_iteration("feature")
    memory.decisions.decide("one", "yes")
    memory.decisions.decide("two", "yes")
    memory.decisions.forget([2])
    for number in range(3):
        memory.commits.log(f"{number + 1:040x}")
    memory.iterations.end_iteration()
    memory.iterations.start_iteration("fix")
    memory.decisions.decide("three", "yes")
    memory.iterations.end_iteration(abandoned=True)
    memory.iterations.start_iteration("spike")
    assert memory.iterations.ids() == [3, 2, 1]
    assert memory.iterations.ids(2) == [3, 2]
    assert [found.command for found in memory.iterations.get_many([2, 9, 1, 3])] == ["fix", "feature", "spike"]
    assert memory.iterations.count_belonging([1, 2, 3]) == {1: (1, 3), 2: (1, 0), 3: (0, 0)}
