"""What keeps the screen quick under the fingers: one frame for one key, at once, and no pause for garbage.

Where a key's milliseconds go in Textual 8.2.8 (a list with a preview at 120×40, to the last byte in a terminal):

- Textual paints when its screen is idle, so the list paints first; the preview, some messages later, is a second frame.
  That one waits for a timer of 60 beats a second, which skips a beat after each frame: 17 to 33 ms. A third frame, when
  the preview's update asks for a layout, waits as long again: 46 ms in all. `ResponsiveScreen` lets the messages of one
  key arrive before it paints, and shortens the beat for what comes late: 4 to 8 ms. A widget that keeps its size should
  change by `update(…, layout=False)`, for a layout is a frame of its own.
- A full garbage collection walks all modules and styles: 40 ms in the middle of a key press. `forget_startup` takes
  what the start left behind out of its sight; what comes later is small.

`python -m bench.screen_floor` measures it with and without.
"""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.screen import Screen

if TYPE_CHECKING:
    from textual.timer import Timer, TimerCallback

BEAT = 1 / 250
"""Seconds between frames while updates keep coming; at 2 ms a frame this leaves half of a core to the rest."""

TURNS = 16
"""Turns of the event loop before a frame; a message takes one for each pump it passes. Four were enough for a list and
its preview, and sixteen cost no measurable time: they pass while the messages do."""

Result = TypeVar("Result")


class ResponsiveScreen(Screen[Result]):
    """A screen that paints a key's whole effect in one frame. Every screen of the application derives from it."""

    _settled = False
    _settling = False

    def on_idle(self, event: events.Idle) -> None:
        """Hold Textual's own idle handler, which asks for the frame, back for a few turns of the loop."""
        if self._settled:
            self._settled = False
            return
        event.prevent_default()
        if not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_soon(self._turn, TURNS)

    def _turn(self, left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(self._turn, left - 1)
        else:
            self._settling, self._settled = False, True
            self.check_idle()

    def set_interval(
        self,
        interval: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        repeat: int = 0,
        pause: bool = False,
    ) -> Timer:
        """Shorten the beat of Textual's repaint timer, known by its name; if it loses that name nothing is changed.

        `TEXTUAL_FPS` does the same for all animations too, and for every Textual program started from here.
        """
        if name == "screen_update":
            interval = min(interval, BEAT)
        return super().set_interval(interval, callback, name=name, repeat=repeat, pause=pause)


def forget_startup() -> None:
    """Call once, when the first frame is painted: the collector never again looks at what the start left behind.

    `gc.disable()` before the imports takes 30 ms off the start; this turns the collector on again.
    """
    gc.freeze()
    gc.enable()
