"""Render a checkpoint's contents as lines, for resuming work; see `describe`."""

from collections.abc import Callable
from typing import Any

from store.base.models import Checkpoint
from store.memory import Memory
from tui.render.badges import state_word
from tui.render.field_diff import LABEL, Line
from tui.render.line_parts import when


def held(memory: Memory, checkpoint: Checkpoint, now: str) -> list[Line]:
    """Return its subject, what recovering it costs, its tasks, decisions, turns and names."""
    from tui.input.key_table import named

    found = memory.checkpoints.contents(checkpoint.id)
    about = " · ".join(filter(None, (found.summary if found.summary != checkpoint.title else "", found.changed)))
    cost = f"{checkpoint.tokens:,} token{'' if checkpoint.tokens == 1 else 's'}"
    lines: list[Line] = [_row("About", about)] if about else []
    lines.append(_row("To recover", f"{cost}; {named('checkpoint.recover')} recovers it"))
    if at := checkpoint.recovered_at:
        lines.append(_row("Recovered", when(at, now)))
    lines += _section("To do", found.tasks, lambda one: f"{state_word(one['status'])}: {one['text']}")
    lines += _section("Decided", found.decisions, lambda one: f"{one['title']}: {one['chosen']}")
    lines += _section("Said last", found.turns, lambda one: f"{one['speaker'] or one['role']}: {one['text']}")
    if found.entities:
        lines += [[], _row("Named", ", ".join(found.entities))]
    return lines


def _section(heading: str, things: tuple[dict[str, Any], ...], text: Callable[[dict[str, Any]], str]) -> list[Line]:
    lines: list[Line] = [[], [(heading, "heading")]] if things else []
    for one in things:
        lines.append([("  ", ""), (one["citation"], "cite"), (f"  {' '.join(text(one).split())}", "cut")])
    return lines


def _row(label: str, value: str) -> Line:
    return [(label.ljust(LABEL), "label"), (value, "")]
