"""Global facts are found by meaning in a project, whichever program works on that project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from store.base.location import personal_path
from store.doors.mcp import upkeep_process
from store.memory import Memory
from store.services.background_embedding import embed, waiting

FACT = "The office closes at noon on Fridays"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a project's memory whose vectors are made, beside a global fact that was told since."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "")
    path = str(tmp_path / "project" / ".memoranda" / "memory.db")
    with Memory.open(path) as memory:
        memory.facts.remember("Invoices are rounded half up")
        assert embed(memory) is not None and not waiting(memory)
        memory.globals.remember(FACT)
        assert waiting(memory)
    return path


def test_what_is_global_is_embedded_with_the_project(path: str) -> None:
    with Memory.open(path) as memory:
        assert (done := embed(memory)) is not None and (done.embedded, done.left) == (1, 0)
        assert not waiting(memory)
    with Memory.open(personal_path()) as own:
        assert not waiting(own), "for every project"


def test_a_server_embeds_it_too(path: str) -> None:
    upkeep_process.main(path, os.path.dirname(path))
    with Memory.open(path) as memory:
        assert not waiting(memory)


def test_a_personal_memory_that_cannot_be_written_holds_up_nothing(path: str) -> None:
    os.chmod(personal_path(), 0o400)
    with open(personal_path(), "rb") as file:
        before = file.read()
    with Memory.open(path) as memory:
        memory.facts.remember("The wiki is at wiki.example")
        assert embed(memory) is not None
        assert memory.database.value("SELECT count(*) FROM embedding_queue") == 0
    assert os.geteuid() == 0 or Path(personal_path()).read_bytes() == before
