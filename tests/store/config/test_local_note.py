"""The section `memoria:` at the head of a project's note for its agent."""

from pathlib import Path

import pytest

from store.config.configuration import load_config, may_capture
from store.memory import Memory
from store.projects.locating import locate


def note(root: Path, text: str) -> None:
    (root / ".claude").mkdir(exist_ok=True)
    (root / ".claude" / "alfred-dev.local.md").write_text(text)


def test_its_four_settings_count(memory: Memory, tmp_path: Path) -> None:
    own = "  enabled: true\n  capture_commits: false # not here\n  retention_days: 900\n"
    note(tmp_path, f"---\nname: x\nmemoria:\n{own}---\n")
    config = load_config(memory.location)
    assert (config["enabled"], config["capture_commits"], config["retention_days"]) == (True, False, 900)
    assert not may_capture(config, "commits") and may_capture(config, "decisions") and not config.problems
    found = config.find_value("capture_commits")
    assert found is not None and found.path.endswith("alfred-dev.local.md")


@pytest.mark.parametrize(
    "text",
    [
        *("", "memoria:\n  enabled: false\n", "---\nother:\n  enabled: false\n---\n", "---\nmemoria: enabled\n---\n"),
        "---\nmemoria:\n  enabled: perhaps\n---\n",
        "---\nmemoria:\n  retention_days: 3\n  agent.host: http://elsewhere\n---\n",
        "---\n---\nmemoria:\n  enabled: false\n",
    ],
)
def test_whatever_else_is_there_does_not(memory: Memory, tmp_path: Path, text: str) -> None:
    note(tmp_path, text)
    config = load_config(memory.location)
    assert (config["enabled"], config["retention_days"], config["agent.host"]) == (True, 365, "")


def test_of_a_memory_that_is_not_ours_it_does_not(tmp_path: Path) -> None:
    note(tmp_path, "---\nmemoria:\n  enabled: false\n---\n")
    (tmp_path / ".memoranda").mkdir()
    (tmp_path / ".memoranda" / "memory.db").write_bytes(b"x")
    assert load_config(locate(str(tmp_path / ".memoranda" / "memory.db"), {}, str(tmp_path)))["enabled"]
