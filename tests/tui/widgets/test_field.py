"""The line to type in: ctrl+z undoes what was typed."""

from support.screen import Person

from tui.widgets.bars import Field


async def test_ctrl_z_undoes_what_was_typed(person: Person) -> None:
    """In the find line, the box and a form; each begins without the edits of the last."""
    for key in ("slash", "colon", "a"):
        await person.pilot.press(key)
        await person.until(lambda: isinstance(person.app.focused, Field))
        line = person.app.focused
        assert isinstance(line, Field)
        await person.pilot.press("ctrl+z", *"one", "space", *"two", "backspace", "backspace")
        values = [line.value]
        for _ in range(5):
            await person.pilot.press("ctrl+z")
            values.append(line.value)
        assert values == ["one t", "one two", "one ", "one", "", ""], key
        await person.press(*"lunch", "ctrl+u", "ctrl+z")
        assert line.value == "lunch" and line.cursor_position == 5
        await person.press("escape", "escape")
