"""The application on a file of an older version that may only be read."""

import os
from pathlib import Path

import pytest
from support.older import older
from support.ours import ours
from support.screen import WIDE, opened
from support.stories import Story, copy

from store.base.location import DATABASE_FILE, MEMORANDA_FOLDER
from tui.input.key_table import KEYS, LIBRARIAN, PANE_NAMES


@pytest.fixture
def shut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    """The story as schema 3 held it; nothing of it may be written."""
    story = copy(tmp_path / "billing-api")
    older(str(story.folder / MEMORANDA_FOLDER / DATABASE_FILE), 3)
    ours(story.folder / MEMORANDA_FOLDER / DATABASE_FILE)
    real = os.access
    monkeypatch.setattr(  # root may write whatever the modes say
        "store.database.connection.os.access",
        lambda path, how, **more: MEMORANDA_FOLDER not in os.fspath(path) and real(path, how, **more),
    )
    return story


async def test_every_pane_opens_and_says_what_it_holds(shut: Story):
    """And why nothing can be changed: at the start, and to whoever tries."""
    file = shut.folder / MEMORANDA_FOLDER / DATABASE_FILE
    before = file.read_bytes()
    async with opened(shut.folder, WIDE) as person:
        assert any("older Memoranda and may only be read" in toast for toast in person.toasts)
        keys = {key.action: key.keys for key in KEYS}
        for name in PANE_NAMES:
            await person.press(keys[f"pane('{name}')"])
            assert name in person.seen and (person.main.current_list == name or name == LIBRARIAN), person.lines
            assert not any("refused" in toast or "defect" in toast for toast in person.toasts), person.toasts
        assert person.sees("◇") is False, "nothing waits in the inbox"
        await person.press("1", "g", "f")
        assert any("may only be read. Look" in toast for toast in person.toasts), person.toasts
        await person.search("team")
        assert person.hits
        await person.press("escape")
        await person.command("sessions")
        assert not any("refused" in toast for toast in person.toasts)
    assert file.read_bytes() == before


async def test_a_memory_that_was_converted_is_told_of_once(tmp_path: Path):
    story = copy(tmp_path / "billing-api")
    older(str(story.folder / MEMORANDA_FOLDER / DATABASE_FILE), 3)
    ours(story.folder / MEMORANDA_FOLDER / DATABASE_FILE)
    for told in (1, 0):
        async with opened(story.folder, WIDE) as person:
            said = [toast for toast in person.toasts if "older Memoranda and was brought up to date" in toast]
            assert len(said) == told, person.toasts
