"""Run a command in a pseudo-terminal, and timestamp every byte.

A key's latency is measured as the user sees it: from writing the key to the last byte of its effect. Bytes are
timestamped as they are read; the screen that they paint (pyte) is computed only on request, so that it does not slow
the reading."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

import pyte
from wcwidth import wcwidth

# Textual's queries and the replies of a current terminal: synchronized output yes, in-band resize no.
ANSWERS = {b"\x1b[?2026$p": b"\x1b[?2026;2$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y", b"\x1b[6n": b"\x1b[1;1R"}
_QUERY = re.compile(b"|".join(re.escape(query) for query in ANSWERS))


class Silent(AssertionError):
    """The program wrote nothing, or not the expected output, in time."""


def _own_terminal() -> None:
    """Make the terminal the new process's controlling one, or it would get no resize; and restore the default action of
    SIGHUP, which the parent (nohup, for example) may ignore."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """Runs `argv` in a terminal of `size` (columns, rows); a context manager that ends it."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, size: tuple[int, int] = (120, 40)
    ) -> None:
        self.size = size
        self.output = bytearray()
        self.arrivals: list[tuple[float, int]] = []
        """When (seconds of `time.perf_counter`) `output` reached which length."""
        self._master, slave = pty.openpty()
        self._winsize(slave)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TEXTUAL")}
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
        self._answered = self._fed = 0
        self._lines: list[str] = []
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program by SIGHUP, as when a terminal is closed; kill it after a second."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def hang_up(self) -> None:
        """Close the terminal, as a window is: the program gets SIGHUP, and nothing more can be written."""
        os.close(self._master)
        self._master = -1

    def _winsize(self, descriptor: int) -> None:
        columns, rows = self.size
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal; the program gets SIGWINCH."""
        self.screen  # noqa: B018  earlier output belongs to the old size
        self.size = (columns, rows)
        self._screen.resize(rows, columns)
        self._lines = []
        self._winsize(self._master)

    def write(self, data: str | bytes) -> float:
        """Write keys; return the time."""
        os.write(self._master, data.encode() if isinstance(data, str) else data)
        return time.perf_counter()

    def read(self, timeout: float) -> bool:
        """Read what arrives within `timeout` seconds; return False if nothing did or the program has ended."""
        waiting = select.poll()  # not `select`, which fails for descriptors above 1,023
        waiting.register(self._master, select.POLLIN)
        if not waiting.poll(max(0.0, timeout) * 1000):
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # Linux raises EIO at end of file
            data = b""
        if not data:
            with contextlib.suppress(
                subprocess.TimeoutExpired
            ):  # the program closed the terminal, and is about to end
                self.process.wait(timeout)
            return False
        self.output += data
        self.arrivals.append((time.perf_counter(), len(self.output)))
        for query in _QUERY.finditer(self.output, self._answered):
            self.write(ANSWERS[query[0]])
            self._answered = query.end()
        return True

    def quiet(self, settle: float = 0.15, timeout: float = 10.0) -> float | None:
        """Read until nothing has arrived for `settle` seconds; return the time of the last byte, None if there was
        none."""
        last, end = None, time.perf_counter() + timeout
        while time.perf_counter() < end and self.read(settle):
            last = self.arrivals[-1][0]
        return last

    def wait_for(self, marker: bytes | str, timeout: float = 60.0, start: int = 0) -> float:
        """Return the time at which `marker`, a regular expression over the bytes since `start`, had arrived."""
        pattern = re.compile(marker.encode() if isinstance(marker, str) else marker)
        end = time.perf_counter() + timeout
        while not (found := pattern.search(self.output, start)):
            if (left := end - time.perf_counter()) <= 0 or (
                not self.read(left) and self.process.poll() is not None
            ):
                raise Silent(
                    f"{pattern.pattern!r} did not come; the last bytes were {bytes(self.output[-200:])!r}"
                )
        return next(moment for moment, length in self.arrivals if length >= found.end())

    def forget(self) -> None:
        """Drop what was read so far, once the screen has it: a session of hours would keep all of it."""
        self.screen  # noqa: B018
        self.output.clear()
        self.arrivals.clear()
        self._answered = self._fed = 0

    @property
    def screen(self) -> list[str]:
        """Return the lines of the screen."""
        if self._fed < len(self.output) or not self._lines:
            self._stream.feed(bytes(self.output[self._fed :]))
            self._fed = len(self.output)
            self._lines = [self._line(y) for y in range(self._screen.lines)]
        return self._lines

    def _line(self, y: int) -> str:
        """Return a line, padded to the terminal's width. If one half of a wide character was overwritten, the other
        half is a space, as on terminals; pyte's own `display` fails on it."""
        cells = [self._screen.buffer[y][x].data for x in range(self._screen.columns)]
        line = []
        for x, text in enumerate(cells):
            wide = bool(text) and wcwidth(text[0]) == 2
            whole = wide and x + 1 < len(cells) and not cells[x + 1]
            half = not text and not (x and cells[x - 1] and wcwidth(cells[x - 1][0]) == 2)
            line.append(text if whole or not wide else " ")
            if half:
                line[-1] = " "
        return "".join(line)


def first_paint(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    size: tuple[int, int] = (120, 40),
    marker: bytes | str | None = None,
) -> float:
    """Return the seconds from starting `argv` to the end of its first complete frame.

    Textual paints a frame from the top, addressing each row: it is complete when the last row has been painted and
    `marker`, a regular expression of output that only this program has, has arrived too. Without a marker any frame
    counts."""
    with Terminal(argv, env, size) as terminal:
        moment = terminal.wait_for(rb"\x1b\[%d;1H[^\x1b]*(?:\x1b\[[0-9;]*m[^\x1b]*)+" % size[1])
        if marker is not None:
            moment = max(moment, terminal.wait_for(marker))
        return moment - terminal.started


def key_latency(terminal: Terminal, key: str | bytes, settle: float = 0.15) -> float:
    """Return the seconds from writing `key` to the last byte of its output (then nothing for `settle` seconds)."""
    while terminal.read(0):
        pass
    pressed = terminal.write(key)
    last = terminal.quiet(settle)
    if last is None:
        raise Silent(f"{key!r} changed nothing on the screen")
    return last - pressed
