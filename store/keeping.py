"""Checkpoints that nobody asks for: taken as time passes, dropped when old, offered when a session broke off."""

from store.database import Verbatim
from store.database.lease import Lease, LeaseLost
from store.memory import Memory
from store.vocabulary import CHECKPOINT_LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.models import Checkpoint

OFFERED = "checkpoints.offered"


def tick(memory: Memory, level: str = "") -> int | None:
    """Take the checkpoint that time has made due, or one of this `level` if anything happened since the last: its id,
    or None. Called every minute or so, by any number of processes, and by a command that reads: the one that holds the
    lease takes it."""
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
    """Drop what is older than its level is kept; how many went."""
    days = {level: memory.config[f"checkpoints.{level}_days"] for level in CHECKPOINT_LEVELS}
    return memory.checkpoints.expire(memory.now, days)


def offer(memory: Memory) -> "Checkpoint | None":
    """The checkpoint from which a session that broke off can be gone on with; each such session is offered once.

    If something was said after its last checkpoint, one is taken now, so that nothing of it is lacking.
    """
    last = memory.checkpoints.broken_off(memory.now) if _may(memory) else None
    if last is None or memory.database.value("SELECT value FROM meta WHERE key = ?", (OFFERED,)) == last.citation:
        return None
    found = memory.checkpoints.newest(last.session)
    if found is None or found.created_at < last.at:
        tick(memory, "meso")
        found = memory.checkpoints.newest(last.session)
    if found is not None:
        with memory.database.write("agent", "offer") as write:
            write.execute(
                "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                (Verbatim(OFFERED), Verbatim(last.citation)),
            )
    return found


def _may(memory: Memory) -> bool:
    return not memory.database.read_only and memory.config["enabled"] and memory.config["checkpoints.automatic"]
