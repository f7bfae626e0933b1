"""Draw the rows of the side lists: checkpoints, steps of history, tasks, proposals."""

from __future__ import annotations

from store.base.clock import ago, local_time
from store.base.models import Checkpoint, Proposal, Step, Task
from store.text.prompt_injection import suspicious
from tui.lists.record_rows import ROOMY, WIDE
from tui.lists.wrapping import Pairs, row
from tui.render.badges import KIND_GLYPHS, ORDER, TASK_GLYPHS, WARNING
from tui.render.details.proposal_detail import flagged
from tui.render.line_parts import writer
from tui.render.plurals import count
from tui.theme.escape import visible

THREE = 3  # lines of a proposal's text


def _note(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def checkpoint_lines(checkpoint: Checkpoint, width: int, now: str, newest: int) -> list[Pairs]:
    """Draw a checkpoint: its name or subject, when it was created; below, the number of steps since, why it was created
    and the cost of recovering it. Those that a person took are highlighted."""
    since = newest - checkpoint.seq
    asked = checkpoint.trigger == "person"
    when = local_time(checkpoint.created_at) if width >= ROOMY else ago(now, checkpoint.created_at)
    second = _note(
        f"{count(since, 'step')} since" if since else "nothing since",
        _reason(checkpoint) if checkpoint.by_itself else "",
        f"{checkpoint.tokens:,} tokens" if checkpoint.tokens and width >= WIDE else "",
        "recovered ↺" if checkpoint.recovered_at else "",
    )
    glyph = ("▫ " if checkpoint.by_itself else f"{KIND_GLYPHS['checkpoint']} ", "glyph-record" if asked else "dim")
    note: Pairs = [(_note(checkpoint.citation, when), "dim")]
    return row([glyph], visible(checkpoint.title), "" if asked else "dim", note, width, second=[(second, "dim")])


def _reason(checkpoint: Checkpoint) -> str:
    """Return the level of an automatic checkpoint, and why it was created."""
    if checkpoint.trigger == "usage":
        why = f"{checkpoint.used} %"
    else:
        daily = "daily" if checkpoint.level == "archival" else "by time"
        why = "at end" if checkpoint.trigger == "session_end" else daily
    return f"{checkpoint.level} {why}"


def step_lines(step: Step, subject: str, width: int, now: str) -> list[Pairs]:
    """Draw a step of history: operation and subject, number, author, time; dim if it was undone."""
    back = step.undone_by is not None
    glyph, look = ("↶", "dim") if back else ("↷", "glyph-aging") if step.undoes else ("•", "glyph-record")
    when = local_time(step.at) if width >= ROOMY else ago(now, step.at)
    who = visible(writer(step.actor)) + (f", {step.door}" if width >= ROOMY else "")
    about = f"undone by {step.undone_by}" if back else visible(subject)
    note: Pairs = [(f"{step.seq} · ", "dim"), (who, "dim" if back or step.actor == "user" else "accent")]
    note.append((f" · {when}", "dim"))
    text = f"{visible(step.reason)}  {about}".rstrip()
    return row([(f"{glyph} ", look)], text, "dim" if back else "", note, width)


def task_lines(task: Task, width: int, now: str) -> list[Pairs]:
    """Draw a task: checkbox, text, who added it if not you, citation and age."""
    done = task.status == "done"
    by = "" if task.origin == "user" else visible(writer(task.origin))
    look = {"in_progress": "glyph-aging", "done": "glyph-fresh"}.get(task.status, "glyph-record")
    state = {"in_progress": "in progress", "done": "done"}.get(task.status, "") if width >= 34 else ""
    note: Pairs = [(_note(by, state, task.citation, ago(now, task.updated_at)), "dim")]
    if suspicious(task.text):
        note.insert(0, (f"{WARNING} ", "warning"))
    return row([(f"{TASK_GLYPHS[task.status]} ", look)], visible(task.text), "dim" if done else "", note, width)


def proposal_lines(proposal: Proposal, width: int, now: str, against: str = "") -> list[Pairs]:
    """Draw a proposal: text, operation, origin and age; below, warnings: that it looks like an instruction to an agent,
    and the decision that it contradicts (`against`)."""
    warned = flagged(proposal)
    kind = {"conflict": "file", "forget": ""}.get(proposal.kind, proposal.kind)
    look = "added" if proposal.kind == "add" else "accent"
    origin = visible(writer(proposal.origin))
    about = _note(proposal.citation, origin, ago(now, proposal.created_at))
    note: Pairs = [(kind, look), (f" · {about}" if kind else about, "dim")]
    second = [
        (f"{WARNING} contradicts {against}" if against else "", "warning"),
        (ORDER if warned else "", "warning"),
    ]
    glyph = (f"{WARNING if warned else KIND_GLYPHS['proposal']} ", "warning" if warned else "glyph-proposed")
    text = f"forget “{proposal.text}”" if proposal.kind == "forget" else proposal.text  # y does it: the verb first
    return row([glyph], visible(text), "", note, width, THREE, second)
