"""Checkpoints, and undo: the last change, an earlier step, all that one origin wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic
from typing import cast

from store.base.clock import format_how_long_ago, to_ms
from store.base.errors import Conflict, MemorandaError, NotFound
from store.base.models import Checkpoint, Step, Turn
from store.base.vocabulary import PERSON_ORIGIN, TALK_ORIGIN_PREFIX, pack_key, unpack_key
from store.history.history import TABLE_OF_KIND, History
from store.history.restore_plan import RestorePlan
from store.memory import Memory
from tui.actions.support import (
    ActionHost,
    ask_if_many,
    citation_or_kind,
    record_key_or_none,
    undo_hint,
    write_and_report,
)
from tui.input.key_table import HISTORY, INBOX, key_name
from tui.render.lines import format_count
from tui.workers.engine import first_changed_key

UNDO_RECENT_MS = 600_000  # for an undo of an older change the message includes its age
COUNTED_ROWS = 100  # rows up to which the records of a step are told from the rest of it
LINKS_TABLE = "commit_links"
RECORD_TABLES = frozenset(("facts", "decisions", "tasks", "proposals", "iterations"))


def add_checkpoint(screen: ActionHost) -> None:
    """Ask for a name, and create a checkpoint."""

    def answer(text: str) -> None:
        if text.strip():
            write_and_report(
                screen,
                lambda memory: memory.checkpoints.take_checkpoint(text),
                lambda new: (
                    f"Made checkpoint {citation_or_kind('checkpoint', new)}: {text.strip()}",
                    record_key_or_none("checkpoint", new),
                ),
            )
        else:
            screen.say("No checkpoint was made: it needs a name to be found by.", "warning")

    screen.ask("checkpoint name", "", answer)


def remove_checkpoints(screen: ActionHost, checkpoints: Sequence[Checkpoint]) -> None:
    """Delete checkpoints, after a question: history has no step for it."""
    what = checkpoints[0].citation if len(checkpoints) == 1 else format_count(len(checkpoints), "checkpoint")

    numbers = [one.id for one in checkpoints]
    screen.ask_first(
        f"Remove {what} for good? Every step stays in Changes.",
        lambda: write_and_report(screen, lambda memory: memory.checkpoints.remove(*numbers), f"Removed {what}"),
    )


def restore(screen: ActionHost) -> None:
    """Show what restoring the selected checkpoint would change."""
    record = screen.target()
    if isinstance(record, Checkpoint):
        screen.show_plan("checkpoint", record.id)
    elif record is not None:
        screen.say(
            f"{key_name('checkpoint.restore')} goes back to a checkpoint; {key_name('pane.checkpoints')} lists them.",
            "warning",
        )


def recover(screen: ActionHost) -> None:
    """Show what a checkpoint holds, for resuming work: the one under the cursor; elsewhere the one at which a session
    broke off, if that was not read yet, else the newest."""
    record = screen.pane.record if screen.current_list == "checkpoints" else screen.checkpoints.offered
    cited = f" {record.citation}" if isinstance(record, Checkpoint) else ""
    screen.run_line(f"checkpoint --read{cited}")


def take_back(screen: ActionHost) -> None:
    """Undo the marked steps, newest first; or the one under the cursor, at once if it has no conflicts, else after a
    preview."""
    marked = [record for record in screen.targets() if isinstance(record, Step)]
    record = screen.target()
    if len(marked) > 1:
        steps = sorted((step.seq for step in marked), reverse=True)
        ask_if_many(screen, f"Undo {len(steps)} steps?", len(steps), lambda: _take_back_marked(screen, steps))
    elif not isinstance(record, Step):
        screen.say(
            f"{key_name('step.undo')} undoes a step of the history; {key_name('pane.history')} goes there. "
            f"{key_name('memory.undo')} undoes your newest change.",
            "warning",
        )
    elif record.undone_by is not None:
        screen.say(f"Step {record.seq} is already undone, by step {record.undone_by}.", "warning")
    elif screen.engine is not None and screen.engine.screen.history.is_in_two_files(seq := record.seq):
        _run_undo(screen, lambda memory: memory.history.undo(seq), "Undid", f"{key_name('memory.redo')} redoes it")
    else:
        screen.show_plan("step", record.seq)


def _take_back_marked(screen: ActionHost, steps: Sequence[int]) -> None:
    """Undo these steps, newest first; say which could not be undone, and why the first of them."""
    engine = screen.engine

    def work(memory: Memory) -> object:
        done, left = [], []
        for seq in steps:
            try:
                memory.history.undo(seq)
                done.append(seq)
            except MemorandaError as error:
                left.append((seq, error.message))
        if done and engine is not None:
            engine.undone_together = (memory.history.next_redo(), len(done))
        return done, left

    def said(result: object) -> tuple[str, int | None]:
        done, left = cast("tuple[list[int], list[tuple[int, str]]]", result)
        words = f"Undid {format_count(len(done), 'step')}{': ' if done else ''}{', '.join(map(str, done[:5]))}"
        words += undo_hint() if done else ""
        if left:
            words += f"; {len(left)} not: {left[0][1]}"
        return words, None

    write_and_report(screen, work, said, before=(f"undo {format_count(len(steps), 'step')}", len(steps)))


def take_back_now(screen: ActionHost, plan: RestorePlan, undone_by: str) -> None:
    """Apply a plan of a single record without conflicts; `undone_by` says how to undo it."""
    said = f"Undid step {plan.undoes}: {plan.changes[0].title[:40]}; {undone_by}"
    write_and_report(screen, lambda memory: memory.plans.apply_plan(plan, {0}), said)


def take_back_all(screen: ActionHost) -> None:
    """Undo everything that the origin of this step or record wrote; for a turn, all that was learned from its
    conversation."""
    record = screen.target()
    origin = record.actor if isinstance(record, Step) else getattr(record, "origin", "")
    if isinstance(record, Turn):
        origin = TALK_ORIGIN_PREFIX + record.session
    if not origin:
        screen.say(
            f"{key_name('step.undo-all')} undoes all that one origin wrote: select something it wrote.", "warning"
        )
    elif origin == PERSON_ORIGIN:
        screen.say(
            "That is you. A checkpoint takes you back to a moment of yours: "
            f"{key_name('pane.checkpoints')} lists them.",
            "warning",
        )
    else:
        screen.show_plan("origin", origin)


def ask_changes_since(screen: ActionHost) -> None:
    """List the changes since a moment: that of the checkpoint under the cursor, unless another is typed. In a past
    view: between its moment and now, or another."""
    moment = screen.moment
    if moment is not None:
        screen.ask(f"from {moment.words} to", "now", lambda text: screen.show_since(moment, text), over=True)
    else:
        record = screen.target() if screen.current_list == "checkpoints" else None
        start = record.citation if isinstance(record, Checkpoint) else "yesterday"
        screen.ask("changed since", start, screen.show_since, over=True)


def as_of(screen: ActionHost) -> None:
    """Show all records as of a moment: that of the row under the cursor, unless another is typed."""
    record = screen.pane.record
    start = "yesterday"
    if isinstance(record, Step):
        start = str(record.seq)
    elif isinstance(record, Checkpoint) or (record is not None and screen.current_list == "timeline"):
        start = record.citation
    screen.ask("as of (a day, 3w, K#3, a step)", start, screen.look_back, over=True)


def undo(screen: ActionHost) -> None:
    """Undo the newest change made by hand: at once if it is of one record and of this sitting, else after a yes."""
    engine = screen.engine
    if engine is None:
        return

    def found(result: object, error: MemorandaError | None) -> None:
        screen.later(decided, result, error)

    def decided(result: object, error: MemorandaError | None) -> None:
        if error is not None:
            screen.say(str(error), "error", timeout=8)
            return
        if isinstance(result, int):
            whole = f"Redo the {format_count(result, 'step')} that you undid together?"
            screen.ask_first(whole, lambda: redo(screen), lambda: screen.go_to(HISTORY))
            return
        step, question, of_person = cast("tuple[Step, str, bool]", result)
        if question:
            screen.ask_first(
                question, lambda: _undo_newest(screen, step.seq, of_person), lambda: screen.go_to(HISTORY)
            )
        else:
            _undo_newest(screen, step.seq, of_person)
            engine.undone_at = monotonic()

    def next_step(memory: Memory) -> object:
        return _count_undone_together(memory, engine.undone_together, engine.opened) or _next_undo(
            memory, engine.opened
        )

    engine.write(next_step, found)


def _count_undone_together(memory: Memory, undone: tuple[int, int], since: str) -> int:
    """Return how many steps were undone together by what was done last, which (the last undo, their number) tells;
    0 if another change by hand came after it."""
    last, number = undone
    try:
        if memory.history.next_redo() != last:
            return 0
    except NotFound:
        return 0
    found = _memory_of_step(
        memory, since, lambda history: last if history is memory.history else history.next_undo()
    )
    return number if found is memory else 0


def _next_undo(memory: Memory, since: str) -> tuple[Step, str, bool]:
    """Return the step to undo next, the question whether to undo it (empty if the answer is plain), and whether it
    is in the person's own memory."""
    meant = _memory_of_step(memory, since, lambda history: history.next_undo())
    step = meant.history.get(meant.history.next_undo())
    records, words = _count_step_records(meant, step)
    if step.at >= since and records <= 1:
        return step, "", meant is not memory
    several = f" ({words})" if records > 1 else ""
    what = f"{step.reason[:60]}{several}"
    return step, f"Undo step {step.seq}, {format_how_long_ago(memory.now, step.at)}: {what}?", meant is not memory


