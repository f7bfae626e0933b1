"""`uninstall`: seen first, asked about, and what stays is named."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from store.base import state_files as installation
from store.base.errors import Declined
from store.config.configuration import user_settings_path
from store.memory import Memory
from store.projects.locating import locate
from tui.commands.agents import uninstall
from tui.commands.call import Call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    root = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    Memory.open(str(root / ".memoranda" / "memory.db")).close()
    return root


def session(project: Path, agrees: bool = False) -> tuple[Call, list[str]]:
    asked: list[str] = []

    def ask(question: str, lines: Sequence[str] = ()) -> bool:
        asked.extend([question, *lines])
        return agrees

    return Call(locate(None, {}, str(project)), None, str(project), ask), asked


def test_it_is_seen_first(project: Path) -> None:
    here, asked = session(project)
    outcome = uninstall(here, dry_run=True)
    memory = str(project / ".memoranda" / "memory.db")
    assert f"state  {installation.state_folder()}" in outcome.lines and f"stays  {memory}" in outcome.lines
    assert not asked and os.path.isdir(installation.state_folder())
    assert outcome.data()["memories"] == [memory]


def test_nothing_is_taken_back_without_a_yes(project: Path) -> None:
    here, asked = session(project)
    with pytest.raises(Declined):
        uninstall(here)
    assert asked[0] == "Take all of this back?" and len(asked) > 1 and os.path.isdir(installation.state_folder())


@pytest.mark.parametrize("yes", [True, False])
def test_the_state_goes_and_the_memory_stays(project: Path, yes: bool) -> None:
    outcome = uninstall(session(project, agrees=True)[0], yes=yes)
    assert not os.path.exists(installation.state_folder()) and (project / ".memoranda" / "memory.db").exists()
    assert any("memoranda import --adopt --whole" in line for line in outcome.lines)
    again = uninstall(session(project)[0])
    assert again.message == "There is nothing of Memoranda outside of its memories."


def test_what_stays_is_said_once(project: Path) -> None:
    (project / ".memoranda" / "memory.db").unlink()
    Path(user_settings_path()).parent.mkdir(parents=True, exist_ok=True)
    Path(user_settings_path()).write_text("")
    lines = uninstall(session(project)[0], yes=True).lines
    assert f"stays  {user_settings_path()}" in lines and len(lines) == len(set(lines))
