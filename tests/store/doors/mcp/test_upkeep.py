"""Upkeep while agents are served: a child does what is due, once, and costs nothing while nothing happens."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import Clock

from store.base.clock import from_ms, to_ms, utc_now
from store.conversations.turns import NewTurn
from store.doors.mcp_opening import UPKEEP_APART_SECONDS, UPKEEP_SECONDS, UpkeepThread
from store.memory import Memory
from store.projects.locating import locate


class Child:
    """Stands for a child process; it ends when it is told to."""

    started: list[list[str]] = []  # noqa: RUF012

    def __init__(self, command: list[str], **how: object) -> None:
        self.started.append(command)
        self.code: int | None = 0

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.code = -15


def test_a_child_looks_when_something_happened_and_after(memory: Memory, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess, "Popen", Child)
    monkeypatch.setattr("time.time", lambda: wall)
    Child.started = []
    upkeep, now, wall = UpkeepThread(memory.location, str(tmp_path)), 0.0, 1e9
    assert upkeep.start_child_if_due(now), "what was left undone before"
    looks = []
    for _ in range(40):
        now, wall = now + UPKEEP_SECONDS, wall + UPKEEP_SECONDS
        if upkeep.start_child_if_due(now):
            looks.append(now)
    assert looks == [360.0, 1_920.0], "a checkpoint, and what is over, were due then"
    memory.facts.remember("something happened")
    now, wall = now + UPKEEP_SECONDS, wall + UPKEEP_SECONDS
    assert upkeep.start_child_if_due(now)
    other = UpkeepThread(memory.location, str(tmp_path))
    assert not other.start_child_if_due(now), "another server's child did it a moment ago"
    assert other.start_child_if_due(now + UPKEEP_APART_SECONDS) is False
    wall += UPKEEP_APART_SECONDS
    assert other.start_child_if_due(now + UPKEEP_APART_SECONDS)


def test_what_is_due_is_done_without_the_application(tmp_path: Path) -> None:
    """As the child does it: git is read, the spoken is learned from, a checkpoint and the documents are taken."""
    checkout = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    (checkout / "MEMORY.md").write_text("# Notes\n\nThe llama lives in the stable.\n")
    subprocess.run(["git", "-C", str(checkout), "add", "."], check=True)
    who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    subprocess.run(["git", "-C", str(checkout), *who, "commit", "-qm", "Begin"], check=True)
    path = str(checkout / ".memoranda" / "memory.db")
    earlier = Clock(from_ms(to_ms(utc_now()) - 600_000))  # long enough ago for a checkpoint to be due
    with Memory(locate(path, {}, str(checkout)), "cli", earlier) as memory:
        memory.turns.add_turns("s", [NewTurn("user", "Remember that we deploy on Tuesdays.")], "hook:claude-code")
    environment = {**os.environ, "MEMORANDA_WITHOUT": "model"}
    command = [sys.executable, "-m", "store.doors.upkeep_process", path, str(checkout)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Memory(locate(path, {}, str(checkout)), "cli") as memory:
        assert memory.database.value("SELECT count(*) FROM commits") == 1
        assert [fact.fact for fact in memory.facts.get_many([1])] == ["We deploy on Tuesdays"]
        assert memory.checkpoints.count_automatic() == 1
        assert memory.search("where does the llama live", kinds=["document"], meaning=False).hits
        assert memory.database.value("SELECT count(*) FROM leases") == 0
