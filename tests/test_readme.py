"""README.md keeps up with the tables that the program is made of: its verbs, its keys."""

import os
import re
import shlex
from pathlib import Path

import pytest

from store.config import SETTINGS
from tui.arguments import Usage, read
from tui.commands.settings import as_text
from tui.keys import KEYS, MOVES, PLAN_KEYS
from tui.verbs import BY_NAME, VERBS

README = Path(__file__).parents[1] / "README.md"


def section(title: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"README.md has no section `## {title}`"
    return found[1]


def spans(text: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def table(title: str) -> list[str]:
    """The rows of a section's tables, without their heads."""
    lines = section(title).splitlines()
    return [line for at, line in enumerate(lines) if line.startswith("| `") and at > 1]


def test_the_verbs_are_the_programs():
    """Row by row: name and summary, in the order of the table that the command line, the `:` bar and help read."""
    assert table("Commands") == [f"| `{verb.name}` | {verb.summary} |" for verb in VERBS]


def test_the_keys_are_the_programs():
    """Row by row: the key as the footer shows it, and what its help says; so a key that comes, goes or changes without
    the README is noticed."""
    assert table("Keys") == [f"| `{key.shown()}` | {key.help} |" for key in (*MOVES, *KEYS, *PLAN_KEYS)]


def test_the_settings_are_the_programs():
    """The table is the table, row by row: name, what it is where nobody set it, and what it means."""
    rows = [line for line in section("Configuration").splitlines() if line.startswith("| `")]
    expected = [f"| `{setting.name}` | `{as_text(setting.default)}` | {setting.meaning} |" for setting in SETTINGS]
    assert rows == expected


def test_every_command_it_shows_exists():
    """Each `memoranda …` line of a block, and each in backticks, names a verb and arguments that it takes."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:console|sh|bash)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    shown = [match[1] for line in lines if (match := re.match(r"\$ (?:\S*/)?memoranda(?: +(.*))?$", line))]
    for command in filter(None, shown):
        words = shlex.split(command, comments=True)
        words = words[: min([len(words), *(words.index(sign) for sign in ("|", ">", "&&") if sign in words)])]
        while words and words[0] in ("--db", "--json"):
            words = words[2 if words[0] == "--db" else 1 :]
        if not words or words[0] in ("--help", "--version"):
            continue
        assert words[0] in BY_NAME, f"README.md shows a verb that there is not: {command}"
        rest = [word for word in words[1:] if word not in ("--json", "--help")]
        try:
            read(words[0], BY_NAME[words[0]].arguments, rest)
        except Usage as error:
            pytest.fail(f"README.md shows `memoranda {command}`, which is refused: {error}")


def test_every_file_it_shows_is_there():
    """Pictures and links to files of the repository."""
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"(?:\]\(|src(?:set)?=\")([^)#\s\"]+)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert os.path.exists(README.parent / target), f"README.md links to {target}"
