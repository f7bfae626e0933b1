"""The resident process of a person's hooks: started by an event, ended when none came for a while.

It listens on a Unix socket in the person's private folder for state, receives each client with its version, and answers
what `store/doors/memoranda_hook.py` sends: four events at a time, each on a thread that opens the memory, closes it
again, and leaves no transaction. It is the one process of hooks that loads a model. It never chooses by its own folder
or variables: those of an event come with it.

Where another process asks for the memories, or nothing happened for some minutes, it becomes a new process in its own
place (`execv`): so the model goes, and whatever was read, and a client that comes meanwhile waits in the socket.
"""

import fcntl
import os
import select
import socket
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from store.doors.hook_events import Caller
from store.doors.hook_process import reply, split_option
from store.doors.memoranda_hook import (
    ALONE,
    DEFERRED_MARK,
    DONE_MARK,
    END,
    EVENT,
    RELEASE,
    RESIDENT,
    WAIT_VARIABLE,
    greeting,
    peer_user,
    socket_path,
)
from store.doors.pack import MeaningRecall

# seconds without an event after which it ends
IDLE = 1_800.0
# and after which it lets go of the model
REST = 240.0
# seconds between two looks whether its socket is still there
SOCKET_LOOK_SECONDS = 30.0
# seconds that a client may take for each part of its event
PATIENCE = 5.0
THREADS = 4
# events that are received, and wait for a thread
MOST = 64
# variables that are read deep below the handlers: an event that has others is answered by a process of its own
SAME = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
OURS, PASSED = "MEMORANDA_", ("MEMORANDA_DB", WAIT_VARIABLE)


