"""The line to type in: ctrl+z undoes what was typed."""

from pathlib import Path

import pytest
from support.screen import opened, utc
from support.stories import Story, copy
from textual.widgets import Input

from tui.widgets.bars import Field

__all__ = ["utc"]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return copy(tmp_path / "billing-api")


@pytest.mark.parametrize("keys", [["slash"], ["colon"], ["A"]], ids=["search", "command", "question"])
async def test_ctrl_z_undoes_what_was_typed(story: Story, keys: list[str]) -> None:
    async with opened(story.folder) as person:
        await person.pilot.press(*keys)
        await person.until(lambda: isinstance(person.app.focused, Field))
        line = person.app.focused
        assert isinstance(line, Input)
        await person.pilot.press(*"one", "space", *"two", "backspace", "backspace")
        values = [line.value]
        for _ in range(5):
            await person.pilot.press("ctrl+z")
            values.append(line.value)
        assert values == ["one t", "one two", "one ", "one", "", ""]


async def test_a_new_question_begins_without_the_edits_of_the_last(story: Story) -> None:
    async with opened(story.folder) as person:
        await person.press("colon", *"facts", "escape", "b", "ctrl+z")
        line = person.app.focused
        assert isinstance(line, Field) and line.value == ""
        await person.press(*"lunch", "ctrl+u", "ctrl+z")
        assert line.value == "lunch" and line.cursor_position == 5
