"""Global facts: change them in the person's own memory, and move facts there or into the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from store.base.models import Fact, GlobalFact
from store.base.record_keys import pack
from tui.actions.support import cited, many, names_of, refuse, undoes, write
from tui.lists.fact_groups import list_key
from tui.render.plurals import count

if TYPE_CHECKING:
    from store.base.models import Record, Step
    from store.memory import Memory
    from tui.actions.host import ActionHost

    Work = Callable[[Memory, list[int]], object]


def among(screen: ActionHost, things: Sequence[Record | Step]) -> list[GlobalFact] | None:
    """Return the global facts among the records of an action; None if there is none. They are changed in another
    memory, so a mixture is refused, and the list is empty."""
    found = [thing for thing in things if isinstance(thing, GlobalFact)]
    if not found:
        return None
    if len(found) < len(things):
        screen.say("Global facts are changed apart from the project's records: mark only them.", "warning")
        return []
    return found


def change(screen: ActionHost, facts: Sequence[GlobalFact], verb: str, done: str, work: Work) -> None:
    """Do work on global facts, in a step of the person's own memory; `done` is its participle: Confirmed."""
    numbers = [fact.id for fact in facts]
    if not numbers:
        return
    named = facts[0].citation if len(facts) == 1 else count(len(facts), "global fact")
    said = f"{done} {named} in every project{undoes()}"
    many(
        screen,
        f"{verb} {named} in every project?",
        len(numbers),
        lambda: write(screen, lambda memory: work(memory, numbers), said, onward=verb == "Confirm"),
    )


def forget(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    def work(memory: Memory, numbers: list[int]) -> None:
        memory.globals.forget(numbers)
        screen.later(screen.hide_facts, [list_key("global", number) for number in numbers])

    change(screen, facts, "Forget", "Forgot", work)


def confirm(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    change(screen, facts, "Confirm", "Confirmed", lambda memory, numbers: memory.globals.confirm(numbers))


def pin(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Pin them, or unpin them if all are pinned."""
    on = not all(fact.own.pinned for fact in facts)
    facts = [fact for fact in facts if fact.own.pinned is not on]
    verbs = ("Pin", "Pinned") if on else ("Unpin", "Unpinned")
    change(screen, facts, *verbs, lambda memory, numbers: memory.globals.pin(numbers, on))


def mute(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Mute them, or unmute them if all are muted."""
    if screen.engine is None:
        return
    known = screen.engine.screen.globals.muted([fact.id for fact in facts])
    muting = [fact for fact in facts if fact.id not in known]
    verbs = ("Mute", "Muted") if muting else ("Unmute", "Unmuted")
    change(screen, muting or facts, *verbs, lambda memory, numbers: memory.globals.mute(numbers, bool(muting)))


def tag(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Tag them; with a dash in front a tag is taken away."""

    def answer(text: str) -> None:
        word = text.strip()
        if word.startswith("-"):
            change(screen, facts, "Untag", "Untagged", lambda memory, numbers: memory.globals.untag(numbers, word[1:]))
        elif word:
            change(screen, facts, "Tag", "Tagged", lambda memory, numbers: memory.globals.tag(numbers, word))

    if facts:
        screen.ask(f"tag {names_of(facts)}", "", answer)


def move(screen: ActionHost) -> None:
    """Make the fact global, or move a global one into this project: one step, which one undo takes back."""
    record = screen.target()
    if isinstance(record, Fact):
        fact = record
        _move(screen, fact, "global", lambda memory, again: memory.moves.to_global(fact.id, seen=fact, again=again))
    elif isinstance(record, GlobalFact):
        seen = record.own
        _move(screen, record, "fact", lambda memory, again: memory.moves.to_project(seen.id, seen=seen, again=again))
    elif record is not None:
        refuse(screen, [record], "Only facts are made global, and global ones moved into this project.")


def _move(screen: ActionHost, record: Fact | GlobalFact, kind: str, work: Callable[[Memory, bool], int]) -> None:
    where = "seen in every project" if kind == "global" else "of this project alone"

    def said(new: object) -> tuple[str, int | None]:
        key = pack(kind, new) if isinstance(new, int) else None
        return f"Moved {record.citation} to {cited(kind, new)}, {where}{undoes()}", key

    write(screen, lambda memory: work(memory, False), said, again=lambda memory: work(memory, True))
