"""Everything that was written outside of memories is found and taken back: every agent, every checkout, the state."""

import os
import subprocess
from pathlib import Path

import pytest

from store.base import state_files as installation
from store.doors import connection, git_hooks
from store.doors.client import CLIENTS, SCOPE_LOCAL, SCOPE_PROJECT, SCOPE_USER, ClientPlace
from store.memory import Memory
from store.tools import guard_database


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a state of their own, and two projects with a memory each."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for what in ("state", "data", "cache"):
        monkeypatch.setenv(f"XDG_{what.upper()}_HOME", str(tmp_path / what))
    (tmp_path / "home").mkdir()
    for name in ("one", "two"):
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
        with Memory.open(str(tmp_path / name / ".memoranda" / "memory.db")) as memory:
            memory.facts.remember(f"This is project {name}")
    return tmp_path


def place(machine: Path, scope: str, root: str) -> ClientPlace:
    return ClientPlace(scope, str(machine / root), str(machine / "home"), {}, ("memoranda",))


def written(machine: Path) -> dict[str, bytes]:
    """Every file but those of memories, of git itself and of our own state."""
    found = {}
    for path in sorted(machine.rglob("*")):
        inside = path.relative_to(machine).parts
        ours = ".memoranda" in inside or inside[0] in ("state", "data", "cache")
        git = ".git" in inside and "hooks" not in inside and "exclude" not in inside
        if path.is_file() and not ours and not git:
            found[str(path.relative_to(machine))] = path.read_bytes()
    return found


def connect(machine: Path) -> None:
    """Connect every agent in every scope, of two projects, and git."""
    for name in CLIENTS:
        for scope, root in ((SCOPE_LOCAL, "one"), (SCOPE_PROJECT, "two"), (SCOPE_USER, "one")):
            connection.apply_connection(connection.plan_connection(CLIENTS[name], place(machine, scope, root)))
    git_hooks.install_git_hooks(str(machine / "one"), ("memoranda",))
    git_hooks.install_git_hooks(str(machine / "two"), ("memoranda",))


def test_all_of_it_is_taken_back_and_memories_stay(machine: Path) -> None:
    """Files are byte for byte as they were, whichever project the command is run in; a hook of one's own stays."""
    own = machine / "one" / ".git" / "hooks" / "post-commit"
    own.write_text("#!/bin/sh\necho mine\n")
    own.chmod(0o755)
    before = written(machine)
    connect(machine)
    (machine / "cache" / "memoranda" / "models").mkdir(parents=True)
    assert written(machine) != before
    found = connection.find_installed_parts(str(machine / "home"), {})
    assert len(found.connections) == 3 * len(CLIENTS)
    assert found.checkouts == [str(machine / "one"), str(machine / "two")]
    assert connection.remove_installed_parts(found) == []
    assert written(machine) == before
    assert not (machine / "state" / "memoranda").exists() and not (machine / "cache" / "memoranda").exists()
    assert found.memories == [str(machine / name / ".memoranda" / "memory.db") for name in ("one", "two")]
    assert all(os.path.exists(path) for path in found.memories)
    assert connection.find_installed_parts(str(machine / "home"), {}).is_empty


def test_looking_changes_nothing(machine: Path) -> None:
    connect(machine)
    before = {path: path.read_bytes() for path in machine.rglob("*") if path.is_file()}
    assert not connection.find_installed_parts(str(machine / "home"), {}).is_empty
    assert {path: path.read_bytes() for path in machine.rglob("*") if path.is_file()} == before


def test_what_is_in_the_way_keeps_what_is_known(machine: Path) -> None:
    """The file is named, the rest is taken back, and once it is mended the same command does the rest."""
    codex = CLIENTS["codex"]
    connection.apply_connection(connection.plan_connection(codex, place(machine, SCOPE_USER, "one")))
    connection.apply_connection(connection.plan_connection(CLIENTS["gemini"], place(machine, SCOPE_USER, "one")))
    settings = machine / "home" / ".codex" / "config.toml"
    written_by_us = settings.read_text()
    settings.write_bytes(b"\xff\xfe not text")
    troubles = connection.remove_installed_parts(connection.find_installed_parts(str(machine / "home"), {}))
    assert len(troubles) == 1 and str(settings) in troubles[0]
    assert not (machine / "home" / ".gemini" / "settings.json").exists()
    assert (machine / "state" / "memoranda" / connection.CONNECTION_KIND).is_dir()
    settings.write_text(written_by_us)
    assert connection.remove_installed_parts(connection.find_installed_parts(str(machine / "home"), {})) == []
    assert not settings.exists() and not (machine / "state" / "memoranda").exists()


def test_what_guard_keeps_goes_with_its_key(machine: Path) -> None:
    from store.config.configuration import load_config
    from store.projects.locating import locate

    with guard_database.open_guard(load_config(locate(None, {}, str(machine / "one")))):
        pass
    found = connection.find_installed_parts(str(machine / "home"), {})
    assert found.guard == guard_database.guard_path() and os.path.exists(found.guard)
    assert connection.remove_installed_parts(found) == [] and not os.path.exists(guard_database.guard_path())


def test_a_machine_without_anything_has_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert connection.find_installed_parts(str(tmp_path), {}).is_empty and installation.list_known_memories() == []
