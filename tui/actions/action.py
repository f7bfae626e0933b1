"""What a key does: to which things, what has to be known before, and the function that writes.

An action never sees a screen: `does` gets the memory and the things, on the thread that writes, and all that it writes
is one step of history. What has to be known before is declared: fields to fill in, a record to pick, or a plan to look
at. Only what is of the screen itself (a text edited in place, the clipboard, another pane) is a `run`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from store.memory import Memory
from tui.screens.dialogs import FormField, Offer
from tui.screens.plans import Plan
from tui.workers.engine import Engine

if TYPE_CHECKING:
    from textual.app import App


@dataclass(frozen=True)
class Done:
    """What was done, in a sentence; the key of the row that the cursor goes to, or whether it goes `onward` to the
    next; and lines to read, if there are any. `undo` says whether the message names the key that undoes it."""

    text: str
    select: Hashable | None = None
    onward: bool = False
    lines: Sequence[str] = ()
    undo: bool = True
    level: str = "information"


@dataclass(frozen=True)
class Pick:
    """A record that must be chosen: `find` returns, for the words typed, what is probably meant first."""

    title: str
    find: Callable[[Memory, Sequence[Any], str], Sequence[Offer]]


@dataclass(frozen=True)
class Action:
    """What the key `key` (an id of `tui.input.key_table`) does with things of some `kinds`; without kinds it is for
    none in particular. `word` is what the footer calls it. Answers of `fields` and the choice of `pick` are arguments
    of `does`."""

    key: str
    word: str | Callable[[Any], str]
    kinds: tuple[type, ...] = ()
    does: Callable[..., Done | str] | None = None
    fields: Sequence[FormField] = ()
    pick: Pick | None = None
    plan: Callable[[Memory, Sequence[Any]], Plan] | None = None
    run: Callable[[ActionScreen, Sequence[Any]], object] | None = None
    fits: Callable[[Any], bool] = lambda thing: True
    looks: bool = False

    def things(self, things: Sequence[Any]) -> list[Any]:
        """Return those of some things that the action is for."""
        return [one for one in things if isinstance(one, self.kinds) and self.fits(one)]

    def word_for(self, thing: Any) -> str:
        """Return what the footer calls it for a thing."""
        return self.word if isinstance(self.word, str) else self.word(thing)


class ActionScreen(Protocol):
    """The main screen, as a `run` sees it."""

    @property
    def engine(self) -> Engine: ...
    @property
    def app(self) -> App[Any]: ...

    def say(self, text: str, level: str = "information", seconds: float = 8) -> None: ...
    def perform(self, action: Action, things: Sequence[Any], **answers: Any) -> None: ...
    def show_plan(self, make: Callable[[Memory], Plan]) -> None: ...
    def go_to(self, name: str, **chosen: str | None) -> None: ...
    def run_line(self, line: str) -> None: ...
    def show_lines(self, lines: Sequence[str]) -> None: ...
    def refresh_rows(self, select: Hashable | None = None) -> None: ...
    def setting(self, name: str) -> str: ...
    def in_background(self, work: Callable[[], object], group: str, description: str) -> object: ...
    def later(self, function: Callable[..., object], *arguments: object) -> None: ...
    def edit_text(self, label: str, text: str, answer: Callable[[str], None]) -> None: ...
    def copy(self, text: str, what: str) -> object: ...
