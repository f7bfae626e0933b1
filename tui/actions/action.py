"""What a key does: to which things, what has to be known before, and the function that writes.

An action never sees a screen: `does` gets the memory and the things, on the thread that writes, and all that it writes
is one step of history. What has to be known before is declared: fields to fill in, a record to pick, or a plan to look
at. Only what is of the screen itself (a text edited in place, the clipboard, another pane) is a `run`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from types import UnionType
from typing import Any, NamedTuple, Protocol

from textual.app import App

from store.base.citations import parse_citation
from store.base.models import Checkpoint, Record, Step
from store.base.vocabulary import pack_key
from store.memory import Memory
from store.upkeep.as_of import PointInTime
from tui.commands.call import Call, Outcome
from tui.desktop import programs
from tui.input.verb_table import verb_named
from tui.screens.dialogs import Find, FormField, Offer
from tui.screens.plans import Plan
from tui.workers.engine import ConfirmationNeeded, Engine


class Done(NamedTuple):
    """What was done, in a sentence; the key of the row that the cursor goes to, or whether it goes `onward` to the
    next; and lines to read, if there are any. `undo` says whether the message names the key that undoes it."""

    text: str
    select: Hashable | None = None
    onward: bool = False
    lines: Sequence[str] = ()
    undo: bool = True
    level: str = "information"


class Pick(NamedTuple):
    """A record that must be chosen: `find` returns, for the words typed, what is probably meant first."""

    title: str
    find: Callable[[Memory, Sequence[Any], str], Sequence[Offer]]


class Action(NamedTuple):
    """What the key `key` (an id of `tui.input.key_table`) does with things of some `kinds`; without kinds it is for
    none in particular. `word` is what the footer calls it; empty: it is not in the footer. Answers of `fields` and the
    choice of `pick` (`chosen`) are arguments of `does`, and of a `run`, which gets the screen. With `one` it is for the
    thing under the cursor, also where others are marked."""

    key: str
    word: str | Callable[[Any], str]
    kinds: tuple[type | UnionType, ...] = ()
    does: Callable[..., Done | str] | None = None
    fields: Sequence[FormField] = ()
    pick: Pick | None = None
    plan: Callable[[Memory, Sequence[Any]], Plan] | None = None
    run: Callable[..., object] | None = None
    fits: Callable[[Any], bool] = lambda thing: True
    one: bool = False
    looks: bool = False

    def things(self, things: Sequence[Any]) -> list[Any]:
        """Return those of some things that the action is for."""
        return [one for one in things if isinstance(one, self.kinds) and self.fits(one)]

    def word_for(self, thing: Any) -> str:
        """Return what the footer calls it for a thing; for None what it is called for none in particular."""
        if isinstance(self.word, str):
            return self.word
        return "" if thing is None else self.word(thing)


class ActionScreen(Protocol):
    """The main screen, as a `run` sees it."""

    @property
    def engine(self) -> Engine: ...
    @property
    def app(self) -> App[Any]: ...
    @property
    def pane_name(self) -> str: ...
    @property
    def moment(self) -> PointInTime | None: ...
    @property
    def offered(self) -> Checkpoint | None: ...

    def chosen(self, field: str) -> str | None: ...
    def say(self, text: str, level: str = "information", seconds: float = 8) -> None: ...
    def begin(self, action: Action, things: Sequence[Any]) -> None: ...
    def perform(self, action: Action, things: Sequence[Any], **answers: Any) -> None: ...
    def choose(self, title: str, find: Find, answer: Callable[[Any], object]) -> None: ...
    def show_plan(self, make: Callable[[Memory], Plan]) -> None: ...
    def go_to(self, name: str, **chosen: str | None) -> None: ...
    def look_back(self, text: str) -> None: ...
    def run_line(self, line: str) -> None: ...
    def type_command(self, line: str) -> None: ...
    def refresh_rows(self, select: Hashable | None = None) -> None: ...
    def select_row(self, key: Hashable) -> bool: ...
    def setting(self, name: str) -> str: ...
    def in_background(self, work: Callable[[], object], group: str) -> object: ...
    def later(self, function: Callable[..., object], *arguments: object) -> None: ...
    def edit_text(self, label: str, text: str, answer: Callable[[str], None], does: str = "saves") -> None: ...
    def copy(self, text: str, what: str) -> object: ...


# Verbs, as keys run them.

AGREED: ContextVar[frozenset[str]] = ContextVar("AGREED", default=frozenset())
"""The questions that the person agreed to, while an action is done."""


def agree(question: str, lines: Sequence[str] = ()) -> bool:
    """Go on if the person agreed to this question. Raise ConfirmationNeeded, which asks it, if not."""
    if question not in AGREED.get():
        raise ConfirmationNeeded(question, lines)
    return True


def run_verb(memory: Memory, name: str, *, select: bool = False, onward: bool = False, **given: Any) -> Done:
    """Run a verb as the command line does, and return what it says. With `select` the cursor goes to the record that it
    wrote."""
    call = Call(memory.location, memory, memory.location.project or "", agree)
    outcome: Outcome = verb_named(name).run(call, **given)
    written = outcome.data() if select else {}
    cited = parse_citation(written["citation"]) if isinstance(written, dict) and written else None
    key = None if cited is None else pack_key(cited.kind, int(cited.target))
    said = outcome.message.split(". ")[0].removesuffix(".")
    return Done(f"{said}; {call.first.removesuffix('.')}" if call.first else said, key, onward)


def find_among(offers: Sequence[Offer]) -> Find:
    """Return what finds the offers that have the words typed."""
    return lambda memory, words: [one for one in offers if words.lower() in f"{one.note} {one.text}".lower()]


def open_editor(screen: ActionScreen, text: str) -> str | None:
    """Have a text edited in the person's editor; None where it is as before. Raise NoEditor."""
    return programs.edit_in_editor(screen.app, text, command=screen.setting("editor"))


def cite_things(things: Sequence[Record | Step]) -> str:
    """Join the citations of up to five records, and add how many more there are."""
    names = [f"step {one.seq}" if isinstance(one, Step) else one.citation for one in things]
    return " ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
