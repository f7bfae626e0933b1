"""Clients are connected and disconnected: their files are changed where they must be, and are as they were again."""

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases

from store.base import state_files as installation
from store.doors import client as clients
from store.doors import config_edit, connection
from store.doors.client import CLIENTS, CONNECTION_SCOPES, SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER, ClientPlace
from store.doors.config_edit import EditBlocked

CASES = load_cases(__file__)

COMMAND = ("/opt/with space/memoranda",)
HOOK = ("/opt/with space/python", "/opt/with space/store/doors/memoranda_hook.py")
EARLIER: tuple[str, ...] = ()  # before there was a file of its own for hooks
CLAUDE_STATE = json.dumps({"numStartups": 4, "projects": {"/other": {"mcpServers": {}}}}, indent=2)
COMMENTED = """{
  // mine
  "theme": "dark",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ]
  }
}
"""
TOML = """# how I like it
model = "big"   # really

[mcp_servers.other]
command = "x"
"""
# what a person has already, by the file's name below home or project
THERE = {
    ".claude.json": CLAUDE_STATE,
    ".claude/settings.json": COMMENTED,
    ".claude/settings.local.json": COMMENTED,
    ".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}',
    ".codex/config.toml": TOML,
    ".codex/hooks.json": COMMENTED,
    ".gemini/settings.json": COMMENTED,
    ".config/opencode/opencode.jsonc": COMMENTED,
    "opencode.json": COMMENTED,
    ".opencode/opencode.json": COMMENTED,
}


