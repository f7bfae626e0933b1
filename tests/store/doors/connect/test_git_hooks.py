"""Ours is added behind the hooks that are there, whatever they do, and goes again without a trace."""

import os
import subprocess
from pathlib import Path

import pytest

from store.doors import git_hooks

HUSKY = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
HUSKY_H = '#!/usr/bin/env sh\nn=$(basename "$0")\nsh -e "$(dirname "$0")/../$n" "$@"\nc=$?\nexit $c\n'
PRE_COMMIT = "#!/usr/bin/env bash\nARGS=(hook-impl)\nexec sh -c 'echo pre-commit >> told; exit 0' \"${ARGS[@]}\"\n"


def git(root: Path, *words: str, fine: bool = True) -> "subprocess.CompletedProcess[str]":
    who = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = ["git", "-C", root, *words]
    return subprocess.run(command, env={**os.environ, **who}, capture_output=True, text=True, check=fine)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "p"
    root.mkdir()
    git(root, "init", "-q")
    return root


@pytest.fixture
def command(tmp_path: Path) -> tuple[str, ...]:
    """A program in the place of memoranda, which writes down what it was told."""
    return (str(put(tmp_path / "our program", f'#!/bin/sh\necho "ours $*" >> "{tmp_path}/p/told"\nexit 3\n')),)


