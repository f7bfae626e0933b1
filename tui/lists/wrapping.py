"""Lay out a row of a list: a glyph, a text wrapped on a few lines, a note at the right edge, and a dim second part."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

from tui.theme.line_filters import fit

Pairs = list[tuple[str, str]]
MOST = 2  # lines of a text in a list
LEAST = 12  # cells of text below which the note is left out


def wrapped(text: str, first: int, rest: int, most: int = MOST) -> list[str]:
    """Wrap an escaped text at spaces into at most `most` lines, the first of `first` cells and the others of `rest`;
    the last one ends with an ellipsis if the text is longer."""
    text = text.strip()
    places = spans(text, first, rest, most)
    lines = [text[start:end] for start, end in places]
    if places[-1][1] < len(text):
        lines[-1] = fit(text[places[-1][0] :], rest if len(lines) > 1 else first)
    return lines


def spans(text: str, first: int, rest: int, most: int) -> list[tuple[int, int]]:
    """Return where the lines of `wrapped` begin and end in the text; the last ends before it if the text is longer."""
    places: list[tuple[int, int]] = []
    start, room = 0, max(1, first)
    while True:
        if cell_len(text[start:]) <= room:
            return [*places, (start, len(text))]
        end = start + _break(text[start:], room)
        places.append((start, end))
        if len(places) == most:
            return places
        start = end + len(text[end:]) - len(text[end:].lstrip())
        room = max(1, rest)


def _break(text: str, room: int) -> int:
    """Return how many characters stand on a line of `room` cells: up to a space, or all that fit if there is none or,
    as in Chinese, hardly any."""
    whole = room if text.isascii() else len(chop_cells(text, room)[0])
    if text[whole : whole + 1] == " ":
        return whole
    space = text.rfind(" ", 0, whole)
    return space if space > whole // 3 else whole


def row(
    head: Pairs,
    text: str,
    look: str,
    note: Pairs,
    width: int,
    most: int = MOST,
    second: Sequence[tuple[str, str]] = (),
) -> list[Pairs]:
    """Return the lines of a row: `head`, the text beside it with the note at the right edge of its first line, and the
    parts of `second`, (text, look), each below the text. Texts must be escaped."""
    indent, aside = sum(cell_len(part) for part, _ in head), sum(cell_len(part) for part, _ in note)
    if width - indent - aside - 1 < LEAST:
        note, aside = [], -1
    body = max(4, width - indent - aside - 1)
    first, *others = wrapped(text, body, width - indent - 1, most)
    gap = " " if note else ""
    lines: list[Pairs] = [[*head, (fit(first, body), look), (gap, ""), *note]]
    lines += [[(" " * indent, ""), (other, look)] for other in others]
    for part, dim in second:
        if part:
            lines += [[(" " * indent, ""), (one, dim)] for one in wrapped(part, width - indent - 1, width - indent - 1)]
    return lines


def heading(name: str, reason: str, width: int) -> Pairs:
    """Return the line above a group of rows: its name, why it stands apart, and a rule."""
    about = f"  {reason}" if reason and cell_len(name) + cell_len(reason) + 4 < width else ""
    rule = "─" * max(0, width - cell_len(name) - cell_len(about) - 2)
    return [(name, "title"), (about, "dim"), (" ", ""), (rule, "rule")]