class Resident:
    """Answers on a socket. `lock` is held as long as it does, and makes it the only one; without a socket it only deals
    with the clients that it is given. `last` is when the last event came, by the clock that is never set."""

    def __init__(self, listening: socket.socket | None, lock: int, idle: float, rest: float, last: float) -> None:
        self._listening = listening
        self._lock = lock
        self._idle = idle
        self._rest = rest
        self._last = last
        self._stamp = _stamp()
        # since this process is what it is
        self._answered = False
        self._threads = ThreadPoolExecutor(THREADS, "hook")
        self._running: set[Future[None]] = set()
        self._recall = MeaningRecall()
        self._asked: list[tuple[bytes, socket.socket]] = []
        self._awake, self._wake = os.pipe()

    def run(self) -> None:
        """Answer until no event came for a while, or somebody wants it to end."""
        if self._listening is not None:
            self._answer_until_idle(self._listening)
            if _stamp() == self._stamp:
                # another process may listen
                os.unlink(socket_path())
            os.close(self._lock)
            while select.select([self._listening], [], [], 0)[0]:
                self._receive(self._listening)
            self._listening.close()
        wait(self._running)
        for _, connection in self._asked:
            _confirm(connection)

    def begin(self, connection: socket.socket) -> None:
        """Have a thread deal with a client."""
        self._running = {one for one in self._running if not one.done()}
        if len(self._running) >= MOST:
            wait(self._running, return_when=FIRST_COMPLETED)
        self._running.add(self._threads.submit(self._deal, connection))

    def _answer_until_idle(self, listening: socket.socket) -> None:
        while (left := self._last + self._idle - time.monotonic()) > 0 and _stamp() == self._stamp:
            if self._answered:
                if (until := self._last + self._rest - time.monotonic()) <= 0:
                    self._become_new(listening)
                left = min(left, until)
            ready, _, _ = select.select([listening.fileno(), self._awake], [], [], min(left, SOCKET_LOOK_SECONDS))
            if listening.fileno() in ready:
                self._receive(listening)
            if self._awake in ready:
                os.read(self._awake, MOST)
                if any(what == END for what, _ in self._asked):
                    return
                self._become_new(listening)

    def _receive(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except OSError:
            # it did not wait
            return
        try:
            connection.settimeout(PATIENCE)
            if peer_user(connection) != os.getuid():
                connection.close()
                return
            connection.sendall(greeting())
        except OSError:
            connection.close()
            return
        self.begin(connection)

    def _deal(self, connection: socket.socket) -> None:
        try:
            request = _read(connection)
            if request in (RELEASE, END):
                self._asked.append((request, connection))
                os.write(self._wake, b".")
                return
            with connection:
                answer = self._answer(request, connection)
                if answer is not None:
                    connection.sendall(DONE_MARK + answer)
                    # a child of this process may hold a copy of the socket
                    connection.shutdown(socket.SHUT_WR)
        except OSError:
            # the client is gone
            connection.close()

    def _answer(self, request: bytes, connection: socket.socket) -> bytes | None:
        """Return the answer to an event; None for one that is not whole."""
        begin = 1 + 8 + 8
        if request[:1] != EVENT or len(request) < begin:
            return None
        middle = begin + int.from_bytes(request[1:9], "big")
        if len(request) != middle + int.from_bytes(request[9:17], "big"):
            return None
        self._last, self._answered = time.monotonic(), True
        count, *fields = map(os.fsdecode, request[begin:middle].split(b"\0"))
        words, folder = fields[: int(count)], fields[int(count)]
        pairs = [field.partition("=") for field in fields[int(count) + 1 :]]
        variables = {name: value for name, _, value in pairs if name}
        event = request[middle:]
        if not _same(variables):
            connection.sendall(DEFERRED_MARK)
            return _answer_alone(words, folder, variables, event)
        option, rest = split_option(words)
        try:
            return reply(rest[0], event, Caller(folder, variables, option), self._recall.ask) if rest else b""
        except Exception:  # the agent must go on, and so must the next event
            return b""

    def _become_new(self, listening: socket.socket) -> None:
        """Become a new process on the same socket, once all events are dealt with."""
        wait(self._running)
        handed = [listening.fileno(), self._lock, *(connection.fileno() for _, connection in self._asked)]
        for number in handed:
            os.set_inheritable(number, True)
        settings = {"listening": handed[0], "lock": handed[1], "asked": ",".join(map(str, handed[2:]))}
        settings |= {"idle": self._idle, "rest": self._rest, "last": self._last}
        words = [f"{name}={value}" for name, value in settings.items()]
        os.execv(sys.executable, [sys.executable, "-P", "-m", RESIDENT, *words])


def _stamp() -> tuple[int, int] | None:
    """Return what tells the socket at our path from any other; None where there is none."""
    try:
        found = os.lstat(socket_path())
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _read(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def _confirm(connection: socket.socket) -> None:
    with connection:
        try:
            connection.sendall(DONE_MARK)
        except OSError:
            # nobody waits any more
            pass


def _same(variables: dict[str, str]) -> bool:
    """Return whether an event has the variables of this process, as far as they count."""
    ours = {name for name in {*variables, *os.environ} if name.startswith(OURS) and name not in PASSED}
    return all(variables.get(name) == os.environ.get(name) for name in (*SAME, *ours))


def _answer_alone(words: list[str], folder: str, variables: dict[str, str], event: bytes) -> bytes:
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", ALONE, *words],
            input=event,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            cwd=folder or None,
            check=False,
        )
    except (OSError, ValueError):
        return b""
    return done.stdout


def _listen() -> tuple[socket.socket | None, int]:
    """Return the socket on which this process listens, and its lock; None where another one does, or where the folder
    cannot be written or its path is too long for a socket."""
    where = socket_path()
    try:
        os.makedirs(os.path.dirname(where), mode=0o700, exist_ok=True)
        lock = os.open(f"{where}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None, -1
    listening = socket.socket(socket.AF_UNIX)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.lexists(where):
            # of one that was killed
            os.unlink(where)
        listening.bind(where)
        listening.listen(MOST)
    except OSError:
        listening.close()
        os.close(lock)
        return None, -1
    return listening, lock


def main(words: list[str]) -> None:
    """For `python -m store.doors.hook_resident [NAME=VALUE …]`: `first`, the socket of a client that is answered
    whether or not others can be; `idle` and `rest`, seconds. The others are handed to the one it becomes."""
    os.umask(0o077)
    given = dict(word.split("=", 1) for word in words)
    asked = [number for number in given.get("asked", "").split(",") if number]
    handed = [*(given[name] for name in ("first", "listening", "lock") if name in given), *asked]
    _close_all_but([int(number) for number in handed])
    # so that no folder is in use because of this process
    os.chdir("/")
    if os.getsid(0) != os.getpid():
        os.setsid()
    for number in handed:
        os.set_inheritable(int(number), False)
    listening: socket.socket | None
    if "listening" in given:
        listening, lock = socket.socket(fileno=int(given["listening"])), int(given["lock"])
    else:
        listening, lock = _listen()
    for number in asked:
        _confirm(socket.socket(fileno=int(number)))
    idle, rest = float(given.get("idle", IDLE)), float(given.get("rest", REST))
    resident = Resident(listening, lock, idle, rest, float(given.get("last", time.monotonic())))
    if "first" in given:
        resident.begin(socket.socket(fileno=int(given["first"])))
    resident.run()
    os._exit(0)


def _close_all_but(kept: list[int]) -> None:
    """Close what the agent let its hooks inherit, besides the standard streams: it may wait for the end of a pipe."""
    above = 3
    for number in sorted(kept):
        # Python 3.11 on Linux may take an empty range for everything
        if number > above:
            os.closerange(above, number)
        above = number + 1
    os.closerange(above, 1 << 16)


if __name__ == "__main__":
    main(sys.argv[1:])
