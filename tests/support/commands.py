"""Results of commands, for tests that run them in-process or in a child process."""

import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tui import cli

COMMAND = os.path.join(os.path.dirname(sys.executable), "memoranda")


IN_PROJECT = re.compile(
    r"(?<=\w) in project(?: \(branch main\))?(?=\.\n)|(?<=.) In project(?: \(branch main\))?\.(?=\n)"
)


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
    """Return a function that runs one command in this process. What it says of where the fixture's project has its
    memory is left out: that is told by tests of processes."""

    def do(*words: str | os.PathLike[str]) -> Said:
        capsys.readouterr()
        said = Said(cli.run_command([os.fspath(word) for word in words]), *capsys.readouterr())
        return said._replace(out=IN_PROJECT.sub("", said.out))

    return do
