"""The server's side of recall by meaning for hooks: see `recall_socket`."""

import json
import os
from threading import Event, Thread

from store.doors.session.recall_socket import place, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

    from store.base.location import Location

EVERY = 60.0  # seconds between two attempts to become the server that answers
PATIENCE = 1.0  # seconds that a client may take to send its request


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
                    found = self._found(whole(connection).decode("utf-8", "replace"))
                    connection.sendall(json.dumps(found).encode())
                except OSError:
                    continue  # the hook did not wait

    def _found(self, prompt: str) -> dict[int, str] | None:
        """Return what is relevant to a prompt by meaning; None where no vectors can be searched."""
        from store.base.errors import MemorandaError
        from store.doors.session.recall import by_meaning
        from store.memory import Memory

        try:
            with Memory(self._location, "mcp", create=False) as memory:
                meaning = memory.search.meaning
                if meaning is None or not meaning.serves:
                    return None
                return by_meaning(memory, prompt)
        except MemorandaError:
            return None
        except Exception:  # of SQLite or the model's runtime: it may cost this answer, not the thread of all later ones
            import logging

            logging.getLogger("memoranda").exception("recall failed")
            return None
