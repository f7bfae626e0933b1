"""What keys do with records: confirm, forget, pin, mute, tag, move and add, each by the verb of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from store.base.models import Checkpoint, Decision, Fact, GlobalFact, Proposal, Record, Step, Task
from store.memory import Memory
from tui.actions.decisions import ask_for_decision
from tui.actions.history import add_checkpoint, remove_checkpoints
from tui.actions.inbox import accept_proposals, reject_proposals
from tui.actions.support import (
    ActionHost,
    citation_or_kind,
    join_citations,
    record_key_or_none,
    refuse_action,
    run_on_records,
    run_verb,
    undo_hint,
    write_and_report,
)
from tui.input.key_table import key_name

UNDO_GRACE_SECONDS = 1.0  # seconds after an undo in which this key answers a question that was not asked


@dataclass(frozen=True, slots=True)
class RecordAction:
    """What a key does with records: the `verb` that it runs and the records it is for; of others it says `refusal`.
    `is_on` tells of one whether the verb was done to it, and then `--off` is for all that have it."""

    verb: str
    kinds: tuple[type[Record], ...]
    refusal: str
    is_on: Callable[[ActionHost, Any], bool] | None = None
    onward: bool = False
    hides: bool = False


def _is_pinned(screen: ActionHost, record: Fact | GlobalFact) -> bool:
    return record.own.pinned if isinstance(record, GlobalFact) else record.pinned


def _is_muted(screen: ActionHost, record: Fact | GlobalFact) -> bool:
    if screen.engine is None:
        return False
    memory = screen.engine.screen
    if isinstance(record, GlobalFact):
        return record.id in memory.globals.find_muted([record.id])
    return record.id in memory.mutes.filter_muted_facts([record.id])


CONFIRM = RecordAction(
    "confirm",
    (Fact, GlobalFact, Decision),
    "Only facts, and decisions that an agent logged, are confirmed.",
    onward=True,
)
FORGET = RecordAction("forget", (Fact, GlobalFact, Decision), "", hides=True)
PIN = RecordAction("pin", (Fact, GlobalFact), "Only facts age, so only facts are pinned.", _is_pinned)
MUTE = RecordAction("mute", (Fact, GlobalFact), "Only facts are muted: the rest is sent as it was said.", _is_muted)


def change_records(screen: ActionHost, action: RecordAction, things: Sequence[Record | Step]) -> None:
    """Run the verb of an action on the records that it is for."""
    records = [thing for thing in things if isinstance(thing, action.kinds)]
    if not records:
        refuse_action(screen, things, action.refusal)
        return
    options: dict[str, Any] = {}
    if action.is_on is not None:
        left = [record for record in records if not action.is_on(screen, record)]
        records, options = left or records, {"off": not left}
    run_on_records(screen, action.verb, records, onward=action.onward, hides=action.hides, **options)


def forget(screen: ActionHost) -> None:
    """Hide facts and decisions; reject proposals; remove checkpoints."""
    things = screen.targets()
    if checkpoints := [thing for thing in things if isinstance(thing, Checkpoint)]:
        remove_checkpoints(screen, checkpoints)
    elif proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        reject_proposals(screen, proposed)
    elif things and all(isinstance(thing, Task) for thing in things):
        done = f"A task is finished with {key_name('task.move')}; what was done is never forgotten."
        refuse_action(screen, things, done)
    else:
        change_records(screen, FORGET, things)


def confirm(screen: ActionHost) -> None:
    """Confirm facts and agents' decisions; accept proposals."""
    things = screen.targets()
    if screen.engine is not None and monotonic() - screen.engine.undone_at < UNDO_GRACE_SECONDS:
        screen.engine.undone_at = 0.0  # the next one is meant
        screen.say("It was undone already, without a question. Confirm by the same key again.", "warning")
    elif proposed := [thing for thing in things if isinstance(thing, Proposal)]:
        accept_proposals(screen, proposed)
    else:
        change_records(screen, CONFIRM, things)


def pin(screen: ActionHost) -> None:
    """Pin the selected facts; unpin them if all of them are pinned."""
    change_records(screen, PIN, screen.targets())


def mute(screen: ActionHost) -> None:
    """Mute the selected facts; unmute them if all of them are muted."""
    change_records(screen, MUTE, screen.targets())


def move(screen: ActionHost) -> None:
    """Make the selected fact global, or move a global fact into this project, as it was seen. It is a single step of
    history, which undo reverts."""
    record = screen.target()
    if not isinstance(record, Fact | GlobalFact):
        things = [record] if record is not None else []
        refuse_action(screen, things, "Only facts are made global, and global ones moved into this project.")
        return
    kind = "fact" if isinstance(record, GlobalFact) else "global"
    where = "seen in every project" if kind == "global" else "of this project alone"

    def work(memory: Memory, again: bool = False) -> int:
        if isinstance(record, GlobalFact):
            return memory.moves.move_to_project(record.id, seen=record.own, again=again)
        return memory.moves.move_to_global(record.id, seen=record, again=again)

    def said(new: object) -> tuple[str, int | None]:
        moved = f"Moved {record.citation} to {citation_or_kind(kind, new)}, {where}{undo_hint()}"
        return moved, record_key_or_none(kind, new)

    def agree(question: str) -> None:
        write_and_report(screen, lambda memory: work(memory, True), said)

    write_and_report(screen, work, said, agree=agree)


def tag(screen: ActionHost) -> None:
    """Tag facts, decisions and tasks; with a dash in front a tag is taken away."""
    things = [thing for thing in screen.targets() if isinstance(thing, Fact | GlobalFact | Decision | Task)]
    if not things:
        screen.say("Only facts, decisions and tasks have tags.", "warning")
        return

    def answer(text: str) -> None:
        word = text.strip()
        if word:
            run_on_records(screen, "tag", things, tag=word.removeprefix("-"), off=word.startswith("-"))

    known = ", ".join(dict.fromkeys(word for thing in things for word in _tags_of(thing)))
    screen.ask(f"tag {join_citations(things)}{f' ({known})' if known else ''}", "", answer)


def _tags_of(record: Fact | GlobalFact | Decision | Task) -> Sequence[str]:
    return record.own.tags if isinstance(record, GlobalFact) else record.tags


def add_record(screen: ActionHost) -> None:
    """Ask for a new fact; in the lists of decisions, checkpoints and tasks, for a new record of the list's kind."""
    place = screen.current_list
    if place == "timeline":
        ask_for_decision(screen, None)
    elif place == "checkpoints":
        add_checkpoint(screen)
    elif place == "tasks":
        screen.ask("to be done", "", lambda text: _add(screen, text, "task", {"what": "add", "words": [text]}))
    else:
        domain = screen.view.domain or "general"
        label = "remember" if domain == "general" else f"remember ({domain})"
        screen.ask(label, "", lambda text: _add(screen, text, "remember", {"text": [text], "domain": domain}))


def _add(screen: ActionHost, text: str, verb: str, given: Mapping[str, Any]) -> None:
    """Record a typed text by a verb, and select it in the list."""
    if text.strip():
        run_verb(screen, verb, selects=True, **given)


def ask_context(screen: ActionHost) -> None:
    """Ask for a question, and show what an agent would be sent for it."""

    def answer(text: str) -> None:
        screen.change_view(question=text.strip(), session="")
        screen.go_to("context")

    screen.ask("what would an agent be sent for", screen.view.question, answer, over=True)
