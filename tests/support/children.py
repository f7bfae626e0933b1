"""Programs that run beside a test, in processes of their own: they say when they are ready, and wait for a line."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

# is in a transaction that the third word begins, and has read
HOLDER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute(sys.argv[2])
connection.execute("SELECT count(*) FROM sqlite_schema").get
print("holding", flush=True)
sys.stdin.readline()
"""
# has the turn of a memory's writers
WRITER = """
import sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory, memory.database.write("user", "hold"):
    print("holding", flush=True)
    sys.stdin.readline()
"""


def begun(code: str, *words: str | os.PathLike[str]) -> subprocess.Popen[str]:
    """Start a Python program whose input and output are ours; it has said that it is ready."""
    command = [sys.executable, "-c", code, *map(os.fspath, words)]
    child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline()
    return child


def tell(child: subprocess.Popen[str], line: str = "go") -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


@contextlib.contextmanager
def holding(path: str | os.PathLike[str], begin: str = "BEGIN") -> Iterator[None]:
    """Another program is in the middle of reading a database, or of writing it with `BEGIN IMMEDIATE`."""
    child = begun(HOLDER, path, begin)
    try:
        yield
    finally:
        child.communicate("\n")
