"""What is looked at again and again while the application is open costs little where nothing happened."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.bound import PAY, BoundProject
from support.stories import copy

from store.evidence.evidence import Evidence
from store.memory import Memory
from tui.workers.background import DocumentWorker, IngestWorker, MaintenanceWorker, Worker


def test_evidence_is_looked_for_after_a_write(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 10,000 facts it takes six milliseconds to see that there is none."""
    project = BoundProject(memory, tmp_path)
    upkeep = MaintenanceWorker(memory.location, os.fspath(tmp_path), memory.database.clock)
    looks: list[int] = []
    every = Evidence.list_all_bound
    monkeypatch.setattr(Evidence, "list_all_bound", lambda evidence: (looks.append(1), every(evidence))[1])
    assert [upkeep.verify() for _ in range(3)] == [0, 0, 0] and len(looks) == 1
    project.bind("src/pay.py:4-5")
    looks.clear()
    assert upkeep.verify() == 0 and looks
    project.put("src/pay.py", PAY.replace("sum", "max"))
    assert upkeep.verify() == 1, "the file is looked at, though nothing was written"
    memory.evidence.unbind("fact", project.fact, [], os.fspath(tmp_path))
    assert upkeep.verify() == 0
    looks.clear()
    assert upkeep.verify() == 0 and not looks


def test_conversations_are_looked_at_with_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = copy(tmp_path / "billing-api")
    opened: list[Worker] = []
    memory = Worker.memory
    monkeypatch.setattr(Worker, "memory", lambda worker: (opened.append(worker), memory(worker))[1])
    worker = IngestWorker(story.location, story.open().database.clock, lambda: False)
    assert worker.ingest_grown() == {} and len(opened) == 1


def test_a_change_that_cannot_be_read_is_told(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a person believes that what they wrote is found."""
    changes: list[Callable[[], None]] = []
    watch = SimpleNamespace(start=lambda: None, end=lambda: None)
    monkeypatch.setattr(
        "tui.workers.background.DocumentWatch", lambda _, change, *more: (changes.append(change), watch)[1]
    )
    worker = DocumentWorker(memory.location, memory.database.clock)
    told: list[str] = []
    worker.watch(told.append)
    changes[0]()
    assert told == []
    memory.close()
    Path(memory.location.path).unlink()
    changes[0]()
    worker.close()
    assert len(told) == 1 and told[0].startswith("The documents could not be read: ")
