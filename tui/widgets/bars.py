"""The bars around the panes: the top line, a pane's title, the footer. Their parts can be clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual import events
from textual.content import Content
from textual.widgets import Static

from tui.input.key import Key
from tui.input.key_table import HISTORY, KEYS
from tui.input.plan_keys import PLAN
from tui.lists.view_state import WIDE
from tui.theme.line_filters import content
from tui.theme.pieces import Piece, width
from tui.widgets.cached_lines import Kept

LAST = ("palette.open", "help.open", "plan.leave")  # keys that a footer always shows
# where the tabs have no room for a name, and where the search says its key above the list
MORE, ABOVE = "more.open", "search.open"
FOR_ONE = ("past.look", "record.tag")  # keys that on a narrow screen stand before MARK
MARK, OPEN = "mark.toggle", "preview.follow"
BEFORE = 6  # keys of a pane that have precedence before MORE


class Bar(Kept, Static):
    """One line of text of a fixed size, so that an update costs no layout."""

    ALLOW_SELECT = False

    def __init__(self, text: str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(text, id=id, classes=classes)
        self._actions: list[tuple[int, int, str]] = []  # (first cell, cell after the last, action)

    def put(self, *pieces: Piece) -> None:
        """Show pieces, with untrusted texts escaped."""
        self._actions = click_spans(pieces, 0)
        self.update(_content(pieces), layout=False)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for first, end, action in () if offset is None else self.clickable(offset.y):
            if offset is not None and first <= offset.x < end:
                event.stop()
                await self.screen.run_action(action)
                return

    def clickable(self, line: int) -> Sequence[tuple[int, int, str]]:
        """Return (first cell, cell after the last, action) of what can be clicked on a line."""
        return self._actions


class Split(Bar):
    """A line with a left and a right part; the right part is truncated first."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Sequence[Piece] = ()
        self._right: Sequence[Piece] = ()

    def put_both(self, left: Sequence[Piece], right: Sequence[Piece]) -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        gap = self.size.width - width(self._left) - width(self._right)
        self.put(*self._left, *((" " * gap, ""), *self._right) if gap >= 1 else ())


class Footer(Bar):
    """The keys that apply at the cursor, from the key table; as many as fit, help and quit always. Each can be
    clicked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pane = ""
        self._kind = ""
        self._states: frozenset[str] = frozenset()
        self._first: Sequence[Piece] = ()
        self._keys: tuple[Key, ...] = KEYS
        self._words: Mapping[str, str] = {}
        self.remapped: Mapping[str, str] = {}
        self.looking = False  # whether the view is read-only, which omits keys that write

    def show_pane(
        self, pane: str, first: Sequence[Piece] = (), kind: str = "", states: frozenset[str] = frozenset()
    ) -> None:
        """Show the keys of a pane, after `first`. Where the `kind` of the record at the cursor is known, show only
        those that apply to it; name them by what they do to one in its `states`."""
        if (pane, first, kind, states) != (self._pane, self._first, self._kind, self._states):
            self._pane, self._first, self._kind, self._states = pane, first, kind, states
            self._draw()

    def show_kind(self, kind: str, states: frozenset[str]) -> None:
        """Show the keys of the same pane for another record; a hint stays."""
        if self._pane and (kind, states) != (self._kind, self._states):
            self._kind, self._states = kind, states
            self._draw()

    def show_keys(self, keys: tuple[Key, ...], words: Mapping[str, str] = {}) -> None:
        """Show these keys, for a screen with keys of its own; `words` are other labels of some, by id."""
        self._keys, self._words, self._pane, self._kind = keys, words, PLAN, ""
        self._states = frozenset()
        self._draw()

    def hint(self, *pieces: Piece) -> None:
        """Show another text, until another pane is focused."""
        self._pane = ""
        self.put(*pieces)

    def on_resize(self) -> None:
        if self._pane:
            self._draw()

    def _draw(self) -> None:
        said = {piece[2] for piece in self._first if len(piece) == 3}
        keys = [key for key in self._keys if self._pane in key.panes and self._word(key) and key.action not in said]
        keys = [key for key in keys if key.shown(self.remapped)]
        keys = [key for key in keys if not self._kind or not key.kinds or self._kind in key.kinds]
        if self.looking:
            keys = [key for key in keys if not key.act or key.looks]
        narrow = (self.size.width or 80) < WIDE
        keys = [key for key in keys if key.id != (ABOVE if narrow else MORE)]
        if narrow and self._pane == HISTORY:  # U undoes all that are marked
            keys.sort(key=lambda key: key.id in (OPEN, *FOR_ONE))
        elif narrow:
            at = next((place for place, key in enumerate(keys) if key.id == MARK), len(keys))
            early = [key for key in keys[at:] if key.id in FOR_ONE]
            keys[at:] = [*early, *(key for key in keys[at:] if key not in early)]
        last = [key for key in keys if key.id in (MORE, *LAST)]
        others = [key for key in keys if key not in last]
        room = (self.size.width or 80) - width(self._first)
        if sum(map(self._width, (*others[:BEFORE], *last))) > room:
            last = [key for key in last if key.id != MORE]
        while others and sum(map(self._width, (*others, *last))) > room:
            others.pop()
        pieces: list[Piece] = [*self._first]
        for key in (*others, *last):
            pieces += [
                (f" {key.shown(self.remapped)}", "$footer-key-foreground bold", key.action),
                (f" {self._word(key)} ", "$footer-description-foreground", key.action),
            ]
        self.put(*pieces)

    def _width(self, key: Key) -> int:
        return len(key.shown(self.remapped)) + len(self._word(key)) + 3

    def _word(self, key: Key) -> str:
        of_state = (key.words[state] for state in sorted(self._states) if state in key.words)
        return self._words.get(key.id) or next(of_state, key.words.get(self._pane, key.label))


def _content(pieces: Sequence[Piece]) -> Content:
    return Content.assemble(*(content(piece[0], piece[1]) for piece in pieces))


def click_spans(pieces: Sequence[Piece], at: int) -> list[tuple[int, int, str]]:
    """Return (first cell, cell after the last, action) of the pieces that can be clicked, from the cell `at` on."""
    spans = []
    for piece in pieces:
        size = width([piece])
        if len(piece) == 3:
            spans.append((at, at + size, piece[2]))
        at += size
    return spans
