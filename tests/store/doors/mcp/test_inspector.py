"""The inspector's command line against the server, in each way of opening. It wants npm and a package index."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from store.doors import mcp_protocol as schemas
from store.memory import Memory

MEMORANDA = os.path.join(os.path.dirname(sys.executable), "memoranda")
NODE = f"node-{sys.platform}-{ {'x86_64': 'x64', 'aarch64': 'arm64'}.get(platform.machine(), platform.machine()) }@22"

pytestmark = [pytest.mark.inspector, pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")]


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The inspector's command, installed with a Node that is new enough for it."""
    folder = tmp_path_factory.mktemp("inspector")
    (folder / "package.json").write_text("{}")
    packages = ["@modelcontextprotocol/inspector@2", NODE]
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *packages], cwd=folder, check=True)
    node = folder / "node_modules" / NODE.partition("@")[0] / "bin" / "node"
    return [str(node), str(folder / "node_modules" / ".bin" / "mcp-inspector"), "--cli"]


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_finds_nothing_wrong(inspector: list[str], memory: Memory, tmp_path: Path, era: str) -> None:
    memory.decisions.decide("Cache", "Redis 7")
    keep = ["-e", f"XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}"]
    command = [*inspector, *keep, MEMORANDA, "--db", memory.location.path, "mcp", "--protocol-era", era]

    def run(*words: str) -> dict[str, object]:
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    tools = run("--method", "tools/list", "--strict")["tools"]
    assert isinstance(tools, list) and [tool["name"] for tool in tools] == list(schemas.TOOL_SCHEMA_BY_NAME)
    answer = run("--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=cache")
    assert isinstance(answer["structuredContent"], dict) and answer["structuredContent"]["total"] == 1
    assert run("--method", "resources/list")["resources"]
    assert run("--method", "prompts/list")["prompts"]
