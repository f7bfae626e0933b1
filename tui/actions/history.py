"""Undo and redo, checkpoints, moments: what keys do with time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from store.base.clock import DAY_MS, format_how_long_ago, from_ms, to_ms
from store.base.errors import MemorandaError, NotFound
from store.base.models import Checkpoint, Record, Step, Turn
from store.base.vocabulary import PERSON_ORIGIN, TALK_ORIGIN_PREFIX, kind_of_key, pack_key, unpack_key
from store.history.history import HISTORY_KINDS
from store.memory import Memory
from store.records.commits import read_moment
from store.search.lookup import records_by_key
from store.text.display import format_count
from tui.actions.action import Action, ActionScreen, Done, agree, cite_things, find_among
from tui.actions.plans import plan_restore, plan_since, plan_undo, plan_undo_all
from tui.actions.records import offer_record
from tui.input.key_table import TODAY, key_name
from tui.lists.record_rows import local_day
from tui.screens.dialogs import Offer

# for an undo of an older change the message includes its age
UNDO_RECENT_MS = 600_000
GONE_STATES = ("superseded", "contradicted", "forgotten")


def take_checkpoint(memory: Memory, things: Sequence[Any], name: str) -> Done:
    """Take a checkpoint."""
    new = memory.checkpoints.take_checkpoint(name)
    return Done(f"Made checkpoint K#{new}: {name.strip()}", pack_key("checkpoint", new), undo=False)


def remove_checkpoints(memory: Memory, things: Sequence[Checkpoint]) -> Done:
    """Delete checkpoints, after a question: history has no step for it."""
    what = cite_things(things)
    agree(f"Remove {what} for good? Every step stays in the history.")
    memory.checkpoints.remove(*(one.id for one in things))
    return Done(f"Removed {what}", undo=False)


def recover(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Read what a checkpoint holds, to go on there: without one, that at which a session broke off, else the newest."""
    one = things[0] if things else screen.offered
    screen.run_line(f"checkpoint --read{f' {one.citation}' if one is not None else ''}")


