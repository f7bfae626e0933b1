"""What the server publishes: instructions, tools, resources and the prompt, as data.

Descriptions are for a model that has forty other tools: when to use it, and when not. Clients cut them at 2,048
characters; all tools together take 2,500 tokens at most (tests count both). The order of the tools never changes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from store.base.errors import InvalidInput
from store.base.vocabulary import CONFIDENCES, DOMAINS, IMPACTS, SEARCHABLE

# Checks the arguments of a call against the tool's schema. What can only be meant in one way is taken so: a number
# written as text, one text where several may stand.

# characters of one text
MAX_ARGUMENT_TEXT = 100_000
# items of one list
MAX_ARGUMENT_ITEMS = 200


def check_arguments(tool: dict[str, Any], given: object) -> dict[str, Any]:
    """Return the arguments of a call, except arguments that are null. Raise InvalidInput with what is wrong and
    what the tool takes."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise InvalidInput("The arguments are not an object.", _describe_parameters(tool))
    schema = tool["inputSchema"]
    properties = schema["properties"]
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in properties:
            raise InvalidInput(f"{tool['name']} has no parameter “{str(name)[:40]}”.", _describe_parameters(tool))
        if value is not None:
            found[name] = _check_value(name, properties[name], value)
    for name in schema.get("required", ()):
        if name not in found or (isinstance(found[name], str) and not found[name].strip()):
            raise InvalidInput(f"{tool['name']} needs {name}.", _describe_parameters(tool))
    return found


def _describe_parameters(tool: dict[str, Any]) -> str:
    """Return a sentence that names the parameters of a tool."""
    required = tool["inputSchema"].get("required", ())
    names = [f"{name} (required)" if name in required else name for name in tool["inputSchema"]["properties"]]
    return f"It takes: {', '.join(names)}." if names else "It takes no arguments."


def _check_value(name: str, schema: dict[str, Any], value: object) -> Any:
    """Return a value as its schema wants it. Raise InvalidInput."""
    kind = schema["type"]
    if kind == "array":
        items = [value] if isinstance(value, str | int) and not isinstance(value, bool) else value
        if not isinstance(items, list):
            raise InvalidInput(f"{name} is a list.", f'For example: {name}: ["…"].')
        if len(items) > MAX_ARGUMENT_ITEMS:
            raise InvalidInput(f"{name} holds {MAX_ARGUMENT_ITEMS} items at most.", "Say it in several calls.")
        return [_check_value(f"each of {name}", schema["items"], item) for item in items]
    if kind == "string":
        return _check_text(name, schema, value)
    if isinstance(value, str):
        value = _parse_number(value, kind)
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else int | float):
        raise InvalidInput(
            f"{name} is a {'whole number' if kind == 'integer' else 'number'}.", _describe_range(name, schema)
        )
    # NaN is in no range
    if not schema.get("minimum", value) <= value <= schema.get("maximum", 2**53):
        raise InvalidInput(f"{name} is out of range.", _describe_range(name, schema))
    return value


