"""A tool that keeps the name of a project and no folder still says which memory is of which project."""

import json
import sqlite3
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from store.base.location import Location
from store.memory import Memory
from store.tools.source import FoundMemory, FoundTurn, Machine
from store.tools.source_import import SourceImport, get_source
from store.tools.transcript_scan import list_conversation_files

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text())


def database(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    return str(path)


def test_the_projects_of_claude_mem(tmp_path: Path) -> None:
    """A worktree is of its repository, and what was merged into another project is of that."""
    path = database(tmp_path / "claude-mem.db", TABLES["claude-mem"])
    found = list(get_source("claude-mem").read(path, []))
    assert [one.project for one in found if isinstance(one, FoundMemory)] == ["faro", "faro", "faro", "other"]
    turns = [(one.text, one.cwd) for one in found if isinstance(one, FoundTurn)]
    assert turns == [("Learned: Rails.", "other"), ("Which port?", "faro")]


def test_the_projects_of_engram_where_a_session_has_no_folder(tmp_path: Path) -> None:
    """What is saved by hand is in a session without a folder."""
    path = database(tmp_path / "engram.db", TABLES["engram"])
    found = list(get_source("engram").read(path, []))
    assert [one.project for one in found if isinstance(one, FoundMemory)] == ["faro", "/src/faro"]
    assert [one.cwd for one in found if isinstance(one, FoundTurn)] == ["faro"]


def test_the_workspaces_of_openclaw(tmp_path: Path) -> None:
    """Of profiles, of several agents, of a configuration in JSON5, and of the environment."""
    names = "state/workspace .openclaw/workspace-work claw/home claw/home/ana .openclaw-lab/workspace named".split()
    places = [tmp_path / name for name in names]
    for place in (*places, tmp_path / "claw" / "home" / "notes"):
        place.mkdir(parents=True)
    (places[3] / "SOUL.md").write_text("Ana.\n", encoding="utf-8")
    (tmp_path / ".openclaw" / "openclaw.json").write_text(
        "// mine\n{ agents: { defaults: { workspace: '~/claw/home', workspaceRoot: '/x' }, list: [\n"
        '  { id: "b", "workspace": "~/gone", }, ] } }\n',
        encoding="utf-8",
    )
    environment = {"OPENCLAW_STATE_DIR": str(tmp_path / "state"), "OPENCLAW_WORKSPACE_DIR": str(tmp_path / "named")}
    assert sorted(get_source("openclaw").detect(Machine(str(tmp_path), environment))) == sorted(map(str, places))


def test_the_projects_of_gemini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folders are named like the project and have a file that says where it is; older ones are a digest of that."""
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path = tmp_path.resolve()
    base, project = tmp_path / ".gemini" / "tmp", tmp_path / "src" / "faro"
    project.mkdir(parents=True)
    digests = {name: sha256(str(tmp_path / "src" / name).encode()).hexdigest() for name in ("faro", "other")}
    for name, suffix in (("faro-1", "jsonl"), ("trains", "jsonl"), *((one, "json") for one in digests.values())):
        message = {"id": "1", "type": "user", "content": f"Said in {name}."}
        path = base / name / "chats" / f"session-a.{suffix}"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"sessionId": name, "messages": [message]}) + "\n", encoding="utf-8")
    (base / "faro-1" / ".project_root").write_text(f"{project}\n", encoding="utf-8")
    found = {one.cwd for one in get_source("gemini").read(str(base), []) if isinstance(one, FoundTurn)}
    assert found == {str(project), "trains", *digests.values()}
    assert len(list_conversation_files(get_source("gemini"), [str(base)], [])) == 4
    with Memory(Location(str(project / ".memoranda" / "memory.db"), "new-project", "", str(project)), "cli") as memory:
        seen = SourceImport(memory, "gemini").read_preview()
    assert (seen.turns, seen.turns_elsewhere) == (2, 2)
