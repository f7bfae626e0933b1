"""What the controllers of the main screen share: background tasks, polling, and the registration of their actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

    from tui.theme.pieces import Piece


class BackgroundTask(Protocol):
    """A background task: started after the first rows, polled twice a second, shown in the top line."""

    def start(self) -> None:
        """Start, after the first rows are shown."""

    def poll(self, count: int) -> None:
        """Do what is due at the `count`-th poll."""

    def pieces(self) -> Sequence[Piece]:
        """Return the pieces for the top line; empty if there is nothing to show."""

    def leave(self) -> bool:
        """Stop what Escape can stop; return whether there was something."""


POLL = 0.5  # seconds between two polls for others' writes; a poll takes some 10 µs
# seconds without a key or the mouse after which one poll stands for AT_REST: each wakes the processor. Whatever is done
# at every so many polls is done at a multiple of it
REST, AT_REST = 30.0, 4


class Polling:
    """Calls its steps with the number of the poll."""

    def __init__(self, steps: Sequence[Callable[[int], None]], failed: Callable[[BaseException], None]) -> None:
        self._steps, self._failed = steps, failed
        self._count = 0

    def poll(self, polls: int = 1) -> None:
        """Call all steps, as the last of so many polls, each of whose numbers is a multiple of that. Report a file that
        cannot be read as an error, and try again at the next poll."""
        self._count += polls - self._count % polls
        try:
            for step in self._steps:
                step(self._count)
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self._failed(error)

    def repeat(self, screen: MessagePump, rested: Callable[[], float], polls: int = 1) -> None:
        """Poll again and again, AT_REST times less often where nobody used the application for REST seconds."""

        def again() -> None:
            now = AT_REST if rested() > REST else 1
            try:
                self.poll(now)
            finally:
                if screen.is_running:
                    self.repeat(screen, rested, now)

        screen.set_timer(polls * POLL, again)


def take_actions(screen: object, controller: object) -> None:
    """Make a controller's `action_*` methods attributes of the screen, where Textual looks for them. Raises ValueError
    for a name that the screen has already."""
    for name in dir(controller):
        if name.startswith("action_"):
            if hasattr(screen, name):
                raise ValueError(f"{name} of {type(controller).__name__} exists already")
            setattr(screen, name, getattr(controller, name))


def first(steps: Sequence[Callable[[], bool]]) -> bool:
    """Call the steps until one returns True; return whether one did."""
    return any(step() for step in steps)
