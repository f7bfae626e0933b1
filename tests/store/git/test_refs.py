"""Seeing, without running git, that a repository's branches may have moved. Real repositories, real git."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from support.repositories import commit, create, git

from store.git import repository as refs
from store.git.repository import Repository
from store.memory import Memory
from store.upkeep.maintenance import check_git_change, read_new_commits

PATIENCE = 10.0  # seconds; what is younger than 50 ms stirs at each look


class Watch:
    """Looks at a memory's repository as an open window does."""

    def __init__(self, memory: Memory, cwd: Path) -> None:
        self.memory = memory
        self.cwd = str(cwd)
        self.before = ""

    def stirs(self) -> bool:
        now = check_git_change(self.memory, self.cwd, self.before)
        self.before = now or self.before
        return now is not None

    def settle(self) -> None:
        end = time.monotonic() + PATIENCE
        while self.stirs():
            assert time.monotonic() < end, "nothing happened, and it stirs"
        assert not self.stirs()


def settled(root: Path) -> str:
    """Return the fingerprint, once two looks at a repository see the same."""
    end, before = time.monotonic() + PATIENCE, ""
    while (now := refs.refs_fingerprint(str(root))) != before:
        assert time.monotonic() < end
        before = now
    return now


@pytest.fixture
def watch(memory: Memory, tmp_path: Path) -> Watch:
    return Watch(memory, tmp_path)


def test_what_moves_a_branch_stirs_and_nothing_else_does(watch: Watch, tmp_path: Path) -> None:
    commit(tmp_path, "one", {"a": "1"})
    assert watch.stirs(), "the first look"
    watch.settle()
    for act in (
        lambda: commit(tmp_path, "two", {"a": "2"}),
        lambda: commit(tmp_path, "said better", amend=True),
        lambda: git(tmp_path, "branch", "topic"),
        lambda: git(tmp_path, "branch", "deep/down/topic"),
        lambda: git(tmp_path, "update-ref", "refs/heads/deep/down/topic", "HEAD~1"),
        lambda: git(tmp_path, "reset", "--quiet", "--hard", "HEAD~1"),
        lambda: git(tmp_path, "switch", "--quiet", "topic"),
        lambda: git(tmp_path, "pack-refs", "--all", "--prune"),
        lambda: git(tmp_path, "branch", "--quiet", "-D", "deep/down/topic"),
        lambda: git(tmp_path, "checkout", "--quiet", "--detach", "HEAD"),
        lambda: commit(tmp_path, "detached", {"a": "3"}),
        lambda: git(tmp_path, "gc", "--quiet"),
    ):
        act()
        assert watch.stirs()
        watch.settle()
    (tmp_path / "a").write_text("not committed yet")
    git(tmp_path, "add", "a")
    git(tmp_path, "status")
    git(tmp_path, "tag", "v1")
    assert not watch.stirs()


@pytest.mark.parametrize("name", ["HEAD", "logs/HEAD", "packed-refs", "shallow", "reftable/tables.list"])
def test_each_of_the_files_that_tell_is_looked_at(tmp_path: Path, name: str) -> None:
    """By hand, because git moves several of them at once, and which ones depends on its version and format."""
    commit(tmp_path, "one", {"a": "1"})
    before = settled(tmp_path)
    file = tmp_path / ".git" / name
    file.parent.mkdir(exist_ok=True)
    kept = file.read_bytes() if file.exists() else b""
    file.write_bytes(kept + b"\n")
    assert settled(tmp_path) != before


def test_a_change_in_the_same_tick_as_the_look_is_not_lost(watch: Watch, tmp_path: Path, monkeypatch) -> None:
    """The file system's clock can stand for some milliseconds: the young are not trusted."""
    commit(tmp_path, "one", {"a": "1"})
    heads = tmp_path / ".git" / "refs" / "heads"
    first = git(tmp_path, "rev-parse", "HEAD")
    git(tmp_path, "update-ref", "refs/heads/side", first)
    watch.stirs()
    status = heads.stat()
    (heads / "side").write_text(commit(tmp_path, "two", {"a": "2"}))
    watch.stirs()
    os.utime(heads, ns=(status.st_atime_ns, time.time_ns()))
    assert watch.stirs()
    assert watch.stirs(), "looked at within the tick: look again"
    watch.settle()


