"""The real command-line agents, in a scratch home: connected, seen by their own command, disconnected.

They are installed from npm into a folder that is kept (`MEMORANDA_TEST_AGENTS`, else one of the temporary folder);
where npm or a package cannot be had the tests are skipped, and say so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from clients.model import ASKED, REPLY, Model

from store.base import hook_resident
from store.doors import agent_log as injections
from store.doors import client as clients
from store.doors import connection
from store.doors.client import CLIENTS, SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER, ClientPlace
from store.memory import Memory

pytestmark = pytest.mark.clients
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
PROMPT = f"Please {ASKED}, as was decided"
SERVER = Path(__file__).with_name("server.py")  # speaks as little of the protocol as a client needs to be content


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder in which the clients' programs are."""
    folder = Path(os.environ.get("MEMORANDA_TEST_AGENTS") or Path(tempfile.gettempdir()) / "memoranda-test-agents")
    bin_ = folder / "node_modules" / ".bin"
    wanted = [name for name in CLIENTS if not (bin_ / CLIENTS[name].program).exists()]
    if not wanted:
        return bin_
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: the real agents cannot be had")
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", folder, *(PACKAGES[name] for name in wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        pytest.skip(f"npm could not fetch the agents: {(done.stderr.strip().splitlines() or ['no reason'])[-1][:200]}")
    return bin_


@pytest.fixture
def world(tmp_path: Path, programs: Path) -> tuple[Path, Path, dict[str, str]]:
    """A home, a project in a checkout, and the variables that a client is started with."""
    home, root = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    node = os.path.dirname(shutil.which("node") or "")
    environment = {"HOME": str(home), "PATH": f"{programs}:{node}:/usr/bin:/bin", "TERM": "dumb", "PWD": str(root)}
    for trusted in (root, home):
        (home / ".gemini").mkdir(exist_ok=True)
        file = home / ".gemini" / "trustedFolders.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, str(trusted): "TRUST_FOLDER"}))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f'[projects."{root}"]\ntrust_level = "trusted"\n')
    return home, root, environment


def place(world: tuple[Path, Path, dict[str, str]], scope: str) -> ClientPlace:
    home, root, environment = world
    program = home.parent / "memoranda"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SERVER}" "$@"\n')
    program.chmod(0o755)
    hook = () if scope == SCOPE_PROJECT else clients.hook_program()
    return ClientPlace(scope, str(root), str(home), environment, (str(program),), hook)


def ours(home: Path, root: Path) -> dict[str, str]:
    """Every file of the person and of the project that names us."""
    found = {}
    for base in (home, root):
        for path in base.rglob("*"):
            if "backups" in path.parts or "node_modules" in path.parts:
                continue  # the client's own
            if path.is_file() and path.stat().st_size < 1_000_000 and "cache" not in str(path).lower():
                text = path.read_bytes().decode("utf-8", "replace")
                if "memoranda" in text and "/logs/" not in str(path) and path.suffix not in (".log", ".db"):
                    found[str(path.relative_to(base))] = text
    return found


@pytest.mark.parametrize("scope", [SCOPE_LOCAL, SCOPE_USER, SCOPE_PROJECT])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_sees_the_server_and_lets_it_go(
    name: str, scope: str, world: tuple[Path, Path, dict[str, str]]
) -> None:
    home, root, _ = world
    here = place(world, scope)
    client = CLIENTS[name]
    plan = connection.plan_connection(client, here)
    assert not plan.in_the_way
    connection.apply_connection(plan)
    assert connection.plan_connection(client, here).is_empty
    seen = connection.ask_client(client, here)
    if name == "claude-code" and scope == SCOPE_PROJECT:
        assert [one.state for one in seen] == ["waits"], seen  # each teammate approves .mcp.json once
    elif name == "codex":
        assert [one.state for one in seen] == ["ok", "waits"], seen  # the hooks wait for the person's trust
    else:
        assert [one.state for one in seen] == ["ok"], seen
    assert connection.plan_connection(client, here).is_empty  # the client wrote its own file meanwhile
    gone = connection.plan_disconnection(client, here)
    assert not gone.in_the_way
    connection.apply_disconnection(gone)
    left = {name: text for name, text in ours(home, root).items() if "sessions" not in name}
    assert not left, left.keys()
    assert not (root / ".opencode").exists(), "nor what the client installed for our plugin"
    assert connection.ask_client(client, here)[0].state != "ok"


