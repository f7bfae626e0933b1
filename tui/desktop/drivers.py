"""Textual's drivers: for a terminal, which waits for keys instead of looking for them ten times a second; and for a
browser, which also ends the application when its server is gone."""

import asyncio
import os
import selectors
from codecs import getincrementaldecoder
from contextlib import suppress
from threading import Event
from time import monotonic
from typing import Any, cast

from textual import messages
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver

# seconds until it is asked again whether the screen is there
RETRY_SECONDS = 0.05
# that are read at once
READ_BYTES = 4096


class WakingEvent(Event):
    """An event that a selector can wait for: its `descriptor`, open as long as the process, is readable while it is
    set."""

    def __init__(self) -> None:
        super().__init__()
        self.descriptor, self._write = os.pipe()

    def set(self) -> None:
        if not self.is_set():
            os.write(self._write, b"\0")
        super().set()

    def clear(self) -> None:
        if self.is_set():
            os.read(self.descriptor, 1)
        super().clear()


class TerminalFile:
    """A terminal to write to; what is written to one that is gone is lost, as nobody would see it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class TerminalDriver(LinuxDriver):
    """Textual's own wakes ten times a second, to see whether its input has ended and whether an escape was a key. This
    one sleeps until something comes; only shortly after that it looks again."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self.exit_event: WakingEvent = WakingEvent()
        # the thread that writes must not end: the queue of what is to be written would fill up
        self._file = cast(Any, TerminalFile(self._file))

    def _sigcont_application(self, *about: object) -> None:
        """Begin anew after a stop; not where the terminal is gone, of which this signal comes too."""
        if os.isatty(self.fileno):
            super()._sigcont_application(*about)

    def run_input_thread(self) -> None:
        """Pass on what comes, until `exit_event` is set."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        # an escape is a key if nothing follows it for ESCAPE_DELAY
        looks_until = 0.0
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self.exit_event.descriptor, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(ESCAPE_DELAY if monotonic() < looks_until else None)
                if any(key.fd == self.fileno for key, _ in ready):
                    looks_until = monotonic() + 2 * ESCAPE_DELAY
                    read = self._read_keys()
                    # for ever: the terminal is gone
                    if not read:
                        selector.unregister(self.fileno)
                    # not half a character
                    if text := decode(read):
                        for message in parser.feed(text):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)
        with suppress(EOFError, ParseError):
            for _ in parser.feed(""):
                pass

    def _read_keys(self) -> bytes:
        """Return what was typed; nothing where the terminal is gone."""
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""


class BrowserDriver(WebDriver):
    """Textual's own goes on for ever when the server was killed, since nothing tells it that nobody is there; and what
    ends while its first screen is made, as when a tab is reloaded at once, ends with an error."""

    def start_application_mode(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        super().run_input_thread()
        # the end of standard input
        if not self.exit_event.is_set():
            self._loop.call_soon_threadsafe(self._leave)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._loop.call_soon_threadsafe(self._leave)
        else:
            super().on_meta(packet_type, payload)

    def _leave(self) -> None:
        """Leave as soon as there is a screen to leave."""
        if self._app.screen.is_mounted:
            self._app.post_message(messages.ExitApp())
        else:
            self._loop.call_later(RETRY_SECONDS, self._leave)

    def write(self, data: str) -> None:
        try:
            super().write(data)
        except BrokenPipeError:
            self.exit_event.set()

    def write_meta(self, data: dict[str, object]) -> None:
        try:
            super().write_meta(data)
        except BrokenPipeError:
            self.exit_event.set()
