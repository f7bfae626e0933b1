"""The input of the bars."""

from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class Field(Input):
    """An input of one fixed line. Textual's lays the whole screen out again at every letter, because the text may have
    outgrown it; here it scrolls, and a letter costs a letter."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def on_focus(self, event: events.Focus) -> None:
        """A cursor that blinks is motion."""
        self.cursor_blink = self.app.animation_level != "none"
