"""The first lines of a conversation, answered before the SDK is imported. A client that is not answered within a second
starts its first turn without tools; the SDK takes that long by itself.

What is answered here is always the same: the handshake, and the lists. The first other request has the SDK imported;
until it is there such requests wait. It is given the handshake again, silently, so that both know of the same
conversation. A server that is asked for nothing never imports it, and takes a third of the memory. A test holds these
answers against the SDK's own, for every revision.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

from store.base.location import Location, checkout_root
from store.base.runtime import read_file_stamp
from store.base.state_files import read_state, state_name_of, write_state
from store.doors.mcp_protocol import (
    CLIENT_INFO_KEY,
    PROMPT_SCHEMAS,
    RESOURCE_SCHEMAS,
    SERVER_INSTRUCTIONS,
    SERVER_NAME,
    SERVER_TITLE,
    TEMPLATE_SCHEMAS,
    TOOL_SCHEMAS,
    JsonSchema,
    StandardStreams,
)
from store.git.repository import refs_fingerprint
from store.version import __version__

# The background work of a memory while agents are served and no application is open. The server only looks whether
# something happened; what is due then is done by a child process (`upkeep_process`), whose modules and model go with it
# when it ends. Of several servers of one memory one at a time has a child.

# seconds after the start, and between two looks
FIRST_UPKEEP_SECONDS, UPKEEP_SECONDS = 5.0, 60.0
# seconds after something happened at which a child looks what became due: at once, a checkpoint, what was said and is
# over; and however quiet it is, what is too old
UPKEEP_AFTER_SECONDS = (0.0, 320.0, 1_900.0)
QUIET_UPKEEP_SECONDS = 6 * 3_600.0
# seconds between two children, of whichever server
UPKEEP_APART_SECONDS = 110.0
UPKEEP_KIND = "upkeep"
_log = logging.getLogger("memoranda")


class UpkeepThread(Thread):
    """Looks every minute whether something happened, and has a child do what is due; `stop` ends both."""

    def __init__(self, location: Location, cwd: str) -> None:
        super().__init__(daemon=True, name="upkeep")
        self._location = location
        self._cwd = cwd
        self._root = checkout_root(cwd) or ""
        self._stop = Event()
        self._seen: tuple[object, ...] = ()
        # moments, by the clock that is never set, at which a child is to look
        self._due: list[float] = [0.0]
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        wait = FIRST_UPKEEP_SECONDS
        while not self._stop.wait(wait):
            wait = UPKEEP_SECONDS
            try:
                self.start_child_if_due(time.monotonic())
            except OSError as error:
                _log.warning("upkeep: %s", error)

    def stop(self) -> None:
        """End soon, and let no child go on."""
        self._stop.set()
        if self._child is not None and self._child.poll() is None:
            self._child.terminate()

    def start_child_if_due(self, now: float) -> bool:
        """Start a child if something is due at `now` and no other server has just done so; return whether it was
        started."""
        if self._child is not None:
            if self._child.poll() is None:
                return False
            self._child = None
            # what a child did is nothing new
            self._seen = self._read_state()
        state = self._read_state()
        if state != self._seen:
            self._seen = state
            self._due = [now + later for later in UPKEEP_AFTER_SECONDS]
        if (
            not self._due
            or self._due[0] > now
            or not os.path.lexists(self._location.path)
            or not self._take_turn()
        ):
            return False
        self._due = [moment for moment in self._due if moment > now] or [now + QUIET_UPKEEP_SECONDS]
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "store.doors.upkeep_process", self._location.path, self._cwd],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._cwd,
        )
        return True

    def _read_state(self) -> tuple[object, ...]:
        """Return what differs when something happened: in the memory, its spool, its documents, the repository."""
        path = self._location.path
        folder, project = os.path.dirname(path), self._location.project or ""
        files = [path, f"{path}-wal", os.path.join(folder, "spool")]
        files += [os.path.join(project, name) for name in ("MEMORY.md", "memory")] if project else []
        return (*map(read_file_stamp, files), refs_fingerprint(self._root) if self._root else "")

    def _take_turn(self) -> bool:
        """Return whether no server started a child within the last UPKEEP_APART_SECONDS; if so this one may."""
        name = state_name_of(UPKEEP_KIND, self._location.path)
        last, now = read_state(name), time.time()
        try:
            if 0 <= now - float(last or 0) < UPKEEP_APART_SECONDS:
                return False
        except ValueError:
            # it was cut off: nobody's
            pass
        write_state(name, f"{now:.0f}")
        return True


HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# revisions without one
MODERN_VERSIONS = ("2026-07-28",)
PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
LIST_METHODS: dict[str, tuple[str, tuple[JsonSchema, ...]]] = {
    "tools/list": ("tools", TOOL_SCHEMAS),
    "resources/list": ("resources", RESOURCE_SCHEMAS),
    "resources/templates/list": ("resourceTemplates", TEMPLATE_SCHEMAS),
    "prompts/list": ("prompts", PROMPT_SCHEMAS),
}
SERVER_INFO = {"name": SERVER_NAME, "title": SERVER_TITLE, "version": __version__}
SERVER_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
# seconds between two looks whether it is there
IMPORT_LOOK_SECONDS = 0.05


class McpOpening:
    """What was said so far; `answer` is what can be answered without the SDK."""

    def __init__(self) -> None:
        # the lines that the SDK is to be given again
        self.handshake: list[bytes] = []
        # the ids among them
        self.replayed: list[str | int] = []
        self._version = ""

    def answer_line(self, line: bytes) -> tuple[bool, dict[str, Any] | None]:
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
        if isinstance(number, bool) or not isinstance(number, str | int) or set(message) - _REQUEST_FIELDS:
            return False, None
        result = self._make_result(method, params or {}, line, number)
        return (False, None) if result is None else (True, {"jsonrpc": "2.0", "id": number, "result": result})

    def _make_result(
        self, method: str, params: dict[str, Any], line: bytes, number: str | int
    ) -> dict[str, Any] | None:
        """Return the result of a request that is answered without the SDK; None for any other."""
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            return None
        modern = PROTOCOL_VERSION_KEY in meta
        if method == "initialize":
            if modern or self._version or not _is_initialize_whole(params):
                return None
            self._version = params["protocolVersion"]
            self.handshake.append(line)
            self.replayed.append(number)
            known = self._version in HANDSHAKE_VERSIONS
            return {
                "protocolVersion": self._version if known else HANDSHAKE_VERSIONS[-1],
                "capabilities": SERVER_CAPABILITIES,
                "serverInfo": SERVER_INFO,
                "instructions": SERVER_INSTRUCTIONS,
            }
        if set(params) - {"_meta"} or (modern and (self._version or not _has_modern_envelope(meta))):
            return None
        if method == "server/discover" and modern:
            fields = {"supportedVersions": list(MODERN_VERSIONS), "capabilities": SERVER_CAPABILITIES}
            return _add_modern_fields({**fields, "instructions": SERVER_INSTRUCTIONS})
        if method in LIST_METHODS and (modern or self._version):
            name, rows = LIST_METHODS[method]
            return _add_modern_fields({name: list(rows)}) if modern else {name: list(rows)}
        return {} if method == "ping" and self._version and not modern else None


_REQUEST_FIELDS = {"jsonrpc", "id", "method", "params"}


def _is_initialize_whole(params: dict[str, Any]) -> bool:
    """Return whether the parameters of `initialize` are whole."""
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and _has_name_and_version(params.get("clientInfo"))
    )


def _has_name_and_version(info: object) -> bool:
    """Tell whether a client's info has a name and a version."""
    return isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)


