"""The server as a process: the official client in both ways of opening, what is answered before the SDK is there, and
every way to end."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp_types import version as versions
from support.tables import each

from store.config.configuration import user_settings_path, write_setting
from store.doors import mcp_opening, mcp_protocol
from store.doors.mcp_answers import ToolAnswer
from store.doors.mcp_opening import McpOpening
from store.doors.mcp_server import _make_server, _SdkHandlers
from store.doors.mcp_tools import McpSession
from store.memory import Memory
from store.text import words as token_count

MEMORANDA = os.path.join(os.path.dirname(sys.executable), "memoranda")
META = {
    mcp_opening.PROTOCOL_VERSION_KEY: "2026-07-28",
    mcp_opening.CLIENT_INFO_KEY: {"name": "claude-code", "version": "2.1.330"},
    mcp_opening.CLIENT_CAPABILITIES_KEY: {},
}
CODEX = {"name": "codex-mcp-client", "version": "1"}
HELLO: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CODEX}
PATIENCE = 120  # seconds; only a server that is stuck takes them


def message(method: str, number: object = None, **params: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return said if number is None else {**said, "id": number}


def converse(command: list[str], name: str, **arguments: Any) -> "subprocess.CompletedProcess[str]":
    """A greeting and a call, of a server that ends with its input."""
    said = [message("initialize", 1, **HELLO), message("notifications/initialized")]
    said.append(message("tools/call", 2, name=name, arguments=arguments))
    lines = "".join(f"{json.dumps(one)}\n" for one in said)
    return subprocess.run(command, input=lines, capture_output=True, text=True, timeout=PATIENCE)


class Server:
    """A server process, spoken to line by line."""

    def __init__(self, path: str, environment: Callable[[], object] | None = None) -> None:
        self.process = subprocess.Popen(
            [MEMORANDA, "--db", path, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=environment,
        )  # fmt: skip

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()

    def say(self, *messages: object) -> None:
        assert self.process.stdin is not None
        for one in messages:
            data = one if isinstance(one, bytes) else json.dumps(one).encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), "the server ended"
        found: dict[str, Any] = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        return found

    def call(self, number: object, name: str, **arguments: Any) -> None:
        self.say(message("tools/call", number, name=name, arguments=arguments))

    def answers(self, *numbers: object) -> dict[object, dict[str, Any]]:
        found: dict[object, dict[str, Any]] = {}
        while not set(numbers) <= set(found):
            one = self.hear()
            found[one.get("id")] = one
        return found

    def greet(self) -> None:
        self.say(message("initialize", 1, **HELLO), message("notifications/initialized"))
        assert self.hear()["result"]["protocolVersion"] == "2025-06-18"

    def rest(self) -> bytes:
        """What it still says once its input is closed; it ends."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0
        return out


@pytest.fixture
def path(memory: Memory) -> str:
    memory.decisions.decide("Cache", "Redis 7", rationale="LRU")
    memory.facts.remember("The cache is flushed every night")
    return memory.location.path


@pytest.fixture
def server(path: str) -> Iterator[Server]:
    with Server(path) as server:
        yield server


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_uses_all_of_it(path: str, memory: Memory, mode: str) -> None:
    where = StdioServerParameters(command=MEMORANDA, args=["--db", path, "mcp"], env=dict(os.environ))
    info = types.Implementation(name="gemini-cli-mcp-client", version="1")
    async with Client(where, mode=mode, client_info=info, read_timeout_seconds=PATIENCE) as client:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert client.instructions == mcp_protocol.SERVER_INSTRUCTIONS
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool["name"] for tool in mcp_protocol.TOOL_SCHEMAS]
        kept = [tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")]
        assert kept == ["memory_search"]
        for tool in tools:
            assert tool.annotations is not None and tool.annotations.open_world_hint is False
            assert tool.annotations.destructive_hint is False
            writes = tool.name.startswith(("memory_remember", "memory_confirm", "memory_log"))
            assert tool.annotations.read_only_hint is not writes
        found = await client.call_tool("memory_search", {"query": "which cache"})
        assert found.structured_content is not None and not found.is_error
        assert found.structured_content["results"][0]["citation"] == "D#1"
        assert isinstance(found.content[0], types.TextContent) and "Redis 7" in found.content[0].text
        wrong = await client.call_tool("memory_search", {"limit": 3})
        assert wrong.is_error and isinstance(wrong.content[0], types.TextContent)
        assert "needs query" in wrong.content[0].text
        with pytest.raises(MCPError, match="There is no tool"):
            await client.call_tool("memory_purge", {})
        made = await client.call_tool("memory_log_decision", {"title": "Queue", "chosen": "RabbitMQ"})
        assert made.structured_content is not None and made.structured_content["decision_id"] == 2
        facts = (await client.read_resource("memory://facts")).contents[0]
        assert isinstance(facts, types.TextResourceContents) and "flushed every night" in facts.text
        one = (await client.read_resource("memory://decisions/1")).contents[0]
        assert isinstance(one, types.TextResourceContents) and "LRU" in one.text
        with pytest.raises(MCPError, match="no fact F#77"):
            await client.read_resource("memory://facts/77")
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.list_resource_templates()).resource_templates) == 2
        memory.checkpoints.take_checkpoint("before lunch")
        prompt = await client.get_prompt("recover")
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert "Cache: Redis 7" in prompt.messages[0].content.text
    assert memory.decisions.get(2).origin == "mcp:gemini-cli-mcp-client"


