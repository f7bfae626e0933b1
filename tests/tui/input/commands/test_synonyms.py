"""Words for verbs and keys that are none of their own, and what is offered for a mistyped one."""

import pytest
from support.commands import Do
from support.screen import Person
from support.tables import each

from tui.input.key_table import KEYS
from tui.input.verb_table import MODULES, other_words, suggest_verb
from tui.screens.dialogs import Chooser, Form


def test_a_synonym_is_of_one_verb_that_there_is() -> None:
    words = [word for words in other_words("verbs").values() for word in words]
    assert set(other_words("verbs")) <= set(MODULES) and len(words) == len(set(words))
    assert {key.verb for key in KEYS} <= {*MODULES, ""}


MEANT = {
    "forget": "forgt delete REMOVE hide delte borrar",
    "correct": "amend fix change",
    "undo": "revert back deshacer",
    "checkpoint": "snapshot",
    "purge": "erase",
    "list": "chat",
    "search": "serach",
    "sync": "sycn",
    "team share": "sahre",
    None: "frobnicate exit memory memoranda memorandum wifi",
}


@each("verb, words", MEANT.items())
def test_what_a_word_means(verb: str | None, words: str) -> None:
    for typed in (*words.split(), *([""] if verb is None else ())):
        assert typed not in MODULES, "it would never be asked"
        assert suggest_verb(typed) == verb, typed


def test_the_command_line_offers_the_verb_and_takes_a_slash(do: Do) -> None:
    said = do("delete", "3")
    assert said.status == 2 and "There is no command “delete”." in said.err
    assert "Did you mean `memoranda forget`?" in said.err
    assert do("memory", "add", "the team is five").status == do("/memory", "forget", "1").status == 0
    assert "memoranda forget [ID…]" in do("memory", "forget", "--help").out
    assert do("memory", "list", "--json").data == []


async def test_the_box_takes_a_line_as_in_a_shell_and_asks_whether_a_verb_is_meant(person: Person) -> None:
    for line in ("memoranda health", "/memoranda health", "/memory stats", "Memoranda memory stats"):
        await person.start_again()
        await person.command(line)
        assert person.place == "health", line
    for line in ("memoranda", "/memory", "memory"):
        person.main.run_line(line)
        await person.settle()
        assert "There is no command" in person.toasts[-1] and not person.sees("Run “"), line
    for line, key, said in (("forgt F#1", "escape", ""), ("/delete F#1", "enter", "Forgot F#1, u to undo")):
        await person.start_again()
        await person.command(line)
        assert isinstance(person.app.screen, Form) and person.sees("Run “forget F#1”?")
        await person.press(key)
        assert "".join(person.toasts) == said and len(person.rows) == 10 - bool(said)


@pytest.mark.parametrize("language", ["en", "es"])
async def test_the_box_finds_what_its_words_mean(language: str, person: Person) -> None:
    """Keys, commands and settings; of letters that are only spread over a sentence nothing."""
    english = {
        "delete": "forget it", "jump": "To a day", "yesterday": "as it was at a moment", "log": "list", "exit": "Quit",
        "dark mode": "Choose the theme", "agents": "Agents: ", "wifi": "run “wifi”", "ollama": "The model that",
    }  # fmt: skip
    spanish = {"deshacer": "Undo", "salir": "Quit", "tema": "Choose the theme", "arreglar": "In other words"}
    await person.press("colon")
    for words, meant in (english if language == "en" else spanish).items():
        await person.press("ctrl+u")
        await person.paste(words)
        box = person.app.screen
        assert isinstance(box, Chooser)
        assert any(meant in offer.text + offer.note for offer in box._offers[:3]), (words, box._offers[:3])
