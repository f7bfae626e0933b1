"""A screen with a list: its title, the list, what is under the cursor in full, and the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from tui.screens.application import Application
from tui.screens.help import HelpedScreen
from tui.theme.escape import visible
from tui.theme.pieces import Piece
from tui.widgets.bars import Bar, Split
from tui.widgets.preview import Preview
from tui.widgets.prompt_bar import AskBar
from tui.widgets.record_list import RecordList
from tui.widgets.rows import Rows
from tui.workers.threads import SaysDefects

Result = TypeVar("Result")
KEY = "$footer-key-foreground bold"


class ListScreen(SaysDefects, HelpedScreen[Result]):
    """Base of the screens behind `0`. `NAME` is the id of the list, and begins those of the other parts."""

    NAME: ClassVar[str]
    EMPTY: ClassVar[str] = ""
    CLOSE: ClassVar[str] = "leave"  # the action of Escape
    DEFAULT_CSS = """
    ListScreen {
        layout: vertical; overflow: hidden;
        Split { height: 1; background: $panel; }
        .more { height: 1fr; border-top: solid $line; padding: 0 0 0 1; }
        .keys { height: 1; background: $footer-background; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Split(id=f"{self.NAME}-title")
        yield RecordList(self.first_rows(), id=self.NAME, empty_text=self.EMPTY)
        with Vertical(id=f"{self.NAME}-more", classes="more"):
            yield Preview(id=f"{self.NAME}-preview")
        yield from self.bars()
        yield Bar(id=f"{self.NAME}-keys", classes="keys")

    def first_rows(self) -> Rows | None:
        """Return the rows that are shown first."""
        return None

    def bars(self) -> Iterable[Widget]:
        """Return what stands between the preview and the keys."""
        return ()

    @property
    def listed(self) -> RecordList:
        return self.query_one(f"#{self.NAME}", RecordList)

    @property
    def told(self) -> Preview:
        return self.query_one(f"#{self.NAME}-preview", Preview)

    def put_title(self, about: str, status: str, look: str = "$dim", *more: Piece) -> None:
        """Show the name of the screen, what it is about, and its status."""
        left: list[Piece] = [(f" {self.NAME.upper()}  ", "bold $text-accent"), (visible(about), "bold"), *more]
        self.query_one(f"#{self.NAME}-title", Split).put_both(left, [(f"{visible(status)} ", look)])

    def put_keys(self, keys: Sequence[tuple[str, str, str]], closes: str = "closes", close: str = "") -> None:
        """Show keys, each with what it does and the action of a click; Escape, which `closes`, is added."""
        pieces: list[Piece] = []
        for key, does, action in (*keys, ("esc", closes, close or self.CLOSE)):
            pieces += [(f" {key}", KEY, action), (f" {visible(does)} ", "", action)]
        self.query_one(f"#{self.NAME}-keys", Bar).put(*pieces)

    def say(self, text: str, severity: str = "information") -> None:
        self.app.clear_notifications()
        self.app.notify(visible(text), severity=severity, markup=False)  # type: ignore[arg-type]

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        self.query_one(AskBar).hide()
        self.listed.focus()
        if event.answer is not None:
            event.answer()
        cast("Application", self.app).release_keys()
