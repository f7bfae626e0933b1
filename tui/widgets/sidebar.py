"""The sidebar: lines of pieces that can be clicked, the last ones at its foot."""

from __future__ import annotations

from collections.abc import Sequence

from tui.theme.pieces import Piece
from tui.widgets.bars import Bar, click_spans

Lines = Sequence[Sequence[Piece]]


class Sidebar(Bar):
    """Shows lines, cut at its width."""

    DEFAULT_CSS = "Sidebar { width: 24; height: 1fr; border-right: solid $line; text-wrap: nowrap; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Lines = ()
        self._foot: Lines = ()

    def put_lines(self, lines: Lines, foot: Lines) -> None:
        """Show lines from the top, and `foot` at the bottom."""
        if (lines, foot) != (self._lines, self._foot):
            self._lines, self._foot = lines, foot
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        shown = self._shown()
        self.put(*(piece for line in shown for piece in (*line, ("\n", ""))))

    def _shown(self) -> list[Sequence[Piece]]:
        room = self.size.height - len(self._foot)
        lines = list(self._lines[: max(0, room)])
        return [*lines, *[()] * max(0, room - len(lines)), *self._foot]

    def clickable(self, line: int) -> Sequence[tuple[int, int, str]]:
        shown = self._shown()
        return click_spans(shown[line], 0) if line < len(shown) else ()
