"""Keep the screen responsive: one frame for each key, at once, and no pause for garbage collection.

Time of a key press in Textual 8.2.8 (a list with a preview at 120×40, to the last byte in a terminal):

- Textual paints when its screen is idle, so the list paints first; the preview, some messages later, is a second frame.
That one waits for a 60 Hz timer, which skips a tick after each frame: 17 to 33 ms. A third frame, when the preview's
update requests a layout, waits as long again: 46 ms in all. `ResponsiveScreen` waits for the messages of one key before
it paints, and shortens the interval for later ones: 4 to 8 ms. A widget of a fixed size should use `update(…,
layout=False)`, because a layout is a frame of its own.
- A full garbage collection visits all modules and styles: 40 ms during a key press. `forget_startup` excludes the
objects of the start; later ones are few.

`python -m bench.screen_floor` measures both, with and without."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.screen import Screen

if TYPE_CHECKING:
    from textual.timer import Timer, TimerCallback

BEAT = 1 / 250
"""Seconds between frames during continuous updates; at 2 ms a frame this leaves half of a core to other work."""

TURNS = 16
"""Turns of the event loop before a frame; a message takes one for each pump it passes. Four were enough for a list and
its preview, and sixteen cost no measurable time, since they overlap with the messages."""

Result = TypeVar("Result")


class ResponsiveScreen(Screen[Result]):
    """A screen that paints the whole effect of a key in one frame. Base of every screen of the application."""

    _settled = False
    _settling = False

    def on_idle(self, event: events.Idle) -> None:
        """Delay Textual's idle handler, which requests the frame, by a few turns of the event loop."""
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
        """Shorten the interval of Textual's repaint timer, identified by its name; under another name nothing is
        changed.

        `TEXTUAL_FPS` would do so for all animations too, and for every Textual program started from here."""
        if name == "screen_update":
            interval = min(interval, BEAT)
        return super().set_interval(interval, callback, name=name, repeat=repeat, pause=pause)


def forget_startup() -> None:
    """Exclude all objects of the start from garbage collection; call once, after the first frame.

    `gc.disable()` before the imports saves 30 ms at the start; this enables the collector again."""
    gc.freeze()
    gc.enable()
