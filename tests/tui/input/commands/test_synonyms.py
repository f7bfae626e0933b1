"""Words for verbs that are none of their own, and what is offered for a mistyped one."""

import pytest
from support.commands import Do
from support.screen import Person
from textual.command import CommandPalette
from textual.widgets import OptionList
from tui.screens.menus import palette_entries
from tui.screens.settings import SettingsScreen

from tui.input.key_table import KEYS_BY_ID
from tui.input.verb_table import MODULES, other_words, suggest_verb


def test_a_synonym_is_of_one_verb() -> None:
    assert set(other_words("verbs")) <= set(MODULES)
    words = [word for words in other_words("verbs").values() for word in words]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("typed", "verb"),
    [
        ("forgt", "forget"),
        ("delete", "forget"),
        ("REMOVE", "forget"),
        ("hide", "forget"),
        ("amend", "correct"),
        ("fix", "correct"),
        ("change", "correct"),
        ("revert", "undo"),
        ("back", "undo"),
        ("snapshot", "checkpoint"),
        ("erase", "purge"),
        ("chat", "list"),
        ("delte", "forget"),
        ("serach", "search"),
        ("sycn", "sync"),
        ("sahre", "team share"),
        ("deshacer", "undo"),
        ("borrar", "forget"),
        ("frobnicate", None),
        ("exit", None),
        ("memory", None),
        ("memoranda", None),
        ("memorandum", None),
        ("wifi", None),
        ("", None),
    ],
)
def test_what_a_word_means(typed: str, verb: str | None) -> None:
    assert typed not in MODULES, "it would never be asked"
    assert suggest_verb(typed) == verb


def test_the_command_line_offers_the_verb(do: Do) -> None:
    said = do("delete", "3")
    assert said.status == 2 and "There is no command “delete”." in said.err
    assert "Did you mean `memoranda forget`?" in said.err


def test_a_slash_command_is_one_in_the_shell_too(do: Do) -> None:
    assert do("memory", "add", "the team is five").status == do("/memory", "forget", "1").status == 0
    assert "memoranda forget [ID…]" in do("memory", "forget", "--help").out
    assert do("memory", "list", "--json").data == []


async def palette(person: Person) -> OptionList:
    """Open the palette; return its list once it is whole."""
    await person.pilot.press("ctrl+p")
    await person.until(lambda: isinstance(person.app.screen, CommandPalette))
    found = person.app.screen.query_one(OptionList)
    await person.until(lambda: found.option_count == len(palette_entries({})))
    return found


async def test_the_bar_asks_whether_the_verb_is_meant(person: Person) -> None:
    facts = len(person.rows)
    await person.command("forgt F#1")
    assert person.sees("There is no command “forgt”. Run “forget F#1”?")
    await person.press("n")
    assert len(person.rows) == facts
    await person.command("/delete F#1")
    assert person.sees("Run “forget F#1”?")
    await person.press("y")
    assert person.toasts[-1].startswith("Forgot")


@pytest.mark.parametrize("line", ["memoranda health", "/memoranda health", "/memory stats", "Memoranda memory stats"])
async def test_the_bar_takes_a_line_as_it_is_typed_in_a_shell(line: str, person: Person) -> None:
    await person.command(line)
    assert person.at == "health"


async def test_the_bar_offers_no_command_for_the_programs_own_name(person: Person) -> None:
    for line in ("memoranda", "/memory", "memory"):
        await person.command(line)
        assert "There is no command" in person.toasts[-1] and not person.sees("Run “")


def test_the_palettes_other_words_are_of_keys_that_there_are() -> None:
    assert set(other_words("keys")) <= set(KEYS_BY_ID)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        *(("delete", "forget"), ("jump", "to day"), ("yesterday", "as of"), ("log", "list")),
        *(("exit", "app quit"), ("dark mode", "theme choose"), ("deshacer", "undo"), ("salir", "app quit")),
    ],
)
async def test_the_palette_finds_a_command_by_its_synonyms(words: str, name: str, person: Person) -> None:
    found = await palette(person)
    await person.pilot.press(*("space" if letter == " " else letter for letter in words))
    await person.until(lambda: 0 < found.option_count < len(palette_entries({})) / 2 and found.highlighted == 0)
    first = [str(found.get_option_at_index(number).prompt) for number in range(min(2, found.option_count))]
    assert any(name in text for text in first), first


async def test_the_palette_finds_nothing_for_letters_that_are_only_spread_over_a_sentence(person: Person) -> None:
    found = await palette(person)
    await person.pilot.press(*"wifi")
    await person.until(lambda: found.option_count == 1)
    assert "No matches" in str(found.get_option_at_index(0).prompt)


async def test_the_palette_opens_the_screens_that_are_no_panes(person: Person) -> None:
    found = await palette(person)
    await person.pilot.press(*"settings")
    await person.until(lambda: 0 < found.option_count < len(palette_entries({})) / 2 and found.highlighted == 0)
    assert str(found.get_option_at_index(0).prompt).startswith("Settings  0 s")
    await person.pilot.press("enter")
    await person.until(lambda: isinstance(person.app.screen, SettingsScreen))
