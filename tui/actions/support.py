"""Helpers of the actions: do work on the writer's thread, say what was done, and show it.

An act is about the marked records, or about the one in the preview. More than MANY at once are asked about first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from store import MemorandaError, Purged, Step, cite
from store import pack_key as pack
from tui.input.key_table import named
from tui.render.plurals import count
from tui.render.redaction_notice import taken, told

if TYPE_CHECKING:
    from store import Memory, Record
    from store import SecretCut as Cut
    from tui.actions.host import ActionHost

    Things = Sequence[Record | Step]

MANY = 10
JOURNAL = "Only facts, decisions and tasks can be changed; the rest is a journal of what happened."


def many(screen: ActionHost, question: str, things: int, go: Callable[[], None]) -> None:
    """Do it; ask first when it is about many."""
    if things > MANY:
        screen.ask_first(question, go)
    else:
        go()


def write(
    screen: ActionHost,
    work: Callable[[Memory], object],
    said: str | Callable[[object], tuple[str, int | None]],
    back: int | None = None,
    again: Callable[[Memory], object] | None = None,
) -> None:
    """Do `work` on the writer's thread; then say `said`, and put the cursor on the record whose key it names, if it
    names one; on that of `back` if it failed. Marks have had their time once it is done. Where it would keep a text
    that was purged, `again` is done instead if the person says so."""

    cut: list[Cut] = []

    def worked(memory: Memory) -> object:
        result = work(memory)
        cut.extend(taken(memory.database))
        return result

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if isinstance(error, Purged) and again is not None:
            screen.ask_first(f"{error.message} Keep it all the same?", lambda: write(screen, again, said, back))
            return
        if error is not None:
            screen.say(str(error), "error", timeout=8)
            screen.refresh_records(back)
            return
        words, key = (said, None) if isinstance(said, str) else said(result)
        screen.unmark()
        if cut:
            screen.say(f"{words}. {told(cut)}", "warning", timeout=12, alone=True)
        else:
            screen.say(words, alone=True)
        screen.refresh_records(key)

    if screen.engine is not None:
        screen.engine.write(worked, done)


def refuse(screen: ActionHost, things: Things, reason: str) -> None:
    if things:
        screen.say(reason or JOURNAL, "warning")


def made(word: str, kind: str) -> Callable[[object], tuple[str, int | None]]:
    """What to say of a record that was made, by its id, and its key."""
    undo = "" if kind == "checkpoint" else undoes()
    return lambda new: (f"{word} {cited(kind, new)}{undo}", key_of(kind, new))


def key_of(kind: str, number: object) -> int | None:
    return pack(kind, number) if isinstance(number, int) else None


def undoes() -> str:
    """What is said after a change: how it is taken back."""
    return f", {named('memory.undo')} to undo"


def name_of(thing: Record | Step) -> str:
    return f"step {thing.seq}" if isinstance(thing, Step) else thing.citation


def names_of(things: Things) -> str:
    names = [name_of(thing) for thing in things]
    return " ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def cited(kind: str, number: object) -> str:
    return cite(kind, number) if isinstance(number, int) else kind


def counted(some: Sequence[object], word: str, others: Sequence[object], other: str) -> str:
    return " and ".join(count(len(things), name) for things, name in ((some, word), (others, other)) if things)
