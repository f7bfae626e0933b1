"""Hand one event of an agent to the resident process, and print what it answers; end with 0, whatever happens.

    python -IS …/store/doors/memoranda_hook.py CLIENT [--db FILE]

Every event of every agent starts this file, so it imports the least: it knows nothing of memories, of JSON or of
settings, and what an event means is decided by the resident (`store/doors/hook_resident.py`). Where none runs it
starts one, which takes this event first. An event is handed on by sockets and pipes alone and is never in a file,
because nothing has been cut out of it yet.
"""

from __future__ import annotations

import _socket
import os
import sys
from _socket import AF_UNIX, SHUT_WR, SOCK_STREAM, SOL_SOCKET, socket, socketpair

# of the product, as in `store.version`: a resident of another version is told to end
VERSION = "0.1.0"
# what the first byte of a request asks for; the last two are all of theirs
EVENT, RELEASE, END = b"e", b"r", b"q"
# before an answer: the event was dealt with
DONE_MARK = b"+"
# before that, where it is dealt with by a process of its own
DEFERRED_MARK = b"~"
# bytes of a report that are read; a tool may have written a large file
LARGEST = 64 << 20
# bytes that a pipe holds on every system
PIPE = 16_384
# that a running resident may take for each step of an answer
ANSWER_SECONDS = 0.25
# that one may take which starts first, where the model waits for what a session begins with
COLD_SECONDS = 4.0
# and where it waits for what is added to a prompt
PROMPT_SECONDS = 1.5
# the variable that sets the first of these, and is the least for the others
WAIT_VARIABLE = "MEMORANDA_HOOK_WAIT"
STARTS = (b'"SessionStart"', b'"event":"start"', b'"event": "start"')
PROMPTS = (b'"UserPromptSubmit"', b'"BeforeAgent"', b'"event":"prompt"', b'"event": "prompt"')
RESIDENT, ALONE = "store.doors.hook_resident", "store.doors.hook_process"


def main(words: list[str]) -> None:
    """Deal with the event on standard input, or in the last word, and end the process."""
    os.umask(0o077)
    try:
        _open_closed_streams()
        event = os.fsencode(words.pop()) if words and words[-1].lstrip().startswith("{") else _read_input()
        answer = _answer(words, event)
        while answer:
            answer = answer[os.write(1, answer) :]
    except BaseException:  # an interrupt too: the agent must go on without us
        pass
    os._exit(0)


def greeting() -> bytes:
    """Return the line with which a resident of this version receives every client."""
    return f"memoranda {VERSION}\n".encode()


def state_folder() -> str:
    """Return the person's private folder for state, as `state_folder` (`store/base/state_files.py`) does."""
    home = os.path.expanduser("~")
    usual = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    named = os.environ.get("XDG_STATE_HOME", "").strip()
    return os.path.join(os.path.expanduser(named) if named else os.path.join(home, usual), "memoranda")


def socket_path() -> str:
    """Return the path of the socket on which the resident listens."""
    return os.path.join(state_folder(), "hooks.sock")


