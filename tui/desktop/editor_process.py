"""Choose the user's editor, and run it in the terminal. No screen library: the command line runs it too."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from store.base.errors import MemorandaError

DEFAULT_EDITORS = ("nano", "vim", "vi")


class NoEditor(MemorandaError):
    """There is no editor, it cannot be started, or the terminal cannot be suspended for it; no text was changed."""

    code = "editor"


def editor_command(command: str, environment: Mapping[str, str]) -> list[str]:
    """Return the editor's command: `command`, else $VISUAL, else $EDITOR, else the first default found. Raises
    NoEditor."""
    for source, line in (
        ("The configured editor", command),
        ("$VISUAL", environment.get("VISUAL", "")),
        ("$EDITOR", environment.get("EDITOR", "")),
    ):
        if not line.strip():
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            raise NoEditor(f"{source} has a quote that is not closed.", 'Write it like "code --wait".') from None
        if not words or shutil.which(words[0]) is None:
            raise NoEditor(
                f"{source} names a program that is not there.", "Name one that is installed: nano, vim."
            )
        return words
    for name in DEFAULT_EDITORS:
        if shutil.which(name):
            return [name]
    raise NoEditor("No editor was found.", "Set $VISUAL or $EDITOR to one that is installed.")


def run_editor(words: list[str], leave: Callable[[], None]) -> int | OSError:
    """Run the editor in the terminal to its end; return its exit status, or why it could not be started."""
    with _redirect_signals(leave):
        try:
            # the application's own standard error leads nowhere (`own_terminal`)
            return subprocess.run(words, check=False, stderr=sys.__stderr__).returncode
        except OSError as error:
            return error


@contextmanager
def _redirect_signals(leave: Callable[[], None]) -> Iterator[None]:
    """Redirect the terminal's signals while the editor runs.

    ^C and ^\\ are for the editor; signals that end this process first call `leave`. ^Z is handled by Textual, which
    stops this process and the editor, until `fg`."""

    def end(number: int, frame: FrameType | None) -> None:
        leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def nothing(number: int, frame: FrameType | None) -> None:
        """not SIG_IGN, which the editor would inherit"""

    wanted = {"SIGINT": nothing, "SIGQUIT": nothing, "SIGHUP": end, "SIGTERM": end}
    before = {
        number: signal.signal(number, handler)
        for name, handler in wanted.items()
        if (number := getattr(signal, name, None)) is not None
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