def choose_checkpoint(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Choose a checkpoint, and show what going back to it changes."""

    def find(memory: Memory, words: str) -> Sequence[Offer]:
        began, says = screen.offered, "read where a session broke off, to go on there"
        offers = [Offer(recover, says, began.citation)] if began is not None else []
        offers += [offer_record(one) for one in memory.checkpoints.list_newest_first()]
        return find_among(offers)(memory, words)

    def take(one: Any) -> None:
        if one is recover:
            recover(screen, [])
        else:
            screen.show_plan(lambda memory: plan_restore(memory, [one]))

    screen.choose("Put back to…", find, take)


# undo


def undo_steps(screen: ActionScreen, things: Sequence[Step]) -> None:
    """Show what undoing a step changes, or those marked; for a step of somebody else, or all that they wrote."""
    step = things[0]
    if len(things) == 1 and step.undone_by is not None:
        screen.say(f"Step {step.seq} is already undone, by step {step.undone_by}.", "warning")
    elif len(things) > 1 or step.actor == PERSON_ORIGIN or screen.engine.screen.history.is_in_two_files(step.seq):
        screen.show_plan(lambda memory: plan_undo(memory, things))
    else:
        _choose_undo(
            screen,
            Offer(partial(plan_undo, things=things), f"this step alone: {step.reason}", f"step {step.seq}"),
            _offer_all_of(step.actor),
        )


def undo_sitting(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Show what undoing all that was done in this sitting changes; for what somebody else wrote, or all of theirs."""
    memory = screen.engine.screen
    made = memory.history.steps(actor=PERSON_ORIGIN, since=screen.engine.opened)
    here = [
        step
        for step in made
        if step.door == memory.database.door
        and step.undone_by is None
        and step.undoes is None
        and not memory.history.is_in_two_files(step.seq)
    ]
    said = f"your {format_count(len(here), 'change')} of this sitting"
    offers = [Offer(partial(plan_undo, things=here), said)] if here else []
    origin = _author_of(things[0]) if things else ""
    if origin not in ("", PERSON_ORIGIN):
        offers.insert(0, _offer_all_of(origin))
    if offers:
        _choose_undo(screen, *offers)
    else:
        screen.say(f"You changed nothing in this sitting. {key_name('pane.history')} lists all.", "warning")


def _choose_undo(screen: ActionScreen, *offers: Offer) -> None:
    """Show the plan of the only offer, or let one be chosen."""
    if len(offers) == 1:
        screen.show_plan(offers[0].value)
    else:
        screen.choose("Undo…", find_among(offers), screen.show_plan)


def _offer_all_of(origin: str) -> Offer:
    return Offer(lambda memory: plan_undo_all(memory, origin), f"everything that {origin} wrote")


def _author_of(one: Record | Step) -> str:
    """Return who wrote a record or made a step; of a turn, what was learned from its conversation."""
    if isinstance(one, Turn):
        return TALK_ORIGIN_PREFIX + one.session
    return one.actor if isinstance(one, Step) else getattr(one, "origin", "")


def undo_all(screen: ActionScreen, things: Sequence[Record | Step]) -> None:
    """Show what undoing everything that the author of a record or step wrote changes; for a turn, all that was learned
    from its conversation."""
    origin = _author_of(things[0])
    if not origin:
        screen.say("Nobody is named there who could have written more: choose what an agent wrote.", "warning")
    elif origin == PERSON_ORIGIN:
        said = "That is you. A checkpoint takes you back to a moment of yours: {} shows them."
        screen.say(said.format(key_name("pane.history")), "warning")
    else:
        _choose_undo(screen, _offer_all_of(origin))


def undo_or_redo(name: str, screen: ActionScreen, things: Sequence[Any]) -> None:
    """Undo the newest change made by hand, or redo what was undone last: one step, or all that were undone together.
    The cursor goes to the record."""
    engine, kind = screen.engine, "proposal" if screen.pane_name == TODAY else ""
    did, other = ("Undid", "redo") if name == "undo" else ("Redid", "undo")

    def work(memory: Memory, things: Sequence[Any]) -> Done:
        back = f"{key_name(f'memory.{other}')} {other}es it"
        meant = _memory_of_step(memory, engine.opened, name)
        step = meant.history.undo() if name == "undo" else meant.history.redo()
        reason, key = step.reason, first_changed_key(step, meant, kind)
        if meant is not memory:
            reason = memory.globals.as_cited(reason)
            key = pack_key("global", unpack_key(key)[1]) if key is not None else None
        old = to_ms(memory.now) - to_ms(step.at) > UNDO_RECENT_MS
        age = f" ({format_how_long_ago(memory.now, step.at)})" if old else ""
        return Done(f"{did}: {reason}{age}; {back}", key, undo=False)

    screen.perform(Action(f"memory.{name}", name, does=work), [])


def _memory_of_step(memory: Memory, since: str, name: str) -> Memory:
    """Return the memory of the step that is undone or redone next: the person's own if that step was made there in this
    sitting, on a global fact, after the project's."""

    def find(meant: Memory) -> Step:
        history = meant.history
        return history.get(history.next_undo() if name == "undo" else history.next_redo())

    try:
        own = memory.require_personal()
        step = find(own)
    except MemorandaError:
        return memory
    ours = step.at >= since and step.door == memory.database.door
    if own is memory or not ours or own.history.is_in_two_files(step.seq):
        return memory
    try:
        return own if step.at > find(memory).at else memory
    except NotFound:
        return own


def first_changed_key(step: Step, memory: Memory, kind: str = "") -> int | None:
    """Return the key of the first record that a step changed: of a `kind`, and of one that holds now, if one does."""
    changes = memory.history.changes(step.seq, limit=64)
    keys = [pack_key(HISTORY_KINDS[one.table], int(one.key[0])) for one in changes if one.table in HISTORY_KINDS]
    keys = [key for key in keys if kind_of_key(key) == kind] or keys
    found = records_by_key(memory.database, keys)
    held = [key for key, record in found.items() if getattr(record, "status", "active") not in GONE_STATES]
    return next((key for key in keys if key in held), keys[0] if keys else None)


# moments


def start_of_look(things: Sequence[Any]) -> str:
    """Return the moment of a record, to look back to."""
    one = things[0] if things else None
    return str(one.seq) if isinstance(one, Step) else one.citation if one is not None else "yesterday"


def look_back(screen: ActionScreen, things: Sequence[Any], moment: str) -> None:
    """Show everything as it was at a moment; in the past, what changed from then to another."""
    then = screen.moment
    if then is not None:
        screen.show_plan(lambda memory: plan_since(memory, then, moment))
    else:
        screen.look_back(moment)


def show_since(screen: ActionScreen, things: Sequence[Any], moment: str) -> None:
    """Show everything that changed since a moment."""
    screen.show_plan(lambda memory: plan_since(memory, moment))


def go_to_day(screen: ActionScreen, things: Sequence[Any], day: str) -> None:
    """Move the cursor to the newest entry of a day, or to the first before it."""
    memory = screen.engine.screen
    name = "history" if screen.pane_name == "history" else "timeline"
    try:
        start, said = local_day(read_moment(memory.database, day))
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return
    # a day of a changed clock has up to 25 hours
    end, _ = local_day(from_ms(to_ms(start) + DAY_MS * 13 // 12))
    screen.go_to(name, only=None)
    actor, kind = screen.chosen("actor"), screen.chosen("kind")
    if name == "history":
        steps = memory.history.steps(actor=actor, before=end, limit=1)
        found = [(step.seq * 16 + 15, step.at) for step in steps]
    else:
        found = [*memory.timeline.stream((kind,) if kind else (), before=end, limit=1)]
    if not found or not screen.select_row(found[0][0]):
        screen.say(f"There is nothing on {said} or before.", "warning")
    elif (there := local_day(found[0][1])[1]) != said:
        among = " among what the filter shows" if actor or kind else ""
        back = f"; {key_name('screen.leave')} shows all" if among else ""
        screen.say(f"Nothing is on {said}{among}; this is the newest before it, {there}{back}.")
