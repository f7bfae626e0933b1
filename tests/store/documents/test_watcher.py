"""Watching the documents: a change is noticed soon, our own writing is not, and what cannot be watched is said."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from store.documents import watcher
from store.documents.files import DocumentRoots
from store.documents.watcher import DocumentWatch
from store.memory import Memory


@pytest.fixture
def root(memory: Memory) -> Path:
    """The project's folder, with a folder for documents."""
    folder = Path(memory.location.project or "")
    (folder / "memory").mkdir()
    return folder


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def quiet(changed: threading.Event, seconds: float = 0.3) -> None:
    """Wait until nothing is noticed any more, as after new folders, of which each is watched from when it is seen."""
    while changed.wait(seconds):
        changed.clear()


def test_a_change_is_noticed_and_our_own_writing_is_not(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch):
    """Real notices: a file, a folder that comes with files in it, a rename over a file; then silence."""
    monkeypatch.setattr(watcher, "QUIET_MS", 50)
    changed = threading.Event()
    said: list[str] = []
    watch = DocumentWatch(memory.documents.roots, changed.set, said.append)
    watch.start()
    try:
        assert changed.wait(30)  # once after the start, for what changed before it
        for act in (
            lambda: put(root, "MEMORY.md", "one"),
            lambda: put(root, "memory/a/b/c.md", "two"),
            lambda: put(root, "memory/a/b/c.md", "three"),
            lambda: (root / "memory" / "a").rename(root / "memory" / "z"),
            lambda: os.replace(put(root, "memory/z/part", "x"), root / "memory" / "z" / "b" / "c.md"),
            lambda: (root / "MEMORY.md").unlink(),
        ):
            quiet(changed)
            act()
            assert changed.wait(30)
        quiet(changed, 1)
        memory.facts.remember("x")
        put(root, "memory/state.json", "{}")
        put(root, "README.md", "x")
        assert not changed.wait(1)
    finally:
        start = time.monotonic()
        watch.stop()
    assert time.monotonic() - start < 10 and not watch.is_alive() and not said


def test_at_rest_it_looks_less_often_and_a_change_is_noticed_all_the_same(memory: Memory, root: Path, monkeypatch):
    """Also one that came while the rest began or ended."""
    steps: list[int] = []
    began = watchfiles.watch

    def watch(*paths: str, step: int, **how: Any) -> Any:
        steps.append(step)
        return began(*paths, step=step, **how)

    monkeypatch.setattr(watchfiles, "watch", watch)
    monkeypatch.setattr(watcher, "QUIET_MS", 50)
    monkeypatch.setattr(watcher, "RESTING_MS", 100)
    changed, rest = threading.Event(), threading.Event()
    one = DocumentWatch(memory.documents.roots, changed.set, lambda said: None, rest.is_set)
    one.start()
    try:
        for act in (lambda: None, rest.set, rest.clear, rest.set, lambda: put(root, "MEMORY.md", "one")):
            changed.clear()
            act()
            assert changed.wait(30)
    finally:
        one.stop()
    assert steps == [50, 100, 50, 100]


def test_where_watching_fails_it_is_said_once(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: str, **how: object) -> None:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    said: list[str] = []
    watch = DocumentWatch(DocumentRoots(str(root)), lambda: None, said.append)
    watch.start()
    watch.join(5)
    assert not watch.is_alive()
    cause = "(OSError: OS file watch limit reached)"
    assert said == [f"The documents cannot be watched here, and are looked at now and then instead {cause}."]
