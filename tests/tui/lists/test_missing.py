"""An empty list says beside itself what it waits for, by what is missing in this memory."""

from pathlib import Path

import pytest
from support.screen import NARROW, Person, opened
from support.stories import Story, copy, location

from store.memory import Memory
from tui.lists.view_state import MISSING_SENTENCES, missing_lines

CONNECT = "No agent is connected yet"


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    folder = tmp_path / "fresh"
    folder.mkdir()
    with Memory.open(location(folder).path, "cli") as memory:
        memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, origin="hook")
    return folder


def taught(person: Person) -> str:
    return " ".join(" ".join(person.preview).split())


async def test_a_fresh_memory_teaches_what_brings_each_list_its_first_record(fresh: Path) -> None:
    async with opened(fresh, NARROW) as person:
        assert taught(person).startswith("What is missing · 1 is proposed and waiting for you: 6 goes to the inbox.")
        assert CONNECT in taught(person) and ":import lists what is found" in taught(person)
        await person.press("2")
        assert "There are no commits" in taught(person)
        await person.press("5")
        assert CONNECT in taught(person)
        await person.press("1", "a")
        await person.paste("The team is five")
        await person.press("enter")
        assert "What is missing" not in taught(person) and person.preview[1] == "The team is five"


async def test_commits_that_were_read_can_be_seen_and_asked_before_there_is_a_fact(tmp_path: Path) -> None:
    folder = tmp_path / "read"
    folder.mkdir()
    with Memory.open(location(folder).path, "cli") as memory:
        for number in range(12):
            memory.commits.log(f"{number:040x}", message=f"Change {number}", author="Ana")
    async with opened(folder, NARROW) as person:
        assert taught(person).startswith(
            "Commits read from git: 12. 2 shows them, A answers questions about them. What is missing ·"
        )
        await person.press("2")
        assert "Change 11" in taught(person)


async def test_a_filter_that_hides_all_is_not_taught_as_something_missing(person: Person) -> None:
    await person.command("facts nobody said this")
    assert person.rows == [] or "No facts match" in person.rows[0]
    assert taught(person) == ""


def test_what_is_there_is_not_missing(tmp_path: Path) -> None:
    story: Story = copy(tmp_path / "billing-api")
    with story.open() as memory:
        commits = memory.database.value("SELECT count(*) FROM commits")
        said = {pane: str(missing_lines(memory, pane)) for pane in MISSING_SENTENCES}
    assert commits and "no commits" not in said["timeline"]
    assert "nothing would be sent" not in said["context"]
    assert "so there is nothing to go back to" not in said["checkpoints"]
    assert not any("{" in words for words in said.values()), "every key is named"
