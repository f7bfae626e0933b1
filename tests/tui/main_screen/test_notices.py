"""Messages stand in the bottom line, never over a record, until the next key; all of them are kept."""

import re

import pytest
from support.screen import HUGE, NARROW, WIDE, Person


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_a_message_takes_the_line_of_the_keys_and_no_other(person: Person) -> None:
    await person.press("y")
    assert person.lines[-1].startswith(" Confirmed F#"), "at the left of the bottom line"
    assert "forget" not in person.lines[-1], "instead of the keys"
    assert not any("Confirmed F#" in line for line in person.lines[:-1])


async def test_a_key_or_a_click_brings_the_keys_back(person: Person) -> None:
    """Once a message could be read; a question stays."""
    # the next key brings the keys back
    keys = person.lines[-1]
    await person.press("y", "j")
    assert person.lines[-1] == keys
    assert not person.toasts
    await person.start_again()
    # a click brings the keys back
    await person.press("y")
    await person.pilot.click("#preview")
    await person.settle()
    assert not person.toasts
    await person.start_again()
    # a key typed before a warning could be read leaves it
    await person.press("R", "j")
    assert person.lines[-1].startswith(" R goes back to a checkpoint")
    await person.start_again()
    # a question stays visible below a message
    person.main.say("Something happened beside it.")
    await person.press("#")
    person.main.say("Something happened beside it.")
    await person.settle()
    assert person.lines[-2].startswith(" tag F#"), "what is asked"
    assert "enter" in person.lines[-1], "and which key answers"
    assert person.lines[-3].startswith(" Something happened")


@pytest.mark.parametrize("way", ["key", "command"])
async def test_what_was_said_can_be_read_again(way: str, person: Person) -> None:
    await person.press("y", "p", "j")
    if way == "key":
        await person.press("ctrl+g")
    else:
        await person.command("messages")
    said = [line.strip() for line in person.preview if line.startswith("  ")]
    assert [line.split()[0] for line in said[:2]] == ["Pinned", "Confirmed"], "the newest first"


async def test_index_says_in_one_sentence_what_agrees_and_what_waits(person: Person) -> None:
    await person.command("index")
    assert re.fullmatch(
        r"The index agrees with the records: \d+ records\. \d+ texts wait to be embedded\.", person.toasts[-1]
    )
