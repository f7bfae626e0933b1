"""Drive the application under Pilot like a user: read the screen, and wait for it without sleeping."""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.stories import Clock, location
from textual import events
from textual._context import visible_screen_stack
from textual._xterm_parser import XTermParser
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.strip import Strip
from textual.worker import WorkerCancelled

from store.base.clock import Clock as AnyClock
from store.base.models import Record
from tui.app import Memoranda
from tui.main_screen.screen import MainScreen
from tui.screens.plans import PlanScreen
from tui.screens.start import FirstStartScreen
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

NARROW, WIDE, HUGE = (80, 24), (120, 40), (200, 60)
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])
TWO_SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
PATIENCE = 30.0  # maximum wait on a busy machine
SETTLED = 90.0  # maximum wait for idle
FRAME = 0.02  # seconds: a redraw or a step of an animation comes within


class Person:
    """A user of the app."""

    def __init__(self, app: Memoranda, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> MainScreen:
        assert self.app._main is not None
        return self.app._main

    # reading

    @property
    def strips(self) -> list[Strip]:
        visible_screen_stack.set(self.app._background_screens)  # what shines through a menu
        return self.app.screen._compositor.render_strips(self.app.size)

    @property
    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.strips]

    def sees(self, *texts: str) -> bool:
        """Return whether all these texts are on the screen, each on one line."""
        lines = self.lines
        return all(any(text in line for line in lines) for text in texts)

    def line(self, text: str) -> str:
        """Return the first line that contains `text`."""
        return next(line for line in self.lines if text in line)

    @property
    def record_list(self) -> RecordList:
        return self.main.record_list

    @property
    def place(self) -> str:
        """Return the name of the pane or view that is shown."""
        return self.main.pane_name

    @property
    def all_rows(self) -> list[str]:
        """Return the visible rows of the list, one string each."""
        return _shown(self.main.record_list)

    @property
    def rows(self) -> list[str]:
        """Return the visible rows without the headings."""
        return [row for row in self.all_rows if not row.endswith("──")]

    hits = rows

    @property
    def headings(self) -> list[str]:
        """Return the visible headings."""
        return [row.rstrip("─").strip() for row in self.all_rows if row.endswith("──")]

    @property
    def title(self) -> str:
        """Return the line above the current list: its filters, and what it hides."""
        return self.lines[self.main.query_one("#chips").region.y].strip()

    @property
    def preview(self) -> list[str]:
        """Return the preview's lines, including those scrolled out."""
        return _texts(self.main.pane.preview)

    @property
    def told(self) -> str:
        """Return the preview, whose lines are wrapped, as one."""
        return " ".join(" ".join(self.preview).split())

    @property
    def plan(self) -> list[str]:
        """Return the rows of the plan's screen."""
        return _shown(self.app.screen.query_one("#plan", RecordList))

    @property
    def plan_preview(self) -> list[str]:
        return _texts(self.app.screen.query_one("#plan-preview", Preview))

    @property
    def planning(self) -> bool:
        """Return whether the plan's screen is shown."""
        return isinstance(self.app.screen, PlanScreen)

    @property
    def record(self) -> Record | None:
        """Return the record in the preview."""
        return self.main.pane.record

    @property
    def toasts(self) -> list[str]:
        """Return the visible toasts, oldest first."""
        return [notice.message for notice in self.app._notifications]

    @property
    def said(self) -> int:
        """Return how many messages were shown in this sitting."""
        return len(self.app.messages)

    @property
    def at(self) -> str | None:
        """Return the id of the focused widget."""
        return self.app.focused.id if self.app.focused is not None else None

    # acting

    async def press(self, *keys: str) -> None:
        """Press keys, and wait after each until its effect is on the screen."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type_ahead(self, text: str) -> None:
        """Send what a terminal writes for keys all at once, as fast fingers and a slow machine do (← stands for Escape,
        which with a letter after it would be another key); then wait."""
        for part in re.split("(←)", text):
            keys = [events.Key("escape", "\x1b")] if part == "←" else XTermParser().feed(part)
            for key in keys:
                self.app.post_message(key)
        await self.settle()

    async def paste(self, text: str) -> None:
        """Paste a text; ten times as fast as typing it."""
        assert self.app.focused is not None
        self.app.focused.post_message(events.Paste(text))
        await self.settle()

    async def paste_now(self, text: str) -> None:
        """Paste a text, without waiting for its effect."""
        assert self.app.focused is not None
        self.app.focused.post_message(events.Paste(text))
        await self.pilot.pause()

    async def command(self, text: str) -> None:
        """Run a line in the box that `:` opens."""
        await self.pilot.press("colon")
        await self.until(lambda: self.at == "words")
        await self.paste(text)
        await self.press("enter")

    async def fill(self, *answers: str) -> None:
        """Fill in the form that is open, a field each, and give the answers back."""
        for answer in answers:
            await self.press("ctrl+u")
            if answer:
                await self.paste(answer)
            await self.press("enter")

    async def choose(self, words: str) -> None:
        """Choose the first of what the chooser that is open offers for words."""
        await self.paste(words)
        await self.press("enter")

    async def follow(self, *steps: tuple[str | Callable[[], object], ...]) -> None:
        """Take steps, each (what is done, what is seen then…). Done are keys, with a text after `>` that is pasted and
        entered; or a line of the box after `:`, a query after `/`. Seen are texts on the screen, those after `!` are
        not; or what a function returns holds."""
        for does, *seen in steps:
            assert isinstance(does, str)
            keys, entered, text = does.partition(">")
            if does.startswith((":", "/")):
                await (self.command if does[0] == ":" else self.search)(does[1:])
            else:
                await self.press(*keys.split())
                if entered:
                    await self.choose(text.strip())
            for one in seen:
                try:
                    await self.until(lambda: self._holds(one))  # noqa: B023
                except AssertionError as error:
                    raise AssertionError(f"after {does!r} not {one!r}:\n{error}") from None

    def _holds(self, seen: str | Callable[[], object]) -> bool:
        if not isinstance(seen, str):
            return bool(seen())
        return not self.sees(seen[1:]) if seen[0] == "!" else self.sees(seen)

    async def search(self, text: str) -> None:
        """Type a query and wait for its answer."""
        await self.pilot.press("slash")
        await self.paste(text)
        bar = self.main.search_bar
        await self.until(lambda: not (bar.waiting or bar.thinking))  # as the answer to the query before is there
        await self.until(lambda: any("found" in line for line in self.lines[:2]))  # without tabs it is the first
        await self.settle()

    async def hears(self, *rows: tuple[str, str]) -> None:
        """Press keys, apart by spaces, or run a line after a colon; then see how the newest message begins, row by
        row."""
        for what, said in rows:
            await (self.command(what[1:]) if what.startswith(":") else self.press(*what.split()))
            assert self.toasts[-1:] and self.toasts[-1].startswith(said), (what, said, self.toasts)

    async def put_cursor(self, key: Hashable) -> None:
        """Move the cursor to a row."""
        assert self.main.record_list.select(key), f"{key} is not in the list"
        await self.settle()

    async def plan_of(self, *keys: str) -> None:
        """Press keys, and wait for the plan's screen."""
        await self.press(*keys)
        await self.until(lambda: self.planning)
        await self.settle()

    async def start_again(self) -> None:
        """Come back to the first of all facts, as after the start, without a message."""
        while self.app.screen is not self.main:
            await self.press("escape")
        await self.press("escape", "escape", "2", "escape", "g")
        self.app.clear_notifications()
        self.app.messages.clear()

    async def settle(self) -> None:
        """Wait until every message is processed, writer, workers and background tasks are idle, and the lists are
        loaded."""
        try:
            async with asyncio.timeout(SETTLED):
                await self._settle()
        except TimeoutError:
            under_way = [f"{worker.name} {worker.state.name}" for worker in self.app.workers]
            raise AssertionError(
                "\n".join(["this does not come to rest; the screen:", *self.lines, *under_way])
            ) from None

    async def _settle(self) -> None:
        while True:
            await self._work()
            await self.pilot.pause()
            if self._messages():
                continue
            await self._work()  # requested by the last messages
            reading = self.main.opened is not None and self.main.opened.reading
            if not (reading or list(self.app.workers) or self._messages()):
                return

    async def _work(self) -> None:
        engine = self.main.opened
        while engine is not None and not engine.is_closed and engine.reading:
            await asyncio.sleep(0)
        if engine is not None and not engine.is_closed:
            with contextlib.suppress(RuntimeError):  # a memory that is being left takes no more
                await asyncio.wrap_future(engine.thread.submit(lambda: None))
                await asyncio.wrap_future(engine.beside.submit(lambda: None))
        with contextlib.suppress(WorkerCancelled):
            await self.app.workers.wait_for_complete()

    def _messages(self) -> bool:
        """Return whether messages are pending. A pause of Pilot ends by drawing, which may post more."""
        screen = self.app.screen
        pumps = [self.app, *screen.walk_children(with_self=True)]
        waiting = (pump.message_queue_size or pump._next_callbacks for pump in pumps)
        return bool(screen._callbacks or self.app._held) or any(waiting)

    async def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until `condition` holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "\n".join(["this did not come about; screen:", *self.lines, *self.toasts])
            await asyncio.sleep(0.01)
            self.app.screen._on_timer_update()  # draw what changed, as its timer would


