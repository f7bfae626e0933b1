"""The dialogs: choose one of what is offered for the words typed; fill in fields; agree to what is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from store.memory import Memory
from store.text.display import visible
from tui.lists.record_rows import ListedRows, Row, RowLine, row_lines
from tui.screens.base import KEY_LOOK, ResponsiveScreen
from tui.theme.line_filters import Piece, escaped_content
from tui.theme.styles import read_css
from tui.widgets.bars import Bar, Field
from tui.widgets.record_list import RecordList
from tui.workers.engine import Engine

# lines of the list of a chooser, at most
OFFERED_LINES = 14


class Offer(NamedTuple):
    """A row of a chooser: what is taken (`value`), its text, the glyph before it, a note at the right and more
    below."""

    value: Any
    text: str
    note: str = ""
    more: str = ""
    glyph: str = "·"
    look: str = "dim"


class FormField(NamedTuple):
    """A line of a form: the name of its answer, its label, the text that it begins with (of the things that the form is
    about), whether typing replaces that, and the texts that up and down choose among."""

    name: str
    label: str
    start: str | Callable[[Sequence[Any]], str] = ""
    over: bool = False
    choices: Sequence[str] = ()
    needed: bool = True

    def start_for(self, things: Sequence[Any]) -> str:
        """Return the text that the field begins with."""
        return self.start if isinstance(self.start, str) else self.start(things)


class Dialog(ModalScreen[Any], ResponsiveScreen[Any]):
    """A box over the screen. Dismisses with its answer; with None where it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave", show=False, id="dialog.leave"),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]
    DEFAULT_CSS = read_css(__file__)

    heading = ""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = escaped_content(self.heading)
            yield from self.parts()
            yield Bar(id="dialog-keys")

    def parts(self) -> ComposeResult:
        """Yield what is between the title and the keys."""
        yield from ()

    def on_click(self, event: events.Click) -> None:
        """Leave it where one clicks beside it."""
        if not self.query(Vertical).first().region.contains(event.screen_x, event.screen_y):
            self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_submit()

    def action_submit(self) -> None:
        """Do what Enter does."""

    def put_keys(self, *keys: tuple[str, str, str]) -> None:
        """Show keys, each with what it does and the action of a click; Escape is added."""
        pieces: list[Piece] = []
        for key, does, action in (*keys, ("esc", "leaves", "dismiss(None)")):
            pieces += [(f"{key} ", KEY_LOOK, action), (f"{visible(does)}   ", "", action)]
        self.query_one("#dialog-keys", Bar).set_pieces(*pieces)


Find = Callable[[Memory, str], Sequence[Offer]]


