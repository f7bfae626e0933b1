"""What keys do with facts, global ones too: forget, confirm, pin, mute, add and tag.

Forget, confirm, pin, add and tag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from store.base.citations import cite
from store.base.models import Checkpoint, Decision, Fact, GlobalFact, Proposal, Record, Step, Task
from store.base.vocabulary import pack_key
from store.history.checkpoints import MANY_RECORDS
from store.memory import Memory
from tui.actions.decisions import add_task, ask_for_decision
from tui.actions.history import add_checkpoint, remove_checkpoints
from tui.actions.inbox import accept_proposals, reject_proposals
from tui.actions.support import (
    ActionHost,
    ask_if_many,
    citation_or_kind,
    count_both,
    join_citations,
    refuse_action,
    undo_hint,
    write_and_report,
)
from tui.input.key_table import key_name
from tui.lists.fact_groups import fact_list_key
from tui.render.lines import format_count

# Global facts: change them in the person's own memory, and move facts there or into the project.

Work = Callable[[Memory, list[int]], object]


def global_facts_in(screen: ActionHost, things: Sequence[Record | Step]) -> list[GlobalFact] | None:
    """Return the global facts among the records of an action; None if there is none. They are changed in another
    memory, so a mixture is refused, and the list is empty."""
    found = [thing for thing in things if isinstance(thing, GlobalFact)]
    if not found:
        return None
    if len(found) < len(things):
        screen.say("Global facts are changed apart from the project's records: mark only them.", "warning")
        return []
    return found


def change_global_facts(screen: ActionHost, facts: Sequence[GlobalFact], verb: str, done: str, work: Work) -> None:
    """Do work on global facts, in a step of the person's own memory; `done` is its participle: Confirmed."""
    numbers = [fact.id for fact in facts]
    if not numbers:
        return
    named = facts[0].citation if len(facts) == 1 else format_count(len(facts), "global fact")
    said = f"{done} {named} in every project{undo_hint()}"
    ask_if_many(
        screen,
        f"{verb} {named} in every project?",
        len(numbers),
        lambda: write_and_report(screen, lambda memory: work(memory, numbers), said, onward=verb == "Confirm"),
    )


