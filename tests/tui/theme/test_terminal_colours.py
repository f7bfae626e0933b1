"""What reaches a real terminal: no colour under NO_COLOR, its own sixteen where it has no more, one theme a start."""

import os
import re
import sys
from pathlib import Path

import pytest
from support.stories import Story
from support.terminals import sees

import tui
from bench.terminal import Terminal
from store.config.configuration import user_settings_path

COMMAND = [sys.executable, "-P", "-m", "tui.main"]
ENVIRONMENT = {"PYTHONPATH": str(Path(tui.__file__).parent.parent), "TZ": "UTC", "COLUMNS": "", "LINES": ""}
PLAIN = {0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29}  # bold, dim, underlined, reversed and their ends
SIXTEEN = PLAIN | {*range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108), 39, 49}


def codes(output: bytes) -> set[int]:
    """Every number of every SGR sequence."""
    return {int(number or 0) for found in re.findall(rb"\x1b\[([0-9;]*)m", output) for number in found.split(b";")}


def used(story: Story, environment: dict[str, str]) -> bytes:
    """All that the app writes while it is walked through."""
    given = {"COLORTERM": "", **ENVIRONMENT, **environment}
    with Terminal([*COMMAND, "--db", str(story.path)], given, (120, 40)) as terminal:
        sees(terminal, "All 10")
        for keys, text in (
            (" f", "Forgot"), ("3\r", "┃"), ("5", "All 32"), ("?", "HELP"), ("q", "All 32"),
            ("\x10", "Do, go, or type a command"),
        ):  # fmt: skip
            terminal.write(keys)
            sees(terminal, text)
        return bytes(terminal.output)


def test_no_colour_reaches_a_terminal_under_no_color(story: Story) -> None:
    assert codes(used(story, {"NO_COLOR": "1"})) <= PLAIN


@pytest.mark.sampled(2)
@pytest.mark.parametrize("environment", [{"TERM": "xterm-16color"}, {"TEXTUAL_COLOR_SYSTEM": "standard"}])
def test_a_terminal_of_sixteen_colours_gets_these_alone(story: Story, environment: dict[str, str]) -> None:
    found = codes(used(story, environment))
    assert found <= SIXTEEN and found & set(range(30, 38))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
def test_an_ansi_theme_writes_no_mixed_colour(story: Story, theme: str) -> None:
    configured(theme)
    assert codes(used(story, {"COLORTERM": "truecolor"})) <= SIXTEEN


def configured(theme: str) -> None:
    target = Path(user_settings_path())
    os.makedirs(target.parent, exist_ok=True)
    target.write_text(f"theme = '{theme}'\n")


def grounds(story: Story) -> set[bytes]:
    """The grounds that a start paints."""
    environment = ENVIRONMENT | {"COLORTERM": "truecolor"}
    with Terminal([*COMMAND, "--db", str(story.path)], environment, (120, 40)) as terminal:
        sees(terminal, "All 10")
        return set(re.findall(rb"48;2;\d+;\d+;\d+", terminal.output))


def test_a_start_paints_no_other_theme_first(story: Story) -> None:
    dark, kept = b"48;2;18;18;18", b"48;2;46;52;64"
    assert dark in grounds(story)
    configured("nord")
    found = grounds(story)
    assert dark not in found and kept in found
