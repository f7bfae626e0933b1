"""A text that is piped in: `-` stands for standard input, and is never itself taken for the text."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from support.ours import memory_path

from store.base.errors import InvalidInput
from store.memory import Memory
from tui import cli
from tui.commands.call import Call
from tui.input.arguments import parse_arguments
from tui.input.verb_table import verb_named

COMMAND = Path(sys.executable).with_name("memoranda")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def piped(words: list[str], said: bytes) -> str:
    done = subprocess.run([COMMAND, *words], input=said, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def texts(project: Path) -> list[str]:
    with Memory.open(str(memory_path(project))) as memory:
        return [fact.fact for fact in memory.facts.get_many(memory.facts.ids(memory.now, sort="newest"))]


def test_what_is_piped_in_is_remembered_whole(project: Path) -> None:
    piped(["init"], b"")
    assert (
        piped(["remember", "-"], 'Él dijo: "nunca\ta las 5" 🚀\n- y otra línea\n'.encode())
        == "Remembered F#1 in project.\n"
    )
    assert texts(project) == ['Él dijo: "nunca\ta las 5" 🚀\n- y otra línea']
    assert piped(["correct", "1", "-"], b"At six\r\n") == "F#2 replaces F#1. In project.\n"
    assert piped(["task", "add", "-"], b"Renew the certificate\n") == "Added A#1 in project.\n"
    assert piped(["remember", "-"], b"one\0two \xff three") == "Remembered F#3 in project.\n"
    assert texts(project) == ["one�two � three", "At six"]
    assert "Renew the certificate" in piped(["tasks"], b"")


@pytest.mark.parametrize(
    "words", [("remember", "-"), ("correct", "1", "-"), ("task", "add", "-"), ("verify-forgotten", "-")]
)
def test_an_empty_pipe_or_a_keyboard_is_refused_and_nothing_is_stored(
    project: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command(("init",)) == 0 and cli.run_command(("remember", "the team is five")) == 0
    for keyboard in (False, True):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda keyboard=keyboard: keyboard)
        monkeypatch.setattr("sys.stdin", stream)
        assert cli.run_command(words) == 2
        assert ("| memoranda" in capsys.readouterr().err) or not keyboard
    assert texts(project) == ["the team is five"]


def test_there_is_no_standard_input_in_the_application(memory: Memory) -> None:
    """Its keyboard belongs to the screen; reading from it would hold everything up."""
    memory.database.door = "app"
    call = Call(memory.location, memory, "", lambda question: False)
    for line in ("remember -", "correct 1 -", "correct P#1 -", "task add -"):
        name, *words = line.split()
        with pytest.raises(InvalidInput, match="no standard input here"):
            call.run(verb_named(name), parse_arguments(name, verb_named(name).arguments, words))