def _memory_of_step(memory: Memory, since: str, find: Callable[[History], int]) -> Memory:
    """Return the memory of the step that `find` returns: the person's own if that step was made there in this sitting,
    on a global fact, after the project's."""
    try:
        own = memory.require_personal()
        step = own.history.get(find(own.history))
    except MemorandaError:
        return memory
    if (
        own is memory
        or step.at < since
        or step.door != memory.database.door
        or own.history.is_in_two_files(step.seq)
    ):
        return memory
    try:
        newest = memory.history.get(find(memory.history)).at
    except NotFound:
        newest = ""
    return own if step.at > newest else memory


def _count_step_records(memory: Memory, step: Step) -> tuple[int, str]:
    """Return how many records a step was about, also in words. A record that takes the place of another is no second
    one, nor is the proposal from which a fact was made. Of what was chosen in a list each is one, links too, as the
    message said that followed."""
    if step.undoes is None and step.reason.startswith(("restore ", "undo ")):
        rows = [
            change.table for change in memory.history.changes(step.seq) if change.table in TABLE_OF_KIND.values()
        ]
        of_them = f", {links} of them links" if (links := rows.count(LINKS_TABLE)) else ""
        return len(rows), f"{format_count(len(rows), 'record')}{of_them}"
    if step.changes > COUNTED_ROWS:
        return step.changes, format_count(step.changes, "record")
    made: dict[str, Counter[str]] = {}
    links = 0
    for change in memory.history.changes(step.seq):
        if change.table in RECORD_TABLES:
            made.setdefault(change.table, Counter())[change.op] += 1
        links += change.table == LINKS_TABLE
    proposals = made.pop("proposals", Counter())
    records = sum(max(number.values()) for number in made.values()) or max(proposals.values(), default=0)
    return records, format_count(records, "record") + (f", {format_count(links, 'link')}" if links else "")


