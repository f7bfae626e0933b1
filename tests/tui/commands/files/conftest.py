"""An empty home folder, and commands in an empty folder beside it."""

from pathlib import Path

import pytest
from support.commands import Do, runner

ELSEWHERE = "CLAUDE_CONFIG_DIR CODEX_HOME ENGRAM_DATA_DIR MEMORY_FILE_PATH XDG_CONFIG_HOME XDG_DATA_HOME"


@pytest.fixture
def home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it; no variable names another place of a tool."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ELSEWHERE.split():
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def do(home_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Run one command in an empty folder; nobody answers a question."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return runner(capsys)
