"""Render the lines of the side lists: checkpoints, steps of history, tasks, proposals."""

from __future__ import annotations

from rich.cells import cell_len

from store import MODEL, Checkpoint, Proposal, Step, Task, ago, local_time
from tui.lists.record_rows import ROOMY, Pairs
from tui.render.badges import KIND_GLYPHS, TASK_GLYPHS
from tui.render.details.proposal_detail import WARNING, flagged
from tui.theme.escape import visible
from tui.theme.line_filters import fit


def checkpoint_segments(checkpoint: Checkpoint, width: int, now: str, newest: int) -> Pairs:
    """Render a checkpoint in one line: its name or subject, the number of steps since, when and why it was created, the
    cost of recovering it, and whether it was recovered. Manual checkpoints are highlighted."""
    since = newest - checkpoint.seq
    steps = f"  {since:,} step{'' if since == 1 else 's'} since" if since else "  nothing since"
    asked = checkpoint.trigger == "person"
    when = f"  {local_time(checkpoint.created_at):>17}" if width >= ROOMY else f" {ago(now, checkpoint.created_at):>6}"
    citation = f"{checkpoint.citation:<6} "
    why = fit(f"  {checkpoint.level} {_reason(checkpoint)}", 16) if checkpoint.by_itself and width >= 54 else ""
    steps = steps if width >= 54 and not why else ""
    size = f" {checkpoint.tokens:>6,} tokens" if width >= 90 else ""
    back = " ↺" if checkpoint.recovered_at else ""
    body = max(4, width - 2 - len(citation) - len(steps) - len(why) - len(size) - len(back) - len(when))
    return [
        (f"{KIND_GLYPHS['checkpoint'] if not checkpoint.by_itself else '▫'} ", "glyph-record" if asked else "rule"),
        (citation, "dim"),
        (fit(visible(checkpoint.title), body), "" if asked else "dim"),
        (back, "accent"),
        (why, "dim"),
        (steps, "dim"),
        (size, "dim"),
        (when, "dim"),
    ]


def _reason(checkpoint: Checkpoint) -> str:
    """Return why an automatic checkpoint was created, beside its level."""
    if checkpoint.trigger == "usage":
        return f"{checkpoint.used} %"
    return "at end" if checkpoint.trigger == "session_end" else "daily" if checkpoint.level == "archival" else "by time"


def step_segments(step: Step, subject: str, width: int, now: str) -> Pairs:
    """Render a step of history in one line: number, operation and subject, author, time; dim if it was undone."""
    back = step.undone_by is not None
    glyph, glyph_look = ("↶", "rule") if back else ("↷", "glyph-aging") if step.undoes else ("•", "glyph-record")
    when = f"  {local_time(step.at):>17}" if width >= ROOMY else f" {ago(now, step.at):>6}"
    roomy = width >= 50
    who = visible(step.actor) + (f" {step.door}" if width >= ROOMY else "")
    if not roomy and step.actor == "user":
        who = ""
    shown = fit(who, 18 if width >= ROOMY else min(len(who), max(4, width // 4)))
    number = f"{step.seq:>5} " if roomy else ""
    body = max(4, width - 2 - len(number) - len(shown) - 1 - len(when))
    reason = fit(visible(step.reason), min(cell_len(visible(step.reason)), body))
    about = f"undone by {step.undone_by}" if back else visible(subject)
    return [
        (f"{glyph} ", glyph_look),
        (number, "dim"),
        (reason, "rule" if back else ""),
        (fit(f"  {about}", body - cell_len(reason)), "rule" if back else "dim"),
        (f" {shown}", "rule" if back else "accent" if step.actor != "user" else "dim"),
        (when, "rule" if back else "dim"),
    ]


def task_segments(task: Task, width: int, now: str) -> Pairs:
    """Render a task in one line: checkbox, text, state and age."""
    done = task.status == "done"
    state = {"in_progress": " in progress", "done": " done"}.get(task.status, "") if width >= 34 else ""
    when = f" {ago(now, task.updated_at):>6}"
    citation = f"{task.citation:<6} " if width >= 34 else ""
    by = "" if task.origin == "user" else f" {fit(visible(task.origin), 8).rstrip()}"
    body = max(4, width - 2 - len(citation) - len(state) - len(by) - len(when))
    look = {"in_progress": "glyph-aging", "done": "glyph-fresh"}.get(task.status, "glyph-record")
    return [
        (f"{TASK_GLYPHS[task.status]} ", look),
        (citation, "dim"),
        (fit(visible(task.text), body), "dim" if done else ""),
        (by, "dim"),
        (state, "dim"),
        (when, "dim"),
    ]


WIDEST = 100  # cells of a line that has room for one more label
# the proposed operation, if there is no room for its word
SIGNS = {"add": "+", "correct": "~", "supersede": "~", "conflict": "~", "confirm": "✓", "merge": "=", "forget": "−"}


def proposal_segments(proposal: Proposal, width: int, now: str, against: str = "") -> Pairs:
    """Render a proposal in one line: operation, text, origin and age; a warning if it looks like an instruction to an
    agent, and the decision that it contradicts (`against`)."""
    kind = {"conflict": "file"}.get(proposal.kind, proposal.kind)
    word = f"{kind:<10}" if width >= ROOMY else f"{SIGNS[proposal.kind]} "
    when = f" {ago(now, proposal.created_at):>6}"
    warned = flagged(proposal)
    by = (
        visible(proposal.origin).removeprefix("mcp:").removeprefix("import:").removeprefix(MODEL)
        if width < ROOMY
        else visible(proposal.origin)
    )
    shown = f" {fit(by, 16 if width >= ROOMY else min(cell_len(by), max(4, width // 5)))}"
    number = f"{proposal.citation:<6} " if width >= 50 else ""
    beside = f" {WARNING} {'contradicts ' if width >= WIDEST else ''}{against}" if against else ""
    shown = "" if against and width < 50 else shown  # no room for both
    body = max(4, width - 2 - len(number) - len(word) - len(beside) - len(shown) - len(when))
    look = {"forget": "removed", "add": "added"}.get(proposal.kind, "accent")
    return [
        (f"{WARNING if warned else KIND_GLYPHS['proposal']} ", "warning" if warned else "glyph-proposed"),
        (number, "dim"),
        (word, look),
        (fit(visible(proposal.text), body), ""),
        (beside, "warning"),
        (shown, "accent"),
        (when, "dim"),
    ]
