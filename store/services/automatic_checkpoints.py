"""Automatic checkpoints: taken as time passes, deleted when old, offered when a session broke off; and the sessions
that they belong to, from start to end."""

from store.base.clock import days_before
from store.base.vocabulary import CHECKPOINT_LEVELS
from store.conversations.sessions import end
from store.database.lease import Lease, LeaseLost
from store.database.values import Verbatim
from store.history.checkpoints import OFFERED_DAYS
from store.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Checkpoint, Session

LONGEST_NAME = 200  # characters of a session's name
OFFERED = "checkpoints.offered"


def take_due_checkpoint(memory: Memory, level: str = "") -> int | None:
    """Take the checkpoint that is due by time, or one of this `level` if anything happened since the last; return its
    id, or None. Called every minute or so, by any number of processes, and by a command that reads: the one that holds
    the lease takes it."""
    if not _may(memory) or not (level or memory.checkpoints.due(memory.now)):
        return None
    lease = Lease(memory.database)
    if not lease.take():
        return None
    try:
        return memory.checkpoints.take_due(level, claim=lease.renew)
    except LeaseLost:
        return None
    finally:
        lease.release()


def expire(memory: Memory) -> int:
    """Delete what is older than its level is kept; return how many."""
    days = {level: memory.config[f"checkpoints.{level}_days"] for level in CHECKPOINT_LEVELS}
    return memory.checkpoints.expire(memory.now, days)


def offer(memory: Memory) -> "Checkpoint | None":
    """Return the checkpoint from which a session that broke off can be continued; each such session is offered once.

    If there are turns after its last checkpoint, take one now, so that none of them is missing.
    """
    last = memory.checkpoints.broken_off(memory.now) if _may(memory) else None
    if last is None or memory.database.value("SELECT value FROM meta WHERE key = ?", (OFFERED,)) == last.citation:
        return None
    found = memory.checkpoints.newest(last.session)
    if found is None or found.created_at < last.at:
        take_due_checkpoint(memory, "meso")
        found = memory.checkpoints.newest(last.session)
    if found is not None:
        with memory.database.write("agent", "offer") as write:
            write.execute(
                "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                (Verbatim(OFFERED), Verbatim(last.citation)),
            )
    return found


def start(memory: Memory, name: str = "", cwd: str = "") -> "Session":
    """Start a session, or resume one that was over; first end those that broke off (`sweep`). Without a name it is
    named by the time. Raise StorageError."""
    sweep(memory)
    called = name.strip()[:LONGEST_NAME] or f"session-{memory.now[:19].replace(':', '')}"
    with memory.database.write("user", "session start") as write:
        memory.sessions.start(write, called, cwd)
    return memory.sessions.get(called)


def sweep(memory: Memory) -> int:
    """End the sessions without recent turns that nobody ended; return how many. Of the newest one, if it may still be
    continued, a checkpoint of its end is taken, as if the end had been reported."""
    if memory.database.read_only or not (found := memory.sessions.broken_off(memory.now)):
        return 0
    newest = memory.turns.newest_session()
    recent = days_before(memory.now, OFFERED_DAYS)
    for session in found:  # before it is over: a session that is over is not continued
        if session.last_at >= recent:
            memory.summaries.write(session.id, all_of_it=True)
    with memory.database.write("agent", "session end") as write:
        open_now = {name for (name,) in write.rows("SELECT id FROM sessions WHERE ended_at IS NULL")}
        over = [session for session in found if session.id in open_now]  # another process may be doing the same
        for session in over:
            end(write, session.id, session.last_at)
            if session.id == newest and session.last_at >= recent and _may(memory):
                from store.history.checkpoint_payload import mark

                mark(write, "", "session_end", "macro", session.id)
    return len(over)


def _may(memory: Memory) -> bool:
    return not memory.database.read_only and memory.config["enabled"] and memory.config["checkpoints.automatic"]
