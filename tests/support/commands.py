"""Results of commands, for tests that run them in-process or in a child process."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tui import cli

COMMAND = os.path.join(os.path.dirname(sys.executable), "memoranda")


class Said(NamedTuple):
    """The result of a command."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Return the one JSON value on standard output."""
        return json.loads(self.out)


Do = Callable[..., Said]


def runner(capsys: pytest.CaptureFixture[str]) -> Do:
    """Return a function that runs one command in this process."""

    def do(*words: str | os.PathLike[str]) -> Said:
        capsys.readouterr()
        return Said(cli.run_command([os.fspath(word) for word in words]), *capsys.readouterr())

    return do
