"""The wire to a server on which every call ends in time, whatever comes over it, and as soon as nobody wants it.

The timeouts of a client hold for each read alone: a server that sends a byte now and then would be waited for for ever.
Here a call has one end, kept at the socket.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from math import inf
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import httpcore
    import httpx

CONNECT = 2.0  # seconds in which a server takes up a call
SLICE = 0.05  # seconds after which it is looked whether a call is still wanted
MOST = 8 << 20  # bytes of one answer

Result = TypeVar("Result")


class DeadlineExceeded(Exception):
    """The call has had its seconds."""


class Cancelled(Exception):
    """Nobody wants the answer any more."""


class ResponseTooLarge(Exception):
    """No answer is that long."""


class Call:
    """The call under way: until when it may last, and whether it is still wanted. All calls together end within
    `altogether` seconds from now."""

    def __init__(self, cancelled: Callable[[], bool], altogether: float = inf) -> None:
        self._cancelled = cancelled
        self._last = time.monotonic() + altogether
        self._ends = 0.0
        self._left = 0

    def begin(self, seconds: float) -> None:
        """A new call, of so many seconds in all."""
        self._ends = min(time.monotonic() + seconds, self._last)
        self._left = MOST

    @property
    def over(self) -> bool:
        """Whether it has had its seconds."""
        return time.monotonic() >= self._ends

    @property
    def seconds(self) -> float:
        """How many it has left. Raises TimeUp, Stopped."""
        if self._cancelled():
            raise Cancelled
        left = self._ends - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        return left

    def wait(self, seconds: float) -> None:
        """Do nothing for so long, or until it ends. Raises TimeUp, Stopped."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, SLICE, self.seconds))

    def beside(self, work: Callable[[], Result], most: float = inf) -> Result:
        """Do work that nothing breaks off, like the looking up of a name, on a thread that is left to itself after
        `most` seconds, or when the call ends. Raises TimeUp, Stopped, and what the work raises."""
        until, done = time.monotonic() + most, Event()
        result: list[Result] = []
        error: list[BaseException] = []

        def run() -> None:
            try:
                result.append(work())
            except BaseException as raised:
                error.append(raised)
            done.set()

        Thread(target=run, name="call", daemon=True).start()
        while not done.wait(min(SLICE, self.seconds)):
            if time.monotonic() >= until:
                raise DeadlineExceeded
        if error:
            raise error[0]
        return result[0]

    def came(self, size: int) -> None:
        """So many bytes of the answer came. Raises TooMuch."""
        self._left -= size
        if self._left < 0:
            raise ResponseTooLarge


class _Stream:
    """A connection that a call keeps its time on: httpcore's NetworkStream."""

    def __init__(self, stream: "httpcore.NetworkStream", call: Call) -> None:
        self._stream = stream
        self._call = call

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        import httpcore

        while True:
            try:
                found = self._stream.read(max_bytes, min(SLICE, self._call.seconds))
            except httpcore.ReadTimeout:
                continue
            self._call.came(len(found))
            return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        import httpcore

        try:
            self._stream.write(buffer, self._call.seconds)
        except httpcore.WriteTimeout:
            raise DeadlineExceeded from None

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        return _Stream(
            self._stream.start_tls(ssl_context, server_hostname, min(CONNECT, self._call.seconds)), self._call
        )

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _Network:
    """Where connections come from: httpcore's NetworkBackend."""

    def __init__(self, call: Call) -> None:
        import httpcore

        self._call = call
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: "Iterable[httpcore.SOCKET_OPTION] | None" = None,
    ) -> _Stream:
        import httpcore

        def connect() -> httpcore.NetworkStream:
            return self._inner.connect_tcp(host, port, CONNECT, local_address, socket_options)

        try:
            return _Stream(self._call.beside(connect, CONNECT), self._call)
        except DeadlineExceeded:
            if self._call.over:
                raise
            raise httpcore.ConnectTimeout from None


def transport(call: Call) -> "httpx.BaseTransport":
    """For a client that makes one call at a time. It knows no proxy: nothing goes to any other address."""
    import httpcore
    import httpx

    class Body(httpx.SyncByteStream):
        def __init__(self, answer: httpcore.Response) -> None:
            self._answer = answer

        def __iter__(self) -> Iterator[bytes]:
            yield from self._answer.iter_stream()

        def close(self) -> None:
            self._answer.close()

    class Transport(httpx.BaseTransport):
        def __init__(self) -> None:
            network = cast(httpcore.NetworkBackend, _Network(call))
            self._pool = httpcore.ConnectionPool(max_keepalive_connections=0, network_backend=network)

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            url = request.url
            assert isinstance(request.stream, httpx.SyncByteStream)
            answer = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=request.stream,
                )
            )
            return httpx.Response(answer.status, headers=answer.headers, stream=Body(answer))

        def close(self) -> None:
            self._pool.close()

    return Transport()
