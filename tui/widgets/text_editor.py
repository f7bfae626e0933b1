"""A text that is edited where it stands: enter saves it, escape leaves it as it was, ctrl+j begins a new line."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from tui.theme.escape import visible


class TextEditor(TextArea):
    """As high as its text. Control characters are shown as marks; unchanged, the text is returned as it was."""

    ends_at_enter = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False, id="edit.leave", tooltip="Leave the text as it was"),
    ]
    DEFAULT_CSS = """
    TextEditor {
        layer: over; max-width: 84; height: auto; max-height: 100%; border: none; padding: 0;
        background: $boost; scrollbar-size-vertical: 1;
    }
    """

    class Left(Message):
        """It was left, with a text to keep, or with None."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def __init__(self, text: str, column: int, line: int) -> None:
        self._start = text
        self._seen = visible(text, newlines=True)
        super().__init__(self._seen, id="edit", soft_wrap=True, show_line_numbers=False, compact=True)
        self.styles.offset = (column, line)

    def on_mount(self) -> None:
        self.cursor_blink = self.app.animation_level != "none"
        self.move_cursor(self.document.end)
        self.focus()

    async def _on_key(self, event: events.Key) -> None:
        """Take the keys that mean something else here; Textual calls the base's own handler for the others."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Left(self._start if self.text == self._seen else self.text))
        elif event.key in ("ctrl+j", "shift+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()  # the application would pass it on once more

    def action_delete_to_start_of_line(self) -> None:
        """Delete to the start of the line as the person wrote it, as a shell does, not of the row."""
        self.delete((self.cursor_location[0], 0), self.cursor_location)

    def action_delete_to_end_of_line(self) -> None:
        row = self.cursor_location[0]
        self.delete(self.cursor_location, (row, len(self.document.get_line(row))))

    def action_leave(self) -> None:
        self.post_message(self.Left(None))