class Chooser(Dialog):
    """Choose one of what `find` offers for the words typed, on a worker; the first row is what Enter does. Dismisses
    with the value of the row. `complete` is what Tab does to the words; up from the first row brings the lines typed
    before, `past`, the newest last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("tab", "complete", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        find: Find,
        engine: Engine,
        words: str = "",
        hint: str = "type words, or choose",
        complete: Callable[[str], str] | None = None,
        past: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.heading, self._find, self._engine, self._words, self._hint = title, find, engine, words, hint
        self._complete, self._past, self._place = complete, past, 0
        self._offers: Sequence[Offer] = ()
        # the words that the offers are for
        self._asked: str | None = None
        # whether Enter waits for the offers of the words typed
        self._entered = False

    def parts(self) -> ComposeResult:
        yield Field(self._words, self._hint, id="words", compact=True, select_on_focus=False)
        yield RecordList(id="offers", empty_text="Nothing has these words. Fewer words, or esc.")

    def on_mount(self) -> None:
        offers = self.query_one(RecordList)
        offers.can_focus = False
        offers.mark_cells, offers.opens_at_click = 0, True
        offers.styles.height = 3
        field = self.query_one(Field)
        field.cursor_position = len(field.value)
        field.focus()
        keys = [("enter", "takes it", "submit"), ("↑↓", "choose", "move(1)")]
        self.put_keys(*keys, *([("tab", "completes", "complete")] if self._complete else []))
        self._look(self._words)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._asked:
            self._look(event.value)

    def on_record_list_chosen(self) -> None:
        self.action_submit()

    def _look(self, words: str) -> None:
        self._engine.read(
            "offers", lambda memory: self._find(memory, words), lambda found: self._show(words, found)
        )

    def _show(self, words: str, offers: Sequence[Offer]) -> None:
        if not self.is_attached:
            return
        self._offers, self._asked = offers, words
        shown = self.query_one(RecordList)
        rows = [Row(index, partial(offer_lines, offer), offer) for index, offer in enumerate(offers)]
        shown.set_rows(ListedRows(rows), keep=False)
        most = min(OFFERED_LINES, max(3, self.app.size.height - 8))
        shown.styles.height = max(3, shown.height_of_rows(most))
        if self._entered:
            self.action_submit()

    def action_submit(self) -> None:
        """Take the row under the cursor, once the rows are those of the words typed."""
        self._entered = self._asked != self.query_one(Field).value
        at = self.query_one(RecordList).cursor_index
        if not self._entered and at is not None and at < len(self._offers):
            self.dismiss(self._offers[at].value)
        elif not self._entered:
            # nothing comes of it
            self.application.release_keys()

    def action_move(self, step: int) -> None:
        offers = self.query_one(RecordList)
        if step < 0 and not offers.cursor_index and self._place < len(self._past):
            self._place += 1
            self._type(self._past[-self._place])
        else:
            offers.action_move(step)

    def action_page(self, pages: float) -> None:
        self.query_one(RecordList).action_page(pages)

    def action_complete(self) -> None:
        if self._complete is not None:
            self._type(self._complete(self.query_one(Field).value))

    def _type(self, text: str) -> None:
        field = self.query_one(Field)
        field.value = text
        field.cursor_position = len(text)


def offer_lines(offer: Offer, width: int) -> list[RowLine]:
    """Draw a row of a chooser."""
    note: RowLine = [(visible(offer.note), "dim")] if offer.note else []
    more = [(visible(offer.more), "dim")] if offer.more else []
    return row_lines([(f"{offer.glyph} ", offer.look)], visible(offer.text), "", note, width, 1, more)


class Form(Dialog):
    """Read `lines`, and fill in fields: Enter goes to the next, and in the last gives the answers back by their names.
    Without fields it agrees to a question, which is read as lines: as a title it would be cut. An answer that is needed
    is not left empty."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", show=False)]

    def __init__(
        self,
        title: str,
        fields: Sequence[FormField] = (),
        things: Sequence[Any] = (),
        lines: Sequence[str] = (),
        does: str = "does it",
    ) -> None:
        super().__init__()
        if not fields:
            title, lines = "", [title, "", *lines] if lines else [title]
        self.heading, self._fields, self._lines, self._does = title, fields, lines, does
        self._starts = {field.name: field.start_for(things) for field in fields}

    def parts(self) -> ComposeResult:
        if self._lines:
            with VerticalScroll(classes="dialog-text", can_focus=not self._fields):
                yield Static(escaped_content("\n".join(visible(line) for line in self._lines)))
        for field in self._fields:
            yield Static(escaped_content(field.label), classes="dialog-label")
            yield Field(visible(self._starts[field.name]), id=field.name, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.put_keys(("enter", self._does, "submit"))
        for field, line in zip(self._fields, self.query(Field), strict=True):
            line.cursor_position = len(line.value)
            if field.over:
                line.selection = Selection(0, len(line.value))
        if self._fields:
            self.query(Field).first().focus()

    def action_move(self, step: int) -> None:
        at = self._at()
        if at is not None and self._fields[at].choices:
            self._choose(at, step)
        elif step > 0:
            self.focus_next(Field)
        else:
            self.focus_previous(Field)

    def _at(self) -> int | None:
        """Return the place of the field that has the focus."""
        return next((at for at, line in enumerate(self.query(Field)) if line.has_focus), None)

    def _choose(self, at: int, step: int) -> None:
        """Put the next of the field's choices, or the first that has what was typed; typing replaces it."""
        line, choices = list(self.query(Field))[at], self._fields[at].choices
        begun = line.value.strip().casefold()
        if begun in choices:
            line.value = choices[(choices.index(begun) + step) % len(choices)]
        else:
            line.value = next((choice for choice in choices if begun in choice), choices[0])
        line.selection = Selection(0, len(line.value))

    def action_submit(self) -> None:
        """Go to the next field; in the last one give the answers back."""
        at = self._at()
        lines = list(self.query(Field))
        empty = (
            place for place, line in enumerate(lines) if self._fields[place].needed and not line.value.strip()
        )
        next_line = at + 1 if at is not None and at + 1 < len(lines) else next(empty, None)
        if next_line is not None:
            lines[next_line].focus()
            self.application.release_keys()
        else:
            given = zip(self._fields, lines, strict=True)
            self.dismiss({field.name: self._answer(field.name, line.value) for field, line in given})

    def _answer(self, name: str, text: str) -> str:
        """Return an answer; one that was not changed as it was, with its line breaks and what is shown as marks."""
        start = self._starts[name]
        if text == visible(start):
            return start
        return text.replace(" ⏎ ", "\n") if "\n" in start else text
