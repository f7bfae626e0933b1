"""Render conversations in full: a turn with its neighbours, and a summary with the turns that it covers."""

from store.base.models import Summary, Turn
from store.memory import Memory
from tui.render.field_diff import Line
from tui.render.line_parts import head, row, when, words


def turn_lines(memory: Memory, turn: Turn, now: str) -> list[Line]:
    lines: list[Line] = [
        head("turn", turn, turn.speaker or turn.role),
        *words(turn.text, "title"),
        [],
        row("Said", when(turn.at, now)),
        row("Session", f"{turn.session}, turn {turn.number}"),
        row("Tokens", f"{turn.tokens:,}"),
        *([row("Continuity", f"{turn.continuity:.2f} to the turn before")] if turn.continuity is not None else []),
        row("Recorded by", turn.origin),
    ]
    around = memory.turns.around(turn.id)
    if len(around) > 1:
        lines += [[], [("What was said around it", "heading")]]
        for near in around:
            mark = "▸ " if near.id == turn.id else "  "
            first = near.text.partition("\n")[0]
            lines.append([(mark, "dim"), (near.citation, "cite"), (f"  {near.speaker or near.role}: {first}", "")])
    return lines


def summary_lines(memory: Memory, found: Summary, now: str) -> list[Line]:
    active = any(one.id == found.id for one in memory.summaries.active(found.session))
    lines: list[Line] = [
        head("summary", found, "active" if active else "archived"),
        *words(found.title or "Small talk", "title"),
        [],
        *([row("Outcome", found.outcome)] if found.outcome else []),
        *([row("Discussed", ", ".join(found.discussed))] if found.discussed else []),
        *(row("Decided", one) for one in found.decisions),
        *(row("Open", one) for one in found.open_questions),
        row("Session", f"{found.session}, turns {found.first} to {found.last}"),
        row("Said", f"{when(found.created_at, now)}, {found.tokens} tokens"),
        [],
        [("What was said", "heading")],
    ]
    for turn in memory.turns.since(found.session, found.first - 1, found.last - found.first + 1):
        lines.append(
            [("  ", ""), (turn.citation, "cite"), (f"  {turn.speaker or turn.role}: ", "dim"), (_first(turn.text), "")]
        )
    return lines


def _first(text: str) -> str:
    return text.partition("\n")[0]
