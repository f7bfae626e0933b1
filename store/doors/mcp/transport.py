"""The server's standard streams: one JSON message a line. While it serves, nothing else reaches them: what is printed
by mistake goes to standard error, and what reads standard input reads nothing."""

import asyncio
import json
import os
import re
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

CHUNK = 1 << 16
LONGEST_LINE = 8 << 20  # bytes: a longer message is dropped whole
LAST_SECONDS = 5.0  # that calls may take which are under way when the input ends
CANCELLED = "notifications/cancelled"
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
TOO_LONG = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"That message is longer than 8 MB. Say it in less."}}'
)


def unicode(line: bytes) -> bytes:
    """Return a message with U+FFFD for each half of a surrogate pair that stands alone, as a model writes it that cuts
    an emoji in two. The SDK takes such a message for none, and whoever sent it would wait for an answer."""
    if b"\\u" not in line or not _SURROGATE.search(line):
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return _HALF.sub("\ufffd", text).encode()


class Streams:
    """Standard input and output, taken for the protocol alone."""

    def __init__(self, input_fd: int = 0, output_fd: int = 1) -> None:
        self._input = os.dup(input_fd)
        self._output = os.dup(output_fd)
        if (input_fd, output_fd) == (0, 1):
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(2, 1)
            os.close(nothing)
        self._rest = b""
        self._skipping = False  # the rest of a line that is too long
        self.waiting: list[bytes] = []  # lines that the server is to be given first
        self.unanswered: set[str | int] = set()  # ids of requests whose answer was given already
        self.ended = False  # whether the input is over

    def read(self, timeout: float | None) -> list[bytes]:
        """Return the lines that came within so many seconds, without a number however long it takes; `ended` is set at
        the end of the input."""
        if not select.select([self._input], [], [], timeout)[0]:
            return []
        return self._take()

    def write(self, line: bytes) -> None:
        """Write one message. Raise BrokenPipeError when nobody reads any more."""
        data = memoryview(line + b"\n")
        while data:
            data = data[os.write(self._output, data) :]

    def _take(self) -> list[bytes]:
        try:
            data = os.read(self._input, CHUNK)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            last, self._rest = self._rest, b""
            return [unicode(last)] if last.strip() and not self._skipping else []
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if len(self._rest) > LONGEST_LINE:
            self._rest = b""
            if not self._skipping:
                self.write(TOO_LONG)
            self._skipping = True
        return [unicode(line) for line in lines if line.strip()]

    @asynccontextmanager
    async def connected(
        self,
    ) -> "AsyncIterator[tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any]]]":
        """Yield the streams as the SDK takes them: what it reads, and what it writes to."""
        import anyio
        import mcp_types as types
        from mcp.shared.message import SessionMessage

        to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        open_calls: set[object] = set()
        quiet = asyncio.Event()
        quiet.set()

        def answered(number: object) -> None:
            if isinstance(number, str | int):
                open_calls.discard(number)
            if not open_calls:
                quiet.set()

        async def receive() -> None:
            async with to_server:
                async for line in self._lines():
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError as error:
                        await to_server.send(error)
                        continue
                    if isinstance(message, types.JSONRPCRequest):
                        open_calls.add(message.id)
                        quiet.clear()
                    elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED:
                        answered((message.params or {}).get("requestId"))
                    await to_server.send(SessionMessage(message))
                with anyio.move_on_after(LAST_SECONDS):  # whoever asked and closed the input still gets the answers
                    await quiet.wait()

        async def send() -> None:
            async with from_server:
                async for one in from_server:
                    number = getattr(one.message, "id", None)
                    if number in self.unanswered and not hasattr(one.message, "method"):
                        self.unanswered.discard(number)
                        answered(number)
                        continue
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    try:  # on a thread: a client that does not read holds up its own answers alone
                        await asyncio.to_thread(self.write, text.encode())
                    except OSError:
                        self.ended = True
                        quiet.set()
                        return
                    answered(number)

        async with anyio.create_task_group() as group:
            group.start_soon(_until_closed, receive)
            group.start_soon(_until_closed, send)
            yield read, write
            group.cancel_scope.cancel()

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield the lines that waited, then those that come, until the input ends."""
        for line in self.waiting:
            yield line
        self.waiting = []
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._input, ready.set)
            polled = True
        except OSError:  # a plain file can always be read
            polled = False
        try:
            while not self.ended:
                if polled:
                    await ready.wait()
                    ready.clear()
                for line in self.read(0):  # woken once too often there may be nothing: never wait here
                    yield line
        finally:
            if polled:
                loop.remove_reader(self._input)


async def _until_closed(work: "Callable[[], Any]") -> None:
    """Do some work until the other end of its stream is closed."""
    import anyio

    try:
        await work()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return
