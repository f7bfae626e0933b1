"""Recall by meaning for hooks. A hook is a process for one event and loads no model: it asks a running server.

Of several servers of one memory the one that holds the lock answers, on a Unix socket in the person's private folder
for state. A request is the prompt as it is searched for; the answer is a JSON object, record key → reason, or `null`
where no vectors can be searched. The first request loads the model, and is answered too late for its hook, so the start
of a session sends one that nobody waits for. What the words alone find the hook looks up meanwhile.
"""

import json
import os
import time

from store.base import installation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

KIND = "recall"
WAIT = 0.055  # seconds that a hook waits for an answer, from the request on
LARGEST = 65_536  # bytes of a request or an answer, at most
WARM = "what is known"  # a prompt that loads all that an answer needs
ASKED = 600  # characters of a prompt that are searched for: its end before its beginning


def place(path: str) -> str:
    """Return the path of the socket for the memory at `path`."""
    return os.path.join(installation.folder(), f"{installation.name_of(KIND, path)}.sock")


def words_of(prompt: str) -> str:
    """Return a prompt as it is searched for: no filters, and of a long one its end and its beginning."""
    text = " ".join(prompt.replace(":", " ").split())
    return text if len(text) <= ASKED else f"{text[-ASKED * 3 // 5 :]} {text[: ASKED * 2 // 5]}"


class RecallRequest:
    """A prompt that was sent to a server, over a connection on which the answer is read; `until`, as of
    `time.perf_counter`, is how long a hook waits for it."""

    __slots__ = ("_connection", "until")

    def __init__(self, connection: "socket") -> None:
        self._connection = connection
        self.until = time.perf_counter() + WAIT

    def answer(self, seconds: float) -> dict[int, str] | None:
        """Return the records relevant to the prompt, by key, nearest first, each with the reason; None where nothing
        came within `seconds`, or no vectors can be searched. Close the connection."""
        with self._connection as connection:
            connection.settimeout(max(0.001, seconds))
            try:
                found = json.loads(whole(connection))
                return {int(key): str(why) for key, why in found.items()} if isinstance(found, dict) else None
            except (OSError, ValueError):
                return None

    def close(self) -> None:
        """Wait for no answer."""
        self._connection.close()


def ask(path: str, prompt: str) -> RecallRequest | None:
    """Send `words_of` a prompt to a server of the memory at `path`; None where no server listens."""
    where = place(path)
    if not os.path.exists(where):
        return None
    import socket

    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(WAIT)
    try:
        connection.connect(where)
        connection.sendall(words_of(prompt).encode("utf-8", "replace"))
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        connection.close()
        return None
    return RecallRequest(connection)


def wake(path: str) -> None:
    """Have the server of the memory at `path` load its model, before the first prompt; do not wait for it."""
    if (asked := ask(path, WARM)) is not None:
        asked.close()


def whole(connection: "socket") -> bytes:
    """Return what the other end sends until it closes, LARGEST bytes at most. Raise OSError."""
    data = b""
    while len(data) < LARGEST and (part := connection.recv(LARGEST)):
        data += part
    return data
