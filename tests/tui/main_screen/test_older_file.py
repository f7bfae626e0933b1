"""The application on a file of an older version that may only be read."""

import os
from pathlib import Path

import pytest
from support.older import older
from support.ours import ours
from support.screen import opened
from support.stories import Story, copy

from tui.input.key_table import PANE_KEYS, VIEW_NAMES


@pytest.fixture
def old(tmp_path: Path) -> Story:
    """The story as schema 3 held it."""
    story = copy(tmp_path / "billing-api")
    older(str(story.path), 3)
    ours(story.path)
    return story


async def test_every_place_opens_and_says_why_nothing_can_be_changed(old: Story, monkeypatch: pytest.MonkeyPatch):
    """At the start, and to whoever tries; nothing of the file is written."""
    real = os.access
    monkeypatch.setattr(  # root may write whatever the modes say
        "store.database.connection.os.access",
        lambda path, how, **more: ".memoranda" not in os.fspath(path) and real(path, how, **more),
    )
    before = old.path.read_bytes()
    async with opened(old.folder) as person:
        assert any("older Memoranda and may only be read" in toast for toast in person.toasts)
        for name in ("timeline", *PANE_KEYS, *VIEW_NAMES):
            if name in PANE_KEYS:
                await person.press(PANE_KEYS[name])
            else:
                await person.command(name)
            assert person.place == name, person.lines
            assert person.rows or name in ("today", "agents", "team"), person.lines
            assert not any("refused" in toast or "defect" in toast for toast in person.toasts), person.toasts
        assert not person.sees("◇"), "nothing waits"
        await person.press("2", "g", "f")
        assert any("may only be read. Look" in toast for toast in person.toasts), person.toasts
        await person.search("team")
        assert person.hits
        await person.press("escape")
        await person.command("list sessions")
        assert not any("refused" in toast for toast in person.toasts)
    assert old.path.read_bytes() == before


async def test_a_memory_that_was_converted_is_told_of_once(old: Story):
    for told in (1, 0):
        async with opened(old.folder) as person:
            said = [toast for toast in person.toasts if "older Memoranda and was brought up to date" in toast]
            assert len(said) == told, person.toasts