def put(path: Path, text: str) -> Path:
    """Write a script."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def told(root: Path) -> list[str]:
    lines = (root / "told").read_text().splitlines() if (root / "told").exists() else []
    return [line.rpartition(" ")[0] if "commit-msg" in line else line for line in lines]


OURS = ["ours hook git commit-msg", "ours hook git post-commit"]


def test_where_no_hook_was(root: Path, command: tuple[str, ...]) -> None:
    before = sorted(path.name for path in (root / ".git" / "hooks").iterdir())
    assert [one.state for one in git_hooks.install_git_hooks(str(root), command)] == ["added", "added"]
    assert [one.state for one in git_hooks.install_git_hooks(str(root), command)] == ["there", "there"]
    assert git(root, "commit", "--allow-empty", "-qm", "x").stderr == ""  # ours failed, and nobody noticed
    assert told(root) == OURS
    assert git_hooks.list_installed_hooks(str(root)) == list(git_hooks.GIT_HOOKS)
    git_hooks.uninstall_git_hooks(str(root))
    assert sorted(path.name for path in (root / ".git" / "hooks").iterdir()) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\necho theirs >> told\n", ["theirs"]),
        ("#!/bin/sh\necho theirs >> told\nexit 0\n", ["theirs"]),
        (PRE_COMMIT, ["pre-commit"]),
        ("#!/usr/bin/env bash\nset -e\necho theirs >> told", ["theirs"]),
        ("#!/bin/bash -eu\necho theirs >> told\n", ["theirs"]),
    ],
)
def test_behind_a_hook_whatever_it_ends_with(root: Path, command: tuple[str, ...], text: str, said: list[str]) -> None:
    hook = put(root / ".git" / "hooks" / "post-commit", text)
    git_hooks.install_git_hooks(str(root), command)
    git_hooks.install_git_hooks(str(root), command)
    git(root, "commit", "--allow-empty", "-qm", "x")
    assert told(root) == [OURS[0], *said, OURS[1]]
    git_hooks.uninstall_git_hooks(str(root))
    assert hook.read_text() == text


def test_a_hook_that_git_does_not_run_is_left_alone(root: Path, command: tuple[str, ...]) -> None:
    hook = root / ".git" / "hooks" / "post-commit"
    hook.write_text("#!/bin/sh\necho theirs >> told\n")
    hook.chmod(0o644)
    refused, added = git_hooks.install_git_hooks(str(root), command)
    assert (refused.state, added.state) == ("refused", "added") and "is not executable" in refused.says
    git(root, "commit", "--allow-empty", "-qm", "x")
    assert told(root) == OURS[:1] and hook.stat().st_mode & 0o777 == 0o644
    hook.chmod(0o755)
    git_hooks.install_git_hooks(str(root), command)
    git(root, "commit", "--allow-empty", "-qm", "x")
    assert told(root) == [OURS[0], OURS[0], "theirs", OURS[1]]


def test_one_script_that_is_several_hooks(root: Path, command: tuple[str, ...]) -> None:
    script = put(root / "dispatch", '#!/bin/sh\necho "theirs ${0##*/}" >> told\n')
    for hook in git_hooks.GIT_HOOKS:
        (root / ".git" / "hooks" / hook).symlink_to(script)
    git_hooks.install_git_hooks(str(root), command)
    git(root, "commit", "--allow-empty", "-qm", "x")
    lines = (root / "told").read_text().splitlines()
    assert lines == ["theirs commit-msg", f"{OURS[0]} .git/COMMIT_EDITMSG", "theirs post-commit", OURS[1]]
    git_hooks.uninstall_git_hooks(str(root))
    assert script.read_text() == '#!/bin/sh\necho "theirs ${0##*/}" >> told\n'


def test_a_program_that_is_gone_is_not_missed(root: Path) -> None:
    git_hooks.install_git_hooks(str(root), ("/gone/memoranda",))
    assert git(root, "commit", "--allow-empty", "-qm", "x").stderr == ""


def test_a_hook_that_refuses_a_commit_still_does(root: Path, command: tuple[str, ...]) -> None:
    put(root / ".git" / "hooks" / "commit-msg", '#!/bin/sh\ngrep -q good "$1" || exit 7\n')
    git_hooks.install_git_hooks(str(root), command)
    assert git(root, "commit", "--allow-empty", "-qm", "bad", fine=False).returncode != 0
    assert told(root) == []
    git(root, "commit", "--allow-empty", "-qm", "good")
    assert told(root) == OURS


def test_husky(root: Path, command: tuple[str, ...]) -> None:
    folder = root / ".husky" / "_"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*\n")
    (folder / "h").write_text(HUSKY_H)
    for hook in git_hooks.GIT_HOOKS:
        put(folder / hook, HUSKY)
    (root / ".husky" / "post-commit").write_text("echo husky >> told\n")
    (root / ".husky" / "commit-msg").write_text("true\n")
    git(root, "config", "core.hooksPath", ".husky/_")
    git(root, "add", "-A")
    git_hooks.install_git_hooks(str(root), command)
    git(root, "commit", "-qm", "x")
    assert told(root) == [OURS[0], "husky", OURS[1]]
    git_hooks.uninstall_git_hooks(str(root))
    assert (folder / "post-commit").read_text() == HUSKY


def test_hooks_that_git_keeps_for_everybody_are_not_changed_for_one(root: Path, command: tuple[str, ...]) -> None:
    (root / "hooks").mkdir()
    put(root / "hooks" / "post-commit", "#!/bin/sh\n")
    git(root, "config", "core.hooksPath", "hooks")
    git(root, "add", "-A")
    refused = git_hooks.install_git_hooks(str(root), command)
    assert {one.state for one in refused} == {"refused"} and "the team's" in refused[0].says
    assert (root / "hooks" / "post-commit").read_text() == "#!/bin/sh\n"
    assert {one.state for one in git_hooks.install_git_hooks(str(root), command, shared=True)} == {"added"}


def test_a_worktree_has_the_hooks_of_its_repository(root: Path, command: tuple[str, ...], tmp_path: Path) -> None:
    git(root, "commit", "--allow-empty", "-qm", "x")
    git(root, "worktree", "add", "-q", str(tmp_path / "w"))
    git_hooks.install_git_hooks(str(tmp_path / "w"), command)
    git(tmp_path / "w", "commit", "--allow-empty", "-qm", "y")
    assert told(root) == OURS


def test_a_hook_in_another_language_is_left_alone(root: Path, command: tuple[str, ...]) -> None:
    hook = put(root / ".git" / "hooks" / "post-commit", "#!/usr/bin/env python3\nprint(1)\n")
    found = git_hooks.install_git_hooks(str(root), command)
    assert [one.state for one in found] == ["refused", "added"] and "not a shell script" in found[0].says
    assert hook.read_text() == "#!/usr/bin/env python3\nprint(1)\n"