def speak_to(model: Model, home: Path, environment: dict[str, str]) -> None:
    """Have every client ask a scripted model, and git know who commits."""
    state = {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"], "GIT_CONFIG_COUNT": "2"}
    state |= {"GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "a", "GIT_CONFIG_KEY_1": "user.email"}
    environment |= {**state, "GIT_CONFIG_VALUE_1": "a@b", "ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "x"}
    environment |= {"GOOGLE_GEMINI_BASE_URL": model.address, "GEMINI_API_KEY": "x", "IS_SANDBOX": "1"}
    provider = f'name = "x"\nbase_url = "{model.address}/v1"\nwire_api = "responses"\n'
    file = home / ".codex" / "config.toml"
    file.write_text(f'model_provider = "x"\nmodel = "gpt-5"\n[model_providers.x]\n{provider}{file.read_text()}')
    (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    (home / ".config" / "opencode").mkdir(parents=True)
    compatible = {"npm": "@ai-sdk/openai-compatible", "name": "x", "models": {"m": {"name": "m"}}}
    compatible["options"] = {"baseURL": f"{model.address}/v1", "apiKey": "x"}
    said = {"provider": {"x": compatible}, "model": "x/m", "small_model": "x/m"}
    (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(said))


SESSIONS = {
    "claude-code": ["claude", "-p", PROMPT, "--permission-mode", "acceptEdits", "--allowedTools", "Bash(git commit:*)"],
    "codex": [
        *("codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"),
        PROMPT,
    ],
    "gemini": ["gemini", "-y", "-m", "gemini-2.5-flash", "-p", PROMPT],
    "opencode": ["opencode", "run", PROMPT],
}


@pytest.mark.parametrize("name", [*CLIENTS, "plugin"])
def test_a_session_of_the_real_client_is_remembered(
    name: str, world: tuple[Path, Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a scripted model: it is told what matters, and what it did is in the memory, each thing once. `plugin` is
    Claude Code with the plugin's folder, and no configuration."""
    home, root, environment = world
    model = Model()
    monkeypatch.setenv("HOME", str(home))
    speak_to(model, home, environment)
    program = str(Path(sys.executable).with_name("memoranda"))
    here = ClientPlace(SCOPE_LOCAL, str(root), str(home), environment, (program,), clients.hook_program())
    try:
        with Memory.open(str(root / ".memoranda" / "memory.db")) as memory:
            memory.decisions.decide("Store", "SQLite", rationale="one file")
            words = SESSIONS.get(name, [*SESSIONS["claude-code"], "--plugin-dir", str(home / "plugin")])
            if name == "plugin":
                clients.write_claude_plugin(str(home / "plugin"))
                environment["PATH"] = f"{Path(program).parent}:{environment['PATH']}"
            else:
                connection.apply_connection(connection.plan_connection(CLIENTS[name], here))
            done = subprocess.run(
                words, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=240
            )
            turns = [(turn.role, turn.text) for turn in memory.turns.last_turns("", 9)]
            assert turns == [("user", PROMPT), ("assistant", REPLY)], done.stdout[-2_000:] + done.stderr[-2_000:]
            assert any("memoranda-memory" in asked and "[D#1]" in asked for asked in model.asked)
            (link,) = memory.commits.links_of_decision(1)
            assert memory.commits.get(link.commit.removeprefix("C#")).message == "Made by an agent, for D#1"
            assert injections.list_injections(memory.database)[-1].used == ("D#1",)
    finally:
        model.close()
        hook_resident.end_resident()


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("name", CLIENTS)
def test_what_a_team_shares_works_where_memoranda_is_elsewhere_and_where_it_is_not(
    name: str, elsewhere: bool, world: tuple[Path, Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, root, environment = world
    monkeypatch.setenv("HOME", str(home))
    model = Model()
    speak_to(model, home, environment)
    shared = ClientPlace(SCOPE_PROJECT, str(root), str(home), environment, ("memoranda",))
    connection.apply_connection(connection.plan_connection(CLIENTS[name], shared))
    before = ours(home, root)
    if elsewhere:
        (home / "bin").mkdir()
        (home / "bin" / "memoranda").symlink_to(Path(sys.executable).with_name("memoranda"))
        environment["PATH"] = f"{home / 'bin'}:{environment['PATH']}"
    try:
        with Memory.open(str(root / ".memoranda" / "memory.db")) as memory:
            done = subprocess.run(
                SESSIONS[name], cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=240
            )
            assert REPLY in done.stdout and "memoranda_hook" not in done.stdout + done.stderr
            turns = [(turn.role, turn.text) for turn in memory.turns.last_turns("", 9)]
            assert turns == ([("user", PROMPT), ("assistant", REPLY)] if elsewhere else []), done.stderr[-2_000:]
    finally:
        model.close()
        hook_resident.end_resident()
    after = ours(home, root)
    own = set(before) - {"opencode.json"}  # to which OpenCode adds the name of its schema
    assert own and {name: after[name] for name in own} == {name: before[name] for name in own}


def test_codex_lists_the_hooks_that_wait_for_trust(world: tuple[Path, Path, dict[str, str]]) -> None:
    here = place(world, SCOPE_USER)
    connection.apply_connection(connection.plan_connection(CLIENTS["codex"], here))
    answers = connection._ask_codex(connection.find_client_program(CLIENTS["codex"], here), here)
    assert answers is not None
    hooks = [hook for hook in answers[1] if clients.runs_hook(str(hook.get("command")), "codex")]
    assert len(hooks) == 6 and {hook["trustStatus"] for hook in hooks} == {"untrusted"}


def test_claude_finds_nothing_wrong_with_the_plugin(
    world: tuple[Path, Path, dict[str, str]], tmp_path: Path, programs: Path
) -> None:
    clients.write_claude_plugin(str(tmp_path / "plugin"))
    done = subprocess.run(
        [programs / "claude", "plugin", "validate", tmp_path / "plugin"],
        env=world[2],
        cwd=world[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0 and "error" not in done.stdout.lower(), done.stdout + done.stderr
