"""Show only…: every filter of a list, with the number of records that it leaves, and a letter each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.screen import ModalScreen

from tui.input.key_table import named
from tui.lists.filters.facets import ALL, MOST, Choice, Facet, lettered
from tui.theme.pieces import Piece, width
from tui.widgets.bars import Bar

if TYPE_CHECKING:
    from textual.widget import Widget

COLUMN = 25  # cells of a column, at least
EDGES = 4  # cells at the sides of the menu
BESIDE = 8  # cells of it that are not a word nor a number
KEY = "bold $text-accent"


class OnlyScreen(ModalScreen["dict[str, str] | None"]):
    """Dismisses with the filters chosen, field → value, empty for all records; None to change nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False, id="only.leave", tooltip="Change nothing")
    ]
    DEFAULT_CSS = """
    OnlyScreen { align: center middle; }
    OnlyScreen > Vertical { width: auto; min-width: 58; max-width: 100%; height: auto; }
    OnlyScreen > Vertical { padding: 1 2; background: $panel; }
    OnlyScreen Grid { height: auto; width: auto; grid-rows: auto; grid-gutter: 1 0; }
    OnlyScreen Grid > Vertical { height: auto; }
    OnlyScreen Bar { height: 1; }
    OnlyScreen #only-keys { margin: 0 0 1 0; }
    """

    def __init__(self, facets: Sequence[Facet], active: Mapping[str, object]) -> None:
        super().__init__()
        self._facets = [facet for facet in facets if facet.choices]
        self._active = active
        self._column = COLUMN
        self._adding = False  # whether the next letter keeps the other filters
        self._choices: dict[str, tuple[Facet, Choice]] = {}

    def compose(self) -> ComposeResult:
        words = [len(one.word) + len(_number(one)) for facet in self._facets for one in facet.choices[:MOST]]
        room = (self.app.size.width - EDGES) // self._across
        self._column = max(COLUMN, min(room, max(words, default=0) + BESIDE))  # as many columns, but no word cut
        with Vertical():
            yield Bar(id="only-keys")
            with Grid():
                yield from self._columns()

    @property
    def _across(self) -> int:
        return max(1, min(len(self._facets), (self.app.size.width - EDGES) // COLUMN))

    def _columns(self) -> Iterator[Widget]:
        for facet, column in zip(self._facets, lettered(self._facets), strict=True):
            bars = [Bar() for _ in range(len(column) + 1 + (len(facet.choices) > MOST))]
            bars[0].put((facet.name, "bold"))
            for bar, (letter, one) in zip(bars[1:], column, strict=False):
                self._choices[letter] = (facet, one)
                bar.put(*self._row(letter, facet, one))
            if len(facet.choices) > MOST:
                # the first are the chips above the list
                how = f"esc, then {named('list.filter')}" if facet is self._facets[0] else "type them in /"
                bars[-1].put((f"  {len(facet.choices) - MOST} more: {how}", "$dim"))
            yield Vertical(*bars)

    def _row(self, letter: str, facet: Facet, one: Choice) -> list[Piece]:
        action = f"screen.pick({letter!r})"
        chosen = self._active.get(facet.field) == one.value
        number = _number(one)
        room = self._column - BESIDE - len(number)  # beside letter, glyph, number and the gap to the next column
        word = one.word if len(one.word) <= room else f"{one.word[: room - 1]}…"
        left: list[Piece] = [(letter, KEY, action), (f" {one.glyph or ' '} ", one.look, action)]
        left.append((word, "reverse" if chosen else "", action))
        gap = " " * max(1, self._column - 2 - width(left) - len(number))
        return [*left, (gap, "", action), (number, "$dim", action)]

    def on_mount(self) -> None:
        grid = self.query_one(Grid)
        grid.styles.grid_size_columns = self._across
        grid.styles.grid_columns = str(self._column)
        grid.styles.width = self._across * self._column
        self._draw_keys()

    def _draw_keys(self) -> None:
        adds: list[Piece] = [("space", KEY, "screen.add"), (" then a letter adds   ", "$dim", "screen.add")]
        if self._adding:
            adds = [("a letter adds to what is chosen   ", "bold")]
        self.query_one("#only-keys", Bar).put(
            ("Show only…   ", "bold $text-accent"),
            *adds,
            (ALL, KEY, f"screen.pick({ALL!r})"),
            (" all   ", "$dim", f"screen.pick({ALL!r})"),
            ("esc", KEY, "screen.leave"),
        )

    def on_key(self, event: events.Key) -> None:
        letter = event.character or ""
        if event.key == "space":
            event.stop()
            self.action_add()
        elif letter == ALL or letter in self._choices:
            event.stop()
            self.action_pick(letter)

    def action_add(self) -> None:
        self._adding = True
        self._draw_keys()

    def action_pick(self, letter: str) -> None:
        """Choose the filter of a letter, or all records."""
        if letter == ALL:
            self.dismiss({})
            return
        facet, one = self._choices[letter]
        kept = {field: str(value) for field, value in self._active.items()} if self._adding else {}
        self.dismiss({**kept, facet.field: one.value})

    def action_leave(self) -> None:
        self.dismiss(None)


def _number(one: Choice) -> str:
    return "" if one.number is None else f"{one.number:,}"