async def idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until the event loop has nothing to do and no timer of less than `FRAME` seconds runs, at most `max_sleep`
    seconds. In tests it takes the place of Textual's function of the same arguments, which looks every 20 ms whether
    the process has used CPU time, as it does not while it waits for a busy machine."""
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    pause = 0.0
    while pause >= 0:
        await asyncio.sleep(pause)
        timers = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
        due = min(timers, default=end) - loop.time()
        pause = 0.0 if loop._ready else max(0.0, due) if due <= FRAME else -1.0
        if loop.time() >= end:
            return


_ask_every_widget = Pilot._wait_for_screen


async def wait_for_screen(pilot: Pilot[int], timeout: float = PATIENCE) -> bool:
    """Wait until every widget has processed its messages. In tests it takes the place of Pilot's method, which posts a
    message to each widget to learn that: most of what a key cost."""
    await idle()
    pumps = [pilot.app, *pilot.app.screen.walk_children(with_self=True)]
    return all(_waits(pump) for pump in pumps) or await _ask_every_widget(pilot, timeout)


def _waits(pump: MessagePump) -> bool:
    """Return whether it waits for a message, so that none is in its queue or under way."""
    return any(not waiter.done() for waiter in pump._message_queue.ready_event._waiters)


@contextlib.asynccontextmanager
async def opened(
    folder: Path, size: tuple[int, int] = WIDE, clock: AnyClock | None = None, settled: bool = True
) -> AsyncIterator[Person]:
    """Run the app on the memory of `folder` until its lists are loaded; with `settled` until everything is idle and the
    ledger of a first start is left."""
    app = Memoranda(location(folder), os.fspath(folder), clock or Clock())
    async with app.run_test(size=size, notifications=True) as pilot:
        person = Person(app, pilot)
        await person.until(lambda: app._main is not None and app._main.query("#query"))  # the last widget mounted
        if settled:
            await person.settle()
            if isinstance(app.screen, FirstStartScreen):  # its own tests look at it
                await person.press("escape")
        yield person
        await person.until(lambda: person.lines)  # the last screen can be drawn


def _shown(found: RecordList) -> list[str]:
    """Return the visible rows, each as one line: a text that goes on below is put together."""
    rows: dict[int, list[str]] = {}
    for y, (index, _) in enumerate(found._layout()):
        rows.setdefault(index, []).append(found.render_line(y).text.rstrip())
    return [" ".join([lines[0], *(line.strip() for line in lines[1:])]) for lines in rows.values()]


def _texts(preview: Preview) -> list[str]:
    return ["".join(text for text, _, _ in row).rstrip() for row in preview._rows]


@pytest.fixture(autouse=True)
def utc() -> Iterator[None]:
    """Set the time zone to UTC. Import it in tests that show times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
