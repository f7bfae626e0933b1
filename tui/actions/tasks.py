"""Tasks and iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.base.models import Task
from tui.actions.support import made, names_of, undoes, write
from tui.input.key_table import named
from tui.render.plurals import count

if TYPE_CHECKING:
    from tui.actions.host import ActionHost


def add_task(screen: ActionHost, text: str) -> None:
    if text.strip():
        write(
            screen,
            lambda memory: memory.tasks.add(text),
            made("Added", "task"),
            again=lambda memory: memory.tasks.add(text, again=True),
        )


def move_task(screen: ActionHost) -> None:
    tasks = [thing for thing in screen.targets() if isinstance(thing, Task)]
    if not tasks:
        screen.say(f"{named('task.move')} starts and finishes tasks; {named('pane.tasks')} goes to them.", "warning")
        return
    # tasks in progress come first: with one of them, all are marked done
    first = min((task.status for task in tasks), key=("in_progress", "pending", "done").index)
    status = {"pending": "in_progress", "in_progress": "done", "done": "pending"}[first]
    word = {"in_progress": "Started", "done": "Done:", "pending": "Open again:"}[status]
    tasks = [task for task in tasks if task.status != status]
    numbers = [task.id for task in tasks]
    write(
        screen,
        lambda memory: memory.tasks.move_all(numbers, status),
        f"{word} {names_of(tasks)}{undoes()}",
        before=(f"move {count(len(numbers), 'task')}", len(numbers)),
    )


def iteration(screen: ActionHost) -> None:
    """Prefill the `:` line that starts an iteration; while one runs, how it ends is left to be typed."""
    running = screen.engine.screen.iterations.active() if screen.engine is not None else None
    screen.type_command("iteration " if running else "iteration start feature ")
