"""The protocol, by the official SDK. The only module that imports it, which takes half a second and more: `opening`
answers until it is there."""

import asyncio
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from store.base.location import Location
from store.doors.mcp import schemas
from store.doors.mcp.answers import ToolAnswer
from store.doors.mcp.session import McpSession
from store.doors.mcp.transport import Streams
from store.version import __version__

Context = ServerRequestContext[Any, Any]
END_SECONDS = 3.0  # that what is under way may take when the server is to end
FLUSH_SECONDS = 0.2  # after an answer, until the calls since the last time are noted
_TOOLS = types.ListToolsResult.model_validate({"tools": list(schemas.TOOLS)})
_RESOURCES = types.ListResourcesResult.model_validate({"resources": list(schemas.RESOURCES)})
_TEMPLATES = types.ListResourceTemplatesResult.model_validate({"resourceTemplates": list(schemas.TEMPLATES)})
_PROMPTS = types.ListPromptsResult.model_validate({"prompts": list(schemas.PROMPTS)})


class _Handlers:
    """The SDK's handlers; what they ask of the memory is done on one thread, in the order in which it came."""

    def __init__(self, session: McpSession) -> None:
        self._session = session
        self._thread = ThreadPoolExecutor(1, "memoranda")
        self._flush: asyncio.TimerHandle | None = None

    async def list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        return _TOOLS

    async def list_resources(self, context: Context, params: object) -> types.ListResourcesResult:
        return _RESOURCES

    async def list_templates(self, context: Context, params: object) -> types.ListResourceTemplatesResult:
        return _TEMPLATES

    async def list_prompts(self, context: Context, params: object) -> types.ListPromptsResult:
        return _PROMPTS

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in schemas.BY_NAME:
            known = ", ".join(schemas.BY_NAME)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool “{params.name[:60]}”. There are: {known}.")
        answer = await self._on_thread(self._session.call, params.name, params.arguments, *_sender(context))
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)], structured_content=answer.data, is_error=answer.failed
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        answer = await self._on_thread(self._session.read, str(params.uri), *_sender(context))
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=answer.text)
        return types.ReadResourceResult(contents=[contents])

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != schemas.PROMPTS[0]["name"]:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt “{params.name[:60]}”. There is: recover.")
        answer = await self._on_thread(self._session.recover, params.arguments, *_sender(context))
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        message = types.PromptMessage(role="user", content=types.TextContent(text=answer.text))
        return types.GetPromptResult(description=schemas.PROMPTS[0]["description"], messages=[message])

    async def _on_thread(self, work: Any, *arguments: object) -> ToolAnswer:
        """Do some work on the memory's thread; what is cancelled before it begins is not done at all."""
        loop = asyncio.get_running_loop()
        answer: ToolAnswer = await loop.run_in_executor(self._thread, work, *arguments)
        if self._flush is not None:
            self._flush.cancel()
        self._flush = loop.call_later(FLUSH_SECONDS, lambda: self._thread.submit(self._session.flush))
        return answer

    def close(self) -> None:
        """Let what is under way end, and close the memory; what waits is dropped."""
        if self._flush is not None:
            self._flush.cancel()  # closing notes the calls too
        self._thread.submit(self._session.close)
        self._thread.shutdown(wait=True)


def _sender(context: Context) -> tuple[dict[str, Any] | None, str | None]:
    """Return (`_meta` of a request, the name that `initialize` gave)."""
    info = context.session.client_info if hasattr(context.session, "client_info") else None
    if info is None:
        params = context.session.client_params
        info = params.client_info if params is not None else None
    return dict(context.meta or {}), getattr(info, "name", None)


def _server(handlers: _Handlers) -> Server[Any]:
    return Server(
        schemas.NAME,
        version=__version__,
        title=schemas.TITLE,
        instructions=schemas.INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def run(location: Location, key: str, streams: Streams) -> None:
    """Serve one client until its input ends, or the process is told to end. `key` is that of its session, if the
    person gave one."""
    asyncio.run(_serve(McpSession(location, key), streams))


async def _serve(session: McpSession, streams: Streams) -> None:
    """Serve one client until its input ends, or the process is told to end."""
    handlers = _Handlers(session)
    server = _server(handlers)
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with streams.connected() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except asyncio.CancelledError:
        pass
    finally:
        _end_soon()
        session.interrupt()
        handlers.close()


def _end_soon() -> None:
    """End the process in END_SECONDS at the latest: a client that does not read holds up whoever writes to it."""
    timer = threading.Timer(END_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
