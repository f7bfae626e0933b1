"""The section `memoria:` at the head of a project's note for its agent."""

from pathlib import Path

import pytest
from support import repositories

from store.config.configuration import load_config, may_capture
from store.memory import Memory
from store.projects.locating import locate


def note(root: Path, text: str) -> None:
    (root / ".claude").mkdir(exist_ok=True)
    (root / ".claude" / "alfred-dev.local.md").write_text(text)


@pytest.mark.parametrize(
    "text", ["---\nname: x\nmemoria:\n{}---\n", "memoria:\n{}", "# A note\n\nmemoria:\n{}\nMore.\n"]
)
def test_its_four_settings_count(memory: Memory, tmp_path: Path, text: str) -> None:
    note(tmp_path, text.format("  enabled: true\n  capture_commits: false # not here\n  retention_days: 900\n"))
    config = load_config(memory.location)
    assert (config["enabled"], config["capture_commits"], config["retention_days"]) == (True, False, 900)
    assert not may_capture(config, "commits") and may_capture(config, "decisions") and not config.problems
    note(tmp_path, text.format("  enabled: false\n"))
    assert not may_capture(load_config(memory.location), "events")


@pytest.mark.parametrize("tracked", [True, False])
def test_of_a_checkout_only_an_untracked_one_counts(memory: Memory, tmp_path: Path, tracked: bool) -> None:
    """Whoever can push could turn the memory off otherwise."""
    repositories.git(tmp_path, "init", "--quiet")
    note(tmp_path, "memoria:\n  enabled: false\n")
    if tracked:
        repositories.git(tmp_path, "add", "-f", ".claude")
    config = load_config(memory.location)
    assert config["enabled"] is tracked and any("git tracks it" in one for one in config.problems) is tracked


@pytest.mark.parametrize(
    "text",
    [
        *("", "---\nother:\n  enabled: false\n---\n", "---\nmemoria: enabled\n---\n"),
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
