"""What other processes ask of the resident that answers hooks (`store/doors/hook_resident.py`): to let go of the
memories, or to end. A resident of any version understands both."""

import os
import socket

from store.base.state_files import state_folder

SOCKET = "hooks.sock"
RELEASE, END = b"r", b"q"
SECONDS = 1.0  # longest wait for it


def release_memories() -> bool:
    """Have the resident close every memory and drop all that it has read of them; return False where it has not done so
    within a second. True where none runs."""
    return _ask(RELEASE)


def end_resident() -> bool:
    """Have the resident end, as `release_memories` does."""
    return _ask(END)


def _ask(what: bytes) -> bool:
    path = os.path.join(state_folder(), SOCKET)
    if not os.path.exists(path):
        return True
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        try:
            connection.connect(path)
            connection.sendall(what)
            connection.shutdown(socket.SHUT_WR)
            while said := connection.recv(256):
                if said.endswith(b"+"):
                    return True
        except TimeoutError:
            return False
        except OSError:
            # it was killed, or has just ended
            pass
    return True
