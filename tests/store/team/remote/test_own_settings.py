"""What a person's own git says about reaching a remote, in a project and elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.git.process import capture_git_output
from store.team.remote import SSH_WITHOUT_QUESTIONS, reaching_environment


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project for which the person has another key and another helper, by a file of their own."""
    folder = tmp_path / "work" / "shop"
    folder.mkdir(parents=True)
    capture_git_output(str(folder), "init", "--quiet")
    capture_git_output(str(folder), "config", "core.sshCommand", "evil")
    capture_git_output(str(folder), "config", "credential.helper", "evil")
    (tmp_path / "gitconfig").write_text(
        f"""[credential]
	helper = cache
[includeIf "gitdir:{tmp_path}/work/"]
	path = {tmp_path}/work.gitconfig
"""
    )
    (tmp_path / "work.gitconfig").write_text(
        """[core]
	sshCommand = ssh -i '~/keys/work id'
	pager = less
[user]
	signingKey = ABCDEF
[credential "https://git.example.org"]
	username = ana-at-work
	useHttpPath
"""
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_SSH", "GIT_SSH_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_what_is_said_for_the_projects_folder_counts_elsewhere(project: Path, tmp_path: Path) -> None:
    found = reaching_environment(str(project), str(tmp_path))
    count = int(found.pop("GIT_CONFIG_COUNT"))
    assert found.pop("GIT_SSH_COMMAND") == f"ssh -i '~/keys/work id' {SSH_WITHOUT_QUESTIONS}"
    said = {found[f"GIT_CONFIG_KEY_{number}"]: found[f"GIT_CONFIG_VALUE_{number}"] for number in range(count)}
    assert said == {
        "core.sshcommand": "ssh -i '~/keys/work id'",
        "user.signingkey": "ABCDEF",
        "credential.https://git.example.org.username": "ana-at-work",
        "credential.https://git.example.org.usehttppath": "true",
    }, "and nothing that the project itself says"


def test_elsewhere_and_in_the_persons_own_memory_it_does_not(project: Path, tmp_path: Path) -> None:
    assert reaching_environment(None, str(tmp_path)) == {"GIT_SSH_COMMAND": f"ssh {SSH_WITHOUT_QUESTIONS}"}
    without = {"GIT_SSH_COMMAND": f"ssh {SSH_WITHOUT_QUESTIONS}", "GIT_CONFIG_COUNT": "0"}
    assert reaching_environment(str(tmp_path), str(tmp_path)) == without


def test_the_environment_and_a_program_of_ones_own_stay(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SSH", "/opt/plink")
    assert "GIT_SSH_COMMAND" not in reaching_environment(None, str(project.parent.parent)), "git runs that"
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -v")
    assert "GIT_SSH_COMMAND" not in reaching_environment(str(project), str(project.parent.parent))
    monkeypatch.delenv("GIT_SSH_COMMAND")
    for command in ("/opt/plink -batch", "'broken"):
        (project.parent.parent / "work.gitconfig").write_text(f'[core]\n\tsshCommand = "{command}"\n')
        assert reaching_environment(str(project), str(project.parent.parent))["GIT_SSH_COMMAND"] == command
