"""The list of tasks that an agent keeps for itself, as the tasks of its session.

Each change of the list is one step of history, so that it is undone as one. What a person changed or took away since
stays as they left it: a list that comes again says nothing new about it.
"""

from store.base.citations import cite
from store.base.errors import Purged
from store.database.database import Transaction
from store.database.erasure import tombstones
from store.database.values import Verbatim, clean
from store.records.timeline.iterations import active
from store.text.one_line import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.doors.hooks.events import HookEvent

# tool → (where its list is, what an entry calls its text); a whole list each time
LISTS = {
    "TodoWrite": ("todos", "content"),
    "todowrite": ("todos", "content"),
    "update_plan": ("plan", "step"),
    "write_todos": ("todos", "description"),
}
ONE_BY_ONE = ("TaskCreate", "TaskUpdate")  # Claude Code's newer tools
_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "done",
    "done": "done",
    "cancelled": "",
    "deleted": "",
}
MOST = 200  # entries of a list
LONGEST = 500  # characters of one


class Item:
    """One entry: its `text` (empty where only its number is given), its `status`, empty for one that goes (None where
    it stays as it is), and the client's own number for it, empty where it has none."""

    __slots__ = ("number", "status", "text")

    def __init__(self, text: str, status: str | None, number: str = "") -> None:
        self.text = text
        self.status = status
        self.number = number


def items(event: "HookEvent") -> list[Item]:
    """Return what an event says of the list."""
    if event.tool in LISTS:
        place, name = LISTS[event.tool]
        listed = event.tool_input.get(place)
        found = [_item(entry, name) for entry in listed[:MOST]] if isinstance(listed, list) else []
        return [item for item in found if item is not None]
    status = event.tool_input.get("status")
    known = _STATUSES.get(status) if isinstance(status, str) else None
    text = _said(event.tool_input.get("subject"))
    if event.tool == "TaskCreate":
        task = event.tool_response.get("task") if isinstance(event.tool_response, dict) else None
        number = str(task.get("id", "")) if isinstance(task, dict) else ""
        return [Item(text, "pending", number[:40])] if text and number else []
    task_id = event.tool_input.get("taskId")
    return [Item(text, known, str(task_id)[:40])] if isinstance(task_id, str | int) else []


def follow(write: Transaction, event: "HookEvent", listed: list[Item]) -> list[str]:
    """Bring the session's tasks to what the agent's list says, inside a transaction; the citations of what changed."""
    known: dict[str, list[tuple[Any, ...]]] = {}  # a list may say the same twice: "Run the tests"
    for number, stored, *task in write.rows(
        "SELECT a.number, a.said, a.task, t.text, t.status, t.updated_at, a.seen FROM agent_tasks AS a"
        " LEFT JOIN tasks AS t ON t.id = a.task WHERE a.session = ? ORDER BY a.task",
        (clean(event.session),),
    ):
        known.setdefault(number or stored, []).append(tuple(task))
    changed: list[str] = []
    for item in listed:
        old = _taken(known.get(item.number or item.text, []), item.status)
        if old is None:
            if item.text and item.status:
                changed += _add(write, event, item)
        else:
            changed += _move(write, event, item, *old)
    if event.tool in LISTS:  # what is not in a whole list any more, and was not done
        for key, tasks in known.items():
            for task, text, status, updated, seen in tasks:
                if text is not None and status != "done":
                    changed += _move(write, event, Item("", "", key), task, text, status, updated, seen)
    if changed:
        write.reason = f"task list {' '.join(changed[:10])}"
    return changed


def _taken(tasks: "list[tuple[Any, ...]]", status: str | None) -> "tuple[Any, ...] | None":
    """Take the task that an entry means from those that say the same: one in the same state, else one that is not done,
    else the first."""
    if not tasks:
        return None
    rank = [0 if one[2] == status else 1 if one[2] != "done" else 2 for one in tasks]
    return tasks.pop(rank.index(min(rank)))


def _add(write: Transaction, event: "HookEvent", item: Item) -> list[str]:
    try:
        tombstones.refuse(write, item.text, again=False)
    except Purged:
        return []
    number = write.insert(
        "tasks",
        text=item.text,
        status=Verbatim(item.status),
        created_at=Verbatim(write.at),
        updated_at=Verbatim(write.at),
        iteration_id=active(write),
        origin=write.actor,
    )
    write.insert(
        "agent_tasks",
        session=event.session,
        number=Verbatim(item.number),
        said=item.text,
        task=number,
        seen=Verbatim(write.at),
    )
    return [cite("task", number)]


def _move(
    write: Transaction, event: "HookEvent", item: Item, task: int, text: "Any", status: "Any", updated: "Any", seen: str
) -> list[str]:
    """Let a task follow its entry, unless somebody else changed it since, or took it away."""
    if text is None or updated != seen:
        return []
    if item.status == "":
        write.execute("DELETE FROM tasks WHERE id = ?", (task,))
        write.execute("DELETE FROM agent_tasks WHERE task = ?", (task,))
        return [cite("task", task)]
    wanted = item.status or status
    words = item.text or text
    if (wanted, words) == (status, text):
        return []
    write.execute(
        "UPDATE tasks SET status = ?, text = ?, updated_at = ? WHERE id = ?",
        (Verbatim(wanted), words, Verbatim(write.at), task),
    )
    write.execute("UPDATE agent_tasks SET seen = ? WHERE task = ?", (Verbatim(write.at), task))
    return [cite("task", task)]


def _item(entry: object, name: str) -> Item | None:
    if not isinstance(entry, dict):
        return None
    text, status = _said(entry.get(name)), entry.get("status")
    return Item(text, _STATUSES.get(status, "pending") if isinstance(status, str) else "pending") if text else None


def _said(text: object) -> str:
    """Return a task's text as it is kept: redacted and on one line, so that it is known again."""
    return clean(one_line(text))[:LONGEST].strip() if isinstance(text, str) else ""
