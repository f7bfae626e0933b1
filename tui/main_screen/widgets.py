"""Find the widgets of the main screen, some of which are mounted after its first frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from textual.widget import Widget

from tui.input.key_table import HITS
from tui.widgets.bars import Split
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.widgets.prompt_bar import AskBar

Kind = TypeVar("Kind", bound=Widget)


class Widgets:
    """The widgets of a screen, by name."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def list_of(self, name: str) -> RecordList:
        """Return the list of a mounted pane."""
        return self._screen.query_one(f"#{name}", RecordList)

    def found(self, name: str) -> RecordList | None:
        """Return the list of a pane, if it has one and is mounted."""
        return self._first(name, RecordList)

    def bar(self, name: str) -> Split | None:
        return self._first(name, Split)

    def ask_bar(self) -> AskBar | None:
        from tui.widgets.prompt_bar import AskBar

        return self._first("ask", AskBar)

    def find(self, kind: type[Any]) -> Any:
        """Return the first widget of a kind; None if there is none."""
        return self._screen.query_one_optional(kind)

    def has_pane(self, name: str) -> bool:
        return self._screen.query_one_optional(f"#{name}") is not None

    def hide_pane(self, name: str, hidden: bool) -> None:
        if (pane := self._screen.query_one_optional(f"#{name}-pane")) is not None:
            pane.set_class(hidden, "-behind")

    def size_hits(self, height: int | str) -> None:
        self._screen.query_one(f"#{HITS}-pane").styles.height = height

    def _first(self, name: str, kind: type[Kind]) -> Kind | None:
        widget = self._screen.query_one_optional(f"#{name}")
        return widget if isinstance(widget, kind) else None
