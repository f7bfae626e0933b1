"""A person's machine as hooks see it: a home, a folder for state, a project with a memory; and the processes on it."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.waiting import until

from store.doors import memoranda_hook
from store.memory import Memory

CLIENT = [sys.executable, "-IS", memoranda_hook.__file__]
ALONE = [sys.executable, "-P", "-m", "store.doors.hook_process"]
RESIDENT = [sys.executable, "-P", "-m", "store.doors.hook_resident"]
PATIENCE = "30"  # seconds that a client waits on a busy machine
FACT = "The staging database is called heron-7"
QUESTION = "what is the staging database called?"
# what a resident runs first, that it looks soon whether its socket is its own still
LOOKS_OFTEN = "from store.doors import hook_resident as resident; resident.SOCKET_LOOK_SECONDS = 0.05"


class HookMachine:
    """A machine of its own in a folder, whose paths are short enough for a socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state" / "memoranda"
        self.project = folder / "project"
        for one in ("home", "state", "project", "tmp"):
            (folder / one).mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LC_ALL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")}
        own = {"HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder / "tmp")}
        self.environ = {**kept, **own, memoranda_hook.WAIT_VARIABLE: PATIENCE}
        self.path = str(self.project / ".memoranda" / "memory.db")
        self.number = 0

    @property
    def socket_path(self) -> Path:
        return self.state / "hooks.sock"

    def event(self, name: str = "UserPromptSubmit", **more: Any) -> bytes:
        """Return what Claude Code reports, in a session of its own."""
        self.number += 1
        said = {"session_id": f"s{self.number}", "prompt_id": f"p{self.number}", "cwd": str(self.project)}
        return json.dumps({**said, "hook_event_name": name, "prompt": QUESTION, **more}).encode()

    def start(self, words: list[str], **more: Any) -> "subprocess.Popen[bytes]":
        options = {"cwd": self.project, "env": self.environ, **more}
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, words: list[str], event: bytes, **more: Any) -> str:
        """Run a process that answers an event; return the text for the model. It must end with 0 and say no more."""
        process = self.start(words, **more)
        out, errors = process.communicate(event)
        assert (process.returncode, errors) == (0, b"")
        return context(out)

    def ask(self, event: bytes | None = None, client: str = "claude-code", **more: Any) -> str:
        """Have the client of one file answer an event, a prompt in a new session without one."""
        return self.run([*CLIENT, client], self.event() if event is None else event, **more)

    def resident(self, *words: str, code: str = "", **more: Any) -> "subprocess.Popen[bytes]":
        """Start a resident, and return it once it listens; `code` is what it runs first."""
        script = f"{code}\nimport sys\nfrom store.doors import hook_resident\nhook_resident.main(sys.argv[1:])"
        program = [sys.executable, "-P", "-c", script] if code else RESIDENT
        found = subprocess.Popen([*program, *words], env=self.environ, **more)
        until(lambda: self.pid() == found.pid)
        return found

    def connect(self) -> socket.socket:
        """Connect to whoever listens. Raise OSError."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self.socket_path))
        except OSError:
            connection.close()
            raise
        return connection

    def pid(self) -> int:
        """Return the process that listens, 0 where none does."""
        try:
            with self.connect() as connection:
                told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            return 0
        pid: int = struct.unpack("3i", told)[0]
        return pid

    def kill(self) -> None:
        """Kill whoever listens, or is about to, and wait until all are gone."""
        for pid in {self.pid(), *children_of(self, memoranda_hook.RESIDENT)} - {0}:
            os.kill(pid, signal.SIGKILL)
            until(lambda pid=pid: not running(pid))

    def turns(self) -> list[str]:
        """Return the texts of all turns that are stored."""
        with Memory.open(self.path) as memory:
            return [text for (text,) in memory.database.rows("SELECT text FROM turns ORDER BY id")]


def context(out: bytes) -> str:
    """Return the text for the model in what a hook prints, without what differs from one run to the next."""
    if not out:
        return ""
    said = json.loads(out)
    text = said.get("context") or said["hookSpecificOutput"]["additionalContext"]
    text = re.sub(r"(memoranda-[a-z]+) [0-9a-f]{10}", r"\1", text)
    return re.sub(r"confirmed (just now|\d+ \w+ ago)", "confirmed", text)


def running(pid: int) -> bool:
    """Return whether a process is there, and no zombie."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")


def children_of(machine: HookMachine, module: str) -> list[int]:
    """Return the processes of a module that work for this machine."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and module in command_line(int(entry.name)):
                environ = (entry / "environ").read_bytes().split(b"\0")
                if f"HOME={machine.environ['HOME']}".encode() in environ and running(int(entry.name)):
                    found.append(int(entry.name))
        except OSError:
            continue  # it has just ended
    return found


def resident_megabytes(pid: int) -> float:
    """Return how much memory a process has in use."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024
