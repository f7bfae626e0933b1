"""The librarian's pane: the conversation above, whose citations are links, and the input line below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from store.librarian.answer import CitedSentence
from tui.input.key_table import LIBRARIAN
from tui.render.lines import StyledLine
from tui.theme.escape import visible
from tui.theme.line_filters import Piece
from tui.widgets.bars import Bar, CachedLines, Field
from tui.widgets.preview import Preview
from tui.workers.model_worker import Exchange

YOU_LABEL, ANSWER_LABEL, BESIDE_LABEL = "you        ", "librarian  ", "           "
PLAIN_WORDS = "words"  # style of text that is never a link


class Talk(Preview):
    """The exchanges, scrolled to the newest."""

    def show_talk(self, exchanges: Sequence[Exchange], empty: Sequence[StyledLine]) -> None:
        """Show these exchanges, or if there are none examples of questions. Keep the scroll position unless it is at
        the end."""
        at_end = self.at_end
        before = self.citations[self.selected] if 0 <= self.selected < len(self.citations) else None
        self.show_lines([line for exchange in exchanges for line in talk_lines(exchange)] or empty, stay=True)
        if before is not None and before in self.citations:
            own = [place for place, one in enumerate(self.citations) if one == before]
            self.selected = min(own, key=lambda place: abs(place - self.selected))
        if at_end:
            self.to_end()

    def begins_question(self, event: events.Key | events.Paste) -> bool:
        """Begin the question with a letter or a text that is typed or pasted here; return False for what does not. No
        letter is a key here: whoever sees a line to type in types."""
        if isinstance(event, events.Paste):
            text = " ".join(event.text.split())
        else:
            text = event.character or ""
            if not (text.isalpha() or text in ("¿", "¡")):
                return False
        question = self.screen.query_one(Question)
        self.screen.set_focus(question)
        question.cursor_position = len(question.value)
        question.insert_text_at_cursor(text)
        return True

    def paging(self, keys: str) -> list[Piece]:
        """Return these `keys` for the footer, which scroll what does not fit; none where all is seen."""
        if not self.max_scroll_y:
            return []
        down = "page_answer(1)"
        return [(f" {keys}", "$footer-key-foreground bold", down), (" scroll ", "", down)]

    def _citation_pieces(self, text: str, style: str) -> list[tuple[str, str, int]]:
        """Include the brackets in a citation, so that no line breaks between them."""
        if style == PLAIN_WORDS:
            return [(visible(text), "", -1)]
        pieces: list[tuple[str, str, int]] = []
        for piece, look, index in super()._citation_pieces(text, style):
            if index >= 0 and pieces and pieces[-1][0].endswith("["):
                pieces[-1] = (pieces[-1][0][:-1], *pieces[-1][1:])
                piece = f"[{piece}"
            elif pieces and pieces[-1][0].startswith("[") and piece.startswith("]"):
                pieces[-1] = (f"{pieces[-1][0]}]", *pieces[-1][1:])
                piece = piece[1:]
            pieces.append((piece, look, index))
        return [piece for piece in pieces if piece[0]]

    @property
    def at_end(self) -> bool:
        """Return whether the last line is visible."""
        return round(self.scroll_offset.y) + self.size.height >= len(self._rows)

    def to_end(self) -> None:
        """Scroll to the last answer: to its end, or to its question if it does not fit."""
        asked = max((y for y, row in enumerate(self._rows) if row and row[0][0] == YOU_LABEL), default=0)
        end = max(0, len(self._rows) - self.size.height)
        self.scroll_to(y=min(end, asked), animate=False, force=True)

    def select_last(self) -> bool:
        """Select the first citation of the last answer, which `enter` opens. Return False if it has none."""
        asked = [y for y, row in enumerate(self._rows) if row and row[0][0] == YOU_LABEL]
        own = [index for row in self._rows[asked[-1] + 1 :] for _, _, index in row if index >= 0] if asked else []
        if own:
            self.selected = own[0]
        return bool(own)


def talk_lines(exchange: Exchange) -> list[StyledLine]:
    """Render a question and its answer as lines: the search's hits, until the answer is there."""
    answer = exchange.answer
    lines: list[StyledLine] = [[(YOU_LABEL, "label"), (exchange.question, "title")]]
    said = list(map(_sentence_pieces, exchange.first if answer is None else answer.parts))
    lines += [
        [(BESIDE_LABEL if place else ANSWER_LABEL, "label"), *sentence] for place, sentence in enumerate(said)
    ]
    start = BESIDE_LABEL if said else ANSWER_LABEL
    if exchange.error:
        lines.append([(start, "label"), (exchange.error, "warning")])
    elif answer is None:
        clock = f" {exchange.seconds} s · esc stops" if exchange.seconds and not exchange.stop.is_set() else ""
        lines.append([(start, "label"), (f"{exchange.status}{clock}", "dim")])
    else:
        if answer.near is not None:
            lines.append([(BESIDE_LABEL, "label"), *_sentence_pieces(answer.near)])
        if answer.filter:
            lines.append([(BESIDE_LABEL, "label"), *_filter_chips(answer.filter)])
        lines.append([(start, "label"), (answer.line, "dim")])
        of_data = answer.asked.lists and (answer.filter or answer.asked.asks_history)
        if exchange.unindexed and not of_data:  # the data are complete
            lines.append([(BESIDE_LABEL, "label"), (exchange.unindexed, "warning")])
        if answer.note:
            lines.append([(BESIDE_LABEL, "label"), (answer.note, "dim")])
    return [*lines, []]


