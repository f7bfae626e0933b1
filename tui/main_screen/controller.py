"""What the controllers of the main screen share: background tasks, polling, and the registration of their actions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from textual.app import App
    from textual.message_pump import MessagePump

    from tui.screens.application import Application
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


POLL = 0.5  # seconds between two polls
# seconds without a key or the mouse after which one poll stands for AT_REST, as each wakes the processor; and seconds
# between two looks, meanwhile, whether others wrote. What is done at every so many polls is done at a multiple of
# AT_REST, or at a divisor
REST, AT_REST, GLANCE = 30.0, 20, 2.0
SELDOM = 10  # factor of the polls between two of what nobody misses at rest


def pace(polls: int, app: App[Any]) -> int:
    """Return the polls between two of what is done every so many, and SELDOM times less often at rest."""
    return polls * SELDOM if cast("Application", app).resting else polls


class Polling:
    """Calls its steps with the number of the poll. `written` returns whether others wrote since the last."""

    def __init__(
        self,
        steps: Sequence[Callable[[int], None]],
        failed: Callable[[BaseException], None],
        written: Callable[[], bool] = lambda: False,
    ) -> None:
        self._steps, self._failed, self._written = steps, failed, written
        self._count = 0
        self._since = 0.0  # the loop's time at the last poll
        self._sleep: asyncio.TimerHandle | None = None  # until the next glance, at rest

    def poll(self, polls: int = 1) -> None:
        """Call all steps, as the last of so many polls, at most AT_REST: with the number of the one that is a multiple
        of AT_REST, if one is. Report a file that cannot be read as an error, and try again at the next poll."""
        last = self._count + polls
        self._count = last - last % AT_REST if last % AT_REST < polls else last
        try:
            for step in self._steps:
                step(self._count)
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self._failed(error)

    def start(self, screen: MessagePump, resting: Callable[[], bool]) -> None:
        """Poll from now on, while the screen is there; AT_REST times less often while the application is `resting`,
        until it is `used` or something was written."""
        self._screen, self._resting = screen, resting
        self._wait()

    def used(self) -> None:
        """Poll at once, if the application rested: somebody is there again."""
        if self._sleep is not None:
            self._sleep.cancel()
            self._wake()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        if self._resting():
            self._sleep = loop.call_later(GLANCE, self._glance)
        else:
            loop.call_later(POLL, self._wake)

    def _glance(self) -> None:
        """Poll if it is time to, or something was written."""
        loop = asyncio.get_running_loop()
        try:
            due = loop.time() - self._since > AT_REST * POLL - GLANCE / 2 or self._written()
        except Exception:  # the poll meets it too, and reports it
            due = True
        if due:
            self._wake()
        else:
            self._sleep = loop.call_later(GLANCE, self._glance)

    def _wake(self) -> None:
        self._sleep = None
        if self._screen.is_running:
            self._screen.call_later(self._turn)

    def _turn(self) -> None:
        passed = round((asyncio.get_running_loop().time() - self._since) / POLL)
        try:
            self.poll(min(max(passed, 1), AT_REST))
        finally:
            if self._screen.is_running:
                self._wait()


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
