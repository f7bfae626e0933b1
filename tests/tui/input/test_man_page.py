"""The manual page: every command and option, without a warning of the programs that set it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from store.version import __version__
from tui.cli import run_command
from tui.input.completion import manual_page
from tui.input.verb_table import list_verbs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memoranda.1"
    path.write_text(manual_page("1.2.3"), encoding="utf-8")
    return path


def shown(command: list[str]) -> subprocess.CompletedProcess[str]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed here, so the page cannot be tried with it")
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)


@pytest.mark.parametrize(
    "command", [["mandoc", "-Tutf8"], ["groff", "-K", "utf8", "-T", "utf8", "-man", "-P-cbou"]], ids=["mandoc", "groff"]
)
def test_every_command_is_read_in_it(file: Path, command: list[str]) -> None:
    """As a person reads it, by the two programs that show manual pages: each command with what it does, each option."""
    done = shown([*command, str(file)])
    assert done.stderr == ""
    text = " ".join(re.sub(r".\x08", "", done.stdout).replace("‐\n", "").split()).replace("‐ ", "").replace("‑", "-")
    assert "memoranda 1.2.3" in text and "EXIT STATUS" in text
    squeezed = "".join(text.split())
    for verb in list_verbs():
        assert "".join(f"memoranda {verb.name}".split()) in squeezed
        for argument in verb.arguments:
            if argument.option:
                assert f"--{argument.name}" in squeezed, verb.name


@pytest.mark.parametrize(
    "command", [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-K", "utf8", "-man", "-ww", "-z"]]
)
def test_nothing_in_it_is_wrong(file: Path, command: list[str]) -> None:
    """The one thing that mandoc misses is a date, which a page made from a table has not."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed here, so the page cannot be tried with it")
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False, timeout=30)
    assert [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line] == []


def test_what_roff_would_read_is_escaped() -> None:
    """A dash stays one that can be copied, and no line of text begins as a request."""
    text = manual_page("1")
    assert not re.search(r"(?<!\\)-", text.replace(r"\-", ""))
    requests = (".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".BR", ".RI", ".I", ".br")
    assert {line.split()[0] for line in text.splitlines() if line.startswith(".")} <= set(requests)


@pytest.mark.parametrize("words", [["help", "man"], ["man"]])
def test_the_command_prints_it_as_it_is(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(words) == 0
    assert capsys.readouterr().out == manual_page(__version__)
