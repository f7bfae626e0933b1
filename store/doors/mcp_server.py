"""The protocol, by the official SDK. The only module that imports it, which takes half a second and more: `opening`
answers until it is there."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.location import Location
from store.doors.mcp_answers import ToolAnswer
from store.doors.mcp_protocol import (
    PROMPT_SCHEMAS,
    RESOURCE_SCHEMAS,
    SERVER_INSTRUCTIONS,
    SERVER_NAME,
    SERVER_TITLE,
    TEMPLATE_SCHEMAS,
    TOOL_SCHEMA_BY_NAME,
    TOOL_SCHEMAS,
    StandardStreams,
)
from store.doors.mcp_tools import McpSession
from store.version import __version__

SdkContext = ServerRequestContext[Any, Any]
ResultT = TypeVar("ResultT")
# that what is under way may take when the server is to end
SERVER_END_SECONDS = 3.0
# after an answer, until the calls since the last time are noted
NOTE_CALLS_SECONDS = 0.2


class _SdkHandlers:
    """The SDK's handlers; what they ask of the memory is done on one thread, in the order in which it came."""

    def __init__(self, session: McpSession) -> None:
        self._session = session
        self._thread = ThreadPoolExecutor(1, "memoranda")
        self._flush: asyncio.TimerHandle | None = None

    async def call_tool(self, context: SdkContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in TOOL_SCHEMA_BY_NAME:
            known = ", ".join(TOOL_SCHEMA_BY_NAME)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool “{params.name[:60]}”. There are: {known}.")
        answer = await self._on_thread(
            self._session.call_tool, params.name, params.arguments, *_sender_of(context)
        )
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=answer.data, is_error=answer.failed
        )

    async def read_resource(
        self, context: SdkContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        answer = await self._on_thread(self._session.read_resource, str(params.uri), *_sender_of(context))
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=answer.text)
        return types.ReadResourceResult(contents=[contents])

    async def get_prompt(self, context: SdkContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT_SCHEMAS[0]["name"]:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt “{params.name[:60]}”. There is: recover.")
        answer = await self._on_thread(self._session.get_recovery_prompt, params.arguments, *_sender_of(context))
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        message = types.PromptMessage(role="user", content=types.TextContent(text=answer.text))
        return types.GetPromptResult(description=PROMPT_SCHEMAS[0]["description"], messages=[message])

    async def _on_thread(self, work: Any, *arguments: object) -> ToolAnswer:
        """Do some work on the memory's thread; what is cancelled before it begins is not done at all."""
        loop = asyncio.get_running_loop()
        answer: ToolAnswer = await loop.run_in_executor(self._thread, work, *arguments)
        if self._flush is not None:
            self._flush.cancel()
        self._flush = loop.call_later(NOTE_CALLS_SECONDS, lambda: self._thread.submit(self._session.note_calls))
        return answer

    def close(self) -> None:
        """Let what is under way end, and close the memory; what waits is dropped."""
        if self._flush is not None:
            # closing notes the calls too
            self._flush.cancel()
        self._thread.submit(self._session.close)
        self._thread.shutdown(wait=True)


def _sender_of(context: SdkContext) -> tuple[dict[str, Any] | None, str | None]:
    """Return (`_meta` of a request, the name that `initialize` gave)."""
    info = context.session.client_info if hasattr(context.session, "client_info") else None
    if info is None:
        params = context.session.client_params
        info = params.client_info if params is not None else None
    return dict(context.meta or {}), getattr(info, "name", None)


def _always(result: ResultT) -> Callable[[SdkContext, object], Awaitable[ResultT]]:
    """Return a handler that answers with the same result each time."""

    async def handle(context: SdkContext, params: object) -> ResultT:
        return result

    return handle


def _make_server(handlers: _SdkHandlers) -> Server[Any]:
    """Return the SDK's server with our handlers."""
    return Server(
        SERVER_NAME,
        version=__version__,
        title=SERVER_TITLE,
        instructions=SERVER_INSTRUCTIONS,
        on_list_tools=_always(types.ListToolsResult.model_validate({"tools": list(TOOL_SCHEMAS)})),
        on_call_tool=handlers.call_tool,
        on_list_resources=_always(types.ListResourcesResult.model_validate({"resources": list(RESOURCE_SCHEMAS)})),
        on_list_resource_templates=_always(
            types.ListResourceTemplatesResult.model_validate({"resourceTemplates": list(TEMPLATE_SCHEMAS)})
        ),
        on_read_resource=handlers.read_resource,
        on_list_prompts=_always(types.ListPromptsResult.model_validate({"prompts": list(PROMPT_SCHEMAS)})),
        on_get_prompt=handlers.get_prompt,
    )


def serve_with_sdk(location: Location, key: str, streams: StandardStreams) -> None:
    """Serve one client until its input ends, or the process is told to end. `key` is that of its session, if the
    person gave one."""
    asyncio.run(_serve_session(McpSession(location, key), streams))


async def _serve_session(session: McpSession, streams: StandardStreams) -> None:
    """Serve one client until its input ends, or the process is told to end."""
    handlers = _SdkHandlers(session)
    server = _make_server(handlers)
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with streams.open_for_sdk() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except asyncio.CancelledError:
        pass
    finally:
        _end_process_soon()
        session.interrupt()
        handlers.close()


def _end_process_soon() -> None:
    """End the process in SERVER_END_SECONDS at the latest: a client that does not read holds up whoever writes to
    it."""
    timer = threading.Timer(SERVER_END_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
