"""Copying: what reaches the terminal and the programs of a desktop, and what the toast says of it.

The programs are real scripts on a PATH of their own; the terminal is a real one.
"""

import base64
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.terminals import ended

import tui
from bench.terminal import Terminal
from tui.desktop import programs as clipboard
from tui.desktop.programs import CLIP_EXE, PBCOPY, TERMUX, WL_COPY, XCLIP, XSEL, clipboard_tools, pass_to_program

ROOT = str(Path(tui.__file__).parent.parent)
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program on the PATH, which is empty but for these; gives the file into which it writes what it took."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))

    def install(name: str, then: str = "exit 0") -> Path:
        took = tmp_path / f"{name}.took"
        path = programs / name
        path.write_text(f'#!/bin/sh\n/bin/cat > "{took}"; echo "$*" > "{took}.words"\n{then}\n')
        path.chmod(0o755)
        return took

    return install


X = {"DISPLAY": ":0"}
SSH = {"SSH_TTY": "/dev/pts/1"}


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", []),
        ({}, "darwin", [PBCOPY]),
        (SSH, "darwin", []),
        ({"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}, "darwin", []),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", [WL_COPY]),
        (X, "linux", [XCLIP, XSEL]),
        ({"WAYLAND_DISPLAY": "wayland-0", **X}, "linux", [WL_COPY, XCLIP, XSEL]),
        ({"DISPLAY": ""}, "linux", []),
        (SSH, "linux", []),
        ({**SSH, "DISPLAY": "localhost:10.0"}, "linux", [XCLIP, XSEL]),
        ({"WSL_DISTRO_NAME": "Ubuntu"}, "linux", [CLIP_EXE]),
        ({"WSL_DISTRO_NAME": "Ubuntu", **X}, "linux", [XCLIP, XSEL, CLIP_EXE]),
        ({"WSL_DISTRO_NAME": "Ubuntu", **SSH}, "linux", []),
        ({"TERMUX_VERSION": "0.118"}, "linux", [TERMUX]),
        ({"TERMUX_VERSION": "0.118", **SSH}, "linux", []),
    ],
)
def test_only_what_arrives_is_tried(environment: dict[str, str], platform: str, expected: list) -> None:
    """The best first; over SSH a forwarded display only, for the rest would fill the far machine's clipboard."""
    assert clipboard_tools(environment, platform) == expected


def test_a_program_takes_the_text_on_its_standard_input(install: Install) -> None:
    took = install("xclip")
    text = '$(touch x) `y` "ñ"\nsecond line'
    assert pass_to_program(text, [XCLIP, XSEL]) == "by the terminal (OSC 52) and xclip"
    assert took.read_text() == text
    assert Path(f"{took}.words").read_text() == "-selection clipboard\n"


def test_windows_gets_its_own_encoding(install: Install) -> None:
    took = install("clip.exe")
    assert pass_to_program("ñ 漢", [CLIP_EXE]).endswith(" and clip.exe")
    assert took.read_bytes().decode("utf-16-le") == "ñ 漢"


def test_what_fails_falls_back_to_the_next(install: Install) -> None:
    """One that refuses and one that is no program; the third is taken, and what it got is whole."""
    install("wl-copy", "exit 3")
    broken = install("xclip").parent / "bin" / "xclip"
    broken.write_bytes(b"\x7fELF no such thing")
    took = install("xsel")
    assert pass_to_program("x", [WL_COPY, XCLIP, XSEL]) == "by the terminal (OSC 52) and xsel"
    assert took.read_text() == "x"


def test_a_program_that_hangs_is_left(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "PROGRAM_SECONDS", 0.3)
    install("xclip", "exec /bin/sleep 30")
    start = time.monotonic()
    assert pass_to_program("x", [XCLIP]) == "by the terminal (OSC 52); xclip did not take it"
    assert time.monotonic() - start < 15


def test_one_that_stays_behind_to_serve_the_text_holds_nobody(install: Install) -> None:
    """As xclip does: its child keeps what it inherited open."""
    install("xclip", "/bin/sleep 20 & exit 0")
    start = time.monotonic()
    assert pass_to_program("x", [XCLIP]).endswith("xclip")
    assert time.monotonic() - start < 10


def test_where_nothing_is_installed_it_says_what_to_install(install: Install) -> None:
    said = "by the terminal (OSC 52); if nothing arrives, install"
    assert pass_to_program("x", [XCLIP, XSEL]) == f"{said} xclip"
    assert pass_to_program("x", [WL_COPY, XCLIP]) == f"{said} wl-clipboard"
    assert pass_to_program("x", []) == clipboard.BY_TERMINAL


APP = """
import asyncio, sys, time
from textual.app import App
from tui.desktop.programs import copy_to_clipboard as copy

class Copies(App):
    async def on_mount(self):
        ticks = 0
        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1
        ticking = asyncio.create_task(tick())
        said = await copy(self, sys.argv[1])
        ticking.cancel()
        self.exit(message=f"{said} ({'free' if ticks > 10 else 'blocked'})")

Copies().run()
"""


def test_in_a_real_terminal(install: Install) -> None:
    """OSC 52 with the visible form of the text, the same for the program, and the loop runs on meanwhile."""
    took = install("xclip", "/bin/sleep 0.5")
    hostile = "café \x1b]52;c;eA==\x07\u202edoc\nend\x9b31m"
    environment = {"PYTHONPATH": ROOT, "DISPLAY": ":0", "PATH": os.environ["PATH"], "COLUMNS": "", "LINES": ""}
    environment |= dict.fromkeys(("SSH_TTY", "SSH_CONNECTION", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP"), "")
    with Terminal([sys.executable, "-P", "-c", APP, hostile], environment) as terminal:
        assert ended(terminal) == 0
        output = bytes(terminal.output)
    shown = "café ␛]52;c;eA==␇⟨U+202E⟩doc\nend⟨U+009B⟩31m"
    (sent,) = re.findall(rb"\x1b\]52;c;([^\x07]*)\x07", output)
    assert base64.b64decode(sent).decode() == shown
    assert took.read_text() == shown
    assert b"by the terminal (OSC 52) and xclip (free)" in output
