"""Work after an event for which its client should not wait, in a process of its own, at low priority."""

import os
import sys
from threading import Thread

from store.doors.hooks.events import Caller, HookEvent
from store.memory import Memory


def begin(memory: Memory, event: HookEvent, caller: Caller) -> None:
    """Start that process, with the variables of whoever reports, and do not wait for it."""
    words = [sys.executable, "-P", "-m", "store.doors.hooks.background_process"]
    words += [memory.database.path, event.kind, event.session, str(event.tokens), str(event.window)]
    nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        child = os.posix_spawn(
            sys.executable, words, caller.variables, file_actions=nothing, setsid=sys.platform == "linux"
        )
    except (OSError, ValueError):
        return  # too many processes: the next event starts one, or the application does it
    # where this process goes on, somebody has to hear that the child ended
    Thread(target=os.waitpid, args=(child, 0), daemon=True).start()