def _check_text(name: str, schema: dict[str, Any], value: object) -> str:
    """Return a text as its schema wants it. Raise InvalidInput."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is a text.", "Write it in quotes.")
    if len(value) > MAX_ARGUMENT_TEXT:
        raise InvalidInput(f"{name} holds {MAX_ARGUMENT_TEXT:,} characters at most.", "Say it in less.")
    choices = schema.get("enum")
    if choices and value not in choices:
        raise InvalidInput(f"{name} cannot be “{value[:40]}”.", f"Choose one of: {', '.join(choices)}.")
    return value


def _parse_number(text: str, kind: str) -> object:
    """Return the number that a text means, else the text."""
    # D#3 is 3, too
    match = re.fullmatch(r"\s*(?:[A-Za-z]?#)?([0-9]{1,18})\s*", text)
    if kind == "integer":
        return int(match[1]) if match else text
    try:
        return float(text)
    except ValueError:
        return text


def _describe_range(name: str, schema: dict[str, Any]) -> str:
    """Return a sentence that names the range of a number."""
    if "minimum" in schema and "maximum" in schema:
        return f"{name}: from {schema['minimum']} to {schema['maximum']}."
    return f"{name}: {schema['minimum']} or more." if "minimum" in schema else f"{name}: a number."


JsonSchema = dict[str, Any]

# in `_meta` of a request, since 2026-07-28
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_NAME = "memoranda"
SERVER_TITLE = "Memoranda"
# to write the same again changes nothing
REPEATABLE_HINTS: JsonSchema = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
READING_HINTS: JsonSchema = {**REPEATABLE_HINTS, "readOnlyHint": True}

WORD_LISTS = {
    "DOMAINS": DOMAINS,
    "CONFIDENCES": CONFIDENCES,
    "IMPACTS": IMPACTS,
    "SEARCHABLE": SEARCHABLE,
}
"""What `enum` names in `mcp_tools.json`."""


def _with_words(one: JsonSchema) -> JsonSchema:
    """Return an object with the list of words that it names."""
    return {**one, "enum": list(WORD_LISTS[words])} if isinstance(words := one.get("enum"), str) else one


def _read_tools() -> Iterator[JsonSchema]:
    """Yield what is published of each tool: its name, title, description, parameters and hints."""
    text = Path(__file__).with_name("mcp_tools.json").read_text(encoding="utf-8")
    for name, tool in json.loads(text, object_hook=_with_words).items():
        required = {"required": tool["required"]} if "required" in tool else {}
        schema = {"type": "object", "properties": tool["properties"], **required, "additionalProperties": False}
        yield {
            "name": name,
            "title": tool["title"],
            "description": tool["description"],
            "inputSchema": schema,
            "annotations": REPEATABLE_HINTS if "writes" in tool else READING_HINTS,
            **({"_meta": tool["_meta"]} if "_meta" in tool else {}),
        }


TOOL_SCHEMAS = tuple(_read_tools())
TOOL_SCHEMA_BY_NAME = {tool["name"]: tool for tool in TOOL_SCHEMAS}


_TEXTS = json.loads(Path(__file__).with_name("mcp_texts.json").read_text(encoding="utf-8"))
SERVER_INSTRUCTIONS = "\n\n".join(_TEXTS["instructions"])
RESOURCE_SCHEMAS: tuple[JsonSchema, ...] = tuple(_TEXTS["resources"])
TEMPLATE_SCHEMAS: tuple[JsonSchema, ...] = tuple(_TEXTS["templates"])
PROMPT_SCHEMAS: tuple[JsonSchema, ...] = tuple(_TEXTS["prompts"])


# The server's standard streams: one JSON message a line. While it serves, nothing else reaches them: what is printed
# by mistake goes to standard error, and what reads standard input reads nothing.

INPUT_CHUNK_BYTES = 1 << 16
# bytes: a longer message is dropped whole
MAX_LINE_BYTES = 8 << 20
# that calls may take which are under way when the input ends
FINISH_SECONDS = 5.0
CANCELLED_METHOD = "notifications/cancelled"
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_SURROGATE = re.compile("[\ud800-\udfff]")
TOO_LONG_REPLY = (
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,'
    b'"message":"That message is longer than 8 MB. Say it in less."}}'
)


def replace_half_surrogates(line: bytes) -> bytes:
    """Return a message with U+FFFD for each half of a surrogate pair that stands alone, as a model writes it that cuts
    an emoji in two. The SDK takes such a message for none, and whoever sent it would wait for an answer."""
    if b"\\u" not in line or not _SURROGATE_ESCAPE.search(line):
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return _HALF_SURROGATE.sub("\ufffd", text).encode()


class StandardStreams:
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
        # the rest of a line that is too long
        self._skipping = False
        # lines that the server is to be given first
        self.waiting: list[bytes] = []
        # ids of requests whose answer was given already
        self.unanswered: set[str | int] = set()
        # whether the input is over
        self.ended = False

    def read_lines(self, timeout: float | None) -> list[bytes]:
        """Return the lines that came within so many seconds, without a number however long it takes; `ended` is set at
        the end of the input."""
        if not select.select([self._input], [], [], timeout)[0]:
            return []
        try:
            data = os.read(self._input, INPUT_CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            self.ended = True
            last, self._rest = self._rest, b""
            return [replace_half_surrogates(last)] if last.strip() and not self._skipping else []
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if len(self._rest) > MAX_LINE_BYTES:
            self._rest = b""
            if not self._skipping:
                self.write_line(TOO_LONG_REPLY)
            self._skipping = True
        return [replace_half_surrogates(line) for line in lines if line.strip()]

    def write_line(self, line: bytes) -> None:
        """Write one message. Raise BrokenPipeError when nobody reads any more."""
        data = memoryview(line + b"\n")
        while data:
            data = data[os.write(self._output, data) :]

    @asynccontextmanager
    async def open_for_sdk(
        self,
    ) -> AsyncIterator[tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any]]]:
        """Yield the streams as the SDK takes them: what it reads, and what it writes to."""
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
                async for line in self._iterate_lines():
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError as error:
                        await to_server.send(error)
                        continue
                    if isinstance(message, types.JSONRPCRequest):
                        open_calls.add(message.id)
                        quiet.clear()
                    elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED_METHOD:
                        answered((message.params or {}).get("requestId"))
                    await to_server.send(SessionMessage(message))
                with anyio.move_on_after(
                    FINISH_SECONDS
                ):  # whoever asked and closed the input still gets the answers
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
                    # on a thread: a client that does not read holds up its own answers alone
                    try:
                        await asyncio.to_thread(self.write_line, text.encode())
                    except OSError:
                        self.ended = True
                        quiet.set()
                        return
                    answered(number)

        async with anyio.create_task_group() as group:
            group.start_soon(_run_until_closed, receive)
            group.start_soon(_run_until_closed, send)
            yield read, write
            group.cancel_scope.cancel()

    async def _iterate_lines(self) -> AsyncIterator[bytes]:
        """Yield the lines that waited, then the lines that come, until the input ends."""
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
                # woken once too often there may be nothing: never wait here
                for line in self.read_lines(0):
                    yield line
        finally:
            if polled:
                loop.remove_reader(self._input)


async def _run_until_closed(work: Callable[[], Any]) -> None:
    """Do some work until the other end of its stream is closed."""
    try:
        await work()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return
