"""The help: every key and command with what it does."""

import pytest
from support.screen import Person
from textual.command import CommandPalette

from tui.screens.base import HelpRows, HelpScreen, help_entries
from tui.widgets.record_list import RecordList


async def test_help_finds_and_names_keys_as_they_are_typed(person: Person) -> None:
    """Of screens that are no panes too."""
    # Whoever looks for a word there begins with it; enter on the first row would forget the fact.
    await person.press("question_mark", "slash")
    await person.until(lambda: isinstance(person.app.screen, CommandPalette))
    await person.start_again()
    # a key is named as it is typed
    await person.press("question_mark")
    found = person.app.screen.query_one(RecordList)
    assert found.select("key:record.tag")
    await person.settle()
    assert person.sees("All its keys: #")
    await person.start_again()
    # a screen that is no pane lists its keys and does the one that is chosen
    await person.command("config")
    shown = person.app.screen
    await person.press("question_mark")
    assert isinstance(person.app.screen, HelpScreen)
    assert person.sees("Keys of this screen", "Undo the last change made here", "Keys of every list")
    assert not person.sees("finds by other words") and not person.sees("Commands, after :")
    assert person.app.screen.query_one(RecordList).select("here:find")
    await person.settle()
    assert person.sees("/  Find settings by words")
    await person.press("enter")
    assert person.app.screen is shown and person.sees("to these")


def test_a_long_name_and_its_description_stand_apart() -> None:
    rows = HelpRows(help_entries({}))
    first = ["".join(text for text, _ in rows.lines(index, 100)[0]) for index in range(len(rows))]
    assert next(line for line in first if line.startswith("  checkpoint ")).startswith("  checkpoint  ")
    for index, line in enumerate(first):
        key = str(rows.key(index))
        if key.startswith("verb:"):
            assert line.startswith(f"  {key.removeprefix('verb:')} "), line


@pytest.mark.parametrize("line", ["health --plot -", "health --check", "agents", "files", "purge 1", "plan"])
async def test_the_question_mark_is_help_everywhere(line: str, person: Person) -> None:
    if line == "plan":
        await person.press("3", "R")
    else:
        await person.command(line)
    await person.until(lambda: person.app.screen is not person.main)
    shown = person.app.screen
    await person.press("question_mark")
    assert isinstance(person.app.screen, HelpScreen) and person.sees("Keys of this screen", "esc")
    await person.press("question_mark")
    assert person.app.screen is shown
