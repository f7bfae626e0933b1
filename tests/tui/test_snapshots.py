"""The main screens as text, letter by letter; `pytest tests/tui/test_snapshots.py --snapshot-update` takes them anew.

No `pytest-textual-snapshot`, which holds pytest and syrupy back; and no SVG, whose colours and frame change with every
Textual: what is coloured, and how, is asserted where it matters.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, Person, opened, utc  # noqa: F401  (a fixture)
from support.stories import Clock, Story, copy
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from store.memory import Memory

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])


class Screen(SingleFileSnapshotExtension):
    """One text file a screen."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def screens(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Screen)


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return copy(tmp_path / "billing-api")


def drawn(person: Person) -> str:
    """What is on the screen; how long a search took is nobody's to know beforehand."""
    text = "\n".join(person.lines) + "\n"
    return re.sub(r" *\d+ found +\d+ ms", lambda found: found[0].replace(" ms", "")[:-2].rstrip() + " in … ms", text)


@SIZES
async def test_facts(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.put_cursor(story.facts["five"])
        assert drawn(person) == screens


@SIZES
async def test_facts_with_the_hidden_ones(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("H", "s", "G")
        assert drawn(person) == screens


@SIZES
async def test_timeline_and_a_decision(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("2", "G", "k", "enter")
        assert person.record is not None and person.record.citation == "D#1"
        assert drawn(person) == screens


@SIZES
async def test_a_commit(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("2", "j")
        await person.until(lambda: any("+LIMIT" in line for line in person.preview))
        await person.press("J")
        assert drawn(person) == screens


@SIZES
async def test_search(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.search("factura kind:fact,decision,iteration")
        await person.press("enter", "j")
        assert drawn(person) == screens


@SIZES
async def test_help(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("question_mark")
        assert drawn(person) == screens


@SIZES
async def test_the_command_bar(story: Story, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.press("colon", *"forg", "tab")
        assert drawn(person) == screens


@SIZES
async def test_an_empty_memory(tmp_path: Path, screens: SnapshotAssertion, size: tuple[int, int]) -> None:
    with Memory.open(str(tmp_path / "new-project" / ".memoranda" / "memory.db"), "cli", Clock()):
        pass
    async with opened(tmp_path / "new-project", size) as person:
        assert drawn(person) == screens
