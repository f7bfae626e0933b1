"""The findings of the doctor, and the input of a check."""

from collections.abc import Callable
from dataclasses import dataclass

from store.database.database import Database
from store.memory import Memory

OK, NOTE, WRONG = "ok", "note", "wrong"
SHOWN = 3  # records or files that a finding lists


@dataclass(frozen=True)
class Finding:
    """The result of one check. `state` is ok, note (nothing is broken) or wrong (a person is needed); `says` is the
    cause, `next` the repair, and `command` the same as a line for the `:` bar, if one of our commands does it."""

    subject: str
    state: str
    says: str
    next: str = ""
    command: str = ""


Progress = Callable[[str, int, int], None]  # what is being checked, how much is done, of how much (0: unknown)


def quiet(what: str, done: int, total: int) -> None:
    """Report no progress."""


class CheckContext:
    """Input of a check: an open memory, how thorough to be, and a callback for progress.

    `head` is a digest that history must contain, from an earlier check; empty if none was given.
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
    """Return the first of them, with a note that there are others."""
    shown = ", ".join(names[:SHOWN])
    return f"{shown} …" if more or len(names) > SHOWN else shown


def salvage(path: str) -> tuple[str, str]:
    """Return (the sentence, the command) of the step that salvages a damaged file."""
    from shlex import quote

    return (
        f"Keep the file as it is; `memoranda salvage {quote(path)}` writes what can be read to a new one.",
        f"salvage {quote(path)}",
    )
