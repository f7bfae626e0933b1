"""Messages stand in the bottom line, never over a record, until the next key; all of them are kept."""

import re

import pytest
from support.screen import HUGE, NARROW, WIDE, Person


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_a_message_takes_the_line_of_the_keys_until_a_key_or_a_click(person: Person) -> None:
    keys = person.lines[-1]
    await person.press("y")
    assert person.lines[-1].startswith(" Confirmed F#"), "at the left of the bottom line"
    assert "forget" not in person.lines[-1], "instead of the keys"
    assert not any("Confirmed F#" in line for line in person.lines[:-1])
    await person.press("j")
    assert person.lines[-1] == keys and not person.toasts
    await person.press("y")
    await person.pilot.click("#preview")
    await person.settle()
    assert not person.toasts
    await person.press("escape", "y", "p", "j")
    await person.command("messages")
    said = [line.split()[0] for line in person.preview if line.startswith("  ")]
    assert said[:4] == ["Pinned", "Confirmed", "Confirmed", "Confirmed"], "the newest first"


async def test_a_form_stays_visible_below_a_message(person: Person) -> None:
    await person.press("#")
    person.main.say("Something happened beside it.")
    await person.settle()
    assert person.sees("Tag F#2", "enter does it", " Something happened beside it.")


async def test_index_says_in_one_sentence_what_agrees_and_what_waits(person: Person) -> None:
    await person.command("health --index")
    said = r"The index agrees with the records: \d+ records\. \d+ texts wait to be embedded\."
    assert re.fullmatch(said, person.toasts[-1])
