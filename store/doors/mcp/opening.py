"""The first lines of a conversation, answered before the SDK is imported. A client that is not answered within a second
starts its first turn without tools; the SDK takes that long by itself.

What is answered here is always the same: the handshake, and the lists. The first other request has the SDK imported;
until it is there such requests wait. It is given the handshake again, silently, so that both know of the same
conversation. A server that is asked for nothing never imports it, and takes a third of the memory. A test holds these
answers against the SDK's own, for every revision.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from store.base.location import Location
from store.doors.mcp import schemas
from store.doors.mcp.transport import Streams
from store.doors.mcp.upkeep import Upkeep
from store.version import __version__

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)  # revisions without one
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
INFO_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
LISTS: dict[str, tuple[str, tuple[schemas.Schema, ...]]] = {
    "tools/list": ("tools", schemas.TOOLS),
    "resources/list": ("resources", schemas.RESOURCES),
    "resources/templates/list": ("resourceTemplates", schemas.TEMPLATES),
    "prompts/list": ("prompts", schemas.PROMPTS),
}
SERVER = {"name": schemas.NAME, "title": schemas.TITLE, "version": __version__}
CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
STEP = 0.05  # seconds between two looks whether it is there


class Opening:
    """What was said so far; `answer` is what can be answered without the SDK."""

    def __init__(self) -> None:
        self.handshake: list[bytes] = []  # the lines that the SDK is to be given again
        self.replayed: list[str | int] = []  # the ids among them
        self._version = ""

    def answer(self, line: bytes) -> tuple[bool, dict[str, Any] | None]:
        """Return (whether this line is dealt with, what it is answered, None for a notification)."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return False, None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return False, None
        number, method, params = message.get("id"), message.get("method"), message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict | None):
            return False, None
        if method == "notifications/initialized" and self._version and "id" not in message:
            self.handshake.append(line)
            return True, None
        if isinstance(number, bool) or not isinstance(number, str | int) or set(message) - _REQUEST:
            return False, None
        result = self._result(method, params or {}, line, number)
        return (False, None) if result is None else (True, {"jsonrpc": "2.0", "id": number, "result": result})

    def _result(self, method: str, params: dict[str, Any], line: bytes, number: str | int) -> dict[str, Any] | None:
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            return None
        modern = VERSION_KEY in meta
        if method == "initialize":
            if modern or self._version or not _introduced(params):
                return None
            self._version = params["protocolVersion"]
            self.handshake.append(line)
            self.replayed.append(number)
            known = self._version in HANDSHAKES
            return {
                "protocolVersion": self._version if known else HANDSHAKES[-1],
                "capabilities": CAPABILITIES,
                "serverInfo": SERVER,
                "instructions": schemas.INSTRUCTIONS,
            }
        if set(params) - {"_meta"} or (modern and (self._version or not _enveloped(meta))):
            return None
        if method == "server/discover" and modern:
            fields = {"supportedVersions": list(MODERN), "capabilities": CAPABILITIES}
            return _modern({**fields, "instructions": schemas.INSTRUCTIONS})
        if method in LISTS and (modern or self._version):
            name, rows = LISTS[method]
            return _modern({name: list(rows)}) if modern else {name: list(rows)}
        return {} if method == "ping" and self._version and not modern else None


_REQUEST = {"jsonrpc", "id", "method", "params"}


def _introduced(params: dict[str, Any]) -> bool:
    """Return whether the parameters of `initialize` are whole."""
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and _named(params.get("clientInfo"))
    )


def _named(info: object) -> bool:
    return isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)


def _enveloped(meta: dict[str, Any]) -> bool:
    """Return whether a request of a revision without handshake says of itself what it must."""
    return meta[VERSION_KEY] in MODERN and isinstance(meta.get(CAPABILITIES_KEY), dict) and _named(meta.get(INFO_KEY))


def _modern(result: dict[str, Any]) -> dict[str, Any]:
    fields = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0, **result}
    return {**fields, "_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}


def run(location: Location, session: str = "") -> None:
    """Serve one client over standard input and output, until the input ends or a signal ends it, SIGINT too: a process
    that a script starts in the background inherits it as ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    upkeep = Upkeep(location, os.getcwd())
    upkeep.start()
    try:
        _run(location, session, Streams())
    finally:
        upkeep.stop()


def _run(location: Location, session: str, streams: Streams) -> None:
    opening = Opening()
    sdk = _Import()
    try:
        while not sdk.ready:
            for line in streams.read(STEP if sdk.started else None):
                done, reply = opening.answer(line) if not streams.waiting else (False, None)
                if not done:
                    streams.waiting.append(line)
                elif reply is not None:
                    streams.write(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode())
            if streams.ended and not streams.waiting:
                return  # nobody asked for anything of the memory
            if streams.waiting:
                sdk.start()
    except BrokenPipeError:
        return
    streams.waiting[:0] = opening.handshake
    streams.unanswered.update(opening.replayed)
    sdk.serve(location, session, streams)


class _Import:
    """The import of the SDK, and of what the first call needs, on a thread of its own."""

    def __init__(self) -> None:
        self.started = False
        self._thread = threading.Thread(target=self._import, daemon=True, name="import")
        self._serve: Callable[..., Any] | None = None
        self._failed: BaseException | None = None

    @property
    def ready(self) -> bool:
        return self.started and not self._thread.is_alive()

    def start(self) -> None:
        if not self.started:
            self.started = True
            self._thread.start()

    def _import(self) -> None:
        try:
            from store.doors.mcp.server import run as serve

            self._serve = serve
        except BaseException as error:
            self._failed = error

    def serve(self, location: Location, session: str, streams: Streams) -> None:
        if self._serve is None:
            reason = f"{type(self._failed).__name__}: {self._failed}"
            print(f"memoranda: the MCP server cannot start ({reason}). Install memoranda anew.", file=sys.stderr)
            os._exit(1)
        self._serve(location, session, streams)
