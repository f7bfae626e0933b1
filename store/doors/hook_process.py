"""What answers an event: one in, one answer out, exit 0, whatever happens. The resident calls `reply`; where none
can be started this is a process of its own, and for `memoranda hook git` always.

Anything else would be read by an agent as a failure of its own; 2 would take a person's prompt away. So nothing is
raised here, nothing is printed that is no answer, and what cannot be written in time waits in the spool.
"""

import os
import sys
from typing import BinaryIO

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.clock import utc_now
from store.base.errors import MemorandaError
from store.base.location import Location, checkout_root
from store.doors import hook_handlers
from store.doors.git_hooks import handle_git_hook
from store.doors.hook_events import Caller, format_hook_reply, parse_event
from store.doors.pack import AskByMeaning
from store.doors.trust import get_pause_end
from store.memory import Memory
from store.projects.locating import locate
from store.projects.registry import PERSONAL, bind_session

# bytes of a report that are read; a tool may have written a large file
LARGEST = 64 << 20
GIT = "git"


def run(arguments: list[str], stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Read what a client reports, and write what it is to read. `arguments` follow `memoranda hook`."""
    output = b""
    try:
        option, words = split_option(arguments)
        caller = Caller.here(option)
        if words and words[0] == GIT:
            _of_git(words[1:], caller)
        elif words:
            output = reply(words[0], _report(words[1:], stdin), caller)
    except BaseException:  # an interrupt too: the client must continue without us
        output = b""
    try:
        stdout.write(output)
        stdout.flush()
    except (OSError, ValueError):
        # the client closed the pipe
        pass


def reply(client: str, raw: bytes, caller: Caller, ask: AskByMeaning | None = None) -> bytes:
    """Return what a report is answered, in the client's own form. `ask` finds what is relevant by meaning, where a
    process lives long enough to load a model."""
    event = parse_event(client, raw)
    if event is None:
        return b""
    place = place_of(event.cwd, caller, client, event.session)
    memory = opened(place) if place is not None else None
    if memory is None:
        return b""
    with memory:
        _bind_session(client, event.session, memory.location)
        return format_hook_reply(event, hook_handlers.handle_event(memory, event, caller, ask))


def _of_git(words: list[str], caller: Caller) -> None:
    root = checkout_root(caller.folder)
    place = place_of(root, caller) if words and root is not None else None
    memory = opened(place) if place is not None else None
    if root is None or memory is None:
        return
    with memory:
        handle_git_hook(memory, root, words)


def place_of(cwd: str, caller: Caller, client: str = "", session: str = "") -> Location | None:
    """Return where the memory of a session is, or of a folder; None where there is none, or the doors are paused. A
    hook never creates a memory: an agent that is connected everywhere also runs in folders where none is wanted."""
    here = cwd or caller.folder
    if not here:
        return None
    place = locate(caller.option, caller.variables, here, client, session)
    if place.problem is not None and caller.folder and not os.path.isdir(here):
        place = locate(caller.option, caller.variables, caller.folder, client, session)
    return place if os.path.isfile(place.path) and not get_pause_end(place.path, utc_now()) else None


def _bind_session(client: str, session: str, place: Location) -> None:
    """Have a session keep the memory that it began with, whichever folder it enters."""
    bound = place.project_id if place.kind == "project" else PERSONAL if place.kind == "personal" else ""
    if session and bound:
        bind_session(client, session, bound)


def opened(place: Location) -> Memory | None:
    """Return a memory, open; None where it is not ours, may not be written, or nothing is to be captured."""
    try:
        memory = Memory(place, "hook", create=False)
    except MemorandaError:
        return None
    if memory.database.read_only or not memory.config["enabled"]:
        memory.close()
        return None
    memory.database.keep_wal()
    return memory


def split_option(arguments: list[str]) -> tuple[str | None, list[str]]:
    """Return (the path that --db names, the other words)."""
    words, option = list(arguments), None
    while "--db" in words[:-1]:
        at = words.index("--db")
        option = words[at + 1]
        del words[at : at + 2]
    return option, words


def _report(words: list[str], stdin: BinaryIO) -> bytes:
    """Return what is reported: on standard input, or as the last argument, where Codex's `notify` puts it."""
    if words and words[-1].lstrip().startswith("{"):
        return words[-1].encode("utf-8", "surrogateescape")
    return stdin.read(LARGEST)


def main() -> None:
    """For `python -m store.doors.hook_process CLIENT`."""
    os.umask(0o077)
    run(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)


if __name__ == "__main__":
    main()
