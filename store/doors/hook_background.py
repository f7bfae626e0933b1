"""Work after an event for which its client should not wait, in a process of its own, at low priority."""

import os
import sys

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.errors import MemorandaError
from store.conversations.hook_spool import drain_spool
from store.doors.hook_events import EVENT_END, EVENT_START
from store.learning.rule_pass import run_rule_pass
from store.memory import Memory
from store.upkeep.maintenance import end_broken_off_sessions, run_maintenance, take_due_checkpoint
from store.upkeep.optional import find_sharing
from store.upkeep.session_flush import clear_session, flush_due_sessions, flush_session

LEARN_SECONDS = 20.0
NICE_LEVEL = 10


def _step_back() -> None:
    """Leave the agent's group of processes, and give other sessions more of the processor: where Linux schedules by
    session, `nice` counts only inside of one, and this process would take as much as the agent and its hooks."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.nice(NICE_LEVEL)
    try:
        with open("/proc/self/autogroup", "w") as group:
            group.write(str(NICE_LEVEL))
    except OSError:
        # another system, or one that schedules by process
        pass


def do_background_work(path: str, kind: str, session: str, tokens: int, window: int) -> None:
    """Bring in what waits in the spool, sync files that are kept so, learn from new turns, flush sessions that are due,
    take the checkpoint that is due; at the end of a session its snapshot; at a start, the end of those that nobody
    ended, and new commits; last, where a person said so, exchange with the team. Raise MemorandaError."""
    with Memory.open(path, "worker") as memory:
        drain_spool(memory.database)
        memory.sync.sync_due()
        if not memory.config["enabled"]:
            return
        if kind == EVENT_START:
            end_broken_off_sessions(memory)
        run_rule_pass(memory, seconds=LEARN_SECONDS)
        if kind == EVENT_END:
            try:
                clear_session(memory, session, actor="hook")
            except MemorandaError:
                # nothing was said since it began or ended before, or its folder cannot be written: it is over
                pass
        else:
            room = memory.config["flush.tokens"]
            if tokens and room and tokens >= window - room:
                flush_session(memory, session)
            flush_due_sessions(memory)
            take_due_checkpoint(memory)
        if kind in (EVENT_START, EVENT_END) and memory.location.project:
            run_maintenance(memory, memory.location.project)
        if memory.config["team.hooks"] and (sharing := find_sharing(memory)):
            sharing.exchange_due(memory)


def main(path: str, kind: str, session: str, tokens: str, window: str) -> None:
    """For `python -m store.doors.hook_background`."""
    os.umask(0o077)
    try:
        do_background_work(path, kind, session, int(tokens), int(window))
    except MemorandaError:
        # nobody reads this process's output; the application reports the same error
        pass


if __name__ == "__main__":
    _step_back()
    main(*sys.argv[1:])
