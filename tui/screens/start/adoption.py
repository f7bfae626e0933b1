"""Ask what to do with a memory that this installation neither created nor adopted. Until then nothing in it is served,
run or changed; after the first frame SQLite checks it, read-only."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from store.base.errors import MemorandaError, NotOurs
from store.base.location import Location
from tui.theme.escape import visible
from tui.workers.threads import SaysDefects

LOOK, PROPOSALS, WHOLE = "look", "proposals", "whole"
CHOICES = (
    ("l", LOOK, "look at it, read-only"),
    ("p", PROPOSALS, "put it aside, and take what it says as proposals in the inbox of a new memory"),
    ("w", WHOLE, "take it whole, as your own"),
)
MADE = ("y", WHOLE, "yes, an earlier version made it for me: it is mine")


class AdoptScreen(SaysDefects, Screen[str]):
    """Dismisses with the choice; empty if the user leaves the memory alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"choose('{choice}')", text, show=False) for key, choice, text in (*CHOICES, MADE)),
        Binding("q,escape", "choose('')", "leave it alone", show=False),
    ]
    DEFAULT_CSS = """
    AdoptScreen { align: center middle; padding: 1 2; }
    AdoptScreen VerticalScroll { width: 100%; max-width: 96; height: auto; max-height: 100%; }
    AdoptScreen #adopt-why { margin-bottom: 1; }
    AdoptScreen #adopt-check { margin-top: 1; color: $text-muted; }
    """

    def __init__(self, location: Location, why: NotOurs) -> None:
        super().__init__()
        self._location = location
        self._why = why
        self._damage = ""

    def compose(self) -> ComposeResult:
        choices = [*([MADE] if self._why.unmarked else []), *CHOICES, ("q", "", "leave it alone")]
        with VerticalScroll():
            yield Static(Text(visible(self._why.message)), id="adopt-why")
            if self._why.unmarked:
                yield Static(Text("Was it made by an earlier version, or did it come in an archive?\n"))
            yield Static(Text("\n".join(f" {key}  {text}" for key, _, text in choices)), id="adopt-choices")
            yield Static(Text("Checking it for damage …"), id="adopt-check")

    def on_mount(self) -> None:
        self.call_after_refresh(self._examine)

    @work(thread=True, exit_on_error=False, description="check it for damage")
    def _examine(self) -> None:
        from store.services.adoption import examine

        try:
            examine(self._location.path)
            said = "SQLite found no damage."
        except MemorandaError as error:
            said = self._damage = str(error)
        if self.is_attached:
            self.app.call_from_thread(self._say, said)

    def _say(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#adopt-check", Static).update(Text(visible(text)))

    def action_choose(self, choice: str) -> None:
        if choice in (PROPOSALS, WHOLE) and self._damage:
            self._say(self._damage)
            self.app.bell()
        else:
            self.dismiss(choice)