def peer_user(connection: socket) -> int | None:
    """Return the user of the process at the other end of a connection; None where the system does not tell.

    Linux is tried. What macOS and FreeBSD give is read by their header sys/ucred.h (`struct xucred`: its version, 0,
    then the user), and was never run there."""
    if sys.platform == "linux":
        return int.from_bytes(connection.getsockopt(SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
    if sys.platform == "darwin" or sys.platform.startswith("freebsd"):
        local, peercred, size = 0, 1, 76 if sys.platform == "darwin" else 88
        told = connection.getsockopt(local, peercred, size)
        return int.from_bytes(told[4:8], sys.byteorder) if told[:4] == bytes(4) else None
    return None


def _seconds() -> float:
    try:
        return max(0.001, float(os.environ.get(WAIT_VARIABLE) or ANSWER_SECONDS))
    except ValueError:
        return ANSWER_SECONDS


def _open_closed_streams() -> None:
    """Open /dev/null for standard streams that the agent closed, before a socket gets their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(number)


def _read_input() -> bytes:
    parts, left = [], LARGEST
    while left > 0 and (part := os.read(0, min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _answer(words: list[str], event: bytes) -> bytes:
    """Have the resident answer. It is sent the lengths of a head and of the event, then both: the words of the command,
    the folder and the variables that it was started with."""
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        folder = ""
    variables = [name + b"=" + value for name, value in os.environb.items()]
    head = b"\0".join([str(len(words)).encode(), *map(os.fsencode, (*words, folder)), *variables])
    request = b"".join((EVENT, len(head).to_bytes(8, "big"), len(event).to_bytes(8, "big"), head, event))
    answer = _ask_running(request)
    if answer is not None:
        return answer
    try:
        return _start_resident(request, event)
    except (OSError, NotImplementedError):  # a sandbox that allows no process besides this one, or no socket
        os.dup2(_readable(event), 0)
        os.execv(sys.executable, [sys.executable, "-P", "-m", ALONE, *words])


def _ask_running(request: bytes) -> bytes | None:
    """Return what the running resident answers, empty where it is late; None where there is none that took the event.

    One that does not even greet, or that cannot take all of a large event, has not got it."""
    try:
        connection = socket(AF_UNIX, SOCK_STREAM)
    except OSError:  # a sandbox
        return None
    try:
        connection.settimeout(_seconds())
        connection.connect(socket_path())
        if peer_user(connection) != os.getuid():
            return None
        greeted = b""
        while not greeted.endswith(b"\n") and (part := connection.recv(64)):
            greeted += part
        if greeted != greeting():
            connection.sendall(END)
            return None
        connection.sendall(request)
        connection.shutdown(SHUT_WR)
        return _read_answer(connection)
    except OSError:
        return None
    finally:
        connection.close()


def _start_resident(request: bytes, event: bytes) -> bytes:
    """Start a resident that takes this event first; wait for the answer where the agent's model is shown it."""
    ours, theirs = socketpair(AF_UNIX, SOCK_STREAM)
    os.set_inheritable(theirs.fileno(), True)
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", RESIDENT, f"first={theirs.fileno()}"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)],
        # elsewhere the resident does it itself: Python may lack it there
        setsid=sys.platform == "linux",
    )
    theirs.close()
    starts = any(name in event for name in STARTS)
    ours.settimeout(max(COLD_SECONDS if starts else PROMPT_SECONDS, _seconds()))
    ours.sendall(request)
    ours.shutdown(SHUT_WR)
    if not starts and not any(name in event for name in PROMPTS):
        return b""
    return _read_answer(ours) or b""


def _read_answer(connection: socket) -> bytes | None:
    """Return a resident's answer, empty where it is late with it; None where it ended before the event was kept."""
    whole = b""
    try:
        while part := connection.recv(1 << 16):
            whole += part
            if whole == DEFERRED_MARK:
                connection.settimeout(max(COLD_SECONDS, _seconds()))
    except TimeoutError:
        return b""
    whole = whole.removeprefix(DEFERRED_MARK)
    return whole[len(DONE_MARK) :] if whole.startswith(DONE_MARK) else None


def _readable(event: bytes) -> int:
    """Return a descriptor that an event is read from: a pipe, or for one that a pipe cannot hold anonymous memory where
    the system has it, else a pipe that a process of its own fills."""
    if len(event) > PIPE and sys.platform == "linux":
        held = os.memfd_create("event")
        with open(held, "wb", closefd=False) as file:
            file.write(event)
        os.lseek(held, 0, os.SEEK_SET)
        return held
    readable, writable = os.pipe()
    if len(event) > PIPE and os.fork():
        os.close(writable)
        return readable
    with open(writable, "wb") as file:
        file.write(event)
    if len(event) > PIPE:
        os._exit(0)
    return readable


if __name__ == "__main__":
    main(sys.argv[1:])
