"""Copy and export records, and jump to a day."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING

from store.base.models import Step
from tui.actions.support import name_of, names_of

if TYPE_CHECKING:
    from store.base.models import Record
    from tui.actions.host import ActionHost


def copy(screen: ActionHost) -> None:
    _copy(screen, lambda thing: name_of(thing), "")


def copy_text(screen: ActionHost) -> None:
    from store.search.pipeline import body

    answer = screen.last_answer
    if screen.focused is not None and screen.focused is screen.talk:
        if answer is not None:
            screen.copy(answer.text, "the answer")
        return
    _copy(screen, lambda thing: thing.reason if isinstance(thing, Step) else body(thing), "the text of ")


def _copy(screen: ActionHost, form: Callable[[Record | Step], str], what: str) -> None:
    things = list(screen.targets())
    if things:
        texts = [form(thing) for thing in sorted(things, key=lambda thing: (type(thing).__name__, name_of(thing)))]
        screen.copy("\n".join(texts) if what else " ".join(texts), what + names_of(things))


def export(screen: ActionHost) -> None:
    home, name = export_path(screen.name_of_memory).split("/", 1)
    screen.type_command(f"export {home}/{quote(name)}")


def export_path(name: str) -> str:
    """Return the default path of an export: in the home directory, not the checkout, where the next `git add` would
    publish it."""
    return f"~/{name}-memory.json"


def day(screen: ActionHost) -> None:
    screen.ask("to the day (2026-10-01, yesterday, 3w)", "", screen.go_to_day)
