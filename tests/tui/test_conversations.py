"""Conversations in the application: brought in by hand and by itself, read, flushed and cleared."""

import json
from pathlib import Path

import pytest
from support.screen import NARROW, Person, opened, utc
from support.stories import Clock

from store.config import put, user_path
from store.memory import Memory
from store.models import Summary
from tui.commands import conversations

__all__ = ["utc"]

TALK = """user: Why does the importer look each tax rate up?
assistant: It did so a thousand times. I moved them into a table.
user: Decidimos usar Decimal en todo el módulo.
user: gracias!
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "billing"
    folder.mkdir()
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("The tax office wants half to even")
    (folder / "talk.txt").write_text(TALK, encoding="utf-8")
    return folder


def told(person: Person, text: str) -> bool:
    return any(text in toast for toast in person.toasts)


async def test_a_conversation_is_brought_in_read_and_cleared(project: Path) -> None:
    """From the `:` bar, without leaving it: its turns and its summary are found, and its end leaves a file."""
    async with opened(project, NARROW) as person:
        await person.command("ingest talk.txt")
        await person.until(lambda: person.sees("Brought in 3 turns of 1 session"))
        await person.command("flush")
        await person.until(lambda: told(person, "1 summary"))
        await person.search("kind:summary tax rate")
        await person.press("enter")
        await person.until(lambda: isinstance(person.record, Summary))
        assert person.preview[0] == "S#1  summary · active"
        assert any("Decided" in line and "Decimal" in line for line in person.preview)
        assert any("T#2" in line for line in person.preview)
        await person.press("escape", "escape")
        await person.command("clear")
        await person.until(lambda: told(person, "Session talk is over"))
    (snapshot,) = (project / "memory" / "snapshots").iterdir()
    assert "    Decidimos usar Decimal" in snapshot.read_text(encoding="utf-8")


async def test_a_large_file_is_left_to_a_shell(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would hold the pen, for which everything waits that a person writes."""
    monkeypatch.setattr(conversations, "LARGE", 20)
    async with opened(project) as person:
        await person.command("ingest talk.txt")
        await person.until(lambda: told(person, "Bring it in from a shell"))


async def test_what_the_configuration_names_comes_in_by_itself(project: Path) -> None:
    """When the application starts, in another process; a toast says so."""
    line = {"session": "s", "role": "user", "text": "a marmalade question"}
    (project / "lines.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    put(user_path(), "ingest.paths", str(project / "lines.jsonl"))
    async with opened(project) as person:
        await person.until(lambda: told(person, "Brought in 1 turn"))
        await person.search("marmalade")
        assert len(person.hits) == 1
