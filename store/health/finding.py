"""What the doctor found, and what a check is given to look with."""

from collections.abc import Callable
from dataclasses import dataclass

from store.database.database import Database
from store.memory import Memory

OK, NOTE, WRONG = "ok", "note", "wrong"
SHOWN = 3  # records or files that a finding names


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `state` is ok, note (nothing is broken) or wrong (a person is needed); `says` is
    the cause, `next` what mends it, and `command` the same as a line for the `:` bar, if one of our verbs does it."""

    subject: str
    state: str
    says: str
    next: str = ""
    command: str = ""


Progress = Callable[[str, int, int], None]  # what is being looked at, how far, of how much (0: nobody knows)


def quiet(what: str, done: int, total: int) -> None:
    """Nobody looks."""


class CheckContext:
    """What a check looks with: an open memory, how thorough to be, and whom to tell how far it is.

    `head` is a digest that history must hold, as an earlier visit gave it; empty if none was given.
    """

    def __init__(self, memory: Memory, quick: bool, head: str, progress: Progress) -> None:
        self.memory = memory
        self.quick = quick
        self.head = head
        self.progress = progress

    @property
    def database(self) -> Database:
        return self.memory.database


def named(names: list[str], more: bool = False) -> str:
    """The first of them, and that there are others."""
    shown = ", ".join(names[:SHOWN])
    return f"{shown} …" if more or len(names) > SHOWN else shown


def salvage(path: str) -> tuple[str, str]:
    """(the sentence, the line) of the step that gets out of a damaged file what can be read."""
    from shlex import quote

    return (
        f"Keep the file as it is; `memoranda salvage {quote(path)}` writes what can be read to a new one.",
        f"salvage {quote(path)}",
    )
