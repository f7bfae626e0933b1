"""An agent's own list of tasks becomes tasks, follows it, and stays as a person left it."""

from typing import Any

from store.database.tombstones import add_tombstones
from store.doors import hook_handlers as task_list
from store.doors.hook_events import TASK_TOOLS, HookEvent
from store.memory import Memory


def event(tool: str, given: dict[str, Any], response: object = None, session: str = "s") -> HookEvent:
    return HookEvent("claude-code", "tool", "PostToolUse", session, tool=tool, tool_input=given, tool_response=response)


def follow(memory: Memory, happened: HookEvent) -> list[str]:
    with memory.database.write("hook:claude-code", "task list") as write:
        return task_list.follow_task_list(write, happened, task_list.parse_task_entries(happened))


def todos(**states: str) -> HookEvent:
    return event("TodoWrite", {"todos": [{"content": text, "status": state} for text, state in states.items()]})


def tasks(memory: Memory) -> dict[str, str]:
    every = memory.tasks.ids(statuses=("pending", "in_progress", "done"))
    return {task.text: task.status for task in memory.tasks.get_many(every)}


def test_every_tool_by_which_an_agent_keeps_its_tasks_is_known() -> None:
    assert set(TASK_TOOLS) == {*task_list.LIST_TOOLS, *task_list.SINGLE_TASK_TOOLS}


def test_a_list_is_followed_and_undone_as_one(memory: Memory) -> None:
    assert follow(memory, todos(parse="in_progress", write="pending", drop="pending")) == ["A#1", "A#2", "A#3"]
    assert not follow(memory, todos(parse="in_progress", write="pending", drop="pending"))  # nothing new, no step
    assert follow(memory, todos(parse="completed", write="in_progress")) == ["A#1", "A#2", "A#3"]
    assert tasks(memory) == {"parse": "done", "write": "in_progress"}
    step = memory.history.steps(limit=1)[0]
    assert (step.actor, step.reason) == ("hook:claude-code", "task list A#1 A#2 A#3")
    memory.history.undo(step.seq)
    assert tasks(memory) == {"parse": "in_progress", "write": "pending", "drop": "pending"}


def test_a_list_that_says_the_same_twice_has_two_tasks(memory: Memory) -> None:
    def listed(*states: str) -> HookEvent:
        return event("TodoWrite", {"todos": [{"content": "Run the tests", "status": state} for state in states]})

    assert follow(memory, listed("in_progress", "pending")) == ["A#1", "A#2"]
    assert not follow(memory, listed("in_progress", "pending"))
    assert follow(memory, listed("completed", "pending")) == ["A#1"]
    assert follow(memory, listed("completed", "in_progress")) == ["A#2"]
    assert follow(memory, listed("completed")) == ["A#2"]  # the other one went
    assert [task.status for task in memory.tasks.get_many([1, 2])] == ["done"]


def test_what_a_person_changed_stays(memory: Memory) -> None:
    follow(memory, todos(parse="in_progress", write="pending", ship="pending"))
    memory.tasks.correct(1, "parse the invoices")
    memory.tasks.move(2, "done")
    memory.history.undo(memory.history.steps(limit=1)[0].seq)
    memory.tasks.move(2, "done")
    follow(memory, todos(parse="completed", write="in_progress"))
    assert tasks(memory) == {"parse the invoices": "in_progress", "write": "done"}


def test_what_a_person_took_back_does_not_return(memory: Memory) -> None:
    follow(memory, todos(parse="in_progress"))
    memory.history.undo(memory.history.steps(limit=1)[0].seq)
    follow(memory, todos(parse="completed", write="pending"))
    assert tasks(memory) == {"write": "pending"}


def test_done_tasks_stay_when_a_new_list_begins(memory: Memory) -> None:
    follow(memory, todos(parse="completed"))
    follow(memory, todos(write="pending"))
    assert tasks(memory) == {"parse": "done", "write": "pending"}


def test_tasks_that_are_made_one_by_one(memory: Memory) -> None:
    follow(memory, event("TaskCreate", {"subject": "parse"}, {"task": {"id": "7", "subject": "parse"}}))
    follow(memory, event("TaskCreate", {"subject": "write"}, {"task": {"id": "8", "subject": "write"}}))
    follow(memory, event("TaskUpdate", {"taskId": "7", "status": "completed"}))
    follow(memory, event("TaskUpdate", {"taskId": "8", "subject": "write it all"}))
    assert tasks(memory) == {"parse": "done", "write it all": "pending"}
    follow(memory, event("TaskUpdate", {"taskId": "8", "status": "deleted"}))
    follow(memory, event("TaskUpdate", {"taskId": "99", "status": "completed"}))
    assert tasks(memory) == {"parse": "done"}
    follow(memory, event("TaskUpdate", {"taskId": "7", "status": "pending"}, session="another"))
    assert tasks(memory) == {"parse": "done"}


def test_what_was_purged_is_not_listed_again(memory: Memory) -> None:
    follow(memory, todos(parse="pending"))
    with memory.database.write("user", "purge") as write:
        add_tombstones(write, ["call Rosa Vidal"])
    follow(memory, event("TodoWrite", {"todos": [{"content": "call Rosa Vidal", "status": "pending"}]}, session="b"))
    assert tasks(memory) == {"parse": "pending"}