def test_worktrees_share_branches_and_have_a_head_of_their_own(watch: Watch, memory: Memory, tmp_path: Path) -> None:
    commit(tmp_path, "one", {"a": "1"})
    side = tmp_path / "side"
    git(tmp_path, "worktree", "add", "--quiet", "-b", "side", str(side))
    memory.location.project = str(side)
    aside = Watch(memory, side)
    aside.settle()
    commit(tmp_path, "in the main checkout", {"b": "1"})
    assert aside.stirs()
    aside.settle()
    git(side, "checkout", "--quiet", "--detach")
    assert aside.stirs()
    aside.settle()
    commit(side, "detached", {"c": "1"})
    assert aside.stirs()


def test_a_deepened_clone_stirs(memory: Memory, tmp_path: Path) -> None:
    for number in range(3):
        commit(tmp_path / "whole", str(number), {"a": f"{number}\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path / 'whole'}", "clone")
    memory.location.project = str(tmp_path / "clone")
    watch = Watch(memory, tmp_path)
    watch.settle()
    git(tmp_path / "clone", "fetch", "--quiet", "--unshallow")
    assert watch.stirs()


def test_stirring_is_when_catching_up_finds_something(watch: Watch, memory: Memory, tmp_path: Path) -> None:
    """The two together, as a window uses them."""
    create(tmp_path)
    source = Repository(str(tmp_path))
    watch.settle()
    assert read_new_commits(memory, source) == 0
    for number in range(3):
        commit(tmp_path, str(number), {"a": str(number)})
        assert watch.stirs()
        assert read_new_commits(memory, source) == 1


def test_a_look_is_cheap_and_starts_nothing(watch: Watch, memory: Memory, tmp_path: Path, monkeypatch):
    commit(tmp_path, "one", {"a": "1"})
    for number in range(40):
        git(tmp_path, "update-ref", f"refs/heads/team-{number}/topic", "HEAD")
    watch.settle()
    monkeypatch.setattr(subprocess, "Popen", None)
    took = []
    for _ in range(50):
        start = time.perf_counter()
        assert not watch.stirs()
        took.append(time.perf_counter() - start)
    assert min(took) < 0.001


def test_where_there_is_nothing_to_read_nothing_stirs(watch: Watch, memory: Memory, tmp_path: Path, monkeypatch):
    assert not watch.stirs()
    commit(tmp_path, "one", {"a": "1"})
    for off in ("enabled", "capture_commits"):
        with monkeypatch.context() as person:
            person.setattr(Memory, "config", {value.name: value.value for value in memory.config.values} | {off: False})
            assert not watch.stirs()
    assert watch.stirs()


def test_folders_of_every_kind_of_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    commit(main, "one", {"a": "1"})
    git(main, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    git(tmp_path, "clone", "--quiet", "--bare", str(main), "bare")
    git(tmp_path, "init", "--quiet", "--separate-git-dir", str(tmp_path / "kept"), str(tmp_path / "apart"))
    shared = str(main / ".git")
    assert refs.git_folders(str(main)) == (shared, shared)
    assert refs.git_folders(str(tmp_path / "side")) == (f"{shared}/worktrees/side", shared)
    assert refs.git_folders(str(tmp_path / "bare")) == (str(tmp_path / "bare"),) * 2
    assert refs.git_folders(str(tmp_path / "apart")) == (str(tmp_path / "kept"),) * 2
    assert refs.git_folders(str(tmp_path)) is None


@pytest.mark.parametrize("name", ["shallow", "commondir"])
def test_a_pipe_in_the_place_of_a_file_does_not_stop_us(tmp_path: Path, name: str) -> None:
    create(tmp_path)
    os.mkfifo(tmp_path / ".git" / name)
    assert refs.shallow_boundary(str(tmp_path)) == []
    assert refs.refs_fingerprint(str(tmp_path))


def test_folders_of_branches_that_bite_their_tail(tmp_path: Path) -> None:
    create(tmp_path)
    heads = tmp_path / ".git" / "refs" / "heads"
    (heads / "loop").symlink_to(heads)
    assert refs.refs_fingerprint(str(tmp_path))
    (tmp_path / ".git").rename(tmp_path / "kept")
    (tmp_path / ".git").write_bytes(b"gitdir: no\0where\n")
    assert refs.refs_fingerprint(str(tmp_path)) == ""