def test_all_that_a_client_reads_of_it_is_short() -> None:
    text = json.dumps(mcp_protocol.TOOL_SCHEMAS, ensure_ascii=False, separators=(",", ":"))
    assert token_count.count_tokens(text) <= 2_500
    assert len(mcp_protocol.SERVER_INSTRUCTIONS) <= 1_500
    assert max(len(tool["description"]) for tool in mcp_protocol.TOOL_SCHEMAS) <= 1_500


@pytest.mark.parametrize(
    "version", [*versions.HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01", *versions.MODERN_PROTOCOL_VERSIONS]
)
async def test_what_is_answered_before_the_sdk_is_what_the_sdk_answers(version: str) -> None:
    import anyio
    from mcp.shared.message import SessionMessage

    assert tuple(versions.HANDSHAKE_PROTOCOL_VERSIONS) == mcp_opening.HANDSHAKE_VERSIONS
    assert tuple(versions.MODERN_PROTOCOL_VERSIONS) == mcp_opening.MODERN_VERSIONS
    lists = list(mcp_opening.LIST_METHODS)
    if version in versions.MODERN_PROTOCOL_VERSIONS:
        said = [message("server/discover", 0, _meta=META), *(message(one, one, _meta=META) for one in lists)]
    else:
        said = [message("initialize", 0, **{**HELLO, "protocolVersion": version}), message("notifications/initialized")]
        said += [message("ping", 5), *(message(one, one) for one in lists)]
        said.append({"jsonrpc": "2.0", "id": "bare", "method": "tools/list"})
    ours: dict[object, Any] = {}
    first = McpOpening()
    for one in said:
        done, answer = first.answer_line(json.dumps(one).encode())
        assert done
        if answer is not None:
            ours[answer["id"]] = answer
    server = _make_server(_SdkHandlers(None))  # type: ignore[arg-type]
    to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception](50)
    write, from_server = anyio.create_memory_object_stream[SessionMessage](50)
    theirs: dict[object, Any] = {}
    async with anyio.create_task_group() as group:
        group.start_soon(server.run, read, write, server.create_initialization_options())
        for one in said:
            await to_server.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(one)))
        while len(theirs) < len(ours):
            text = (await from_server.receive()).message.model_dump_json(by_alias=True, exclude_unset=True)
            answer = json.loads(text)
            theirs[answer["id"]] = answer
        group.cancel_scope.cancel()
    assert ours == theirs


@each(
    "line",
    [
        b"", b"{", b"[]", b"null", b"[" * 5_000, b'{"jsonrpc":"1.0","id":1,"method":"initialize"}',
        b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}',  # before the handshake
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}',
        json.dumps(message("tools/list", 1, _meta={**META, mcp_opening.PROTOCOL_VERSION_KEY: "2030-01-01"})).encode(),
        json.dumps(message("tools/list", 1, _meta=META, cursor="x")).encode(),
        json.dumps(message("tools/call", 1, name="memory_stats")).encode(),
    ],
)  # fmt: skip
def test_everything_else_is_left_to_the_sdk(line: bytes) -> None:
    first = McpOpening()
    assert first.answer_line(line) == (False, None)
    assert first.handshake == []


