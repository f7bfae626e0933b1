"""Edit a text in the user's own editor, while the application is suspended."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from tui.desktop.editor_process import DEFAULTS, NoEditor, editor
from tui.desktop.editor_process import run as _run

if TYPE_CHECKING:
    from textual.app import App

__all__ = ["DEFAULTS", "NoEditor", "at_line", "edit", "editor", "open_at"]

# how editors take a line number: `+10 file`, `--goto file:10`, `file:10`
PLUS = frozenset("vi vim nvim view gvim nano emacs emacsclient micro hx helix kak joe ne mg".split())
GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
COLON = frozenset(("subl", "sublime_text", "zed", "zeditor"))


def edit(app: App[object], text: str, suffix: str = ".md", command: str = "") -> str | None:
    """Let the user edit a text; return the new one, or None if it is unchanged or the editor failed.

    The editor is `command`, else $VISUAL, else $EDITOR, else the first of nano, vim, vi; it must run until the user is
    done (`code --wait`). It gets a private file in a private folder; both are deleted at the end, with anything the
    editor left beside it. A final newline added by the editor is removed. Blocks the app, which is suspended.

    Raises NoEditor."""
    words = editor(command, os.environ)
    folder = tempfile.mkdtemp(prefix="memoranda-")  # 0700
    try:
        path = os.path.join(folder, f"text{suffix}")
        with open(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8", newline=""
        ) as file:
            file.write(text)
        try:
            with app.suspend():
                status = _run([*words, path], lambda: _remove(folder))
        except SuspendNotSupported:
            raise NoEditor("This terminal cannot be lent to an editor.", "Use `memoranda correct` instead.") from None
        if isinstance(status, OSError):  # raised only here: inside `suspend` it would keep the app from resuming
            raise NoEditor(f"{words[0]} cannot be started: {status.strerror}.", "Set $VISUAL to an editor.")
        return _changed(text, path) if status == 0 else None
    finally:
        _remove(folder)


def open_at(app: App[object], path: str, line: int, command: str = "") -> None:
    """Open a file of the user in the editor, at `line` if the editor supports that. Blocks the app, which is suspended.
    Raises NoEditor."""
    words = at_line(editor(command, os.environ), path, line)
    try:
        with app.suspend():
            status = _run(words, lambda: None)
    except SuspendNotSupported:
        raise NoEditor("This terminal cannot be lent to an editor.", "Open the file in another one.") from None
    if isinstance(status, OSError):
        raise NoEditor(f"{words[0]} cannot be started: {status.strerror}.", "Set $VISUAL to an editor.")


def at_line(words: list[str], path: str, line: int) -> list[str]:
    """Return the command that opens a file at a line; at its start if the editor's syntax is unknown."""
    name = os.path.basename(words[0]).lower()
    if name in PLUS:
        return [*words, f"+{line}", path]
    if name in GOTO:
        goto = [] if {"-g", "--goto"} & set(words) else ["--goto"]
        return [*words, *goto, f"{path}:{line}"]
    return [*words, f"{path}:{line}" if name in COLON else path]


def _changed(text: str, path: str) -> str | None:
    """Return the file's text if it has changed."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            new = file.read()
    except FileNotFoundError:
        return None
    if new.endswith("\n") and not text.endswith("\n"):
        new = new[:-1].removesuffix("\r")
    return new if new != text else None


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
