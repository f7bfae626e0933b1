"""A change is kept when it happens, without being asked; with the real watcher of the system."""

import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.guarded import GuardedHome, add_memory

from store.tools import guard_moments
from store.tools.guard_moments import LookResult, current_ms
from store.tools.source import Machine

PATIENCE = 60.0  # seconds that a machine under load may take


class Running:
    """A watch on a thread of its own."""

    def __init__(self, home: GuardedHome) -> None:
        self.home, self.stop = home, threading.Event()
        self.found: queue.Queue[LookResult] = queue.Queue()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        for found in guard_moments.watch_guarded_files(self.home.settings, Machine(str(self.home.folder)), self.stop):  # type: ignore[arg-type]
            self.found.put(found)

    def until(self, moments: bool = True) -> LookResult:
        """Wait for the next look, or the next that found something."""
        while True:
            found = self.found.get(timeout=PATIENCE)
            if found.moments or not moments:
                return found

    def end(self) -> None:
        self.stop.set()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@pytest.fixture
def running(home: GuardedHome) -> Iterator[Running]:
    home.now = current_ms() - 3_600_000
    home.write("a.md", "one\n")
    running = Running(home)
    yield running
    running.end()


def test_a_change_and_a_removal_and_a_new_project(running: Running, home: GuardedHome) -> None:
    assert running.until(moments=False).first
    (home.memory / "a.md").write_text("two\n")
    running.until()
    assert home.shown(1) == ["-1 one", "+0 two"]
    (home.memory / "a.md").unlink()
    running.until()
    assert [what for what, _ in home.changes()[0]] == ["removed"]
    other = home.memory.parents[1] / "-home-ines-other" / "memory"
    other.mkdir(parents=True)
    (other / "new.md").write_text("new\n")
    running.until()
    assert ("added", "new.md") in home.changes()[0]


def test_a_database_is_looked_at_when_it_is_its_time(home: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_moments, "LOOK_EVERY_SECONDS", 0.0)
    home.now = current_ms() - 3_600_000
    engram = home.engram()
    running = Running(home)
    try:
        assert running.until(moments=False).first
        add_memory(engram, "Tides", "Another one.")
        running.until()
        assert home.changes()[0] == [("rewritten", "engram.db")]
    finally:
        running.end()


def test_transcripts_wake_nobody_and_memories_do(home: GuardedHome, tmp_path: Path) -> None:
    asked: list[object] = []

    def watch(*places: str, watch_filter: object, **more: object) -> Iterator[set[object]]:
        asked.extend([places, watch_filter])
        yield set()

    home.write("a.md", "one\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("watchfiles.watch", watch)
        stop = threading.Event()
        list(guard_moments._watch_changes([str(home.memory)], home.settings, Machine(str(home.folder)), stop))  # type: ignore[arg-type]
    wanted = asked[1]
    assert callable(wanted)
    base = str(home.memory.parent)
    looked = dict.fromkeys(("memory/a.md", "memory", "memory/new.md", ".engram/engram.db-wal"), True)
    for name, result in {**looked, "one.jsonl": False, "memory/a.md.tmp": False}.items():
        assert wanted(None, os.path.join(base, name)) is result, name


def test_where_watching_fails_it_looks_now_and_then(home: GuardedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_moments, "LOOK_EVERY_SECONDS", 0.01)

    def watch(*places: str, **more: object) -> Iterator[set[object]]:
        raise OSError("no space left on device")

    monkeypatch.setattr("watchfiles.watch", watch)
    home.now = current_ms() - 3_600_000
    home.write("a.md", "one\n")
    running = Running(home)
    try:
        assert running.until(moments=False).first
        assert "cannot be watched" in running.until(moments=False).troubles[0].why
        (home.memory / "a.md").write_text("two\n")
        running.until()
    finally:
        running.end()
