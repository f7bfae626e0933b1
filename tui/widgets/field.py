"""The input of the bars."""

from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class Field(Input):
    """An input of one fixed line. Textual's own input lays out the whole screen again at every letter, in case the text
    outgrew it; this one scrolls instead."""

    ends_at_enter = True  # later keys are for what comes of it
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def on_focus(self, event: events.Focus) -> None:
        """Turn off the cursor's blinking: no motion."""
        self.cursor_blink = self.app.animation_level != "none"
