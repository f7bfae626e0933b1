"""Where Claude Code keeps its memory: in a folder for each project, and where the person's own settings say."""

import json
import os
from pathlib import Path

import pytest

from store.tools import agent_readers, guests
from store.tools.guard_database import list_guarded_files, list_watched_folders
from store.tools.machine_scan import context_layers
from store.tools.source import FoundDocument, FoundMemory, Machine
from store.tools.source_import import detect_sources, get_source


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose Claude Code keeps the memory of all projects in a folder of its own, and a checkout."""
    home = tmp_path / "home"
    own = home / "sync" / "notes"
    own.mkdir(parents=True)
    (own / "MEMORY.md").write_text("- [Ports](ports.md) — which\n", encoding="utf-8")
    (own / "ports.md").write_text("The port is 5433.\n", encoding="utf-8")
    (home / ".claude").mkdir()
    (home / "src" / "faro" / ".claude").mkdir(parents=True)
    return home


def settings(folder: Path, value: object, name: str = "settings.json") -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def machine(home: Path, **more: str) -> Machine:
    return Machine(str(home), **more)


def test_the_folder_of_the_settings_is_read_guarded_edited_and_counted(home: Path) -> None:
    settings(home / ".claude", {"autoMemoryDirectory": "~/sync/notes"})
    own = home / "sync" / "notes"
    assert detect_sources(machine(home))["claude-code"] == [str(own)]
    assert detect_sources(machine(home, project=str(home / "src" / "faro")))["claude-code"] == [str(own)]
    found = [one for one in get_source("claude-code").read(str(own), []) if isinstance(one, FoundMemory)]
    assert [one.text for one in found] == ["The port is 5433."]
    assert {os.path.basename(one.path) for one in list_guarded_files(machine(home))} == {"MEMORY.md", "ports.md"}
    assert str(own) in list_watched_folders(machine(home))
    assert guests.list_guest_texts(machine(home)).texts[0].text == "The port is 5433."
    assert str(own / "MEMORY.md") in [one.path for one in context_layers(machine(home), str(home / "src" / "faro"))]


def test_projects_of_before_are_still_read(home: Path) -> None:
    settings(home / ".claude", {"autoMemoryDirectory": str(home / "sync" / "notes")})
    (home / ".claude" / "projects" / "-src-faro" / "memory").mkdir(parents=True)
    folders = [home / ".claude" / "projects" / "-src-faro", home / "sync" / "notes"]
    assert detect_sources(machine(home))["claude-code"] == [*map(str, folders)]


def test_the_settings_are_where_the_environment_says(home: Path) -> None:
    (home / "config").mkdir()
    settings(home / "config", {"autoMemoryDirectory": "~/sync/notes"})
    inside = Machine(str(home), {"CLAUDE_CONFIG_DIR": str(home / "config")})
    assert detect_sources(inside)["claude-code"] == [str(home / "sync" / "notes")]
    assert "claude-code" not in detect_sources(machine(home))


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_checkout_leads_nowhere(home: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = home / "src" / "faro"
    settings(checkout / ".claude", {"autoMemoryDirectory": str(home / "sync" / "notes")}, name)
    monkeypatch.chdir(checkout)
    for one in (machine(home), machine(home, project=str(checkout))):
        assert "claude-code" not in detect_sources(one) and not list_guarded_files(one)


NO_FOLDERS = ("sync/notes", "~", "~/", "/", 7, "/nowhere\0", "~/not/there")


@pytest.mark.parametrize("value", ["{", "[]", *({"autoMemoryDirectory": one} for one in NO_FOLDERS)])
def test_what_is_no_folder_of_its_own_is_left_out(home: Path, value: object) -> None:
    settings(home / ".claude", value)
    assert "claude-code" not in detect_sources(machine(home)) and not list_guarded_files(machine(home))


def test_settings_that_are_a_pipe_or_a_link(home: Path) -> None:
    os.mkfifo(home / ".claude" / "settings.json")
    assert agent_readers.read_claude_settings(machine(home)) == {}
    (home / ".claude" / "settings.json").unlink()
    settings(home, {"autoMemoryDirectory": "~/sync/notes"}, "dotfile.json")
    (home / ".claude" / "settings.json").symlink_to(home / "dotfile.json")
    assert agent_readers.own_memory_folder(machine(home)) == str(home / "sync" / "notes")


def test_what_stands_in_the_index_alone_is_a_fact(home: Path) -> None:
    own = home / "sync" / "notes"
    (own / "MEMORY.md").write_text(
        "# Memory\n\nRead it first.\n\n## Browser\n- [Ports](ports.md) — which\n- **Colours**: [[colours]]\n"
        "- **Notes:**\n"
        "- Do NOT use `taskkill`: it kills the user's own Chrome\n  - see https://example.org/a.md\n",
        encoding="utf-8",
    )
    found = list(get_source("claude-code").read(str(own), []))
    assert [(one.text, one.line, one.last, one.tags) for one in found if isinstance(one, FoundMemory)] == [
        ("Do NOT use `taskkill`: it kills the user's own Chrome\n- see https://example.org/a.md", 9, 10, ("Browser",)),
        ("The port is 5433.", 1, 1, ()),
    ]
    assert [os.path.basename(one.path) for one in found if isinstance(one, FoundDocument)] == ["MEMORY.md"]


def test_the_time_that_the_memory_names_is_when_it_was_written(home: Path) -> None:
    path = home / "sync" / "notes" / "ports.md"
    path.write_text("---\nname: ports\nmetadata:\n  modified: 2026-07-30T07:40:18.191Z\n---\nThe port is 5433.\n")
    found = get_source("claude-code").read(str(path), [])
    assert [one.created for one in found if isinstance(one, FoundMemory)] == ["2026-07-30T07:40:18.191Z"]
