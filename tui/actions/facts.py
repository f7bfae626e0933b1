"""Forget, confirm, pin, add and tag."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from store.base.citations import cite
from store.base.models import Checkpoint, Decision, Fact, Proposal, Task
from store.base.record_keys import pack
from store.history.checkpoints import MANY
from tui.actions import global_facts, inbox
from tui.actions.decisions import decide
from tui.actions.history import checkpoint, remove
from tui.actions.support import counted, many, names_of, refuse, undoes, write
from tui.actions.tasks import add_task
from tui.input.key_table import named
from tui.render.plurals import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from store.memory import Memory
    from tui.actions.host import ActionHost

EXPECTED = 1.0  # seconds after an undo in which this key answers a question that was not asked


def forget(screen: ActionHost) -> None:
    """Hide facts and decisions; reject proposals; remove checkpoints."""
    things = screen.targets()
    if checkpoints := [thing for thing in things if isinstance(thing, Checkpoint)]:
        remove(screen, checkpoints)
        return
    if proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        inbox.reject(screen, proposed)
        return
    if (shared := global_facts.among(screen, things)) is not None:
        global_facts.forget(screen, shared)
        return
    facts = [thing.id for thing in things if isinstance(thing, Fact)]
    decisions = [thing.id for thing in things if isinstance(thing, Decision)]
    if not facts and not decisions:
        refuse(
            screen,
            things,
            f"A task is finished with {named('task.move')}; what was done is never forgotten."
            if any(isinstance(thing, Task) for thing in things)
            else "",
        )
        return

    alone = [*(cite("fact", number) for number in facts), *(cite("decision", number) for number in decisions)]
    what = alone[0] if len(alone) == 1 else counted(facts, "fact", decisions, "decision")

    def go() -> None:
        if len(facts) <= 2 * MANY:
            screen.hide_facts(facts)

        def work(memory: Memory) -> None:
            if facts:
                memory.facts.forget(facts)
            if decisions:
                memory.decisions.forget(decisions)

        write(
            screen,
            work,
            f"Forgot {what}{undoes()}",
            back=pack("fact", facts[0]) if len(facts) == 1 else None,
            before=(f"forget {what}", len(facts) + len(decisions)),
        )

    many(screen, f"Forget {what}?", len(facts) + len(decisions), go)


def confirm(screen: ActionHost) -> None:
    """Confirm facts and agents' decisions; accept proposals."""
    things = screen.targets()
    if screen.engine is not None and monotonic() - screen.engine.undone_at < EXPECTED:
        screen.engine.undone_at = 0.0  # the next one is meant
        screen.say("It was undone already, without a question. Confirm by the same key again.", "warning")
        return
    if proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        inbox.accept(screen, proposed)
        return
    if (shared := global_facts.among(screen, things)) is not None:
        global_facts.confirm(screen, shared)
        return
    facts = [thing for thing in things if isinstance(thing, Fact)]
    decisions = [thing for thing in things if isinstance(thing, Decision)]
    if not facts and not decisions:
        refuse(screen, things, "Only facts, and decisions that an agent logged, are confirmed.")
        return
    if facts:
        _confirm(screen, "fact", facts, lambda memory, numbers: memory.facts.confirm(numbers))
    else:
        _confirm(screen, "decision", decisions, lambda memory, numbers: memory.decisions.confirm(numbers))


def _confirm(
    screen: ActionHost,
    kind: str,
    records: Sequence[Fact] | Sequence[Decision],
    work: Callable[[Memory, list[int]], object],
) -> None:
    named = records[0].citation if len(records) == 1 else count(len(records), kind)
    numbers = [record.id for record in records]
    many(
        screen,
        f"Confirm {named}?",
        len(records),
        lambda: write(
            screen,
            lambda memory: work(memory, numbers),
            f"Confirmed {named}{undoes()}",
            onward=True,
            before=(f"confirm {named}", len(numbers)),
        ),
    )


def pin(screen: ActionHost) -> None:
    things = screen.targets()
    if (shared := global_facts.among(screen, things)) is not None:
        global_facts.pin(screen, shared)
        return
    facts = [thing for thing in things if isinstance(thing, Fact)]
    if not facts:
        refuse(screen, things, "Only facts age, so only facts are pinned.")
        return
    pinned = not all(fact.pinned for fact in facts)
    said = facts[0].citation if len(facts) == 1 else count(len(facts), "fact")
    word = "Pinned" if pinned else "Unpinned"
    numbers = [fact.id for fact in facts if fact.pinned is not pinned]
    many(
        screen,
        f"{'Pin' if pinned else 'Unpin'} {said}?",
        len(numbers),
        lambda: write(
            screen,
            lambda memory: memory.facts.pin(numbers, pinned),
            f"{word} {said}{undoes()}",
            before=(f"{'pin' if pinned else 'unpin'} {said}", len(numbers)),
        ),
    )


def add(screen: ActionHost) -> None:
    """Add a fact; in the lists of decisions, checkpoints or tasks, one of those."""
    place = screen.place
    if place == "timeline":
        decide(screen, None)
    elif place == "checkpoints":
        checkpoint(screen)
    elif place == "tasks":
        screen.ask("to be done", "", lambda text: add_task(screen, text))
    else:
        domain = screen.view.domain or "general"
        label = "remember" if domain == "general" else f"remember ({domain})"
        screen.ask(label, "", lambda text: _add_fact(screen, text, domain))


def _add_fact(screen: ActionHost, text: str, domain: str) -> None:
    def said(result: object) -> tuple[str, int | None]:
        number, new = result if isinstance(result, tuple) else (0, True)
        known = f"{cite('fact', number)} is already known; confirmed{undoes()}"
        return f"Remembered {cite('fact', number)}{undoes()}" if new else known, pack("fact", number)

    if text.strip():
        write(
            screen,
            lambda memory: memory.facts.remember(text, domain=domain),
            said,
            again=lambda memory: memory.facts.remember(text, domain=domain, again=True),
        )


def tag(screen: ActionHost) -> None:
    """Tag facts, decisions and tasks; with a dash in front a tag is taken away."""
    every = screen.targets()
    if (shared := global_facts.among(screen, every)) is not None:
        global_facts.tag(screen, shared)
        return
    things = [thing for thing in every if isinstance(thing, Fact | Decision | Task)]
    if not things:
        screen.say("Only facts, decisions and tasks have tags.", "warning")
        return
    records = [(type(thing).__name__.lower(), thing.id) for thing in things]
    what = names_of(things)

    def answer(text: str) -> None:
        word = text.strip()
        if word.startswith("-"):
            said = f"Removed the tag {word[1:]} from {what}{undoes()}"
            write(screen, lambda memory: memory.tagging.remove(records, word[1:]), said)
        elif word:
            write(
                screen,
                lambda memory: memory.tagging.add(records, word),
                lambda stored: (f"Tagged {what}: {stored}{undoes()}", None),
            )

    known = ", ".join(dict.fromkeys(word for thing in things for word in thing.tags))
    screen.ask(f"tag {what}{f' ({known})' if known else ''}", "", answer)