def _undo_newest(screen: ActionHost, seq: int, of_person: bool) -> None:
    """Undo the newest step, in the personal memory if it was made there; refuse if another change came meanwhile."""

    def work(memory: Memory) -> Step:
        if memory.history.next_undo() != seq:
            raise Conflict("Another change was made meanwhile.", "Look at the history, and undo again.")
        return memory.history.undo()

    whose = Memory.require_personal if of_person else None
    _run_undo(screen, work, "Undid", f"{key_name('memory.redo')} redoes it", whose)


def redo(screen: ActionHost) -> None:
    """Redo what was undone last: one step, or all that were undone together."""
    engine = screen.engine
    if engine is None:
        return
    steps: list[int] = []

    def whose(memory: Memory) -> Memory:
        return _memory_of_step(memory, engine.opened, lambda history: history.next_redo())

    def work(memory: Memory) -> Step:
        for _ in range(_count_undone_together(memory, engine.undone_together, engine.opened) - 1):
            steps.append(memory.history.redo().seq)
        step = memory.history.redo()
        steps.append(step.seq)
        return step

    _run_undo(screen, work, "Redid", f"{key_name('memory.undo')} undoes it", whose, steps)


def _run_undo(
    screen: ActionHost,
    work: Callable[[Memory], Step],
    said: str,
    again: str,
    whose: Callable[[Memory], Memory] | None = None,
    steps: Sequence[int] = (),
) -> None:
    """Do `work`, which undoes or redoes a step of the memory that `whose` returns; where it did several, `steps` has
    them then, and they are named instead."""
    kind = "proposal" if screen.current_list == INBOX else ""  # return to the list that was shown

    def stepped(memory: Memory) -> object:
        meant = memory if whose is None else whose(memory)
        step = work(meant)
        if len(steps) > 1:
            return f"{said} {format_count(len(steps), 'step')}: {', '.join(map(str, steps[:5]))}", None
        reason, key = step.reason, first_changed_key(step, meant, kind)
        if meant is not memory:
            reason = memory.globals.as_cited(reason)
            key = pack_key("global", unpack_key(key)[1]) if key is not None else None
        return f"{said}: {reason}{_age_if_old(memory.now, step.at)}; {again}", key

    write_and_report(screen, stepped, lambda result: result)  # type: ignore[arg-type, return-value]


def _age_if_old(now: str, at: str) -> str:
    """Return how long ago it was, unless it was just now."""
    old = to_ms(now) - to_ms(at) > UNDO_RECENT_MS
    return f" ({format_how_long_ago(now, at)})" if old else ""
