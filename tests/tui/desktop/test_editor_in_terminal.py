"""A text in the person's own editor, in a real terminal that is lent to it."""

import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.terminals import ended, sees

import tui
from bench.terminal import Terminal

ROOT = str(Path(tui.__file__).parent.parent)
Script = Callable[..., str]
APP = """
import sys
from textual.app import App
from textual.widgets import Static
from tui.desktop.programs import edit_in_editor as edit

class Edits(App):
    BINDINGS = [("e", "edit"), ("q", "quit")]
    def compose(self):
        yield Static("before", id="text")
    def action_edit(self):
        new = edit(self, "José", command=sys.argv[1])
        self.query_one("#text", Static).update(f"now {new}")

Edits().run()
"""


@contextmanager
def started(command: str, room: Path) -> Iterator[Terminal]:
    environment = {"PYTHONPATH": ROOT, "TMPDIR": str(room), "COLUMNS": "", "LINES": ""}  # the size is its own
    with Terminal([sys.executable, "-P", "-c", APP, command], environment, (60, 10)) as terminal:
        sees(terminal, "before")
        yield terminal


def test_a_person_edits_and_is_back(script: Script, room: Path) -> None:
    """The terminal is an ordinary one meanwhile, echo and all, ^C is the editor's, and the app comes back."""
    body = 'echo "editing $(cat "$1")"; until read -r line; do :; done; echo "$line" > "$1"'  # ^C ends a `read`
    command = script(f'trap "echo interrupted" INT; {body}')
    with started(command, room) as terminal:
        terminal.write("e")
        sees(terminal, "editing José")
        (folder,) = room.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        terminal.write("\x03")
        sees(terminal, "interrupted")
        terminal.write("Ana\n")
        sees(terminal, "now Ana")
        assert list(room.iterdir()) == []
        terminal.write("e")
        sees(terminal, "editing José")
        terminal.write("José\n")
        sees(terminal, "now None")
        terminal.write("q")
        assert ended(terminal) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ended_from_outside_nothing_stays_behind(script: Script, room: Path, number: signal.Signals) -> None:
    """A closed terminal window or a shutdown while the editor has the text."""
    with started(script('echo "editing $(cat "$1")"; sleep 3'), room) as terminal:
        terminal.write("e")
        sees(terminal, "editing José")
        assert len(list(room.iterdir())) == 1
        terminal.process.send_signal(number)
        assert terminal.process.wait(30) == -number
        assert list(room.iterdir()) == []
