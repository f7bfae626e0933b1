"""The line to type in: ctrl+z undoes what was typed."""

import pytest
from support.screen import Person
from textual.widgets import Input

from tui.widgets.bars import Field


@pytest.mark.parametrize("keys", [["slash"], ["colon"], ["A"]], ids=["search", "command", "question"])
async def test_ctrl_z_undoes_what_was_typed(keys: list[str], person: Person) -> None:
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


async def test_a_new_question_begins_without_the_edits_of_the_last(person: Person) -> None:
    await person.press("colon", *"facts", "escape", "b", "ctrl+z")
    line = person.app.focused
    assert isinstance(line, Field) and line.value == ""
    await person.press(*"lunch", "ctrl+u", "ctrl+z")
    assert line.value == "lunch" and line.cursor_position == 5
