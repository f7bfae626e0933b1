"""Calls to a model server that end at a deadline, and as soon as they are cancelled.

A client's own timeout applies to each read, so a server that sends a byte now and then would never time out. Here the
client runs on a thread of its own; the caller watches the clock and aborts the connection.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import httpx

CONNECT = 2.0  # seconds for connecting
SLICE = 0.05  # seconds between two checks of the deadline and of `cancelled`
MOST = 8 << 20  # bytes of one answer

Item = TypeVar("Item")
_END = object()


class DeadlineExceeded(Exception):
    """The call did not end within its seconds."""


class Cancelled(Exception):
    """The call was cancelled."""


class ResponseTooLarge(Exception):
    """The answer is longer than MOST bytes."""


class Call:
    """Runs calls one after another, each with a deadline, and all of them within `altogether` seconds from now."""

    def __init__(self, cancelled: Callable[[], bool], altogether: float = inf) -> None:
        self._cancelled = cancelled
        self._last = time.monotonic() + altogether
        self._ends = 0.0

    def begin(self, seconds: float) -> None:
        """Set the deadline of the next call, in seconds from now."""
        self._ends = min(time.monotonic() + seconds, self._last)

    @property
    def seconds(self) -> float:
        """Seconds left. Raise DeadlineExceeded or Cancelled."""
        if self._cancelled():
            raise Cancelled
        left = self._ends - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        return left

    def wait(self, seconds: float) -> None:
        """Sleep for so long. Raise DeadlineExceeded or Cancelled when the call ends earlier."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, SLICE, self.seconds))

    def beside(self, work: Callable[[], Item], abort: Callable[[], None] = lambda: None) -> Item:
        """Run `work` on a thread and return its result; call `abort` where the call ends before it. Raise
        DeadlineExceeded, Cancelled, and what `work` raises."""
        return next(self.each(lambda: [work()], abort))

    def each(self, work: Callable[[], Iterable[Item]], abort: Callable[[], None]) -> Generator[Item, None, None]:
        """Run `work` on a thread and yield its items; call `abort` at the end. Raise as `beside` does."""
        came: SimpleQueue[Any] = SimpleQueue()

        def run() -> None:
            try:
                for item in work():
                    came.put((item, None))
                came.put((_END, None))
            except BaseException as error:
                came.put((_END, error))

        Thread(target=run, name="model call", daemon=True).start()
        try:
            while True:
                try:
                    item, error = came.get(timeout=min(SLICE, self.seconds))
                except Empty:
                    continue
                if error is not None:
                    raise error
                if item is _END:
                    return
                yield item
        finally:
            abort()


class Connection:
    """The connection of an httpx client that another thread can abort. `options` are arguments for the client: no
    redirects and no proxies, so that texts are sent only to the configured address."""

    def __init__(self) -> None:
        import httpx

        self._sockets = list[socket]()  # of the current request
        self.options: dict[str, Any] = {
            "follow_redirects": False,
            "trust_env": False,
            "timeout": httpx.Timeout(None, connect=CONNECT),
            "limits": httpx.Limits(max_keepalive_connections=0),
            "event_hooks": {"request": [self._trace], "response": [_bound]},
        }

    def abort(self) -> None:
        """Shut the connection down: the server stops, and the reading thread ends at once, or as soon as it is
        connected."""
        sockets, self._sockets = self._sockets, []
        for one in sockets:
            break_off(one)

    def _trace(self, request: "httpx.Request") -> None:
        own = self._sockets = []

        def note(event: str, info: dict[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                own.append(info["return_value"].get_extra_info("socket"))
                if own is not self._sockets:  # it was aborted meanwhile
                    break_off(own[-1])

        request.extensions["trace"] = note


def break_off(connection: socket) -> None:
    """Shut a socket down while another thread reads from it."""
    with suppress(OSError):  # already closed
        socket.shutdown(connection, SHUT_RDWR)


def _bound(response: "httpx.Response") -> None:
    """Limit a response to MOST bytes; reading more raises ResponseTooLarge."""
    import httpx

    whole: Any = response.stream

    class Bounded(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            left = MOST
            for part in whole:
                left -= len(part)
                if left < 0:
                    raise ResponseTooLarge
                yield part

        def close(self) -> None:
            whole.close()

    response.stream = Bounded()
