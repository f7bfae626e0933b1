"""Plain letters for our glyphs, in the app and on the command line, by wish or where there is nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from support.commands import Do
from support.screen import opened
from support.stories import Story
from textual.color import Color

import tui
from store.config.configuration import user_settings_path
from store.text.display import visible
from tui.theme.glyphs import ascii_table, is_ascii_locale, lacks_glyphs, replace_glyphs

ROOT = Path(tui.__file__).parent.parent


def wish(text: str = "badges = 'ascii'\n") -> None:
    target = Path(user_settings_path())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def without_letter(text: str) -> set[str]:
    """The glyphs of a text that have no letter of their own; they would become question marks."""
    return {char for char in text if not char.isascii() and not char.isalpha() and ord(char) not in ascii_table()}


def test_the_marks_of_what_is_hidden_have_letters_too() -> None:
    assert visible("\x1b\x7f\u202e\n").translate(ascii_table()).isascii()


def test_a_letter_is_as_wide_as_its_glyph() -> None:
    for code, letter in ascii_table().items():
        assert letter.isascii() and len(letter) == cell_len(chr(code)), f"{chr(code)} as {letter}"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_in_the_app_only_the_records_own_letters_are_left(story: Story, size: tuple[int, int]) -> None:
    wish()
    async with opened(story.folder, size) as person:
        for keys in (
            ("space", "f"), ("2", "enter"), ("3",), ("4", "enter"), ("5",), ("escape", "question_mark"),
            ("escape", "ctrl+p"), ("escape", "slash", "m", "a", "i"), ("escape", "c"), ("escape", "D", "enter"),
        ):  # fmt: skip
            await person.press(*keys)
            assert without_letter("".join(person.lines)) == set()
            text = ""
            for strip in person.strips:
                for line_filter in person.app.get_line_filters():
                    strip = strip.apply_filter(line_filter, Color(0, 0, 0))
                assert strip.cell_length == size[0]
                text += strip.text
            assert not [char for char in text if not char.isascii() and not char.isalpha()]


VERBS = (
    "facts --all", "timeline", "show D#1", "history", "history --changes", "checkpoints", "restore 1 --dry-run",
    "--help", "restore --help", "tasks", "config", "show F#999",
)  # fmt: skip


@pytest.mark.parametrize("line", VERBS)
def test_on_the_command_line_too(story: Story, do: Do, line: str) -> None:
    with story.open() as memory:
        memory.checkpoints.take_checkpoint("here")
        memory.facts.forget([1])
    before = "".join(do(*line.split(), "--db", story.path)[1:])
    assert without_letter(before) == set()
    wish()
    after = "".join(do(*line.split(), "--db", story.path)[1:])
    assert not [char for char in after if not char.isascii() and not char.isalpha()]
    assert after.count("\n") >= before.count("\n") > 0


def test_letters_of_records_and_for_scripts_stay(story: Story, do: Do) -> None:
    wish()
    assert "Alérgica al maní" in do("facts", "--db", story.path).out
    with story.open() as memory:
        memory.facts.remember("an arrow → and “quotes”")
    assert "an arrow → and “quotes”" in do("facts", "--json", "--db", story.path).out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("given", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX"}])
def test_where_glyphs_cannot_be_written_there_are_letters(story: Story, given: dict[str, str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **given}
    command = [sys.executable, "-P", "-m", "tui.main", "--db", str(story.path)]
    run = subprocess.run([*command, "facts"], env=environment, capture_output=True, check=True)
    text = run.stdout.decode("utf-8")
    assert "* " in text or "! " in text
    assert not [char for char in text if not char.isascii() and not char.isalpha()]
    data = subprocess.run([*command, "facts", "--json"], env=environment, capture_output=True, check=True)
    assert "maní" in data.stdout.decode("utf-8")


def test_what_has_no_letter_is_a_question_mark_of_its_width() -> None:
    assert replace_glyphs(UnicodeEncodeError("ascii", "a●é漢", 1, 4, "no")) == ("*???", 4)
    assert replace_glyphs(UnicodeEncodeError("ascii", "a漢é", 1, 2, "no")) == ("??", 2), "as wide as it was"


def test_which_locales_are_plain() -> None:
    assert is_ascii_locale({"LC_ALL": "C"}) and is_ascii_locale({"LANG": "POSIX"})
    assert not is_ascii_locale({}) and not is_ascii_locale({"LC_ALL": "C.UTF-8", "LANG": "C"})
    assert lacks_glyphs({"LC_CTYPE": "C"})
