"""Recall by meaning for hooks. A hook is a process for one event and loads no model: it asks a running server.

Of several servers of one memory the one that holds the lock answers, on a Unix socket in the person's private folder
for state. A request is the prompt as it is searched for; the answer is a JSON object, record key → reason, or `null`
where no vectors can be searched. The first request loads the model, and is answered too late for its hook, so the start
of a session sends one that nobody waits for.
"""

import json
import os
from threading import Event, Thread

from store.base import installation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

    from store.base.location import Location

KIND = "recall"
WAIT = 0.06  # seconds that a hook waits for an answer, from the request on
LARGEST = 65_536  # bytes of a request or an answer
WARM = "what is known"  # a prompt that loads all that an answer needs
EVERY = 60.0  # seconds between two attempts to become the server that answers
PATIENCE = 1.0  # seconds that a client may take to send its request


def place(path: str) -> str:
    """Return the path of the socket for the memory at `path`."""
    return os.path.join(installation.folder(), f"{installation.name_of(KIND, path)}.sock")


def ask(path: str, prompt: str) -> "socket | None":
    """Send a prompt to a server of the memory at `path`; return the connection to read the answer from, None where no
    server listens."""
    where = place(path)
    if not os.path.exists(where):
        return None
    import socket

    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(WAIT)
    try:
        connection.connect(where)
        connection.sendall(prompt.encode("utf-8", "replace")[:LARGEST])
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        connection.close()
        return None
    return connection


def answer(connection: "socket | None", seconds: float) -> dict[int, str] | None:
    """Return the records relevant to a prompt, by key, nearest first, each with the reason; None where nothing came
    within `seconds`, or no vectors can be searched. Close the connection."""
    if connection is None:
        return None
    with connection:
        connection.settimeout(max(0.001, seconds))
        try:
            found = json.loads(_whole(connection))
            return {int(key): str(why) for key, why in found.items()} if isinstance(found, dict) else None
        except (OSError, ValueError):
            return None


def wake(path: str) -> None:
    """Have the server of the memory at `path` load its model, before the first prompt; do not wait for it."""
    if (connection := ask(path, WARM)) is not None:
        connection.close()


def _whole(connection: "socket") -> bytes:
    """Return what the other end sends until it closes, LARGEST bytes at most. Raise OSError."""
    data = b""
    while len(data) < LARGEST and (part := connection.recv(LARGEST)):
        data += part
    return data


class RecallServer(Thread):
    """Answers the hooks of one memory, one request at a time, on a thread of its own. Opens the memory for each
    request, and imports what a search needs at the first."""

    def __init__(self, location: "Location") -> None:
        super().__init__(daemon=True, name="recall")
        self._location = location
        self._ended = Event()
        self._socket: socket | None = None
        self._lock = -1

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                listening = self._listen()
            except OSError:
                return  # the folder for state cannot be written, or its path is too long: hooks recall by words
            if listening:
                self._serve()
                return
            self._ended.wait(EVERY)

    def stop(self) -> None:
        """Stop answering, and let another server do so."""
        self._ended.set()
        if self._socket is None:
            return
        import socket

        try:
            os.unlink(place(self._location.path))
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the next server removes it

    def _listen(self) -> bool:
        """Begin to listen; return False if another server does. Raise OSError."""
        import fcntl
        import socket

        where = place(self._location.path)
        os.makedirs(os.path.dirname(where), mode=0o700, exist_ok=True)
        lock = os.open(f"{where}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        try:
            os.unlink(where)  # of a server that was killed
        except FileNotFoundError:
            pass
        self._lock = lock  # held until the process ends
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(where)
        self._socket.listen(16)
        return True

    def _serve(self) -> None:
        assert self._socket is not None
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # stopped
            with connection:
                try:
                    connection.settimeout(PATIENCE)
                    found = self._found(_whole(connection).decode("utf-8", "replace"))
                    connection.sendall(json.dumps(found).encode())
                except OSError:
                    continue  # the hook did not wait

    def _found(self, prompt: str) -> dict[int, str] | None:
        """Return what is relevant to a prompt, by meaning and words; None where no vectors can be searched."""
        from store.base.errors import MemorandaError
        from store.doors.session.recall import bearing_on
        from store.memory import Memory

        try:
            with Memory(self._location, "mcp", create=False) as memory:
                meaning = memory.search.meaning
                if meaning is None or not meaning.serves:
                    return None
                return bearing_on(memory, prompt, meaning=True)
        except MemorandaError:
            return None
        except Exception:  # of SQLite or the model's runtime: it may cost this answer, not the thread of all later ones
            import logging

            logging.getLogger("memoranda").exception("recall failed")
            return None
