"""The thread that reads keys: it sleeps while none comes, tells an escape from a sequence, and ends when it is told."""

import os
import pty
import selectors
import signal
import sys
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest
from support.stories import copy
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.message import Message

from tui.app import Memoranda
from tui.desktop.drivers import TerminalDriver


class Reading:
    """A driver that reads a terminal, and what it was given."""

    def __init__(self, driver: TerminalDriver, keyboard: int) -> None:
        self.driver, self.keyboard = driver, keyboard
        self.messages = Queue[Any]()
        driver.process_message = self.messages.put  # type: ignore[method-assign]

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = Thread(target=self.driver.run_input_thread, daemon=True)
        thread.start()
        yield
        self.driver.exit_event.set()
        thread.join(60)
        assert not thread.is_alive(), "it waits for a key before it ends"
        self.driver.exit_event.clear()

    def type(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def key(self, seconds: float = 60) -> str:
        message: Message = self.messages.get(timeout=seconds)
        return str(getattr(message, "key", message))


@pytest.fixture
async def reading(monkeypatch: pytest.MonkeyPatch) -> Any:
    handlers = {one: signal.getsignal(one) for one in (signal.SIGTSTP, signal.SIGCONT)}
    keyboard, screen = pty.openpty()
    tty.setraw(screen)
    with os.fdopen(screen) as file:
        monkeypatch.setattr(sys, "__stdin__", file)
        yield Reading(TerminalDriver(App[None]()), keyboard)
    os.close(keyboard)
    for one, handler in handlers.items():
        signal.signal(one, handler)


async def test_it_passes_keys_on(reading: Reading) -> None:
    """One of several bytes that come one by one is one key, as an arrow is; an escape that nothing follows is a key."""
    with reading.running():
        reading.type(b"a")
        assert reading.key() == "a"
        for byte in "ñ".encode():
            reading.type(bytes([byte]))
        assert getattr(reading.messages.get(timeout=30), "character", "") == "ñ"
        reading.type(b"\x1b[A")
        assert reading.key() == "up"
        reading.type(b"\x1b")
        assert reading.key() == "escape"
        reading.type(b"b")
        assert reading.key() == "b"


async def test_it_sleeps_while_nothing_comes(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own looks ten times a second."""
    waits = Queue[float | None]()
    select = selectors.SelectSelector.select

    def counted(selector: selectors.SelectSelector, timeout: float | None = None) -> Any:
        waits.put(timeout)
        return select(selector, timeout)

    monkeypatch.setattr(selectors.SelectSelector, "select", counted)
    with reading.running():
        assert waits.get(timeout=30) is None
        reading.type(b"a")
        assert reading.key() == "a"
        looks = 0
        while waits.get(timeout=30) is not None:
            looks += 1
        assert 0 < looks < 4
        with pytest.raises(Empty):
            waits.get(timeout=3 * ESCAPE_DELAY)


@pytest.mark.parametrize("gone", [b"", OSError("Input/output error")])
async def test_it_sleeps_when_cut_off(reading: Reading, gone: bytes | OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a terminal always has something to read, which is nothing."""
    reads = Queue[int]()

    def read(file: int, size: int) -> bytes:
        reads.put(file)
        if isinstance(gone, OSError):
            raise gone
        return gone

    monkeypatch.setattr("tui.desktop.drivers.os.read", read)
    with reading.running():
        reading.type(b"a")
        reads.get(timeout=30)
        with pytest.raises(Empty):
            reads.get(timeout=3 * ESCAPE_DELAY)
        monkeypatch.undo()


async def test_it_ends_at_once_and_begins_again(reading: Reading) -> None:
    """As for an editor that is lent the terminal."""
    for key in ("x", "y"):
        with reading.running():
            reading.type(key.encode())
            assert reading.key() == key


async def test_a_terminal_that_is_closed_starts_nothing(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends SIGCONT after SIGHUP, as the shell does after a stop, where all begins anew: what read the keys before
    would be read by nobody's word for ever."""
    begun = list[str]()
    monkeypatch.setattr(reading.driver, "start_application_mode", lambda: begun.append("begun"))
    signal.raise_signal(signal.SIGCONT)
    assert begun == ["begun"]
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, reading.driver.fileno)
    os.close(nowhere)
    signal.raise_signal(signal.SIGCONT)
    assert begun == ["begun"]


async def test_what_is_written_to_a_terminal_that_is_gone_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than waits at once: a thread that ended would empty the queue no more, and who writes would wait for it."""
    keyboard, screen = pty.openpty()
    with os.fdopen(screen, "w") as file:
        monkeypatch.setattr(sys, "__stderr__", file)
        driver = TerminalDriver(App[None]())
        writer = WriterThread(driver._file)
        writer.start()
        os.close(keyboard)
        for _ in range(3 * MAX_QUEUED_WRITES):
            writer._queue.put("\x1b[2J", timeout=30)
        writer._queue.put(None, timeout=30)
        writer.join(30)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, screen)
        os.close(nowhere)


def test_the_application_reads_the_terminal_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another driver is set, as for a browser."""
    story = copy(tmp_path / "billing-api")
    assert Memoranda(story.location, str(tmp_path)).driver_class is TerminalDriver
    other = "textual.drivers.headless_driver:HeadlessDriver"
    monkeypatch.setattr("textual.constants.DRIVER", other)
    assert Memoranda(story.location, str(tmp_path)).driver_class.__name__ == "HeadlessDriver"
