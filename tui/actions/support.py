"""Shared parts of the actions: run work on the writer's thread, and show its result.

An action applies to the marked records, or to the one in the preview. More than MANY at once need a confirmation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from store.base.citations import cite
from store.base.errors import MemorandaError, Purged
from store.base.models import Step
from store.base.record_keys import pack
from store.history.checkpoints import MANY
from tui.input.key_table import named
from tui.render.plurals import count
from tui.render.redaction_notice import notice, taken

if TYPE_CHECKING:
    from store.base.models import Record
    from store.memory import Memory
    from store.purge.secret_scan import Cut
    from tui.actions.host import ActionHost

    Things = Sequence[Record | Step]

JOURNAL = "Only facts, decisions and tasks can be changed."


def many(screen: ActionHost, question: str, things: int, go: Callable[[], None]) -> None:
    """Run an action; ask first when it applies to many."""
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
    onward: bool = False,
    before: tuple[str, int] = ("", 0),
) -> None:
    """Run `work` on the writer's thread, show `said`, and clear the marks. Move the cursor to the record whose key the
    result names, or to that of `back` on failure; with `onward` to the next row, if nothing was marked. If the text was
    purged before, ask, and run `again` instead on a yes. `before` says what is done, and to how many records: of many a
    checkpoint is taken first."""

    cut: list[Cut] = []
    taken_first: list[int] = []

    def worked(memory: Memory) -> object:
        if (first := memory.checkpoints.before(*before)) is not None:
            taken_first.append(first)
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
        if taken_first:
            words = f"{words}; {cite('checkpoint', taken_first[0])} is how it was"
        if (
            onward
            and screen.place == "facts"
            and screen.focused is (current := screen.list_of("facts"))
            and not current.marks
        ):
            here = current.cursor_key
            current.action_move(1)
            if current.cursor_key != here:
                words = f"{words}; the cursor is on {cited('fact', current.cursor_key)} now"
        screen.unmark()
        if cut:
            screen.say(f"{words}. {notice(cut)}", "warning", timeout=12, alone=True)
        else:
            screen.say(words, alone=True)
        screen.refresh_records(key)

    if screen.engine is not None:
        screen.engine.write(worked, done)


def refuse(screen: ActionHost, things: Things, reason: str) -> None:
    if things:
        screen.say(reason or JOURNAL, "warning")


def made(word: str, kind: str) -> Callable[[object], tuple[str, int | None]]:
    """Return a function that maps a new record's id to (message, key)."""
    return lambda new: (f"{word} {cited(kind, new)}{undoes()}", key_of(kind, new))


def key_of(kind: str, number: object) -> int | None:
    return pack(kind, number) if isinstance(number, int) else None


def undoes() -> str:
    """Return how to undo, to append to a message."""
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
