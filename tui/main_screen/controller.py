"""What the controllers of the main screen share: background tasks, polling, and the registration of their actions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from textual.widget import Widget

from tui.input.key_table import HITS
from tui.panes.controllers import Host
from tui.screens.base import Application
from tui.theme.line_filters import Piece
from tui.widgets.bars import Split
from tui.widgets.inputs import AskBar
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from textual.app import App
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.worker import Worker


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


POLL_SECONDS = 0.5  # seconds between two polls
# seconds without a key or the mouse after which one poll stands for POLLS_AT_REST, as each wakes the processor; and
# seconds between two looks, meanwhile, whether others wrote. What is done at every so many polls is done at a multiple
# of POLLS_AT_REST, or at a divisor
RESTING_SECONDS, POLLS_AT_REST, GLANCE_SECONDS = 30.0, 20, 2.0
SELDOM_FACTOR = 10  # factor of the polls between two of what nobody misses at rest


def polls_at_pace(polls: int, app: App[Any]) -> int:
    """Return the polls between two of what is done every so many, and SELDOM_FACTOR times less often at rest."""
    return polls * SELDOM_FACTOR if cast("Application", app).resting else polls


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
        """Call all steps, as the last of so many polls, at most POLLS_AT_REST: with the number of the one that is a
        multiple of POLLS_AT_REST, if one is. Report a file that cannot be read as an error, and try again at the next
        poll."""
        last = self._count + polls
        self._count = last - last % POLLS_AT_REST if last % POLLS_AT_REST < polls else last
        try:
            for step in self._steps:
                step(self._count)
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self._failed(error)

    def start_polling(self, screen: MessagePump, resting: Callable[[], bool]) -> None:
        """Poll from now on, while the screen is there; POLLS_AT_REST times less often while the application is
        `resting`, until it is `used` or something was written."""
        self._screen, self._resting = screen, resting
        self._wait()

    def wake(self) -> None:
        """Poll at once, if the application rested: somebody is there again."""
        if self._sleep is not None:
            self._sleep.cancel()
            self._wake()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        if self._resting():
            self._sleep = loop.call_later(GLANCE_SECONDS, self._glance)
        else:
            loop.call_later(POLL_SECONDS, self._wake)

    def _glance(self) -> None:
        """Poll if it is time to, or something was written."""
        loop = asyncio.get_running_loop()
        try:
            due = loop.time() - self._since > POLLS_AT_REST * POLL_SECONDS - GLANCE_SECONDS / 2 or self._written()
        except Exception:  # the poll meets it too, and reports it
            due = True
        if due:
            self._wake()
        else:
            self._sleep = loop.call_later(GLANCE_SECONDS, self._glance)

    def _wake(self) -> None:
        self._sleep = None
        if self._screen.is_running:
            self._screen.call_later(self._turn)

    def _turn(self) -> None:
        passed = round((asyncio.get_running_loop().time() - self._since) / POLL_SECONDS)
        try:
            self.poll(min(max(passed, 1), POLLS_AT_REST))
        finally:
            if self._screen.is_running:
                self._wait()


def adopt_actions(screen: object, controller: object) -> None:
    """Make a controller's `action_*` methods attributes of the screen, where Textual looks for them. Raises ValueError
    for a name that the screen has already."""
    for name in dir(controller):
        if name.startswith("action_"):
            if hasattr(screen, name):
                raise ValueError(f"{name} of {type(controller).__name__} exists already")
            setattr(screen, name, getattr(controller, name))


def try_steps(steps: Sequence[Callable[[], bool]]) -> bool:
    """Call the steps until one returns True; return whether any did."""
    return any(step() for step in steps)


# Run work on other threads, and call back on the screen's.


class ThreadController:
    """Starts workers, and calls back from them."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def in_background(
        self, work: Callable[[], object], group: str, description: str, exclusive: bool = False
    ) -> Worker[Any]:
        """Run `work` on a thread; show an error that ends it, unless another memory is shown by then: what reads the
        one that was closed fails."""

        def guarded() -> object:
            try:
                return work()
            except Exception:  # of any kind: a closed memory fails in SQLite, in a cache or in a callback
                if self._is_open or self.host.engine is None:
                    raise
                logging.getLogger("memoranda").info("work on a memory that was left ended", exc_info=True)
                return None

        return self.host.run_worker(
            guarded, group=group, description=description, exclusive=exclusive, thread=True, exit_on_error=False
        )

    def later(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the screen's thread; not after the application ends or another memory is shown."""
        if self._is_open and self.host.app.is_running:
            self.host.app.call_from_thread(self._call, function, *arguments)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if self._is_open:
            function(*arguments)

    @property
    def _is_open(self) -> bool:
        return self.host.engine is not None and not self.host.engine.is_closed


# Find the widgets of the main screen, some of which are mounted after its first frame.

WidgetKind = TypeVar("WidgetKind", bound=Widget)


class Widgets:
    """The widgets of a screen, by name."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def list_of(self, name: str) -> RecordList:
        """Return the list of a mounted pane."""
        return self._screen.query_one(f"#{name}", RecordList)

    def list_if_mounted(self, name: str) -> RecordList | None:
        """Return the list of a pane; None if the pane has no list or is not mounted."""
        return self._first(name, RecordList)

    def bar(self, name: str) -> Split | None:
        return self._first(name, Split)

    def ask_bar(self) -> AskBar | None:
        return self._first("ask", AskBar)

    def widget_of_kind(self, kind: type[Any]) -> Any:
        """Return the first widget of a kind; None if there is none."""
        return self._screen.query_one_optional(kind)

    def has_pane(self, name: str) -> bool:
        return self._screen.query_one_optional(f"#{name}") is not None

    def hide_pane(self, name: str, hidden: bool) -> None:
        if (pane := self._screen.query_one_optional(f"#{name}-pane")) is not None:
            pane.set_class(hidden, "-behind")

    def size_hits(self, height: int | str) -> None:
        self._screen.query_one(f"#{HITS}-pane").styles.height = height

    def _first(self, name: str, kind: type[WidgetKind]) -> WidgetKind | None:
        widget = self._screen.query_one_optional(f"#{name}")
        return widget if isinstance(widget, kind) else None