def _has_modern_envelope(meta: dict[str, Any]) -> bool:
    """Return whether a request of a revision without handshake says of itself what it must."""
    return (
        meta[PROTOCOL_VERSION_KEY] in MODERN_VERSIONS
        and isinstance(meta.get(CLIENT_CAPABILITIES_KEY), dict)
        and _has_name_and_version(meta.get(CLIENT_INFO_KEY))
    )


def _add_modern_fields(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the fields that revisions without a handshake have."""
    fields = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0, **result}
    return {**fields, "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO}}


def serve_mcp_client(location: Location, session: str = "") -> None:
    """Serve one client over standard input and output, until the input ends or a signal ends it, SIGINT too: a process
    that a script starts in the background inherits it as ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    upkeep = UpkeepThread(location, os.getcwd())
    upkeep.start()
    try:
        _serve_streams(location, session, StandardStreams())
    finally:
        upkeep.stop()


def _serve_streams(location: Location, session: str, streams: StandardStreams) -> None:
    """Answer without the SDK until something else is asked; then let the SDK serve."""
    opening = McpOpening()
    thread = ThreadPoolExecutor(1, "import")
    sdk: Future[Callable[[Location, str, StandardStreams], None]] | None = None
    try:
        while sdk is None or not sdk.done():
            for line in streams.read_lines(None if sdk is None else IMPORT_LOOK_SECONDS):
                done, reply = opening.answer_line(line) if not streams.waiting else (False, None)
                if not done:
                    streams.waiting.append(line)
                elif reply is not None:
                    streams.write_line(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode())
            if streams.ended and not streams.waiting:
                # nobody asked for anything of the memory
                return
            if streams.waiting and sdk is None:
                sdk = thread.submit(_import_sdk)
    except BrokenPipeError:
        return
    streams.waiting[:0] = opening.handshake
    streams.unanswered.update(opening.replayed)
    if failed := sdk.exception():
        reason = f"{type(failed).__name__}: {failed}"
        print(f"memoranda: the MCP server cannot start ({reason}). Install memoranda anew.", file=sys.stderr)
        os._exit(1)
    sdk.result()(location, session, streams)


def _import_sdk() -> Callable[[Location, str, StandardStreams], None]:
    """Import the SDK, and what the first call needs, on a thread of its own; return what serves with it."""
    # half a second and more
    from store.doors.mcp_server import serve_with_sdk

    return serve_with_sdk
