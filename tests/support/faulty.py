"""Run the command `memoranda` in a process with an injected fault: `python faulty.py FAULT N WORD…`.

Counted faults (`kill`, `term`, `power`, `eio`, `enospc`, `delete`, `replace`) occur at SQLite's N-th system call
(writes, syncs, truncations, deletions; for `eio` also reads) and, except for the first three, persist. `power` keeps of
SQLite's files what a disk may have kept (`support/power.py`); files of other programs stay as they are. Child processes
that run our modules get the same fault."""

import ctypes
import os
import random
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import apsw

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import power

SLOW = 0.02  # duration of a slow sync
PATIENCE = 200  # milliseconds of busy timeout, for a lock that is never released
OLD_SCHEMA = 2  # the schema of an older Memoranda
LONG_AGO = 1_000_000_000  # seconds since 1970, for a clock set back


class Trouble:
    """The fault, and when it occurs."""

    def __init__(self, fault: str, number: int) -> None:
        self.fault = fault
        self.left = number
        self.path = ""

    def call(self, kind: str) -> None:
        if self.fault == "slow" and kind == "sync":
            time.sleep(SLOW)
        if kind == "read" and self.fault != "eio":
            return
        self.left -= 1
        if self.left > 0:
            return
        if self.fault in ("kill", "term"):
            os.kill(os.getpid(), signal.SIGKILL if self.fault == "kill" else signal.SIGTERM)
            time.sleep(5)
        elif self.fault == "eio":
            raise apsw.IOError()
        elif self.fault == "enospc" and kind == "write":
            raise apsw.FullError()
        elif self.fault in ("delete", "replace") and self.left == 0:
            self._away()

    def _away(self) -> None:
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(self.path + ending):
                os.rename(self.path + ending, f"{self.path}{ending}.away")
        if self.fault == "replace":
            shutil.copy(f"{self.path}.away", self.path)


class File(apsw.VFSFile):
    def __init__(self, trouble: Trouble, name: Any, flags: list[int]) -> None:
        self._trouble = trouble
        super().__init__("unix", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._trouble.call("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._trouble.call("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._trouble.call("sync")
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self._trouble.call("truncate")
        super().xTruncate(size)


class Disk(apsw.VFS):
    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        super().__init__("faulty", "unix", makedefault=True)

    def excepthook(self, *about: object) -> None:
        """Print no traceback: SQLite gets the error's code."""

    def xOpen(self, name: Any, flags: list[int]) -> File:
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB and not self._trouble.path:
            self._trouble.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        return File(self._trouble, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self._trouble.call("delete")
        super().xDelete(name, sync)


class Failing(list[power.Event]):
    """The events on SQLite's files, until the power fails at the N-th one that matters to a disk."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._left = number
        self._dice = random.Random(number)
        self._disk = power.Disk()

    def append(self, event: power.Event) -> None:
        if event.kind == "open" and event.file not in self._disk.files:
            with open(event.file, "rb") as file:
                self._disk.files[event.file] = power.File(bytearray(file.read()))
        self._disk.follow(event)
        self._left -= event.kind != "open"
        if self._left == 0:
            self._fail()

    def _fail(self) -> NoReturn:
        left = self._disk.cut(self._dice)
        for name, file in self._disk.files.items():
            deleted = any(event.kind == "delete" for event in file.since)
            if not os.path.exists(name) and not deleted:
                continue  # renamed since, after it was complete and synced
            if name in left:
                handle = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
                with open(handle, "wb") as whole:
                    whole.write(left[name])
            elif os.path.exists(name):
                os.unlink(name)
            if os.path.exists(f"{name}-shm"):
                os.unlink(f"{name}-shm")
        os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit


def ordinary() -> None:
    """Drop root's right to write against file modes, in a child process (Linux: prctl(2))."""
    if os.geteuid() == 0:
        library = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, from the bounding set
            library.prctl(24, capability, 0, 0, 0)
        about, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        library.capget(about, sets)
        for place in (0, 1):  # in force, and permitted: for a process that goes on as it is
            sets[place] &= ~0b110
        library.capset(about, sets)


def limited(size: int) -> Callable[[], None]:
    """Return a function for a child process that limits files to `size` bytes (Python ignores SIGXFSZ, so the write
    fails)."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def prepare(fault: str, number: int) -> None:
    """Install the fault in this process."""
    if fault == "clock":
        real = time.time_ns
        started = real()
        time.time_ns = lambda: LONG_AGO * 1_000_000_000 + real() - started
    elif fault == "network":
        from store.database import files

        files.file_system_type = lambda folder: "nfs4"
    elif fault == "older app":
        for name, module in list(sys.modules.items()):
            if name.startswith("store.") and hasattr(module, "SCHEMA_VERSION"):
                module.SCHEMA_VERSION = OLD_SCHEMA
    elif fault == "lock held":
        apsw.Connection = Hasty  # type: ignore[misc]
    elif fault == "power":
        global _recorder
        _recorder = power.Recorder(Failing(number))
        apsw.Connection = Quiet  # type: ignore[misc]
    elif fault == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
    elif fault == "size":
        limited(number)()
    elif fault in ("kill", "term", "eio", "enospc", "delete", "replace", "slow"):
        global _disk
        _disk = Disk(Trouble(fault, number))
        apsw.Connection = Quiet  # type: ignore[misc]


class Quiet(apsw.Connection):
    """SQLite ignores failures while it closes; a VFS written in Python would raise them."""

    def backup(self, *about: Any) -> Any:
        return Copying(super().backup(*about))

    def close(self, force: bool = False) -> None:
        try:
            super().close(force)
        except apsw.Error:
            pass


class Copying:
    """A running backup, as silent at its end."""

    def __init__(self, backup: apsw.Backup) -> None:
        self._backup = backup

    @property
    def done(self) -> bool:
        return self._backup.done

    def __enter__(self) -> "Copying":
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def step(self, pages: int = -1) -> bool:
        return self._backup.step(pages)

    def close(self, force: bool = False) -> None:
        try:
            self._backup.close(force)
        except SystemError:
            pass


class Too(subprocess.Popen[Any]):
    """A child process of one of our modules, with the same fault."""

    fault = number = ""

    def __init__(self, words: list[str], **more: Any) -> None:
        ours = words[:2] == [sys.executable, "-m"]
        super().__init__([words[0], __file__, self.fault, self.number, *words[1:]] if ours else words, **more)


class Hasty(apsw.Connection):
    """A connection with a busy timeout as short as the command's."""

    def set_busy_timeout(self, milliseconds: int) -> None:
        super().set_busy_timeout(min(milliseconds, PATIENCE))


_disk: Disk | None = None
_recorder: power.Recorder | None = None


def main() -> None:
    """Run what the arguments say."""
    from tui import main as command

    what, count, *words = sys.argv[1:]
    sys.argv[1:] = words
    prepare(what, int(count))
    Too.fault, Too.number = what, count
    subprocess.Popen = Too  # type: ignore[misc]
    if words[0] == "-m":
        sys.argv[:] = words[1:]
        runpy.run_module(words[1], run_name="__main__")
    else:
        command.main()


if __name__ == "__main__":
    main()
