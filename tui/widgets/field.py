"""The input of the bars."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class Field(Input):
    """An input of one fixed line, in which ctrl+z undoes. Textual's own input lays out the whole screen again at every
    letter, in case the text outgrew it; this one scrolls instead."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "undo", "Undo", show=False, id="field.undo", tooltip="Undo what was typed"),
    ]
    ends_at_enter = True  # later keys are for what comes of it
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    _edits: tuple[tuple[str, int], ...] = ()  # (text, cursor) before each edit, the oldest first
    _edited = ""  # the text after the last edit: another one was set, and is not undone
    _kind = ""  # of the last edit; letters of a word, and deletions in a row, are one

    def on_focus(self, event: events.Focus) -> None:
        """Turn off the cursor's blinking: no motion."""
        self.cursor_blink = self.app.animation_level != "none"

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a part of the text; every edit comes through here."""
        before, at = self.value, self.cursor_position
        kind = "letter" if len(text) == 1 and not text.isspace() and start == end else "" if text else "deletion"
        super().replace(text, start, end)
        if before != self._edited:
            self._edits, self._kind = (), ""
        if self.value != before and not (kind and kind == self._kind):
            self._edits = (*self._edits, (before, at))
        self._edited, self._kind = self.value, kind

    def action_undo(self) -> None:
        """Undo the last edit."""
        if self._edits and self.value == self._edited:
            *rest, (self.value, at) = self._edits
            self._edits, self._edited, self._kind = tuple(rest), self.value, ""
            self.cursor_position = at