def test_a_client_that_waits_for_nothing_is_answered_all_the_same(server: Server) -> None:
    server.say(message("initialize", 1, **HELLO), message("notifications/initialized"), message("tools/list", 2))
    server.call(3, "memory_search", query="cache")
    server.say(message("tools/list", 4))
    found = server.answers(1, 2, 3, 4)
    assert found[3]["result"]["structuredContent"]["total"] == 2
    assert found[2]["result"] == found[4]["result"]


def test_a_thousand_calls_at_once_and_cancelled_ones_cost_their_own_answers(server: Server) -> None:
    server.greet()
    for number in range(10, 1_010):
        server.call(number, "memory_get", citation="F#1")
    for number in range(500, 1_500):  # finished ones, those that wait, and some that never were
        server.say(message("notifications/cancelled", requestId=number, reason="no"))
    server.call("last", "memory_search", query="cache")
    found = server.answers("last", *range(10, 500))
    assert found["last"]["result"]["structuredContent"]["total"] == 2
    assert all("flushed" in found[number]["result"]["content"][0]["text"] for number in range(10, 500))


def test_two_servers_and_an_application_write_to_one_file(path: str, memory: Memory, server: Server) -> None:
    with Server(path) as other:
        for number, one in enumerate((server, other)):
            one.greet()
            for count in range(20):
                one.call(count + 2, "memory_log_decision", title=f"{number} of {count}", chosen=f"option {count}")
                memory.facts.remember(f"fact {number} {count} of the person")
        for one in (server, other):
            found = one.answers(*range(2, 22))
            assert all(not answer["result"]["isError"] for answer in found.values())
    assert len(memory.decisions.ids()) == 41 and memory.facts.count_by_state(memory.now)["active"] == 41


@pytest.mark.parametrize(
    "end, after",
    [("closed input", "nothing"), *itertools.product(["closed input", "SIGTERM", "SIGINT"], ["a greeting", "a call"])],
)
def test_every_way_to_end_ends_it(server: Server, end: str, after: str) -> None:
    if after != "nothing":
        server.greet()
    if after == "a call":
        server.call(2, "memory_search", query="cache")
        server.answers(2)
    if end == "closed input":
        assert server.rest() == b""
        return
    server.process.send_signal(getattr(signal, end))
    assert server.process.wait(PATIENCE) in (0, 130, -signal.SIGTERM, -signal.SIGINT)


def test_an_interrupt_ends_a_server_that_a_script_started_in_the_background(path: str) -> None:
    """Such a process inherits SIGINT as ignored."""
    with Server(path, lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as server:
        server.greet()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) in (130, -signal.SIGINT)


@pytest.mark.parametrize("end", ["closed input", "SIGTERM"])
def test_a_client_that_reads_nothing_keeps_no_server(server: Server, end: str) -> None:
    """Its answers fill the pipe, and whoever writes to it waits for ever."""
    server.greet()
    for number in range(2, 400):
        server.call(number, "memory_search", query="cache")
    if end == "closed input":
        assert server.process.stdin is not None
        server.process.stdin.close()
    else:
        server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE) in (0, -signal.SIGTERM)


def test_nothing_but_protocol_reaches_standard_output(path: str, tmp_path: Path) -> None:
    """A print in a module of ours, and a child that writes, land on standard error."""
    program = tmp_path / "noisy.py"
    program.write_text(
        "import os, sys\n"
        f"sys.argv = ['memoranda', '--db', {path!r}, 'mcp']\n"
        "from store.doors import mcp_tools as session\n"
        "def noisy(self, *arguments):\n"
        "    print('a stray line', flush=True); os.system('echo from a child'); os.write(1, b'raw')\n"
        "    return call(self, *arguments)\n"
        "call, session.McpSession.call_tool = session.McpSession.call_tool, noisy\n"
        "from tui.main import main\nmain()\n"
    )
    done = converse([sys.executable, str(program)], "memory_stats")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert "a stray line" in done.stderr and "from a child" in done.stderr and "raw" in done.stderr


