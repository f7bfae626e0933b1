"""Mute facts, and show the context that an agent would be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.base.models import Fact
from tui.actions import global_facts
from tui.actions.support import many, refuse, undoes, write
from tui.render.plurals import count

if TYPE_CHECKING:
    from tui.actions.host import ActionHost


def mute(screen: ActionHost) -> None:
    """Mute the facts, or unmute them if all are muted."""
    things = screen.targets()
    if (shared := global_facts.among(screen, things)) is not None:
        global_facts.mute(screen, shared)
        return
    numbers = [thing.id for thing in things if isinstance(thing, Fact)]
    if not numbers or screen.engine is None:
        refuse(screen, things, "Only facts are muted: the rest is sent as it was said.")
        return
    known = screen.engine.screen.mutes.among(numbers)
    muting = [number for number in numbers if number not in known]
    said = things[0].citation if len(things) == 1 and isinstance(things[0], Fact) else count(len(numbers), "fact")
    word = "Muted" if muting else "Unmuted"

    def go() -> None:
        write(
            screen,
            lambda memory: memory.mutes.mute(muting) if muting else memory.mutes.unmute(numbers),
            f"{word} {said}{undoes()}",
            before=(f"{'mute' if muting else 'unmute'} {said}", len(muting or numbers)),
        )

    many(screen, f"{'Mute' if muting else 'Unmute'} {said}?", len(numbers), go)


def ask(screen: ActionHost) -> None:
    def answer(text: str) -> None:
        screen.change_view(question=text.strip(), session="")
        screen.go_to("context")

    screen.ask("what would an agent be sent for", screen.view.question, answer, over=True)
