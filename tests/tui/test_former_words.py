"""The words that commands had before: each is rewritten to what it is now, and runs."""

import sys

import pytest

from tui.cli import run_command
from tui.input.verb_table import FORMER_WORDS, MODULES, find_verb, former_words


@pytest.mark.parametrize("former", FORMER_WORDS)
def test_a_former_word_is_rewritten(former: str) -> None:
    """It finds the verb that its row names, with the words of the row first."""
    found = find_verb([*former.split(), "--", "one", "two"])
    assert found is not None and found[0].name == FORMER_WORDS[former].split()[0]
    assert former not in MODULES


@pytest.mark.parametrize(
    ("typed", "former"),
    [
        ("accept 8", "accept"),
        ("/accept 8", "accept"),
        ("memoranda accept", "accept"),
        ("memory list", ""),
        ("list", ""),
    ],
)
def test_only_what_was_a_command_is_a_former_word(typed: str, former: str) -> None:
    assert former_words(typed.split()) == former


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(("line", "today"), [("tasks", "list tasks"), ("as-of --all now", "list --at …")])
def test_the_new_word_is_named_at_a_terminal(
    memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, line: str, today: str
) -> None:
    """A script that reads standard error is not disturbed."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert run_command([*line.split(), "--db", memory.location.path]) == 0
    said = f"`memoranda {line.split()[0]}` is `memoranda {today}` now.\n"
    assert capsys.readouterr().err == (said if terminal else "")