class World:
    """A home and a project in a git checkout, and what lies in both."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "project"
        self.hook = HOOK
        for place in (self.home, self.root):
            place.mkdir()
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def place(self, scope: str) -> ClientPlace:
        command, hook = (("memoranda",), ()) if scope == SCOPE_PROJECT else (COMMAND, self.hook)
        return ClientPlace(scope, str(self.root), str(self.home), {"HOME": str(self.home)}, command, hook)

    def fill(self) -> None:
        for base in (self.home, self.root):
            for name, text in THERE.items():
                (base / name).parent.mkdir(parents=True, exist_ok=True)
                (base / name).write_bytes(text.encode())

    def files(self) -> dict[str, bytes]:
        found = {}
        for base in (self.home, self.root):
            for path in sorted(base.rglob("*")):
                inside = path.relative_to(base).as_posix()
                if path.is_file() and (not inside.startswith(".git/") or inside == ".git/info/exclude"):
                    found[str(path)] = path.read_bytes()
        return found

    def plan(self, name: str, where: str | ClientPlace) -> connection.ConnectionPlan:
        return connection.plan_connection(CLIENTS[name], where if isinstance(where, ClientPlace) else self.place(where))

    def connect(self, name: str, where: str | ClientPlace) -> connection.ConnectionPlan:
        plan = self.plan(name, where)
        assert not plan.in_the_way
        connection.apply_connection(plan)
        return plan

    def disconnect(self, name: str, where: str | ClientPlace) -> connection.ConnectionPlan:
        place = where if isinstance(where, ClientPlace) else self.place(where)
        plan = connection.plan_disconnection(CLIENTS[name], place)
        connection.apply_disconnection(plan)
        return plan

    def connected(self) -> list[tuple[clients.AgentClient, ClientPlace]]:
        return list(connection.list_connected(str(self.root), str(self.home), {}))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def folders(world: World) -> set[str]:
    found = [path for base in (world.home, world.root) for path in base.rglob("*") if path.is_dir()]
    return {str(path) for path in found if ".git/" not in f"{path}/"}


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("hook", [EARLIER, HOOK])
@pytest.mark.parametrize("scope", CONNECTION_SCOPES)
@pytest.mark.parametrize("name", list(CLIENTS))
def test_connected_once_and_everything_as_it_was_again(
    world: World, name: str, scope: str, hook: tuple[str, ...], filled: bool
) -> None:
    world.hook = hook
    if filled:
        world.fill()
    before, around = world.files(), folders(world)
    world.connect(name, scope)
    after = world.files()
    assert after != before
    said = "".join(text.decode() for path, text in after.items() if before.get(path) != text)
    assert "memoranda" in said and (COMMAND[0] in said) == (scope != SCOPE_PROJECT)
    assert (HOOK[1] in said) == (hook == HOOK and scope != SCOPE_PROJECT)
    if filled:
        for path, text in before.items():
            if path in after and not path.endswith(".json"):
                assert text.splitlines()[:2] == after[path].splitlines()[:2]  # comments and order stay
    assert world.plan(name, scope).is_empty
    ((one, place),) = world.connected()
    assert (one.name, place.scope, place.hook) == (name, scope, world.place(scope).hook)
    world.disconnect(name, scope)
    assert world.files() == before
    assert folders(world) == around
    assert not world.connected()


def test_what_could_not_be_put_back_is_not_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = world.root / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('#"\n' * 900)
    (folder / "hooks.json").write_text(json.dumps(['"'] * 450).join(('{"a":', "}")))
    before = world.files()
    plan = world.plan("codex", SCOPE_LOCAL)
    monkeypatch.setattr(installation, "MAX_STATE_BYTES", 10_000)
    with pytest.raises(EditBlocked, match="larger together"):
        connection.apply_connection(plan)
    assert world.files() == before


@pytest.mark.parametrize("scope", CONNECTION_SCOPES)
@pytest.mark.parametrize("name", list(CLIENTS))
def test_what_others_changed_meanwhile_stays(world: World, name: str, scope: str) -> None:
    world.fill()
    before = world.files()
    plan = world.connect(name, scope)
    changed = {}
    for change in plan.changes:
        path = Path(change.file)
        if path.suffix in (".json", ".jsonc"):
            path.write_text(config_edit.set_jsonc_value(path.read_text(), ("added",), "by another"))
            changed[change.file] = config_edit.set_jsonc_value(before[change.file].decode(), ("added",), "by another")
        elif path.suffix == ".toml":
            path.write_text(path.read_text().replace('"big"', '"small"'))
            changed[change.file] = before[change.file].decode().replace('"big"', '"small"')
    world.disconnect(name, scope)
    after = world.files()
    for path_, text in changed.items():
        assert says(path_, after[path_].decode()) == says(path_, text)
        assert b"memoranda" not in after[path_]
        assert b"//" not in before[path_] or b"// mine" in after[path_]
    for files in (before, after):
        for path_ in changed:
            del files[path_]
    assert before == after


# as Codex writes it at its first start in a folder
TRUSTED = '\n[projects."/home/ana/shop"]\ntrust_level = "trusted"\n'


@pytest.mark.parametrize("text", CASES["what_codex_adds_to_its_file_stays_however_that_is_written"])
def test_what_codex_adds_to_its_file_stays_however_that_is_written(world: World, text: str) -> None:
    file = world.root / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    world.connect("codex", SCOPE_LOCAL)
    ours = file.read_bytes().decode()
    assert ours.startswith("\ufeff") == text.startswith("\ufeff")
    assert tomllib.loads(ours.removeprefix("\ufeff"))["mcp_servers"]["memoranda"]["command"] == COMMAND[0]
    assert ours.count("\r\n") == (ours.count("\n") if "\r\n" in text else 0)
    added = TRUSTED.replace("\n", "\r\n") if "\r\n" in text else TRUSTED
    file.write_bytes((ours + added).encode())
    assert not world.disconnect("codex", SCOPE_LOCAL).in_the_way
    assert file.read_bytes().decode() == text + added


def says(path: str, text: str) -> Any:
    return tomllib.loads(text) if path.endswith(".toml") else config_edit.parse_jsonc(text)


def test_what_was_made_ours_by_hand_is_left_to_its_person(world: World) -> None:
    world.connect("gemini", SCOPE_USER)
    file = world.home / ".gemini" / "settings.json"
    other = config_edit.set_jsonc_value(file.read_text(), ("mcpServers", "memoranda", "command"), "/elsewhere")
    file.write_text(other)
    plan = world.disconnect("gemini", SCOPE_USER)
    assert plan.in_the_way == [f"mcpServers.memoranda in {file} is another one by now than we wrote."]
    assert file.read_text() == other
    assert world.connected()  # it is kept in mind
    file.write_text(config_edit.set_jsonc_value(other, ("mcpServers", "memoranda", "command"), COMMAND[0]))
    assert not world.disconnect("gemini", SCOPE_USER).in_the_way
    assert not file.exists()


def test_a_server_of_that_name_that_was_there_comes_back(world: World) -> None:
    file = world.home / ".gemini" / "settings.json"
    file.parent.mkdir()
    text = '{"mcpServers": {"memoranda": {"command": "mine"}}}'
    file.write_text(text)
    world.connect("gemini", SCOPE_USER)
    assert config_edit.parse_jsonc(file.read_text())["mcpServers"]["memoranda"]["command"] == COMMAND[0]
    file.write_text(config_edit.set_jsonc_value(file.read_text(), ("theme",), "x"))
    world.disconnect("gemini", SCOPE_USER)
    assert config_edit.parse_jsonc(file.read_text()) == {"mcpServers": {"memoranda": {"command": "mine"}}, "theme": "x"}


def test_claudes_own_file_is_read_again_just_before_and_only_the_key_is_kept(world: World) -> None:
    state = world.home / ".claude.json"
    state.write_text(json.dumps({"apiKey": "keep-me-out-of-copies", "n": 1}))
    plan = connection.plan_connection(CLIENTS["claude-code"], world.place(SCOPE_LOCAL))
    state.write_text(json.dumps({"apiKey": "keep-me-out-of-copies", "n": 2}))  # Claude writes it all the time
    connection.apply_connection(plan)
    said = json.loads(state.read_text())
    assert said["n"] == 2 and said["projects"][str(world.root)]["mcpServers"]["memoranda"]["args"] == ["mcp"]
    kept = connection._read_saved(connection._record_name("claude-code", world.place(SCOPE_LOCAL)))
    assert "keep-me-out" not in json.dumps(kept)
    said["n"] = 3
    state.write_text(json.dumps(said))
    world.disconnect("claude-code", SCOPE_LOCAL)
    assert json.loads(state.read_text()) == {"apiKey": "keep-me-out-of-copies", "n": 3}


def test_a_file_of_the_team_is_not_changed_for_one_person(world: World) -> None:
    file = world.root / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text("{}")
    subprocess.run(["git", "-C", world.root, "add", "-A"], check=True)
    plan = world.plan("gemini", SCOPE_LOCAL)
    assert plan.in_the_way and "kept in git" in plan.in_the_way[0]
    assert not world.plan("gemini", SCOPE_PROJECT).in_the_way


@pytest.mark.parametrize("name", list(CLIENTS))
def test_git_sees_nothing_of_a_connection_for_one_person(world: World, name: str) -> None:
    world.connect(name, SCOPE_LOCAL)
    seen = subprocess.run(["git", "-C", world.root, "status", "--short"], capture_output=True, text=True, check=True)
    assert seen.stdout == ""


@pytest.mark.parametrize(("name", "file", "text"), CASES["a_file_that_cannot_be_read_is_in_the_way_and_stays"])
def test_a_file_that_cannot_be_read_is_in_the_way_and_stays(world: World, name: str, file: str, text: str) -> None:
    path = world.home / file
    path.parent.mkdir()
    path.write_text(text)
    plan = world.plan(name, SCOPE_USER)
    assert len(plan.in_the_way) == 1 and str(path) in plan.in_the_way[0]
    assert path.read_text() == text


def test_modes_and_links_stay(world: World, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    file = world.home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.symlink_to(real)
    world.connect("gemini", SCOPE_USER)
    assert file.is_symlink() and "memoranda" in real.read_text() and real.stat().st_mode & 0o777 == 0o600
    world.disconnect("gemini", SCOPE_USER)
    assert real.read_text() == "{}"


def test_a_newer_command_takes_the_place_of_the_older(world: World) -> None:
    world.fill()
    before = world.files()
    world.connect("codex", SCOPE_USER)
    newer = ClientPlace(SCOPE_USER, str(world.root), str(world.home), {}, ("/new/memoranda",))
    world.connect("codex", newer)
    hooks = config_edit.parse_jsonc((world.home / ".codex" / "hooks.json").read_text())["hooks"]
    assert [len(entries) for entries in hooks.values()] == [2, 1, 1, 1, 1, 1]  # the person's own is the first
    assert "say done" in json.dumps(hooks["Stop"][0]) and "/new/memoranda" in json.dumps(hooks["Stop"][1])
    world.disconnect("codex", SCOPE_USER)
    assert world.files() == before


@pytest.mark.parametrize("filled", [False, True])
@pytest.mark.parametrize("scope", [SCOPE_LOCAL, SCOPE_USER])
@pytest.mark.parametrize("name", list(CLIENTS))
def test_an_earlier_connection_is_one_until_it_is_renewed(world: World, name: str, scope: str, filled: bool) -> None:
    if filled:
        world.fill()
    before = world.files()
    world.hook = EARLIER
    world.connect(name, scope)
    old = world.files()
    ((client, place),) = world.connected()
    assert connection.plan_connection(client, place).is_empty
    world.hook = HOOK
    assert world.connect(name, scope).changes
    new = world.files()
    assert [path for path in old if old[path] != new[path]] and world.plan(name, scope).is_empty
    said = "".join(text.decode() for path, text in new.items() if before.get(path) != text)
    assert f"hook {name}" not in said and '"hook"' not in said
    world.disconnect(name, scope)
    assert world.files() == before


@pytest.mark.parametrize("name", list(CLIENTS))
def test_an_entry_that_git_tracks_stays_when_somebody_else_connects(world: World, name: str) -> None:
    world.connect(name, SCOPE_PROJECT)
    subprocess.run(["git", "-C", world.root, "add", "-A", "--force"], check=True)
    shared = {path: text for path, text in world.files().items() if path.startswith(str(world.root))}
    assert not [path for path, text in shared.items() if b"/" in text and HOOK[1].encode() in text]
    theirs = {"command": ("/their/memoranda",), "hook": ("/their/python", "/their/hook"), "environ": {}}
    world.connect(name, world.place(SCOPE_USER)._replace(**theirs))
    alone = world.plan(name, SCOPE_LOCAL)
    if not alone.in_the_way:
        connection.apply_connection(alone)
    assert world.plan(name, SCOPE_PROJECT).is_empty
    now = world.files()
    assert all(now[path] == text for path, text in shared.items() if "/.git/" not in path)


def lines(world: World, name: str) -> set[str]:
    """The lines of our hooks in the configuration of a client."""
    found = set()
    for path, text in world.files().items():
        if path.endswith(("hooks.json", "settings.json", "settings.local.json")):
            for entries in config_edit.parse_jsonc(text.decode()).get("hooks", {}).values():
                found |= {entry["hooks"][0]["command"] for entry in entries if clients.is_our_hook(entry, name)}
    return found


@pytest.mark.parametrize("name", [name for name in list(CLIENTS) if name != "opencode"])
def test_the_line_of_a_team_runs_ours_where_it_is_and_says_nothing_where_not(world: World, tmp_path: Path, name: str):
    world.connect(name, SCOPE_PROJECT)
    (line,) = lines(world, name)
    for place in ("first", "second"):
        program = tmp_path / place / "memoranda"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho {place} "$@"; cat\n')
        program.chmod(0o755)
        done = run_line(line, f"{program.parent}:/usr/bin:/bin")
        assert done == (0, f"{place} hook {name}\nevent", "")
    assert run_line(line, "/usr/bin:/bin") == (0, "", "")


@pytest.mark.parametrize("scope", [SCOPE_LOCAL, SCOPE_USER])
@pytest.mark.parametrize("name", [name for name in list(CLIENTS) if name != "opencode"])
def test_the_line_of_one_person_runs_the_file_and_says_nothing_once_that_is_gone(
    world: World, tmp_path: Path, name: str, scope: str
) -> None:
    """An agent takes 2, with which a Python ends that has no such file, for a wish to stop the prompt."""
    file = tmp_path / "it's here" / "memoranda_hook.py"
    file.parent.mkdir()
    file.write_text("import sys; print(sys.flags.isolated, sys.flags.no_site, *sys.argv[1:], sys.stdin.read())")
    command = (*COMMAND, "--db", "/a b/c.db")
    place = world.place(scope)._replace(command=command, hook=(sys.executable, str(file)))
    world.connect(name, place)
    (line,) = lines(world, name)
    assert run_line(line, "/usr/bin:/bin") == (0, f"1 1 {name} --db /a b/c.db event\n", "")
    file.unlink()
    assert run_line(line, "/usr/bin:/bin") == (0, "", "")
    world.disconnect(name, place)
    assert not lines(world, name)


def run_line(line: str, path: str) -> tuple[int, str, str]:
    """Run a hook's line as agents do."""
    shell, variables = ["/bin/sh", "-c", line], {"PATH": path}
    done = subprocess.run(shell, env=variables, input="event", capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# what each of these clients calls the tools that we hear of: they run commands, write files or keep a list of tasks
TOOLS = {
    "claude-code": ("Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate"),
    "gemini": ("run_shell_command", "write_file", "replace", "write_todos"),
}


@pytest.mark.parametrize("name", list(TOOLS))
def test_a_hook_for_tools_hears_each_tool_by_the_name_that_its_client_has(name: str) -> None:
    events = clients.CLIENTS[name].events
    matchers = [matcher for _, matcher, _ in events if matcher]
    assert len(matchers) == 1
    assert sorted(matchers[0].split("|")) == sorted(TOOLS[name])
    assert not re.fullmatch(matchers[0], "Read")


def test_the_recipe_of_contributing_connects_a_client(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[4] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = re.search(r"^## Add a client\n.*?```json\n(.*?)```.*?```python\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert recipe
    names: dict[str, Any] = {"os": os, **vars(clients)}
    exec(textwrap.dedent(recipe[2]), names)
    kiwi = clients.make_client("kiwi", json.loads(f"{{{recipe[1]}}}")["kiwi"], names["make_kiwi_edits"])
    monkeypatch.setitem(CLIENTS, "kiwi", kiwi)
    before = world.files()
    connection.apply_connection(connection.plan_connection(kiwi, world.place(SCOPE_USER)))
    made = [world.home / ".kiwi" / name for name in ("hooks.json", "mcp.json")]
    assert sorted(set(world.files()) - set(before)) == [str(file) for file in made]
    connection.apply_disconnection(connection.plan_disconnection(kiwi, world.place(SCOPE_USER)))
    assert world.files() == before


def test_what_is_kept_is_private(world: World) -> None:
    world.connect("codex", SCOPE_USER)
    kept = Path(installation.state_folder()) / connection._record_name("codex", world.place(SCOPE_USER))
    assert kept.stat().st_mode & 0o077 == 0 and os.path.isfile(kept)


@pytest.mark.parametrize(("name", "file"), [("codex", ".codex/config.toml"), ("gemini", ".gemini/settings.json")])
def test_a_client_that_passes_few_variables_is_told_where_our_files_are(world: World, name: str, file: str) -> None:
    here = world.place(SCOPE_USER)
    here = here._replace(environ={**here.environ, "XDG_STATE_HOME": "/state", "SECRET": "x"}, hook=())
    world.connect(name, here)
    said = says(file, (world.home / file).read_text())
    assert (said.get("mcp_servers") or said["mcpServers"])["memoranda"]["env"] == {"XDG_STATE_HOME": "/state"}
    assert world.plan(name, here).is_empty


def installed(folder: Path, dependencies: dict[str, str]) -> None:
    """What OpenCode puts into a folder of its configuration when it starts."""
    (folder / "node_modules" / "@opencode-ai" / "plugin").mkdir(parents=True)
    (folder / "node_modules" / "@opencode-ai" / "plugin" / "index.js").write_text("export {}\n")
    (folder / "package.json").write_text(json.dumps({"dependencies": dependencies}))
    (folder / "package-lock.json").write_text("{}")
    (folder / ".gitignore").write_text("node_modules\npackage.json\n")
    for file in folder.glob("opencode.json*"):
        file.write_text(json.dumps({"$schema": "https://opencode.ai/config.json", **json.loads(file.read_text())}))


@pytest.mark.parametrize("scope", [SCOPE_LOCAL, SCOPE_USER])
def test_what_opencode_installed_for_our_plugin_goes_with_it(world: World, scope: str) -> None:
    before, around = world.files(), folders(world)
    world.connect("opencode", scope)
    own = world.root / ".opencode" if scope == SCOPE_LOCAL else world.home / ".config" / "opencode"
    installed(own, {"@opencode-ai/plugin": "1.18.33"})
    world.disconnect("opencode", scope)
    assert world.files() == before and folders(world) == around


@pytest.mark.parametrize("more", ["a package", "a file", "a folder that was there"])
def test_what_a_person_put_beside_it_stays(world: World, more: str) -> None:
    own = world.root / ".opencode"
    if more == "a folder that was there":
        own.mkdir()
    world.connect("opencode", SCOPE_LOCAL)
    installed(own, {"@opencode-ai/plugin": "1.18.33", **({"zod": "4"} if more == "a package" else {})})
    if more == "a file":
        (own / "agent.md").write_text("mine\n")
    world.disconnect("opencode", SCOPE_LOCAL)
    assert (own / "node_modules" / "@opencode-ai" / "plugin" / "index.js").exists()
    assert (own / "package.json").exists() and not (own / "plugins").exists()