def forget_global_facts(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Forget global facts, and hide them from the list at once."""

    def work(memory: Memory, numbers: list[int]) -> None:
        memory.globals.forget(numbers)
        screen.later(screen.hide_facts, [fact_list_key("global", number) for number in numbers])

    change_global_facts(screen, facts, "Forget", "Forgot", work)


def confirm_global_facts(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Confirm that global facts are still true."""
    change_global_facts(
        screen, facts, "Confirm", "Confirmed", lambda memory, numbers: memory.globals.confirm(numbers)
    )


def pin_global_facts(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Pin global facts; unpin them if all of them are pinned."""
    on = not all(fact.own.pinned for fact in facts)
    facts = [fact for fact in facts if fact.own.pinned is not on]
    verbs = ("Pin", "Pinned") if on else ("Unpin", "Unpinned")
    change_global_facts(screen, facts, *verbs, lambda memory, numbers: memory.globals.pin(numbers, on))


def mute_global_facts(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Mute global facts; unmute them if all of them are muted."""
    if screen.engine is None:
        return
    known = screen.engine.screen.globals.find_muted([fact.id for fact in facts])
    muting = [fact for fact in facts if fact.id not in known]
    verbs = ("Mute", "Muted") if muting else ("Unmute", "Unmuted")
    change_global_facts(
        screen, muting or facts, *verbs, lambda memory, numbers: memory.globals.mute(numbers, bool(muting))
    )


def tag_global_facts(screen: ActionHost, facts: Sequence[GlobalFact]) -> None:
    """Ask for a tag for global facts. With a dash in front it is removed."""

    def answer(text: str) -> None:
        word = text.strip()
        if word.startswith("-"):
            change_global_facts(
                screen, facts, "Untag", "Untagged", lambda memory, numbers: memory.globals.untag(numbers, word[1:])
            )
        elif word:
            change_global_facts(
                screen, facts, "Tag", "Tagged", lambda memory, numbers: memory.globals.tag(numbers, word)
            )

    if facts:
        screen.ask(f"tag {join_citations(facts)}", "", answer)


def move(screen: ActionHost) -> None:
    """Make the selected fact global, or move a global fact into this project. It is a single step of history,
    which undo reverts."""
    record = screen.target()
    if isinstance(record, Fact):
        fact = record
        _move_fact(
            screen,
            fact,
            "global",
            lambda memory, again: memory.moves.move_to_global(fact.id, seen=fact, again=again),
        )
    elif isinstance(record, GlobalFact):
        seen = record.own
        _move_fact(
            screen,
            record,
            "fact",
            lambda memory, again: memory.moves.move_to_project(seen.id, seen=seen, again=again),
        )
    elif record is not None:
        refuse_action(screen, [record], "Only facts are made global, and global ones moved into this project.")


def _move_fact(
    screen: ActionHost, record: Fact | GlobalFact, kind: str, work: Callable[[Memory, bool], int]
) -> None:
    """Move a fact by `work`, which returns its number in the new place as a record of `kind`."""
    where = "seen in every project" if kind == "global" else "of this project alone"

    def said(new: object) -> tuple[str, int | None]:
        key = pack_key(kind, new) if isinstance(new, int) else None
        return f"Moved {record.citation} to {citation_or_kind(kind, new)}, {where}{undo_hint()}", key

    write_and_report(screen, lambda memory: work(memory, False), said, again=lambda memory: work(memory, True))


# Mute facts, and show the context that an agent would be sent.


def mute(screen: ActionHost) -> None:
    """Mute the selected facts; unmute them if all of them are muted."""
    things = screen.targets()
    if (shared := global_facts_in(screen, things)) is not None:
        mute_global_facts(screen, shared)
        return
    numbers = [thing.id for thing in things if isinstance(thing, Fact)]
    if not numbers or screen.engine is None:
        refuse_action(screen, things, "Only facts are muted: the rest is sent as it was said.")
        return
    known = screen.engine.screen.mutes.filter_muted_facts(numbers)
    muting = [number for number in numbers if number not in known]
    said = (
        things[0].citation
        if len(things) == 1 and isinstance(things[0], Fact)
        else format_count(len(numbers), "fact")
    )
    word = "Muted" if muting else "Unmuted"

    def go() -> None:
        write_and_report(
            screen,
            lambda memory: memory.mutes.mute(muting) if muting else memory.mutes.unmute(numbers),
            f"{word} {said}{undo_hint()}",
            before=(f"{'mute' if muting else 'unmute'} {said}", len(muting or numbers)),
        )

    ask_if_many(screen, f"{'Mute' if muting else 'Unmute'} {said}?", len(numbers), go)


def ask_context(screen: ActionHost) -> None:
    """Ask for a question, and show what an agent would be sent for it."""

    def answer(text: str) -> None:
        screen.change_view(question=text.strip(), session="")
        screen.go_to("context")

    screen.ask("what would an agent be sent for", screen.view.question, answer, over=True)


UNDO_GRACE_SECONDS = 1.0  # seconds after an undo in which this key answers a question that was not asked


def forget(screen: ActionHost) -> None:
    """Hide facts and decisions; reject proposals; remove checkpoints."""
    things = screen.targets()
    if checkpoints := [thing for thing in things if isinstance(thing, Checkpoint)]:
        remove_checkpoints(screen, checkpoints)
        return
    if proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        reject_proposals(screen, proposed)
        return
    if (shared := global_facts_in(screen, things)) is not None:
        forget_global_facts(screen, shared)
        return
    facts = [thing.id for thing in things if isinstance(thing, Fact)]
    decisions = [thing.id for thing in things if isinstance(thing, Decision)]
    if not facts and not decisions:
        refuse_action(
            screen,
            things,
            f"A task is finished with {key_name('task.move')}; what was done is never forgotten."
            if any(isinstance(thing, Task) for thing in things)
            else "",
        )
        return

    alone = [*(cite("fact", number) for number in facts), *(cite("decision", number) for number in decisions)]
    what = alone[0] if len(alone) == 1 else count_both(facts, "fact", decisions, "decision")

    def go() -> None:
        if len(facts) <= 2 * MANY_RECORDS:
            screen.hide_facts(facts)

        def work(memory: Memory) -> None:
            if facts:
                memory.facts.forget(facts)
            if decisions:
                memory.decisions.forget(decisions)

        write_and_report(
            screen,
            work,
            f"Forgot {what}{undo_hint()}",
            back=pack_key("fact", facts[0]) if len(facts) == 1 else None,
            before=(f"forget {what}", len(facts) + len(decisions)),
        )

    ask_if_many(screen, f"Forget {what}?", len(facts) + len(decisions), go)


def confirm(screen: ActionHost) -> None:
    """Confirm facts and agents' decisions; accept proposals."""
    things = screen.targets()
    if screen.engine is not None and monotonic() - screen.engine.undone_at < UNDO_GRACE_SECONDS:
        screen.engine.undone_at = 0.0  # the next one is meant
        screen.say("It was undone already, without a question. Confirm by the same key again.", "warning")
        return
    if proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        accept_proposals(screen, proposed)
        return
    if (shared := global_facts_in(screen, things)) is not None:
        confirm_global_facts(screen, shared)
        return
    facts = [thing for thing in things if isinstance(thing, Fact)]
    decisions = [thing for thing in things if isinstance(thing, Decision)]
    if not facts and not decisions:
        refuse_action(screen, things, "Only facts, and decisions that an agent logged, are confirmed.")
        return
    if facts:
        _confirm_records(screen, "fact", facts, lambda memory, numbers: memory.facts.confirm(numbers))
    else:
        _confirm_records(screen, "decision", decisions, lambda memory, numbers: memory.decisions.confirm(numbers))


def _confirm_records(
    screen: ActionHost,
    kind: str,
    records: Sequence[Fact] | Sequence[Decision],
    work: Callable[[Memory, list[int]], object],
) -> None:
    """Confirm records of one kind by `work`, and report it."""
    named = records[0].citation if len(records) == 1 else format_count(len(records), kind)
    numbers = [record.id for record in records]
    ask_if_many(
        screen,
        f"Confirm {named}?",
        len(records),
        lambda: write_and_report(
            screen,
            lambda memory: work(memory, numbers),
            f"Confirmed {named}{undo_hint()}",
            onward=True,
            before=(f"confirm {named}", len(numbers)),
        ),
    )


def pin(screen: ActionHost) -> None:
    """Pin the selected facts; unpin them if all of them are pinned."""
    things = screen.targets()
    if (shared := global_facts_in(screen, things)) is not None:
        pin_global_facts(screen, shared)
        return
    facts = [thing for thing in things if isinstance(thing, Fact)]
    if not facts:
        refuse_action(screen, things, "Only facts age, so only facts are pinned.")
        return
    pinned = not all(fact.pinned for fact in facts)
    said = facts[0].citation if len(facts) == 1 else format_count(len(facts), "fact")
    word = "Pinned" if pinned else "Unpinned"
    numbers = [fact.id for fact in facts if fact.pinned is not pinned]
    ask_if_many(
        screen,
        f"{'Pin' if pinned else 'Unpin'} {said}?",
        len(numbers),
        lambda: write_and_report(
            screen,
            lambda memory: memory.facts.pin(numbers, pinned),
            f"{word} {said}{undo_hint()}",
            before=(f"{'pin' if pinned else 'unpin'} {said}", len(numbers)),
        ),
    )


def add_record(screen: ActionHost) -> None:
    """Ask for a new fact; in the lists of decisions, checkpoints and tasks, for a new record of the list's kind."""
    place = screen.current_list
    if place == "timeline":
        ask_for_decision(screen, None)
    elif place == "checkpoints":
        add_checkpoint(screen)
    elif place == "tasks":
        screen.ask("to be done", "", lambda text: add_task(screen, text))
    else:
        domain = screen.view.domain or "general"
        label = "remember" if domain == "general" else f"remember ({domain})"
        screen.ask(label, "", lambda text: _add_fact(screen, text, domain))


def _add_fact(screen: ActionHost, text: str, domain: str) -> None:
    """Remember a typed fact, and select it in the list."""

    def said(result: object) -> tuple[str, int | None]:
        number, new = result if isinstance(result, tuple) else (0, True)
        known = f"{cite('fact', number)} is already known; confirmed{undo_hint()}"
        return f"Remembered {cite('fact', number)}{undo_hint()}" if new else known, pack_key("fact", number)

    if text.strip():
        write_and_report(
            screen,
            lambda memory: memory.facts.remember(text, domain=domain),
            said,
            again=lambda memory: memory.facts.remember(text, domain=domain, again=True),
        )


def tag(screen: ActionHost) -> None:
    """Tag facts, decisions and tasks; with a dash in front a tag is taken away."""
    every = screen.targets()
    if (shared := global_facts_in(screen, every)) is not None:
        tag_global_facts(screen, shared)
        return
    things = [thing for thing in every if isinstance(thing, Fact | Decision | Task)]
    if not things:
        screen.say("Only facts, decisions and tasks have tags.", "warning")
        return
    records = [(type(thing).__name__.lower(), thing.id) for thing in things]
    what = join_citations(things)

    def answer(text: str) -> None:
        word = text.strip()
        if word.startswith("-"):
            said = f"Removed the tag {word[1:]} from {what}{undo_hint()}"
            write_and_report(screen, lambda memory: memory.tagging.remove_tags(records, word[1:]), said)
        elif word:
            write_and_report(
                screen,
                lambda memory: memory.tagging.add_tags(records, word),
                lambda stored: (f"Tagged {what}: {stored}{undo_hint()}", None),
            )

    known = ", ".join(dict.fromkeys(word for thing in things for word in thing.tags))
    screen.ask(f"tag {what}{f' ({known})' if known else ''}", "", answer)
