"""The bars around the panes: the top line, a pane's title, the footer."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from tui.display import content
from tui.keys import KEYS
from tui.widgets.kept import Kept


class Bar(Kept, Static):
    """One line of text. It keeps its size, so changing it costs no layout."""

    ALLOW_SELECT = False

    def put(self, *pieces: tuple[str, str]) -> None:
        """Show (text, style) pieces; texts may be anyone's."""
        self.update(Content.assemble(*(content(text, style) for text, style in pieces)), layout=False)


class Split(Bar):
    """A line with a left and a right part; the right part gives way when both do not fit."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Sequence[tuple[str, str]] = ()
        self._right: Sequence[tuple[str, str]] = ()

    def put_both(self, left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]) -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        left = Content.assemble(*(content(text, style) for text, style in self._left))
        right = Content.assemble(*(content(text, style) for text, style in self._right))
        gap = self.size.width - left.cell_length - right.cell_length
        if gap < 1:
            self.update(left, layout=False)
        else:
            self.update(Content.assemble(left, " " * gap, right), layout=False)


class Footer(Bar):
    """The keys that matter where the cursor is, from the table; as many as there is room for, help always."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pane = ""

    def show_pane(self, pane: str) -> None:
        if pane != self._pane:
            self._pane = pane
            self._draw()

    def hint(self, text: str) -> None:
        """Something else to read here, until another pane is shown."""
        self._pane = ""
        self.put((text, "$footer-description-foreground"))

    def on_resize(self) -> None:
        if self._pane:
            self._draw()

    def _draw(self) -> None:
        keys = [key for key in KEYS if self._pane in key.panes]
        helps = [key for key in keys if key.id == "help.open"]
        others = [key for key in keys if key.id != "help.open"]
        width = self.size.width or 80
        while others and sum(len(key.shown) + len(key.label) + 3 for key in (*others, *helps)) > width:
            others.pop()
        pieces = []
        for key in (*others, *helps):
            pieces += [
                (f" {key.shown}", "$footer-key-foreground bold"),
                (f" {key.label} ", "$footer-description-foreground"),
            ]
        self.put(*pieces)
