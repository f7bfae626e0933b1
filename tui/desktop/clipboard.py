"""Copy to the clipboard: always through the terminal, and also with a program of the desktop if one can work.

OSC 52 reaches the user's own terminal, over SSH too, but not every terminal accepts it and none confirms it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tui.theme.escape import plain

if TYPE_CHECKING:
    from textual.app import App

SECONDS = 2.0  # maximum time for a program to accept the text
TERMINAL = "by the terminal (OSC 52)"


class ClipboardTool(NamedTuple):
    """A program that reads a text for the clipboard on standard input: its command, its encoding, and the package that
    provides it if that has another name."""

    words: tuple[str, ...]
    encoding: str = "utf-8"
    package: str = ""

    @property
    def name(self) -> str:
        return self.words[0]


PBCOPY = ClipboardTool(("pbcopy",))
WL_COPY = ClipboardTool(("wl-copy",), package="wl-clipboard")
XCLIP = ClipboardTool(("xclip", "-selection", "clipboard"))
XSEL = ClipboardTool(("xsel", "--clipboard", "--input"))
CLIP = ClipboardTool(("clip.exe",), "utf-16-le")  # would read UTF-8 accents as two characters
TERMUX = ClipboardTool(("termux-clipboard-set",), package="termux-api")


async def copy(app: App[object], text: str) -> str:
    """Copy a text to the clipboard; return how, in words for a message: "by the terminal (OSC 52) and xclip".

    The escaped form is copied (`tui.theme.escape.plain`), not the record's own characters: a hidden ESC would be
    executed when pasted into a shell. Line ends stay."""
    shown = plain(text)
    app.copy_to_clipboard(shown)
    return await asyncio.to_thread(hand_over, shown, tools(os.environ, sys.platform))


def tools(environment: Mapping[str, str], platform: str) -> list[ClipboardTool]:
    """Return the programs that could reach the user's clipboard, the best first, installed or not.

    Over SSH only a forwarded display leads to the user's own machine; other programs would fill the remote
    clipboard."""
    near = not (environment.get("SSH_TTY") or environment.get("SSH_CONNECTION"))
    found = []
    if near and platform == "darwin":
        found.append(PBCOPY)
    if environment.get("WAYLAND_DISPLAY"):
        found.append(WL_COPY)
    if environment.get("DISPLAY"):
        found += [XCLIP, XSEL]
    if near and (environment.get("WSL_DISTRO_NAME") or environment.get("WSL_INTEROP")):
        found.append(CLIP)
    if near and environment.get("TERMUX_VERSION"):
        found.append(TERMUX)
    return found


def hand_over(text: str, candidates: list[ClipboardTool]) -> str:
    """Pass a text to the first program that accepts it; return words for the message. Blocks: for a thread."""
    refused = []
    for tool in candidates:
        path = shutil.which(tool.name)
        if path is None:
            continue
        if _takes(path, tool, text):
            return f"{TERMINAL} and {tool.name}"
        refused.append(tool.name)
    if refused:
        return f"{TERMINAL}; {' and '.join(refused)} did not take it"
    if candidates:
        return f"{TERMINAL}; if nothing arrives, install {candidates[0].package or candidates[0].name}"
    return TERMINAL


def _takes(path: str, tool: ClipboardTool, text: str) -> bool:
    try:
        subprocess.run(
            [path, *tool.words[1:]],
            input=text.encode(tool.encoding, "replace"),
            stdout=subprocess.DEVNULL,  # xclip keeps running to serve the text, and would hold a pipe open
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
            start_new_session=True,  # outlives the terminal that started it
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True
