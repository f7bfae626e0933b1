"""What the controllers of the main screen have in common: what they may use of it, and how it takes their actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tui.theme.pieces import Piece


class BackgroundTask(Protocol):
    """Work beside the screen: started after the first rows, looked after twice a second, shown in the top line."""

    def start(self) -> None:
        """Begin, after the first rows are shown."""

    def poll(self, count: int) -> None:
        """Do what is due at the `count`-th look."""

    def pieces(self) -> Sequence[Piece]:
        """What the top line says of it; empty while there is nothing to say."""

    def leave(self) -> bool:
        """Stop what can be stopped by Escape; whether there was something."""


class Polling:
    """Calls its steps with the number of the call; each time it is polled."""

    def __init__(self, steps: Sequence[Callable[[int], None]], failed: Callable[[BaseException], None]) -> None:
        self._steps, self._failed = steps, failed
        self._count = 0

    def poll(self) -> None:
        """Call all steps. A file that cannot be read is an error to be said; it is tried again the next time."""
        self._count += 1
        try:
            for step in self._steps:
                step(self._count)
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self._failed(error)


def take_actions(screen: object, controller: object) -> None:
    """Make a controller's `action_*` methods the screen's, where Textual looks for them. Raises ValueError for a name
    that the screen has already."""
    for name in dir(controller):
        if name.startswith("action_"):
            if hasattr(screen, name):
                raise ValueError(f"{name} of {type(controller).__name__} exists already")
            setattr(screen, name, getattr(controller, name))


def first(steps: Sequence[Callable[[], bool]]) -> bool:
    """Do the first of these steps that has something to do; whether one had."""
    return any(step() for step in steps)
