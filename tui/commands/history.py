"""history, undo, redo, checkpoint, checkpoints, restore."""

from store.citations import cite
from store.errors import Declined
from tui.commands import Outcome, Session, count, number, reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.arguments import Given


def list_steps(session: Session, given: "Given") -> Outcome:
    from store.models import as_json
    from tui.commands.lines import left_out, step_line

    memory = session.memory
    record = reference(given.record, "fact", "fact", "decision", "task") if given.record else None
    steps = memory.history.steps(
        actor=given.actor, record=(record.kind, int(record.target)) if record else None, limit=given.limit + 1
    )
    shown = steps[: given.limit]
    lines = [step_line(step) for step in shown] or ["Nothing was changed yet."]
    return Outcome(
        data=lambda: [as_json(step) for step in shown], lines=[*lines, *left_out(len(steps) - len(shown), given.limit)]
    )


def undo(session: Session, given: "Given") -> Outcome:
    from store.models import as_json

    step = session.memory.history.undo(given.seq)
    return Outcome(f"Took back step {step.seq}: {step.reason}.", lambda: as_json(session.memory.history.step(step.seq)))


def redo(session: Session, given: "Given") -> Outcome:
    from store.models import as_json

    step = session.memory.history.redo()
    return Outcome(f"Put back step {step.seq}: {step.reason}.", lambda: as_json(step))


def checkpoint(session: Session, given: "Given") -> Outcome:
    from store.models import as_json

    checkpoints = session.memory.checkpoints
    taken = checkpoints.take(" ".join(given.name))
    return Outcome(f"Checkpoint {cite('checkpoint', taken)}.", lambda: as_json(checkpoints.get(taken)))


def checkpoints(session: Session, given: "Given") -> Outcome:
    from store.models import as_json
    from tui.commands.lines import checkpoint_line, left_out

    every = session.memory.checkpoints.list(given.limit + 1)
    shown = every[: given.limit]
    lines = [checkpoint_line(found) for found in shown] or ["No checkpoints yet. Take one: memoranda checkpoint before"]
    return Outcome(
        data=lambda: [as_json(found) for found in shown],
        lines=[*lines, *left_out(len(every) - len(shown), given.limit)],
    )


def restore(session: Session, given: "Given") -> Outcome:
    checkpoints = session.memory.checkpoints
    target = number(given.checkpoint, "checkpoint")
    cited = cite("checkpoint", target)
    changes = checkpoints.changed_since(target)
    question = f"Restore {cited} “{checkpoints.get(target).name}”: {count(changes, 'record')} would change. Go on?"
    if changes and not given.yes and not session.ask(question):
        raise Declined("Nothing was changed.")
    changed, before = checkpoints.restore(target)
    return Outcome(
        f"Restored {cited}: {count(changed, 'record')} changed."
        f" {cite('checkpoint', before)} is how it was; undo works.",
        lambda: {"restored": cited, "changed": changed, "before": cite("checkpoint", before)},
    )