def _filter_chips(filters: str) -> StyledLine:
    """Render the filter that a question was read as, each part as a chip; up returns it to the input for editing."""
    chips = [piece for part in filters.split() for piece in ((f" {part} ", "chip"), (" ", PLAIN_WORDS))]
    return [*chips, ("↑ edits", "dim")]


def _sentence_pieces(sentence: CitedSentence) -> StyledLine:
    """Split a sentence into pieces; its own citations are links, those inside quotations are plain text."""
    own = "|".join(re.escape(f"[{citation}]") for citation in sentence.citations)
    parts = re.split(f"({own})", sentence.text) if own else [sentence.text]
    return [(part, "" if place % 2 else PLAIN_WORDS) for place, part in enumerate(parts) if part]


class Question(Field):
    """The input line: Enter asks, up and down browse earlier questions. If it is empty, Enter and down move to the
    citations of the last answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "past(1)", "Older", show=False, id="question.older", tooltip="The question before"),
        Binding("down", "past(-1)", "Newer", show=False, id="question.newer", tooltip="The question after"),
        Binding("pageup", "screen.page_answer(-1)", "Up", show=False, id="question.up", tooltip="The answer above"),
        Binding(
            "pagedown", "screen.page_answer(1)", "Down", show=False, id="question.down", tooltip="The answer below"
        ),
    ]

    def __init__(self) -> None:
        super().__init__(id="question", compact=True, select_on_focus=False)
        self.placeholder = "what was decided, done or said"
        self._past: list[str] = []
        self._place = 0
        self._typed = ""

    def keep_question(self, question: str) -> None:
        """Add the question to the input history, and clear the line."""
        self._past.append(question)
        self._place = 0
        self.value = ""

    def offer(self, text: str) -> None:
        """Add a text to the input history, for the up arrow to bring it first."""
        self._past.append(text)

    def forget(self) -> None:
        """Clear the input history."""
        if self._place:
            self.value = ""
        self._past.clear()
        self._place, self._typed = 0, ""

    def action_past(self, step: int) -> None:
        if step < 0 and not self._place and not self.value:
            self.post_message(TalkPane.Asked(""))
        place = self._place + step
        if 0 <= place <= len(self._past):
            if not self._place:
                self._typed = self.value
            self._place = place
            self.value = self._past[-place] if place else self._typed
            self.cursor_position = len(self.value)


class TalkPane(CachedLines, Vertical):
    """The pane with the conversation and the input line."""

    DEFAULT_CSS = """
    TalkPane {
        & > #talk { height: 1fr; padding: 0 1; }
        & > #ask-line { height: 1; background: $panel; padding: 0 1; }
        & > #ask-line > #ask-label { width: auto; padding: 0 1 0 0; text-style: bold; color: $text-accent; }
        & > #ask-line > Question { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
    }
    """

    @dataclass
    class Asked(Message):
        """A question was submitted; empty if Enter was pressed without one."""

        question: str

    def compose(self) -> ComposeResult:
        with Vertical(id="talk"):
            yield Talk(id=LIBRARIAN)
        with Horizontal(id="ask-line"):
            yield Bar("ask", id="ask-label")
            yield Question()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.query_one(Question).keep_question(event.value.strip())
        self.post_message(self.Asked(event.value.strip()))
