"""The base of screens that preview changes: a title, rows with checkboxes, details of the row under the cursor, a
count, the keys. Subclasses define the rows and the work."""

from __future__ import annotations

from abc import abstractmethod  # checked by mypy: the metaclass of a screen is not ABCMeta
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from store.base.errors import MemorandaError
from tui.input.key import Key
from tui.lists.view_state import HUGE, WIDE
from tui.render.field_diff import Line
from tui.screens.help import HelpedScreen
from tui.theme.escape import visible
from tui.widgets.bars import Footer, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.memory import Memory
    from tui.workers.engine import Engine


def bound(keys: Sequence[Key]) -> list[BindingType]:
    """Return the bindings of such a screen, which precede those of its list."""
    return [
        Binding(key.keys, key.action, key.label or key.help, show=False, id=key.id, tooltip=key.help, priority=True)
        for key in keys
    ]


class ChoosingScreen(HelpedScreen[object]):
    """Select rows and apply the selection. Dismisses with the result, or None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]  # noqa: RUF012 - as Screen declares it
    NAME: ClassVar[str] = ""  # prefix of its widgets' ids
    EMPTY: ClassVar[str] = ""  # text of an empty list
    DEFAULT_CSS = """
    ChoosingScreen {
        layout: vertical; overflow: hidden;
        .choosing-bar { height: 1; padding: 0 1; background: $panel; }
        .choosing-body { height: 1fr; layout: horizontal; }
        .choosing-rows { width: 3fr; height: 1fr; }
        .choosing-preview { width: 2fr; height: 1fr; padding: 0 0 0 1; border-left: solid $line; }
        &.-narrow .choosing-body { layout: vertical; }
        &.-narrow .choosing-rows, &.-narrow .choosing-preview { width: 1fr; border-left: none; }
        &.-narrow .choosing-preview { border-top: solid $line; }
        Footer { height: 1; background: $footer-background; }
    }
    """

    def __init__(self, engine: Engine, form: str) -> None:
        """`form` is the layout's class."""
        super().__init__(classes=form)
        self._engine = engine
        self._working = False
        self.chosen: frozenset[int] = frozenset()

    @property
    @abstractmethod
    def keys(self) -> tuple[Key, ...]:
        """Return the keys of the footer."""

    @abstractmethod
    def draw(self) -> None:
        """Show the rows with their checkboxes, the title and the count."""

    @abstractmethod
    def describe(self, index: int) -> list[Line]:
        """Describe a row."""

    @abstractmethod
    def toggle(self, index: int) -> None:
        """Toggle the selection of a row."""

    def compose(self) -> ComposeResult:
        yield Split(id=f"{self.NAME}-title", classes="choosing-bar")
        with Container(classes="choosing-body"):
            with Vertical(classes="choosing-rows"):
                yield from self.above()
                yield RecordList(id=self.NAME, empty_text=self.EMPTY)
            with Vertical(classes="choosing-preview"):
                yield Preview(id=f"{self.NAME}-preview")
        yield Split(id=f"{self.NAME}-count", classes="choosing-bar")
        yield from self.below()
        yield Footer(id=f"{self.NAME}-footer")

    def on_mount(self) -> None:
        footer = self.query_one(Footer)
        footer.remapped = self.app.remapped  # type: ignore[attr-defined]
        footer.show_keys(self.keys)
        self.draw()
        self.rows.mark_cells = 1 + (len("[x]") if self.marks() else 0)
        self.rows.focus()

    @property
    def rows(self) -> RecordList:
        return self.query_one(f"#{self.NAME}", RecordList)

    def above(self) -> ComposeResult:
        """Yield what stands above the rows."""
        yield from ()

    def below(self) -> ComposeResult:
        """Yield what stands above the keys."""
        yield from ()

    def marks(self) -> bool:
        """Return whether the rows have checkboxes."""
        return True

    def tell(self, sentence: str) -> None:
        self.app.notify(visible(sentence), severity="warning", markup=False)

    # preview

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self.show(event.key)

    def show(self, key: object) -> None:
        """Show a row in the preview."""
        rows = self.rows.rows
        there = rows is not None and rows.index_of(key) is not None
        self.query_one(Preview).show(self.describe(key) if isinstance(key, int) and there else [])

    def action_scroll_preview(self, step: int) -> None:
        self.query_one(Preview).scroll_relative(y=step * 4, animate=False, force=True)

    # selection

    def action_choose(self) -> None:
        if isinstance(self.rows.cursor_key, int):
            self.toggle(self.rows.cursor_key)
            self.rows.action_move(1)

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """Handle a click on the checkbox, or with ctrl."""
        marks = event.record_list.marks
        event.record_list.unmark()
        for key in marks:
            if isinstance(key, int) and self.marks():
                self.toggle(key)

    # apply

    def action_leave(self) -> None:
        self.dismiss(None)

    def work(self, task: Callable[[Memory], object]) -> None:
        """Run it on the writer's thread, then dismiss with its result."""
        self._working = True
        self._engine.write(task, self._done)

    def _done(self, result: object, error: MemorandaError | None) -> None:
        if not self._engine.closed and self.app.is_running:
            self.app.call_from_thread(self._finish, result, error)

    def _finish(self, result: object, error: MemorandaError | None) -> None:
        self._working = False
        if error is not None:
            self.app.notify(visible(str(error)), severity="error", timeout=8, markup=False)
            self.draw()
        else:
            self.dismiss(result)
