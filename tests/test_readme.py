"""README.md keeps up with the tables that the program is made of: its verbs, its keys."""

import os
import re
import shlex
from pathlib import Path

import pytest

from store.config import SETTINGS
from tui.arguments import Usage, read
from tui.commands.settings import as_text
from tui.keys import KEYS, LIST_KEYS
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


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_is_documented(verb):
    """By its name in backticks, alone or with its arguments behind it."""
    assert any(
        re.match(rf"(?:memoranda )?{re.escape(verb.name)}(?![\w-])", span) for span in spans(section("Commands"))
    )


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_every_key_is_documented(key):
    """By a row of the table that shows the key as the footer does, and says what its help says."""
    rows = [line for line in section("Keys").splitlines() if line.startswith("|")]
    mine = [row for row in rows if key.help in row]
    assert mine, f"no row says: {key.help}"
    assert any(f"`{key.shown}`" in row for row in mine), f"`{key.shown}` is not in the row that says: {key.help}"


def test_no_key_is_documented_that_is_none():
    """The other direction: a row of a key that was taken away, or whose help has changed, is noticed."""
    rows = [line for line in section("Keys").splitlines() if line.startswith("|")][2:]
    helps = [*(key.help for key in KEYS), *(text for _, text in LIST_KEYS)]
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert any(text in row for text in helps), f"no key has this help: {row}"
        assert cells[0], row


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
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert os.path.exists(README.parent / target), f"README.md links to {target}"
