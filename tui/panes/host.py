"""The interface that a controller has of the main screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer
    from textual.widget import Widget

    from tui.lists.view_state import View
    from tui.theme.pieces import Piece
    from tui.widgets.preview_pane import PreviewPane
    from tui.widgets.record_list import RecordList
    from tui.workers.engine import Engine


class Host(Protocol):
    """The interface for every controller."""

    @property
    def app(self) -> App[Any]: ...
    @property
    def engine(self) -> Engine | None: ...
    @property
    def view(self) -> View: ...
    @property
    def form(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def current(self) -> str: ...
    @property
    def searching(self) -> bool: ...
    @property
    def focused(self) -> Widget | None: ...
    @property
    def pane(self) -> PreviewPane: ...

    def list_of(self, name: str) -> RecordList: ...
    def found(self, name: str) -> RecordList | None: ...
    def set_focus(self, widget: Widget | None) -> None: ...

    def say(
        self, text: str, severity: str = "information", timeout: float = 8, alone: bool = False, stays: bool = False
    ) -> None: ...
    def later(self, function: Callable[..., object], *arguments: object) -> None: ...
    def in_background(
        self, work: Callable[[], object], group: str, description: str, exclusive: bool = False
    ) -> object: ...
    def after(self, seconds: float, function: Callable[[], object]) -> Timer: ...
    def draw_top(self) -> None: ...
    def draw_titles(self) -> None: ...
    def draw_footer(self) -> None: ...


class PaneHost(Host, Protocol):
    """The interface that controllers of panes have in addition."""

    @property
    def counts(self) -> dict[str, int]: ...

    def find(self, kind: type[Any]) -> Any: ...
    def set_size(self, name: str, size: int | None) -> None: ...
    def follow(self, source: RecordList) -> None: ...
    def read_side(self) -> None: ...
    def refuses(self) -> bool: ...
    def end_search(self) -> None: ...
    def show_pane(self, name: str) -> None: ...
    def go_to_list(self) -> None: ...
    def run_line(self, line: str) -> None: ...


class PaneController:
    """The behaviour of a pane beyond showing its rows; every method is optional. Those that return a bool say whether
    they handled the event; if not, the default of all panes applies."""

    def __init__(self, host: PaneHost) -> None:
        self.host = host

    def preview(self, source: RecordList) -> bool:
        """Show the row at a list's cursor in the preview."""
        return False

    def shown(self, rows: object) -> None:
        """Update what depends on the rows, after they were loaded and shown."""

    def reloaded(self) -> None:
        """Update what depends on the lists, after they were reloaded, whichever pane is visible."""

    def holds(self, focused: str | None) -> bool:
        """Return whether the widget of this id belongs to the pane; for a pane that is no list."""
        return False

    def entered(self) -> None:
        """React to the focus, received by one of its widgets."""

    def go(self) -> bool:
        """Focus the pane, for its own key."""
        return False

    def choose(self) -> bool:
        """Open the row under the cursor."""
        return False

    def open(self) -> bool:
        """Open the selected citation."""
        return False

    def citation(self, step: int) -> bool:
        """Select another citation."""
        return False

    def selected(self) -> None:
        """React to another selected citation, here or in the preview."""

    def back(self) -> bool:
        """Go back to where a citation was followed from."""
        return False

    def refuses_marks(self) -> bool:
        """Say that nothing can be marked here, if so."""
        return False

    def footer(self) -> Sequence[Piece]:
        """Return the footer's text instead of keys; empty for the keys."""
        return ()

    def leave(self) -> bool:
        """Leave one mode, on Escape."""
        return False

    def close(self) -> None:
        """Stop before the memory is closed."""


Counts = Mapping[str, int]