async def test_the_end_leaves_no_work_that_would_fail_on_standard_error(path: str, memory: Memory) -> None:
    """An agent shows its person what a server writes there."""
    handlers = _SdkHandlers(McpSession(memory.location))
    await handlers._on_thread(lambda: ToolAnswer({}, ""))
    handlers.close()
    assert handlers._flush is not None and handlers._flush.cancelled()
    done = converse([MEMORANDA, "--db", path, "mcp"], "memory_search", query="cache")
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2] and done.stderr == ""


def malformed(dice: random.Random) -> bytes:
    """A line that is nearly a request, or nothing of the kind."""
    chosen: dict[str, Any] = dice.choice(
        [
            message("tools/call", dice.randrange(9), name="memory_search", arguments={"query": "cache"}),
            message("tools/call", dice.randrange(9), name="memory_get", arguments={"citation": "F#1"}),
            message("resources/read", dice.randrange(9), uri="memory://facts"),
            message("initialize", dice.randrange(9), **HELLO),
            message("notifications/cancelled", requestId=dice.randrange(9)),
            message("server/discover", dice.randrange(9), _meta=META),
            message("tools/list", dice.randrange(9)),
        ]
    )
    base = deepcopy(chosen)  # what is changed is used again
    odd: list[Any] = [None, True, -1, 1e308, "", "\0", "x" * 3_000, [], {}, [[[[]]]], {"a": {"b": []}}, "\ud800", "🦦"]
    for _ in range(dice.randrange(1, 4)):
        target: Any = base
        while isinstance(target, dict) and target and dice.random() < 0.6:
            key = dice.choice(list(target))
            if not isinstance(target[key], dict):
                break
            target = target[key]
        if isinstance(target, dict):
            key = dice.choice([*target, "extra"])
            if dice.random() < 0.2:
                target.pop(key, None)
            else:
                target[key] = deepcopy(dice.choice(odd))
    data = json.dumps(base).encode("utf-8", "surrogatepass")
    way = dice.randrange(8)
    if way == 0:
        data = data[: dice.randrange(len(data))]
    elif way == 1:
        place = dice.randrange(len(data))
        data = data[:place] + bytes([dice.randrange(256)]) + data[place + 1 :]
    elif way == 2:
        data = bytes(dice.randrange(256) for _ in range(40))
    return data.replace(b"\n", b" ").replace(b"\r", b" ")


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.sampled(20)) for seed in range(20)])
def test_nonsense_breaks_nothing(path: str, memory: Memory, seed: int) -> None:
    """500 malformed lines, 10,000 in all: what is said back is protocol, and the next request is answered."""
    dice = random.Random(seed)
    with Server(path) as server:
        server.greet()
        lines = [malformed(dice) for _ in range(500)]
        server.say(*lines)
        server.call("after", "memory_search", query="cache")
        assert server.answers("after")["after"]["result"]["structuredContent"]["total"] >= 2
        for line in server.rest().splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
    assert memory.facts.count_by_state(memory.now)["active"] == 1 and memory.decisions.get(1).chosen == "Redis 7"


def test_half_an_emoji_costs_no_answer(server: Server, memory: Memory) -> None:
    """JSON can say what is no text: `\\ud83d` without its other half, as JavaScript writes a string that was cut."""
    server.greet()
    server.say(message("tools/list", "\ud83d"))  # answered before the SDK is there
    assert server.hear()["id"] == "\ufffd"
    server.call(2, "memory_log_decision", title="Mascot \ud83d", chosen="a llama \ud83e\udd99")
    assert server.answers(2)[2]["result"]["structuredContent"]["citation"] == "D#2"
    decision = memory.decisions.get(2)
    assert (decision.title, decision.chosen) == ("Mascot \ufffd", "a llama \U0001f999")


def test_the_session_key_of_the_person_rules(path: str, memory: Memory) -> None:
    write_setting(user_settings_path(), "search.scope", "deny")
    write_setting(user_settings_path(), "search.scopeRules", "allow chatType=direct")
    for key, total in (("discord:channel:7", 0), ("", 2)):
        words = [MEMORANDA, "--db", path, "mcp", *(["--session", key] if key else [])]
        done = converse(words, "memory_search", query="cache")
        assert json.loads(done.stdout.splitlines()[1])["result"]["structuredContent"]["total"] == total
