"""A child process that works on a copy of a memory and kills itself at its n-th statement, or at its n-th write or sync
of a file; SQLite counts both, inside one long statement too."""

import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.forks import run_program

# counts the writes and syncs of SQLite's files while `counting`, and kills its process at the last of `left`
COUNTER = """
import os, signal
import apsw

counting = False
base = apsw.vfs_names()[0]


def count():
    global left
    if counting:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class File(apsw.VFSFile):
    def __init__(self, filename, flags):
        super().__init__(base, filename, flags)

    def xWrite(self, data, offset):
        count()
        super().xWrite(data, offset)

    def xSync(self, flags):
        count()
        super().xSync(flags)


class Killing(apsw.VFS):
    def __init__(self):
        super().__init__("killing", base)

    def xOpen(self, name, flags):
        return File(name, flags)
"""

CHILD = f"""
import importlib, os, sys
{COUNTER}
path, kind, number, *words = sys.argv[1:]
number = left = int(number)

from store.memory import Memory

if kind == "file":
    vfs = Killing()
    apsw.set_default_vfs("killing")
with Memory.open(path, OPENED) as memory:
    if kind == "statement":
        memory.database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: count())
    BEFORE
    counting = True
    WORK
    counting = False
    memory.database.connection.trace_v2(0, None)
print(number - left)
"""


def killed(
    told: Path,
    folder: Path,
    kind: str,
    number: int,
    work: str,
    *,
    before: str = "pass",
    opened: str = "'app'",
    words: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[Path, int, str]:
    """Run `work`, a statement about `memory`, in a copy of the memory `told`, and kill it at the `number`th `statement`
    or `file` event; return (the copy's path, the exit status, the events counted). `before` runs uncounted; `opened`
    are further arguments of open; both, and `work`, may use `words`."""
    path = Path(shutil.copytree(told.parent, folder / f"{kind}-{number}" / ".memoranda")) / told.name
    script = CHILD.replace("OPENED", opened).replace("BEFORE", before).replace("WORK", work)
    done = run_program(script, path, kind, str(number), *words, env=env)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return path, done.returncode, done.stdout.strip()
