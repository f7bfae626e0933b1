"""What a library writes to standard error is not drawn over the application."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import tui
from tui.app import own_terminal

ROOT = str(Path(tui.__file__).parent.parent)
PROGRAM = """
import os, subprocess, sys
from tui.desktop import editor_process
from tui.app import own_terminal

with own_terminal():
    os.write(2, b"a warning of a library\\n")
    print("what Textual draws", file=sys.__stderr__, flush=True)
    print("what Python writes", file=sys.stderr, flush=True)
    editor_process.run_editor(["sh", "-c", "echo what the editor says >&2"], lambda: None)
os.write(2, b"and afterwards all\\n")
print("by every way", file=sys.stderr, flush=True)
"""


def said(terminal: bool) -> str:
    """Run the program with a terminal, or a pipe, as its standard error; return what came out of it."""
    reading, writing = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=writing, env={**os.environ, "PYTHONPATH": ROOT})
    os.close(writing)
    text = b""
    try:
        while part := os.read(reading, 4_096):
            text += part
    except OSError:  # a terminal whose other end is closed
        pass
    os.close(reading)
    assert process.wait(30) == 0
    return text.decode()


def test_only_the_application_draws_on_the_terminal() -> None:
    lines = said(terminal=True).split("\r\n")
    drawn = "what Textual draws|what Python writes|what the editor says|and afterwards all|by every way|"
    assert lines == drawn.split("|")


def test_what_goes_into_a_file_is_left_alone() -> None:
    assert said(terminal=False).startswith("a warning of a library\n")


def test_where_the_terminal_is_gone_it_ends_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = pty.openpty()
    with os.fdopen(writing, "w") as before:
        monkeypatch.setattr(sys, "__stderr__", before)
        with own_terminal():
            drawn = sys.__stderr__
            assert drawn is not None and drawn is not before
            drawn.write("what Textual draws")
            os.close(reading)
        assert sys.__stderr__ is before and drawn.closed
