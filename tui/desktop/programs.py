"""Other programs: the clipboard, and the editor of the person.

Edit a text in the user's own editor, while the application is suspended.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.app import SuspendNotSupported

from store.text.display import visible_lines
from tui.desktop.editor_process import NoEditor, editor_command, run_editor

if TYPE_CHECKING:
    from textual.app import App


# Copy to the clipboard: always through the terminal, and also with a program of the desktop if one can work.
#
# OSC 52 reaches the user's own terminal, over SSH too, but not every terminal accepts it and none confirms it.

# maximum time for a program to accept the text
PROGRAM_SECONDS = 2.0
BY_TERMINAL = "by the terminal (OSC 52)"


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
# would read UTF-8 accents as two characters
CLIP_EXE = ClipboardTool(("clip.exe",), "utf-16-le")
TERMUX = ClipboardTool(("termux-clipboard-set",), package="termux-api")


async def copy_to_clipboard(app: App[object], text: str) -> str:
    """Copy a text to the clipboard; return how, in words for a message: "by the terminal (OSC 52) and xclip".

    The escaped form is copied (`store.text.display.visible`), not the record's own characters: a hidden ESC would be
    executed when pasted into a shell. Line ends stay."""
    shown = visible_lines(text)
    app.copy_to_clipboard(shown)
    return await asyncio.to_thread(pass_to_program, shown, clipboard_tools(os.environ, sys.platform))


def clipboard_tools(environment: Mapping[str, str], platform: str) -> list[ClipboardTool]:
    """Return the programs that could reach the user's clipboard, the best first, installed or not.

    Over SSH only a forwarded display leads to the user's own machine; other programs would fill the remote
    clipboard."""
    near = not (environment.get("SSH_TTY") or environment.get("SSH_CONNECTION"))
    on_windows = environment.get("WSL_DISTRO_NAME") or environment.get("WSL_INTEROP")
    places = [
        (near and platform == "darwin", [PBCOPY]),
        (environment.get("WAYLAND_DISPLAY"), [WL_COPY]),
        (environment.get("DISPLAY"), [XCLIP, XSEL]),
        (near and on_windows, [CLIP_EXE]),
        (near and environment.get("TERMUX_VERSION"), [TERMUX]),
    ]
    return [tool for is_here, tools in places if is_here for tool in tools]


def pass_to_program(text: str, candidates: list[ClipboardTool]) -> str:
    """Pass a text to the first program that accepts it; return words for the message. Blocks: for a thread."""
    refused = []
    for tool in candidates:
        path = shutil.which(tool.name)
        if path is None:
            continue
        if _program_takes(path, tool, text):
            return f"{BY_TERMINAL} and {tool.name}"
        refused.append(tool.name)
    if refused:
        return f"{BY_TERMINAL}; {' and '.join(refused)} did not take it"
    if candidates:
        return f"{BY_TERMINAL}; if nothing arrives, install {candidates[0].package or candidates[0].name}"
    return BY_TERMINAL


def _program_takes(path: str, tool: ClipboardTool, text: str) -> bool:
    """Tell whether a program accepted the text."""
    try:
        subprocess.run(
            [path, *tool.words[1:]],
            input=text.encode(tool.encoding, "replace"),
            # xclip keeps running to serve the text, and would hold a pipe open
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PROGRAM_SECONDS,
            check=True,
            # outlives the terminal that started it
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


# how editors take a line number: `+10 file`, `--goto file:10`, `file:10`
PLUS_LINE_EDITORS = frozenset("vi vim nvim view gvim nano emacs emacsclient micro hx helix kak joe ne mg".split())
GOTO_EDITORS = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
COLON_EDITORS = frozenset(("subl", "sublime_text", "zed", "zeditor"))


def edit_in_editor(app: App[object], text: str, suffix: str = ".md", command: str = "") -> str | None:
    """Let the user edit a text; return the new one, or None if it is unchanged or the editor failed.

    The editor is `command`, else $VISUAL, else $EDITOR, else the first of nano, vim, vi; it must run until the user is
    done (`code --wait`). It gets a private file in a private folder; both are deleted at the end, with anything the
    editor left beside it. A final newline added by the editor is removed. Blocks the app, which is suspended.

    Raises NoEditor."""
    words = editor_command(command, os.environ)
    # 0700
    folder = tempfile.mkdtemp(prefix="memoranda-")
    try:
        path = os.path.join(folder, f"text{suffix}")
        with open(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8", newline=""
        ) as file:
            file.write(text)
        status = _lend_terminal(app, [*words, path], "Use `memoranda correct` instead.", folder)
        return _changed_text(text, path) if status == 0 else None
    finally:
        _remove_folder(folder)


def open_in_editor(app: App[object], path: str, line: int, command: str = "") -> None:
    """Open a file of the user in the editor, at `line` if the editor supports that. Blocks the app, which is suspended.
    Raises NoEditor."""
    words = command_at_line(editor_command(command, os.environ), path, line)
    _lend_terminal(app, words, "Open the file in another one.")


def _lend_terminal(app: App[object], words: list[str], instead: str, folder: str = "") -> int:
    """Run an editor while the app is suspended, and return its exit status; `folder` is removed if it is ended from
    outside. Raises NoEditor."""
    try:
        with app.suspend():
            status = run_editor(words, lambda: _remove_folder(folder))
    except SuspendNotSupported:
        raise NoEditor("This terminal cannot be lent to an editor.", instead) from None
    # raised only here: inside `suspend` it would keep the app from resuming
    if isinstance(status, OSError):
        raise NoEditor(f"{words[0]} cannot be started: {status.strerror}.", "Set $VISUAL to an editor.")
    return status


def command_at_line(words: list[str], path: str, line: int) -> list[str]:
    """Return the command that opens a file at a line; at its start if the editor's syntax is unknown."""
    name = os.path.basename(words[0]).lower()
    if name in PLUS_LINE_EDITORS:
        return [*words, f"+{line}", path]
    if name in GOTO_EDITORS:
        goto = [] if {"-g", "--goto"} & set(words) else ["--goto"]
        return [*words, *goto, f"{path}:{line}"]
    return [*words, f"{path}:{line}" if name in COLON_EDITORS else path]


def _changed_text(text: str, path: str) -> str | None:
    """Return the file's text if it has changed."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            new = file.read()
    except FileNotFoundError:
        return None
    if new.endswith("\n") and not text.endswith("\n"):
        new = new[:-1].removesuffix("\r")
    return new if new != text else None


def _remove_folder(folder: str) -> None:
    """Remove a folder with its files, if it is there; ignore errors."""
    shutil.rmtree(folder, ignore_errors=True)
