"""Rows of the guests: a text each, below the name of its tool."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from store.guests.guest_text import GuestText
from store.guests.secrets import shown as shown_guest_text
from tui.commands.files.guest import guest_line, guest_place, guest_tool
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.theme.escape import visible

LONGEST = 400  # characters of a text in the list
FEW = 12  # cells for a tool's name


class GuestRows(NumberedRows):
    """Texts, in the order of their files."""

    def __init__(self, texts: Sequence[GuestText]) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def key(self, index: int) -> Hashable:
        return self.texts[index].name

    def index_of(self, key: Hashable) -> int | None:
        return next((index for index, one in enumerate(self.texts) if one.name == key), None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self.texts[index]
        text = guest_line(one)
        shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        return row([(f"{guest_tool(one):<{FEW}} ", "cite")], shown, "", [(visible(one.note), "dim")], width)


def text_lines(one: GuestText) -> list[Line]:
    """Return a text in full, without secrets, and where it is."""
    about = " · ".join(filter(None, (one.note, one.short)))
    lines: list[Line] = [
        [(guest_tool(one), "cite"), (f"  {visible(shown_guest_text(one.title))}", "title"), (f"  {about}", "dim")],
        [(guest_place(one), "dim")],
        [],
    ]
    return [*lines, *([(visible(line), "")] for line in shown_guest_text(one.text).split("\n"))]
