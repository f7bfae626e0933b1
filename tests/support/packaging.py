"""A fresh copy of what git holds, commands in an environment that knows nothing of ours, and the application started in
a terminal from somewhere else."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.terminals import ended, sees

from bench.terminal import Terminal

ROOT = Path(__file__).parents[2]
MINUTES = 10 * 60
OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "MEMORANDA_DB")


def tracked(*below: str) -> list[str]:
    """The files that git holds, below these folders."""
    words = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--", *below]
    listed = subprocess.run(words, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def fresh_copy(folder: Path) -> Path:
    """Copy what git holds into `folder`."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


def clean() -> dict[str, str]:
    """An environment without our virtual environment and paths of imports."""
    return {name: value for name, value in os.environ.items() if name not in OURS}


def run(command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its good end; return what it printed."""
    environment = clean() if env is None else dict(env)
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": MINUTES}
    done = subprocess.run(command, cwd=cwd, env=environment, check=False, **quiet)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def opens(command: Sequence[str], cwd: Path, env: Mapping[str, str], *texts: str) -> None:
    """Start the application in a terminal, in the folder `cwd` and with this environment alone; wait for these texts,
    look for a word, and leave."""
    variables = ["TERM=xterm-256color", *(f"{name}={value}" for name, value in env.items())]
    with Terminal(["/usr/bin/env", "-i", "-C", str(cwd), *variables, *command]) as terminal:
        sees(terminal, *texts)
        terminal.write("/sqlite")
        sees(terminal, "/ sqlite", "Exact ")
        terminal.write("\x1b")
        sees(terminal, "find, ask, or type")
        terminal.quiet()
        terminal.write("q")
        assert ended(terminal) == 0, terminal.output.decode("utf-8", "replace")[-2000:]
