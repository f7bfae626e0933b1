"""Global facts are found by meaning in a project, whichever program works on that project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from store.base.location import personal_memory_path
from store.doors import upkeep_process
from store.memory import Memory
from store.upkeep.background_embedding import embed_waiting, is_embedding_due

FACT = "The office closes at noon on Fridays"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a project's memory whose vectors are made, beside a global fact that was told since."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "")
    path = str(tmp_path / "project" / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("Invoices are rounded half up")
        assert embed_waiting(memory) is not None and not is_embedding_due(memory)
        memory.globals.remember(FACT)
        assert is_embedding_due(memory)
    return path


def test_what_is_global_is_embedded_with_the_project(path: str) -> None:
    with Memory.open(path) as memory:
        assert (done := embed_waiting(memory)) is not None and (done.embedded, done.left) == (1, 0)
        assert not is_embedding_due(memory)
    with Memory.open(personal_memory_path()) as own:
        assert not is_embedding_due(own), "for every project"


def test_a_server_embeds_it_too(path: str) -> None:
    upkeep_process.main(path, os.path.dirname(path))
    with Memory.open(path) as memory:
        assert not is_embedding_due(memory)


def test_a_personal_memory_that_cannot_be_written_holds_up_nothing(path: str) -> None:
    os.chmod(personal_memory_path(), 0o400)
    with open(personal_memory_path(), "rb") as file:
        before = file.read()
    with Memory.open(path) as memory:
        memory.facts.remember("The wiki is at wiki.example")
        assert embed_waiting(memory) is not None
        assert memory.database.value("SELECT count(*) FROM embedding_queue") == 0
    assert os.geteuid() == 0 or Path(personal_memory_path()).read_bytes() == before
