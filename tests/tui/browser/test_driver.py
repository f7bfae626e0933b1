"""The application as the server starts it for a tab: on pipes, in Textual's own packets."""

import os
import subprocess
import sys
from pathlib import Path

from support.stories import copy

import tui

ROOT = str(Path(tui.__file__).parent.parent)


def test_it_starts_on_pipes_and_ends_when_they_are_closed(tmp_path: Path) -> None:
    """The end of its input is all that it hears of a server that was killed."""
    story = copy(tmp_path / "billing-api")
    words = [sys.executable, "-P", "-m", "tui.main", "--db", str(story.path)]
    environment = {**os.environ, "PYTHONPATH": ROOT, "MEMORANDA_SERVED": "1", "COLUMNS": "80", "ROWS": "24"}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"__GANGLION__\n"
        process.stdin.close()
        written = process.stdout.read()
        assert process.wait(60) == 0
    assert written.endswith(b'{"type": "exit"}')


def test_without_the_server_a_pipe_gets_the_overview(tmp_path: Path) -> None:
    story = copy(tmp_path / "billing-api")
    words = [sys.executable, "-P", "-m", "tui.main", "--db", str(story.path)]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ROOT}, check=True)
    assert "GANGLION" not in done.stdout and "facts" in done.stdout
